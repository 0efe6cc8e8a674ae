"""Which known name a misspelt one probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(word: str, known: Iterable[str], *, most: int = 3) -> tuple[str, ...]:
    """Return up to *most* of *known*, closest first, that are near enough to *word* to propose.

    Near enough is an edit distance of at most half the word's length, rounded up, but never
    less than 2. Equally near names keep the order of *known*.

    >>> nearest("serach", ["search", "read", "write"])
    ('search',)
    """
    limit = max(2, -(-len(word) // 2))
    ranked = sorted(
        ((_distance(word, name), place, name) for place, name in enumerate(known)),
    )
    return tuple(name for distance, _, name in ranked if distance <= limit)[:most]


def _distance(a: str, b: str) -> int:
    """Levenshtein distance, one row at a time."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (left != right))
    return row[-1]
