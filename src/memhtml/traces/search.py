"""Finding sessions by what was said in them.

Every prompt and what agents said are searched, and titles. A session that has all that is asked
for, wherever in it, comes before and instead of those that have a part; only where none has all do
the others answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.traces.sessions import sessions_of
from memhtml.traces.words import terms_of

if TYPE_CHECKING:
    import apsw

    from memhtml.traces.database import TraceBase
    from memhtml.traces.sessions import Session

__all__ = ["MAX_LIMIT", "FoundSession", "Match", "TraceHits", "search"]

MAX_LIMIT = 200
MATCHES_A_SESSION = 3
EXCERPT_CHARS = 160

_FILTERS = "(?2 IS NULL OR f.cwd = ?2) AND (?3 IS NULL OR f.agent = ?3)"
_STARTED = """
session_id IN (SELECT session_id FROM files GROUP BY session_id HAVING ?4 IS NULL
  OR min(started_at) >= ?4)
"""
# The ranks are taken before the join: SQLite allows them only where the index is asked.
_SAID = f"""
WITH hits AS MATERIALIZED (SELECT rowid AS id, rank AS rank FROM words WHERE words MATCH ?1)
SELECT f.session_id, p.id, h.rank FROM hits AS h JOIN passages AS p ON p.id = h.id
JOIN files AS f ON f.id = p.file_id WHERE {_FILTERS} AND f.{_STARTED.strip()}
"""  # noqa: S608 - our own words
_NEWEST = f"""
SELECT f.session_id FROM files AS f WHERE ?1 IS NULL AND {_FILTERS} AND f.{_STARTED.strip()}
GROUP BY f.session_id ORDER BY coalesce(max(f.ended_at), max(f.started_at), '') DESC, f.session_id
LIMIT ?5
"""  # noqa: S608 - as above
_PASSAGE = """
SELECT p.role, f.path, p.line, p.at, p.agent_id, p.text FROM passages AS p
JOIN files AS f ON f.id = p.file_id WHERE p.id = ?
"""


class Match(NamedTuple):
    """A place at which a session says something that was asked for."""

    role: str
    """``user``, ``assistant`` or ``title``."""
    path: str
    line: int
    at: str | None
    agent_id: str | None
    excerpt: str


class FoundSession(NamedTuple):
    """A session that was found, and where in it."""

    session: Session
    matches: tuple[Match, ...]


class TraceHits(NamedTuple):
    """What a search found."""

    sessions: tuple[FoundSession, ...]
    degraded: bool
    """Nothing was asked for, so these are the newest."""
    is_partial: bool
    """None has all that was asked for, so these have some of it."""


def search(
    base: TraceBase,
    query: str,
    *,
    cwd: str | None = None,
    since: str | None = None,
    agent: str | None = None,
    limit: int = 20,
) -> TraceHits:
    """Return the sessions that best answer *query*, at most *limit*.

    *cwd* is the folder a session was in, exactly; *agent* names a layout; *since* is the earliest
    start, a date or instant.
    """
    terms = terms_of(query)
    filters = (cwd, agent, since)
    if not terms:
        with base.guarded("list sessions") as connection:
            newest = [one for (one,) in connection.execute(_NEWEST, (None, *filters, limit))]
        found = sessions_of(base, newest).values()
        return TraceHits(tuple(FoundSession(one, ()) for one in found), True, False)
    scores = dict[str, dict[str, float]]()
    places = dict[str, dict[int, float]]()
    with base.guarded("search transcripts") as connection:
        for term in terms:
            for session_id, passage, rank in connection.execute(_SAID, (term, *filters)):
                best = scores.setdefault(session_id, {})
                best[term] = min(best.get(term, 0.0), rank)
                ranks = places.setdefault(session_id, {})
                ranks[passage] = ranks.get(passage, 0.0) + rank
        complete = [one for one, best in scores.items() if len(best) == len(terms)]
        ranked = sorted(complete or scores, key=lambda one: (_score(scores[one]), one))[:limit]
        matches = {one: _matches(connection, places[one], terms) for one in ranked}
    sessions = sessions_of(base, ranked)
    hits = tuple(FoundSession(session, matches[one]) for one, session in sessions.items())
    return TraceHits(hits, False, bool(hits) and not complete)


def _score(best: dict[str, float]) -> tuple[int, float]:
    """Order sessions by how many terms they have, then by how well; ranks are negative."""
    return -len(best), sum(best.values())


def _matches(
    connection: apsw.Connection, places: dict[int, float], terms: list[str]
) -> tuple[Match, ...]:
    chosen = sorted(places, key=lambda one: (places[one], one))[:MATCHES_A_SESSION]
    rows = (row for passage in chosen for row in connection.execute(_PASSAGE, (passage,)))
    return tuple(
        Match(role, path, line, at, agent_id, _excerpt(text, terms))
        for role, path, line, at, agent_id, text in rows
    )


def _excerpt(text: str, terms: list[str]) -> str:
    """Return the part of *text* around the first thing that was asked for."""
    # Folding may move a place by a few characters, which an excerpt can bear.
    folded = text.casefold()
    words = (term.strip('"').split()[0] for term in terms)
    spot = min((one for word in words if (one := folded.find(word)) >= 0), default=0)
    start = max(0, spot - EXCERPT_CHARS // 4)
    start = text.rfind(" ", 0, start) + 1 if start else 0
    cut = text[start : start + EXCERPT_CHARS]
    return ("… " if start else "") + cut + (" …" if start + EXCERPT_CHARS < len(text) else "")
