"""What the metas say (seed §5 and §8). Of a name stated twice, the first value counts.

A time that does not sort is a violation, because dropping it would change what the memory claims
about when; a number that makes no sense is dropped, because the index has a default for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.finding import Absent, Finding
from memhtml.format.metas import DATETIME_METAS, HEAD_FIELDS, NUMBER_RANGES
from memhtml.model.vocabulary import MemoryType, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.format.extract import Facts
    from memhtml.format.tree import Tree

__all__ = ["check_due", "check_numbers", "check_values"]


_TASK_STATUSES = frozenset(TaskStatus)


def check_values(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Type, status and task status are words we know, and every stated time sorts."""
    metas = facts.metas
    for name, code in (("memhtml-type", "type-unknown"), ("memhtml-status", "status-unknown")):
        if name in metas and _is_unusable(facts, name):
            yield _about(facts, code, name)
    is_task = facts.head.memory_type == MemoryType.TASK
    if "memhtml-task-status" in metas:
        yield from _check_task_status(facts, is_task=is_task)
    elif is_task:
        yield Finding("task-status-missing", Absent.IN_HEAD, {})
    for name in DATETIME_METAS:
        if name in metas and _is_unusable(facts, name) and (is_task or name != "memhtml-due"):
            yield _about(facts, "meta-datetime-invalid", name, name=name)


def check_due(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Only a task has a deadline; whatever another memory states there is not read."""
    if "memhtml-due" in facts.metas and facts.head.memory_type != MemoryType.TASK:
        node = facts.metas["memhtml-due"][0][1]
        yield Finding("due-not-task", node, {"type": facts.head.memory_type})


def check_numbers(_tree: Tree, facts: Facts) -> Iterator[Finding]:
    """Tell of each number that was read as absent."""
    for name in NUMBER_RANGES:
        if name in facts.metas and _is_unusable(facts, name):
            yield _about(facts, "number-dropped", name, name=name)


def _check_task_status(facts: Facts, *, is_task: bool) -> Iterator[Finding]:
    value, node = facts.metas["memhtml-task-status"][0]
    if not is_task:
        yield Finding("task-status-on-non-task", node, {"type": facts.head.memory_type})
    if value not in _TASK_STATUSES:
        yield Finding("task-status-unknown", node, {"value": value}, "content")


def _is_unusable(facts: Facts, name: str) -> bool:
    """Whether nothing was read from the meta *name*, which is stated."""
    return getattr(facts.head, HEAD_FIELDS[name]) is None


def _about(facts: Facts, code: str, meta: str, /, **info: str) -> Finding:
    value, node = facts.metas[meta][0]
    return Finding(code, node, {**info, "value": value}, "content")
