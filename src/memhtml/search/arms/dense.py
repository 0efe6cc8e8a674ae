"""The dense arm: the cosine of the question and of each text, a memory counting by its best one.

Where the sparse arm has found what is meant, cosines only judge: of the best of each other arm,
each gets its own. That loses nothing against looking at all vectors, and reads a hundred of them.
Without a sparse arm nothing else finds a memory that says it in other words, so all are looked at.

A cosine is an absolute measure, so it counts as it is and is not divided by the best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.index.vectors import dense_pages, dense_vectors, find_space
from memhtml.scoring.vectors import matrix, nearest, unit_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw
    from numpy import float32
    from numpy.typing import NDArray

    from memhtml.index.vectors import Space
    from memhtml.model.ports import DenseEncoder
    from memhtml.search.pool import Pool

__all__ = ["JUDGED", "NAME", "DenseQuestions", "find", "judged", "usable_space"]

NAME = "dense"

JUDGED = 50
"""So many of the best of each other arm get a cosine."""

LEAST = 0.2
"""A lower cosine is no find: any two texts have one, and unrelated ones of up to about so much."""

_TEXTS = "SELECT text_id, file_id FROM chunks WHERE file_id IN ({ids})"
_OWNERS = "SELECT text_id, file_id FROM chunks WHERE text_id IN ({texts})"


class DenseQuestions:
    """The question side of a dense space, and its vectors as far as a process keeps them."""

    def __init__(self, encoder: DenseEncoder) -> None:
        self.space_id = encoder.space_id
        self.dims = encoder.dims
        self._encoder = encoder
        self._kept: tuple[tuple[object, ...], list[int], NDArray[float32]] | None = None

    def vector(self, text: str) -> NDArray[float32]:
        """Return the unit vector of a question.

        Raises:
            ModelUnavailable: The model could not answer.
        """
        answer = self._encoder.encode([text], "query")
        row: NDArray[float32] = unit_rows(answer, 1, self.dims, model=self.space_id)[0]
        return row

    def vectors(
        self, connection: apsw.Connection, space: Space
    ) -> tuple[Sequence[int], NDArray[float32]]:
        """Return the texts of *space* in order, and their vectors; kept until the index changes."""
        # The first counts what other connections did to the file, the second what this one did.
        key = (connection, connection.pragma("data_version"), connection.total_changes(), space)
        kept = self._kept
        if kept is None or kept[0] != key:
            kept = self._kept = None  # before as many are read again
            texts, pages = dense_pages(connection, space)
            kept = self._kept = key, texts, matrix(pages, space.dims or 1)
        return kept[1:]


def usable_space(connection: apsw.Connection, questions: DenseQuestions | None) -> Space | None:
    """Return the space that *questions* asks in, if the index has rows of it."""
    if questions is None:
        return None
    space = find_space(connection, "dense", questions.space_id)
    is_usable = space is not None and space.covered and space.dims == questions.dims
    return space if is_usable else None


def judged(
    connection: apsw.Connection, space: Space, vector: NDArray[float32], ids: Iterable[int]
) -> dict[int, float]:
    """Return the cosine with a question of those of *ids* that have rows, best first."""
    listed = ", ".join(map(str, ids))
    owned = list(connection.execute(_TEXTS.format(ids=listed)))
    rows = dense_vectors(connection, space, [text_id for text_id, _ in owned])
    cosines = matrix(rows.values(), space.dims or 1) @ vector
    return _best_first(owned, dict(zip(rows, cosines.tolist(), strict=True)))


def find(
    pool: Pool, space: Space, questions: DenseQuestions, vector: NDArray[float32], depth: int
) -> dict[int, float]:
    """Return the *depth* memories in *pool* with the highest cosines, best first.

    None is below `LEAST`.
    """
    texts, rows = questions.vectors(pool.connection, space)
    wanted = depth + depth // 4
    while True:
        best = nearest(rows, vector, wanted)
        cosines = {texts[row]: cosine for row, cosine in best if cosine >= LEAST}
        listed = ", ".join(map(str, cosines))
        owned = list(pool.connection.execute(_OWNERS.format(texts=listed)))
        in_scope = pool.find({file_id for _, file_id in owned})
        # A narrow scope, or long memories with many texts each, may need a deeper look.
        if len(in_scope) >= depth or len(cosines) < wanted:
            found = _best_first([pair for pair in owned if pair[1] in in_scope], cosines)
            return dict(list(found.items())[:depth])
        wanted *= 8


def _best_first(owned: Iterable[tuple[int, int]], cosines: Mapping[int, float]) -> dict[int, float]:
    """Return the best cosine of each memory; *owned* are texts, each with a memory that has it."""
    found: dict[int, float] = {}
    for text_id, file_id in owned:
        if (cosine := cosines.get(text_id)) is not None:
            found[file_id] = max(cosine, found.get(file_id, cosine))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
