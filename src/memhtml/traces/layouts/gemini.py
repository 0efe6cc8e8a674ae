"""Gemini CLI: ``tmp/<project>/chats/session-*.jsonl``, subagents in a folder named for the session.

A line is the session's metadata, a message, ``{"$set": …}`` or ``{"$rewindTo": id}``. A message is
appended again whenever it grows, so the last one with an id counts. Older versions kept a session
as one JSON object, in ``session-*.json``, which a resumed session leaves beside the newer form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.traces.files import Found, open_transcript
from memhtml.traces.layouts.layout import call_text, string, text_of
from memhtml.traces.record import ALL_TURNS, Entry, Record, Role, Skip, instant_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.traces.files import Walk
    from memhtml.traces.layouts.layout import Json

__all__ = ["BELOW_VARIABLE", "HOME", "HOME_VARIABLE", "NAME", "TITLE", "find", "read"]

NAME = "gemini"
TITLE = "Gemini CLI"
HOME = ".gemini"
HOME_VARIABLE: str | None = "GEMINI_CLI_HOME"
BELOW_VARIABLE = "/.gemini"

_NOTICES = frozenset("info error warning".split())
_PROJECTS = "tmp"
_MARKER = ".project_root"
_MOST_PATH_BYTES = 4096


def find(walk: Walk, root: str) -> Iterator[Found]:
    """Yield the transcripts below *root*, sessions before the subagents they sent out."""
    projects = f"{root}/{_PROJECTS}"
    for slug in walk.children(projects)[0]:
        folder = f"{projects}/{slug}"
        sessions, files = walk.children(f"{folder}/chats")
        cwd = _project_of(folder) if files or sessions else None
        there = set(files)
        for name in files:
            stem, _, kind = name.rpartition(".")
            is_whole = kind == "json" and f"{name}l" not in there
            if name.startswith("session-") and (kind == "jsonl" or is_whole):
                path = f"{folder}/chats/{name}"
                yield Found(
                    path, NAME, root, stem, slug, cwd=cwd, is_whole=is_whole, trusts_records=True
                )
        for session in sessions:
            for name in walk.children(f"{folder}/chats/{session}")[1]:
                if name.endswith(".jsonl"):
                    path = f"{folder}/chats/{session}/{name}"
                    yield Found(path, NAME, root, session, slug, name[:-6], cwd)


def read(value: Json) -> Record | Skip:
    """Return what one line says."""
    if rewound := string(value.get("$rewindTo")):
        return Record(rewinds=rewound)
    news = value.get("$set")
    if isinstance(news, dict):
        return _metadata(news)
    if string(value.get("id")) and isinstance(value.get("type"), str):
        return _message(value)
    return _metadata(value) if string(value.get("sessionId")) else Skip.DROPPED


def _metadata(value: Json) -> Record:
    anew = value.get("messages")
    messages = [_message(one) for one in anew if isinstance(one, dict)] if anew else []
    said = [record for record in messages if isinstance(record, Record)]
    return Record(
        string(value.get("sessionId")),
        instant_of(value.get("startTime") or value.get("lastUpdated")),
        title=string(value.get("summary")),
        is_turn=bool(said),
        entries=tuple(entry for record in said for entry in record.entries),
        rewinds=ALL_TURNS if said else None,
    )


def _message(value: Json) -> Record | Skip:
    kind = value.get("type")
    if kind in _NOTICES:
        return Skip.IGNORED
    if kind not in {"user", "gemini"}:
        return Skip.UNKNOWN
    turn, at = string(value.get("id")), instant_of(value.get("timestamp"))
    shown = value.get("displayContent")
    text = text_of(shown if kind == "user" and shown else value.get("content")).strip()
    role = Role.USER if kind == "user" else Role.ASSISTANT
    entries = [Entry(role, text, turn, turn if role is Role.USER else None, at=at)] if text else []
    calls = value.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            entries += _call(call, turn, at)
    return Record(
        at=at,
        model=string(value.get("model")),
        is_turn=bool(text),
        entries=tuple(entries),
        replaces=turn,
    )


def _call(call: Json, turn: str | None, at: str | None) -> Iterator[Entry]:
    call_id, name = string(call.get("id")), string(call.get("name")) or ""
    yield Entry(Role.CALL, call_text(call.get("args")), turn, call_id=call_id, tool=name, at=at)
    answer = _answer(call.get("result"))
    if not answer:
        answer = string(call.get("resultDisplay")) or ""
    if answer:
        failed = call.get("status") == "error"
        yield Entry(Role.RESULT, answer, turn, call_id=call_id, failed=failed, at=at)


def _answer(result: object) -> str:
    texts = []
    for part in result if isinstance(result, list) else [result]:
        if not isinstance(part, dict):
            continue
        response = part.get("functionResponse")
        body = response.get("response") if isinstance(response, dict) else None
        if isinstance(body, dict):
            texts += [body[name] for name in ("output", "error") if string(body.get(name))]
        elif string(part.get("text")):
            texts.append(part["text"])
    return "\n".join(texts)


def _project_of(folder: str) -> str | None:
    """Return the folder that a session's folder is about, where newer versions say it."""
    try:
        with open_transcript(f"{folder}/{_MARKER}") as (file, _):
            return string(file.read(_MOST_PATH_BYTES).decode("utf-8", "replace").strip())
    except OSError:
        return None
