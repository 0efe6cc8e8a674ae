"""A model reads sessions and says what of them is worth keeping; every quote of it is looked up.

It gets a list of sessions and two ways to read in them (`memhtml.traces.contract`), and nothing
else: no path, no command, no memory. What it answers stands or falls item by item.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.model.errors import ModelUnavailable
from memhtml.traces import contract
from memhtml.traces.contract import limits, readable, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memhtml.sleep.phase import Investigator
    from memhtml.traces.candidates import Candidate, Refused
    from memhtml.traces.contract import Commitment, Readable
    from memhtml.traces.sessions import Session

__all__ = ["Consolidated", "Learned", "consolidate"]

_TASK = f"""\
Read sessions of people with coding agents, and find what will be worth knowing in later sessions.
list_sessions tells what there is; search_transcript and read_lines read in it. A session may have
several files: its own transcript is file 0, the others are by subagents.

candidates: durable claims that only several lines or sessions together show: an error that comes
back, steps that fail again and again, a decision with its reason, a correction that stuck, a
workaround in daily use, a constraint of the environment. No summary of a session, nothing that was
only about the task at hand, nothing that one line says by itself.
  kind: one of {", ".join(contract.KINDS)}
  claim: one sentence that stands by itself, at most {contract.MAX_CLAIM_CHARS} characters
  gist: how it came up, at most {contract.MAX_GIST_CHARS} characters
  entities: the things and people it is about, each with a type such as service or person
  evidence: {contract.MIN_QUOTES} to {contract.MAX_QUOTES} quotes of at most \
{contract.MAX_QUOTE_CHARS} characters, each from one line of a transcript, with its session_id

commitments: what somebody in a session said, in the first person, that they will do later.
  actor: user, agent or other; evidence: the quote in which they say so
  confidence: 0 to 1; resolved: whether a session shows that it was done
  due_hint: the day it is due, as YYYY-MM-DD or as it was said; empty where nobody said

read_session_ids: the sessions you have really read, and no other. They are not shown again.
"""


@dataclass
class Quote:
    """Words of a session, letter by letter."""

    session_id: str
    quote: str


@dataclass
class Thing:
    """What a claim is about."""

    type: str
    name: str


@dataclass
class Claim:
    """Something worth remembering."""

    kind: str
    claim: str
    gist: str
    evidence: list[Quote]
    entities: list[Thing] = field(default_factory=list)


@dataclass
class Promise:
    """Something that somebody said they will do."""

    statement: str
    actor: str
    evidence: Quote
    confidence: float
    resolved: bool = False
    due_hint: str = ""


@dataclass
class Learned:
    """What was found in the sessions."""

    candidates: list[Claim] = field(default_factory=list)
    commitments: list[Promise] = field(default_factory=list)
    read_session_ids: list[str] = field(default_factory=list)


class Consolidated(NamedTuple):
    """What of the model's answers holds."""

    candidates: tuple[Candidate, ...] = ()
    commitments: tuple[Commitment, ...] = ()
    refused: tuple[Refused, ...] = ()
    read_session_ids: tuple[str, ...] = ()
    failure: str | None = None
    """Why sessions were left unread; None when every one was offered and answered for."""


def consolidate(
    judge: Investigator,
    sessions: Sequence[Session],
    linked: Mapping[str, Sequence[tuple[str, str]]],
) -> Consolidated:
    """Let *judge* read *sessions*; *linked* tells which memories each has to do with.

    What fails costs what it would have found, and is told.
    """
    found = Consolidated()
    tops = {one.root for session in sessions for one in session.transcripts}
    for start in range(0, len(sessions), contract.MAX_SESSIONS):
        offered = readable(sessions[start : start + contract.MAX_SESSIONS], tops, linked)
        if not offered:
            continue
        try:
            answer = judge.investigate(_TASK, _tools(offered), Learned, limits(len(offered)))
        except ModelUnavailable as error:
            return found._replace(failure=error.message)
        held = verify(_plain(answer), offered)
        found = Consolidated(
            found.candidates + held.candidates,
            found.commitments + held.commitments,
            found.refused + held.refused,
            found.read_session_ids + held.read_session_ids,
        )
    return found


def _tools(sessions: Mapping[str, Readable]) -> list[Callable[..., object]]:
    def list_sessions() -> list[dict[str, Any]]:
        """List the sessions that can be read, each with its files."""
        return contract.list_sessions(sessions)

    def search_transcript(
        session_id: str,
        needle: str,
        ignore_case: bool = False,
        limit: int = contract.DEFAULT_HITS,
        context: int = contract.DEFAULT_CONTEXT_CHARS,
    ) -> dict[str, Any]:
        """Find a literal text in a session; returns how often it occurs, and where.

        Args:
            session_id: A session of list_sessions.
            needle: What to look for, 2 characters or more. No pattern.
            ignore_case: Whether upper and lower case are the same.
            limit: At most so many places, 50 or fewer.
            context: So many characters on either side, 400 or fewer.
        """
        return _told(
            lambda: contract.search_transcript(
                sessions,
                session_id,
                needle,
                ignore_case=ignore_case,
                limit=limit,
                context=context,
            )
        )

    def read_lines(
        session_id: str,
        start: int = 1,
        count: int = contract.MAX_LINES,
        file: int = 0,
        line_chars: int = contract.DEFAULT_LINE_CHARS,
    ) -> dict[str, Any]:
        """Read lines of a session's transcript, which are JSON.

        Args:
            session_id: A session of list_sessions.
            start: The first line; they count from 1.
            count: At most so many lines, 200 or fewer.
            file: The number of the file in the session's files.
            line_chars: A line is cut after so many characters, 2000 or fewer.
        """
        return _told(
            lambda: contract.read_lines(
                sessions, session_id, start=start, count=count, file=file, line_chars=line_chars
            )
        )

    return [list_sessions, search_transcript, read_lines]


def _told(look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return look()
    except OSError as error:
        # Gone meanwhile: the model goes on with what is left.
        return {"error": f"it cannot be read: {error.strerror or error}"}


def _plain(answer: Learned) -> dict[str, Any]:
    """Return *answer* in the words of the contract."""
    return {
        "candidates": [
            {**asdict(one), "evidence": [_quote(each) for each in one.evidence]}
            for one in answer.candidates
        ],
        "commitments": [
            {**asdict(one), "evidence": _quote(one.evidence), "dueHint": one.due_hint}
            for one in answer.commitments
        ],
        "readSessionIds": answer.read_session_ids,
    }


def _quote(one: Quote) -> dict[str, str]:
    return {"sessionId": one.session_id, "quote": one.quote}
