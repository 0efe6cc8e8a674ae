"""Memories like one that is there: by meaning where there are sparse rows, else by its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import InvalidFlag
from memhtml.scoring.sparse import cosine
from memhtml.search.arms import lexical, sparse
from memhtml.search.matching import match_terms
from memhtml.search.pool import Pool
from memhtml.search.scope import Scope, narrowed
from memhtml.search.state import file_id_of, ready
from memhtml.search.terms import terms_of

if TYPE_CHECKING:
    from memhtml.index.database import Index
    from memhtml.search.ranking import Means

__all__ = ["Similar", "similar"]

MAX_LIMIT = 100
_POOL_FACTOR = 5

_ITSELF = """
SELECT f.title, f.gist, substr(b.text, 1, 2000) FROM files AS f
JOIN bodies AS b ON b.file_id = f.id WHERE f.id = ?
"""
_FILES = "SELECT id, path, title, gist, memory_type FROM files WHERE id IN ({ids})"


class Similar(NamedTuple):
    """A memory like another."""

    path: str
    title: str
    gist: str
    memory_type: str
    likeness: float
    """0 to 1: the cosine of both by meaning, or else the part of the best score by words."""
    arm: str
    """What measured it: ``sparse`` or ``fts``."""


def similar(
    index: Index,
    path: str,
    scope: Scope | None = None,
    *,
    limit: int = 10,
    means: Means | None = None,
) -> tuple[Similar, ...]:
    """Return the memories in *scope* (default: active, no tasks) most like the one at *path*.

    Raises:
        IndexStale: There is no usable index; it has to be built first.
        InvalidFlag: *limit* is not between 1 and 100.
        PathNotFound: No memory stands at *path*.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidFlag(f"a limit of {limit} memories is not between 1 and {MAX_LIMIT}")
    with index.reading("look for similar memories") as connection:
        state = ready(index)
        itself = file_id_of(connection, path)
        within = narrowed(connection, scope or Scope())
        pool = Pool(connection, within._replace(sql=f"{within.sql} AND f.id <> {itself}"))
        queries = None if means is None else means.queries
        space = sparse.usable_space(connection, queries)
        rows = {} if space is None else sparse.rows_of(connection, space, [itself])
        if space is not None and itself in rows:
            own = rows[itself][0]
            query = dict(zip(own.terms, own.weights, strict=True))
            found = sparse.find(pool, space, query, _POOL_FACTOR * limit)
            others = sparse.rows_of(connection, space, found)
            scores = {n: max(cosine(own, row) for row in others[n]) for n in found}
            arm = sparse.NAME
        else:
            scores = _by_words(pool, itself, limit, state.files)
            arm = lexical.NAME
        sql = _FILES.format(ids=", ".join(map(str, scores)))
        files = {row[0]: row[1:] for row in connection.execute(sql)}
    ranked = sorted(scores, key=lambda n: (-scores[n], files[n][0]))[:limit]
    return tuple(Similar._make((*files[n], scores[n], arm)) for n in ranked)


def _by_words(pool: Pool, itself: int, limit: int, files: int) -> dict[int, float]:
    ((title, gist, body),) = pool.connection.execute(_ITSELF, (itself,))
    # Quotes in a text are no demand, so they go.
    text = f"{title} {gist} {body}".replace('"', " ")
    expression = match_terms(pool.connection, terms_of(text), files).expression
    if expression is None:
        return {}
    found = lexical.find(pool, expression, limit)
    best = max(found.values(), default=0.0)
    return {n: score / best for n, score in found.items()} if best > 0.0 else {}
