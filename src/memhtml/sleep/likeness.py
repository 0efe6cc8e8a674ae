"""How much memories are alike: one answer, whatever vectors the store has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.index.database import Index
    from memhtml.sleep.population import Population

__all__ = ["Likeness", "Pair", "likeness_of"]


class Pair(NamedTuple):
    """Two memories that are alike, the one whose path sorts first being *one*."""

    one: str
    other: str
    score: float
    """0 to 1. What a score means depends on the basis, so compare scores of one basis only."""
    basis: str
    """``dense``, ``sparse`` or ``shingles``."""


class Likeness(Protocol):
    """Likeness over one population."""

    @property
    def basis(self) -> str:
        """What scores rest on: ``dense``, ``sparse`` or ``shingles``, the best there is."""

    def pairs(
        self, paths: Iterable[str] | None = None, *, floor: float, top: int, limit: int
    ) -> list[Pair]:
        """Return the pairs among *paths* (None: all claims) that score *floor* or more, best first.

        Each memory brings its *top* nearest; at most *limit* pairs come back.
        """

    def nearest(self, path: str, among: Iterable[str], *, top: int) -> list[tuple[str, float]]:
        """Return the *top* memories of *among* most like the one at *path*, best first."""


def likeness_of(
    population: Population, index: Index | None = None, earlier: Likeness | None = None
) -> Likeness:
    """Return likeness over what is live in *population*, on the best basis that covers it.

    Dense vectors of *index* where nearly every memory has one, else its sparse rows, else the words
    of the memories (``shingles``), which need neither an index nor numpy. Nothing is compared
    before somebody asks. What *earlier*, the likeness of the population before a few changes, has
    worked out already is taken over.
    """
    from memhtml.sleep.likeness_tables import best_likeness  # noqa: PLC0415 - only a run needs it

    return best_likeness(population, index, earlier)
