"""Bring a reviewed run into the store, whole or in part; take it back; throw it away.

What was written since the run began is joined with it as any two branches are, memory by memory; a
file that both changed is no obstacle where both changes can hold. The merge is one commit with two
parents, so that taking it back is one commit too. Everything that can be refused is refused before
a branch moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from memhtml.corpus import Corpus
from memhtml.model.errors import InvalidFlag, MemhtmlError, RunNotFound, RunRefused
from memhtml.model.plural import plural
from memhtml.model.shell import quoted
from memhtml.sleep.landings import MERGED_TRAILER, UNDOES_TRAILER, UNDONE_TRAILER
from memhtml.sleep.runner import REPORT
from memhtml.sleep.runs import RECORDS, RUN_TRAILER, RunCommit, Runs, RunState
from memhtml.store.branches import Branches
from memhtml.store.joining import Joiner
from memhtml.store.plan import Plan, subject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memhtml.sleep.runs import Run
    from memhtml.store.treemerge import TreeMerge

__all__ = ["Gate", "MergeOptions", "Merged", "Undone", "Verdict", "drop", "merge", "undo"]

LEFT_OUT_TRAILER = "Memhtml-Left-Out"

_ATTEMPTS = 5
_TOLD = 5
_LEAST_DIGITS = 4
"""Of a sha, to name a commit by it."""


class Verdict(NamedTuple):
    """What a gate says of a merge."""

    probes: int
    """Questions that were asked before and after."""
    regressions: tuple[str, ...]
    """A sentence for each thing that would become harder to find."""


class Gate(Protocol):
    """What may refuse a merge that would hurt retrieval."""

    def __call__(self, corpus: Corpus, base: str, tip: str, after: Corpus) -> Verdict:
        """Compare *corpus*, with HEAD at *base*, and *after*, which is as it would be at *tip*."""


class MergeOptions(NamedTuple):
    """How to merge."""

    only: tuple[str, ...] = ()
    """Phases and commits to take; all when empty."""
    leave_out: tuple[str, ...] = ()
    """Phases and commits not to take."""
    gate: Gate | None = None
    keep_branch: bool = False


class Merged(NamedTuple):
    """What a merge did."""

    run_id: str
    commit: str | None
    """None when the run was merged before."""
    is_news: bool
    left_out: tuple[str, ...] = ()
    """Commits of the run that were not taken."""
    merged_paths: tuple[str, ...] = ()
    """Files that both sides had changed, and that have both changes now."""
    verdict: Verdict | None = None
    marks: tuple[Mapping[str, str], ...] = ()
    """What takes effect outside of the tree now."""
    trouble: str | None = None
    """What failed after the run was in, which it stays."""


class Undone(NamedTuple):
    """What an undo did."""

    run_id: str
    commit: str
    paths: tuple[str, ...]
    """Files that are as they were before the merge, but for what was changed since."""


def merge(
    corpus: Corpus,
    run_id: str,
    options: MergeOptions = MergeOptions(),  # noqa: B008 - it cannot be changed
    *,
    on_merged: Callable[[Merged], object] = lambda _: None,
) -> Merged:
    """Bring the run into the branch HEAD stands on; *on_merged* hears of it once it is in.

    Raises:
        RunNotFound: There is no such run.
        RunRefused: It is not complete, conflicts with what was written since, or the gate says
            that something would become harder to find.
        InvalidFlag: A phase or commit to take or leave that the run has not.
        DirtyTree: Files that it changes have changes that are not committed.
    """
    runs = Runs(corpus.repo)
    joiner = Joiner(corpus.repo, now=corpus.now())
    try:
        run = runs.find(run_id)
        if run.state is RunState.MERGED:
            return Merged(run_id, None, is_news=False)
        _require_complete(run)
        if run.state is RunState.UNDONE:
            raise _undone(runs, run_id)
        runs.require_elsewhere(run_id)
        with runs.worked_on(run_id):
            done = _Merging(corpus, runs, joiner, run).merge(options)
        try:
            corpus.update()
            on_merged(done)
            if not options.keep_branch:
                runs.forget(run_id)
        except (MemhtmlError, OSError) as error:
            return done._replace(trouble=str(error))
        return done
    finally:
        joiner.close()
        runs.close()


def undo(corpus: Corpus, run_id: str) -> Undone:
    """Take a merged run back in one commit; what was changed since stays.

    Raises:
        RunNotFound: There is no such run.
        RunRefused: It was not merged, was taken back already, or what it changed was changed again
            since.
        DirtyTree: Files that would change have changes that are not committed.
    """
    joiner = Joiner(corpus.repo, now=corpus.now())
    runs = Runs(corpus.repo)
    try:
        for _ in range(_ATTEMPTS):
            head = corpus.repo.head()
            if head is None:
                raise RunNotFound(run_id)
            merged = _lasting_merge(runs, run_id)
            before = runs.branches.parent(merged)
            joined = _without_records(joiner.merge(merged, head, before))
            _refuse_conflicts(
                joined,
                f"{run_id} cannot be undone: what it changed was changed since",
                f"git revert --mainline 1 {merged[:10]}",
            )
            plan = Plan(
                (),
                subject("sleep(undo)", f"take back {run_id}"),
                ((RUN_TRAILER, run_id), (UNDONE_TRAILER, run_id), (UNDOES_TRAILER, merged)),
            )
            tree = joiner.tree(head, joined)
            commit = joiner.commit(tree, (head,), plan.message)
            if _moved(corpus, joiner, head, commit):
                corpus.update()
                return Undone(run_id, commit, tuple(sorted(joined.edits)))
        raise _somebody_writes(run_id)
    finally:
        runs.close()
        joiner.close()


def _without_records(joined: TreeMerge) -> TreeMerge:
    """Return *joined* with the records of runs left as they are, for they tell what happened."""
    return joined._replace(
        edits={p: edit for p, edit in joined.edits.items() if not p.startswith(RECORDS)},
        conflicts=tuple(c for c in joined.conflicts if not c.path.startswith(RECORDS)),
    )


def _lasting_merge(runs: Runs, run_id: str) -> str:
    """Return the newest merge of a run that was not taken back."""
    landings = runs.landings(run_id)
    for landing in landings:
        if not landing.undone_by:
            return landing.commit
    if landings:
        raise _undone(runs, run_id)
    runs.find(run_id)
    raise RunRefused(
        f"{run_id} was not merged by memhtml, so no one commit takes it back",
        reason="unmerged",
        suggestions=(f"memhtml sleep review {quoted(run_id)}",),
    )


def _undone(runs: Runs, run_id: str) -> RunRefused:
    by = runs.landings(run_id)[0].undone_by or ""
    return RunRefused(
        f"{run_id} was merged and undone already",
        reason="undone",
        suggestions=(f"git revert {by[:10]}",),
    )


def drop(corpus: Corpus, run_id: str) -> Run:
    """Throw a run away: its branch, its working tree, its journal. A merged one stays merged.

    Raises:
        RunNotFound: There is no such run.
        RunRefused: A process is working on it, or it was merged and nothing of it is left to drop.
    """
    runs = Runs(corpus.repo)
    try:
        run = runs.find(run_id)
        if run.state is RunState.RUNNING:
            raise _running(run_id)
        if not runs.has_left(run_id):
            raise _nothing_to_drop(run)
        runs.require_elsewhere(run_id)
        runs.forget(run_id)
        return run
    finally:
        runs.close()


def _nothing_to_drop(run: Run) -> RunRefused:
    """Say what became of a run of which the store has only the record."""
    if run.state is RunState.UNDONE:
        return RunRefused(
            f"nothing of {run.run_id} is left to drop: it was merged and undone",
            reason="undone",
            suggestions=("memhtml sleep status",),
        )
    return RunRefused(
        f"nothing of {run.run_id} is left to drop: it was merged, and stays so until it is undone",
        reason="merged",
        suggestions=(f"memhtml sleep undo {quoted(run.run_id)}",),
    )


def _require_complete(run: Run) -> None:
    name = quoted(run.run_id)
    if run.state is RunState.RUNNING:
        raise _running(run.run_id)
    if run.state is RunState.INTERRUPTED:
        raise RunRefused(
            f"{run.run_id} was interrupted before its last phase",
            reason="unfinished",
            suggestions=(f"memhtml sleep resume {name}", f"memhtml sleep drop {name}"),
        )


def _chosen(
    run: Run, commits: Sequence[RunCommit], options: MergeOptions
) -> tuple[list[RunCommit], list[RunCommit]]:
    """Return the commits to take and those to leave; the report goes with whatever is taken."""
    if not any(commit.phase != REPORT for commit in commits):
        raise RunRefused(
            f"{run.run_id} committed nothing that could be merged",
            reason="empty",
            suggestions=(
                f"memhtml sleep resume {quoted(run.run_id)}",
                f"memhtml sleep drop {quoted(run.run_id)}",
            ),
        )
    only = {sha for name in options.only for sha in _named(run, commits, name)}
    leave_out = {sha for name in options.leave_out for sha in _named(run, commits, name)}
    kept, left = list[RunCommit](), list[RunCommit]()
    for commit in commits:
        wanted = not options.only or commit.sha in only
        is_taken = commit.phase == REPORT or (wanted and commit.sha not in leave_out)
        (kept if is_taken else left).append(commit)
    if not any(commit.phase != REPORT for commit in kept):
        raise InvalidFlag(
            f"nothing of {run.run_id} is left to merge",
            suggestions=(f"memhtml sleep drop {quoted(run.run_id)}",),
        )
    return kept, left


def _named(run: Run, commits: Sequence[RunCommit], name: str) -> list[str]:
    """Return the commits that *name* means: those of a phase, or the one whose sha begins so."""
    choices = [commit for commit in commits if commit.phase != REPORT]
    found = [commit.sha for commit in choices if commit.phase == name]
    if not found and len(name) >= _LEAST_DIGITS:
        found = [commit.sha for commit in choices if commit.sha.startswith(name.lower())]
        if len(found) > 1:
            raise _no_such_commit(run, f"{name!r} begins the names of {len(found)} commits")
    if not found:
        phases = ", ".join(dict.fromkeys(commit.phase for commit in choices))
        told = f"no commit is of a phase or has a name {name!r}; there are {phases}"
        raise _no_such_commit(run, told)
    return found


def _no_such_commit(run: Run, message: str) -> InvalidFlag:
    return InvalidFlag(
        f"{run.run_id}: {message}", suggestions=(f"memhtml sleep review {quoted(run.run_id)}",)
    )


def _picked(joiner: Joiner, onto: str, commits: Sequence[RunCommit], trouble: str) -> str:
    """Return the last of *commits*, put *onto* a commit with no others between.

    *trouble* says in a sentence why one cannot be, about ``{commit}``.
    """
    tip = onto
    for commit in commits:
        if commit.parent == tip:
            tip = commit.sha
            continue
        joined = joiner.merge(commit.parent, tip, commit.sha)
        named = f"{commit.sha[:10]} ({commit.phase})"
        _refuse_conflicts(joined, trouble.format(commit=named))
        tip = joiner.commit(joiner.tree(tip, joined), (tip,), commit.message)
    return tip


class _Merging:
    """A run on its way in."""

    def __init__(self, corpus: Corpus, runs: Runs, joiner: Joiner, run: Run) -> None:
        self._corpus = corpus
        self._runs = runs
        self._joiner = joiner
        self._run = run

    def merge(self, options: MergeOptions) -> Merged:
        """Join what is wanted of the run with HEAD, again where somebody writes meanwhile."""
        run, joiner = self._run, self._joiner
        kept, left = _chosen(run, self._runs.commits(run.base, run.tip), options)
        for _ in range(_ATTEMPTS):
            head = self._corpus.repo.head()
            if head is None:
                raise RunNotFound(run.run_id)
            base, tip = self._placed(head, kept)
            joined = joiner.merge(base, head, tip)
            _refuse_conflicts(joined, f"{run.run_id} conflicts with what was written since")
            message = _message(run, len(joined.edits), left)
            commit = joiner.commit(joiner.tree(head, joined), (head, tip), message)
            verdict = self._judged(head, commit, options.gate) if options.gate else None
            if _moved(self._corpus, joiner, head, commit):
                return Merged(
                    run.run_id,
                    commit,
                    is_news=True,
                    left_out=tuple(one.sha for one in left),
                    merged_paths=joined.merged,
                    verdict=verdict,
                    marks=_marks(run, left),
                )
        raise _somebody_writes(run.run_id)

    def _placed(self, head: str, kept: Sequence[RunCommit]) -> tuple[str, str]:
        """Return what *kept* is to be joined with *head* from, and its last commit.

        Where history was rewritten since the run began, its commits are put on the new one, or
        they would bring back what somebody took pains to remove.
        """
        run = self._run
        if self._corpus.repo.is_ancestor(run.base, head):
            builds = "{commit} builds on a commit that is left out"
            return run.base, _picked(self._joiner, run.base, kept, builds)
        changed = f"{run.run_id} conflicts with what was written since, at {{commit}}"
        return head, _picked(self._joiner, head, kept, changed)

    def _judged(self, head: str, commit: str, gate: Gate) -> Verdict:
        """Let *gate* look at the store as it would be, in the working tree of the run."""
        run_id = self._run.run_id
        tree = self._runs.reopen(run_id)
        there = Branches(tree)
        try:
            there.look_at(commit)
            with Corpus.open(tree) as after:
                after.update()
                verdict = gate(self._corpus, head, commit, after)
        finally:
            there.back_to(run_id)
            there.close()
        if verdict.regressions:
            name = quoted(run_id)
            count = f"{len(verdict.regressions)} of {plural(verdict.probes, 'probe')}"
            raise RunRefused(
                f"merging {run_id} would make the answers to {count} harder to find: "
                + _first_few(verdict.regressions),
                reason="gate",
                suggestions=(
                    f"memhtml sleep review {name}",
                    f"memhtml sleep merge {name} --skip-gate",
                ),
            )
        return verdict


def _moved(corpus: Corpus, joiner: Joiner, head: str, commit: str) -> bool:
    """Bring the working tree to *commit*; False where HEAD is not *head* any more."""
    with corpus.repo.standing_still():
        joiner.require_no_operation()
        if corpus.repo.head() != head:
            return False
        joiner.move_to(commit)
        return True


def _marks(run: Run, left: Sequence[RunCommit]) -> tuple[Mapping[str, str], ...]:
    """Return the marks of the phases that are taken whole; what is left out may be found again."""
    partly = {commit.phase for commit in left}
    return tuple(mark for done in run.phases if done.phase not in partly for mark in done.marks)


def _message(run: Run, files: int, left: Sequence[RunCommit]) -> str:
    return Plan(
        (),
        subject("sleep(merge)", f"{run.run_id}, {plural(files, 'file')}"),
        (
            (RUN_TRAILER, run.run_id),
            (MERGED_TRAILER, run.run_id),
            *((LEFT_OUT_TRAILER, f"{commit.sha} {commit.phase}") for commit in left),
        ),
    ).message


def _refuse_conflicts(
    joined: TreeMerge, message: str, suggestion: str = "memhtml sleep status"
) -> None:
    if joined.conflicts:
        told = [f"{each.path}: {each.reason}" for each in joined.conflicts]
        raise RunRefused(
            f"{message}: {_first_few(told)}",
            reason="conflict",
            paths=tuple(each.path for each in joined.conflicts),
            suggestions=(suggestion,),
        )


def _first_few(sentences: Sequence[str]) -> str:
    more = len(sentences) - _TOLD
    return "; ".join(sentences[:_TOLD]) + (f"; and {more} more" if more > 0 else "")


def _running(run_id: str) -> RunRefused:
    return RunRefused(f"a process is working on {run_id}", reason="running")


def _somebody_writes(run_id: str) -> RunRefused:
    return RunRefused(
        "somebody else keeps writing to this branch",
        reason="busy",
        suggestions=(f"memhtml sleep merge {quoted(run_id)}",),
    )
