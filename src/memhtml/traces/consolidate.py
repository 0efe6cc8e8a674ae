"""From sessions that are due to memories that are proposed, without a model.

A phase that writes them does four things: ask `due_sessions`, hand those to `propose` together with
`earlier_sessions`, write what is proposed, and `mark_consolidated` those that were read once that
is kept. A model widens what is seen: `memhtml.traces.contract` says what it gets and checks what it
answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.traces.contract import readable, verify_candidates
from memhtml.traces.conversation import read_session
from memhtml.traces.mine import mine
from memhtml.traces.sessions import sessions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memhtml.traces.candidates import Candidate, Conversation, Refused
    from memhtml.traces.database import TraceBase
    from memhtml.traces.sessions import Session

__all__ = ["Proposal", "earlier_sessions", "propose"]

MAX_EARLIER = 20

_EARLIER = """
SELECT DISTINCT f.session_id FROM files AS f JOIN consolidations AS c USING (session_id)
WHERE f.missing = 0 AND f.agent_id IS NULL AND (f.cwd = ?1 OR f.slug = ?2)
ORDER BY c.consolidated_at DESC, f.session_id LIMIT ?3
"""


class Proposal(NamedTuple):
    """What some sessions propose to remember."""

    candidates: tuple[Candidate, ...]
    refused: tuple[Refused, ...]
    read_session_ids: tuple[str, ...]
    """The sessions that were read to their end, earlier ones aside."""
    unread: tuple[tuple[str, str], ...]
    """The sessions that could not be read, and why; they stay due."""


def propose(sessions: Sequence[Session], earlier: Iterable[Session] = ()) -> Proposal:
    """Return what *sessions* propose to remember, every quote found again in its transcript.

    *earlier* were consolidated before: an error or a correction in them counts beside one in
    *sessions*, but nothing is proposed of what they alone say. One that cannot be read is left out.
    """
    new = {session.session_id: session for session in sessions}
    others = {one.session_id: one for one in earlier if one.session_id not in new}
    said: list[Conversation] = []
    unread: list[tuple[str, str]] = []
    for session in sorted((*new.values(), *others.values()), key=_beginning):
        try:
            said += read_session(session)
        except OSError as error:
            unread.append((session.session_id, error.strerror or str(error)))
    mined = mine(said)
    lost = {session_id for session_id, _ in unread}
    fresh = [one for one in mined.candidates if any(e.session_id in new for e in one.evidence)]
    known = (new | others).values()
    tops = {one.root for session in known for one in session.transcripts}
    held, unproved = verify_candidates(fresh, readable(known, tops, most=len(known)))
    return Proposal(
        tuple(held),
        (*mined.refused, *unproved),
        tuple(one for one in new if one not in lost),
        tuple(one for one in unread if one[0] in new),
    )


def earlier_sessions(
    base: TraceBase, sessions: Iterable[Session], *, limit: int = MAX_EARLIER
) -> list[Session]:
    """Return sessions of the same projects as *sessions* that were consolidated, latest first."""
    found = dict[str, None]()
    projects = dict.fromkeys((one.cwd, one.slug or None) for one in sessions)
    with base.guarded("look for earlier sessions") as connection:
        for cwd, slug in projects:
            for (session_id,) in connection.execute(_EARLIER, (cwd, slug, limit)):
                found[str(session_id)] = None
    return list(sessions_of(base, list(found)[:limit]).values())


def _beginning(session: Session) -> tuple[str, str]:
    return session.started_at or "", session.session_id
