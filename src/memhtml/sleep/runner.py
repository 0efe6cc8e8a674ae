"""Carry out a run: a branch, its own working tree, and phase after phase a commit.

The person's checkout is never touched: a run starts from what HEAD has, and what is written while
it works or waits is joined with it when it is merged. A phase that fails leaves what the others
did. A dry run does the same in a clone that borrows the objects and is thrown away, so it shows
what a run would do, to the last phase, and leaves nothing behind.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memhtml.corpus import Corpus
from memhtml.format.parse import parse
from memhtml.model.errors import (
    InvalidFlag,
    InvalidMemory,
    MemhtmlError,
    RepositoryState,
    RunRefused,
)
from memhtml.model.instants import stamp
from memhtml.model.paths import bucket_of
from memhtml.model.shell import quoted
from memhtml.sleep.detections import plan_detections
from memhtml.sleep.journal import FAILED, OK, SKIPPED, Begun, CommitMade, PhaseDone
from memhtml.sleep.likeness import likeness_of
from memhtml.sleep.phase import Context, Proposal
from memhtml.sleep.phases import PHASES
from memhtml.sleep.population import read_population
from memhtml.sleep.report import report_files
from memhtml.sleep.runs import PHASE_TRAILER, RUN_TRAILER, Runs, RunState
from memhtml.sleep.settings import Settings
from memhtml.sleep.transcripts import find_transcripts
from memhtml.store.listings import is_generated
from memhtml.store.plan import Planned, Put, Remove, subject
from memhtml.traces.cut import cut_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from memhtml.index.usage import Usage
    from memhtml.sleep.judge import BudgetedJudge
    from memhtml.sleep.likeness import Likeness
    from memhtml.sleep.phase import Decision, Finding, Outcome, Phase
    from memhtml.sleep.population import Population
    from memhtml.store.plan import Step

__all__ = ["Report", "RunOptions", "phase_names", "resume", "run"]

# Phases look years back and ahead of it, which calendars must allow.
_day_re = re.compile(r"(?!0|9[0-9]{3})[0-9]{4}-[0-9]{2}-[0-9]{2}")

REPORT = "report"
"""The last phase, which is the runner's own: it alone knows what became of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run."""

    day: str | None = None
    """``YYYY-MM-DD``; today when None."""
    phases: tuple[str, ...] = ()
    """Only these; all when empty."""
    deep: bool = False
    dry_run: bool = False
    settings: Settings = field(default_factory=Settings)
    judge: BudgetedJudge | None = None
    on_phase: Callable[[str], object] = lambda _: None
    """Hears the name of each phase as it begins."""
    registry: tuple[Phase, ...] = PHASES
    """The phases there are."""


class Report(NamedTuple):
    """What a run did."""

    run_id: str
    base: str
    tip: str
    dry_run: bool
    phases: tuple[PhaseDone, ...]
    reaped: tuple[str, ...] = ()
    """Runs whose branch somebody had deleted, and whose leftovers are gone now."""

    @property
    def failed(self) -> tuple[str, ...]:
        """The phases that failed."""
        return tuple(done.phase for done in self.phases if done.status == FAILED)

    @property
    def commits(self) -> tuple[CommitMade, ...]:
        """Every commit, in order."""
        return tuple(commit for done in self.phases for commit in done.commits)


def phase_names(registry: Sequence[Phase] = PHASES) -> tuple[str, ...]:
    """Return every phase in order."""
    return (*(phase.NAME for phase in registry), REPORT)


def run(corpus: Corpus, options: RunOptions) -> Report:
    """Begin a run and carry it through.

    A run that finds nothing to do leaves no branch.

    Raises:
        InvalidFlag: A phase or day that there is none of.
        RepositoryState: The store has no commit yet.
    """
    names = _chosen(options.phases, options.registry)
    base = corpus.repo.head()
    if base is None:
        raise RepositoryState("the store has no commit yet", suggestions=("memhtml init",))
    if "\n" in corpus.root:
        raise RepositoryState(
            "git makes no working trees in a folder with a line break in its name"
        )
    now = _instant(corpus.now(), options.day)
    if options.dry_run:
        return _rehearse(corpus, base, now, names, options)
    corpus.update(scan=False)
    runs = Runs(corpus.repo)
    try:
        reaped = tuple(runs.reap())
        with runs.claimed(stamp(now)[:10]) as run_id:
            begun = _begun(run_id, base, now, names, options)
            runs.journal(run_id).begin(begun)
            tree = runs.begin(run_id, base)
            corpus.lend_index(tree)
            report = _carry_through(corpus, runs, tree, begun, now=now, options=options)
        return report._replace(reaped=reaped)
    finally:
        runs.close()


def resume(corpus: Corpus, run_id: str, options: RunOptions) -> Report:
    """Carry on with a run that was interrupted or failed, from the first phase that is not done.

    Raises:
        RunNotFound: There is no such run.
        RunRefused: It is being worked on, or has nothing left to do.
    """
    runs = Runs(corpus.repo)
    try:
        found = runs.find(run_id)
        if found.state in _STANDS:
            raise RunRefused(
                f"{run_id} is {_STANDS[found.state]}; there is nothing to resume",
                reason=_REASONS[found.state],
                suggestions=(f"memhtml sleep review {quoted(run_id)}",),
            )
        with runs.worked_on(run_id):
            tree = runs.reopen(run_id)
            begun = found.begun
            if not begun.phases:
                # The journal is lost: the branch says what was committed, and the rest is done
                # again, which changes nothing where it was done before.
                now = _instant(corpus.now(), run_id.removeprefix("sleep/")[:10])
                names = phase_names(options.registry)
                begun = _begun(run_id, found.base, now, names, options)
                runs.journal(run_id).begin(begun)
            done = tuple(phase for phase in found.phases if phase.status == OK)
            now = _instant(corpus.now(), begun.instant[:10])
            return _carry_through(corpus, runs, tree, begun, done, now=now, options=options)
    finally:
        runs.close()


_STANDS = {
    RunState.RUNNING: "being worked on",
    RunState.REVIEW: "complete and waits for review",
    RunState.MERGED: "merged already",
    RunState.UNDONE: "merged and taken back",
}
_REASONS = {
    RunState.RUNNING: "running",
    RunState.REVIEW: "finished",
    RunState.MERGED: "merged",
    RunState.UNDONE: "undone",
}


def _chosen(wanted: Sequence[str], registry: Sequence[Phase]) -> tuple[str, ...]:
    names = phase_names(registry)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise InvalidFlag(
            f"there is no phase {unknown[0]!r}; the phases are {', '.join(names)}",
            suggestions=("memhtml help sleep run",),
        )
    return tuple(name for name in names if not wanted or name in wanted or name == REPORT)


def _instant(clock: datetime, day: str | None) -> datetime:
    """Return the one instant of a run: now, on *day*.

    With the time of day, for midnight lies before whatever was written since.
    """
    if day is None:
        return clock
    if _day_re.fullmatch(day):
        year, month, date = map(int, day.split("-"))
        with suppress(ValueError):
            return clock.replace(year=year, month=month, day=date)
    raise InvalidFlag(
        f"{day!r} is no day; write it as 2026-08-02",
        suggestions=("memhtml sleep run --date 2026-08-02",),
    )


def _begun(
    run_id: str, base: str, now: datetime, names: tuple[str, ...], options: RunOptions
) -> Begun:
    model = options.judge.name if options.judge else None
    return Begun(run_id, base, stamp(now), options.deep, model, names)


def _carry_through(
    corpus: Corpus,
    runs: Runs,
    tree: str,
    begun: Begun,
    done: tuple[PhaseDone, ...] = (),
    *,
    now: datetime,
    options: RunOptions,
) -> Report:
    journal = runs.journal(begun.run_id)
    with Corpus.open(tree, clock=lambda: now) as there:
        work = _Work(corpus, there, begun, now, options)
        for phase in work.go_on(done):
            journal.add(phase)
    journal.end()
    report = Report(begun.run_id, begun.base, work.tip, False, work.done)
    if not report.commits and not report.failed:
        runs.forget(begun.run_id)
    return report


def _rehearse(
    corpus: Corpus, base: str, now: datetime, names: tuple[str, ...], options: RunOptions
) -> Report:
    """Run in a clone that borrows the objects, and throw it away."""
    begun = _begun(f"sleep/{stamp(now)[:10]}", base, now, names, options)
    folder = tempfile.mkdtemp(prefix="memhtml-sleep-")
    runs = Runs(corpus.repo)
    try:
        tree = str(Path(folder, "tree"))
        runs.branches.borrow(tree, base)
        corpus.lend_index(tree)
        with Corpus.open(tree, clock=lambda: now) as there:
            work = _Work(corpus, there, begun, now, options)
            for _ in work.go_on(()):
                pass
        return Report(begun.run_id, base, base, True, work.done)
    finally:
        runs.close()
        shutil.rmtree(folder, ignore_errors=True)


class _Work:
    """A run under way in its own tree."""

    def __init__(
        self, corpus: Corpus, there: Corpus, begun: Begun, now: datetime, options: RunOptions
    ) -> None:
        self._corpus = corpus
        self._there = there
        self._begun = begun
        self._now = now
        self._options = options
        self._population: Population | None = None
        self._usage: dict[str, Usage] = {}
        self._likeness: Likeness | None = None
        self._findings_left = options.settings.max_findings
        self._traces = find_transcripts(corpus, refresh=not options.dry_run)
        self.done: tuple[PhaseDone, ...] = ()
        self.tip = begun.base
        """The last commit of the run."""

    def go_on(self, done: tuple[PhaseDone, ...]) -> Iterator[PhaseDone]:
        """Do every phase that is not among *done*; yield each when it is committed."""
        self.done = done
        self._there.update()
        past = {phase.phase for phase in done}
        for phase in self._options.registry:
            if phase.NAME in past or phase.NAME not in self._begun.phases:
                continue
            self._options.on_phase(phase.NAME)
            result = self._phase(phase)
            self._remember(result)
            yield result
        self._options.on_phase(REPORT)
        result = self._report()
        self._remember(result)
        yield result

    def _remember(self, result: PhaseDone) -> None:
        kept = tuple(phase for phase in self.done if phase.phase != result.phase)
        self.done = (*kept, result)
        self.tip = self._there.repo.head() or self.tip

    def _phase(self, phase: Phase) -> PhaseDone:
        failed = {done.phase for done in self.done if done.status != OK}
        blocking = [name for name in phase.NEEDS if name in failed]
        if blocking:
            return PhaseDone(phase.NAME, SKIPPED, detail=f"{', '.join(blocking)} did not succeed")
        judge = self._options.judge
        before = (judge.calls, judge.tokens) if judge else (0, 0)
        started = time.monotonic()
        try:
            outcome = phase.run(self._context())
            commits, counts = self._commit_all(phase, outcome)
            status, detail, marks = OK, outcome.detail, outcome.marks
        except (
            MemhtmlError,
            OSError,
            ValueError,
            ArithmeticError,
            LookupError,
            TypeError,
        ) as error:
            self._forget_population()
            status, commits, counts, marks = FAILED, (), {}, ()
            reason = error.message if isinstance(error, MemhtmlError) else repr(error)
            detail = f"{type(error).__name__}: {reason}"
        after = (judge.calls, judge.tokens) if judge else (0, 0)
        return PhaseDone(
            phase.NAME,
            status,
            counts,
            commits,
            detail,
            after[0] - before[0],
            after[1] - before[1],
            round(time.monotonic() - started, 3),
            marks,
        )

    def _context(self) -> Context:
        if self._population is None:
            self._population = read_population(self._there.index)
            self._usage = self._corpus.usage([memory.path for memory in self._population])
            self._likeness = likeness_of(self._population, self._there.index, self._likeness)
        assert self._likeness is not None  # noqa: S101 - it comes with the population
        return Context(
            run_id=self._begun.run_id,
            now=self._now,
            population=self._population,
            view=self._there.view(),
            usage=self._usage,
            likeness=self._likeness,
            settings=self._options.settings,
            judge=self._options.judge,
            deep=self._begun.deep,
            traces=self._traces,
        )

    def _commit_all(
        self, phase: Phase, outcome: Outcome
    ) -> tuple[tuple[CommitMade, ...], dict[str, int]]:
        counts = dict(outcome.counts)
        commits = [
            made
            for proposal in outcome.proposals
            if (made := self._commit(phase.NAME, proposal, counts)) is not None
        ]
        if outcome.findings or outcome.judged_all:
            opened, tasks = self._open_tasks(phase.NAME, outcome.findings, outcome)
            commits += opened
            counts |= tasks
        return tuple(commits), counts

    def _open_tasks(
        self, phase: str, findings: Sequence[Finding], outcome: Outcome
    ) -> tuple[list[CommitMade], dict[str, int]]:
        detected = plan_detections(
            phase,
            findings,
            self._context(),
            budget=self._findings_left,
            judged_all=outcome.judged_all,
        )
        self._findings_left -= detected.minted
        if detected.proposal is None:
            return [], dict(detected.counts)
        made = self._commit(phase, detected.proposal, detected.counts)
        return [made] if made else [], dict(detected.counts)

    def _commit(self, phase: str, proposal: Proposal, counts: object) -> CommitMade | None:
        _require_sound(proposal.steps)
        proposal = replace(proposal, decisions=tuple(map(_without_secrets, proposal.decisions)))
        planned = Planned(
            result=None,
            steps=proposal.steps,
            subject=subject(f"sleep({phase})", proposal.subject),
            trailers=(
                (RUN_TRAILER, self._begun.run_id),
                (PHASE_TRAILER, phase),
                ("Memhtml-Counts", json.dumps(counts, sort_keys=True)),
            ),
            body=_body(proposal),
        )
        _, sha = self._there.carry_out(lambda _view, _now: planned)
        if sha is None:
            return None
        self._forget_population()
        return CommitMade(sha, proposal.subject, proposal.decisions)

    def _forget_population(self) -> None:
        self._population = None

    def _report(self) -> PhaseDone:
        marks = [mark for done in self.done for mark in done.marks]
        commits = [commit for done in self.done for commit in done.commits]
        if not commits and not marks:
            return PhaseDone(REPORT, OK, detail="nothing was found to do")
        standing = {entry.path for entry in self._there.committed_files()}
        files = report_files(self._begun, self.done, self.tip, standing)
        view = self._there.view()
        steps = tuple(
            Put(path, data, file.sha if (file := view.find(path)) else None)
            for path, data in files.items()
        )
        made = self._commit(
            REPORT, Proposal(subject="what was done", steps=steps, decisions=()), {}
        )
        return PhaseDone(REPORT, OK, commits=(made,) if made else ())


def _without_secrets(decision: Decision) -> Decision:
    """Return *decision* fit to be told in a commit, a report and a record, which stay for ever."""
    return decision._replace(
        why=cut_secrets(decision.why)[0],
        evidence=tuple(
            (name, cut_secrets(value)[0] if isinstance(value, str) else value)
            for name, value in decision.evidence
        ),
    )


def _body(proposal: Proposal) -> str:
    """Return the decisions as lines that no trailer can be mistaken for."""
    lines = []
    for decision in proposal.decisions:
        target = f" -> {decision.other}" if decision.other else ""
        line = f"{decision.kind} {decision.path}{target}: {decision.why}"
        lines.append("  " + " ".join(line.split()))
    return "\n".join(lines)


def _require_sound(steps: Sequence[Step]) -> None:
    """Let no phase commit a memory that the gate of every other door would refuse."""
    for step in steps:
        if isinstance(step, Remove):
            continue
        path = step.path if isinstance(step, Put) else step.dst
        if bucket_of(path) is None or is_generated(path):
            continue
        document = parse(step.data)
        if not document.is_valid:
            raise InvalidMemory(document.diagnostics, reason=f"{path} would not be valid")
