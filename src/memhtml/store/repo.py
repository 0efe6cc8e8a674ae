"""A store's repository: read its trees, list its changes, apply a plan as one commit.

Reading asks git only for what its files do not say at a glance. Everything about writing stands
in `commit` and is loaded with the first write.
"""

from __future__ import annotations

import os
import re
import time
from _thread import RLock
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.closing import Closing
from memhtml.model.errors import MemhtmlError, PathNotFound, StorageFailure
from memhtml.model.tree import Change, ChangeKind
from memhtml.store import files, gitdir, objects
from memhtml.store.git import Git
from memhtml.store.legal import violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from threading import Timer
    from typing import Self

    from memhtml.model.tree import TreeEntry, WorktreeChange
    from memhtml.store.commit import Committer, Landed
    from memhtml.store.gitdir import GitDir, Head
    from memhtml.store.leftovers import Leftover
    from memhtml.store.plan import File, Plan
    from memhtml.store.trees import CommitTrees
    from memhtml.store.writers import Identity

__all__ = ["InitReport", "Options", "Repo"]

_sha_re = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# Up to this many blobs are fetched one by one, loose files first: cheaper than a new process.
_FEW = 16
_FILE_MODES = frozenset({"100644", "100755"})


class Options(NamedTuple):
    """How a repository is written to; see `Repo.open`."""

    clock: Callable[[], float]
    durability: str
    wait_seconds: float
    index_delay: float
    on_step: Callable[[str], None]


class InitReport(NamedTuple):
    """What `Repo.init` found and did."""

    root: str
    created: bool
    """The repository is new."""
    head: str | None
    wrote: tuple[str, ...]
    """Files that were missing and are committed now."""
    kept: tuple[str, ...]
    """Files of ours that stood there uncommitted, and were left as they are."""
    author: str
    """Who our commits will be by: ``Name <mail>``."""
    has_own_identity: bool
    """The author is the one git is configured with, not our stand-in."""


class Repo(Closing):
    """A git repository that holds a store. Opening one changes nothing and starts no process.

    Threads may share it: whoever writes or plans is alone, and reading waits for nobody.
    """

    def __init__(self, where: GitDir, options: Options) -> None:
        self.where = where
        self._options = options
        self._git = Git(where.root)
        self._mutex = RLock()
        self._depth = 0
        self._committer: Committer | None = None
        self._timer: Timer | None = None
        self._trees: CommitTrees | None = None

    @classmethod
    def open(
        cls,
        root: str,
        *,
        clock: Callable[[], float] = time.time,
        durability: str = "bulk",
        wait_seconds: float = 10.0,
        index_delay: float = 0.0,
        on_step: Callable[[str], None] | None = None,
    ) -> Repo:
        """Open the store whose top is *root*.

        *clock* tells the seconds since 1970 that commits bear. *durability* is a `Durability`.
        *wait_seconds* is how long a write waits for locks that others hold. *index_delay* is for
        long-lived processes: for so many seconds after a write (a large store takes up to one) the
        index may lag behind, locked against others, until `flush`, `close` or a timer brings it in
        step; 0 leaves every `writing` with the index in step. *on_step* hears the name of each step
        of a commit.

        Raises:
            NotAStore: *root* is not the top of its own git repository.
        """
        options = Options(
            clock=clock,
            durability=durability,
            wait_seconds=wait_seconds,
            index_delay=index_delay,
            on_step=on_step or _hear_nothing,
        )
        return cls(gitdir.locate(root), options)

    @classmethod
    def init(cls, root: str, *, clock: Callable[[], float] = time.time) -> InitReport:
        """Make *root* a store, or complete one; what is there already stays as it is.

        A folder inside another repository becomes a repository of its own.

        Raises:
            NotAStore: *root* is a bare repository.
            StorageFailure: The folder cannot be made or written.
        """
        from datetime import UTC, datetime  # noqa: PLC0415 - only here

        from memhtml.model.instants import stamp  # noqa: PLC0415 - only here
        from memhtml.store.layout import CACHE, scaffold  # noqa: PLC0415 - only here
        from memhtml.store.mergedriver import register  # noqa: PLC0415 - only here
        from memhtml.store.plan import Plan, Put, subject  # noqa: PLC0415 - only here
        from memhtml.store.policy import FALLBACK  # noqa: PLC0415 - only here

        top = os.path.realpath(root)
        try:
            os.makedirs(top, exist_ok=True)
        except OSError as error:
            raise StorageFailure(f"cannot make {root!r}: {error.strerror}") from error
        created = not os.path.lexists(os.path.join(top, ".git")) and not gitdir.looks_bare(top)
        git = Git(top)
        if created:
            git.init("main")
        with cls.open(top, clock=clock) as repo, repo.writing():
            content = scaffold(stamp(datetime.fromtimestamp(clock(), UTC)))
            missing = [path for path in content if repo.find(path) is None]
            wanted = [path for path in missing if files.is_free(top, path)]
            if wanted:
                steps = tuple(Put(path, content[path]) for path in wanted)
                repo.apply(Plan(steps, subject("init", "scaffold the memory repository")))
            if ".gitignore" not in wanted:
                repo.exclude(CACHE)
            register(repo.where)
            author = repo.identity()
            return InitReport(
                root=top,
                created=created,
                head=repo.head(),
                wrote=tuple(wanted),
                kept=tuple(path for path in missing if path not in wanted),
                author=str(author),
                has_own_identity=author != FALLBACK,
            )

    def close(self) -> None:
        """Bring the index in step and end every child process."""
        try:
            self.flush()
        finally:
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
        landed = self._landed
        if landed is not None and all(sha in landed.blobs for sha in wanted):
            yield from ((sha, landed.blobs[sha]) for sha in wanted)
            return
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
        landed = self._landed
        if landed is not None and (landed.before, landed.commit) == (since, until):
            return list(_changes(landed))
        if not _sha_re.fullmatch(since) or self._object(since) is None:
            return None
        return self._git.diff_trees(since, until)

    def find_commit(self, name: str) -> str | None:
        """Return the full sha of the commit that *name* (a sha, a branch, a tag) means, or None."""
        # Git would take a dash for an option, and a line break for the end of its answer.
        return None if name.startswith("-") or not name.isprintable() else self._git.resolve(name)

    def commit_before(self, at: str) -> str | None:
        """Return the commit that this branch was at the instant *at*, or None."""
        head = self.head()
        return self._git.commit_before(head, at) if head else None

    @property
    def is_shallow(self) -> bool:
        """Whether this clone was made without the older part of its history."""
        return os.path.isfile(os.path.join(self.where.common, "shallow"))

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Tell whether *newer* contains *older*; an unknown commit is nobody's ancestor."""
        return older == newer or self._git.is_ancestor(older, newer)

    # Reading for planners

    def find(self, path: str) -> File | None:
        """Return what HEAD has at *path*; None for nothing, and for a folder or a symlink."""
        from memhtml.store.plan import File  # noqa: PLC0415 - only planners ask, and they load it

        with self._mutex:
            head = self.head()
            entry = self._the_trees().at(head, path) if head else None
        if entry is None or entry.mode not in _FILE_MODES:
            return None
        return File(entry.sha, next(self.read_blobs((entry.sha,)))[1])

    def names(self, directory: str) -> dict[str, str]:
        """Return the entries of *directory* in HEAD and on disk, each under its `path_key`."""
        from memhtml.model.paths import path_key  # noqa: PLC0415 - only planners ask

        with self._mutex:
            head = self.head()
            names = self._the_trees().names(head, directory) if head else []
        if not directory or not violation(directory):
            names += files.names(self.root, directory)
        return {path_key(name): name for name in names}

    def origin(self, archived: str) -> str | None:
        """Return where the file at *archived* stood before its move, None when no commit tells.

        The commit that made the archived file removed the other one in the same step.
        """
        from memhtml.store.lineage import origin_among  # noqa: PLC0415 - only planners ask

        if violation(archived):
            return None
        commit = self._git.commit_that_added(archived)
        return commit and origin_among(archived, self._git.diff_parent(commit))

    def sha_of(self, data: bytes) -> str:
        """Return the blob sha that *data* has in this repository."""
        head = self.head()
        return objects.object_sha(
            "blob", data, algorithm="sha256" if head and len(head) == 64 else "sha1"
        )

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
            return files.read_regular(self.root, path)
        except OSError as error:
            raise StorageFailure(f"cannot read {path!r}: {error.strerror}") from error

    def stands_at(self, path: str) -> bool:
        """Tell whether anything is at *path* on disk, be it a link or a folder."""
        return os.path.lexists(os.path.join(self.root, *path.split("/")))

    # Writing

    @contextmanager
    def writing(self) -> Iterator[Self]:
        """Be the only writer, of all processes, for the length of a ``with`` block.

        May be entered again within itself. Entering finishes or undoes what a crashed writer
        left; leaving brings the index in step, or does so within `index_delay`.

        Raises:
            Busy: Another process kept a lock for longer than we wait.
            StorageFailure: The git directory cannot be written.
        """
        with self._mutex:
            committer = self._the_committer()
            if self._depth == 0:
                committer.enter()
            self._depth += 1
            try:
                yield self
            finally:
                self._depth -= 1
                if self._depth == 0:
                    committer.leave(self._options.index_delay)
                    if committer.lags:
                        self._flush_later()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Be the only writer while git itself moves the branch, the index and the files.

        Raises:
            Busy: Another process kept a lock for longer than we wait.
        """
        with self.writing():
            committer = self._the_committer()
            committer.flush()  # which gives index.lock back, and our own lock with it
            committer.enter()
            yield

    def apply(self, plan: Plan) -> str | None:
        """Make *plan* one commit and return its sha, once its files are in place.

        A plan that changes nothing makes no commit; HEAD is then returned as it is.

        Raises:
            WriteConflict: HEAD, the index or a file is not as the plan expects; all is as it was.
            RepositoryState: HEAD is detached, or a merge or the like is under way.
            Busy: Another process kept a lock for longer than we wait.
            GitFailure: Git, one of its hooks or its signing program refused.
            StorageFailure: The disk is full or cannot be written.
        """
        with self.writing():
            return self._the_committer().apply(plan)

    def flush(self) -> None:
        """Bring the index in step now, if it lags."""
        with self._mutex:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._committer is not None and self._depth == 0:
                self._committer.flush()

    def identity(self) -> Identity:
        """Return the author of our next commit; `policy.FALLBACK` when none is configured."""
        with self._mutex:
            return self._the_committer().policy().author

    def exclude(self, pattern: str) -> None:
        """Let git ignore *pattern* in this clone, without touching a tracked file."""
        place = os.path.join(self.where.common, "info", "exclude")
        lines = (files.content(place) or b"").decode("utf-8", "replace").split("\n")
        if pattern in lines:
            return
        os.makedirs(os.path.dirname(place), exist_ok=True)
        break_line = "\n" if lines[-1] else ""
        with open(place, "a", encoding="utf-8", newline="\n") as file:
            file.write(f"{break_line}{pattern}\n")

    # The clone

    def irregular(self, top: str) -> Iterator[tuple[str, bool]]:
        """Yield all below *top* on disk that is no regular file: folders, links, pipes and so on.

        With each comes whether it is a link to a folder, which is not followed. Git lists neither
        empty folders nor pipes.
        """
        if os.path.islink(os.path.join(self.root, top)):
            yield top, True
            return
        pending = [top]
        while pending:
            folder = pending.pop()
            with suppress(OSError), os.scandir(os.path.join(self.root, folder)) as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(path)
                        yield path, False
                    elif not entry.is_file(follow_symlinks=False):
                        yield path, entry.is_dir()

    def leftovers(self) -> tuple[Leftover, ...]:
        """Return what processes that died while writing left in the git directory."""
        from memhtml.store.leftovers import find_leftovers  # noqa: PLC0415 - only for doctor

        return find_leftovers(self.where)

    def fault(self) -> str | None:
        """Return why nothing could be committed here at the moment, if so."""
        unfinished = gitdir.unfinished_operation(self.where)
        if unfinished is not None:
            return f"a {unfinished} is under way"
        return "HEAD is detached" if self._head().ref is None else None

    def has_identity(self) -> bool:
        """Tell whether git knows whom to name as author."""
        from memhtml.store.policy import FALLBACK  # noqa: PLC0415 - only for doctor

        return self.identity() != FALLBACK

    # Helpers

    def _the_trees(self) -> CommitTrees:
        if self._trees is None:
            from memhtml.store.trees import CommitTrees  # noqa: PLC0415 - searches never need it

            self._trees = CommitTrees(self._object)
        return self._trees

    def _the_committer(self) -> Committer:
        if self._committer is None:
            from memhtml.store.commit import Committer  # noqa: PLC0415 - readers never need it

            self._committer = Committer(self.where, self._git, self._the_trees(), self._options)
        return self._committer

    def _flush_quietly(self) -> None:
        # Nobody waits for the timer. The journal has what is missing, and whoever writes next
        # either finishes it or is told why not.
        with suppress(MemhtmlError, OSError):
            self.flush()

    @property
    def _landed(self) -> Landed | None:
        """The commit of this `writing` block, if there is one."""
        return None if self._committer is None else self._committer.landed

    def _flush_later(self) -> None:
        if self._timer is None:
            from threading import Timer  # noqa: PLC0415 - only long-lived processes need it

            delay = self._the_committer().burst_seconds(self._options.index_delay)
            self._timer = Timer(delay, self._flush_quietly)
            self._timer.daemon = True
            self._timer.start()

    def _head(self) -> Head:
        head = gitdir.read_head(self.where)
        if head.plain:
            return head
        return gitdir.Head(self._git.symbolic_head(), self._git.resolve("HEAD"), plain=False)

    def _object(self, sha: str) -> tuple[str, bytes] | None:
        found = objects.read_loose(os.path.join(self.where.common, "objects"), sha)
        return found or self._git.read(sha)


def _changes(landed: Landed) -> Iterator[Change]:
    for path, shift in landed.shifts.items():
        entry = shift.new or shift.old
        assert entry is not None  # noqa: S101 - a shift has at least one side
        kind = ChangeKind.MODIFIED
        if shift.new is None:
            kind = ChangeKind.REMOVED
        elif shift.old is None:
            kind = ChangeKind.ADDED
        yield Change(kind, path, entry.sha, entry.mode)


def _hear_nothing(_step: str) -> None:
    """Be told of a step and do nothing."""
