"""What the metas say (seed §5 and §8). Of a name stated twice, the first value counts.

A time that does not sort is a violation, because dropping it would change what the memory claims
about when; a number that makes no sense is dropped, because the index has a default for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.finding import Absent, Finding
from memhtml.format.metas import DATETIME_METAS, NUMBER_RANGES, read_ranged
from memhtml.model.instants import is_instant
from memhtml.model.vocabulary import MemoryType, Status, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.format.extract import Facts
    from memhtml.format.tree import Tree

__all__ = ["check_due", "check_numbers", "check_values"]

_TYPES = frozenset(MemoryType)
_STATUSES = frozenset(Status)
_TASK_STATUSES = frozenset(TaskStatus)


def check_values(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Type, status and task status are words we know, and every stated time sorts."""
    kind = facts.meta("memhtml-type")
    if kind is not None and kind not in _TYPES:
        yield _about(facts, "type-unknown", "memhtml-type", {"value": kind})
    status = facts.meta("memhtml-status")
    if status is not None and status not in _STATUSES:
        yield _about(facts, "status-unknown", "memhtml-status", {"value": status})
    yield from _check_task_status(facts, kind)
    for name in DATETIME_METAS:
        value = facts.meta(name)
        if value is None or is_instant(value):
            continue
        if name != "memhtml-due" or kind == MemoryType.TASK:
            info = {"name": name, "value": value}
            yield _about(facts, "meta-datetime-invalid", name, info)


def check_due(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Only a task has a deadline; whatever another memory states there is not read."""
    kind = facts.meta("memhtml-type")
    if kind != MemoryType.TASK and "memhtml-due" in facts.metas:
        shown = kind if kind in _TYPES else None
        yield Finding("due-not-task", facts.metas["memhtml-due"][0].node, {"type": shown})


def check_numbers(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Tell of each number that was read as absent."""
    for name in NUMBER_RANGES:
        value = facts.meta(name)
        if value is not None and read_ranged(name, value) is None:
            yield _about(facts, "number-dropped", name, {"name": name, "value": value})


def _check_task_status(facts: Facts, kind: str | None) -> Iterator[Finding]:
    name = "memhtml-task-status"
    value = facts.meta(name)
    if value is None:
        if kind == MemoryType.TASK:
            yield Finding("task-status-missing", Absent.IN_HEAD, {})
        return
    if kind != MemoryType.TASK:
        shown = kind if kind in _TYPES else None
        yield Finding("task-status-on-non-task", facts.metas[name][0].node, {"type": shown})
    if value not in _TASK_STATUSES:
        yield _about(facts, "task-status-unknown", name, {"value": value})


def _about(facts: Facts, code: str, name: str, info: dict[str, str]) -> Finding:
    return Finding(code, facts.metas[name][0].node, info, "content")
