"""Run vectors and say what became of each.

A vector that differs is excused only when ``docs/compat.md`` lists its id or one of its tags. An
id speaks of one record: the one in our own folder, so it excuses nothing else, and a listed record
that passes after all is a failure of the list. A tag speaks of any folder, where some vectors that
bear it may well pass.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.compat import Deviations, read_deviations
from tests.conformance.ops import OPS

if TYPE_CHECKING:
    from collections.abc import Iterator

VECTORS = Path(__file__).parent / "vectors"

_DIFF_LINES = 12
_DIFF_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Vector:
    """One line of a vector file."""

    id: str
    op: str
    given: dict[str, Any]
    expected: dict[str, Any]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    vector: Vector
    detail: str = ""
    """Why it failed or was skipped."""


@dataclass(slots=True)
class Report:
    passed: list[Result] = field(default_factory=list)
    failed: list[Result] = field(default_factory=list)
    skipped: list[Result] = field(default_factory=list)

    def skip_reasons(self) -> list[tuple[str, int]]:
        return sorted(Counter(result.detail for result in self.skipped).items())


def run_folder(folder: Path) -> Report:
    """Run every vector file of *folder*, in order of name.

    Raises:
        OSError: The folder or a file in it cannot be read.
        ValueError: It holds no vectors, or a line that is none.
    """
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise ValueError("it holds no *.jsonl file")
    report = Report()
    deviations = read_deviations()
    for file in files:
        for vector in read_vectors(file):
            run(vector, deviations, report)
    return report


def read_vectors(file: Path) -> Iterator[Vector]:
    # Split at LF alone: `splitlines` also splits at characters that JSON allows inside a string.
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            tags = tuple(record.get("tags", ()))
            yield Vector(record["id"], record["op"], record["in"], record["out"], tags)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{file.name}:{number} is no vector: {error!r}") from error


def run(vector: Vector, deviations: Deviations, report: Report) -> None:
    operation = OPS.get(vector.op)
    if operation is None:
        report.skipped.append(Result(vector, f"no operation {vector.op!r} here"))
        return
    try:
        difference = describe_difference(vector.expected, operation(vector.given))
    except Exception as error:  # noqa: BLE001 - a crash is what this vector has to tell
        difference = f"  raised {error!r}"
    is_listed = vector.id in deviations.ids and own_vectors().get(vector.id) == vector
    tag = next((tag for tag in vector.tags if tag in deviations.tags), None)
    if not difference and is_listed:
        report.failed.append(Result(vector, "  passes, but docs/compat.md lists it as a deviation"))
    elif not difference:
        report.passed.append(Result(vector))
    elif tag is not None:
        report.skipped.append(Result(vector, f"deviates as docs/compat.md says, tag {tag}"))
    elif is_listed:
        report.skipped.append(Result(vector, "deviates as docs/compat.md says, by id"))
    else:
        report.failed.append(Result(vector, difference))


@cache
def own_vectors() -> dict[str, Vector]:
    """Return our vectors by id."""
    return {vector.id: vector for file in VECTORS.glob("*.jsonl") for vector in read_vectors(file)}


def describe_difference(expected: object, actual: object, at: str = "") -> str:
    """Return where two JSON values differ, one short line or diff each; "" when they do not.

    Numbers are compared by value, with a tolerance far below anything the format states.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys = dict.fromkeys([*expected, *actual])
        return _joined(
            describe_difference(expected.get(key, _ABSENT), actual.get(key, _ABSENT), f"{at}.{key}")
            for key in keys
        )
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return _joined(
            describe_difference(want, got, f"{at}[{n}]")
            for n, (want, got) in enumerate(zip(expected, actual, strict=True))
        )
    if _same(expected, actual):
        return ""
    if isinstance(expected, str) and isinstance(actual, str) and "\n" in expected + actual:
        return f"  {at}:\n" + _text_diff(expected, actual)
    return f"  {at}: expected {_short(expected)}, got {_short(actual)}"


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _Absent()


def _same(expected: object, actual: object) -> bool:
    # In Python True equals 1; in the vectors it does not.
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-12)
    return expected == actual


def _text_diff(expected: str, actual: str) -> str:
    lines = unified_diff(
        [ascii(line)[1:-1] for line in expected.split("\n")],
        [ascii(line)[1:-1] for line in actual.split("\n")],
        "expected",
        "got",
        lineterm="",
        n=1,
    )
    shown = ["    " + line[:_DIFF_WIDTH] for line in lines]
    if len(shown) > _DIFF_LINES:
        shown[_DIFF_LINES:] = [f"    ... {len(shown) - _DIFF_LINES} more lines"]
    return "\n".join(shown)


def _short(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= _DIFF_WIDTH else text[: _DIFF_WIDTH - 3] + "..."


def _joined(parts: Iterator[str]) -> str:
    return "\n".join(part for part in parts if part)
