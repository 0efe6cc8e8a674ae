"""Usage as others keep it: the committed copy, and the other tool's database.

The committed copy, ``.memhtml/state/access.jsonl``, has one JSON object a line, sorted by path, and
bytes that follow from the rows alone, so that it changes in git exactly when usage does.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from memhtml.format.usage import USAGE_PATH
from memhtml.index.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["exported", "found_usage", "imported"]

_OTHER_DATABASE = ".memhtml/state.db"
_OTHER_ROWS = """
SELECT path, access_count, reinforcement_count, outcome_score, last_accessed_at,
  last_reinforced_at, updated_at FROM access ORDER BY path
"""
_FIELDS = (
    "accessCount",
    "reinforcementCount",
    "outcomeScore",
    "lastAccessedAt",
    "lastReinforcedAt",
    "updatedAt",
)


def exported(rows: Iterable[tuple[str, Usage]]) -> bytes:
    r"""Return *rows*, in order of path, as the committed copy has them.

    >>> exported([("a.html", Usage(1, 0, -0.00001, 1.0, "2026-01-01", None, "2026-01-01"))])[:55]
    b'{"path":"a.html","accessCount":1,"reinforcementCount":0'
    """
    return b"".join(_line(path, usage) for path, usage in rows)


def imported(data: bytes) -> Iterator[tuple[str, Usage]]:
    """Yield the rows of a committed copy; a line that is none is left out."""
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("path"), str) and row["path"]:
            usage = _usage(tuple(row.get(name) for name in _FIELDS))
            if usage is not None:
                yield row["path"], usage


def found_usage(root: str) -> Iterator[list[tuple[str, Usage]]]:
    """Yield what the store at *root* has of usage that we did not count, source by source."""
    other = Path(root, _OTHER_DATABASE)
    if other.is_file():
        yield list(_other_rows(other))
    try:
        yield list(imported(Path(root, USAGE_PATH).read_bytes()))
    except OSError:
        return


def _other_rows(path: Path) -> Iterator[tuple[str, Usage]]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        # Even a reader writes beside a database with a log, and that file is not ours.
        for file in (path, path.with_name(f"{path.name}-wal")):
            if file.is_file():
                shutil.copyfile(file, Path(folder, file.name))
        connection = apsw.Connection(str(copy))
        try:
            for found, *values in connection.execute(_OTHER_ROWS):
                usage = _usage(tuple(values))
                if isinstance(found, str) and usage is not None:
                    yield found, usage
        except apsw.Error:
            return  # not what we take it for; it stays where it is
        finally:
            connection.close()


def _usage(values: tuple[Any, ...]) -> Usage | None:
    """Return the usage that six foreign values describe; None when they describe none."""
    accesses, reinforcements, score, accessed, reinforced, updated = values
    try:
        usage = Usage(
            access_count=_count(accesses),
            reinforcement_count=_count(reinforcements),
            outcome_score=0.0 if score is None else max(-1.0, min(1.0, float(score))),
            # Nobody knows when each access was; as if all were the last one errs on the warm side.
            warmth=float(_count(accesses)),
            last_accessed_at=_time(accessed),
            last_reinforced_at=_time(reinforced),
            updated_at=_time(updated) or _time(accessed) or _time(reinforced) or "",
        )
    except (TypeError, ValueError, OverflowError):
        return None
    return usage


def _count(value: float | str | None) -> int:
    return 0 if value is None else max(0, int(value))


def _time(value: object) -> str | None:
    # The other tool has written "" for no time, which would sort before every other.
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise TypeError(value)
    datetime.fromisoformat(value)  # or it could not be compared
    return value


def _line(path: str, usage: Usage) -> bytes:
    # A rounded -0.00001 is "-0.0", which equals 0 and is written so.
    score = round(usage.outcome_score, 4) or 0.0
    values = (
        usage.access_count,
        usage.reinforcement_count,
        int(score) if score.is_integer() else score,
        usage.last_accessed_at,
        usage.last_reinforced_at,
        usage.updated_at,
    )
    row = {"path": path, **dict(zip(_FIELDS, values, strict=True))}
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"
