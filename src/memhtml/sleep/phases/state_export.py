"""State export: the committed copy of usage, so that it travels with the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.usage import USAGE_PATH
from memhtml.index.sidecar import exported, imported
from memhtml.model.plural import plural
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.store.plan import Put

if TYPE_CHECKING:
    from memhtml.index.usage import Usage
    from memhtml.sleep.phase import Context

__all__ = ["NAME", "NEEDS", "run"]

NAME = "state-export"
NEEDS = ("preflight",)


def run(context: Context) -> Outcome:
    """Propose the copy, if it says something else than the one there is."""
    there = context.view.find(USAGE_PATH)
    before = dict(imported(there.data)) if there else {}
    rows = _rows(context, before)
    data = exported(sorted(rows.items()))
    counts = {"rows": len(rows)}
    if data == (there.data if there else b""):
        return Outcome(counts=counts)
    decision = Decision(
        kind="exported",
        path=USAGE_PATH,
        why=f"It says how {plural(len(rows), 'memory is', 'memories are')} used.",
        evidence=(("rows", len(rows)), ("before", len(before))),
    )
    put = Put(USAGE_PATH, data, there.sha if there else None)
    proposal = Proposal(
        subject=f"usage of {plural(len(rows), 'memory', 'memories')}",
        steps=(put,),
        decisions=(decision,),
    )
    return Outcome(proposals=(proposal,), counts=counts)


def _rows(context: Context, before: dict[str, Usage]) -> dict[str, Usage]:
    """Return the usage of every memory there is.

    What the run itself has archived is still counted under the old path, here and in the copy.
    """
    by_path = context.population.by_path
    rows = {path: usage for path, usage in context.usage.items() if path in by_path}
    for memory in context.population:
        old = memory.origin_path
        if old is None or old in by_path or memory.path in rows:
            continue
        usage = context.usage.get(old) or before.get(old)
        if usage is not None:
            rows[memory.path] = usage
    return rows
