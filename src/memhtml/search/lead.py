"""The beginning of a memory's prose, as may be quoted: what is folded or aside stays out (seed §2).

It is read from the markup, for the index keeps a body as one line of everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.tree import read_fragment

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["paragraphs"]

# Lists of facets are shown as facets, code is no lead, and the rest is never quoted.
_UNQUOTED = frozenset({"aside", "details", "dl", "figure", "pre", "script", "style", "template"})
_BLOCKS = frozenset({"p", "li", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th"})


def paragraphs(article_html: str) -> Iterator[str]:
    """Yield the paragraphs and list items inside an article, whitespace collapsed.

    >>> list(paragraphs("<p>It <b>rises</b>.<p>Twice.<aside><p>Unless cold.</aside>"))
    ['It rises.', 'Twice.']
    """
    pieces: list[str] = []
    open_: list[tuple[bool, bool]] = []  # of each element: whether hidden, whether a block
    hidden = 0
    for step in read_fragment(article_html):
        if isinstance(step, str):
            if not hidden:
                pieces.append(step)
            continue
        if step is None:
            is_hidden, is_block = open_.pop()
            hidden -= is_hidden
        else:
            is_hidden, is_block = step[0] in _UNQUOTED, step[0] in _BLOCKS
            open_.append((is_hidden, is_block))
            hidden += is_hidden
        if is_block or is_hidden:
            if text := " ".join("".join(pieces).split()):
                yield text
            pieces.clear()
    if text := " ".join("".join(pieces).split()):
        yield text
