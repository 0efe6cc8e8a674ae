"""The links of the head: a known relation, and a path from the root (seed §5, constraint 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.finding import Finding
from memhtml.model.edges import is_root_relative, rel_for_token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.format.extract import Facts
    from memhtml.format.tree import Tree

__all__ = ["check_links"]


def check_links(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Judge each link on its own; rel and href independently."""
    for rel, href, node in facts.links:
        if rel_for_token(rel) is None:
            yield Finding("link-rel-unknown", node, {"rel": rel}, "rel")
        if not href:
            yield Finding("link-href-missing", node, {"rel": rel}, "href")
        elif not is_root_relative(href):
            info = {"rel": rel, "href": href}
            yield Finding("link-href-not-root-relative", node, info, "href")
