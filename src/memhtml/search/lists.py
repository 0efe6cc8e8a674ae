"""Lists: every memory, entity, tag or task that passes a filter, page by page.

A page begins behind the last thing of the page before it, by that thing's own key, so each comes
once however the store changes meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import InvalidFlag
from memhtml.model.instants import is_instant
from memhtml.model.notebook import table
from memhtml.model.vocabulary import Bucket, MemoryType, TaskStatus
from memhtml.search.scope import Scope, narrowed
from memhtml.search.state import ready

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import apsw

    from memhtml.index.database import Index

__all__ = [
    "MAX_PAGE",
    "Blocker",
    "EntityActivity",
    "EntityList",
    "FileList",
    "ListedMemory",
    "ListedTask",
    "TagUse",
    "TaskList",
    "list_entities",
    "list_memories",
    "list_tags",
    "list_tasks",
]

MAX_PAGE = 500
DEFAULT_PAGE = 50

_FILES = """
SELECT f.path, f.title, f.memory_type, f.gist, f.workspace, f.para, f.confidence, f.importance,
  f.archived, f.updated_at
FROM files AS f WHERE f.path > ? AND {scope} ORDER BY f.path LIMIT ?
"""
# What is newest decides; among the memories of that moment nothing does.
_ENTITIES = """
SELECT min(e.entity), e.entity_key, count(*), max(coalesce(f.event_at, f.updated_at)),
  max(f.event_at), max(f.updated_at)
FROM file_entities AS e JOIN files AS f ON f.id = e.file_id
WHERE {scope} {of_type}
GROUP BY e.entity_key ORDER BY 4 DESC, 2 LIMIT ?
"""
_COUNT_ENTITIES = """
SELECT count(DISTINCT e.entity_key)
FROM file_entities AS e JOIN files AS f ON f.id = e.file_id WHERE {scope} {of_type}
"""
_OF_TYPE = "AND substr(e.entity_key, 1, ?) = ?"
_TAGS = """
SELECT t.tag, count(*), max(f.updated_at) FROM file_tags AS t JOIN files AS f ON f.id = t.file_id
WHERE {scope} GROUP BY t.tag ORDER BY 2 DESC, 1
"""
_TASKS = """
SELECT f.id, f.path, f.title, f.gist, f.task_status, f.due_at, f.workspace, f.archived, f.updated_at
FROM files AS f WHERE f.path > ? AND {scope} ORDER BY f.path LIMIT ?
"""
# A finished task blocks nothing, and neither does one that was put away.
_BLOCKERS = """
SELECT t.id, b.path, b.title FROM files AS t
JOIN edges AS e ON e.rel = 'blocks' AND e.dst_path IN (t.path, t.origin_path)
JOIN files AS b ON b.id = e.src_id
WHERE t.id IN ({ids}) AND b.archived = 0 AND b.task_status <> 'done' AND b.id <> t.id
ORDER BY b.path
"""


class ListedMemory(NamedTuple):
    """One memory of a list."""

    path: str
    title: str
    memory_type: str
    gist: str
    workspace: str | None
    para: str
    confidence: float
    importance: int
    archived: bool
    updated_at: str


class FileList(NamedTuple):
    """A page of memories, by path."""

    files: tuple[ListedMemory, ...]
    next_cursor: str | None
    """What to hand in for the next page; None at the end."""

    def _repr_html_(self) -> str:
        rows = [(f.path, f.title, f.memory_type, f.gist, f.updated_at) for f in self.files]
        return table(("path", "title", "type", "claim", "updated"), rows)


class EntityActivity(NamedTuple):
    """One thing that memories are about."""

    entity: str
    """As authored; the first spelling by alphabet where there are several."""
    entity_type: str
    entity_name: str
    file_count: int
    last_activity_at: str
    """The latest event of its memories, or writing where they name none."""
    last_event_at: str | None
    last_written_at: str


class EntityList(NamedTuple):
    """Entities, the latest activity first."""

    entities: tuple[EntityActivity, ...]
    entity_count: int
    """All of them, listed or not."""


class TagUse(NamedTuple):
    """One tag."""

    tag: str
    file_count: int
    last_written_at: str


class Blocker(NamedTuple):
    """An unfinished task that stands in another's way."""

    path: str
    title: str


class ListedTask(NamedTuple):
    """One task of a list."""

    path: str
    title: str
    gist: str
    """What "done" consists of."""
    task_status: str
    due_at: str | None
    workspace: str | None
    archived: bool
    updated_at: str
    blocked_by: tuple[Blocker, ...]


class TaskList(NamedTuple):
    """A page of tasks, by path."""

    tasks: tuple[ListedTask, ...]
    next_cursor: str | None

    def _repr_html_(self) -> str:
        rows = [
            (t.title, t.task_status, t.due_at, ", ".join(b.title for b in t.blocked_by), t.path)
            for t in self.tasks
        ]
        return table(("task", "status", "due", "waits for", "path"), rows)


def list_memories(
    index: Index,
    scope: Scope | None = None,
    *,
    para: Bucket | None = None,
    limit: int = DEFAULT_PAGE,
    cursor: str | None = None,
) -> FileList:
    """Return the memories in *scope* (default: active, tasks too) behind *cursor*, by path.

    Raises:
        IndexStale: There is no usable index; it has to be built first.
        InvalidFlag: *limit* is not between 1 and 500.
    """
    _check_limit(limit)
    with index.reading("list the memories") as connection:
        ready(index)
        sql, values = narrowed(connection, scope or Scope(), with_tasks=True)
        if para is not None:
            sql, values = f"{sql} AND f.para = ?", (*values, para)
        bound = (cursor or "", *values, limit + 1)
        rows: list[tuple[Any, ...]] = connection.execute(_FILES.format(scope=sql), bound).fetchall()
    files = tuple(ListedMemory._make((*row[:8], bool(row[8]), row[9])) for row in rows[:limit])
    return FileList(files, files[-1].path if len(rows) > limit else None)


def list_entities(
    index: Index,
    scope: Scope | None = None,
    *,
    entity_type: str | None = None,
    limit: int = DEFAULT_PAGE,
) -> EntityList:
    """Return what the memories in *scope* (default: active, tasks too) are about, newest first.

    *entity_type* narrows to one type, whatever its case.

    Raises:
        IndexStale: There is no usable index; it has to be built first.
        InvalidFlag: *limit* is not between 1 and 500.
    """
    _check_limit(limit)
    of_type, wanted = "", tuple[str | int, ...]()
    if entity_type is not None:
        prefix = f"{entity_type.strip().lower()}:"
        of_type, wanted = _OF_TYPE, (len(prefix), prefix)
    with index.reading("list the entities") as connection:
        ready(index)
        sql, values = narrowed(connection, scope or Scope(), with_tasks=True)
        rows: list[tuple[Any, ...]] = connection.execute(
            _ENTITIES.format(scope=sql, of_type=of_type), (*values, *wanted, limit)
        ).fetchall()
        ((count,),) = connection.execute(
            _COUNT_ENTITIES.format(scope=sql, of_type=of_type), (*values, *wanted)
        )
    return EntityList(
        tuple(EntityActivity(entity, *entity.split(":", 1), *facts) for entity, _, *facts in rows),
        count,
    )


def list_tags(index: Index, scope: Scope | None = None) -> tuple[TagUse, ...]:
    """Return the tags of the memories in *scope* (default: active, tasks too), most used first.

    Raises:
        IndexStale: There is no usable index; it has to be built first.
    """
    with index.reading("list the tags") as connection:
        ready(index)
        sql, values = narrowed(connection, scope or Scope(), with_tasks=True)
        return tuple(TagUse(*row) for row in connection.execute(_TAGS.format(scope=sql), values))


def list_tasks(
    index: Index,
    scope: Scope | None = None,
    *,
    statuses: Sequence[TaskStatus] = (),
    due_before: str | None = None,
    limit: int = DEFAULT_PAGE,
    cursor: str | None = None,
) -> TaskList:
    """Return the tasks in *scope* (default: active) behind *cursor*, by path.

    With *due_before*, a day, only those due on an earlier day.

    Raises:
        IndexStale: There is no usable index; it has to be built first.
        InvalidFlag: *limit* is not between 1 and 500, or *due_before* no day.
    """
    _check_limit(limit)
    if due_before is not None and ("T" in due_before or not is_instant(due_before)):
        raise InvalidFlag(f"{due_before!r} is not a day such as 2026-03-04")
    only_tasks = (scope or Scope())._replace(types=(MemoryType.TASK,))
    with index.reading("list the tasks") as connection:
        ready(index)
        sql, values = narrowed(connection, only_tasks)
        if statuses:
            sql += f" AND f.task_status IN ({', '.join('?' * len(statuses))})"
            values = (*values, *statuses)
        if due_before is not None:
            sql, values = f"{sql} AND f.due_at < ?", (*values, due_before)
        bound = (cursor or "", *values, limit + 1)
        rows: list[tuple[Any, ...]] = connection.execute(_TASKS.format(scope=sql), bound).fetchall()
        blockers = _blockers(connection, [row[0] for row in rows[:limit]])
    tasks = tuple(
        ListedTask._make((*row[1:7], bool(row[7]), row[8], tuple(blockers.get(row[0], ()))))
        for row in rows[:limit]
    )
    return TaskList(tasks, tasks[-1].path if len(rows) > limit else None)


def _blockers(connection: apsw.Connection, ids: Sequence[int]) -> dict[int, list[Blocker]]:
    found: dict[int, list[Blocker]] = {}
    sql = _BLOCKERS.format(ids=", ".join(map(str, ids)))
    for file_id, path, title in connection.execute(sql):
        found.setdefault(file_id, []).append(Blocker(path, title))
    return found


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidFlag(f"a limit of {limit} is not between 1 and {MAX_PAGE}")
