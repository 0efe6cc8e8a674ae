"""How much memories are alike: one answer, whatever vectors the store has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Likeness", "Pair"]


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
