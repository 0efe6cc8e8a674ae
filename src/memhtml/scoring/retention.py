"""Retention: how much a memory is worth keeping at hand, from eight signals (sleep format §4).

What a kind of memory is kept for differs: an event fades within days, a procedure never does but
has to be used. So the weights are a table by type, each row summing to 1, and the half-life of
recency is one of its columns.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Band", "Signals", "Uses", "Weights", "band_of", "retention", "signals_of", "weights_of"]


class Uses(NamedTuple):
    """What is known of one memory."""

    age_days: float
    """Since it was last news or last used."""
    accesses: int = 0
    confidence: float = 1.0
    rank: float = 0.0
    """Its page rank as a share of the highest there is."""
    bridges: int = 0
    reinforcements: int = 0
    words: int = 0
    contradictions: int = 0


class Signals(NamedTuple):
    """Each from 0 to 1; the more, the better worth keeping."""

    recency: float
    access_frequency: float
    confidence: float
    pagerank: float
    bridge_importance: float
    reinforcement: float
    content_density: float
    contested: float
    """1 for a memory that nothing contradicts."""


class Weights(NamedTuple):
    """What each signal counts, and how fast recency fades."""

    signals: Signals
    half_life_days: float | None
    """None: it does not fade."""


class Band(StrEnum):
    """What becomes of a memory; each boundary belongs to the lower band."""

    KEEP = "keep"
    COMPRESS = "compress"
    EVICT = "evict"


KEEP_ABOVE = 0.7
COMPRESS_ABOVE = 0.3

_OTHERS = Signals(0.15, 0.15, 0.15, 0.15, 0.10, 0.10, 0.10, 0.10)
_WEIGHTS = {
    MemoryType.EPISODIC: Weights(Signals(0.25, 0.15, 0.10, 0.10, 0.10, 0.10, 0.10, 0.10), 10.0),
    MemoryType.SEMANTIC: Weights(Signals(0.05, 0.15, 0.20, 0.20, 0.15, 0.10, 0.10, 0.05), 90.0),
    MemoryType.PROCEDURAL: Weights(Signals(0.0, 0.20, 0.15, 0.15, 0.10, 0.20, 0.10, 0.10), None),
    MemoryType.ARC: Weights(Signals(0.10, 0.10, 0.15, 0.15, 0.15, 0.15, 0.10, 0.10), 30.0),
    MemoryType.ERROR_PATTERN: Weights(
        Signals(0.20, 0.15, 0.10, 0.05, 0.05, 0.20, 0.10, 0.15), 14.0
    ),
    MemoryType.TASK: Weights(_OTHERS, None),
}
_DEFAULT = Weights(_OTHERS, 30.0)


def weights_of(memory_type: str) -> Weights:
    """Return what counts for a memory of that type.

    >>> weights_of("episodic").half_life_days, weights_of("verdict").half_life_days
    (10.0, 30.0)
    """
    return _WEIGHTS.get(MemoryType(memory_type), _DEFAULT)


def signals_of(uses: Uses, half_life_days: float | None) -> Signals:
    """Return the signals of a memory.

    >>> signals_of(Uses(age_days=90, accesses=5, words=5), 90).recency
    0.5
    """
    if half_life_days is None or uses.age_days <= 0:
        recency = 1.0
    else:
        recency = math.exp(-math.log(2) * uses.age_days / half_life_days)
    # Under ten words there is hardly a fact, so the value falls with the square.
    words = uses.words
    density = words * words / 1000 if words < 10 else min(1.0, words / 100)
    return Signals(
        recency=recency,
        access_frequency=min(1.0, uses.accesses / 10),
        confidence=min(1.0, max(0.0, uses.confidence)),
        pagerank=min(1.0, max(0.0, uses.rank)),
        bridge_importance=min(1.0, uses.bridges / 5),
        reinforcement=min(1.0, uses.reinforcements / 5),
        content_density=density,
        contested=1.0 - min(1.0, uses.contradictions / 3),
    )


def retention(memory_type: str, uses: Uses) -> float:
    """Return how much a memory is worth keeping at hand: 0 to 1, four decimals.

    >>> retention("semantic", Uses(age_days=0, accesses=10, confidence=1, rank=1, words=100))
    0.75
    """
    weights = weights_of(memory_type)
    signals = signals_of(uses, weights.half_life_days)
    total = _compensated(w * s for w, s in zip(weights.signals, signals, strict=True))
    return math.floor(total * 10_000 + 0.5) / 10_000


def band_of(score: float) -> Band:
    """Return the band of a *score*.

    >>> band_of(0.7001), band_of(0.7), band_of(0.3)
    (<Band.KEEP: 'keep'>, <Band.COMPRESS: 'compress'>, <Band.EVICT: 'evict'>)
    """
    if score > KEEP_ABOVE:
        return Band.KEEP
    return Band.COMPRESS if score > COMPRESS_ABOVE else Band.EVICT


def _compensated(terms: Iterable[float]) -> float:
    """Return the sum after Neumaier: what rounding loses is carried beside it.

    The last decimal decides a band, so the sum may not depend on the order of the terms.
    """
    total = lost = 0.0
    for term in terms:
        after = total + term
        larger, smaller = (total, term) if abs(total) >= abs(term) else (term, total)
        lost += (larger - after) + smaller
        total = after
    return total + lost
