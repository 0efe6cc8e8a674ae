"""The index of a past commit: what the store said then, searched as if it were now.

A snapshot is an ordinary index in a file named by its commit, built once and never updated. Encoded
texts come from the index of today: what a text means does not change with time.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from memhtml.index.database import cache_folder, open_index_at
from memhtml.index.indexer import rebuild

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memhtml.index.database import Index
    from memhtml.index.overlay import TreeReader
    from memhtml.model.ports import Progress
    from memhtml.model.tree import Change, TreeEntry, WorktreeChange

__all__ = ["SNAPSHOTS_KEPT", "open_snapshot"]

SNAPSHOTS_KEPT = 4
"""Those used last stay for the next question; at 10,000 memories each takes some 60 MB."""

_FILES = (".db", ".db-wal", ".db-shm")


def open_snapshot(
    index: Index,
    reader: TreeReader,
    root: str,
    commit: str,
    *,
    now: str,
    progress: Progress | None = None,
) -> Index:
    """Open the index of *commit*, a full sha, of the store at *root*; build it where there is none.

    *index* is the store's own, and lends what is encoded.

    Raises:
        Busy: Another process is building it.
        GitFailure: There is no such commit.
        StorageFailure: The disk is full or refuses.
    """
    folder = os.path.join(cache_folder(root), "at")
    path = os.path.join(folder, f"{commit}.db")
    snapshot = open_index_at(path, root=None, chunk_chars=index.chunk_chars)
    try:
        state = snapshot.state()
        if state is None or state.head_sha != commit:
            past = _Past(reader, commit)
            rebuild(snapshot, past, now=now, progress=progress, vectors_of=index)
        if not snapshot.is_private:
            with contextlib.suppress(OSError):
                os.utime(path)
            _drop_oldest(folder)
    except BaseException:
        snapshot.close()
        raise
    return snapshot


class _Past:
    """A tree that is one commit and nothing else."""

    def __init__(self, reader: TreeReader, commit: str) -> None:
        self._reader = reader
        self._commit = commit

    def head(self) -> str:
        return self._commit

    def list_tree(self, commit: str) -> Iterator[TreeEntry]:
        return self._reader.list_tree(commit)

    def read_blobs(self, shas: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        return self._reader.read_blobs(shas)

    def changes(self, since: str, until: str) -> list[Change] | None:
        return self._reader.changes(since, until)

    def worktree_changes(self) -> list[WorktreeChange]:
        return []

    def read_file(self, path: str) -> bytes | None:
        raise AssertionError(path)  # nothing differs from the commit, so nobody asks


def _drop_oldest(folder: str) -> None:
    names = [name for name in os.listdir(folder) if name.endswith(".db")]
    names.sort(key=lambda name: _used_at(os.path.join(folder, name)))
    for name in names[:-SNAPSHOTS_KEPT]:
        for suffix in _FILES:
            # Windows keeps a file that another process reads; the next call drops it.
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name.removesuffix(".db") + suffix))


def _used_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
