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

    from memhtml.index.database import Index
    from memhtml.index.vectors import Space
    from memhtml.model.ports import SparseQueries, SparseRow
    from memhtml.search.scope import Condition

__all__ = ["NAME", "Found", "find", "rows_of", "space_name", "usable_space"]

NAME = "sparse"

POSTINGS_BUDGET = 60_000
"""Read at most this many postings without numpy: some 6 ms."""

_NAME = "SELECT name FROM spaces WHERE kind = 'sparse' AND covered > 0"
_OWNERS = """
SELECT c.text_id, c.file_id, f.path, c.start_char, c.end_char
FROM chunks AS c JOIN files AS f ON f.id = c.file_id
WHERE c.text_id IN ({texts}) AND {scope}
"""
_ROWS = """
SELECT c.file_id, d.terms, d.weights FROM chunks AS c
JOIN sp_doc AS d ON d.space_id = ? AND d.text_id = c.text_id
WHERE c.file_id IN ({ids}) ORDER BY c.file_id, c.ordinal
"""


class Found(NamedTuple):
    """A memory that the arm found."""

    score: int
    path: str
    start_char: int
    """Where in the body the text begins that scores so."""
    end_char: int


def space_name(index: Index) -> str | None:
    """Return the name of the sparse space that *index* has rows of, if any."""
    with index.guarded("look for vectors"):
        found = index.connection.execute(_NAME).fetchone()
    return found and found[0]


def usable_space(connection: apsw.Connection, queries: SparseQueries | None) -> Space | None:
    """Return the space that *queries* asks in, if the index has rows of it."""
    space = None if queries is None else find_space(connection, "sparse", queries.space_id)
    return space if space is not None and space.covered else None


def find(
    connection: apsw.Connection,
    space: Space,
    query: Mapping[int, int],
    within: Condition,
    depth: int,
) -> dict[int, Found]:
    """Return the *depth* memories within a condition that answer *query* best, best first."""
    if not query:
        return {}
    with_numpy = "numpy" in sys.modules
    if not with_numpy:
        lengths = posting_lengths(connection, space, list(query))
        query = affordable(query, lengths, POSTINGS_BUDGET)
    asked = ((query[term], post) for term, post in postings(connection, space, list(query)))
    totals = (scores_numpy if with_numpy else scores)(asked, text_limit(connection))
    wanted = 2 * depth
    while True:
        ranked = best(totals, wanted)
        found = _owned(connection, dict(ranked), within)
        # A narrow scope, or long memories with many texts each, may need a deeper look.
        if len(found) >= depth or len(ranked) < wanted:
            return dict(sorted(found.items(), key=_by_score_then_path)[:depth])
        wanted *= 16


def rows_of(
    connection: apsw.Connection, space: Space, ids: Iterable[int]
) -> dict[int, list[SparseRow]]:
    """Return the rows of each memory in order of its texts; memories without are left out."""
    found: dict[int, list[SparseRow]] = {}
    sql = _ROWS.format(ids=", ".join(map(str, ids)))
    for file_id, terms, weights in connection.execute(sql, (space.id,)):
        found.setdefault(file_id, []).append(unpack_row(terms, weights))
    return found


def _owned(
    connection: apsw.Connection,
    totals: Mapping[int, int],
    within: Condition,
) -> dict[int, Found]:
    found: dict[int, Found] = {}
    sql = _OWNERS.format(texts=", ".join(map(str, totals)), scope=within.sql)
    for text_id, file_id, path, start, end in connection.execute(sql, within.values):
        score = totals[text_id]
        if file_id not in found or score > found[file_id].score:
            found[file_id] = Found(score, path, start, end)
    return found


def _by_score_then_path(item: tuple[int, Found]) -> tuple[int, str]:
    return -item[1].score, item[1].path
