"""What a model that reads transcripts is given, may do, and must show for what it proposes.

The model is somebody else's business; here are the values that go to it and the check of what comes
back. It gets a list of sessions and three ways to read in them, and answers with candidates. Each
candidate stands or falls by itself: one invented quote drops what it was to prove and nothing else.
What transcripts say is data, in either direction.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.model.vocabulary import MemoryType
from memhtml.traces.candidates import Candidate, Evidence, Refused, Source
from memhtml.traces.cut import cut_secrets, flat
from memhtml.traces.files import complete_lines, open_transcript
from memhtml.traces.mine import without_secrets
from memhtml.traces.quotes import find_quotes, is_quotable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memhtml.traces.sessions import Session

__all__ = [
    "KINDS",
    "MAX_SESSIONS",
    "Commitment",
    "Limits",
    "Readable",
    "Verified",
    "limits",
    "list_sessions",
    "read_lines",
    "readable",
    "search_transcript",
    "verify",
    "verify_candidates",
]

MAX_SESSIONS = 32
MAX_CANDIDATES = 200
MAX_CLAIM_CHARS = 300
MAX_GIST_CHARS = 1500
MAX_ENTITIES = 64
MIN_QUOTES, MAX_QUOTES = 2, 32
MAX_QUOTE_CHARS = 600
MAX_COMMITMENTS = 200
MAX_STATEMENT_CHARS = 300
MAX_REJECTED_ANSWERS = 3

MIN_NEEDLE_CHARS = 2
MAX_HITS, DEFAULT_HITS = 50, 20
MAX_CONTEXT_CHARS, DEFAULT_CONTEXT_CHARS = 400, 160
MAX_LINES = 200
MAX_LINE_CHARS, DEFAULT_LINE_CHARS = 2000, 1200

KINDS = (
    MemoryType.EPISODIC,
    MemoryType.SEMANTIC,
    MemoryType.PROCEDURAL,
    MemoryType.AGENT_INSIGHT,
    MemoryType.ERROR_PATTERN,
    MemoryType.PRECEDENT,
)
"""The types a model may propose."""

ACTORS = ("user", "agent", "other")


class Limits(NamedTuple):
    """How much reading *n* sessions may cost."""

    calls: int
    output_tokens: int
    output_tokens_a_call: int
    seconds: float


class Readable(NamedTuple):
    """A session that may be read, with what is told of it beforehand."""

    session: Session
    linked_memories: tuple[tuple[str, str], ...] = ()
    """Path and kind of link of each."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The transcripts that can be read: those that are still there."""
        return tuple(one.path for one in self.session.transcripts if not one.missing)


class Commitment(NamedTuple):
    """Something somebody said they would do."""

    statement: str
    actor: str
    """One of `ACTORS`."""
    due_hint: str | None
    evidence: Evidence
    confidence: float
    resolved: bool


class Verified(NamedTuple):
    """What of an answer holds."""

    candidates: tuple[Candidate, ...]
    commitments: tuple[Commitment, ...]
    refused: tuple[Refused, ...]
    read_session_ids: tuple[str, ...]
    """What the model says it read, of what it could read."""


def limits(count: int) -> Limits:
    """Return the bounds for *count* sessions."""
    tokens = 30_000 + 40_000 * count
    return Limits(40 + 30 * count, tokens, 64_000, 600.0 + 180.0 * count)


def readable(
    sessions: Iterable[Session],
    roots: Iterable[str],
    linked: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    *,
    most: int = MAX_SESSIONS,
) -> dict[str, Readable]:
    """Return those of *sessions* that can be read, by id, at most *most*.

    A transcript must be a file below one of *roots*, links resolved. *linked* tells of each session
    which memories it touched and how.
    """
    tops = tuple(os.path.realpath(root) + os.sep for root in roots)
    found = dict[str, Readable]()
    for session in sessions:
        inside = tuple(
            one
            for one in session.transcripts
            if not one.missing and os.path.realpath(one.path).startswith(tops)
        )
        if inside and len(found) < most:
            memories = tuple((linked or {}).get(session.session_id, ()))
            found[session.session_id] = Readable(session._replace(transcripts=inside), memories)
    return found


# The three ways to read. Each returns what goes to a model as JSON, credentials cut.


def list_sessions(sessions: Mapping[str, Readable]) -> list[dict[str, Any]]:
    """Return what is told of each session before it is read."""
    return [_manifest(one) for one in sessions.values()]


def search_transcript(
    sessions: Mapping[str, Readable],
    session_id: str,
    needle: str,
    *,
    ignore_case: bool = False,
    limit: int = DEFAULT_HITS,
    context: int = DEFAULT_CONTEXT_CHARS,
) -> dict[str, Any]:
    """Return where a session says *needle*, literally, and how often in all.

    What is out of bounds is brought within them; *context* is characters on either side.
    """
    files = _files(sessions, session_id)
    if len(needle) < MIN_NEEDLE_CHARS:
        return {"error": f"a needle has at least {MIN_NEEDLE_CHARS} characters"}
    if files is None:
        return {"error": f"no session {session_id!r} can be read"}
    limit = min(max(limit, 1), MAX_HITS)
    context = min(max(context, 0), MAX_CONTEXT_CHARS)
    wanted = needle.casefold() if ignore_case else needle
    hits, total = list[dict[str, Any]](), 0
    for number, path in enumerate(files):
        for line, text in _texts(path):
            looked_at = text.casefold() if ignore_case else text
            place = looked_at.find(wanted)
            while place >= 0:
                total += 1
                if len(hits) < limit:
                    start = max(0, place - context)
                    cut = text[start : place + len(wanted) + context]
                    hits.append({"file": number, "line": line, "text": cut})
                place = looked_at.find(wanted, place + len(wanted))
    return {"total": total, "hits": hits}


def read_lines(
    sessions: Mapping[str, Readable],
    session_id: str,
    *,
    start: int,
    count: int = MAX_LINES,
    file: int = 0,
    line_chars: int = DEFAULT_LINE_CHARS,
) -> dict[str, Any]:
    """Return lines of a session's transcript from number *start* on, each cut to *line_chars*.

    *file* is a place in the session's ``files``; 0 is its own transcript. What is out of bounds is
    brought within them.
    """
    files = _files(sessions, session_id)
    if files is None or not 0 <= file < len(files):
        return {"error": f"no session {session_id!r} with a file {file} can be read"}
    start, count = max(start, 1), min(max(count, 1), MAX_LINES)
    line_chars = min(max(line_chars, 1), MAX_LINE_CHARS)
    lines, more = list[dict[str, Any]](), False
    for number, text in _texts(files[file]):
        if number < start:
            continue
        if len(lines) == count:
            more = True
            break
        is_cut = len(text) > line_chars
        lines.append({"line": number, "text": text[:line_chars], "cut": is_cut})
    return {"lines": lines, "more": more}


# What comes back


def verify(answer: object, sessions: Mapping[str, Readable]) -> Verified:
    """Return what of *answer* holds: in form, and by quotes that stand where it says.

    *answer* is decoded JSON: ``candidates``, ``commitments`` and ``readSessionIds``. Whatever is
    wrong with one item refuses that item only.
    """
    if not isinstance(answer, dict):
        return Verified((), (), (Refused("the answer is no object", ""),), ())
    refused = list[Refused]()
    candidates, commitments = list[Candidate](), list[Commitment]()
    for item in _listed(answer, "candidates", MAX_CANDIDATES, refused):
        one = _candidate(item)
        candidates += [one] if isinstance(one, Candidate) else []
        refused += [one] if isinstance(one, Refused) else []
    for item in _listed(answer, "commitments", MAX_COMMITMENTS, refused):
        promise = _commitment(item)
        commitments += [promise] if isinstance(promise, Commitment) else []
        refused += [promise] if isinstance(promise, Refused) else []
    quotes = [*(one.evidence for one in candidates), *((one.evidence,) for one in commitments)]
    places = _places(quotes, sessions)
    held = _held(candidates, places, refused)
    kept = list[Commitment]()
    for promise in commitments:
        reason = _fault((promise.evidence,), places)
        if reason is None and cut_secrets(f"{promise.statement}\n{promise.evidence.quote}")[1]:
            reason = "it holds a credential"
        if reason is None:
            kept.append(promise._replace(evidence=_placed(promise.evidence, places)))
        else:
            refused.append(Refused(reason, ""))
    read = answer.get("readSessionIds")
    said = [one for one in read if isinstance(one, str)] if isinstance(read, list) else []
    return Verified(
        tuple(held),
        tuple(kept),
        tuple(refused),
        tuple(one for one in dict.fromkeys(said) if one in sessions),
    )


def verify_candidates(
    candidates: Sequence[Candidate], sessions: Mapping[str, Readable]
) -> tuple[list[Candidate], list[Refused]]:
    """Return those of *candidates* whose every quote stands in its session, and the others."""
    refused = list[Refused]()
    places = _places([one.evidence for one in candidates], sessions)
    return _held(candidates, places, refused), refused


_Places = dict[tuple[str, str], tuple[str, int]]
"""Path and line by session and quote."""


def _places(quotes: Iterable[Iterable[Evidence]], sessions: Mapping[str, Readable]) -> _Places:
    wanted = dict[str, set[str]]()
    for evidence in quotes:
        for one in evidence:
            wanted.setdefault(one.session_id, set()).add(one.quote)
    found = _Places()
    for session_id, texts in wanted.items():
        for path in sessions[session_id].paths if session_id in sessions else ():
            missing = [text for text in texts if (session_id, text) not in found]
            try:
                lines = find_quotes(path, sorted(missing)) if missing else {}
            except OSError:
                # Gone meanwhile: what it was to prove is not proved.
                continue
            found |= {(session_id, quote): (path, line) for quote, line in lines.items()}
    return found


def _held(
    candidates: Iterable[Candidate], places: _Places, refused: list[Refused]
) -> list[Candidate]:
    held = list[Candidate]()
    for one in candidates:
        reason = _fault(one.evidence, places)
        if reason is not None:
            refused.append(Refused(reason, one.claim))
            continue
        held.append(one._replace(evidence=tuple(_placed(each, places) for each in one.evidence)))
    safe = without_secrets(held)
    refused += safe.refused
    return list(safe.candidates)


def _fault(evidence: Iterable[Evidence], places: _Places) -> str | None:
    for one in evidence:
        if not is_quotable(one.quote):
            return "a quote is too short to show anything"
        if (one.session_id, one.quote) not in places:
            return f"a quote does not stand in session {one.session_id!r}"
    return None


def _placed(one: Evidence, places: _Places) -> Evidence:
    path, line = places[one.session_id, one.quote]
    return one._replace(path=path, line=line)


def _listed(
    answer: Mapping[str, Any], name: str, most: int, refused: list[Refused]
) -> list[dict[str, Any]]:
    items = answer.get(name, [])
    if not isinstance(items, list):
        refused.append(Refused(f"{name} is no list", ""))
        return []
    refused += [Refused(f"there are more than {most} {name}", "") for _ in items[most:]]
    good = [item for item in items[:most] if isinstance(item, dict)]
    refused += [Refused(f"one of {name} is no object", "")] * (len(items[:most]) - len(good))
    return good


def _candidate(item: Mapping[str, Any]) -> Candidate | Refused:
    claim, gist = _text(item, "claim", MAX_CLAIM_CHARS), _text(item, "gist", MAX_GIST_CHARS)
    evidence = _evidence(item.get("evidence"))
    entities = _entities(item.get("entities", []))
    reason = None
    if item.get("kind") not in set(KINDS):
        reason = "it is of no kind that may be proposed"
    elif claim is None:
        reason = f"its claim is blank or longer than {MAX_CLAIM_CHARS} characters"
    elif gist is None:
        reason = f"its gist is blank or longer than {MAX_GIST_CHARS} characters"
    elif entities is None:
        reason = f"its entities are not at most {MAX_ENTITIES} of a type and a name"
    elif evidence is None or not MIN_QUOTES <= len(evidence) <= MAX_QUOTES:
        reason = f"it has not {MIN_QUOTES} to {MAX_QUOTES} different quotes"
    if reason is not None or claim is None or gist is None or not evidence or entities is None:
        return Refused(reason or "", claim or "")
    return Candidate(str(item["kind"]), claim, gist, evidence, Source.MODEL, entities)


def _commitment(item: Mapping[str, Any]) -> Commitment | Refused:
    statement = _text(item, "statement", MAX_STATEMENT_CHARS)
    evidence = _evidence([item.get("evidence")])
    actor, confidence = item.get("actor"), item.get("confidence")
    is_number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool)
    if (
        statement is None
        or not evidence
        or actor not in ACTORS
        or not is_number
        or not 0 <= float(str(confidence)) <= 1
        or not isinstance(item.get("resolved"), bool)
    ):
        return Refused("a commitment is not in its form", "")
    return Commitment(
        statement,
        str(actor),
        _text(item, "dueHint", MAX_STATEMENT_CHARS),
        evidence[0],
        float(str(confidence)),
        bool(item["resolved"]),
    )


def _evidence(items: object) -> tuple[Evidence, ...] | None:
    """Return the quotes in *items*, each once; None if one is not in its form."""
    found = list[Evidence]()
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("sessionId"), str):
            return None
        quote = _text(item, "quote", MAX_QUOTE_CHARS)
        if quote is None:
            return None
        found.append(Evidence(item["sessionId"], quote))
    return tuple(dict.fromkeys(found))


def _entities(items: object) -> tuple[tuple[str, str], ...] | None:
    if not isinstance(items, list) or len(items) > MAX_ENTITIES:
        return None
    named = [
        (item.get("type"), item.get("name")) if isinstance(item, dict) else (None, None)
        for item in items
    ]
    found = [
        (kind.strip(), name.strip())
        for kind, name in named
        if isinstance(kind, str) and isinstance(name, str) and kind.strip() and name.strip()
    ]
    return tuple(dict.fromkeys(found)) if len(found) == len(named) else None


def _text(item: Mapping[str, Any], name: str, most: int) -> str | None:
    value = item.get(name)
    if not isinstance(value, str):
        return None
    text = flat(value)
    return text if text and len(text) <= most else None


def _manifest(one: Readable) -> dict[str, Any]:
    session = one.session
    return {
        "sessionId": session.session_id,
        "agent": session.agent,
        "slug": session.slug,
        "cwd": session.cwd,
        "gitBranch": session.branch,
        "startedAt": session.started_at,
        "endedAt": session.ended_at,
        "title": session.title,
        "fileSize": session.size,
        "promptCount": session.prompts,
        "turnCount": session.turns,
        "files": [
            {
                "file": number,
                "agentId": each.agent_id,
                "fileSize": each.size,
                "fileMtime": each.mtime_ns // 1_000_000,
                "lines": each.lines,
            }
            for number, each in enumerate(session.transcripts)
        ],
        "linkedMemories": [{"path": path, "linkKind": kind} for path, kind in one.linked_memories],
    }


def _files(sessions: Mapping[str, Readable], session_id: str) -> tuple[str, ...] | None:
    return sessions[session_id].paths if session_id in sessions else None


def _texts(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a transcript with their numbers, credentials cut."""
    with open_transcript(path) as (file, status):
        for line in complete_lines(file, offset=0, line=0, stop=status.st_size):
            if line.data is None:
                yield line.number, "[a line too long to show]"
            else:
                yield line.number, cut_secrets(_shown(line.data))[0]


def _shown(data: bytes) -> str:
    """Return a line with letters instead of escapes, so that it can be searched and quoted."""
    text = data.decode("utf-8", "replace")
    if "\\u" not in text:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
