"""Bring a clone and its remote together: fetch, merge, push.

The merge happens among objects: no file is touched before it is known to be clean, so a conflict
leaves everything as it was. The merged commit then comes into the working tree as any fast-forward
does, by git's own hand, which refuses where a file has changes of the user's. History is never
rewritten: a commit that somebody saw stays.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import Busy, DirtyTree, GitFailure, InvalidFlag, RepositoryState
from memhtml.model.history import Synced, SyncState
from memhtml.model.shell import quoted
from memhtml.model.tree import ChangeKind
from memhtml.store import files, gitdir, policy
from memhtml.store.git import Git
from memhtml.store.mergedriver import register
from memhtml.store.plan import Plan, subject
from memhtml.store.treemerge import MergedFile, merge_trees
from memhtml.store.trees import DIRECTORY, CommitTrees, Entry
from memhtml.store.writers import Signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from memhtml.model.tree import Change
    from memhtml.store.repo import Repo
    from memhtml.store.treemerge import TreeMerge

__all__ = ["SyncOptions", "sync"]

_ATTEMPTS = 2


class SyncOptions(NamedTuple):
    """How to sync."""

    remote: str | None = None
    """Name of the remote; None for the branch's own, else the only one, else ``origin``."""
    push: bool = True
    keep_conflicts: bool = False
    """Leave a merge with conflicts open in the files, for a person to finish."""
    allow_unrelated: bool = False
    """Join two stores that were made apart from each other."""


def sync(
    repo: Repo,
    options: SyncOptions,
    *,
    now: datetime,
    on_pulled: Callable[[], object] = lambda: None,
) -> Synced:
    """Bring the branch HEAD stands on and the remote's branch of that name together.

    *on_pulled* is called when commits came in and before anything is pushed. Where somebody else
    pushes in between, all is done once more.

    Raises:
        RemoteFailure: The remote cannot be reached, or refuses.
        RepositoryState: HEAD is detached, a merge or the like is under way, the two have no common
            commit and that is not allowed, or the remote's store is on another branch.
        DirtyTree: Files that the remote's commits change have changes that are not committed.
        Busy: Somebody else pushed at the same time, twice, or holds a lock.
        InvalidFlag: There is no such remote, or it is not clear which is meant.
    """
    clone = _Clone(repo, options, now)
    try:
        return clone.sync(on_pulled)
    finally:
        clone.close()


class _Clone:
    """A sync under way."""

    def __init__(self, repo: Repo, options: SyncOptions, now: datetime) -> None:
        self._repo = repo
        self._options = options
        self._git = Git(repo.root)
        self._policy = policy.read_policy(self._git, repo.where)
        by = Signed(self._policy.author, self._policy.committer, int(now.timestamp()))
        self._who = by.variables

    def close(self) -> None:
        self._git.close()

    def sync(self, on_pulled: Callable[[], object]) -> Synced:
        branch = self._branch()
        remote = self._remote(branch)
        before = self._repo.head()
        if remote is None:
            return Synced(state=SyncState.NO_REMOTE, branch=branch, before=before, after=before)
        register(self._repo.where)
        theirs_name, theirs_ref = self._upstream(remote, branch)
        done = Synced(state=SyncState.UP_TO_DATE, remote=remote, branch=theirs_name, before=before)
        for _ in range(_ATTEMPTS):
            there = self._git.fetch(remote, theirs_name)
            if not there:
                self._require_meeting(remote, theirs_name, before)
            theirs = self._git.resolve(theirs_ref) if there else None
            pulled = self._pull(theirs, done)
            if pulled.state is SyncState.CONFLICT:
                return pulled
            if pulled.after != (done.after or before):
                on_pulled()
            done = replace(pulled, after=self._repo.head())
            if done.after is None or done.after == theirs or not self._options.push:
                return done
            if self._git.push(remote, done.after, theirs_name):
                return replace(done, pushed=True)
        raise Busy(f"somebody else keeps pushing to {remote!r}", suggestions=("memhtml sync",))

    def _branch(self) -> str:
        ref = self._git.symbolic_head()
        if ref is None:
            raise RepositoryState(
                "HEAD is detached: there is no branch to sync", suggestions=("git switch main",)
            )
        return ref.removeprefix("refs/heads/")

    def _remote(self, branch: str) -> str | None:
        known = self._git.remotes()
        settings = self._git.configuration().settings
        wanted = self._options.remote or settings.get(f"branch.{branch}.remote")
        if wanted in known:
            return wanted
        if self._options.remote is not None:
            raise InvalidFlag(
                f"there is no remote {self._options.remote!r}",
                suggestions=("git remote -v", "add it with git remote add, and its address"),
            )
        if len(known) < 2 or "origin" in known:
            return "origin" if "origin" in known else next(iter(known), None)
        raise InvalidFlag(
            f"there are several remotes: {', '.join(known)}",
            suggestions=tuple(f"memhtml sync --remote {quoted(name)}" for name in known),
        )

    def _upstream(self, remote: str, branch: str) -> tuple[str, str]:
        """Return the remote's branch, and the ref that follows it here."""
        settings = self._git.configuration().settings
        name = branch
        if settings.get(f"branch.{branch}.remote") == remote:
            name = settings.get(f"branch.{branch}.merge", branch).removeprefix("refs/heads/")
        return name, f"refs/remotes/{remote}/{name}"

    def _require_meeting(self, remote: str, branch: str, head: str | None) -> None:
        """Refuse a branch that the remote lacks while its store is on another one.

        Pushed all the same, the two would never meet, and every sync would report success. A branch
        that was begun from one of the remote's is welcome.
        """
        names = self._git.branches(remote)
        if not names:
            return
        self._git.fetch(remote, "*")
        tips = [f"refs/remotes/{remote}/{name}" for name in names]
        if head is not None and any(self._git.merge_bases(head, tip) for tip in tips):
            return
        theirs = "main" if "main" in names else names[0]
        if head is None:
            advice = [f"git switch {quoted(theirs)}"]
        else:
            joining = (
                f"git branch -m {quoted(theirs)}",
                f"git branch --set-upstream-to {quoted(f'{remote}/{theirs}')}",
                "memhtml sync --allow-unrelated",
            )
            advice = [" && ".join(joining)]
        raise RepositoryState(
            f"this store is on branch {branch!r}, and {remote!r} has no such branch: its own "
            f"{'is' if len(names) == 1 else 'are'} {', '.join(map(repr, names))}",
            suggestions=advice,
        )

    # Bringing theirs in

    def _pull(self, theirs: str | None, done: Synced) -> Synced:
        """Let HEAD have what *theirs* has; tell how the two stood to each other."""
        with self._repo.standing_still():
            self._require_no_operation()
            head = self._repo.head()
            ahead, behind = self._count(head, theirs)
            ahead, behind = max(done.ahead, ahead), done.behind + behind
            state = _STATES[ahead > 0, behind > 0]
            done = replace(done, state=state, ahead=ahead, behind=behind, after=head)
            if theirs is None or head == theirs or (head and self._git.is_ancestor(theirs, head)):
                return done
            if head is None or self._git.is_ancestor(head, theirs):
                self._move_to(theirs)
                return replace(done, after=theirs)
            return self._merge(head, theirs, done)

    def _count(self, head: str | None, theirs: str | None) -> tuple[int, int]:
        """Return how many commits only HEAD has, and how many only *theirs*."""
        if head and theirs:
            return self._git.count_apart(head, theirs)
        counts = (self._git.count(commit) if commit else 0 for commit in (head, theirs))
        return next(counts), next(counts)

    def _require_no_operation(self) -> None:
        unfinished = gitdir.unfinished_operation(self._repo.where)
        if unfinished is not None:
            raise RepositoryState(
                f"a {unfinished} is under way in this repository",
                suggestions=(f"git {unfinished} --abort", "finish it, then try again"),
            )

    def _merge(self, head: str, theirs: str, done: Synced) -> Synced:
        merge = self._merged_trees(head, theirs)
        if merge.conflicts:
            conflict = replace(done, state=SyncState.CONFLICT, conflicts=merge.conflicts)
            if not self._options.keep_conflicts:
                return conflict
            self._require_clean(head, theirs)
            self._git.start_merge(theirs, who=self._who)
            return replace(conflict, is_merge_open=True)
        count = len(merge.edits)
        text = f"{count} {'file' if count == 1 else 'files'} from {done.remote}/{done.branch}"
        commit = self._git.commit_tree(
            self._tree(head, merge),
            (head, theirs),
            Plan((), subject("sync", text)).message,
            who=self._who,
            sign=self._policy.signs,
        )
        self._move_to(commit)
        merged = tuple(sorted({*done.merged, *merge.merged}))
        return replace(done, after=commit, merged=merged)

    def _merged_trees(self, head: str, theirs: str) -> TreeMerge:
        for commit in (head, theirs):
            if self._git.read(f"{commit}:.gitmodules") is not None:
                raise RepositoryState(
                    "the store has submodules, which only git itself merges",
                    suggestions=(f"git merge {theirs}",),
                )
        bases = self._git.merge_bases(head, theirs)
        if not bases and not self._options.allow_unrelated:
            raise RepositoryState(
                "this store and the remote's were made apart: they have no common commit",
                suggestions=("memhtml sync --allow-unrelated",),
            )
        base = bases[0] if bases else self._git.empty_tree()
        # Where several common commits differ nobody can say which side changed a file.
        unclear = {c.path for other in bases[1:] for c in self._git.diff_trees(base, other)}
        blobs = _Blobs(self._repo, self._git, bases[0] if bases else None, frozenset(unclear))
        ours, others = (
            {p: blobs.at(base, p) for p in unclear} | _states(self._git.diff_trees(base, commit))
            for commit in (head, theirs)
        )
        return merge_trees(ours, others, blobs)

    def _tree(self, head: str, merge: TreeMerge) -> str:
        """Store the merged tree and return its sha."""
        entries = {
            path: Entry(edit.mode, self._git.store_blob(edit.data))
            if isinstance(edit, MergedFile)
            else edit
            for path, edit in merge.edits.items()
        }
        index = os.path.join(self._repo.where.own, "memhtml", "tmp", "sync-index")
        try:
            self._git.read_tree(index, head)
            self._git.update_index(index, entries, sha_digits=self._policy.sha_digits)
            return self._git.write_tree(index)
        finally:
            files.unlink_if_there(index)

    def _move_to(self, commit: str) -> None:
        head = self._repo.head()
        if head is not None:
            self._require_clean(head, commit)
        self._git.fast_forward(commit, who=self._who)

    def _require_clean(self, head: str, commit: str) -> None:
        """Refuse where git would: what a person changed and what a commit changes is the same."""
        changed = {change.path for change in self._git.diff_trees(head, commit)}
        dirty = [c.path for c in self._repo.worktree_changes() if c.path in changed]
        if dirty:
            raise DirtyTree(sorted(dirty))


class _Blobs:
    """What a merge of trees asks for, answered by git."""

    def __init__(self, repo: Repo, git: Git, base: str | None, unclear: frozenset[str]) -> None:
        self._git = git
        self._trees = CommitTrees(git.read)
        self._base = base
        self._unclear = unclear
        self._tmp = os.path.join(repo.where.own, "memhtml", "tmp")

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
        names = [os.path.join(self._tmp, f"sync-{name}") for name in ("base", "ours", "theirs")]
        try:
            for name, data in zip(names, (base, ours, theirs), strict=True):
                files.write_new(name, data)
            text, is_clean = self._git.merge_text(*names)
        except GitFailure:
            return None  # not text
        finally:
            for name in names:
                files.unlink_if_there(name)
        return text if is_clean else None


_STATES = {
    (False, False): SyncState.UP_TO_DATE,
    (True, False): SyncState.AHEAD,
    (False, True): SyncState.BEHIND,
    (True, True): SyncState.MERGED,
}


def _states(changes: Iterable[Change]) -> dict[str, Entry | None]:
    return {
        change.path: None if change.kind is ChangeKind.REMOVED else Entry(change.mode, change.sha)
        for change in changes
    }
