"""What agents did with tools, as each layout writes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.traces.conversation import MOST_CHARS, read_conversation
from memhtml.traces.record import Role
from memhtml.traces.sessions import sessions_of
from tests.traces.transcripts import (
    Claude,
    base_in,
    codex_lines,
    gemini_lines,
    pi_lines,
    put,
    rescan,
)

if TYPE_CHECKING:
    from pathlib import Path

A = "aaaaaaaa-1111-4111-8111-111111111111"
ERROR = "OSError: the register is shut"
AT = "2026-03-01T13:00:00.000Z"


def of_claude() -> list[Any]:
    one = Claude(A)
    return [one.user("count"), one.calls("make count"), one.result(ERROR, failed=True)]


def of_codex(*items: dict[str, Any]) -> list[Any]:
    lines = [{"timestamp": AT, "type": "response_item", "payload": item} for item in items]
    return [*codex_lines(A, ("user", "count")), *lines]


def codex_call(**fields: Any) -> dict[str, Any]:
    arguments = json.dumps({"command": ["bash", "-lc", "make count"]})
    call = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": "c1"}
    return call | fields


def codex_output(output: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": "c1", "output": output}


def of_gemini() -> list[Any]:
    answer = [{"functionResponse": {"id": "c1", "response": {"error": ERROR}}}]
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": "make count"}}
    message = {"id": "m9", "type": "gemini", "timestamp": AT, "content": ""}
    done = {**call, "status": "error", "result": answer}
    begun = {**message, "toolCalls": [{**call, "status": "executing"}]}
    return [*gemini_lines(A, ("user", "count")), begun, {**message, "toolCalls": [done]}]


def of_pi() -> list[Any]:
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "make count"}}
    result = {"role": "toolResult", "toolCallId": "c1", "isError": True, "content": ERROR}
    messages = ({"role": "assistant", "content": [call]}, result)
    return [
        *pi_lines(A, ("user", "count")),
        *({"type": "message", "id": "x", "timestamp": AT, "message": one} for one in messages),
    ]


def of_pi_shell() -> list[Any]:
    ran = {"role": "bashExecution", "command": "make count", "output": ERROR, "exitCode": 2}
    message = {"type": "message", "id": "x", "timestamp": AT, "message": ran}
    return [*pi_lines(A, ("user", "count")), message]


CLAUDE = f"projects/-srv/{A}.jsonl"
CODEX = f"sessions/rollout-2026-03-01T13-00-00-{A}.jsonl"
GEMINI = "tmp/shop/chats/session-a.jsonl"
PI = f"sessions/--srv--/2026_{A}.jsonl"


@pytest.mark.parametrize(
    ("place", "lines"),
    [
        (CLAUDE, of_claude()),
        (CODEX, of_codex(codex_call(), codex_output(f"Exit code: 2\nOutput:\n{ERROR}"))),
        (
            CODEX,
            of_codex(
                codex_call(),
                codex_output(json.dumps({"output": ERROR, "metadata": {"exit_code": 2}})),
            ),
        ),
        (
            CODEX,
            of_codex(
                codex_call(arguments=json.dumps({"cmd": "make count"})),
                codex_output({"success": False, "content": ERROR}),
            ),
        ),
        (
            CODEX,
            of_codex(
                {
                    "type": "local_shell_call",
                    "call_id": "c1",
                    "action": {"type": "exec", "command": ["bash", "-lc", "make count"]},
                },
                codex_output(f"Process exited with code 2\n{ERROR}"),
            ),
        ),
        (GEMINI, of_gemini()),
        (PI, of_pi()),
        (PI, of_pi_shell()),
    ],
)
def test_a_failing_command_is_seen_in_every_layout(
    tmp_path: Path, place: str, lines: list[Any]
) -> None:
    path = put(tmp_path / "root" / place, *lines)
    with base_in(tmp_path / "cache") as base:
        report = rescan(base, tmp_path / "root")
        (transcript,) = sessions_of(base, [A])[A].transcripts
    assert (report.lines_unknown, report.lines_dropped) == (0, 0)
    said = read_conversation(transcript)
    user, call, result = said.entries
    assert (user.role, user.text) == (Role.USER, "count")
    assert (call.role, call.text) == (Role.CALL, "make count")
    assert (result.role, result.failed) == (Role.RESULT, True)
    assert ERROR in result.text
    assert call.call_id == result.call_id
    text = path.read_text().splitlines()
    assert "make count" in text[call.line - 1]


def test_a_patch_is_named_by_the_files_it_touches(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: src/gate.py\n@@\n-a\n+b\n*** End Patch"
    call = {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "c1"}
    put(tmp_path / "root" / CODEX, *of_codex(call))
    with base_in(tmp_path / "cache") as base:
        rescan(base, tmp_path / "root")
        (transcript,) = sessions_of(base, [A])[A].transcripts
    *_, edit = read_conversation(transcript).entries
    assert (edit.text, edit.tool) == ("src/gate.py", "apply_patch")


def test_what_tools_printed_is_kept_only_where_they_failed(tmp_path: Path) -> None:
    one = Claude(A)
    printed = "x" * 9 * MOST_CHARS
    put(
        tmp_path / "root" / CLAUDE,
        one.user("count"),
        one.result(printed),
        one.result(f"first\n{printed}\nlast", failed=True),
    )
    with base_in(tmp_path / "cache") as base:
        rescan(base, tmp_path / "root")
        (transcript,) = sessions_of(base, [A])[A].transcripts
    _, fine, failed = read_conversation(transcript).entries
    assert fine.text == ""
    assert failed.text.startswith("first\n")
    assert failed.text.endswith("\nlast")
    assert len(failed.text) == 2 * MOST_CHARS + 1
