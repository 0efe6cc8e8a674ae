"""Times that sort, and what no memory may hold (seed §5, constraints 2, 3 and 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.finding import Finding
from memhtml.model.whitespace import wide_trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memhtml.format.extract import Facts, Oddity
    from memhtml.format.tree import Tree

__all__ = ["check_forbidden", "check_odd", "check_times"]


def check_times(tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Every time of the file says when, as a date or a UTC instant."""
    for value, node in facts.bad_times:
        if value is None:
            # Cut to 40 code units of UTF-16, as the TypeScript tool counts characters.
            units = wide_trim(tree.direct_text(node)).encode("utf-16-le")[:80]
            info = {"text": units.decode("utf-16-le", "ignore")}
            yield Finding("time-datetime-missing", node, info)
        else:
            yield Finding("time-datetime-invalid", node, {"value": value}, "datetime")


def check_forbidden(_tree: Tree, facts: Facts) -> Iterable[Finding]:
    """No script, no style, no handler; each time it happens, templates included."""
    return _findings(facts.forbidden)


def check_odd(_tree: Tree, facts: Facts) -> Iterable[Finding]:
    """Warn once about each element or attribute value that a memory had better not have."""
    return _findings(facts.odd)


def _findings(oddities: Iterable[Oddity]) -> Sequence[Finding]:
    return [Finding(code, node, info, attribute) for code, node, attribute, info in oddities]
