"""Fusion: the scores of several arms as one.

Scores are added, not ranks. Each arm is divided by its own best score, so that the best hit of
every arm counts its weight whatever unit the arm measures in, and the distance between a clear
first and a weak second survives. An arm that found nothing adds nothing.

The weights were chosen on 760 questions over 2,760 short memories. By nDCG@10: bm25 alone 0.504,
with the sparse arm 0.560, with neighbours 0.576 (`bench/retrieval.py` measures them again);
reciprocal rank fusion of the same two arms gave 0.554, and 1.6 points less recall@10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "DENSE_WEIGHT",
    "LEXICAL_WEIGHT",
    "NEIGHBOUR_SHARE",
    "NUDGE_LIMIT",
    "SPARSE_WEIGHT",
    "boosted",
    "fused",
    "nudged",
    "ranked",
    "scaled",
]

LEXICAL_WEIGHT = 1.0
SPARSE_WEIGHT = 1.5
DENSE_WEIGHT = 2.0
NEIGHBOUR_SHARE = 0.2
"""What a memory gains from the better of its neighbours. Higher was worse."""
NUDGE_LIMIT = 0.05
"""The most that all signals which do not read the question may add together."""


class _Ordered(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...  # noqa: ANN401 - ints and strs take their own kind


Key = TypeVar("Key", bound=_Ordered)
"""What a memory is called here: a path or a row id. Ties are broken by it, ascending."""


def scaled(scores: Mapping[Key, float], weight: float = 1.0) -> dict[Key, float]:
    """Return *scores* divided by the best of them, times *weight*.

    What scored zero or less did not match, and is left out.

    >>> scaled({"a": 8.0, "b": 2.0, "c": 0.0}, 1.5)
    {'a': 1.5, 'b': 0.375}
    """
    best = max(scores.values(), default=0.0)
    if best <= 0.0:
        return {}
    return {key: weight * (score / best) for key, score in scores.items() if score > 0.0}


def fused(arms: Iterable[Mapping[Key, float]]) -> dict[Key, float]:
    """Return the sum of *arms* (already scaled), in the order in which keys first appear.

    >>> fused([{"a": 1.0, "b": 0.5}, {"b": 1.5}])
    {'a': 1.0, 'b': 2.0}
    """
    total: dict[Key, float] = {}
    for arm in arms:
        for key, score in arm.items():
            total[key] = total.get(key, 0.0) + score
    return total


def boosted(
    scores: Mapping[Key, float],
    neighbours: Callable[[Key], Iterable[Key]],
    share: float = NEIGHBOUR_SHARE,
) -> dict[Key, float]:
    """Return *scores* where each memory also has *share* of its best neighbour's score.

    *neighbours* names the memories beside one (the one before and after in its session) and must
    be symmetric. A neighbour that matched nothing itself enters with its share. Shares are of the
    scores given, so a boost never travels further than one step.

    >>> boosted({2: 1.0, 3: 0.5}, lambda n: (n - 1, n + 1), share=0.2)
    {2: 1.1, 3: 0.7, 1: 0.2, 4: 0.1}
    """
    total = dict(scores)
    best: dict[Key, float] = {}
    for key, score in scores.items():
        for other in neighbours(key):
            if score > best.get(other, 0.0):
                best[other] = score
    for key, score in best.items():
        total[key] = total.get(key, 0.0) + share * score
    return total


def nudged(score: float, signals: Iterable[tuple[float, float]]) -> float:
    """Return *score* raised by *signals*: pairs of a weight and a value, both in ``[0, 1]``.

    Signals (how recent, how often used) do not read the question, so they multiply, and together
    add `NUDGE_LIMIT` at most: they order what is about equal, cannot lift a memory that did
    not match, and cannot push out one that clearly did.

    >>> nudged(2.0, [(0.03, 1.0), (0.02, 0.5)])
    2.08
    >>> nudged(0.0, [(0.03, 1.0)])
    0.0
    """
    rise = sum(weight * min(max(value, 0.0), 1.0) for weight, value in signals)
    return score * (1.0 + min(rise, NUDGE_LIMIT))


def ranked(scores: Mapping[Key, float], limit: int | None = None) -> list[tuple[Key, float]]:
    """Return keys and scores, best first, equal scores by key; *limit* of them at most.

    >>> ranked({"b": 1.0, "a": 1.0, "c": 3.0}, 2)
    [('c', 3.0), ('a', 1.0)]
    """
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
