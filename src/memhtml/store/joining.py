"""Join two commits: merge their trees, store the result, bring the working tree to it.

The merge happens among objects: no file is touched before it is known to be clean, so a conflict
leaves everything as it was. A joined commit comes into the working tree as any fast-forward does,
by git's own hand, which refuses where a file has changes of the user's. History is never rewritten.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from memhtml.model.errors import DirtyTree, GitFailure, RepositoryState, StorageFailure
from memhtml.model.tree import ChangeKind
from memhtml.store import files, gitdir, policy
from memhtml.store.git import Git
from memhtml.store.treemerge import MergedFile, merge_trees
from memhtml.store.trees import DIRECTORY, CommitTrees, Entry
from memhtml.store.writers import Signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from memhtml.model.tree import Change
    from memhtml.store.repo import Repo
    from memhtml.store.treemerge import TreeMerge

__all__ = ["Joiner"]


_ABANDONED_SECONDS = 3600
"""After so long nobody comes back for a folder: joining takes seconds."""


class Joiner:
    """What joins commits of one repository; close it."""

    def __init__(self, repo: Repo, *, now: datetime) -> None:
        self._repo = repo
        self.git = Git(repo.root)
        self._policy = policy.read_policy(self.git, repo.where)
        by = Signed(self._policy.author, self._policy.committer, int(now.timestamp()))
        self.who = by.variables

    def close(self) -> None:
        """End the children."""
        self.git.close()

    def merge(
        self, base: str | None, ours: str, theirs: str, *, other_bases: Sequence[str] = ()
    ) -> TreeMerge:
        """Merge what *ours* and *theirs* made of *base*; None: they have nothing in common.

        Where *other_bases* differ from it, nobody can say which side changed a file.
        """
        since = base or self.git.empty_tree()
        unclear = {c.path for other in other_bases for c in self.git.diff_trees(since, other)}
        blobs = _Blobs(self._repo, self.git, base, frozenset(unclear))
        mine, others = (
            {p: blobs.at(since, p) for p in unclear} | _states(self.git.diff_trees(since, commit))
            for commit in (ours, theirs)
        )
        return merge_trees(mine, others, blobs)

    def tree(self, commit: str, merge: TreeMerge) -> str:
        """Store the tree of *commit* after the edits of *merge*, and return its sha."""
        entries = {
            path: Entry(edit.mode, self.git.store_blob(edit.data))
            if isinstance(edit, MergedFile)
            else edit
            for path, edit in merge.edits.items()
        }
        with _scratch(self._repo) as folder:
            index = os.path.join(folder, "index")
            self.git.read_tree(index, commit)
            self.git.update_index(index, entries, sha_digits=self._policy.sha_digits)
            return self.git.write_tree(index)

    def commit(self, tree: str, parents: Iterable[str], message: str) -> str:
        """Store a commit, which no branch has yet, and return its sha."""
        return self.git.commit_tree(tree, parents, message, who=self.who, sign=self._policy.signs)

    def move_to(self, commit: str) -> None:
        """Bring branch, index and files to *commit*, which contains HEAD.

        Raises:
            DirtyTree: A file that would change has changes of its own; nothing has moved.
        """
        head = self._repo.head()
        if head is not None:
            self.require_clean(head, commit)
        self.git.fast_forward(commit, who=self.who)

    def require_clean(self, head: str, commit: str) -> None:
        """Refuse where git would: what a person changed and what a commit changes is the same."""
        changes = {change.path: change.kind for change in self.git.diff_trees(head, commit)}
        dirty = {c.path for c in self._repo.worktree_changes() if c.path in changes}
        # What git ignores, or a folder, can stand in the way as well; a file that only changes the
        # case of its name cannot.
        gone = {p.casefold() for p, kind in changes.items() if kind is ChangeKind.REMOVED}
        dirty |= {
            path
            for path, kind in changes.items()
            if kind is ChangeKind.ADDED
            and path.casefold() not in gone
            and os.path.lexists(os.path.join(self._repo.root, path))
        }
        if dirty:
            raise DirtyTree(sorted(dirty))

    def require_no_operation(self) -> None:
        """Refuse while a merge or the like is half done."""
        unfinished = gitdir.unfinished_operation(self._repo.where)
        if unfinished is not None:
            raise RepositoryState(
                f"a {unfinished} is under way in this repository",
                suggestions=(f"git {unfinished} --abort", "finish it, then try again"),
            )


class _Blobs:
    """What a merge of trees asks for, answered by git."""

    def __init__(self, repo: Repo, git: Git, base: str | None, unclear: frozenset[str]) -> None:
        self._git = git
        self._trees = CommitTrees(git.read)
        self._base = base
        self._unclear = unclear
        self._repo = repo

    def base(self, path: str) -> Entry | None:
        if self._base is None or path in self._unclear:
            return None
        return self.at(self._base, path)

    def at(self, commit: str, path: str) -> Entry | None:
        """Return the file that *commit* has at *path*; a folder is none."""
        entry = self._trees.at(commit, path)
        return None if entry is None or entry.mode == DIRECTORY else entry

    def read(self, sha: str) -> bytes:
        found = self._git.read(sha)
        if found is None:
            raise GitFailure(("cat-file", sha), 1, f"object {sha} is missing")
        return found[1]

    def merge_text(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        with _scratch(self._repo) as folder:
            names = [os.path.join(folder, name) for name in ("base", "ours", "theirs")]
            for name, data in zip(names, (base, ours, theirs), strict=True):
                files.write_new(name, data)
            try:
                text, is_clean = self._git.merge_text(*names)
            except GitFailure:
                return None  # not text
        return text if is_clean else None


@contextmanager
def _scratch(repo: Repo) -> Iterator[str]:
    """Yield a folder of one's own, for others may join commits at the same time.

    It is apart from where writers put files together, who take away what they find there.
    """
    folder = os.path.join(repo.where.own, "memhtml", "joining")
    try:
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            left = os.path.join(folder, name)
            with suppress(FileNotFoundError):
                if time.time() - os.stat(left).st_mtime > _ABANDONED_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
        own = tempfile.mkdtemp(dir=folder)
    except OSError as error:
        raise StorageFailure(f"cannot write in {folder!r}: {error.strerror}") from error
    try:
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _states(changes: Iterable[Change]) -> dict[str, Entry | None]:
    return {
        change.path: None if change.kind is ChangeKind.REMOVED else Entry(change.mode, change.sha)
        for change in changes
    }
