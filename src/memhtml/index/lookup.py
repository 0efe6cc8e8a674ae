"""Questions about single memories and about the index as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from memhtml.index.rows import FileRow, SkippedRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from memhtml.index.database import Index
    from memhtml.index.usage import SessionLink

__all__ = [
    "Finding",
    "ListedFile",
    "SkippedFile",
    "count_archived",
    "count_by_type",
    "find_active",
    "find_file",
    "find_frame",
    "find_near",
    "indexed_files",
    "linking",
    "list_entries",
    "list_paths",
    "overlaid_paths",
    "replaced_by",
    "select_paths",
    "skipped_files",
    "written_at",
    "written_in",
]

_FIND_ACTIVE = """
SELECT path FROM files
WHERE content_hash = ? AND archived = 0 AND memory_type <> 'task'
ORDER BY created_at, path LIMIT 1
"""
# Asked first: most often there is none, and a question that sorts takes eight times as long.
_HAS_ACTIVE = "SELECT 1 FROM files WHERE content_hash = ?"
_FIND_NEAR = """
SELECT path FROM files
WHERE near_key = ? AND archived = 0 AND memory_type <> 'task'
ORDER BY created_at, path LIMIT 3
"""
_HAS_NEAR = "SELECT 1 FROM files WHERE near_key = ?"
_FIND_FRAME = """
SELECT path, gist FROM files
WHERE frame_key = ? AND archived = 0 AND memory_type <> 'task'
ORDER BY path LIMIT 1
"""
_LINKING = """
SELECT DISTINCT s.path FROM edges AS e JOIN files AS s ON s.id = e.src_id
WHERE e.dst_path = ? AND s.archived = 0 ORDER BY s.path
"""
_LIST_PATHS = "SELECT path FROM files WHERE archived <= ? ORDER BY path"
# A link made before its target moved into the archive names the place before it.
_REPLACED_BY = """
WITH RECURSIVE line (path) AS (
  SELECT ?
  UNION
  SELECT d.path FROM line JOIN files AS s ON s.path = line.path
  JOIN edges AS e ON e.src_id = s.id AND e.rel = 'supersedes'
  JOIN files AS d ON d.archived = 1 AND e.dst_path IN (d.path, d.origin_path)
)
SELECT path FROM line
"""
_WRITTEN_AT = """
SELECT path, session_id, 'wrote', created_at, prompt_id, turn_uuid FROM files
WHERE path = ? AND session_id IS NOT NULL
"""
_WRITTEN_IN = """
SELECT path, session_id, 'wrote', created_at, prompt_id, turn_uuid FROM files
WHERE session_id = ? ORDER BY created_at, path
"""
_ALL_FILES = "SELECT id, path, title, gist, memory_type, updated_at FROM files ORDER BY path"
_ALL_TAGS = "SELECT file_id, tag FROM file_tags ORDER BY file_id, tag"
_ALL_ENTITIES = "SELECT file_id, entity FROM file_entities ORDER BY file_id, entity"
_ALL_EDGES = "SELECT src_id, rel, dst_path FROM edges ORDER BY src_id, rel, dst_path"
_COUNT_ARCHIVED = "SELECT count(*) FROM files WHERE archived = 1"
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


class ListedFile(NamedTuple):
    """What a listing shows of one memory."""

    path: str
    title: str
    claim: str
    memory_type: str
    updated_at: str
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    """Relation and target of each head link, the target existing or not."""


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
        if index.connection.execute(_HAS_ACTIVE, (content_hash,)).fetchone() is None:
            return None
        found = index.connection.execute(_FIND_ACTIVE, (content_hash,)).fetchone()
    return found and found[0]


def find_near(index: Index, near_key: str) -> list[str]:
    """Return the paths of the three oldest active memories with that key; tasks are not asked."""
    with index.guarded("look up a rewording"):
        if index.connection.execute(_HAS_NEAR, (near_key,)).fetchone() is None:
            return []
        return [path for (path,) in index.connection.execute(_FIND_NEAR, (near_key,))]


def find_frame(index: Index, frame_key: str) -> tuple[str, str] | None:
    """Return path and claim of the first active memory by path that fills that slot; no tasks."""
    with index.guarded("look up a slot"):
        found = index.connection.execute(_FIND_FRAME, (frame_key,)).fetchone()
    return found and (found[0], found[1])


def linking(index: Index, path: str) -> list[str]:
    """Return the paths of the active memories that have a head link to *path*, sorted."""
    with index.guarded("look up links"):
        return [source for (source,) in index.connection.execute(_LINKING, (path,))]


def list_paths(index: Index, *, include_archived: bool = False) -> list[str]:
    """Return the path of every memory, sorted."""
    with index.guarded("list the memories"):
        found = index.connection.execute(_LIST_PATHS, (int(include_archived),))
        return [path for (path,) in found]


def select_paths(
    index: Index,
    condition: str,
    values: Sequence[str | float],
    *,
    updated_before: str | None = None,
) -> list[str]:
    """Return the paths of the files ``f`` that meet *condition*, sorted; see `search.scope`."""
    sql = f"SELECT f.path FROM files AS f WHERE {condition}"  # noqa: S608 - ours, values bound
    if updated_before is not None:
        sql += " AND f.updated_at < ?"
        values = (*values, updated_before)
    with index.guarded("choose memories"):
        return [path for (path,) in index.connection.execute(f"{sql} ORDER BY f.path", values)]


def written_in(index: Index, session_id: str) -> list[SessionLink]:
    """Return the memories that say they were written in *session_id*, in order of creation."""
    return _session_links(index, _WRITTEN_IN, [session_id])


def replaced_by(index: Index, path: str) -> list[str]:
    """Return *path* and the archived memories that it replaced, and those that they did."""
    with index.guarded("follow what a memory replaced"):
        return [str(one) for (one,) in index.connection.execute(_REPLACED_BY, (path,))]


def written_at(index: Index, paths: Iterable[str]) -> list[SessionLink]:
    """Return in which sessions the memories at *paths* say they were written."""
    return _session_links(index, _WRITTEN_AT, paths)


def _session_links(index: Index, sql: str, keys: Iterable[str]) -> list[SessionLink]:
    from memhtml.index.usage import LinkKind, SessionLink  # noqa: PLC0415 - only here

    with index.guarded("look up a session"):
        return [
            SessionLink(path, session, LinkKind(kind), *rest)
            for key in keys
            for path, session, kind, *rest in index.connection.execute(sql, (key,))
        ]


def indexed_files(index: Index) -> dict[str, str]:
    """Return the blob sha of every memory, by path."""
    with index.guarded("list the memories"):
        return dict(index.connection.execute("SELECT path, blob_sha FROM files"))


def count_archived(index: Index) -> int:
    """Return how many memories stand in the archive."""
    with index.guarded("count the archive"):
        ((count,),) = index.connection.execute(_COUNT_ARCHIVED)
    return int(count)


def find_file(index: Index, path: str) -> FileRow | None:
    """Return what the index has at *path*, None when that is no memory."""
    with index.guarded("look up a path"):
        found = index.connection.execute(_FIND_FILE, (path,)).fetchone()
    if found is None:
        return None
    row = FileRow._make(found)
    return row._replace(archived=bool(row.archived), needs_revision=bool(row.needs_revision))


def count_by_type(index: Index) -> dict[str, int]:
    """Return how many active memories there are of each type that occurs."""
    with index.guarded("count the memories"):
        return dict(index.connection.execute(_COUNT_BY_TYPE))


def skipped_files(index: Index) -> tuple[SkippedFile, ...]:
    """Return every file that is no memory, by path, and why."""
    with index.guarded("list the skipped files"):
        rows = index.connection.execute(_SKIPPED).fetchall()
    return tuple(SkippedFile.of(SkippedRow._make(row)) for row in rows)


def list_entries(index: Index) -> Iterator[ListedFile]:
    """Yield every memory with what listings show, in order of path."""
    with index.reading("list the memories") as connection:
        labels = {
            table: _grouped(connection, sql)
            for table, sql in (("tags", _ALL_TAGS), ("entities", _ALL_ENTITIES))
        }
        links: dict[int, list[tuple[str, str]]] = {}
        for file_id, rel, path in connection.execute(_ALL_EDGES):
            links.setdefault(file_id, []).append((rel, path))
        for file_id, *columns in connection.execute(_ALL_FILES):
            tags = tuple(labels["tags"].get(file_id, ()))
            entities = tuple(labels["entities"].get(file_id, ()))
            yield ListedFile._make((*columns, tags, entities, tuple(links.get(file_id, ()))))


def overlaid_paths(index: Index) -> frozenset[str]:
    """Return the paths that are indexed as they are on disk and not as HEAD has them."""
    with index.guarded("list the hand edits"):
        return frozenset(path for (path,) in index.connection.execute("SELECT path FROM overlay"))


def _grouped(connection: apsw.Connection, sql: str) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = {}
    for file_id, value in connection.execute(sql):
        groups.setdefault(file_id, []).append(value)
    return groups
