"""Finding sessions by what was said in them.

Every prompt and what agents said are searched, and titles. A session that has all that is asked
for, wherever in it, comes before and instead of those that have a part; only where none has all do
the others answer.
"""

from __future__ import annotations

import json
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

_WANTED = """
session_id IN (SELECT session_id FROM files GROUP BY session_id
  HAVING (?2 IS NULL OR max(cwd = ?2 AND agent_id IS NULL)) AND (?3 IS NULL OR max(agent = ?3))
    AND (?4 IS NULL OR min(started_at) >= ?4))
""".strip()
# The ranks are taken before the join: SQLite allows them only where the index is asked.
_HITS = """
WITH hits AS MATERIALIZED (SELECT rowid AS id, rank AS rank FROM words WHERE words MATCH ?1)
"""
_SAYING = f"""{_HITS}
SELECT f.session_id, min(h.rank) FROM hits AS h JOIN passages AS p ON p.id = h.id
JOIN files AS f ON f.id = p.file_id WHERE f.{_WANTED} GROUP BY f.session_id
"""  # noqa: S608 - our own words
_PLACES = f"""{_HITS}
SELECT f.session_id, p.role, f.path, p.line, p.at, p.agent_id, p.text FROM hits AS h
JOIN passages AS p ON p.id = h.id JOIN files AS f ON f.id = p.file_id
WHERE f.session_id IN (SELECT value FROM json_each(?2)) ORDER BY h.rank, p.id
"""  # noqa: S608 - as above
_NEWEST = f"""
SELECT f.session_id FROM files AS f WHERE ?1 IS NULL AND f.{_WANTED}
GROUP BY f.session_id ORDER BY coalesce(max(f.ended_at), max(f.started_at), '') DESC, f.session_id
LIMIT ?5
"""  # noqa: S608 - as above


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
    scores = dict[str, list[float]]()
    with base.guarded("search transcripts") as connection:
        for term in terms:
            for session_id, rank in connection.execute(_SAYING, (term, *filters)):
                scores.setdefault(session_id, []).append(rank)
        complete = [one for one, ranks in scores.items() if len(ranks) == len(terms)]
        ranked = sorted(complete or scores, key=lambda one: (_score(scores[one]), one))[:limit]
        matches = _matches(connection, ranked, terms)
    sessions = sessions_of(base, ranked)
    hits = tuple(FoundSession(one, tuple(matches[name])) for name, one in sessions.items())
    return TraceHits(hits, False, bool(hits) and not complete)


def _score(ranks: list[float]) -> tuple[int, float]:
    """Order sessions by how many terms they have, then by how well; ranks are negative."""
    return -len(ranks), sum(ranks)


def _matches(
    connection: apsw.Connection, sessions: list[str], terms: list[str]
) -> dict[str, list[Match]]:
    """Return the best places in each of *sessions*."""
    found = {one: list[Match]() for one in sessions}
    for session_id, *place, text in connection.execute(
        _PLACES, (" OR ".join(terms), json.dumps(sessions))
    ):
        if len(found[session_id]) < MATCHES_A_SESSION:
            role, path, line, at, agent_id = place
            excerpt = _excerpt(text, terms)
            found[session_id].append(Match(role, path, line, at, agent_id, excerpt))
    return found


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
