"""Relationship mining: which memories are about the same, for grouping and for whoever asks.

Mined relations are kept nowhere. They follow from the memories alone, so a table of them, in the
index or in a committed file, could only be stale: after a write, a merge or a new model. What they
serve is asked for when it is needed: the phases that group memories ask `Likeness`, which finds
each memory's nearest once a run, and people ask ``memhtml similar``, which does so for one memory.
So this phase proposes nothing; it finds the pairs before the others need them, and counts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.sleep.phase import Outcome

if TYPE_CHECKING:
    from memhtml.sleep.phase import Context

__all__ = ["LATERAL_FLOORS", "NAME", "NEEDS", "RELATED_FLOORS", "run"]

NAME = "relationship-mining"
NEEDS = ("preflight",)

RELATED_FLOORS = {"dense": 0.85, "sparse": 0.6, "shingles": 0.5}
"""From here on two memories are related (sleep format §3 for dense vectors)."""
LATERAL_FLOORS = {"dense": 0.72, "sparse": 0.45, "shingles": 0.35}
"""From here on they touch, which only a deep run looks at."""

_TOP = 5
_MOST_RELATED = 2000
_MOST_LATERAL = 10_000


def run(context: Context) -> Outcome:
    """Count the related pairs, and in a deep run those that touch."""
    basis = context.likeness.basis
    floor = (LATERAL_FLOORS if context.deep else RELATED_FLOORS)[basis]
    limit = _MOST_RELATED + (_MOST_LATERAL if context.deep else 0)
    pairs = context.likeness.pairs(floor=floor, top=_TOP, limit=limit)
    related = sum(pair.score >= RELATED_FLOORS[basis] for pair in pairs)
    by_path = context.population.by_path
    linked = sum(
        any(to == pair.other for _, to in by_path[pair.one].links)
        or any(to == pair.one for _, to in by_path[pair.other].links)
        for pair in pairs
    )
    return Outcome(
        counts={"related": related, "lateral": len(pairs) - related, "linkedAlready": linked}
    )
