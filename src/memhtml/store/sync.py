"""Bring a clone and its remote together: fetch, merge, push.

A conflict leaves everything as it was, and history is never rewritten: a commit that somebody saw
stays. How commits are joined is in `memhtml.store.joining`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import Busy, InvalidFlag, RepositoryState
from memhtml.model.history import Synced, SyncState
from memhtml.model.plural import plural
from memhtml.model.shell import quoted
from memhtml.store.joining import Joiner
from memhtml.store.mergedriver import register
from memhtml.store.plan import Plan, subject

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

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
        self._joiner = Joiner(repo, now=now)
        self._git = self._joiner.git

    def close(self) -> None:
        self._joiner.close()

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
            self._joiner.require_no_operation()
            head = self._repo.head()
            ahead, behind = self._count(head, theirs)
            ahead, behind = max(done.ahead, ahead), done.behind + behind
            state = _STATES[ahead > 0, behind > 0]
            done = replace(done, state=state, ahead=ahead, behind=behind, after=head)
            if theirs is None or head == theirs or (head and self._git.is_ancestor(theirs, head)):
                return done
            if head is None or self._git.is_ancestor(head, theirs):
                self._joiner.move_to(theirs)
                return replace(done, after=theirs)
            return self._merge(head, theirs, done)

    def _count(self, head: str | None, theirs: str | None) -> tuple[int, int]:
        """Return how many commits only HEAD has, and how many only *theirs*."""
        if head and theirs:
            return self._git.count_apart(head, theirs)
        counts = (self._git.count(commit) if commit else 0 for commit in (head, theirs))
        return next(counts), next(counts)

    def _merge(self, head: str, theirs: str, done: Synced) -> Synced:
        merge = self._merged_trees(head, theirs)
        if merge.conflicts:
            conflict = replace(done, state=SyncState.CONFLICT, conflicts=merge.conflicts)
            if not self._options.keep_conflicts:
                return conflict
            self._joiner.require_clean(head, theirs)
            self._git.start_merge(theirs, who=self._joiner.who)
            return replace(conflict, is_merge_open=True)
        count = len(merge.edits)
        text = f"{plural(count, 'file')} from {done.remote}/{done.branch}"
        message = Plan((), subject("sync", text)).message
        commit = self._joiner.commit(self._joiner.tree(head, merge), (head, theirs), message)
        self._joiner.move_to(commit)
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
        base = bases[0] if bases else None
        return self._joiner.merge(base, head, theirs, other_bases=bases[1:])


_STATES = {
    (False, False): SyncState.UP_TO_DATE,
    (True, False): SyncState.AHEAD,
    (False, True): SyncState.BEHIND,
    (True, True): SyncState.MERGED,
}
