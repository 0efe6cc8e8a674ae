"""Claude Code: ``projects/<slug>/<session>.jsonl``, and subagents in files of their own.

A subagent's records name the session that sent it out as their own. They stand in
``<slug>/<session>/subagents/agent-<id>.jsonl``; older versions put them in
``<slug>/agent-<id>.jsonl``, or marked as a side chain into the session's file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memhtml.traces.files import Found
from memhtml.traces.layouts.layout import call_text, string, text_of
from memhtml.traces.record import Entry, Record, Role, Skip, instant_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.traces.files import Walk
    from memhtml.traces.layouts.layout import Json

__all__ = ["BELOW_VARIABLE", "HOME", "HOME_VARIABLE", "NAME", "TITLE", "find", "read"]

NAME = "claude"
TITLE = "Claude Code"
HOME = ".claude"
HOME_VARIABLE: str | None = "CLAUDE_CONFIG_DIR"
BELOW_VARIABLE = ""

_IGNORED = frozenset(
    "last-prompt mode permission-mode queue-operation file-history-snapshot"
    " file-history-delta".split()
)
_READ = frozenset("user assistant system attachment agent-name ai-title pr-link".split())
_TITLES = ("aiTitle", "title", "summary")
_NOT_TYPED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "turnCompanion")
_SIDE_CHAIN = "sidechain"
_reminder_re = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_command_re = re.compile(r"<command-name>\s*(/[^<\s]+)\s*</command-name>")
_arguments_re = re.compile(r"<command-args>([^<]*)</command-args>")
_machine_re = re.compile(
    r"\s*(?:<(?:local-command|bash|task-notification|user-memory|ide_)[a-z_-]*>"
    r"|Caveat: The messages below|\[Request interrupted)"
)


def find(walk: Walk, root: str) -> Iterator[Found]:
    """Yield the transcripts below *root*, sessions before the subagents they sent out."""
    projects = f"{root}/projects"
    for slug in walk.children(projects)[0]:
        folder = f"{projects}/{slug}"
        sessions, files = walk.children(folder)
        for name in files:
            stem, dot, kind = name.rpartition(".")
            if not dot or kind != "jsonl":
                continue
            if stem.startswith("agent-"):
                yield Found(
                    f"{folder}/{name}", NAME, root, stem, slug, stem[6:], trusts_records=True
                )
            else:
                yield Found(f"{folder}/{name}", NAME, root, stem, slug)
        for session in sessions:
            aside = f"{folder}/{session}/subagents"
            for name in walk.children(aside)[1]:
                if name.startswith("agent-") and name.endswith(".jsonl"):
                    yield Found(f"{aside}/{name}", NAME, root, session, slug, name[6:-6])


def read(value: Json) -> Record | Skip:
    """Return what one line says."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return Skip.DROPPED
    if kind in _IGNORED:
        return Skip.IGNORED
    if kind not in _READ:
        return Skip.UNKNOWN
    session = string(value.get("sessionId"))
    if session is None:
        return Skip.DROPPED
    message = value.get("message")
    if not isinstance(message, dict):
        message = {}
    entries: tuple[Entry, ...] = ()
    if kind == "user":
        entries = tuple(_from_user(value, message.get("content")))
    elif kind == "assistant":
        entries = tuple(_from_assistant(value, message.get("content")))
    model = string(message.get("model")) if kind == "assistant" else None
    titles = (string(value.get(name)) for name in _TITLES)
    return Record(
        session,
        instant_of(value.get("timestamp")),
        cwd=string(value.get("cwd")),
        branch=string(value.get("gitBranch")),
        entrypoint=string(value.get("entrypoint")),
        version=string(value.get("version")),
        model=None if model == "<synthetic>" else model,
        title=next(filter(None, titles), None) if kind == "ai-title" else None,
        is_turn=string(value.get("uuid")) is not None,
        entries=entries,
    )


def _from_user(value: Json, content: object) -> Iterator[Entry]:
    base = _base(value)
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("type") == "tool_result":
                yield base._replace(
                    role=Role.RESULT,
                    text=text_of(block.get("content")),
                    call_id=string(block.get("tool_use_id")),
                    failed=block.get("is_error") is True,
                )
        content = [b for b in content if isinstance(b, dict) and b.get("type") == "text"]
    if _is_by_program(value):
        return
    text = _typed(text_of(content))
    if text:
        yield base._replace(text=text)


def _from_assistant(value: Json, content: object) -> Iterator[Entry]:
    base = _base(value)._replace(role=Role.ASSISTANT)
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text" and (text := string(block.get("text"))):
            yield base._replace(text=text)
        elif block.get("type") == "tool_use":
            yield base._replace(
                role=Role.CALL,
                text=call_text(block.get("input")),
                call_id=string(block.get("id")),
                tool=string(block.get("name")) or "",
            )


def _base(value: Json) -> Entry:
    agent = string(value.get("agentId"))
    return Entry(
        Role.USER,
        "",
        turn_uuid=string(value.get("uuid")),
        prompt_id=string(value.get("promptId")),
        agent_id=agent or (_SIDE_CHAIN if value.get("isSidechain") else None),
        at=instant_of(value.get("timestamp")),
    )


def _is_by_program(value: Json) -> bool:
    origin = value.get("origin")
    if isinstance(origin, dict) and origin.get("kind", "human") != "human":
        return True
    return value.get("promptSource") == "system" or any(value.get(name) for name in _NOT_TYPED)


def _typed(text: str) -> str:
    """Return what a person typed of a user message; what programs put there is left out."""
    text = _reminder_re.sub("", text)
    command = _command_re.search(text)
    if command:
        arguments = _arguments_re.search(text)
        return f"{command[1]} {arguments[1] if arguments else ''}".strip()
    return "" if _machine_re.match(text) else text.strip()
