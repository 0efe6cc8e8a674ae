"""How alike two candidates are: by meaning where both have sparse rows, else by their words."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from memhtml.scoring.diversity import overlap, shingles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from memhtml.search.ranking import Ranking

__all__ = ["Likeness"]

_TEXTS = "SELECT file_id, substr(text, 1, 300) FROM bodies WHERE file_id IN ({ids})"


class Likeness:
    """Likeness of pairs out of a fixed set of candidates, 0 to 1."""

    def __init__(self, connection: apsw.Connection, ranking: Ranking, ids: Sequence[int]) -> None:
        self._vectors: dict[int, tuple[Mapping[int, int], float]] = {}
        for file_id, rows in ranking.sparse_rows(ids).items():
            if rows:
                # The first text has the title and the claim, and most memories have no other.
                vector = dict(zip(rows[0].terms, rows[0].weights, strict=True))
                length = sqrt(sum(weight * weight for weight in rows[0].weights))
                self._vectors[file_id] = (vector, length)
        bare = [file_id for file_id in ids if file_id not in self._vectors]
        self._shingles = {
            file_id: shingles(text.casefold().split(), 2)
            for file_id, text in connection.execute(_TEXTS.format(ids=", ".join(map(str, bare))))
        }

    def __call__(self, left: int, right: int) -> float:
        """Return how alike *left* and *right* are; of different kinds they cannot be compared."""
        if left in self._vectors and right in self._vectors:
            (a, a_length), (b, b_length) = self._vectors[left], self._vectors[right]
            common = sum(a[term] * b[term] for term in a.keys() & b.keys())
            return common / (a_length * b_length) if common else 0.0
        if left in self._shingles and right in self._shingles:
            return overlap(self._shingles[left], self._shingles[right])
        return 0.0
