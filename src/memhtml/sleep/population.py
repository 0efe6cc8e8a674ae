"""The memories of a store as the phases of sleep see them: one value each, all in memory.

Read in one pass over the index of the run, which was brought up to date after the last commit; at
20,000 memories that takes under a second, and no phase reads a file to know what it says.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memhtml.index.database import Index

__all__ = ["Facet", "Live", "Population", "read_population"]


T = TypeVar("T")


class Facet(NamedTuple):
    """A named value."""

    name: str
    value: str
    number: float | None


class Live(NamedTuple):
    """One memory."""

    id: int
    path: str
    archived: bool
    memory_type: str
    title: str
    gist: str
    """The claim."""
    body: str
    """Text of the whole article, the claim included."""
    content_hash: str
    frame_key: str | None
    """The slot that the claim fills; see `memhtml.scoring.frames`."""
    near_key: str | None
    workspace: str | None
    origin_path: str | None
    confidence: float
    importance: int
    word_count: int
    created_at: str
    updated_at: str
    event_at: str | None
    news_at: str
    """When it became news: when the fact happened, or else when its content was written."""
    valid_from: str | None
    valid_until: str | None
    reprieves: int
    author: str
    session_id: str | None
    task_status: str | None
    due_at: str | None
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    """``type:name`` as authored."""
    aliases: tuple[str, ...]
    facets: tuple[Facet, ...]
    links: tuple[tuple[str, str], ...]
    """Relation and target path of each authored link."""

    @property
    def directory(self) -> str:
        """The folder it stands in."""
        return self.path.rpartition("/")[0]


_COLUMNS = (
    "f.id, f.path, f.archived, f.memory_type, f.title, f.gist, b.text, f.content_hash, f.frame_key,"
    " f.near_key, f.workspace, f.origin_path, f.confidence, f.importance, f.word_count,"
    " f.created_at, f.updated_at, f.event_at, f.news_at, f.valid_from, f.valid_until, f.reprieves,"
    " f.author, f.session_id, f.task_status, f.due_at"
)
_SELECT = f"""
SELECT {_COLUMNS} FROM files AS f JOIN bodies AS b ON b.file_id = f.id ORDER BY f.path
"""  # noqa: S608 - our names
_LABELS = {
    "tags": "SELECT file_id, tag FROM file_tags ORDER BY file_id, tag",
    "entities": "SELECT file_id, entity FROM file_entities ORDER BY file_id, entity",
    "aliases": "SELECT file_id, alias FROM file_aliases ORDER BY file_id, alias",
}
_FACETS = (
    "SELECT file_id, name, value, numeric_value FROM file_facets ORDER BY file_id, name, value"
)
_EDGES = "SELECT src_id, rel, dst_path FROM edges ORDER BY src_id, rel, dst_path"


class Population:
    """Every memory of the store, archived ones too, in order of path."""

    def __init__(self, memories: Iterable[Live]) -> None:
        self.all = tuple(memories)

    def __iter__(self) -> Iterator[Live]:
        """Yield every memory."""
        return iter(self.all)

    @cached_property
    def by_path(self) -> Mapping[str, Live]:
        """Every memory by its path."""
        return {memory.path: memory for memory in self.all}

    @cached_property
    def active(self) -> tuple[Live, ...]:
        """What is neither archived nor a task: sleep leaves tasks to people (sleep format §1)."""
        return tuple(m for m in self.all if not m.archived and m.memory_type != MemoryType.TASK)

    @cached_property
    def claims(self) -> tuple[Live, ...]:
        """The active ones that are no arcs."""
        return tuple(m for m in self.active if m.memory_type != MemoryType.ARC)

    @cached_property
    def arcs(self) -> tuple[Live, ...]:
        """The active arcs."""
        return tuple(m for m in self.active if m.memory_type == MemoryType.ARC)

    @cached_property
    def tasks(self) -> tuple[Live, ...]:
        """Every task, finished ones too."""
        return tuple(m for m in self.all if m.memory_type == MemoryType.TASK)


def read_population(index: Index) -> Population:
    """Return all that *index* knows."""
    with index.reading("read the memories") as connection:
        labels = {name: _grouped(connection.execute(sql)) for name, sql in _LABELS.items()}
        facets = _grouped((row[0], Facet(*row[1:])) for row in connection.execute(_FACETS))
        links = _grouped((row[0], (row[1], row[2])) for row in connection.execute(_EDGES))
        return Population(
            Live._make(
                (
                    file_id,
                    path,
                    bool(archived),
                    *columns,
                    tuple(labels["tags"].get(file_id, ())),
                    tuple(labels["entities"].get(file_id, ())),
                    tuple(labels["aliases"].get(file_id, ())),
                    tuple(facets.get(file_id, ())),
                    tuple(links.get(file_id, ())),
                )
            )
            for file_id, path, archived, *columns in connection.execute(_SELECT)
        )


def _grouped(rows: Iterable[tuple[int, T]]) -> dict[int, list[T]]:
    groups: dict[int, list[T]] = {}
    for file_id, value in rows:
        groups.setdefault(file_id, []).append(value)
    return groups
