"""The one place that changes a tree: a plan becomes one commit, or nothing happens.

The steps, and what a crash after each leaves for `recover`:

1.  The writers' lock, then ``index.lock`` as git itself takes it. A user's ``git add`` meanwhile
    gets git's ordinary message. A crash leaves ``index.lock`` and a marker that says it is ours.
2.  For every path, what the plan expects is compared with HEAD, with the index and with the file
    on disk. Any difference is a `WriteConflict` before anything has changed.
3.  Files and objects are written whole under temporary names inside the git directory, so a full
    disk shows here. A record of what is coming joins them; a barrier makes all of it durable; then
    the objects get their names. A crash leaves unreachable objects: nothing has happened.
4.  The branch moves by compare-and-swap under its own lock. Now the commit exists.
5.  The files take their places by link and rename. A file somebody made meanwhile stays.
6.  The index learns the same paths by name, and ``index.lock`` goes. The record goes last.
7.  The lock is given back, and the post-commit hook runs.

After a crash within 4 to 6 the record says which paths still have to follow. Only paths that are
exactly as before the commit are brought forward: what a user changed meanwhile is the user's.
"""

from __future__ import annotations

import os
import random
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import (
    Busy,
    GitFailure,
    InvalidPath,
    RepositoryState,
    StorageFailure,
    UnfinishedCommit,
    WriteConflict,
)
from memhtml.model.shell import quoted
from memhtml.store import files, gitdir, policy
from memhtml.store.durability import Barrier, Durability
from memhtml.store.fastwriter import FastWriter
from memhtml.store.journal import Journal, Record, Shift
from memhtml.store.legal import violation
from memhtml.store.lock import Lock
from memhtml.store.objects import object_sha
from memhtml.store.plainwriter import PlainWriter
from memhtml.store.plan import outcomes
from memhtml.store.staging import MARKER, Staging
from memhtml.store.trees import FILE, Entry
from memhtml.store.writers import RefMoved, Signed, StagedFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memhtml.store.git import Git
    from memhtml.store.gitdir import GitDir, Head
    from memhtml.store.plan import Outcome, Plan
    from memhtml.store.policy import Policy
    from memhtml.store.repo import Options
    from memhtml.store.trees import CommitTrees, Trees
    from memhtml.store.writers import Writer

__all__ = ["Committer", "Landed"]

_FILE_MODES = frozenset({FILE, "100755"})
_ATTEMPTS = 20
# A long-lived process asks git for its configuration again after this long: the user may have
# changed it, and one question every few seconds costs nothing.
_POLICY_SECONDS = 5.0
# The index is brought in step at the latest when this many paths wait for it.
_BURST_PATHS = 500
# A burst lasts so many times as long as bringing the index in step took last time, so that a store
# of any size spends a tenth of its time on that; but never longer than a person's git may wait.
_BURST_SHARE = 10.0
_LONGEST_BURST = 1.0


class Landed(NamedTuple):
    """A commit that was just made."""

    before: str | None
    commit: str
    shifts: Mapping[str, Shift]
    blobs: Mapping[str, bytes]
    """The new blobs by sha, but for those that a filter changed on their way."""


class Committer:
    """Everything a process needs to commit to one working tree."""

    def __init__(
        self,
        where: GitDir,
        git: Git,
        commits: CommitTrees,
        options: Options,
    ) -> None:
        self._where = where
        self._git = git
        self._commits = commits
        self._clock = options.clock
        self._on_step = options.on_step
        self._wait_seconds = options.wait_seconds
        # Of this working tree, so that a linked one never waits for another's leftovers.
        state = os.path.join(where.own, "memhtml")
        self._tmp = os.path.join(state, "tmp")
        self._journal_folder = os.path.join(state, "journal")
        shared = os.path.join(where.common, "memhtml")
        try:
            for folder in (self._tmp, self._journal_folder, shared):
                os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise StorageFailure(f"cannot write in {state!r}: {error.strerror}") from error
        self._barrier = Barrier(Durability(options.durability), state)
        self._journal = Journal(self._journal_folder)
        self._lock = Lock(os.path.join(shared, "lock"), wait_seconds=options.wait_seconds)
        self._locked = False
        self._policy: Policy | None = None
        self._policy_at = 0.0
        self._flush_seconds = 0.0
        self.landed: Landed | None = None
        """The last commit of this `enter`, for who wants to follow it without asking git."""
        self._unheard: list[Writer] = []
        """Those whose commits no hook has heard of yet."""
        self._trees: Trees
        self._staging: Staging

    # The lock

    def enter(self) -> None:
        """Become the only writer and repair what a crashed one left.

        Raises:
            Busy: Somebody else kept a lock for too long.
        """
        if self._locked:
            return
        self._lock.acquire()
        self._locked = True
        try:
            self.policy()
            self._recover()
        except BaseException:
            self._unlock()
            raise

    @property
    def lags(self) -> bool:
        """The index is not in step, and every lock is still held."""
        return self._locked

    def burst_seconds(self, delay_seconds: float) -> float:
        """Return for how long the index may lag: longer in a large store, where it costs more."""
        if not delay_seconds:
            return 0.0
        return max(delay_seconds, min(_BURST_SHARE * self._flush_seconds, _LONGEST_BURST))

    def leave(self, delay_seconds: float) -> None:
        """Bring the index in step and unlock, unless that may wait for the rest of a burst."""
        self.landed = None
        since = self._staging.held_since
        if (
            since is None
            or time.monotonic() - since >= self.burst_seconds(delay_seconds)
            or self._staging.pending >= _BURST_PATHS
        ):
            self.flush()

    def flush(self) -> None:
        """Bring the index in step and give every lock back.

        Raises:
            GitFailure: Git could not write the index. The commits stand, and the next writer
                tries again.
        """
        if not self._locked:
            return
        start = time.monotonic()
        try:
            self._staging.flush()
            self._flush_seconds = time.monotonic() - start
            self._on_step("index written")
            self._staging.release()
            self._on_step("index unlocked")
            self._journal.clear()
        finally:
            self._unlock()

    def _unlock(self) -> None:
        # After a failure the journal still has what is missing, so memory may forget it.
        self._journal = Journal(self._journal_folder)
        if self._policy is not None:
            self._staging.forget()
        self._locked = False
        self._lock.release()
        # Only now, for a hook may itself write to the store, in a process of its own.
        unheard, self._unheard = self._unheard, []
        for writer in unheard:
            writer.announce()

    # A commit

    def policy(self) -> Policy:
        """Return what the repository asks of a commit, as of a few seconds ago at most."""
        now = time.monotonic()
        if self._policy is None or now - self._policy_at > _POLICY_SECONDS:
            fresh = policy.read_policy(self._git, self._where)
            if self._policy is None:
                sha_bytes = fresh.sha_digits // 2
                self._trees = self._commits.trees(sha_bytes=sha_bytes)
                self._staging = Staging(
                    self._where.own,
                    self._tmp,
                    self._git,
                    sha_bytes=sha_bytes,
                    wait_seconds=self._wait_seconds,
                )
            self._policy, self._policy_at = fresh, now
        return self._policy

    def apply(self, plan: Plan) -> str | None:
        """Carry *plan* out; see `Repo.apply`. The caller has entered."""
        self.enter()  # once more if a failure just now gave the lock back
        edits = outcomes(plan.steps)
        for path in edits:
            fault = violation(path)
            if fault is not None:
                raise InvalidPath(path, "path-illegal", fault)
        try:
            for attempt in range(_ATTEMPTS):
                try:
                    return self._commit(plan, edits)
                except RefMoved:
                    # Somebody committed to this branch by other means in this very moment.
                    time.sleep(random.random() * min(0.001 * 2**attempt, 0.2))  # noqa: S311 - no secret
        except OSError as error:
            raise StorageFailure(f"cannot write: {error.strerror}: {error.filename}") from error
        raise Busy("somebody else keeps moving or locking the branch")

    def _commit(self, plan: Plan, edits: Mapping[str, Outcome]) -> str | None:
        self._staging.hold()
        head = self._head()
        assert head.ref is not None  # noqa: S101 - _head refuses a detached one
        base = self._commits.of(head.sha) if head.sha else None
        olds = {path: self._trees.find(base, path) for path in edits}
        self._compare(edits, olds)
        staged = self._stage(edits)
        try:
            writer = self._writer(head, staged)
            blobs = writer.blobs(staged)
            news = {path: _entry(olds[path], blobs.get(path)) for path in edits}
            shifts = {p: Shift(olds[p], news[p]) for p in edits if olds[p] != news[p]}
            if not shifts:
                self._discard()
                return head.sha
            tree = writer.tree(base, {path: shift.new for path, shift in shifts.items()})
            by = self._signed()
            commit = writer.commit(tree, head.sha, plan.message.replace("\0", "\ufffd"), by)
            writer.seal()
            self._on_step("objects written")
            self._journal.add(Record(head.ref, commit, shifts), self._barrier)
            try:
                self._barrier.settle()
                writer.finish()
                self._on_step("journal written")
                kind = "commit" if head.sha else "commit (initial)"
                writer.advance(head.ref, head.sha, commit, f"{kind}: {plan.subject}", by)
            except BaseException as error:
                if self._tip_of(head.ref) != commit:
                    self._journal.drop_last()
                    raise
                self._unlock()  # it landed all the same: entering again recovers
                if isinstance(error, Exception):
                    raise UnfinishedCommit(commit, f"no file could follow: {error}") from error
                raise
        except BaseException:
            self._discard()
            raise
        self._on_step("ref moved")
        self._commits.note(commit, tree)
        self.landed = Landed(
            head.sha,
            commit,
            shifts,
            {blobs[path]: file.data for path, file in staged.items() if not file.converted},
        )
        for path in staged.keys() - shifts.keys():
            files.unlink_if_there(staged[path].scratch)  # the same as before
        self._follow(commit, shifts, {path: file.scratch for path, file in staged.items()})
        if self.policy().hooks:
            try:
                self._staging.flush()
            except (GitFailure, OSError) as error:
                self._unlock()
                raise UnfinishedCommit(commit, f"git's index could not follow: {error}") from error
            self._staging.release()
        self._unheard.append(writer)
        return commit

    def _head(self) -> Head:
        head = self._read_head()
        unfinished = gitdir.unfinished_operation(self._where)
        if unfinished is not None:
            raise RepositoryState(
                f"a {unfinished} is under way in this repository",
                suggestions=(f"git {unfinished} --abort", "finish it, then try again"),
            )
        if head.ref is None:
            raise RepositoryState(
                "HEAD is detached: a commit made here would belong to no branch",
                suggestions=("git switch main", "git switch -c memories"),
            )
        return head

    def _read_head(self) -> Head:
        head = gitdir.read_head(self._where)
        if head.plain:
            return head
        return gitdir.Head(self._git.symbolic_head(), self._git.resolve("HEAD"), plain=False)

    def _compare(self, edits: Mapping[str, Outcome], olds: Mapping[str, Entry | None]) -> None:
        """Refuse unless HEAD, the index and the disk all have what the plan expects."""
        staged = self._staging.find(edits)
        for path, edit in edits.items():
            old = olds[path]
            theirs = old.sha if old else ""
            if (edit.expect or "") != theirs:
                reason = "it has changed meanwhile" if edit.expect else "another file stands there"
                raise WriteConflict(path, ours=edit.expect or "", theirs=theirs, reason=reason)
            if old is not None and old.mode not in _FILE_MODES:
                raise WriteConflict(
                    path, ours=theirs, theirs=theirs, reason="it is a symlink or a folder"
                )
            entry = staged.get(path)
            if (entry and (entry.mode, entry.sha, entry.stage)) != (old and (*old, 0)):
                raise WriteConflict(
                    path,
                    ours=theirs,
                    theirs=entry.sha if entry else "",
                    reason="changes to it are staged but not committed",
                    suggestions=("git commit", f"git restore --staged {quoted(path)}"),
                )
            self._compare_disk(path, old)

    def _compare_disk(self, path: str, old: Entry | None) -> None:
        if old is None:
            if not files.is_free(self._where.root, path):
                raise WriteConflict(
                    path,
                    theirs=self._sha_on_disk(path) or "",
                    reason="something that is not committed stands there",
                    suggestions=("git status",),
                )
        elif not self._is_on_disk(path, old):
            raise WriteConflict(
                path,
                ours=old.sha,
                theirs=self._sha_on_disk(path) or "",
                reason="it has edits that are not committed",
                suggestions=(f"git commit {quoted(path)}", f"git restore {quoted(path)}"),
            )

    def _sha_on_disk(self, path: str) -> str | None:
        data = files.read_regular(self._where.root, path)
        return None if data is None else self._sha(data)

    def _is_on_disk(self, path: str, entry: Entry) -> bool:
        """Tell whether the file at *path* is what git would have checked out for *entry*."""
        data = files.read_regular(self._where.root, path)
        if data is None:
            return False
        if self._sha(data) == entry.sha:
            return True
        # Line endings or a filter may stand between the blob and the file.
        return self._git.hash_as_added(path, data, write=False) == entry.sha

    def _sha(self, data: bytes) -> str:
        digits = self.policy().sha_digits
        return object_sha("blob", data, algorithm="sha256" if digits == 64 else "sha1")

    def _stage(self, edits: Mapping[str, Outcome]) -> dict[str, StagedFile]:
        """Write every new file whole under a temporary name."""
        contents = {path: edit.data for path, edit in edits.items() if edit.data is not None}
        converted = policy.conversions(self._git, self._where, self.policy(), contents)
        staged: dict[str, StagedFile] = {}
        try:
            for number, (path, data) in enumerate(contents.items()):
                scratch = os.path.join(self._tmp, f"file-{number}")
                staged[path] = StagedFile(data, scratch, path in converted)
                files.write_new(scratch, data, barrier=self._barrier)
        except BaseException:
            self._discard()
            raise
        return staged

    def _discard(self) -> None:
        """Remove what a commit that is not to be has written; the index's lock is kept."""
        for name in os.listdir(self._tmp):
            if name != MARKER:
                files.unlink_if_there(os.path.join(self._tmp, name))

    def _writer(self, head: Head, staged: Mapping[str, StagedFile]) -> Writer:
        asked = self.policy()
        if (
            asked.plain
            or asked.signs
            or not head.plain
            or any(file.converted for file in staged.values())
        ):
            return PlainWriter(
                self._git,
                self._tmp,
                self._tip_of,
                signs=asked.signs,
                hooks=asked.hooks,
                sha_digits=asked.sha_digits,
            )
        return FastWriter(
            self._where,
            self._tmp,
            self._trees,
            self._barrier,
            files=len(staged),
            logs_refs=asked.logs_refs,
            on_step=self._on_step,
        )

    def _signed(self) -> Signed:
        asked = self.policy()
        return Signed(asked.author, asked.committer, int(self._clock()))

    def _follow(
        self, commit: str, shifts: Mapping[str, Shift], scratches: Mapping[str, str]
    ) -> None:
        """Let files and index follow a commit that has been made: new files first."""
        order = sorted(shifts, key=lambda path: shifts[path].new is None)
        for path in order:
            try:
                self._place(path, shifts[path], scratches.get(path))
            except FileExistsError:
                # Made within the last millisecond by somebody else: theirs stays, as an edit.
                files.unlink_if_there(scratches[path])
            except OSError as error:
                self._unlock()  # with the record kept, so that entering again recovers
                raise UnfinishedCommit(
                    commit, f"{path!r} could not follow: {error.strerror}"
                ) from error
            self._on_step("file placed")
        self._staging.put({path: shift.new for path, shift in shifts.items()})
        self._on_step("files placed")

    def _place(self, path: str, shift: Shift, scratch: str | None) -> None:
        if scratch is None:
            files.remove(self._where.root, path)
            return
        full = os.path.join(self._where.root, *path.split("/"))
        if shift.old is not None:
            if shift.new is not None and shift.new.mode != FILE:
                os.chmod(scratch, 0o777 & ~_umask())
            files.place_over(scratch, full)
            return
        files.make_room(partial(files.place_new, scratch, full), full)

    # Recovery

    def _recover(self) -> None:
        """Finish or undo what a process that is gone had begun."""
        left = os.listdir(self._journal_folder)
        if not left and not os.listdir(self._tmp):
            return
        self._staging.adopt()
        self._finish([record for record in self._journal.left_behind() if self._came_about(record)])
        self._staging.flush()
        self._on_step("index recovered")
        self._staging.release()
        self._journal.clear()
        for name in os.listdir(self._tmp):
            files.unlink_if_there(os.path.join(self._tmp, name))

    def _came_about(self, record: Record) -> bool:
        """Tell whether the commit of *record* is part of the branch that is checked out."""
        lock = os.path.join(self._where.common, *record.ref.split("/")) + ".lock"
        if files.content(lock) == f"{record.commit}\n".encode("ascii"):
            os.unlink(lock)
        tip = self._tip_of(record.ref)
        if tip is None or self._read_head().ref != record.ref:
            return False
        return tip == record.commit or self._git.is_ancestor(record.commit, tip)

    def _finish(self, records: Sequence[Record]) -> None:
        """Let files and index follow commits that were made one after another."""
        if not records:
            return
        self._staging.hold()
        tip = self._tip_of(records[-1].ref)
        assert tip is not None  # noqa: S101 - the records are part of it
        tree = self._commits.of(tip)
        # What each path was before the first commit, after it, and so on: a burst may archive a
        # file and write another of that name, and the index has followed neither.
        chains: dict[str, list[Entry | None]] = {}
        for record in records:
            for path, shift in record.shifts.items():
                chains.setdefault(path, []).extend(shift)
        staged = self._staging.find(chains)
        for path, (*before, new) in chains.items():
            entry = staged.get(path)
            # The index follows last: where it has followed, the file had as well, and whatever
            # the file is now is somebody's later doing.
            known = entry and Entry(entry.mode, entry.sha)
            if known in before and self._trees.find(tree, path) == new:
                self._bring_forward(tip, path, before, new)
                self._staging.put({path: new})

    def _is_untouched(self, path: str, old: Entry | None) -> bool:
        if old is None:
            return files.is_free(self._where.root, path)
        return self._is_on_disk(path, old)

    def _bring_forward(
        self, commit: str, path: str, before: Sequence[Entry | None], new: Entry | None
    ) -> None:
        for old in before:
            if self._is_untouched(path, old):
                break
        else:
            return  # somebody has changed it since
        scratch = None
        if new is not None:
            scratch = os.path.join(self._tmp, "forward")
            files.write_new(scratch, self._git.read_for_disk(commit, path))
        self._place(path, Shift(old, new), scratch)
        self._on_step("file recovered")

    # Reading

    def _tip_of(self, ref: str) -> str | None:
        if self._read_head().plain:
            return gitdir.read_ref(self._where, ref)
        return self._git.resolve(ref)


def _entry(old: Entry | None, blob: str | None) -> Entry | None:
    return None if blob is None else Entry(old.mode if old else FILE, blob)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
