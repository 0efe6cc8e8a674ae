"""What is known of sessions with agents: those that were found, and what they did with memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import choice, integer, items, maybe, record, switch, text
from memhtml.index.usage import LinkKind
from memhtml.traces.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memhtml.answers.schema import Schema
    from memhtml.index.usage import SessionLink
    from memhtml.traces.search import FoundSession, TraceHits
    from memhtml.traces.sessions import Session

__all__ = ["LINKS", "MAX_LINKS", "SESSIONS", "links", "sessions"]

MAX_LINKS = 500

_SESSION: Mapping[str, Schema] = {
    "session_id": text("The session."),
    "agent": choice("The agent it was with.", LAYOUTS),
    "cwd": maybe(text("The folder it was in.")),
    "started_at": maybe(text("When it began.")),
    "first_prompt": text("What was typed first."),
    "ai_title": maybe(text("What the agent called it.")),
}

_MATCH = record(
    "A place.",
    {
        "role": choice("Who said it.", ("user", "assistant", "title")),
        "file_path": text("The transcript it is in."),
        "line": integer("Its line there, from 1."),
        "at": maybe(text("When it was said.")),
        "agent_id": maybe(text("The subagent that was part of it.")),
        "excerpt": text("What was said around the words."),
    },
)

SESSIONS = record(
    "The sessions that were found.",
    {
        "sessions": items(
            "The best first; the newest where nothing was asked for.",
            record(
                "A session.",
                {
                    **_SESSION,
                    "slug": text("The folder that its project's transcripts are in."),
                    "git_branch": maybe(text("The branch that was checked out last.")),
                    "model": maybe(text("The model that answered most.")),
                    "ended_at": maybe(text("When the last thing was said.")),
                    "prompt_count": integer("How often somebody asked."),
                    "turn_count": integer("How often anybody said something."),
                    "agent_count": integer("Subagents that took part."),
                    "file_path": text("Its transcript."),
                    "missing": switch("The transcript is gone from disk."),
                    "matches": items("The best places in it.", _MATCH),
                },
            ),
        ),
        "degraded": switch("Nothing was asked for, so these are the newest."),
        "partial": switch("None has all the words, so these have some."),
        "sessions_known": integer("How many sessions were searched, before any filter."),
    },
)


def sessions(found: TraceHits, *, known: int) -> dict[str, Any]:
    """Return `SESSIONS`; *known* is how many there are."""
    return {
        "sessions": [_found(hit) for hit in found.sessions],
        "degraded": found.degraded,
        "partial": found.is_partial,
        "sessions_known": known,
    }


def _found(hit: FoundSession) -> dict[str, Any]:
    session = hit.session
    return {
        **_session(session),
        "slug": session.slug,
        "git_branch": session.branch,
        "model": session.model,
        "ended_at": session.ended_at,
        "prompt_count": session.prompts,
        "turn_count": session.turns,
        "agent_count": session.agents,
        "file_path": session.path,
        "missing": session.is_missing,
        "matches": [
            {
                "role": match.role,
                "file_path": match.path,
                "line": match.line,
                "at": match.at,
                "agent_id": match.agent_id,
                "excerpt": match.excerpt,
            }
            for match in hit.matches
        ],
    }


LINKS = record(
    "What sessions did with memories.",
    {
        "links": items(
            "Newest first.",
            record(
                "A link.",
                {
                    "path": text("The memory, where it is now or was then."),
                    "session_id": text("The session."),
                    "prompt_id": maybe(text("The prompt in it.")),
                    "turn_uuid": maybe(text("The turn in it.")),
                    "link_kind": choice("What it did.", LinkKind),
                    "at": text("When."),
                },
            ),
        ),
        "link_count": integer("How many there are, also those not listed."),
        "sessions": items("What is known of these sessions.", record("A session.", _SESSION)),
    },
)


def links(shown: Sequence[SessionLink], *, count: int, known: Iterable[Session]) -> dict[str, Any]:
    """Return `LINKS`: those *shown* of *count*, and what is *known* of their sessions."""
    return {
        "links": [
            {
                "path": link.path,
                "session_id": link.session_id,
                "prompt_id": link.prompt_id,
                "turn_uuid": link.turn_uuid,
                "link_kind": link.kind.value,
                "at": link.at,
            }
            for link in shown
        ],
        "link_count": count,
        "sessions": [_session(session) for session in known],
    }


def _session(session: Session) -> dict[str, Any]:
    return {
        "session_id": session.session_id,
        "agent": session.agent,
        "cwd": session.cwd,
        "started_at": session.started_at,
        "first_prompt": session.first_prompt,
        "ai_title": session.title,
    }
