"""The metas of a memory's head: their names, their order, and how each value is read.

`META_ORDER` is both the closed list of names and the order in which they are written, so it is a
promise about diffs: a new scalar goes to the end of the scalars, a new repeatable to the end of
the repeatables, and nothing ever moves (seed §1).
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from memhtml.model.document import Head
from memhtml.model.instants import is_instant
from memhtml.model.vocabulary import MemoryType, Status, TaskStatus
from memhtml.model.whitespace import wide_trim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from enum import StrEnum

__all__ = [
    "DATETIME_METAS",
    "HEAD_FIELDS",
    "META_ORDER",
    "META_PREFIX",
    "NUMBER_RANGES",
    "REPEATABLE",
    "REQUIRED",
    "read_flag",
    "read_head",
    "read_number",
    "read_ranged",
]

META_PREFIX = "memhtml-"

_REQUIRED = ("type", "status", "created", "updated")
_OPTIONAL = (
    "confidence",
    "importance",
    "content-hash",
    "author",
    "session",
    "prompt",
    "turn",
    "valid-from",
    "valid-until",
    "reprieves",
    "archived",
    "superseded-by",
    "needs-revision",
    "task-status",
    "due",
)
_REPEATABLE = ("entity", "tag", "alias")

META_ORDER: tuple[str, ...] = tuple(
    META_PREFIX + name for name in (*_REQUIRED, *_OPTIONAL, *_REPEATABLE)
)
"""Every meta name, in the order a head states them."""

REQUIRED: tuple[str, ...] = tuple(META_PREFIX + name for name in _REQUIRED)
"""The names every memory must state, in `META_ORDER`."""

REPEATABLE: frozenset[str] = frozenset(META_PREFIX + name for name in _REPEATABLE)
"""The names that may be stated more than once, one value an element."""

DATETIME_METAS: tuple[str, ...] = tuple(
    META_PREFIX + name
    for name in ("due", "created", "updated", "valid-from", "valid-until", "archived")
)
"""The names whose value must be an instant, in the order they are checked."""

NUMBER_RANGES: dict[str, tuple[int, int, bool]] = {
    "memhtml-confidence": (0, 1, False),
    "memhtml-importance": (1, 10, True),
    # The largest integer that every JSON reader keeps exact.
    "memhtml-reprieves": (0, 2**53 - 1, True),
}
"""Lowest and highest value of each numeric meta, and whether it must be a whole number."""

_number_re = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_number(text: str) -> float | None:
    """Return the finite decimal number that *text* is, or None.

    Wide whitespace around it is ignored. Narrower than `float`, which also takes ``1_0``,
    ``nan`` and the digits of every script.

    >>> [read_number(t) for t in (" .5 ", "1.", "+5e-1", "1e400", "1_0", "0x5", "")]
    [0.5, 1.0, 0.5, None, None, None, None]
    """
    trimmed = wide_trim(text)
    if not _number_re.fullmatch(trimmed):
        return None
    number = float(trimmed)
    return number if math.isfinite(number) else None


def read_ranged(name: str, text: str) -> float | int | None:
    """Return the value of the numeric meta *name*, or None when it is unusable.

    *name* is a key of `NUMBER_RANGES`; the result is an int where that says whole numbers.

    >>> read_ranged("memhtml-importance", "1e1"), read_ranged("memhtml-importance", "5.5")
    (10, None)
    """
    low, high, is_whole = NUMBER_RANGES[name]
    number = read_number(text)
    if number is None or not low <= number <= high:
        return None
    if not is_whole:
        return number
    return int(number) if number.is_integer() else None


def read_flag(text: str) -> bool:
    """Return whether *text* says yes: ``true``, ``1`` or ``yes`` in any case, untrimmed."""
    return text.lower() in {"true", "1", "yes"}


def read_head(metas: Mapping[str, Sequence[tuple[str, object]]]) -> Head:
    """Return what can be used of the metas: each name's values, with something beside each.

    Of a name that may be stated once, the first value counts. What only a task may say is left
    out of any other memory.
    """
    fields: dict[str, Any] = {}
    for name, stated in metas.items():
        if (known := _FIELDS.get(name)) is not None:
            field, read = known
            fields[field] = read(stated[0][0]) if read is not None else _read_all(stated)
    if fields.get("memory_type") != MemoryType.TASK:
        fields.pop("task_status", None)
        fields.pop("due_at", None)
    return Head(**fields)


def _read_all(stated: Sequence[tuple[str, object]]) -> tuple[str, ...]:
    return tuple([value for value, _ in stated if value])


def _read_instant(text: str) -> str | None:
    return text if is_instant(text) else None


def _word_of(words: type[StrEnum]) -> Callable[[str], str | None]:
    return {word.value: word.value for word in words}.get


def _ranged(name: str) -> Callable[[str], float | int | None]:
    return lambda text: read_ranged(name, text)


HEAD_FIELDS: dict[str, str] = dict(
    zip(
        META_ORDER,
        (
            "memory_type",
            "status",
            "created_at",
            "updated_at",
            "confidence",
            "importance",
            "content_hash",
            "author",
            "session_id",
            "prompt_id",
            "turn_uuid",
            "valid_from",
            "valid_until",
            "reprieves",
            "archived_at",
            "superseded_by",
            "needs_revision",
            "task_status",
            "due_at",
            "entities",
            "tags",
            "aliases",
        ),
        strict=True,
    )
)
"""The field of `Head` that each meta becomes."""

_READERS: dict[str, Callable[[str], object] | None] = {
    "memhtml-type": _word_of(MemoryType),
    "memhtml-status": _word_of(Status),
    "memhtml-task-status": _word_of(TaskStatus),
    "memhtml-needs-revision": read_flag,
    **dict.fromkeys(DATETIME_METAS, _read_instant),
    **{name: _ranged(name) for name in NUMBER_RANGES},
    **dict.fromkeys(REPEATABLE),
}
# The field of each meta and how its value is read: any without a reader of its own is free text
# and kept as it is; None is for those of which all values are kept.
_FIELDS = {name: (field, _READERS.get(name, str)) for name, field in HEAD_FIELDS.items()}
