"""What transcripts propose to remember, and the words it rests on."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memhtml.traces.record import Entry

__all__ = ["Candidate", "Conversation", "Evidence", "Refused", "Source"]


class Conversation(NamedTuple):
    """What one transcript says, in order."""

    session_id: str
    path: str
    entries: tuple[Entry, ...]
    agent_id: str | None = None
    """Of a subagent: then no person says anything in it."""


class Evidence(NamedTuple):
    """Words of a transcript, verbatim but for whitespace."""

    session_id: str
    quote: str
    path: str = ""
    line: int = 0
    """From 1; 0 where it was not looked up."""


class Source(StrEnum):
    """How a candidate was come by."""

    ASKED = "asked"
    """A person asked to remember it."""
    CORRECTION = "correction"
    """A person corrected the agent, and that held."""
    ERROR = "error"
    """The same error came up again and again."""
    MODEL = "model"


class Candidate(NamedTuple):
    """A memory that is proposed."""

    kind: str
    """A memory type."""
    claim: str
    gist: str
    """A sentence or two around the claim: how it came up."""
    evidence: tuple[Evidence, ...]
    source: Source
    entities: tuple[tuple[str, str], ...] = ()
    """Type and name of each."""


class Refused(NamedTuple):
    """A candidate that is not proposed, and why; it never takes others with it."""

    reason: str
    claim: str
