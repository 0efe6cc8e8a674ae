"""What an index keeps of a memory as text: what is searched, what is shown, how long it is.

Elaboration and caveats are searched with everything else but never quoted back: of a fold only
its summary is shown, and of an aside nothing (seed §2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.model.whitespace import wide_split, wide_trim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.model.document import Document

__all__ = ["disclosure_text", "search_text", "word_count"]


def search_text(document: Document) -> str:
    """Return title, claim and body text, one a line, as full-text search reads them."""
    return _lines((document.title, document.claim, document.body_text))


def disclosure_text(document: Document) -> str:
    """Return what may be shown of a memory at a glance, one thing a line.

    That is the claim, the summaries of its folds, its facets, and the texts it cites.
    """
    return _lines(
        (
            document.claim,
            *document.summaries,
            *(f"{facet.name}: {facet.value}" for facet in document.facets),
            *(citation.text for citation in document.citations),
        )
    )


def word_count(document: Document) -> int:
    """Return how many words the body text has, by wide whitespace."""
    text = document.body_text
    if text.isascii() and text.isprintable():
        # Its words stand one space apart already, so this needs no second copy of them all.
        return text.count(" ") + 1 if text else 0
    return len(wide_split(text))


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(filter(None, map(wide_trim, texts)))
