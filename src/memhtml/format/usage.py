"""The committed copy of usage, ``.memhtml/state/access.jsonl``, merged row by row. Pure.

One row a path, sorted by path. Both machines count what they saw, and neither saw what the other
did, so of two rows the higher counters and the later times hold; the score, which goes both ways,
is that of the row that was touched last.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["USAGE_PATH", "merge_usage"]

USAGE_PATH = ".memhtml/state/access.jsonl"
"""Where the committed copy stands."""

_HIGHER = ("accessCount", "reinforcementCount")
_LATER = ("lastAccessedAt", "lastReinforcedAt", "updatedAt")


def merge_usage(base: bytes | None, ours: bytes, theirs: bytes) -> bytes:
    r"""Return both copies as one; a line that is no row is left out, as an import leaves it out.

    A path that one side dropped, because its memory moved, stays dropped unless the other side
    used it since *base*.

    >>> mine = b'{"path":"a","accessCount":2,"lastAccessedAt":null}\n'
    >>> merge_usage(None, mine, b'{"path":"a","accessCount":1,"lastAccessedAt":"2026-01-01"}\n')
    b'{"path":"a","accessCount":2,"lastAccessedAt":"2026-01-01"}\n'
    """
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    was, left, right = _rows(base or b""), _rows(ours), _rows(theirs)
    return b"".join(_merged_lines(was, left, right))


def _merged_lines(
    base: Mapping[str, _Row], ours: Mapping[str, _Row], theirs: Mapping[str, _Row]
) -> Iterator[bytes]:
    for path in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(path), theirs.get(path)
        if mine is None or other is None:
            kept = mine or other
            if kept != base.get(path):
                yield _line(kept)
        else:
            yield _line(mine if mine == other else _merged(mine, other))


_Row = dict[str, Any]


def _rows(data: bytes) -> dict[str, _Row]:
    rows = {}
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("path"), str):
            rows[row["path"]] = row
    return rows


def _merged(ours: _Row, theirs: _Row) -> _Row:
    older, newer = sorted((ours, theirs), key=_touched)
    row = {**older, **newer}
    for name in _HIGHER:
        row.update(_highest(name, ours, theirs, (int, float)))
    for name in _LATER:
        row.update(_highest(name, ours, theirs, (str,)))
    # The order of the members is the file's own, whichever row is the newer.
    return {name: row[name] for name in (*ours, *(name for name in row if name not in ours))}


def _touched(row: _Row) -> tuple[str, float]:
    at, score = row.get("updatedAt"), row.get("outcomeScore")
    return (
        at if isinstance(at, str) else "",
        score if isinstance(score, (int, float)) else 0.0,
    )


def _highest(name: str, ours: _Row, theirs: _Row, kinds: tuple[type, ...]) -> _Row:
    """Return the higher value as a member; the other tool has written "" for no time."""
    values = [
        row[name] for row in (ours, theirs) if isinstance(row.get(name), kinds) and row[name] != ""
    ]
    return {name: max(values)} if values else {}


def _line(row: _Row | None) -> bytes:
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate cannot be UTF-8; its escape is the same JSON.
    return text.encode("utf-8", "backslashreplace") + b"\n"
