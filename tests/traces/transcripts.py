"""Transcripts as the agents write them, made small."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from memhtml.traces.database import TraceBase, open_traces
from memhtml.traces.scan import Report, scan

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NOW", "Claude", "append", "base_in", "codex_lines", "gemini_lines", "pi_lines", "put"]

NOW = "2026-03-02T00:00:00Z"


def put(path: Path, *values: Any, mtime: float | None = None) -> Path:
    """Write *values* to *path*, a JSON value a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    return append(path, *values, mtime=mtime)


def append(path: Path, *values: Any, mtime: float | None = None) -> Path:
    with path.open("ab") as file:
        for value in values:
            file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
    if mtime is not None:
        os.utime(path, (mtime, mtime))
    return path


def base_in(folder: Path) -> TraceBase:
    folder.mkdir(exist_ok=True)
    return open_traces(str(folder))


def rescan(base: TraceBase, root: Path, **options: Any) -> Report:
    return scan(base, [str(root)], now=NOW, **options)


class Claude:
    """Lines of one Claude Code session."""

    def __init__(self, session: str, *, cwd: str = "/srv/shop", **fields: Any) -> None:
        self.fields = {
            "sessionId": session,
            "cwd": cwd,
            "version": "2.1.0",
            "gitBranch": "main",
            "entrypoint": "cli",
            **fields,
        }
        self.turns = 0

    def line(self, kind: str, **fields: Any) -> dict[str, Any]:
        self.turns += 1
        at = f"2026-03-01T12:{self.turns // 60:02}:{self.turns % 60:02}.000Z"
        uuid = f"{self.fields['sessionId']}-{self.fields.get('agentId', '')}{self.turns}"
        return {"type": kind, "uuid": uuid, "timestamp": at, **self.fields, **fields}

    def user(self, text: str, **fields: Any) -> dict[str, Any]:
        message = {"role": "user", "content": text}
        return self.line("user", message=message, promptId=f"p{self.turns}", **fields)

    def says(self, text: str, model: str = "opus") -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        return self.line("assistant", message={"model": model, "content": content})

    def calls(self, command: str, call: str = "c1", tool: str = "Bash") -> dict[str, Any]:
        block = {"type": "tool_use", "id": call, "name": tool, "input": {"command": command}}
        return self.line("assistant", message={"model": "opus", "content": [block]})

    def result(self, text: str, call: str = "c1", *, failed: bool = False) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
        return self.line("user", message={"role": "user", "content": [block]})


def codex_lines(session: str, *messages: tuple[str, str], cwd: str = "/srv/shop") -> list[Any]:
    """Lines of a Codex session in which *messages*, each a role and a text, were said."""
    at = "2026-03-01T13:00:00.000Z"
    head = {"id": session, "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.80.0"}
    meta: dict[str, Any] = {**head, "source": "cli", "git": {"branch": "trunk"}, "timestamp": at}
    context = "<environment_context>\n<cwd>/srv/shop</cwd>\n</environment_context>"
    said = [("user", context), *messages]
    items: list[Any] = [{"timestamp": at, "type": "session_meta", "payload": meta}]
    items.append(
        {"timestamp": at, "type": "turn_context", "payload": {"model": "gpt-5-codex", "cwd": cwd}}
    )
    for role, text in said:
        kind = "input_text" if role == "user" else "output_text"
        message = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        items.append({"timestamp": at, "type": "response_item", "payload": message})
        event = "user_message" if role == "user" else "agent_message"
        items.append(
            {"timestamp": at, "type": "event_msg", "payload": {"type": event, "message": text}}
        )
    return items


def gemini_lines(session: str, *messages: tuple[str, str]) -> list[Any]:
    """Lines of a Gemini session in which *messages*, each a type and a text, were said."""
    at = "2026-03-01T14:00:00.000Z"
    head = {"sessionId": session, "projectHash": "ab", "startTime": at, "lastUpdated": at}
    said = [
        {"id": f"m{number}", "type": kind, "timestamp": at, "content": [{"text": text}]}
        for number, (kind, text) in enumerate(messages)
    ]
    return [head, *said]


def pi_lines(session: str, *messages: tuple[str, str], cwd: str = "/srv/shop") -> list[Any]:
    """Lines of a Pi session in which *messages*, each a role and a text, were said."""
    at = "2026-03-01T15:00:00.000Z"
    head = {"type": "session", "version": 3, "id": session, "timestamp": at, "cwd": cwd}
    said = [
        {
            "type": "message",
            "id": f"e{number}",
            "parentId": None,
            "timestamp": at,
            "message": {"role": role, "content": [{"type": "text", "text": text}]},
        }
        for number, (role, text) in enumerate(messages)
    ]
    return [head, *said]
