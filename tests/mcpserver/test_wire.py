"""Whatever bytes come in, the other messages are answered and standard output stays clean."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memhtml.mcpserver.stdio import MAX_MESSAGE_BYTES
from tests.mcpserver.peers import StdioPeer

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


def test_abuse_of_every_kind_costs_only_itself(root: Path) -> None:
    with StdioPeer(root) as peer:
        peer.open()
        for garbage in (
            b"not json",
            b'{"jsonrpc": "2.0", "id": 9, "method"',
            b"\xff\xfe\x00",
            b'{"id": "\xc3\x28"}',
            b"[" * 100_000,
            b'"\\ud800"[',
            b"\x00",
        ):
            peer.send(garbage + b"\n")
            assert refusal_of(peer) == PARSE_ERROR, garbage[:40]
        for nonsense in (
            b"[]",
            b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
            b"null",
            b"7",
            b"{}",
            b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
            b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
            b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
            b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
            b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}',
        ):
            peer.send(nonsense + b"\n")
            assert refusal_of(peer) == INVALID_REQUEST, nonsense
        peer.send(b"\n \n\r\n")
        assert peer.error("no/such/method")["code"] == METHOD_NOT_FOUND
        assert peer.error("tools/call", {"name": 5})["code"] == INVALID_PARAMS
        peer.send(b'{"jsonrpc": "2.0", "id": 4711, "result": {}}\n')  # nobody asked
        peer.notify("notifications/no_such_thing", {"a": 1})
        peer.notify("notifications/cancelled", {"requestId": {"odd": True}})
        assert peer.result("ping") == {}
        peer.send(b'{"jsonrpc": "2.0", "id": 5, "meth')
        (answer,) = peer.finish()
        assert answer["error"]["code"] == PARSE_ERROR


def refusal_of(peer: StdioPeer) -> int:
    message = peer.receive()
    assert message["id"] is None
    code = message["error"]["code"]
    assert isinstance(code, int)
    return code


def test_a_text_cut_in_the_middle_of_an_emoji_is_answered_like_any_other(root: Path) -> None:
    """It was an error without an id, and who had asked waited for ever."""
    with StdioPeer(root) as peer:
        peer.open()
        half, whole = chr(0xD83D), "\U0001f511"
        write = {
            "title": "Key",
            "memory_type": "semantic",
            "body": f"The key {whole} is red {half}",
        }
        done = peer.result("tools/call", {"name": "memory_write", "arguments": write})
        path = done["structuredContent"]["path"]
        read = peer.result("tools/call", {"name": "memory_read", "arguments": {"path": path}})
        assert read["structuredContent"]["gist"] == f"The key {whole} is red ?"


def test_a_line_without_end_is_refused_and_a_long_one_in_pieces_is_taken(root: Path) -> None:
    with StdioPeer(root) as peer:
        peer.open()
        for _ in range(MAX_MESSAGE_BYTES // (1 << 20) + 1):
            peer.send(b"x" * (1 << 20))
        assert refusal_of(peer) == INVALID_REQUEST  # before the line has ended
        before = resident_bytes(peer)
        for _ in range(64):
            peer.send(b"x" * (1 << 20))
        peer.send(b"\n")
        assert peer.result("ping") == {}
        assert resident_bytes(peer) < before + (16 << 20)
        assert_takes_pieces(peer)


def resident_bytes(peer: StdioPeer) -> int:
    statm = Path(f"/proc/{peer.process.pid}/statm")
    if not statm.exists():
        return 0  # only Linux tells
    return int(statm.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def assert_takes_pieces(peer: StdioPeer) -> None:
    body = "The gate is 1 m wide. " + "It is green. " * 100_000
    write = {"title": "Gate", "memory_type": "semantic", "body": body}
    request = peer.request("tools/call", {"name": "memory_write", "arguments": write})
    data = json.dumps(request).encode() + b"\n"
    for start in range(0, len(data), 100_000):
        peer.send(data[start : start + 100_000])
    assert peer.receive_for(request["id"])["result"]["isError"] is False


def test_what_was_asked_before_the_end_of_input_is_answered(root: Path) -> None:
    with StdioPeer(root) as peer:
        info = {"name": "pipe", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        peer.send_message(peer.request("initialize", hello))
        peer.notify("notifications/initialized")
        write = {"title": "Gate", "memory_type": "semantic", "body": "The gate is green."}
        last = peer.request("tools/call", {"name": "memory_write", "arguments": write})
        peer.send(json.dumps(last).encode())  # and no line break
        answers = peer.finish()
        assert [answer["id"] for answer in answers] == [1, 2]
        assert answers[1]["result"]["structuredContent"]["created"] is True


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_a_signal_to_end_leaves_no_lock_behind(root: Path) -> None:
    with StdioPeer(root) as peer:
        peer.open()
        written = peer.call(
            "memory_write", title="Gate", memory_type="semantic", body="The gate is green."
        )
        assert written["isError"] is False
        peer.process.send_signal(signal.SIGTERM)
        assert peer.process.wait(20) == 128 + signal.SIGTERM
    assert not (root / ".git" / "index.lock").exists()


def test_a_client_that_no_longer_reads_ends_the_server(root: Path) -> None:
    with StdioPeer(root) as peer:
        peer.open()
        server = subprocess.Popen(
            [sys.executable, "-m", "memhtml", "serve", "mcp", "--repo", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdout.close()
        server.stdin.write(json.dumps(peer.request("ping")).encode() + b"\n")
        server.stdin.flush()
        assert server.wait(20) == 0
        server.stdin.close()


def test_a_store_that_is_not_there_is_told_by_each_call(tmp_path: Path) -> None:
    with StdioPeer(tmp_path / "nowhere") as peer:
        peer.open()
        result = peer.call("memory_status")
        assert result["isError"] is True
        failure = result["structuredContent"]
        assert failure["code"] == "ERR_NOT_A_STORE"
        assert failure["suggestions"][0].startswith("ask the user to run: memhtml init")
        assert peer.finish() == []
