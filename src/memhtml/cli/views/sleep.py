"""What the sleep commands show people: what a run did and why, and what may be done with it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from memhtml.cli.screen import columns, flowing, plural, printable, relative
from memhtml.model.history import DiffKind
from memhtml.model.shell import quoted
from memhtml.sleep.journal import FAILED, OK
from memhtml.sleep.report import headline
from memhtml.sleep.review import How
from memhtml.sleep.runs import RunState, way_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memhtml.cli.screen import Screen
    from memhtml.sleep.journal import PhaseDone
    from memhtml.sleep.merge import Merged
    from memhtml.sleep.outlook import Outlook
    from memhtml.sleep.phase import Decision
    from memhtml.sleep.review import CommitReview, FileChange, Review
    from memhtml.sleep.runner import Report
    from memhtml.sleep.runs import Run

__all__ = ["merged_text", "outlook_text", "report_page", "review_text", "status_text"]

_MOST_DECISIONS = 20
"""Of one kind in one commit; --diff shows all."""

_SINGULARS = {
    "memories": "memory",
    "stories": "story",
    **{
        f"{noun}s": noun
        for noun in (
            *("arc", "call", "candidate", "commitment", "component", "conflict", "contradiction"),
            *("cue", "file", "folder", "group", "link", "merge", "name", "page", "row", "session"),
            "task",
        )
    },
}
"""The things that phases count."""

_HOW_STYLES = {
    How.CREATED: "green",
    How.RESTORED: "green",
    How.ARCHIVED: "magenta",
    How.REMOVED: "red",
    How.REWRITTEN: "yellow",
}


def report_page(report: Report, screen: Screen) -> str:
    """Return what a run did, phase by phase."""
    lines = [*_phase_lines(report.phases, screen), ""]
    if report.dry_run:
        for phase in report.phases:
            for commit in phase.commits:
                # Nothing is left to review, so this is the place to see all of it.
                lines += _decided(commit.decisions, screen, everything=True)
        lines.append(screen.paint("a dry run: nothing was changed", "dim"))
    elif not report.commits and not report.failed:
        lines.append("nothing was found to do")
    else:
        name = quoted(report.run_id)
        lines.append(screen.paint(headline(report.phases), "bold"))
        if report.failed:
            lines.append(screen.paint(f"failed: {', '.join(report.failed)}", "red"))
            lines.append(f"memhtml sleep resume {name}  tries again")
        lines.append(f"memhtml sleep review {name}  shows what and why")
        if report.commits:
            lines.append(f"memhtml sleep merge {name}  takes it")
    lines += [screen.paint(f"cleared away: {run}", "dim") for run in report.reaped]
    return "\n".join(lines) + "\n"


def review_text(review: Review, screen: Screen, *, page: str | None, everything: bool) -> str:
    """Return a run as a person reviews it."""
    run = review.run
    facts = [run.state.value]
    if run.begun.instant:
        facts.append(relative(run.begun.instant, screen.now))
    facts.append(f"model {run.begun.model}" if run.begun.model else "no model")
    lines = [
        f"{screen.paint(run.run_id, 'bold')} {screen.paint(' · '.join(facts), 'dim')}",
        headline(run.phases),
    ]
    for commit in review.commits:
        lines += ["", *_commit(commit, screen, everything=everything)]
    troubles = [phase for phase in run.phases if phase.status != OK]
    if troubles:
        lines += ["", *_phase_lines(troubles, screen)]
    name, told = quoted(run.run_id), []
    if page is not None:
        told.append(f"page {printable(page)}")
    if run.state in {RunState.REVIEW, RunState.FAILED}:
        if page is None:
            told.append(f"memhtml sleep review {name} --open  shows it in a browser")
        told.append(f"memhtml sleep merge {name}  takes it; --drop leaves parts out")
    if told:
        lines += ["", *(screen.paint(line, "dim") for line in told)]
    return "\n".join(lines) + "\n"


def merged_text(done: Merged, screen: Screen) -> str:
    """Return what a merge did."""
    if not done.is_news:
        return f"{done.run_id} was merged already; nothing was done\n"
    lines = [screen.paint(f"merged {done.run_id}", "green")]
    if done.verdict is not None:
        lines.append(f"{plural(done.verdict.probes, 'probe')}: nothing is harder to find")
    if done.merged_paths:
        lines.append(f"{plural(len(done.merged_paths), 'file')} had changed on both sides")
    if done.left_out:
        lines.append(f"left out: {', '.join(sha[:10] for sha in done.left_out)}")
    lines.append(screen.paint(f"commit {(done.commit or '')[:10]}", "dim"))
    lines.append(screen.paint(f"memhtml sleep undo {quoted(done.run_id)}  takes it back", "dim"))
    if done.trouble is not None:
        told = f"it is in, and yet: {printable(done.trouble)}"
        lines.append(screen.paint(told, "red"))
    return "\n".join(lines) + "\n"


def status_text(
    waiting: Sequence[Run], merged: Sequence[str], undone: Sequence[str], screen: Screen
) -> str:
    """Return the runs there are: those with a branch, and those that history tells of."""
    lines = []
    for run in waiting:
        style = "red" if run.state in {RunState.FAILED, RunState.INTERRUPTED} else "yellow"
        when = relative(run.begun.instant, screen.now) if run.begun.instant else ""
        state = screen.paint(run.state.value, style)
        lines.append(f"{screen.paint(run.run_id, 'bold')} {state} {screen.paint(when, 'dim')}")
        if run.phases:
            lines += flowing(headline(run.phases), screen, 2)
        if (command := way_on(run)) is not None:
            lines.append(screen.paint(f"  {command}", "dim"))
    if not any(run.waits for run in waiting):
        lines.append("no run waits")
    for what, names in (("merged", merged), ("taken back", undone)):
        if names:
            more = f" and {len(names) - 5} before" if len(names) > 5 else ""
            lines.append(screen.paint(f"{what}: {', '.join(names[-5:])}{more}", "dim"))
    return "\n".join(lines) + "\n"


def outlook_text(found: Outlook, screen: Screen) -> str:
    """Return what lies ahead of a run."""
    told = {
        "would-change": "a run would change something",
        "unknown": "a run has something to look at",
        "no-signal": "there is nothing for a run to do",
    }
    lines = [screen.paint(told[found.verdict], "bold")]
    lines += [f"  {signal.detail}" for signal in found.signals]
    if found.waiting:
        lines.append(f"not merged yet: {', '.join(found.waiting)}")
    return "\n".join(lines) + "\n"


def _phase_lines(phases: Iterable[PhaseDone], screen: Screen) -> list[str]:
    rows = []
    for phase in phases:
        counts = ", ".join(_counted(name, count) for name, count in phase.counts.items() if count)
        told = "; ".join(filter(None, (counts, printable(phase.detail or ""))))
        if phase.status != OK:
            word = screen.paint(phase.status, "red" if phase.status == FAILED else "yellow")
            told = f"{word}: {printable(phase.detail or '')}"
        rows.append((phase.phase, told or "nothing to do"))
    return columns(rows, indent=0, width=screen.width)


def _counted(name: str, count: int) -> str:
    """Return a count by its name in camelCase, as words.

    >>> _counted("tasksMinted", 3), _counted("tasksMinted", 1), _counted("byVotes", 1)
    ('3 tasks minted', '1 task minted', '1 by votes')
    """
    words = "".join(f" {char.lower()}" if char.isupper() else char for char in name).split()
    one = " ".join(_SINGULARS.get(word, word) for word in words)
    return plural(count, one, " ".join(words))


def _commit(commit: CommitReview, screen: Screen, *, everything: bool) -> Iterator[str]:
    what = commit.subject.partition("): ")[2] or commit.subject
    sha = screen.paint(commit.sha[:10], "yellow")
    yield f"{sha} {screen.paint(commit.phase, 'bold')} {printable(what)}"
    yield from _decided(commit.decisions, screen, everything=everything)
    if everything:
        for file in commit.files:
            yield from _file(file, screen)


def _decided(decisions: Sequence[Decision], screen: Screen, *, everything: bool) -> Iterator[str]:
    for kind, group in groupby(decisions, key=lambda decision: decision.kind):
        items = list(group)
        shown = items if everything else items[:_MOST_DECISIONS]
        for decision in shown:
            target = f" → {decision.other}" if decision.other else ""
            place = printable(f"{decision.path}{target}")
            yield f"  {screen.paint(kind, 'cyan')} {screen.paint(place, 'dim')}"
            yield from flowing(decision.why, screen, 4)
        if len(items) > len(shown):
            yield screen.paint(f"  … and {len(items) - len(shown)} more; --diff", "dim")


def _file(file: FileChange, screen: Screen) -> Iterator[str]:
    where = f"{file.from_path} → {file.path}" if file.from_path else file.path
    yield f"  {screen.paint(file.how, _HOW_STYLES.get(file.how, 'dim'))} {printable(where)}"
    if file.pieces:
        marks = {DiffKind.REMOVED: ("[-", "-]", "red"), DiffKind.ADDED: ("{+", "+}", "green")}
        words = []
        for piece in file.pieces:
            if piece.kind is DiffKind.SAME:
                words.append(printable(piece.text))
            else:
                left, right, style = marks[piece.kind]
                words.append(screen.paint(f"{left}{printable(piece.text)}{right}", style))
        yield f"    {' '.join(words)}"
    for change in file.head:
        sign, style = ("+", "green") if change.came else ("-", "red")
        yield screen.paint(f"    {sign} {change.name}: {printable(change.value)}", style)
