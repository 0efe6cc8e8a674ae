"""The closed element vocabulary, with what each element means to whoever reads a memory.

Every name earns its place by carrying something the index takes from it mechanically (seed §2).
Membership is not positional: there is no separate list for the head.
"""

from __future__ import annotations

__all__ = ["FIGURE_ONLY", "FORBIDDEN", "INLINE", "MEANINGS", "UNSAFE", "VOCABULARY"]

MEANINGS: dict[str, str] = {
    "html": "the file",
    "head": "the machine plane: title, metas and links",
    "body": "holds the article",
    "title": "what the memory is called",
    "meta": "one fact about the memory, for machines",
    "link": "an edge to another memory",
    "article": "the memory; its text is what the content hash covers",
    "mark": "the claim, the one span the memory turns on",
    "time": "when the fact happened",
    "dl": "structured facets",
    "dt": "the name of a facet",
    "dd": "a value of the facet named before it",
    "data": "a machine value beside the human phrasing",
    "cite": "where the fact came from",
    "q": "words quoted from a source",
    "dfn": "the term a memory defines",
    "figure": "an illustration, sample or table with its caption",
    "figcaption": "what the figure shows",
    "details": "elaboration behind a fold",
    "summary": "what stands on the fold",
    "aside": "a caveat that is not the claim",
    "section": "a part of the article",
    "abbr": "a short form; its title is the long one",
    "pre": "text whose whitespace counts",
    "code": "code; data-lang names its language",
    "kbd": "what a person types",
    "samp": "what a program prints",
    "var": "a placeholder",
    "table": "a table",
    "caption": "what the table shows",
    "thead": "the header rows of a table",
    "tbody": "the rows of a table",
    "tr": "a row",
    "th": "a header cell",
    "td": "a cell",
    "p": "a paragraph",
    "ul": "an unordered list",
    "ol": "an ordered list",
    "li": "an item of a list",
    "a": "a reference",
    "strong": "importance",
    "em": "emphasis",
    "address": "how to reach a person",
    "div": "a container that a pasted sample brings with it",
    "span": "a container that a pasted sample brings with it",
}

VOCABULARY: frozenset[str] = frozenset(MEANINGS)
"""The names a memory may use."""

FIGURE_ONLY: frozenset[str] = frozenset({"div", "span"})
"""Names that are allowed below a ``figure`` only."""

INLINE: frozenset[str] = frozenset(
    "mark time data cite q dfn abbr code kbd samp var a strong em span".split()
)
"""Names whose edges separate nothing; at the edges of every other element text is parted."""

FORBIDDEN: frozenset[str] = frozenset({"script", "style"})
"""Names that no memory may hold, in any namespace."""

UNSAFE: frozenset[str] = frozenset(
    {
        "applet",
        "base",
        "embed",
        "fencedframe",
        "form",
        "frame",
        "frameset",
        "iframe",
        "object",
        "portal",
    }
)
"""Names that load, run or redirect something when a browser shows them."""
