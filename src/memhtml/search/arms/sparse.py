"""The sparse arm: the question's expansions against the postings of the sparse space.

No model is needed: a table says what a word asks about. Postings are scored in Python, up to a
budget, or with numpy where the process has loaded it anyway. What is encoded are texts, pieces of
bodies; a memory counts by its best one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from memhtml.index.vectors import find_space, posting_lengths, postings, text_limit
from memhtml.scoring.sparse import affordable, best, scores, scores_numpy, unpack_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from memhtml.index.vectors import Space
    from memhtml.model.ports import SparseQueries, SparseRow
    from memhtml.search.pool import Pool

__all__ = ["NAME", "Found", "find", "rows_of", "span_of", "usable_space"]

NAME = "sparse"

POSTINGS_BUDGET = 60_000
"""Read at most this many postings without numpy: some 6 ms."""

_OWNERS = "SELECT text_id, file_id FROM chunks WHERE text_id IN ({texts})"
_SPAN = """
SELECT start_char, end_char FROM chunks WHERE file_id = ? AND text_id = ? ORDER BY ordinal LIMIT 1
"""
# CROSS: SQLite keeps no statistics here, and would else read every row of the space.
_ROWS = """
SELECT c.file_id, d.terms, d.weights FROM chunks AS c
CROSS JOIN sp_doc AS d ON d.space_id = ? AND d.text_id = c.text_id
WHERE c.file_id IN ({ids}) ORDER BY c.file_id, c.ordinal
"""


class Found(NamedTuple):
    """A memory that the arm found."""

    score: int
    text_id: int
    """The text that scores so."""


def usable_space(connection: apsw.Connection, queries: SparseQueries | None) -> Space | None:
    """Return the space that *queries* asks in, if the index has rows of it."""
    space = None if queries is None else find_space(connection, "sparse", queries.space_id)
    return space if space is not None and space.covered else None


def find(pool: Pool, space: Space, query: Mapping[int, int], depth: int) -> dict[int, Found]:
    """Return the *depth* memories in *pool* that answer *query* best, best first.

    Of equal ones, the one with the lesser path is better.
    """
    if not query:
        return {}
    connection = pool.connection
    with_numpy = "numpy" in sys.modules
    if not with_numpy:
        lengths = posting_lengths(connection, space, list(query))
        query = affordable(query, lengths, POSTINGS_BUDGET)
    asked = ((query[term], post) for term, post in postings(connection, space, list(query)))
    totals = (scores_numpy if with_numpy else scores)(asked, text_limit(connection))
    wanted = depth + depth // 4
    while True:
        ranked = best(totals, wanted)
        found = _owned(pool, dict(ranked))
        # A narrow scope, or long memories with many texts each, may need a deeper look.
        if len(found) >= depth or len(ranked) < wanted:
            paths = pool.find(found)
            order = sorted(found, key=lambda n: (-found[n].score, paths[n].path))
            return {n: found[n] for n in order[:depth]}
        wanted *= 8


def span_of(connection: apsw.Connection, file_id: int, found: Found) -> tuple[int, int]:
    """Return where in the body of a memory the text begins and ends that it was found by."""
    ((start, end),) = connection.execute(_SPAN, (file_id, found.text_id))
    return start, end


def rows_of(
    connection: apsw.Connection, space: Space, ids: Iterable[int]
) -> dict[int, list[SparseRow]]:
    """Return the rows of each memory in order of its texts; memories without are left out."""
    found: dict[int, list[SparseRow]] = {}
    sql = _ROWS.format(ids=", ".join(map(str, ids)))
    for file_id, terms, weights in connection.execute(sql, (space.id,)):
        found.setdefault(file_id, []).append(unpack_row(terms, weights))
    return found


def _owned(pool: Pool, totals: Mapping[int, int]) -> dict[int, Found]:
    """Return the memories that have one of the texts of *totals*, which are best first."""
    owners: dict[int, list[int]] = {}
    sql = _OWNERS.format(texts=", ".join(map(str, totals)))
    for text_id, file_id in pool.connection.execute(sql):
        owners.setdefault(text_id, []).append(file_id)
    found: dict[int, Found] = {}
    for text_id, score in totals.items():
        for file_id in owners.get(text_id, ()):
            if file_id not in found:
                found[file_id] = Found(score, text_id)
    in_scope = pool.find(found)
    return {file_id: one for file_id, one in found.items() if file_id in in_scope}
