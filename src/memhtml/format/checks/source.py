"""What the bytes show and the tree does not, or not alike in every parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.finding import Finding
from memhtml.format.extract import DERIVED_TEXT_CAP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.format.extract import Facts
    from memhtml.format.tree import Tree

__all__ = ["check_source", "check_texts"]


def check_source(tree: Tree, _facts: Facts) -> Iterator[Finding]:
    """One head, no processing instruction, all UTF-8, no open conflict."""
    for code, found in (
        ("head-repeated", tree.find_repeated_head()),
        ("processing-instruction", tree.find_processing_instructions()),
        ("encoding-invalid", tree.find_undecodable()),
        ("conflict-markers", tree.find_conflicts()),
    ):
        if found is not None:
            count, span = found
            yield Finding(code, span, {"count": count})


def check_texts(tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Tell when texts of nested elements were left out."""
    if facts.is_text_dropped:
        yield Finding("text-dropped", tree.start, {"limit": DERIVED_TEXT_CAP})
