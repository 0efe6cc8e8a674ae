"""A store's repository: read its trees, list its changes, apply a plan as one commit.

Reading asks git only for what its files do not say at a glance. Everything about writing stands
in `commit` and is loaded with the first write.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from memhtml.model.errors import PathNotFound, StorageFailure
from memhtml.store import gitdir, objects
from memhtml.store.git import Git
from memhtml.store.legal import violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from memhtml.model.tree import Change, TreeEntry, WorktreeChange
    from memhtml.store.gitdir import GitDir, Head

__all__ = ["Repo"]

_sha_re = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# Up to this many blobs are fetched one by one, loose files first: cheaper than a new process.
_FEW = 16


class Repo:
    """A git repository that holds a store. Opening one changes nothing and starts no process."""

    def __init__(self, where: GitDir) -> None:
        self.where = where
        self._git = Git(where.root)

    @classmethod
    def open(cls, root: str) -> Repo:
        """Open the store whose top is *root*.

        Raises:
            NotAStore: *root* is not the top of its own git repository.
        """
        return cls(gitdir.locate(root))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every child process."""
        self._git.close()

    @property
    def root(self) -> str:
        """Top of the working tree, absolute, symlinks resolved."""
        return self.where.root

    # Reading commits

    def head(self) -> str | None:
        """Return the sha of the commit HEAD names; None before the first commit."""
        return self._head().sha

    def list_tree(self, commit: str) -> Iterator[TreeEntry]:
        """Yield every file of *commit*, in git's order, as it is read."""
        return self._git.list_tree(commit)

    def read_blobs(self, shas: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield ``(sha, content)`` for each sha, in the order asked, without holding them all.

        Raises:
            GitFailure: A blob is missing.
        """
        wanted = list(shas)
        if len(wanted) > _FEW:
            yield from self._git.read_many(wanted)
            return
        for sha in wanted:
            found = self._object(sha)
            if found is None:
                yield from self._git.read_many((sha,))  # which says what is missing
            else:
                yield sha, found[1]

    def read_at(self, commit: str, path: str) -> bytes:
        """Return the file *path* of *commit*.

        Raises:
            PathNotFound: That commit has no such file.
        """
        # A line break would end git's question early; no path we write has one.
        found = None if violation(path) else self._git.read(f"{commit}:{path}")
        if found is None or found[0] != "blob":
            raise PathNotFound(path)
        return found[1]

    def changes(self, since: str, until: str) -> list[Change] | None:
        """Return what differs between two commits; None when *since* is not known here."""
        if since == until:
            return []
        if not _sha_re.fullmatch(since) or self._object(since) is None:
            return None
        return self._git.diff_trees(since, until)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Tell whether *newer* contains *older*; an unknown commit is nobody's ancestor."""
        return older == newer or self._git.is_ancestor(older, newer)

    # Reading files

    def worktree_changes(self) -> list[WorktreeChange]:
        """Return how the files on disk differ from HEAD, each untracked file by itself."""
        return self._git.status()

    def read_file(self, path: str) -> bytes | None:
        """Return the file at *path* on disk; None when there is no regular file.

        A symlink is never followed, neither as the file nor on the way to it, and a path that
        would leave the root has nothing at it.

        Raises:
            StorageFailure: The file is there and cannot be read.
        """
        if violation(path) is not None:
            return None
        try:
            return _read_regular(self.root, path)
        except OSError as error:
            raise StorageFailure(f"cannot read {path!r}: {error.strerror}") from error

    # Helpers

    def _head(self) -> Head:
        head = gitdir.read_head(self.where)
        if head.plain:
            return head
        return gitdir.Head(self._git.symbolic_head(), self._git.resolve("HEAD"), plain=False)

    def _object(self, sha: str) -> tuple[str, bytes] | None:
        found = objects.read_loose(os.path.join(self.where.common, "objects"), sha)
        return found or self._git.read(sha)


def _read_regular(root: str, path: str) -> bytes | None:
    *folders, _ = path.split("/")
    at = root
    for folder in folders:
        at = os.path.join(at, folder)
        try:
            if not stat.S_ISDIR(os.lstat(at).st_mode):
                return None
        except FileNotFoundError:
            return None
    full = os.path.join(root, *path.split("/"))
    try:
        # O_NONBLOCK: opening a FIFO must not wait for somebody to write into it.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        if not stat.S_ISREG(os.lstat(full).st_mode):
            return None
        fd = os.open(full, flags | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    with open(fd, "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(fd).st_mode) else None
