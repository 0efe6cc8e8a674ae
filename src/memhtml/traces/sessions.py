"""Sessions: what the files of each say together, and which of them wait for consolidation.

A session's own transcript says what it was about; its subagents add to what it counts. Where a
transcript moved (an agent's archive), what is known of the old place counts no longer.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.instants import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    import apsw

    from memhtml.traces.database import TraceBase

__all__ = [
    "MIN_DUE_BYTES",
    "SETTLE_SECONDS",
    "Session",
    "Transcript",
    "count_sessions",
    "due_sessions",
    "find_sessions",
    "mark_consolidated",
    "sessions_of",
]

MIN_DUE_BYTES = 8192
"""A shorter session has said too little."""

SETTLE_SECONDS = 3600.0
"""A session that was written to within an hour may still go on."""

_FILES = """
SELECT id, path, agent, root, session_id, agent_id, slug, size, mtime_ns, byte_off, lines, cwd,
  branch, entrypoint, version, title, first_prompt, started_at, ended_at, turns, missing
FROM files WHERE session_id = ? ORDER BY missing, agent_id IS NOT NULL, path
"""
_PROMPTS = """
SELECT count(DISTINCT coalesce(prompt_id, turn_uuid, line)) FROM passages
WHERE file_id = ? AND role = 'user'
"""
_MODELS = "SELECT model, turns FROM models WHERE file_id = ?"
_AGENTS = "SELECT DISTINCT agent_id FROM passages WHERE file_id = ? AND agent_id IS NOT NULL"
_DUE = """
SELECT f.session_id, max(f.mtime_ns) AS latest FROM files AS f
LEFT JOIN consolidations AS c ON c.session_id = f.session_id
WHERE f.missing = 0 GROUP BY f.session_id
HAVING sum(f.size) >= ?1 AND latest <= ?2
  AND (c.session_id IS NULL OR latest > 1000000000 * unixepoch(c.consolidated_at))
ORDER BY latest DESC, f.session_id LIMIT ?3
"""
_MARK = """
INSERT OR REPLACE INTO consolidations (session_id, run_id, consolidated_at) VALUES (?, ?, ?)
"""


class Transcript(NamedTuple):
    """One file of a session, as it was when it was scanned last."""

    file_id: int
    path: str
    agent: str
    root: str
    session_id: str
    agent_id: str | None
    """Of a subagent; None for the session's own transcript."""
    slug: str
    size: int
    mtime_ns: int
    offset: int
    """So far it was read."""
    lines: int
    cwd: str | None
    branch: str | None
    entrypoint: str | None
    version: str | None
    title: str | None
    first_prompt: str | None
    started_at: str | None
    ended_at: str | None
    turns: int
    missing: int


class Session(NamedTuple):
    """A session, from all its files."""

    session_id: str
    agent: str
    slug: str
    path: str
    """Of its own transcript, or of a subagent's where that was never seen."""
    cwd: str | None
    branch: str | None
    entrypoint: str | None
    version: str | None
    model: str | None
    """The one that answered most."""
    title: str | None
    first_prompt: str
    started_at: str | None
    ended_at: str | None
    prompts: int
    turns: int
    agents: int
    """Subagents that took part."""
    size: int
    mtime_ns: int
    is_missing: bool
    """Its transcript is gone from disk."""
    transcripts: tuple[Transcript, ...]


def sessions_of(base: TraceBase, session_ids: Iterable[str]) -> dict[str, Session]:
    """Return those of *session_ids* that are known, in the order in which they are asked for."""
    with base.guarded("look up sessions") as connection:
        found = ((one, _session(connection, one)) for one in dict.fromkeys(session_ids))
        return {one: session for one, session in found if session is not None}


def count_sessions(base: TraceBase) -> int:
    """Return how many sessions are known."""
    with base.guarded("count sessions") as connection:
        ((count,),) = connection.execute("SELECT count(DISTINCT session_id) FROM files")
    return int(count)


def find_sessions(base: TraceBase, prefix: str, *, limit: int = 10) -> list[str]:
    """Return at most *limit* ids of sessions that begin with *prefix*, sorted."""
    sql = """
    SELECT DISTINCT session_id FROM files WHERE substr(session_id, 1, length(?1)) = ?1
    ORDER BY session_id LIMIT ?2
    """
    with base.guarded("look for a session") as connection:
        return [str(one) for (one,) in connection.execute(sql, (prefix, limit))]


def due_sessions(
    base: TraceBase,
    now: datetime,
    *,
    min_bytes: int = MIN_DUE_BYTES,
    settle_seconds: float = SETTLE_SECONDS,
    limit: int = 10,
) -> list[Session]:
    """Return sessions that nobody consolidated as they are now, those written to last first.

    Left out are sessions of less than *min_bytes*, those written to within *settle_seconds* before
    *now*, and those whose transcripts are gone. One that went on after it was consolidated is due
    again.
    """
    settled = int((now - timedelta(seconds=settle_seconds)).timestamp() * 1_000_000_000)
    with base.guarded("look for sessions to consolidate") as connection:
        rows = connection.execute(_DUE, (min_bytes, settled, limit)).fetchall()
    return list(sessions_of(base, (str(session_id) for session_id, _ in rows)).values())


def mark_consolidated(
    base: TraceBase, session_ids: Iterable[str], run_id: str, at: datetime
) -> None:
    """Remember that *run_id* consolidated these sessions from what they said at *at*."""
    rows = [(one, run_id, stamp(at)) for one in dict.fromkeys(session_ids)]
    with base.writing("mark sessions as consolidated") as connection:
        connection.executemany(_MARK, rows)


def _session(connection: apsw.Connection, session_id: str) -> Session | None:
    files = [Transcript._make(row) for row in connection.execute(_FILES, (session_id,))]
    if not files:
        return None
    # They come with those on disk first, and of these the session's own first.
    there = [file for file in files if not file.missing] or files
    own = there[0]
    mains = [file for file in there if file.agent_id is None] or there[:1]
    agents = {file.agent_id for file in there if file.agent_id is not None}
    models = dict[str, int]()
    prompts = 0
    for file in there:
        agents |= {agent for (agent,) in connection.execute(_AGENTS, (file.file_id,))}
    for file in mains:
        ((count,),) = connection.execute(_PROMPTS, (file.file_id,))
        prompts += count
        for model, turns in connection.execute(_MODELS, (file.file_id,)):
            models[model] = models.get(model, 0) + turns
    starts, ends = _instants(there)
    return Session(
        session_id,
        own.agent,
        own.slug,
        own.path,
        own.cwd,
        own.branch,
        own.entrypoint,
        own.version,
        max(sorted(models), key=lambda model: models[model], default=None),
        next((file.title for file in mains if file.title), None),
        next((file.first_prompt for file in mains if file.first_prompt), ""),
        min(starts, default=None),
        max(ends, default=None),
        prompts,
        sum(file.turns for file in there),
        len(agents),
        sum(file.size for file in there),
        max(file.mtime_ns for file in there),
        bool(own.missing),
        tuple(there),
    )


def _instants(files: Sequence[Transcript]) -> tuple[list[str], list[str]]:
    starts = [file.started_at for file in files if file.started_at is not None]
    return starts, [file.ended_at for file in files if file.ended_at is not None]
