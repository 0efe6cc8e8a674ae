"""Values that pass between the tree (`store`) and those who read it (`index`, `search`).

A *sha* is git's, in hex; a *path* is root-relative with ``/``, decoded from UTF-8 with
``surrogateescape`` so that any name git can hold survives a round trip.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

__all__ = ["Change", "ChangeKind", "Delta", "TreeEntry", "WorktreeChange"]


class TreeEntry(NamedTuple):
    """One file of a commit's tree."""

    path: str
    sha: str
    mode: str
    """Git's octal mode: ``100644``, ``100755`` or ``120000`` for a symlink."""


class ChangeKind(StrEnum):
    """What happened to a path between two trees."""

    ADDED = "added"
    MODIFIED = "modified"
    REMOVED = "removed"


class Change(NamedTuple):
    """One path that differs between two commits. A move is a removal and an addition.

    Renames are recognised by whoever follows the tree, from the archive's path algebra, never
    from similarity.
    """

    kind: ChangeKind
    path: str
    sha: str
    """Blob of the new state, or of the old one for a removal."""
    mode: str


class WorktreeChange(NamedTuple):
    """One path whose state on disk differs from HEAD, untracked files included."""

    kind: ChangeKind
    path: str


class Delta(NamedTuple):
    """One path that a commit changed, with its blobs; None where there is no file."""

    path: str
    before: str | None
    after: str | None
