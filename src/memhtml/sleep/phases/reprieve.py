"""Reprieve: what is past the end of its validity gets two more weeks while it is used, or goes.

A few times at most, and counted in the file. Nothing else of it is touched: that a term was
extended is no news of the fact.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import SetMeta, apply_edits
from memhtml.model.instants import stamp
from memhtml.model.paths import memory_path
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.sleep.quiet import is_pinned, quiet_days
from memhtml.store.archive import archiving
from memhtml.store.plan import Overlay, Put

if TYPE_CHECKING:
    from memhtml.index.usage import Usage
    from memhtml.sleep.phase import Context
    from memhtml.sleep.population import Live
    from memhtml.store.plan import Step

__all__ = ["NAME", "NEEDS", "Merit", "merit_of", "run"]

NAME = "reprieve"
NEEDS = ("preflight",)

# Sleep format §3.
EXTENSION_DAYS = 14
MOST_REPRIEVES = 3
SPARED_FROM = 0.5
_FADE_AN_HOUR = 0.01


class Merit(NamedTuple):
    """Why a memory past its term may stay, each part weighed."""

    importance: float
    use: float
    outcome: float
    recency: float

    @property
    def score(self) -> float:
        """The sum; use has no upper bound."""
        return math.fsum(self)


def merit_of(importance: int, usage: Usage | None, quiet_hours: float) -> Merit:
    """Return the merit of a memory.

    >>> round(merit_of(10, None, 0).score, 3), round(merit_of(5, None, 10_000).score, 3)
    (0.5, 0.2)
    """
    accesses, outcome = (usage.access_count, usage.outcome_score) if usage else (0, 0.0)
    return Merit(
        importance=0.4 * importance / 10,
        use=0.3 * math.log1p(accesses),
        outcome=0.2 * max(0.0, outcome),
        recency=0.1 * math.exp(-_FADE_AN_HOUR * max(0.0, quiet_hours)),
    )


def run(context: Context) -> Outcome:
    """Propose one commit that extends or archives every claim whose term is over."""
    now = stamp(context.now)
    until = stamp(context.now + timedelta(days=EXTENSION_DAYS))[:10]
    view = Overlay(context.view)
    steps: list[Step] = []
    decisions: list[Decision] = []
    counts = {"expired": 0, "reprieved": 0, "archived": 0, "pinned": 0}
    for memory in context.population.claims:
        if memory.valid_until is None or not _is_over(memory.valid_until, now):
            continue
        counts["expired"] += 1
        file = view.find(memory.path)
        if file is None:
            continue
        usage = context.usage.get(memory.path)
        merit = merit_of(
            memory.importance, usage, 24 * quiet_days(memory, context.usage, context.now)
        )
        is_spared = merit.score >= SPARED_FROM and memory.reprieves < MOST_REPRIEVES
        if is_spared:
            edits = (
                SetMeta("memhtml-valid-until", until),
                SetMeta("memhtml-reprieves", str(memory.reprieves + 1)),
            )
            made: list[Step] = [Put(memory.path, apply_edits(file.data, edits), file.sha)]
            decision = _spared(memory, merit, until)
            counts["reprieved"] += 1
        elif is_pinned(memory):
            counts["pinned"] += 1
            continue
        else:
            place, made = archiving(memory_path(memory.path), file, view, now=context.now)
            decision = _archived(memory, merit, place)
            counts["archived"] += 1
        view.add(made)
        steps += made
        decisions.append(decision)
    if not decisions:
        return Outcome(counts=counts)
    proposal = Proposal(
        subject=f"{counts['reprieved']} extended, {counts['archived']} archived past their term",
        steps=tuple(steps),
        decisions=tuple(decisions),
    )
    return Outcome(proposals=(proposal,), counts=counts)


def _is_over(valid_until: str, now: str) -> bool:
    # A date stands for its first moment, here as in every comparison of times as strings.
    return valid_until <= now


def _spared(memory: Live, merit: Merit, until: str) -> Decision:
    return Decision(
        kind="reprieved",
        path=memory.path,
        why=f"Its term ended on {memory.valid_until}, and it is still of use, so it holds until "
        f"{until}; this is reprieve {memory.reprieves + 1} of {MOST_REPRIEVES}.",
        evidence=_evidence(memory, merit),
    )


def _archived(memory: Live, merit: Merit, place: str) -> Decision:
    if memory.reprieves >= MOST_REPRIEVES and merit.score >= SPARED_FROM:
        reason = f"it was reprieved {memory.reprieves} times, which is the most"
    else:
        reason = f"its merit is {merit.score:.2f}, and {SPARED_FROM} would keep it"
    return Decision(
        kind="archived",
        path=memory.path,
        other=place,
        why=f"Its term ended on {memory.valid_until}, and {reason}.",
        evidence=_evidence(memory, merit),
    )


def _evidence(memory: Live, merit: Merit) -> tuple[tuple[str, str | float], ...]:
    parts = ((name, round(value, 4)) for name, value in merit._asdict().items())
    return (
        ("validUntil", memory.valid_until or ""),
        ("reprieves", memory.reprieves),
        ("merit", round(merit.score, 4)),
        *parts,
    )
