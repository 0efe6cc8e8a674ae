"""What became of a memory over time, and what came of bringing two clones together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from memhtml.model.tree import Delta

__all__ = [
    "Blamed",
    "Commit",
    "Delta",
    "DiffKind",
    "Piece",
    "SyncConflict",
    "SyncState",
    "Synced",
    "Version",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A memory as one commit left it."""

    commit: str
    at: str
    """Instant of the commit, in UTC."""
    author: str
    """``Name <mail>``."""
    operation: str | None
    """What made it, such as ``write`` or ``sleep(decay)``; None for a commit of other hands."""
    summary: str
    """What the commit's subject says of it."""
    session: str | None
    prompt: str | None
    reason: str | None
    path: str
    """Where the memory stood then."""
    moved_from: str | None
    """Where it stood before, when this commit moved it or put it in another one's place."""
    sha: str | None
    """Blob of the file; None where the commit removed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit of a store, and what it changed."""

    sha: str
    at: str
    """Instant of the commit, in UTC."""
    author: str
    """``Name <mail>``."""
    operation: str | None
    """What made it, such as ``write`` or ``sleep(decay)``; None for a commit of other hands."""
    summary: str
    session: str | None
    prompt: str | None
    reason: str | None
    deltas: tuple[Delta, ...]
    """Of a merge, only what is as none of its parents has it."""


class DiffKind(StrEnum):
    """Whether words stayed, came or went."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


class Piece(NamedTuple):
    """A run of words in a comparison."""

    kind: DiffKind
    text: str


class Blamed(NamedTuple):
    """A sentence of a memory, and the version that first said it."""

    sentence: str
    version: Version


class SyncState(StrEnum):
    """How a clone stood to its remote, and so what `sync` did."""

    NO_REMOTE = "no-remote"
    """There is nobody to sync with."""
    UP_TO_DATE = "up-to-date"
    AHEAD = "ahead"
    """The remote lacked commits; they were pushed."""
    BEHIND = "behind"
    """This clone lacked commits; it has them now."""
    MERGED = "merged"
    """Both lacked commits; they were merged, and pushed."""
    CONFLICT = "conflict"
    """Both changed the same, and a person has to decide."""


class SyncConflict(NamedTuple):
    """A file that both sides changed and no rule decides."""

    path: str
    ours: str
    """Our blob; "" where we have none."""
    theirs: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What a sync did."""

    state: SyncState
    remote: str | None = None
    branch: str | None = None
    before: str | None = None
    """Commit that HEAD was."""
    after: str | None = None
    """Commit that HEAD is."""
    ahead: int = 0
    """Commits that the remote lacked."""
    behind: int = 0
    """Commits that this clone lacked."""
    pushed: bool = False
    merged: tuple[str, ...] = ()
    """Files that both sides changed and that were merged, sorted."""
    conflicts: tuple[SyncConflict, ...] = ()
    is_merge_open: bool = False
    """The conflicts stand in the files, and the merge waits to be committed."""
