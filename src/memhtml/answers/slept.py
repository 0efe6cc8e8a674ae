"""What sleep answers: runs, what they did, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import (
    STRING,
    choice,
    integer,
    items,
    mapping,
    maybe,
    number,
    record,
    switch,
    text,
)
from memhtml.model.history import DiffKind
from memhtml.sleep.journal import FAILED, OK, SKIPPED
from memhtml.sleep.review import How
from memhtml.sleep.runs import RunState

if TYPE_CHECKING:
    from memhtml.answers.schema import Schema
    from memhtml.sleep.journal import PhaseDone
    from memhtml.sleep.merge import Merged, Undone
    from memhtml.sleep.outlook import Outlook
    from memhtml.sleep.phase import Decision
    from memhtml.sleep.review import CommitReview, FileChange, Review
    from memhtml.sleep.runner import Report
    from memhtml.sleep.runs import Run

__all__ = [
    "DROPPED",
    "MERGED",
    "OUTLOOK",
    "REPORT",
    "REVIEW",
    "RUNS",
    "UNDONE",
    "dropped",
    "merged",
    "outlook",
    "report",
    "review",
    "runs",
    "undone",
]

_RUN_ID = text("Name of the run, which is that of its branch.", example="sleep/2026-08-02")

_DECISION = record(
    "One thing that was decided.",
    {
        "kind": text("What was done, in a word.", example="merged"),
        "path": text("The memory it was done to, as it was called before."),
        "other": maybe(text("The memory it was merged into, linked to or moved to.")),
        "why": text("Why, in a sentence."),
        "evidence": {
            "type": "object",
            "description": "What it rests on, by name.",
            "additionalProperties": {"type": ["string", "number"]},
        },
    },
)

_PHASE = record(
    "A phase.",
    {
        "phase": text("Its name."),
        "status": choice("What became of it.", (OK, FAILED, SKIPPED)),
        "counts": mapping("What it counted.", {"type": "integer"}),
        "commits": items("The commits it made.", STRING),
        "llm_calls": integer("Calls of the language model."),
        "llm_tokens": integer("Tokens that went in and out of it."),
        "seconds": number("How long it took."),
        "detail": maybe(text("What else there is to know, such as why it failed.")),
    },
)


def _phase(done: PhaseDone) -> dict[str, Any]:
    return {
        "phase": done.phase,
        "status": done.status,
        "counts": dict(done.counts),
        "commits": [commit.sha for commit in done.commits],
        "llm_calls": done.calls,
        "llm_tokens": done.tokens,
        "seconds": done.seconds,
        "detail": done.detail,
    }


def _decision(decision: Decision) -> dict[str, Any]:
    return {**decision._asdict(), "evidence": dict(decision.evidence)}


REPORT: Schema = record(
    "What a run did.",
    {
        "run_id": _RUN_ID,
        "branch": maybe(text("Its branch; null when nothing was found to do, or in a dry run.")),
        "base_sha": text("The commit it started from."),
        "head_sha": text("Its last commit."),
        "dry_run": switch("It was only shown."),
        "phases": items("What became of each phase, in order.", _PHASE),
        "failed_phases": items("Those that failed.", STRING),
        "llm_calls": integer("Calls of the language model, in all."),
        "commits": items(
            "The commits, in order.",
            record(
                "A commit.",
                {
                    "sha": text("The commit; in a dry run, of a clone that is gone."),
                    "phase": text("The phase that made it."),
                    "subject": text("What it says."),
                    "decisions": items("What it does, and why.", _DECISION),
                },
            ),
        ),
        "reaped": items("Runs whose branch was deleted, and whose leftovers are gone.", STRING),
    },
)


def report(done: Report) -> dict[str, Any]:
    """Return `REPORT`."""
    has_branch = not done.dry_run and bool(done.commits or done.failed)
    return {
        "run_id": done.run_id,
        "branch": done.run_id if has_branch else None,
        "base_sha": done.base,
        "head_sha": done.tip,
        "dry_run": done.dry_run,
        "phases": [_phase(phase) for phase in done.phases],
        "failed_phases": [*done.failed],
        "llm_calls": sum(phase.calls for phase in done.phases),
        "commits": [
            {
                "sha": commit.sha,
                "phase": phase.phase,
                "subject": commit.subject,
                "decisions": [_decision(each) for each in commit.decisions],
            }
            for phase in done.phases
            for commit in phase.commits
        ],
        "reaped": [*done.reaped],
    }


_RUN = record(
    "A run.",
    {
        "run_id": _RUN_ID,
        "state": choice("How it stands.", RunState),
        "base_sha": text("The commit it started from."),
        "head_sha": text("Its last commit; for a merged run, HEAD."),
        "instant": text("The one instant of the run."),
        "model": maybe(text("The language model it asked.")),
        "phases": items("What became of each phase.", _PHASE),
    },
)


def _run(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "state": run.state,
        "base_sha": run.base,
        "head_sha": run.tip,
        "instant": run.begun.instant,
        "model": run.begun.model,
        "phases": [_phase(phase) for phase in run.phases],
    }


RUNS: Schema = record(
    "The runs of a store.",
    {
        "waiting": items("Those that have a branch, the newest last.", _RUN),
        "merged": items("Names of those that were merged, the newest last.", STRING),
        "undone": items("Names of those that were merged and taken back.", STRING),
    },
)


def runs(waiting: list[Run], merged: list[str], undone: list[str]) -> dict[str, Any]:
    """Return `RUNS`."""
    return {"waiting": [_run(run) for run in waiting], "merged": merged, "undone": undone}


_FILE = record(
    "What a commit did to a file.",
    {
        "path": text("Where it is; where it was, if it is gone."),
        "classification": choice("What became of it.", How),
        "from_path": maybe(text("Where it was before.")),
        "title": text("Its title."),
        "claim": text("What it says."),
        "words": items(
            "Its words before and after, where they differ.",
            record(
                "A run of words.",
                {
                    "kind": choice("Whether they stayed, came or went.", DiffKind),
                    "text": text("The words."),
                },
            ),
        ),
        "head": items(
            "What its head says otherwise.",
            record(
                "A statement.",
                {
                    "name": text("Its name."),
                    "value": text("Its value."),
                    "added": switch("It came; false: it went."),
                },
            ),
        ),
    },
)


def _file(file: FileChange) -> dict[str, Any]:
    return {
        "path": file.path,
        "classification": file.how,
        "from_path": file.from_path,
        "title": file.title,
        "claim": file.claim,
        "words": [{"kind": piece.kind, "text": piece.text} for piece in file.pieces],
        "head": [{"name": h.name, "value": h.value, "added": h.came} for h in file.head],
    }


def _commit(commit: CommitReview) -> dict[str, Any]:
    return {
        "sha": commit.sha,
        "phase": commit.phase,
        "subject": commit.subject,
        "decisions": [_decision(each) for each in commit.decisions],
        "files": [_file(file) for file in commit.files],
    }


REVIEW: Schema = record(
    "What a run did, commit by commit.",
    {
        "run": _RUN,
        "branch": _RUN_ID,
        "commits": items(
            "Its commits, in order, its report left out.",
            record(
                "A commit.",
                {
                    "sha": text("The commit."),
                    "phase": text("The phase that made it."),
                    "subject": text("What it says."),
                    "decisions": items("What it does, and why.", _DECISION),
                    "files": items("What it did to each file.", _FILE),
                },
            ),
        ),
        "counts": mapping("How many files became what.", {"type": "integer"}),
        "page": maybe(text("The page that was written.")),
    },
)


def review(found: Review, page: str | None = None) -> dict[str, Any]:
    """Return `REVIEW`."""
    return {
        "run": _run(found.run),
        "branch": found.run.run_id,
        "commits": [_commit(commit) for commit in found.commits],
        "counts": {how.value: count for how in How if (count := found.count(how))},
        "page": page,
    }


MERGED: Schema = record(
    "What a merge did.",
    {
        "run_id": _RUN_ID,
        "merged": switch("This call merged it."),
        "already_merged": switch("It was merged before; nothing was done."),
        "head_sha": maybe(text("The merge; null when nothing was done.")),
        "left_out": items("Commits of the run that were not taken.", STRING),
        "merged_paths": items("Files that both sides had changed.", STRING),
        "probes": maybe(integer("Questions that the gate asked; null when it was skipped.")),
        "marks_applied": integer("What took effect outside of the tree."),
        "trouble": maybe(text("What failed after the run was in, which it stays.")),
    },
)


def merged(done: Merged) -> dict[str, Any]:
    """Return `MERGED`."""
    return {
        "run_id": done.run_id,
        "merged": done.is_news,
        "already_merged": not done.is_news,
        "head_sha": done.commit,
        "left_out": [*done.left_out],
        "merged_paths": [*done.merged_paths],
        "probes": done.verdict.probes if done.verdict else None,
        "marks_applied": len(done.marks),
        "trouble": done.trouble,
    }


UNDONE: Schema = record(
    "What an undo did.",
    {
        "run_id": _RUN_ID,
        "commit_sha": text("The commit that takes it back."),
        "paths": items("Files that are as they were before.", STRING),
    },
)


def undone(done: Undone) -> dict[str, Any]:
    """Return `UNDONE`."""
    return {"run_id": done.run_id, "commit_sha": done.commit, "paths": [*done.paths]}


DROPPED: Schema = record(
    "A run that was thrown away.",
    {
        "run_id": _RUN_ID,
        "state": choice("How it stood.", RunState),
        "head_sha": text("Its last commit, which git keeps for a while."),
    },
)


def dropped(run: Run) -> dict[str, Any]:
    """Return `DROPPED`."""
    return {"run_id": run.run_id, "state": run.state, "head_sha": run.tip}


OUTLOOK: Schema = record(
    "What a run would have to look at.",
    {
        "verdict": choice(
            "Whether a run is worth while.", ("would-change", "unknown", "no-signal")
        ),
        "signals": items(
            "What is known to be there.",
            record(
                "A signal.",
                {
                    "name": text("What it is."),
                    "phases": items("The phases it is for.", STRING),
                    "count": integer("How many."),
                    "detail": text("The same in words."),
                },
            ),
        ),
        "last_run": maybe(_RUN_ID),
        "waiting": items("Runs that wait for review.", STRING),
        "indexed_commit": maybe(text("The commit that this describes.")),
    },
)


def outlook(found: Outlook) -> dict[str, Any]:
    """Return `OUTLOOK`."""
    return {
        "verdict": found.verdict,
        "signals": [
            {"name": s.name, "phases": [*s.phases], "count": s.found, "detail": s.detail}
            for s in found.signals
        ],
        "last_run": found.last_run,
        "waiting": [*found.waiting],
        "indexed_commit": found.indexed_commit,
    }
