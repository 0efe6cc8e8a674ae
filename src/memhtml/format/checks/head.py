"""The head as a whole: one title, and each meta known and as often as it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.finding import Absent, Finding
from memhtml.format.metas import META_ORDER, REPEATABLE, REQUIRED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.format.extract import Facts
    from memhtml.format.tree import Tree

__all__ = ["check_metas", "check_title"]

_KNOWN = frozenset(META_ORDER)


def check_title(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Exactly one title in the whole file, with text."""
    titles = facts.titles
    if len(titles) != 1:
        place = titles[1] if titles else Absent.IN_HEAD
        yield Finding("title-count", place, {"count": len(titles)})
    elif not facts.title:
        yield Finding("title-empty", titles[0], {})


def check_metas(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Every required meta, none that is unknown, and only the repeatable ones repeated."""
    for name in REQUIRED:
        if name not in facts.metas:
            yield Finding("meta-required-missing", Absent.IN_HEAD, {"name": name})
    for name, stated in facts.metas.items():
        if name not in _KNOWN:
            yield Finding("meta-unknown", stated[0][1], {"name": name}, "name")
        elif len(stated) > 1 and name not in REPEATABLE:
            yield Finding("meta-repeated", stated[1][1], {"name": name, "count": len(stated)})
