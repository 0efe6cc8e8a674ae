"""A body as the texts that are encoded. Pure.

An encoder reads some 2,000 characters, so a long body is cut into pieces, at the end of a sentence
where one is near. Every piece is encoded with the title and the claim of its memory in front, for
what a paragraph deep in a text is about is seldom said there. Pieces are kept as spans of the body,
never as text of their own.
"""

from __future__ import annotations

import hashlib

from memhtml.index.rows import ChunkRow
from memhtml.index.schema import CHUNK_CHARS

__all__ = ["MIN_CHUNK_CHARS", "chunk_rows", "chunk_text"]

MIN_CHUNK_CHARS = 200

_CONTEXT_SHARE = 3
"""Title and claim take at most one part in so many, or a piece would be all context."""

_SENTENCE_ENDS = (". ", "! ", "? ", "。", "！", "？")  # noqa: RUF001 - marks of other scripts


def chunk_rows(title: str, claim: str, body: str, limit: int = CHUNK_CHARS) -> tuple[ChunkRow, ...]:
    """Return the pieces of *body* in order; together they cover all but blanks between them.

    *limit* bounds each text to encode, in code points, and is at least `MIN_CHUNK_CHARS`.

    >>> [(row.start_char, row.end_char) for row in chunk_rows("T", "C", "a b")]
    [(0, 3)]
    """
    return tuple(
        ChunkRow(ordinal, start, end, _hash(chunk_text(title, claim, body[start:end], limit)))
        for ordinal, (start, end) in enumerate(
            _spans(body, limit - _context_chars(title, claim, limit))
        )
    )


def chunk_text(title: str, claim: str, piece: str, limit: int = CHUNK_CHARS) -> str:
    r"""Return what is encoded for *piece*: no part of the context is said twice.

    >>> chunk_text("Owls", "Owls hunt at night", "They also sleep.")
    'Owls hunt at night\nThey also sleep.'
    """
    context = [] if claim in piece else [claim]
    if not (piece if not context else claim).casefold().startswith(title.casefold()):
        context.insert(0, title)
    front = "\n".join(context)[: limit // _CONTEXT_SHARE]
    return f"{front}\n{piece}" if front else piece


def _context_chars(title: str, claim: str, limit: int) -> int:
    return min(len(title) + 1 + len(claim), limit // _CONTEXT_SHARE) + 1


def _spans(body: str, limit: int) -> list[tuple[int, int]]:
    spans = []
    start, size = 0, len(body)
    while start < size:
        end = size if size - start <= limit else _cut(body, start, start + limit)
        spans.append((start, end))
        start = end
        while start < size and body[start].isspace():
            start += 1
    return spans


def _cut(body: str, start: int, latest: int) -> int:
    """Return where the piece that begins at *start* ends, at *latest* at the latest."""
    # A piece less than half full is worse than a sentence cut in two.
    earliest = start + (latest - start) // 2
    end = max(body.rfind(mark, earliest, latest) + len(mark.rstrip()) for mark in _SENTENCE_ENDS)
    if end > earliest:
        return end
    space = body.rfind(" ", earliest, latest)
    return space if space >= 0 else latest


def _hash(text: str) -> bytes:
    # Half of the digest is more than enough for names of texts that nobody forges.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
