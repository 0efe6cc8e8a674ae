"""Field case S5: a client that takes every word of the protocol seriously."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from tests.mcpserver.peers import HANDSHAKE, MODERN, HttpPeer, StdioPeer, serving_http

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mcpserver.peers import _Peer

REVISIONS = (*HANDSHAKE, MODERN)
NAME_RE = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*")

# Every tool once, in an order in which each finds what it needs.
GOOD: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "memory_write",
        {
            "title": "Gate hours",
            "memory_type": "semantic",
            "body": "The gate opens at 06:30. On Sundays it stays shut.",
            "tags": ["gate"],
            "entities": ["place:Gate"],
            "facets": {"minutes": 12},
            "workspace": None,
        },
    ),
    (
        "memory_write_batch",
        {
            "ops": [
                {"title": "Latch", "memory_type": "procedural", "body": "The latch is oiled."},
                {"op": "task", "title": "Oil the latch"},
                {"op": "link", "src_path": "@0", "rel": "relates_to", "dst_path": "@0"},
            ],
            "continue_on_error": True,
        },
    ),
    ("memory_search", {"query": "gate", "limit": 3}),
    (
        "memory_recall",
        {"query": "the gate", "budget_chars": 200, "tags": ["gate"], "facets": ["minutes>=10"]},
    ),
    ("memory_read", {"path": "resources/gate/gate-hours.html"}),
    ("memory_similar", {"path": "resources/gate/gate-hours.html", "limit": 3}),
    ("memory_list", {"limit": 2, "not_types": ["arc"]}),
    (
        "memory_link",
        {
            "src_path": "resources/gate/gate-hours.html",
            "rel": "relates_to",
            "dst_path": "areas/inbox/latch.html",
        },
    ),
    ("memory_neighbors", {"path": "resources/gate/gate-hours.html", "depth": 2}),
    ("memory_resolve", {"path": "resources/gate/gate-hours.html"}),
    (
        "memory_correct",
        {
            "target_path": "resources/gate/gate-hours.html",
            "title": "Gate hours",
            "reason": "new timetable",
            "body": "The gate opens at 07:00.",
        },
    ),
    ("memory_history", {"path": "resources/gate/gate-hours.html", "with_changes": True}),
    ("memory_archive", {"path": "areas/inbox/latch.html", "reason": "no latch any more"}),
    ("memory_unarchive", {"path": "archive/2026/areas/inbox/latch.html"}),
    (
        "memory_reinforce",
        {"paths": ["areas/inbox/latch.html"], "signal": "positive"},
    ),
    ("task_add", {"title": "Paint the gate", "due": "2026-12-01"}),
    ("task_status", {"path": "areas/inbox/tasks/paint-the-gate.html", "status": "doing"}),
    ("task_list", {"statuses": ["doing"], "due_before": "2026-12-02"}),
    ("trace_search", {"query": "the gate", "since": "2026-01-01", "limit": 2}),
    ("trace_links", {"path": "resources/gate/gate-hours.html"}),
    ("memory_check", {}),
    ("memory_status", {}),
)

NOWHERE = "areas/inbox/nothing-here.html"


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_strict_client_over_stdio(root: Path, revision: str) -> None:
    with StdioPeer(root, revision, module="tests.mcpserver.noisy") as peer:
        assert_strict(peer)
        assert peer.finish() == []
        assert b"noise through the descriptor" in peer.stderr
        assert b"noise of a child" in peer.stderr
        assert b"noise through print" in peer.stderr


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_strict_client_over_http(root: Path, revision: str) -> None:
    with serving_http(root) as url:
        peer = HttpPeer(url, revision)
        assert_strict(peer)
        peer.close()


def assert_strict(peer: _Peer) -> None:
    hello = peer.open()
    assert hello.get("protocolVersion", MODERN) == peer.revision
    assert len(hello["instructions"].split()) < 400
    tools = peer.result("tools/list")["tools"]
    assert tools == peer.result("tools/list")["tools"], "the order of tools is stable"
    assert {name for name, _ in GOOD} == {tool["name"] for tool in tools}
    declared = {tool["name"]: tool for tool in tools}
    for tool in tools:
        assert_declared_well(tool)
    for name, arguments in GOOD:
        result = call(peer, declared[name], arguments)
        assert not result["isError"], (name, result["content"])
    for tool in tools:
        assert_refuses_well(peer, tool)
    error = peer.error("tools/call", {"name": "memory_serch", "arguments": {}})
    assert error["code"] == -32602
    assert "'memory_search'" in error["message"]
    assert_reads_well(peer)


def assert_declared_well(tool: dict[str, Any]) -> None:
    assert NAME_RE.fullmatch(tool["name"])
    assert tool["title"]
    assert tool["description"]
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for name, member in schema["properties"].items():
            assert member.get("description"), f"{tool['name']}: {name}"
    assert tool["inputSchema"]["additionalProperties"] is False
    for name, member in tool["inputSchema"]["properties"].items():
        if member["type"] not in {"boolean", "object"}:
            told = {"examples", "enum", "minimum", "maxLength", "maxItems"} & member.keys()
            assert told, f"{tool['name']}: {name} has neither an example nor a limit"
    hints = tool["annotations"]
    assert hints["openWorldHint"] is False
    reads = {
        *("memory_search", "memory_recall", "memory_read", "memory_history", "memory_similar"),
        *("memory_list", "memory_neighbors", "memory_resolve", "task_list"),
        *("trace_search", "trace_links", "memory_check", "memory_status"),
    }
    assert hints["readOnlyHint"] is (tool["name"] in reads)
    if hints["readOnlyHint"]:
        assert hints["destructiveHint"] is False


def assert_refuses_well(peer: _Peer, tool: dict[str, Any]) -> None:
    schema = tool["inputSchema"]
    good = dict(next(arguments for name, arguments in GOOD if name == tool["name"]))
    result = call(peer, tool, {**good, "colour": "red"})
    assert_refused(result, "ERR_INVALID_FLAG", "'colour'")
    for name in schema["required"]:
        without = {other: value for other, value in good.items() if other != name}
        assert_refused(call(peer, tool, without), "ERR_INVALID_FLAG", f"'{name}' is missing")
    for name, member in schema["properties"].items():
        wrong: Any = 5 if member["type"] != "integer" and member["type"] != "number" else "five"
        result = call(peer, tool, {**good, name: wrong})
        assert_refused(result, "ERR_INVALID_FLAG", f"'{name}' must be")
    for name in ("path", "target_path", "src_path"):
        # That a path leads nowhere is an answer of this one.
        if name in schema["required"] and tool["name"] != "memory_resolve":
            result = call(peer, tool, {**good, name: NOWHERE})
            assert_refused(result, "ERR_PATH_NOT_FOUND", NOWHERE)


def call(peer: _Peer, tool: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    result = peer.call(tool["name"], **arguments)
    Draft202012Validator(tool["outputSchema"]).validate(result["structuredContent"])
    assert result["content"][0]["type"] == "text"
    return result


def assert_refused(result: dict[str, Any], code: str, word: str) -> None:
    assert result["isError"] is True
    failure = result["structuredContent"]
    assert failure["code"] == code
    assert word in failure["error"]
    assert result["content"][0]["text"].startswith(f"{code}: {failure['error']}")


def assert_reads_well(peer: _Peer) -> None:
    listed = peer.result("resources/list")["resources"]
    assert listed[0]["uri"] == "memhtml://index"
    for resource in listed:
        (content,) = peer.result("resources/read", {"uri": resource["uri"]})["contents"]
        assert content["uri"] == resource["uri"]
        assert content["mimeType"] == resource["mimeType"]
        assert content["text"]
    templates = peer.result("resources/templates/list")["resourceTemplates"]
    assert [template["name"] for template in templates] == ["file", "at", "entity", "sleep"]
    error = peer.error("resources/read", {"uri": f"memhtml://file/{NOWHERE}"})
    assert error["code"] == -32602
    assert error["message"].startswith("ERR_PATH_NOT_FOUND")
    assert error["data"] == {"uri": f"memhtml://file/{NOWHERE}"}
    filled = {"fact": "The gate is green.", "task": "Open the gate"}
    for prompt in peer.result("prompts/list")["prompts"]:
        required = [a["name"] for a in prompt["arguments"] if a.get("required")]
        arguments = {name: filled[name] for name in required}
        got = peer.result("prompts/get", {"name": prompt["name"], "arguments": arguments})
        assert got["messages"][0]["content"]["text"]
        for name in required:
            error = peer.error("prompts/get", {"name": prompt["name"], "arguments": {}})
            assert error["code"] == -32602
            assert f"'{name}' is missing" in error["message"]
    assert peer.error("prompts/get", {"name": "remembr"})["code"] == -32602
