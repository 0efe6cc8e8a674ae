"""The head as a whole: one title, and each meta known and as often as it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.finding import Absent, Finding
from memhtml.format.metas import META_ORDER, REPEATABLE, REQUIRED
from memhtml.model.whitespace import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.format.extract import Facts
    from memhtml.format.tree import Tree

__all__ = ["check_metas", "check_title"]

_KNOWN = frozenset(META_ORDER)


def check_title(tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Exactly one title in the whole file, with text."""
    titles = facts.titles
    if len(titles) != 1:
        place = titles[1] if titles else Absent.IN_HEAD
        yield Finding("title-count", place, {"count": len(titles)})
    elif is_blank(tree.direct_text(titles[0])):
        yield Finding("title-empty", titles[0], {})


def check_metas(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Every required meta, none that is unknown, and only the repeatable ones repeated."""
    for name in REQUIRED:
        if name not in facts.metas:
            yield Finding("meta-required-missing", Absent.IN_HEAD, {"name": name})
    for name, tags in facts.metas.items():
        if name not in _KNOWN:
            yield Finding("meta-unknown", tags[0].node, {"name": name}, "name")
        elif len(tags) > 1 and name not in REPEATABLE:
            yield Finding("meta-repeated", tags[1].node, {"name": name, "count": len(tags)})
