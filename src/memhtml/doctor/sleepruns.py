"""Runs of sleep that nobody came back to.

A run keeps its journal in the git directory, beside its working tree. One whose process died says
no end there; one that waits for review holds a branch that moves away from the store day by day.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memhtml.doctor.finding import Finding
from memhtml.model.errors import Busy
from memhtml.model.instants import stamp
from memhtml.model.shell import quoted
from memhtml.search.days import days_between
from memhtml.store.branches import Branches
from memhtml.store.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.corpus import Corpus

__all__ = ["WAITING_DAYS", "forgotten_runs"]

WAITING_DAYS = 14


class _Journal(NamedTuple):
    base: str = ""
    instant: str = ""
    has_ended: bool = False


def forgotten_runs(corpus: Corpus) -> Iterator[Finding]:
    """Yield the runs that were interrupted, and those that have waited for long."""
    top = Path(corpus.repo.where.common, "memhtml", "sleep")
    if not top.is_dir():
        return
    branches = Branches(corpus.root)
    try:
        tips = branches.tips("sleep")
    finally:
        branches.close()
    head = corpus.repo.head()
    for run_id, tip in sorted(tips.items()):
        folder = top / run_id.replace("/", "-")
        journal = _read(folder / "journal.jsonl")
        # A journal that is lost leaves it to the branch, which a review can still show.
        if journal is None or _is_worked_on(folder / "lock"):
            continue
        if head is not None and tip != journal.base and corpus.repo.is_ancestor(tip, head):
            continue
        name = quoted(run_id)
        if not journal.has_ended:
            yield Finding(
                code="sleep-run-interrupted",
                message=f"{run_id} was interrupted; it can go on, or be thrown away with "
                f"memhtml sleep drop {name}",
                hint=f"memhtml sleep resume {name}",
            )
            continue
        days = days_between(journal.instant, stamp(corpus.now()))
        if days > WAITING_DAYS:
            yield Finding(
                code="sleep-run-interrupted",
                message=f"{run_id} has waited for review for {days:.0f} days; it can still be "
                f"merged, or be thrown away with memhtml sleep drop {name}",
                hint=f"memhtml sleep review {name}",
            )


def _read(path: Path) -> _Journal | None:
    """Return what the journal at *path* says; None where it says nothing of a beginning."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found: _Journal | None = None
    for line in text.split("\n"):
        try:
            said = json.loads(line)
            if said["kind"] == "begun":
                found = _Journal(str(said["base"]), str(said["instant"]))
            elif said["kind"] == "ended" and found is not None:
                found = found._replace(has_ended=True)
        except (ValueError, KeyError, TypeError):
            # A process that was killed may have left half a line.
            continue
    return found


def _is_worked_on(path: Path) -> bool:
    if not path.exists():
        return False
    lock = Lock(str(path), wait_seconds=0)
    try:
        lock.acquire()
    except Busy:
        return True
    lock.release()
    return False
