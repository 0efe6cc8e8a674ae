"""Prose as it is given at the write doors, split into a claim and what follows it.

The first sentence is the claim. A sentence ends at a full stop, exclamation or question mark that
blank or nothing follows, so ``1.2`` does not end one; an abbreviation does, because guessing would
make the split depend on a list of words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memhtml.format.fences import closes_fence, fence_opening, split_lines
from memhtml.model.whitespace import WIDE_WHITESPACE, is_blank, wide_trim

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["claim_from_prose", "prose_tail", "sentence_end", "split_paragraphs"]

_sentence_end_re = re.compile(rf"[.!?](?=[{WIDE_WHITESPACE}]|\Z)")


def claim_from_prose(prose: str) -> str:
    """Return the first sentence of *prose*, or all of it when no sentence ends.

    >>> claim_from_prose("Version 1.2 is out. Next.")
    'Version 1.2 is out.'
    """
    return _split_claim(prose)[0]


def prose_tail(prose: str) -> tuple[str, ...]:
    r"""Return the paragraphs after the claim of *prose*; see `split_paragraphs`.

    >>> prose_tail("Owls face east. They like sun.\n\nReally.")
    ('They like sun.', 'Really.')
    """
    return split_paragraphs(_split_claim(prose)[1])


def sentence_end(text: str, start: int = 0) -> int | None:
    """Return where the first sentence that ends after *start* ends, None when none does.

    >>> sentence_end("Version 1.2 is out. Next.")
    19
    """
    match = _sentence_end_re.search(text, start)
    return match.end() if match else None


def split_paragraphs(text: str) -> tuple[str, ...]:
    r"""Return the paragraphs of *text*, trimmed: it is split at blank lines outside of fences.

    A fence that is never closed runs to the end.

    >>> split_paragraphs("a\nb\n\n```\nx\n\ny\n```")
    ('a\nb', '```\nx\n\ny\n```')
    """
    return tuple(filter(None, map(wide_trim, _paragraphs(text))))


def _split_claim(prose: str) -> tuple[str, str]:
    text = wide_trim(prose)
    end = sentence_end(text) or len(text)
    return text[:end], text[end:]


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    opening: str | None = None
    for line in split_lines(text):
        if opening is None and is_blank(line):
            yield "\n".join(lines)
            lines.clear()
            continue
        lines.append(line)
        if opening is None:
            opening = fence_opening(line)
        elif closes_fence(line, opening):
            opening = None
    yield "\n".join(lines)
