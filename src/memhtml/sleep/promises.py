"""What somebody in a session said they will do: a task to confirm, or the end of one.

Only what sleep opened itself and nobody has taken up is closed; a person's task is theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import AddMeta, SetMeta
from memhtml.model.instants import is_instant, stamp
from memhtml.model.paths import memory_path
from memhtml.model.vocabulary import TaskStatus
from memhtml.sleep.cues import due_of
from memhtml.sleep.detections import AUTHOR, DETECTED, MACHINE_CLOSED
from memhtml.sleep.known import is_same
from memhtml.sleep.phase import Decision, Finding, Proposal
from memhtml.store.archive import archiving
from memhtml.store.plan import Overlay
from memhtml.traces.candidates import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memhtml.sleep.phase import Context, Evidence
    from memhtml.sleep.population import Live
    from memhtml.store.plan import Step
    from memhtml.traces.contract import Commitment

__all__ = ["COMMITMENT", "FLOOR", "Promises", "read_promises"]

COMMITMENT = "trace-commitment"
"""The detector that these tasks name."""
FLOOR = 0.7
"""What is less certain opens and closes no task (sleep format §3)."""
BELOW_FLOOR = "commitment-below-floor"

_ASK = "Confirm whether this is still to do: "


class Promises(NamedTuple):
    """What commitments come to."""

    findings: tuple[Finding, ...]
    closing: Proposal | None
    marks: tuple[Mapping[str, str], ...]
    refused: tuple[Refused, ...]
    counts: Mapping[str, int]


def read_promises(
    commitments: Iterable[Commitment], context: Context, said_at: Mapping[str, str | None]
) -> Promises:
    """Return what *commitments* come to; *said_at* tells when each session was held."""
    tasks = [task for task in context.population.tasks if not task.archived]
    counts = {"commitments": 0, "belowFloor": 0, "knownTasks": 0, "closed": 0}
    findings: list[Finding] = []
    done: dict[str, tuple[Live, Commitment]] = {}
    marks: list[Mapping[str, str]] = []
    refused: list[Refused] = []
    for one in commitments:
        counts["commitments"] += 1
        same = [task for task in tasks if is_same(_asked(task), one.statement)]
        if one.actor == "other":
            refused.append(Refused("nobody in the session committed to it", one.statement))
        elif one.confidence < FLOOR:
            counts["belowFloor"] += 1
            marks.append(_below_floor(one, context))
        elif one.resolved:
            done |= {task.path: (task, one) for task in same if _is_untouched(task)}
        elif same:
            counts["knownTasks"] += 1
        else:
            at = said_at.get(one.evidence.session_id) or stamp(context.now)
            findings.append(_finding(one, at))
    closing = _closing(done.values(), context) if done else None
    counts["closed"] = len(closing.decisions) if closing else 0
    return Promises(tuple(findings), closing, tuple(marks), tuple(refused), counts)


def _asked(task: Live) -> Live:
    """Return *task* with what is to do as its claim, without our question around it."""
    what = task.gist.removeprefix(_ASK)
    return task._replace(gist=what, body=what, facets=())


def _is_untouched(task: Live) -> bool:
    return task.author == AUTHOR and DETECTED in task.tags and task.task_status == TaskStatus.TODO


def _finding(one: Commitment, at: str) -> Finding:
    return Finding(
        detector=COMMITMENT,
        key=f"{one.evidence.session_id}\n{one.evidence.quote}",
        claim=f"{_ASK}{one.statement}",
        paths=(),
        measured=_evidence(one),
        due=_due(one.due_hint or "", at),
    )


def _evidence(one: Commitment) -> Evidence:
    return (
        ("session", one.evidence.session_id),
        ("said by", one.actor),
        ("words", one.evidence.quote),
        ("line", one.evidence.line),
        ("confidence", round(one.confidence, 2)),
    )


def _due(hint: str, at: str) -> str | None:
    """Return the day that *hint*, said *at* that instant, means; None when it means none."""
    if is_instant(hint):
        return hint
    return due_of(f"We need to do it by {hint}.", at) if hint else None


def _below_floor(one: Commitment, context: Context) -> Mapping[str, str]:
    return {
        "kind": BELOW_FLOOR,
        "sessionId": one.evidence.session_id,
        "statement": one.statement,
        "confidence": f"{one.confidence:.2f}",
        "resolved": "true" if one.resolved else "false",
        "runId": context.run_id,
        "at": stamp(context.now),
    }


def _closing(done: Iterable[tuple[Live, Commitment]], context: Context) -> Proposal | None:
    view = Overlay(context.view)
    edits = (
        SetMeta("memhtml-task-status", TaskStatus.DONE),
        AddMeta("memhtml-tag", MACHINE_CLOSED),
    )
    steps: list[Step] = []
    decisions: list[Decision] = []
    for task, one in done:
        file = view.find(task.path)
        if file is None:
            continue
        place, moved = archiving(memory_path(task.path), file, view, now=context.now, edits=edits)
        view.add(moved)
        steps += moved
        why = "A session shows that it was done, and nobody had taken it up."
        decisions.append(Decision("task closed", task.path, why, place, _evidence(one)))
    if not decisions:
        return None
    return Proposal(
        subject=f"tasks: {len(decisions)} closed", steps=tuple(steps), decisions=tuple(decisions)
    )
