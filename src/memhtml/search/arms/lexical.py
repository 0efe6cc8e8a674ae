"""The lexical arm: bm25 over weighted columns of the full-text table.

A common word is in a large part of all memories, and looking every one of them up to see whether it
is in scope costs more than scoring it. So the best are taken first, and only those looked up; where
too few of them are in scope to be sure of the rest, every match is asked after all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

    from memhtml.search.pool import Pool

__all__ = ["NAME", "find", "matches_any"]

NAME = "fts"

SPARE = 50
"""So many more than wanted are looked up: archived memories and tasks are out of most scopes."""

# Weights of title, claim, facets, names, aliases, body. The body holds the claim and the facets
# too, so theirs are what these places add.
_SCORE = "-bm25(files_fts, 2.0, 1.0, 1.0, 1.5, 1.5, 1.0)"
_BEST = f"""
SELECT rowid, {_SCORE} AS score FROM files_fts WHERE files_fts MATCH ? ORDER BY score DESC LIMIT ?
"""  # noqa: S608 - ours
_RANKED = f"""
SELECT f.id, {_SCORE} AS score
FROM files_fts JOIN files AS f ON f.id = files_fts.rowid
WHERE files_fts MATCH ? AND {{scope}}
ORDER BY score DESC, f.path
LIMIT ?
"""  # noqa: S608 - ours
_MATCHES_ANY = "SELECT EXISTS (SELECT 1 FROM files_fts WHERE files_fts MATCH ?)"


def find(pool: Pool, expression: str, depth: int) -> dict[int, float]:
    """Return the *depth* best matches of an FTS5 *expression* in *pool*, best first.

    Of equal ones, the one with the lesser path is better.
    """
    limit = depth + SPARE
    best = dict(pool.connection.execute(_BEST, (expression, limit)))
    found = pool.find(best)
    if len(best) == limit:
        # Equals of the last may have been cut off, so only what is better than it is certain.
        last = min(best.values())
        if sum(best[n] > last for n in found) < depth:
            sql = _RANKED.format(scope=pool.within.sql)
            return dict(pool.connection.execute(sql, (expression, *pool.within.values, depth)))
    order = sorted(found, key=lambda n: (-best[n], found[n].path))[:depth]
    return {n: best[n] for n in order}


def matches_any(connection: apsw.Connection, expression: str) -> bool:
    """Whether any memory matches, in or out of scope."""
    ((found,),) = connection.execute(_MATCHES_ANY, (expression,))
    return bool(found)
