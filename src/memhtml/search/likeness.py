"""How alike two candidates are: by meaning where both have sparse rows, else by their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.scoring.diversity import overlap, shingles
from memhtml.scoring.sparse import cosines

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from memhtml.search.ranking import Ranking

__all__ = ["Likeness"]

_TEXTS = "SELECT file_id, substr(text, 1, 300) FROM bodies WHERE file_id IN ({ids})"


class Likeness:
    """How like the others out of a fixed set of candidates are to one of them, 0 to 1."""

    def __init__(self, connection: apsw.Connection, ranking: Ranking, ids: Sequence[int]) -> None:
        rows = ranking.sparse_rows(ids)
        meant = [file_id for file_id in ids if rows.get(file_id)]
        self._places = {file_id: place for place, file_id in enumerate(meant)}
        # The first text has the title and the claim, and most memories have no other.
        self._cosines = cosines([rows[file_id][0] for file_id in meant])
        bare = [file_id for file_id in ids if file_id not in self._places]
        self._shingles = {
            file_id: shingles(text.casefold().split(), 2)
            for file_id, text in connection.execute(_TEXTS.format(ids=", ".join(map(str, bare))))
        }

    def __call__(self, one: int, others: Sequence[int]) -> list[float]:
        """Return how like each of *others* is to *one*; different kinds cannot be compared."""
        if one in self._places:
            line, places = self._cosines[self._places[one]], self._places
            return [line[places[n]] if n in places else 0.0 for n in others]
        mine, theirs = self._shingles[one], self._shingles
        return [overlap(mine, theirs[n]) if n in theirs else 0.0 for n in others]
