"""Confidence decay: what nobody looks at any more is believed a little less, down to a floor.

The curve is exponential towards 0.2 and a function of quiet days alone, so it has no memory of
nights: ten nights and one night after ten days end at the same point of it. A file states only
round values, multiples of the step: it is written anew when the curve has fallen to the next of
them, so a night on which nothing crossed one changes no file, and a missed night changes nothing at
all. News, a reading, or a good verdict holds the curve for a while; a live memory that supports
another holds it for good.

Once a file states a lower value, where on its curve it stands is no longer in the file. That is
kept in a committed ledger, a line for each file that was rewritten: the value and the moment from
which its curve is counted. A line changes only together with its file. It is found by the hash of
the content, so it survives a move, and it counts only as long as the file states what the ledger
says; whoever writes another confidence by hand has begun a new curve.

Only the one meta is edited: neither the article, nor its hash, nor any stamp (seed §3).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import SetMeta, apply_edits
from memhtml.model.instants import is_instant, stamp
from memhtml.model.plural import plural
from memhtml.model.vocabulary import Rel
from memhtml.search.days import days_between
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.sleep.quiet import last_stir
from memhtml.store.plan import Put

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memhtml.sleep.phase import Context
    from memhtml.sleep.population import Live
    from memhtml.store.plan import Step

__all__ = ["LEDGER", "NAME", "NEEDS", "confidence_at", "run"]

NAME = "confidence-decay"
NEEDS = ("preflight",)

LEDGER = ".memhtml/state/confidence.jsonl"

FLOOR = 0.2
"""Where the curve ends (sleep format §3): doubtful, and still there."""

_EPSILON = 1e-9
_HASH_DIGITS = 23
"""``sha256:`` and 16 digits: enough to tell the memories of one store apart."""


class _Curve(NamedTuple):
    """A line of the ledger: a curve, and where on it the file stands."""

    path: str
    content: str
    origin: float
    since: str
    """From when on *origin* sinks."""
    stated: str
    """What the file says."""


class _Drop(NamedTuple):
    memory: Live
    curve: _Curve
    quiet_days: float

    @property
    def depth(self) -> float:
        return self.memory.confidence - float(self.curve.stated)


def confidence_at(days: float, origin: float, half_life_days: float) -> float:
    """Return what *origin* has sunk to after *days*.

    >>> round(confidence_at(365, 0.9, 365), 3), confidence_at(-1, 0.9, 365)
    (0.55, 0.9)
    """
    if days <= 0 or origin <= FLOOR:
        return origin
    return FLOOR + (origin - FLOOR) * math.exp2(-days / half_life_days)


def run(context: Context) -> Outcome:
    """Propose one commit with the files whose confidence reached the next round value."""
    ledger = context.view.find(LEDGER)
    known = _read(ledger.data if ledger else b"")
    held = _supported(context)
    drops: list[_Drop] = []
    for memory in context.population.active:
        if memory.path not in held:
            drop = _drop(memory, known.get(memory.content_hash[:_HASH_DIGITS], ()), context)
            if drop is not None:
                drops.append(drop)
    most = max(context.settings.max_decays, len(context.population.active) // 100)
    drops.sort(key=lambda drop: (-drop.depth, drop.memory.path))
    drops, later = drops[:most], drops[most:]
    counts = {
        "memories": len(context.population.active),
        "held": len(held),
        "decayed": len(drops),
        "deferred": len(later),
    }
    if not drops:
        return Outcome(counts=counts)
    drops.sort(key=lambda drop: drop.memory.path)
    steps = [*_rewritten(drops, context)]
    data = _write(_merged(known, drops, context))
    steps.append(Put(LEDGER, data, ledger.sha if ledger else None))
    return Outcome(
        proposals=(
            Proposal(
                subject=plural(len(drops), "memory is", "memories are") + " believed less",
                steps=tuple(steps),
                decisions=tuple(map(_decision, drops)),
            ),
        ),
        counts=counts,
    )


def _supported(context: Context) -> set[str]:
    """Return the memories that a live one supports."""
    return {
        target
        for memory in context.population.active
        for rel, target in memory.links
        if rel == Rel.SUPPORTS
    } & context.population.by_path.keys()


def _drop(memory: Live, rows: Iterable[_Curve], context: Context) -> _Drop | None:
    settings = context.settings
    stated = f"{memory.confidence:.3f}"
    if memory.confidence - settings.confidence_step < FLOOR:
        return None
    stirred = last_stir(memory, context.usage.get(memory.path))
    row = next((row for row in rows if row.stated == stated), None)
    if row is None and any(True for _ in rows):
        # Somebody wrote another value by hand, and when is told by no other stamp.
        stirred = max(stirred, memory.updated_at)
    now = stamp(context.now)
    if row is not None and row.since >= stirred:
        since, origin = row.since, row.origin
    else:
        since, origin = stirred, memory.confidence
    days = days_between(since, now) - settings.confidence_hold_days
    reached = confidence_at(days, origin, settings.confidence_half_life_days)
    steps = math.ceil(reached / settings.confidence_step - _EPSILON)
    rounded = steps * settings.confidence_step
    if memory.confidence - rounded < settings.confidence_step - _EPSILON:
        return None
    content = memory.content_hash[:_HASH_DIGITS]
    curve = _Curve(memory.path, content, origin, since, f"{rounded:.3f}")
    return _Drop(memory, curve, days_between(stirred, now))


def _rewritten(drops: Iterable[_Drop], context: Context) -> Iterable[Step]:
    for drop in drops:
        file = context.view.find(drop.memory.path)
        if file is not None:
            edit = SetMeta("memhtml-confidence", drop.curve.stated)
            yield Put(drop.memory.path, apply_edits(file.data, (edit,)), file.sha)


def _decision(drop: _Drop) -> Decision:
    return Decision(
        kind="decayed",
        path=drop.memory.path,
        why=f"Nobody has used or renewed it for {drop.quiet_days:.0f} days, so its confidence "
        f"goes from {drop.memory.confidence:.3f} to {drop.curve.stated}.",
        evidence=(
            ("quietDays", round(drop.quiet_days, 1)),
            ("from", drop.memory.confidence),
            ("to", float(drop.curve.stated)),
        ),
    )


def _read(data: bytes) -> dict[str, list[_Curve]]:
    """Return the lines of a ledger by content; what is no line of ours is left out."""
    found: dict[str, list[_Curve]] = {}
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
            curve = _Curve(
                str(row["path"]),
                str(row["content"]),
                float(row["origin"]),
                str(row["since"]),
                str(row["stated"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        if is_instant(curve.since) and 0 <= curve.origin <= 1:
            found.setdefault(curve.content, []).append(curve)
    return found


def _merged(
    known: Mapping[str, list[_Curve]], drops: Iterable[_Drop], context: Context
) -> dict[str, _Curve]:
    """Return the lines that count from now on, by path; those of memories that are gone go."""
    places = {memory.path: memory.content_hash for memory in context.population.active}
    moved: dict[str, str] = {}
    for path, content in places.items():
        moved.setdefault(content[:_HASH_DIGITS], path)
    lines: dict[str, _Curve] = {}
    for rows in known.values():
        for row in rows:
            is_there = places.get(row.path, "")[:_HASH_DIGITS] == row.content
            place = row.path if is_there else moved.get(row.content)
            if place is not None:
                lines[place] = row._replace(path=place)
    lines |= {drop.memory.path: drop.curve for drop in drops}
    return lines


def _write(lines: Mapping[str, _Curve]) -> bytes:
    rows = (
        json.dumps(lines[path]._asdict(), ensure_ascii=False, separators=(",", ":"))
        for path in sorted(lines)
    )
    return b"".join(row.encode("utf-8", "backslashreplace") + b"\n" for row in rows)
