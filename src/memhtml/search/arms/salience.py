"""Salience: of two memories that answer about equally well, the one that proved useful is first.

Use is counted, but an opening long ago counts for little: the count decays as a whole from the last
time that the memory was opened, and saturates, so no number of openings outweighs a judgement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from memhtml.search.days import days_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["NAME", "WEIGHT", "Usage", "UsageReader", "value"]

NAME = "salience"
WEIGHT = 0.02
HALF_LIFE_DAYS = 30.0


class Usage(Protocol):
    """How a memory was used."""

    @property
    def access_count(self) -> int:
        """How often it was opened."""

    @property
    def outcome_score(self) -> float:
        """-1 to 1: how it served."""

    @property
    def last_accessed_at(self) -> str | None:
        """When it was opened last."""


class UsageReader(Protocol):
    """Tells how memories were used; paths never used are left out."""

    def __call__(self, paths: Sequence[str], /) -> Mapping[str, Usage]:
        """Return the usage of *paths*."""


def value(usage: Usage, now: str) -> float:
    """Return 0 to 1: half for being opened often and of late, half for having served well."""
    opened = 0.0
    if usage.last_accessed_at is not None:
        age = max(days_between(usage.last_accessed_at, now), 0.0)
        opened = usage.access_count * 0.5 ** (age / HALF_LIFE_DAYS)
    # Ten openings of late give nine tenths of what openings can.
    return 0.5 * opened / (opened + 1.0) + 0.5 * max(usage.outcome_score, 0.0)
