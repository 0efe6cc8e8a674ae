"""What a transcript says, whatever agent wrote it: records, and the entries in them.

A layout reads one JSON value of a file into a `Record`. Everything above the layouts speaks these
words only, so another agent is one more module and nothing else.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from memhtml.model.instants import stamp

__all__ = ["ALL_TURNS", "Entry", "Record", "Role", "Skip", "instant_of"]

ALL_TURNS = "*"
"""As `Record.rewinds`: every turn before this record is said anew by it."""


class Role(StrEnum):
    """Who an entry is by."""

    USER = "user"
    """A person typed it, or for a subagent, the agent that sent it out."""
    ASSISTANT = "assistant"
    CALL = "call"
    """What the agent had a tool do: a command, or the file it touched."""
    RESULT = "result"
    """What the tool answered."""


class Entry(NamedTuple):
    """One thing that was said or done."""

    role: Role
    text: str
    turn_uuid: str | None = None
    prompt_id: str | None = None
    agent_id: str | None = None
    """The subagent it is part of; None in the session's own conversation."""
    call_id: str | None = None
    """Of a call and of its result."""
    tool: str = ""
    failed: bool = False
    """The tool said that it did not succeed."""
    at: str | None = None
    line: int = 0
    """From 1, in its file."""


class Record(NamedTuple):
    """What one JSON value of a transcript says. None: it does not say."""

    session_id: str | None = None
    """For a subagent, the session that sent it out."""
    at: str | None = None
    cwd: str | None = None
    branch: str | None = None
    entrypoint: str | None = None
    version: str | None = None
    model: str | None = None
    title: str | None = None
    is_turn: bool = False
    entries: tuple[Entry, ...] = ()
    replaces: str | None = None
    """The turn that this one says anew; the earlier saying no longer counts."""
    agent_id: str | None = None
    """The whole file is by this subagent."""
    rewinds: str | None = None
    """The turn that was taken back, with all after it; `ALL_TURNS` for everything so far."""


class Skip(StrEnum):
    """Why a JSON value of a transcript has no record."""

    IGNORED = "ignored"
    """Of a kind that says nothing about the conversation."""
    UNKNOWN = "unknown"
    """Of a kind this version has not heard of."""
    DROPPED = "dropped"
    """Not in the form that its layout prescribes."""


def instant_of(value: object) -> str | None:
    """Return a time as transcripts state it, to the second in UTC; None if it is none.

    >>> instant_of("2026-03-01T12:00:00.123Z"), instant_of(1_772_366_400_000), instant_of("soon")
    ('2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z', None)
    """
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return stamp(found if found.tzinfo else found.replace(tzinfo=UTC))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return stamp(datetime.fromtimestamp(value / 1000, UTC))
    except (ValueError, OverflowError, OSError):
        pass
    return None
