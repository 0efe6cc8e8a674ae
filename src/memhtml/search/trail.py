"""Following an old path forward: to what replaced it, or to where it was moved.

A link names the place where its target stood when it was made, so a path that is no longer there is
looked for in the archive.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.paths import normalize_path
from memhtml.search.relations import relations_of
from memhtml.search.state import ready

if TYPE_CHECKING:
    import apsw

    from memhtml.index.database import Index

__all__ = ["Step", "StopReason", "Trail", "Via", "resolve"]

HOP_LIMIT = 16

_AT = "SELECT id, title, archived FROM files WHERE path = ?"
_MOVED_TO = """
SELECT path FROM files WHERE origin_path = ? AND archived = 1
ORDER BY coalesce(archived_at, updated_at) DESC, path DESC LIMIT 1
"""


class Via(StrEnum):
    """What led from one path to the next."""

    SUPERSEDES = "supersedes"
    ARCHIVE_MOVE = "archive_move"


class StopReason(StrEnum):
    """Why a trail ends where it does."""

    LIVE = "live"
    ARCHIVED = "archived"
    UNINDEXED = "unindexed"
    CYCLE = "cycle"
    HOP_LIMIT = "hop_limit"


class Step(NamedTuple):
    """One hop."""

    source: str
    target: str
    via: Via


class Trail(NamedTuple):
    """Where a path leads today."""

    requested: str
    path: str
    steps: tuple[Step, ...]
    stop_reason: StopReason
    title: str | None
    """Of the memory at *path*; None when the index has none there."""
    indexed_commit: str | None


def resolve(index: Index, path: str) -> Trail:
    """Return where *path* leads: over what supersedes it, newest first, and into the archive.

    Raises:
        IndexStale: There is no usable index; it has to be built first.
    """
    requested = normalize_path(path)
    with index.reading("follow a path") as connection:
        state = ready(index)
        here, steps = requested, list[Step]()
        seen = {here}
        while True:
            file_id, title, archived = _look_at(connection, here)
            step = _next_step(connection, here, file_id)
            if step is None:
                reason = StopReason.ARCHIVED if archived else StopReason.LIVE
                reason = StopReason.UNINDEXED if file_id is None else reason
            elif step.target in seen:
                reason = StopReason.CYCLE
            elif len(steps) == HOP_LIMIT:
                reason = StopReason.HOP_LIMIT
            else:
                steps.append(step)
                seen.add(step.target)
                here = step.target
                continue
            return Trail(requested, here, tuple(steps), reason, title, state.head_sha)


def _look_at(connection: apsw.Connection, path: str) -> tuple[int | None, str | None, bool]:
    row = connection.execute(_AT, (path,)).fetchone()
    return (None, None, False) if row is None else (row[0], row[1], bool(row[2]))


def _next_step(connection: apsw.Connection, path: str, file_id: int | None) -> Step | None:
    if file_id is None:
        moved = connection.execute(_MOVED_TO, (path,)).fetchone()
        return moved and Step(path, moved[0], Via.ARCHIVE_MOVE)
    successor = relations_of(connection, [file_id])[file_id].superseded_by
    return None if successor is None else Step(path, successor, Via.SUPERSEDES)
