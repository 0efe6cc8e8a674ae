"""The rules of the format, one family a module, over the facts of one walk.

`CHECKS` is the order of reporting: violations as format-behaviour §8 has them, then warnings, then
notes. A check never stops at the first finding, so one reading tells an author everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.article import check_article
from memhtml.format.checks.codes import CODES, Code, diagnostic
from memhtml.format.checks.content import check_forbidden, check_odd, check_times
from memhtml.format.checks.finding import Absent
from memhtml.format.checks.head import check_metas, check_title
from memhtml.format.checks.links import check_links
from memhtml.format.checks.source import check_source, check_texts
from memhtml.format.checks.values import check_due, check_numbers, check_values
from memhtml.model.diagnostics import Span

if TYPE_CHECKING:
    from memhtml.format.checks.finding import Check, Finding
    from memhtml.format.extract import Facts
    from memhtml.format.tree import Location, Tree
    from memhtml.model.diagnostics import Diagnostic

__all__ = ["CHECKS", "CODES", "Code", "diagnose", "diagnostic"]

CHECKS: tuple[Check, ...] = (
    check_title,
    check_metas,
    check_article,
    check_times,
    check_forbidden,
    check_links,
    check_values,
    check_odd,
    check_due,
    check_source,
    check_numbers,
    check_texts,
)


def diagnose(tree: Tree, facts: Facts) -> tuple[Diagnostic, ...]:
    """Return everything that is wrong with a file, in order."""
    findings = [finding for check in CHECKS for finding in check(tree, facts)]
    if not findings:
        return ()
    places = _Places(tree)
    return tuple(
        diagnostic(finding.code, places.span(finding), **finding.info) for finding in findings
    )


class _Places:
    """Spans of findings. What is costly to find is found once, for there may be many findings."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._absent: dict[Absent, Span] = {}
        self._node: object = None
        self._location: Location | None = None

    def span(self, finding: Finding) -> Span:
        place = finding.place
        if isinstance(place, Span):
            return place
        if isinstance(place, Absent):
            return self._before_end_tag(place)
        if place is not self._node:
            self._node = place
            self._location = self._tree.locate(place)
        location = self._location
        if location is None:
            return self._tree.start
        span = location.attribute(finding.attribute) if finding.attribute else None
        return span or location.start_tag

    def _before_end_tag(self, place: Absent) -> Span:
        if place not in self._absent:
            tree = self._tree
            tag = tree.head_end_tag if place is Absent.IN_HEAD else tree.body_end_tag
            if tag is None:
                self._absent[place] = tree.start
            else:
                at, line, column = tag.start, tag.line, tag.column
                self._absent[place] = Span(at, at, line, column, line, column)
        return self._absent[place]
