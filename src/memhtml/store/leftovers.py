"""What a process that died while writing left behind in the git directory.

Ours is named in the journal and by the marker beside ``index.lock``, and the next write finishes or
undoes it. A lock of git's own is somebody else's: it is told about once it is older than any git
command takes, and never removed.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import Busy, StorageFailure
from memhtml.store.lock import Lock
from memhtml.store.staging import MARKER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.store.gitdir import GitDir

__all__ = ["STALE_SECONDS", "Leftover", "find_leftovers"]

STALE_SECONDS = 600.0
"""A lock this old belongs to no running command; git holds one for milliseconds, an editor open
over a commit message for minutes."""


class Leftover(NamedTuple):
    """One thing that nobody will come back for."""

    path: str
    is_ours: bool
    """The next write deals with it."""
    message: str


def find_leftovers(where: GitDir) -> tuple[Leftover, ...]:
    """Return what was left behind; nothing of ours while another process is writing."""
    return (*_ours(where), *_foreign(where))


def _ours(where: GitDir) -> Iterator[Leftover]:
    state = os.path.join(where.own, "memhtml")
    lock = os.path.join(where.common, "memhtml", "lock")
    if not os.path.exists(lock):
        return
    guard = Lock(lock, wait_seconds=0)
    try:
        guard.acquire()
    except (Busy, StorageFailure):
        return  # a writer is at work, or nobody may write here
    try:
        for name in _names(os.path.join(state, "journal")):
            path = os.path.join(state, "journal", name)
            yield Leftover(path, is_ours=True, message="a commit whose files did not all follow")
        for name in _names(os.path.join(state, "tmp")):
            path = os.path.join(state, "tmp", name)
            what = (
                "git's index is locked" if name == MARKER else "a file that was never put in place"
            )
            yield Leftover(path, is_ours=True, message=what)
    finally:
        guard.release()


def _foreign(where: GitDir) -> Iterator[Leftover]:
    if os.path.exists(os.path.join(where.own, "memhtml", "tmp", MARKER)):
        known = {os.path.join(where.own, "index.lock")}
    else:
        known = set()
    for path in sorted(_locks(where)):
        try:
            age = time.time() - os.stat(path).st_mtime
        except OSError:
            continue
        if path not in known and age > STALE_SECONDS:
            yield Leftover(
                path,
                is_ours=False,
                message=f"a lock of git's, {age / 60:.0f} minutes old, that blocks every commit",
            )


def _locks(where: GitDir) -> Iterator[str]:
    for folder in {where.own, where.common}:
        yield from (os.path.join(folder, name) for name in _names(folder) if name.endswith(".lock"))
    for folder, _, names in os.walk(os.path.join(where.common, "refs")):
        yield from (os.path.join(folder, name) for name in names if name.endswith(".lock"))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
