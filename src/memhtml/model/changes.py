"""What callers ask of memories that exist, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from memhtml.model.notebook import table

if TYPE_CHECKING:
    from memhtml.model.document import Citation, Facet
    from memhtml.model.errors import MemhtmlError
    from memhtml.model.memory import Draft
    from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus

__all__ = [
    "ArchiveRequest",
    "Archived",
    "Batch",
    "Conflict",
    "Corrected",
    "Correction",
    "Edited",
    "LinkRequest",
    "Linked",
    "OpResult",
    "Place",
    "Request",
    "TaskStatusRequest",
    "TaskUpdated",
    "Unarchived",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A memory that takes the place of another. None means: as the corrected one has it."""

    target: str
    """Path of the memory that is no longer true."""
    title: str | None = None
    claim: str = ""
    paragraphs: tuple[str, ...] = ()
    article_html: str | None = None
    facets: tuple[Facet, ...] = ()
    citations: tuple[Citation, ...] = ()
    happened_at: str | None = None
    reason: str | None = None
    """Why; kept as a commit trailer."""
    expect: str | None = None
    """Blob sha of the version the caller read; another one there is a conflict."""
    memory_type: MemoryType | None = None
    tags: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    aliases: tuple[str, ...] | None = None
    confidence: float | None = None
    importance: int | None = None
    author: str | None = None
    session_id: str | None = None
    prompt_id: str | None = None
    turn_uuid: str | None = None
    valid_from: str | None = None
    """From when the correction holds; else the first time it states, else now."""
    valid_until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """What a correction did."""

    path: str
    archived_path: str
    commit: str | None
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What an edit did; *commit* is None where nothing differed."""

    path: str
    commit: str | None
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What archiving did."""

    path: str
    archive_path: str
    commit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unarchived:
    """What bringing a memory back did."""

    path: str
    archive_path: str
    commit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What linking or unlinking did; *commit* is None where it was already so."""

    src: str
    rel: str
    dst: str
    commit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskUpdated:
    """What a change of a task's status did."""

    path: str
    task_status: str
    archived: bool
    archive_path: str | None
    commit: str | None
    unchanged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveRequest:
    """Archive the memory at *path*."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRequest:
    """Link *src* to *dst*."""

    src: str
    rel: Rel
    dst: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStatusRequest:
    """Give the task at *path* a status."""

    path: str
    status: TaskStatus
    reason: str | None = None


class Place(NamedTuple):
    """A memory that stands at a path of its own, whatever was there before; see `Corpus.put`."""

    draft: Draft
    """With its `path`."""
    expect: str | None = None
    """Blob sha of the version the caller read, "" for none; another one there is a conflict."""
    moved_from: str | None = None
    """Path of the memory that becomes this one."""


Request: TypeAlias = "Draft | Correction | ArchiveRequest | LinkRequest | TaskStatusRequest"
"""One operation of a batch. In a batch a path may be ``@N``: the file that operation *N*, counted
from 0, makes or leaves behind."""


class Conflict(NamedTuple):
    """Another claim that fills the same slot: one stored, or one made earlier in the batch."""

    path: str | None
    batch_index: int | None
    claim: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpResult:
    """What became of one operation of a batch."""

    index: int
    op: str
    """``write``, ``correct``, ``archive``, ``link``, ``task`` or ``task_status``."""
    path: str | None = None
    """Where the operation's memory now stands."""
    deduped: bool = False
    existing_path: str | None = None
    archived_path: str | None = None
    """Where an archived or corrected memory went."""
    error: MemhtmlError | None = None
    skipped: bool = False
    """Nothing was wrong with it, but the batch was refused or what it needed failed."""
    near_duplicates: tuple[str, ...] = ()
    conflict: Conflict | None = None
    consolidated_into: int | None = None
    """The operation whose memory took this one's content (``last-wins``)."""
    superseded_path: str | None = None
    """The stored memory that was archived because this one fills its slot (``last-wins``)."""

    @property
    def ok(self) -> bool:
        """Whether the operation had its effect."""
        return self.error is None and not self.skipped

    @property
    def outcome(self) -> tuple[str, str]:
        """One word for what became of it, and why where it failed."""
        if self.error is not None:
            return "failed", f"{self.error.code}: {self.error.message}"
        if self.skipped:
            return "skipped", ""
        return ("deduped" if self.deduped else "done"), ""

    def __str__(self) -> str:
        word, why = self.outcome
        return f"#{self.index} {self.op} {word} {self.path or ''} {why}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a batch did, in the order of its operations."""

    results: tuple[OpResult, ...]
    commit: str | None

    def __repr__(self) -> str:
        told = "".join(f"\n  {result}" for result in self.results)
        return f"<Batch: {len(self.results)} operations, commit {self.commit}{told}>"

    def _repr_html_(self) -> str:
        rows = [(r.index, r.op, *r.outcome, r.path) for r in self.results]
        names = ("#", "operation", "outcome", "why", "path")
        return table(names, rows, caption=f"commit {self.commit}")

    @property
    def failed(self) -> tuple[OpResult, ...]:
        """The operations that were refused."""
        return tuple(result for result in self.results if result.error is not None)
