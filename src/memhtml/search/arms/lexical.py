"""The lexical arm: bm25 over weighted columns of the full-text table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

    from memhtml.search.scope import Condition

__all__ = ["NAME", "find", "matches_any"]

NAME = "fts"

# Weights of title, claim, facets, names, aliases, body. The body holds the claim and the facets
# too, so theirs are what these places add.
_RANKED = """
SELECT f.id, -bm25(files_fts, 2.0, 1.0, 1.0, 1.5, 1.5, 1.0) AS score
FROM files_fts JOIN files AS f ON f.id = files_fts.rowid
WHERE files_fts MATCH ? AND {scope}
ORDER BY score DESC, f.path
LIMIT ?
"""
_MATCHES_ANY = "SELECT EXISTS (SELECT 1 FROM files_fts WHERE files_fts MATCH ?)"


def find(
    connection: apsw.Connection,
    expression: str,
    within: Condition,
    depth: int,
) -> dict[int, float]:
    """Return the *depth* best matches of an FTS5 *expression* within a condition, best first."""
    sql = _RANKED.format(scope=within.sql)
    return dict(connection.execute(sql, (expression, *within.values, depth)))


def matches_any(connection: apsw.Connection, expression: str) -> bool:
    """Whether any memory matches, in or out of scope."""
    ((found,),) = connection.execute(_MATCHES_ANY, (expression,))
    return bool(found)
