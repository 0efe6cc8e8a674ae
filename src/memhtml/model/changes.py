"""What callers ask of memories that exist, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memhtml.model.document import Citation, Facet
    from memhtml.model.vocabulary import MemoryType

__all__ = [
    "Archived",
    "Corrected",
    "Correction",
    "Linked",
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
