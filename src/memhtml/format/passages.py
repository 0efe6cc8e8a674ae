"""A long Markdown text in parts that can stand alone: one fact each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.commonmark import make_parser, plain_words, readable
from memhtml.format.fences import split_lines
from memhtml.model.whitespace import collapse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

__all__ = ["Passage", "split_passages"]

_bold_line_re = re.compile(r"(?:\*\*|__)([^*_]+)(?:\*\*|__):?")
_marker_re = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|\Z)")


class Passage(NamedTuple):
    """A part of a longer text that can stand alone, as Markdown."""

    text: str
    line: int
    """Where it begins, from 1."""
    headings: tuple[str, ...]
    """The headings it stands under, the outermost first."""


def split_passages(markdown: str) -> Iterator[Passage]:
    r"""Yield the facts of a list-like text: each item of a list, and each paragraph.

    Code, tables and quotes belong to what they follow, and a list to the paragraph that ends in a
    colon before it. A line in bold alone is a heading. Rules are left out.

    >>> [p.text for p in split_passages("# Rules\n- Use tabs.\n- Test first:\n  `make`\n\nLast.")]
    ['Use tabs.', 'Test first:\n`make`', 'Last.']

    Raises:
        InvalidFlag: *markdown* is longer than `MAX_MARKDOWN_CHARS`.
    """
    lines = split_lines(readable(markdown))
    headings: list[tuple[int, str]] = []
    passage: Passage | None = None
    taken = 0  # lines before this one belong to a passage already
    for piece in _pieces(make_parser().parse("\n".join(lines), {})):
        if piece.start < taken:
            continue
        is_announced = passage is not None and passage.text.endswith(":")
        if piece.kind == "list" and not is_announced:
            continue  # its items come next
        if passage is not None and piece.kind in {"list", "more"}:
            text = "\n".join(lines[passage.line - 1 : piece.end]).rstrip()
            passage, taken = passage._replace(text=text), piece.end
            continue
        if passage is not None:
            yield passage
            passage = None
        if piece.kind == "heading":
            headings = [h for h in headings if h[0] < piece.rank] + [(piece.rank, piece.title)]
        elif piece.kind != "rule":
            text = "\n".join(lines[piece.start : piece.end]).rstrip()
            text = _without_marker(text) if piece.kind == "item" else text
            passage = Passage(text, piece.start + 1, tuple(title for _, title in headings))
    if passage is not None:
        yield passage


class _Piece(NamedTuple):
    kind: str
    """``heading``, ``words``, ``list``, ``item``, ``more`` or ``rule``."""
    start: int
    end: int
    rank: int = 0
    title: str = ""


def _pieces(tokens: Sequence[Token]) -> Iterator[_Piece]:
    """Yield the blocks of a text, and after a list each of its items."""
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        start, end = token.map
        if token.level == 1 and token.type == "list_item_open":
            yield _Piece("item", start, end)
        if token.level > 0 or token.type == "inline":
            continue
        bold = None
        if token.type == "paragraph_open":
            bold = _bold_line_re.fullmatch(tokens[number + 1].content.strip())
        if token.type == "heading_open":
            title = collapse(plain_words(tokens[number + 1].children or ()))
            yield _Piece("heading", start, end, int(token.tag[1]), title)
        elif bold is not None:
            yield _Piece("heading", start, end, 7, collapse(bold[1]))
        elif token.type in {"bullet_list_open", "ordered_list_open"}:
            yield _Piece("list", start, end)
        elif token.type in {"paragraph_open", "html_block"}:
            yield _Piece("words", start, end)
        else:
            yield _Piece("rule" if token.type == "hr" else "more", start, end)


def _without_marker(item: str) -> str:
    """Return a list item without its marker and the indentation that its other lines owe to it."""
    match = _marker_re.match(item)
    width = match.end() if match else 0
    first, *rest = item.split("\n")
    return "\n".join([first[width:], *(line[min(width, _indent(line)) :] for line in rest)])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
