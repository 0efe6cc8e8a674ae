"""Codex CLI: ``sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl``, one file a session.

Each line is ``{timestamp, type, payload}``. What was said stands in ``response_item`` and again in
``event_msg``, so the latter is not read. The oldest versions wrote the payload as the line.
Archived sessions move to ``archived_sessions``. Newer versions may compress old files
(``.jsonl.zst``), which we cannot read and say so.
"""

from __future__ import annotations

import contextlib
import json
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

NAME = "codex"
TITLE = "Codex CLI"
HOME = ".codex"
HOME_VARIABLE: str | None = "CODEX_HOME"
BELOW_VARIABLE = ""

_IGNORED = frozenset("compacted world_state ghost_commit".split())
_ITEMS = frozenset(
    "message function_call function_call_output local_shell_call custom_tool_call"
    " custom_tool_call_output reasoning web_search_call image_generation_call compaction"
    " ghost_snapshot other".split()
)
_name_re = re.compile(
    r"rollout-.*?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl(\.zst)?"
)
# The agent puts these before a person's words as messages of the user.
_machine_re = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|subagent_"
    r"|user_shell_command|skill|collaboration_mode|personality|apps_instructions|model_switch)"
    r"|# AGENTS\.md instructions)"
)
_exit_re = re.compile(
    r"(?:exit(?:ed)?(?: with)?[ _]code|exit_code\"?)[:\s]*(-?[0-9]+)", re.IGNORECASE
)
_patched_re = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)


def find(walk: Walk, root: str) -> Iterator[Found]:
    """Yield the transcripts below *root*, oldest first."""
    for folder in ("sessions", "archived_sessions"):
        yield from _find_in(walk, f"{root}/{folder}", root, depth=3)


def _find_in(walk: Walk, folder: str, root: str, depth: int) -> Iterator[Found]:
    folders, files = walk.children(folder)
    there = set(files)
    for name in files:
        match = _name_re.fullmatch(name)
        if match and not (match[2] and name.removesuffix(".zst") in there):
            refusal = "it is compressed (zstd)" if match[2] else None
            yield Found(f"{folder}/{name}", NAME, root, match[1], "", refusal=refusal)
    for below in folders if depth else ():
        yield from _find_in(walk, f"{folder}/{below}", root, depth - 1)


def read(value: Json) -> Record | Skip:
    """Return what one line says."""
    kind, payload = value.get("type"), value.get("payload")
    if kind is None and string(value.get("id")):
        kind, payload = "session_meta", value
    elif kind in _ITEMS and payload is None:
        kind, payload = "response_item", value
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is not None and isinstance(payload, dict):
        return reader(payload, instant_of(value.get("timestamp")))
    if kind in _IGNORED:
        return Skip.IGNORED
    return Skip.UNKNOWN if isinstance(kind, str) and reader is None else Skip.DROPPED


def _event(payload: Json, at: str | None) -> Record | Skip:
    named = payload.get("type") == "thread_name_updated"
    name = string(payload.get("thread_name")) if named else None
    return Record(at=at, title=name) if name else Skip.IGNORED


def _meta(payload: Json, at: str | None) -> Record | Skip:
    git, own = payload.get("git"), string(payload.get("id"))
    source = payload.get("source")
    sent_for = (
        (source.get("subagent") or source.get("subAgent")) if isinstance(source, dict) else None
    )
    spawned = sent_for.get("thread_spawn") if isinstance(sent_for, dict) else None
    parent = string(spawned.get("parent_thread_id")) if isinstance(spawned, dict) else None
    is_sent = bool(sent_for) or payload.get("thread_source") == "subagent"
    return Record(
        # Of a subagent's subagent, newer versions name the session that all began with. A turn's
        # context has no id at all.
        (string(payload.get("session_id")) or parent or own) if is_sent else own,
        at,
        agent_id=own if is_sent else None,
        cwd=string(payload.get("cwd")),
        branch=string(git.get("branch")) if isinstance(git, dict) else None,
        entrypoint=string(payload.get("originator")),
        version=string(payload.get("cli_version")),
        model=string(payload.get("model")),
    )


def _item(payload: Json, at: str | None) -> Record | Skip:
    kind = payload.get("type")
    if kind not in _ITEMS:
        return Skip.UNKNOWN
    call_id = string(payload.get("call_id"))
    entry = Entry(Role.CALL, "", string(payload.get("id")) or call_id, call_id=call_id, at=at)
    if kind == "message":
        role, text = payload.get("role"), text_of(payload.get("content"))
        if role == "assistant":
            entry = entry._replace(role=Role.ASSISTANT, text=text)
        elif role == "user" and not _machine_re.match(text):
            entry = entry._replace(role=Role.USER, text=text.strip())
        else:
            return Record(at=at)
    elif kind in {"function_call_output", "custom_tool_call_output"}:
        text, failed = _output(payload.get("output"))
        entry = entry._replace(role=Role.RESULT, text=text, failed=failed)
    elif kind == "function_call":
        entry = entry._replace(text=_arguments(payload), tool=string(payload.get("name")) or "")
    elif kind == "custom_tool_call":
        patch = str(payload.get("input") or "")
        touched = _patched_re.findall(patch)
        entry = entry._replace(
            text=" ".join(touched) or patch, tool=string(payload.get("name")) or ""
        )
    elif kind == "local_shell_call":
        entry = entry._replace(text=call_text(payload.get("action")), tool="shell")
    if not entry.text.strip():
        return Record(at=at)
    return Record(at=at, is_turn=entry.role in {Role.USER, Role.ASSISTANT}, entries=(entry,))


def _arguments(payload: Json) -> str:
    arguments = payload.get("arguments")
    if isinstance(arguments, str):
        try:
            return call_text(json.loads(arguments))
        except ValueError:
            return arguments
    return call_text(arguments)


def _output(output: object) -> tuple[str, bool]:
    """Return what a tool answered, and whether it failed, from any of the forms it had."""
    failed = False
    if isinstance(output, str) and output.startswith("{"):
        with contextlib.suppress(ValueError):
            output = json.loads(output)
    if isinstance(output, dict):
        metadata = output.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else None
        failed = output.get("success") is False or (isinstance(code, int) and code != 0)
        output = output.get("output") or output.get("content")
    text = text_of(output)
    code_said = _exit_re.search(text[:300])
    return text, failed or (code_said is not None and code_said[1] != "0")


_READERS = {
    "session_meta": _meta,
    "turn_context": _meta,
    "response_item": _item,
    "event_msg": _event,
}
