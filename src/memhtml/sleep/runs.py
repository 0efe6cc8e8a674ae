"""The runs of a store: where each works, how it stands, and its commits.

A run is a branch ``sleep/<date>`` with a working tree of its own inside the git directory. Its
commits say in trailers which run and phase they are of, so the branch alone is enough to review or
merge a run, also in another clone; the journal beside the tree has the rest.
"""

from __future__ import annotations

import re
import shutil
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import (
    Busy,
    MemhtmlError,
    RunNotFound,
    RunRefused,
    StorageFailure,
)
from memhtml.model.shell import quoted
from memhtml.sleep.journal import Begun, Journal, PhaseDone, read_lines
from memhtml.sleep.landings import Landing, landings
from memhtml.store.branches import Branches
from memhtml.store.gitdir import locate, read_head
from memhtml.store.lock import Lock
from memhtml.store.trees import CommitTrees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.store.repo import Repo

__all__ = [
    "PHASE_TRAILER",
    "PREFIX",
    "RECORDS",
    "RUN_TRAILER",
    "Run",
    "RunCommit",
    "RunState",
    "Runs",
    "record_path",
    "report_path",
    "waiting_runs",
    "way_on",
]

PREFIX = "sleep"
RECORDS = ".memhtml/sleep/"
"""Where runs leave their report and record in the store."""

RUN_TRAILER = "Memhtml-Run"
PHASE_TRAILER = "Memhtml-Phase"

_MOST_RUNS_A_DAY = 100
_GLANCE_SECONDS = 0.5
"""As long as somebody may look whether a run is being worked on."""

_run_id_re = re.compile(r"sleep/\d{4}-\d{2}-\d{2}(?:-[1-9]\d*)?")


class RunState(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    """A process works on it."""
    INTERRUPTED = "interrupted"
    """Its process died; it can be resumed."""
    FAILED = "failed"
    """A phase failed; it can be resumed, or reviewed as it is."""
    REVIEW = "review"
    """It waits for a person."""
    MERGED = "merged"
    UNDONE = "undone"
    """It was merged and taken back."""


_WAYS_ON = {
    RunState.INTERRUPTED: "resume",
    RunState.FAILED: "resume",
    RunState.REVIEW: "review",
}


class RunCommit(NamedTuple):
    """A commit of a run."""

    sha: str
    parent: str
    phase: str
    subject: str
    message: str


class Run(NamedTuple):
    """One run."""

    run_id: str
    state: RunState
    base: str
    tip: str
    begun: Begun
    phases: tuple[PhaseDone, ...]

    @property
    def waits(self) -> bool:
        """Whether it can still be merged, now or once it is complete."""
        return self.state not in {RunState.MERGED, RunState.UNDONE}


def record_path(run_id: str) -> str:
    """Return where the record of a run stands in the store."""
    return f"{RECORDS}{run_id.replace('/', '-')}.jsonl"


def report_path(run_id: str) -> str:
    """Return where the report of a run stands in the store."""
    return f"{RECORDS}{run_id.replace('/', '-')}.html"


def waiting_runs(repo: Repo) -> list[Run]:
    """Return the runs that can still be merged, the newest last."""
    with closing(Runs(repo)) as runs:
        return [run for run in runs.waiting() if run.waits]


class Runs:
    """The runs of one repository; close it."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self.branches = Branches(repo.root)
        self._folder = Path(repo.where.common, "memhtml", "sleep")
        self._landings: tuple[str, list[Landing]] = ("", [])

    def close(self) -> None:
        """End the children."""
        self.branches.close()

    # Places

    def folder(self, run_id: str) -> Path:
        """Return where a run keeps its working tree and its journal."""
        return self._folder / run_id.replace("/", "-")

    def tree(self, run_id: str) -> Path:
        """Return the top of a run's working tree."""
        return self.folder(run_id) / "tree"

    def journal(self, run_id: str) -> Journal:
        """Return the journal of a run, which need not exist."""
        return Journal(self.folder(run_id) / "journal.jsonl")

    @contextmanager
    def worked_on(self, run_id: str) -> Iterator[None]:
        """Be the only one that works on a run, for the length of a ``with`` block.

        Raises:
            RunRefused: Another process works on it.
        """
        lock = self._lock(run_id, _GLANCE_SECONDS)
        try:
            lock.acquire()
        except Busy:
            raise RunRefused(f"another process works on {run_id}", reason="running") from None
        try:
            yield
        finally:
            lock.release()

    def _lock(self, run_id: str, wait_seconds: float = 0) -> Lock:
        self.folder(run_id).mkdir(parents=True, exist_ok=True)
        return Lock(str(self.folder(run_id) / "lock"), wait_seconds=wait_seconds)

    @contextmanager
    def claimed(self, day: str) -> Iterator[str]:
        """Yield the first name for a run on *day* that no run has or had; work on it meanwhile.

        Raises:
            Busy: There were a hundred.
        """
        lock, run_id = self._claim(day)
        try:
            yield run_id
        finally:
            lock.release()

    def _claim(self, day: str) -> tuple[Lock, str]:
        recorded = set(self.recorded())
        for n in range(1, _MOST_RUNS_A_DAY + 1):
            name = f"{PREFIX}/{day}" if n == 1 else f"{PREFIX}/{day}-{n}"
            if name in recorded or self.folder(name).exists():
                continue
            lock = self._lock(name)
            try:
                lock.acquire()
            except Busy:
                continue  # somebody begins a run in this very moment
            if name not in self.branches.tips(PREFIX):
                return lock, name
            lock.release()
        raise Busy(
            f"{_MOST_RUNS_A_DAY} runs were begun on {day}", suggestions=("memhtml sleep status",)
        )

    # Asking

    def find(self, run_id: str) -> Run:
        """Return a run that waits, works or was merged.

        Raises:
            RunNotFound: There is none of that name.
        """
        tips = self.branches.tips(PREFIX)
        if run_id in tips:
            return self._open(run_id, tips[run_id])
        if run_id in self.recorded():
            return self._merged(run_id)
        raise RunNotFound(run_id, tuple(tips))

    def waiting(self) -> list[Run]:
        """Return the runs that have a branch, the newest last."""
        tips = self.branches.tips(PREFIX)
        known = sorted(filter(_run_id_re.fullmatch, tips), key=_order)
        return [self._open(run_id, tips[run_id]) for run_id in known]

    def recorded(self) -> list[str]:
        """Return the runs whose record stands in HEAD, which are those that were merged."""
        head = self._repo.head()
        if head is None:
            return []
        names = CommitTrees(self.branches.read).names(head, RECORDS.rstrip("/"))
        stems = (name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl"))
        ids = (stem.replace("sleep-", "sleep/", 1) for stem in stems)
        return sorted(filter(_run_id_re.fullmatch, ids), key=_order)

    def landings(self, run_id: str) -> list[Landing]:
        """Return the merges of a run that HEAD has, the newest first."""
        return [landing for landing in self._all_landings() if landing.run_id == run_id][::-1]

    def undone(self) -> list[str]:
        """Return the runs of which every merge was taken back."""
        found = self._all_landings()
        lasting = {landing.run_id for landing in found if not landing.undone_by}
        return sorted({landing.run_id for landing in found} - lasting, key=_order)

    def taken(self, run: Run) -> tuple[str, str] | None:
        """Return where a merged run began and ended as it was taken; None where that is lost."""
        for landing in self.landings(run.run_id):
            ours, theirs = (self.branches.resolve(f"{landing.commit}^{n}") for n in (1, 2))
            if ours and theirs and (bases := self.branches.merge_bases(ours, theirs)):
                return bases[0], theirs
        # Git itself merged it: the run is what led to its report.
        tip = self.branches.commit_that_added(record_path(run.run_id))
        return (run.base, tip) if tip and self.branches.is_ancestor(run.base, tip) else None

    def require_elsewhere(self, run_id: str) -> None:
        """Refuse to touch a branch that a person has checked out.

        Raises:
            RunRefused: It is, and where.
        """
        own = str(self.tree(run_id))
        for tree in self.branches.worktrees():
            if tree.branch == run_id and tree.folder != own and self._is_of_ours(tree.folder):
                raise RunRefused(
                    f"{run_id} is checked out in {tree.folder}",
                    reason="checked-out",
                    suggestions=(f"git -C {quoted(tree.folder)} switch main",),
                )

    def _is_of_ours(self, folder: str) -> bool:
        """Tell whether a working tree is there, and not of the store that ours was copied from."""
        try:
            return locate(folder).common == self._repo.where.common
        except (MemhtmlError, OSError):
            return False

    def _leave(self, run_id: str) -> None:
        """Remove the working tree of a run, and what git remembers of one that is no more."""
        self.branches.leave(str(self.tree(run_id)))
        for tree in self.branches.worktrees():
            if tree.branch == run_id and not Path(tree.folder).exists():
                self.branches.leave(tree.folder)

    def _all_landings(self) -> list[Landing]:
        head = self._repo.head()
        if head is not None and self._landings[0] != head:
            self._landings = head, landings(self.branches, head)
        return self._landings[1]

    def commits(self, base: str, tip: str) -> list[RunCommit]:
        """Return the commits of a run in order."""
        found = [
            RunCommit(
                entry.sha,
                entry.parents[0] if entry.parents else "",
                _trailer(entry.message, PHASE_TRAILER),
                entry.message.partition("\n")[0],
                entry.message,
            )
            for entry in self.branches.log_all(tip, without=base)
        ]
        return found[::-1]

    # Beginning and ending

    def begin(self, run_id: str, commit: str) -> str:
        """Make the branch and the working tree of a run, and return the top of the tree."""
        self.folder(run_id).mkdir(parents=True, exist_ok=True)
        tree = str(self.tree(run_id))
        try:
            self.branches.begin(tree, run_id, commit)
        except MemhtmlError:
            self.forget(run_id)
            raise
        return tree

    def reopen(self, run_id: str) -> str:
        """Return the top of the working tree of a run, made anew where it is gone or astray."""
        tree = str(self.tree(run_id))
        if not _is_sound(tree, run_id, self._repo.where.common):
            self.folder(run_id).mkdir(parents=True, exist_ok=True)
            self._leave(run_id)
            self.branches.check_out(tree, run_id)
        return tree

    def reap(self) -> list[str]:
        """Remove what runs left whose branch is gone and whose process has died; name them."""
        tips = self.branches.tips(PREFIX)
        found = []
        folders = self._folder.iterdir() if self._folder.is_dir() else ()
        for run_id in sorted(folder.name.replace("sleep-", "sleep/", 1) for folder in folders):
            if not _run_id_re.fullmatch(run_id) or run_id in tips:
                continue
            lock = self._lock(run_id)
            try:
                lock.acquire()
            except Busy:
                continue
            try:
                self.forget(run_id)
            finally:
                lock.release()
            found.append(run_id)
        return found

    def has_left(self, run_id: str) -> bool:
        """Tell whether there is anything of a run that `forget` would remove."""
        return self.folder(run_id).exists() or run_id in self.branches.tips(PREFIX)

    def forget(self, run_id: str) -> None:
        """Remove the branch, the working tree and the journal of a run."""
        self._leave(run_id)
        shutil.rmtree(self.folder(run_id), ignore_errors=True)
        tip = self.branches.tips(PREFIX).get(run_id)
        if tip is not None:
            self.branches.delete(run_id, tip)

    # How a run stands

    def _open(self, run_id: str, tip: str) -> Run:
        begun, phases, ended = self.journal(run_id).read()
        if begun is None:
            begun, phases, ended = self._recorded_at(tip, run_id)
        base = begun.base if begun else self._base(tip)
        known = begun or Begun(run_id, base, "")
        if tip != base and self._is_in(run_id, known):
            state = RunState.UNDONE if run_id in self.undone() else RunState.MERGED
        elif self._is_worked_on(run_id):
            state = RunState.RUNNING
        elif not ended:
            state = RunState.INTERRUPTED
        elif any(done.status == "failed" for done in phases):
            state = RunState.FAILED
        else:
            state = RunState.REVIEW
        return Run(run_id, state, base, tip, known, phases)

    def _merged(self, run_id: str) -> Run:
        head = self._repo.head() or ""
        begun, phases, _ = self._recorded_at(head, run_id)
        known = begun or Begun(run_id, "", "")
        state = RunState.UNDONE if run_id in self.undone() else RunState.MERGED
        return Run(run_id, state, known.base, head, known, phases)

    def _is_in(self, run_id: str, begun: Begun) -> bool:
        """Tell whether HEAD has the run that *begun* tells of, whole or in part."""
        where = read_head(self._repo.where)
        head = self._repo.head()
        if head is None or where.ref == f"refs/heads/{run_id}":
            return False
        # Another machine may have merged a run of this name that is not this one.
        there, _, _ = self._recorded_at(head, run_id)
        if there is not None and begun.instant:
            return (there.base, there.instant) == (begun.base, begun.instant)
        return run_id in self.branches.merged(PREFIX, head)

    def _recorded_at(
        self, commit: str, run_id: str
    ) -> tuple[Begun | None, tuple[PhaseDone, ...], bool]:
        found = self.branches.read(f"{commit}:{record_path(run_id)}")
        if found is None:
            return None, (), False
        return read_lines(found[1].decode("utf-8", "replace").split("\n"))

    def _base(self, tip: str) -> str:
        """Return where a branch without journal and record left HEAD's."""
        head = self._repo.head()
        bases = self.branches.merge_bases(head, tip) if head else []
        return bases[0] if bases else tip

    def _is_worked_on(self, run_id: str) -> bool:
        if not (self.folder(run_id) / "lock").exists():
            return False
        lock = self._lock(run_id)
        try:
            lock.acquire()
        except Busy:
            return True
        except StorageFailure:
            return False  # where nothing can be written nobody works
        lock.release()
        return False


def _is_sound(tree: str, run_id: str, common: str) -> bool:
    """Tell whether a working tree is as a run left it, and belongs to the repository at *common*.

    A process that was killed may have left it astray, and one that was copied along with its store
    is still the original's.
    """
    there = Branches(tree)
    try:
        where = locate(tree)
        return (
            where.common == common
            and read_head(where).ref == f"refs/heads/{run_id}"
            and not Path(where.own, "index.lock").exists()
            and not there.status()
        )
    except (MemhtmlError, OSError):
        return False
    finally:
        there.close()


def _trailer(message: str, name: str) -> str:
    values = [
        line.partition(": ")[2] for line in message.split("\n") if line.startswith(f"{name}: ")
    ]
    return values[-1] if values else ""


def _order(run_id: str) -> tuple[str, int]:
    day, number = run_id[: len("sleep/0000-00-00")], run_id[len("sleep/0000-00-00-") :]
    return day, int(number or 1)


def way_on(run: Run) -> str | None:
    """Return the command that a run waits for; None where it waits for nobody."""
    does = _WAYS_ON.get(run.state)
    return f"memhtml sleep {does} {quoted(run.run_id)}" if does else None
