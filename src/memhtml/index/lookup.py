"""Questions about single memories and about the index as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from memhtml.index.rows import FileRow, SkippedRow

if TYPE_CHECKING:
    from memhtml.index.database import Index

__all__ = ["Finding", "SkippedFile", "count_by_type", "find_active", "find_file", "skipped_files"]

_FIND_ACTIVE = """
SELECT path FROM files
WHERE content_hash = ? AND archived = 0 AND memory_type <> 'task'
ORDER BY created_at, path LIMIT 1
"""
_FIND_FILE = f"SELECT {', '.join(FileRow._fields)} FROM files WHERE path = ?"  # noqa: S608 - ours
_COUNT_BY_TYPE = """
SELECT memory_type, count(*) FROM files WHERE archived = 0 GROUP BY memory_type ORDER BY 1
"""
_SKIPPED = f"SELECT {', '.join(SkippedRow._fields)} FROM skipped ORDER BY path"  # noqa: S608 - ours


class Finding(NamedTuple):
    """One violation of a skipped file; line and column count from 1."""

    code: str
    message: str
    line: int = 1
    column: int = 1


class SkippedFile(NamedTuple):
    """A file that stands where memories stand and is none."""

    path: str
    reason: str
    """The code of its first violation, or ``not-a-file`` or ``path-encoding``."""
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, row: SkippedRow) -> SkippedFile:
        """Return *row* with its findings decoded."""
        findings = tuple(Finding(**found) for found in json.loads(row.diagnostics))
        return cls(row.path, row.reason, findings)


def find_active(index: Index, content_hash: str) -> str | None:
    """Return the path of the active memory with that content: the oldest, then by path.

    Tasks are not asked: two may well say the same.
    """
    with index.guarded("look up a content hash"):
        found = index.connection.execute(_FIND_ACTIVE, (content_hash,)).fetchone()
    return found and found[0]


def find_file(index: Index, path: str) -> FileRow | None:
    """Return what the index has at *path*, None when that is no memory."""
    with index.guarded("look up a path"):
        found = index.connection.execute(_FIND_FILE, (path,)).fetchone()
    if found is None:
        return None
    row = FileRow._make(found)
    return row._replace(archived=bool(row.archived))


def count_by_type(index: Index) -> dict[str, int]:
    """Return how many active memories there are of each type that occurs."""
    with index.guarded("count the memories"):
        return dict(index.connection.execute(_COUNT_BY_TYPE))


def skipped_files(index: Index) -> tuple[SkippedFile, ...]:
    """Return every file that is no memory, by path, and why."""
    with index.guarded("list the skipped files"):
        rows = index.connection.execute(_SKIPPED).fetchall()
    return tuple(SkippedFile.of(SkippedRow._make(row)) for row in rows)
