"""Retention triage: what is worth little and was quiet for long goes to the archive.

Low worth alone archives nothing: a short note scores low on the day it is written. It has to have
been quiet for as long as the settings say, and nothing may protect it: its importance, a pin,
questions that it answers, other memories that lean on it (sleep format §9.19). And it goes few at a
time, the least worthy first, so that a person can still look at each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.model.paths import memory_path
from memhtml.model.plural import plural
from memhtml.scoring.retention import Band
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.sleep.standing import Protections, graph_of, standings
from memhtml.store.archive import archiving
from memhtml.store.plan import Overlay

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memhtml.sleep.phase import Context
    from memhtml.sleep.population import Live
    from memhtml.sleep.standing import Standing
    from memhtml.store.plan import Step

__all__ = ["NAME", "NEEDS", "run"]

NAME = "retention-triage"
NEEDS = ("preflight", "dedup-merge")


def run(context: Context) -> Outcome:
    """Propose one commit that archives what nobody will miss."""
    found = standings(context, graph_of(context))
    protections = Protections(context)
    counts = {"scored": len(found)}
    for band in Band:
        counts[band.value] = sum(standing.band is band for standing in found.values())
    chosen: list[Live] = []
    young = protected = 0
    for memory in context.population.claims:
        standing = found[memory.path]
        if standing.band is not Band.EVICT:
            continue
        if standing.quiet_days < context.settings.evict_after_days:
            young += 1
        elif protections.find(memory) is not None:
            protected += 1
        else:
            chosen.append(memory)
    chosen.sort(key=lambda memory: (found[memory.path].score, memory.path))
    deferred = chosen[context.settings.max_evictions :]
    steps, decisions = _archived(chosen[: context.settings.max_evictions], found, context)
    counts |= {
        "evicted": len(decisions),
        "protected": protected,
        "young": young,
        "deferred": len(deferred),
    }
    if not decisions:
        return Outcome(counts=counts)
    proposal = Proposal(
        subject=f"archive {plural(len(decisions), 'memory', 'memories')} out of use",
        steps=tuple(steps),
        decisions=tuple(decisions),
    )
    return Outcome(proposals=(proposal,), counts=counts)


def _archived(
    chosen: Iterable[Live], found: Mapping[str, Standing], context: Context
) -> tuple[list[Step], list[Decision]]:
    view = Overlay(context.view)
    steps: list[Step] = []
    decisions: list[Decision] = []
    for memory in chosen:
        file = view.find(memory.path)
        if file is not None:
            place, moved = archiving(memory_path(memory.path), file, view, now=context.now)
            view.add(moved)
            steps += moved
            decisions.append(_decision(memory, found[memory.path], place))
    return steps, decisions


def _decision(memory: Live, standing: Standing, place: str) -> Decision:
    uses = standing.uses
    used = f"opened {uses.accesses} times" if uses.accesses else "never opened"
    return Decision(
        kind="archived",
        path=memory.path,
        other=place,
        why=f"It was {used}, has been quiet for {standing.quiet_days:.0f} days, and is worth "
        f"{standing.score:g} on a scale to 1; what is worth 0.3 or less goes.",
        evidence=(
            ("score", standing.score),
            ("quietDays", round(standing.quiet_days, 1)),
            ("accesses", uses.accesses),
            ("confidence", memory.confidence),
            ("importance", memory.importance),
            ("rank", round(uses.rank, 4)),
            ("bridges", uses.bridges),
            ("supportedBy", uses.reinforcements),
            ("contradictedBy", uses.contradictions),
            ("words", uses.words),
        ),
    )
