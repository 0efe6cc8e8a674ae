"""Clients that speak the protocol byte by byte, so that a test sees all that is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

__all__ = ["HANDSHAKE", "MODERN", "HttpPeer", "StdioPeer", "serving_http"]

HANDSHAKE = ("2025-06-18", "2025-11-25")
MODERN = "2026-07-28"

_PATIENCE_SECONDS = 30.0

Json = dict[str, Any]


class _Peer:
    """The half of a client that does not care how messages travel."""

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self._last_id = 0

    def open(self) -> Json:
        """Begin as the revision has it; return what the server says of itself."""
        if self.revision == MODERN:
            return self.result("server/discover")
        info = {"name": "peer", "version": "1"}
        asked = {"protocolVersion": self.revision, "capabilities": {}, "clientInfo": info}
        hello = self.result("initialize", asked)
        self.notify("notifications/initialized")
        return hello

    def ask(self, method: str, params: Json | None = None) -> Json:
        """Return the response to one request."""
        return self._exchange(self.request(method, params))

    def result(self, method: str, params: Json | None = None) -> Json:
        response = self.ask(method, params)
        assert "result" in response, response
        found = response["result"]
        assert isinstance(found, dict)
        return found

    def error(self, method: str, params: Json | None = None) -> Json:
        response = self.ask(method, params)
        assert "error" in response, response
        found = response["error"]
        assert isinstance(found, dict)
        return found

    def call(self, tool: str, **arguments: Any) -> Json:
        """Return the result of a tool."""
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def request(self, method: str, params: Json | None = None) -> Json:
        self._last_id += 1
        params = dict(params or {})
        if self.revision == MODERN:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "1"},
                **params.get("_meta", {}),
            }
        return {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}

    def notify(self, method: str, params: Json | None = None) -> None:
        raise NotImplementedError

    def _exchange(self, request: Json) -> Json:
        raise NotImplementedError


class StdioPeer(_Peer):
    """A server process of its own, spoken to through its pipes."""

    def __init__(
        self, root: Path, revision: str = "2025-11-25", *, module: str = "memhtml"
    ) -> None:
        super().__init__(revision)
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, "serve", "mcp", "--repo", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self.notifications: list[Json] = []
        self.stderr = b""
        self._lines: Queue[bytes] = Queue()
        self._threads = [
            Thread(target=self._collect, daemon=True),
            Thread(target=self._drain, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def send(self, data: bytes) -> None:
        """Write *data* as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send_message(self, message: Json) -> None:
        self.send(json.dumps(message).encode() + b"\n")

    def notify(self, method: str, params: Json | None = None) -> None:
        self.send_message({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def receive(self, seconds: float = _PATIENCE_SECONDS) -> Json:
        """Return the next message; every line of standard output must be one."""
        try:
            line = self._lines.get(timeout=seconds)
        except Empty:
            raise AssertionError(f"nothing came in {seconds} s; stderr: {self.stderr!r}") from None
        assert line, f"standard output ended; stderr: {self.stderr!r}"
        message = json.loads(line)
        assert isinstance(message, dict), line
        assert message["jsonrpc"] == "2.0", line
        return message

    def receive_for(self, request_id: int) -> Json:
        """Return the response to that request, keeping notifications that come before it."""
        while (message := self.receive()).get("id") != request_id:
            assert "method" in message, message
            self.notifications.append(message)
        return message

    def finish(self) -> list[Json]:
        """Close standard input; return what the server still says. It must end well."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(_PATIENCE_SECONDS) == 0, self.stderr
        rest = []
        while line := self._lines.get(timeout=_PATIENCE_SECONDS):
            rest.append(json.loads(line))
        return rest

    def _exchange(self, request: Json) -> Json:
        self.send_message(request)
        return self.receive_for(request["id"])

    def _collect(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _drain(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line


class HttpPeer(_Peer):
    """A client of a server that listens at *url*."""

    def __init__(self, url: str, revision: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(revision)
        self._url = url
        self._client = httpx2.Client(timeout=_PATIENCE_SECONDS)
        self._headers = {"Accept": "application/json, text/event-stream", **(headers or {})}

    def close(self) -> None:
        self._client.close()

    def post(self, message: Json) -> httpx2.Response:
        headers = dict(self._headers)
        if self.revision == MODERN:
            headers["MCP-Protocol-Version"] = MODERN
            headers["Mcp-Method"] = message["method"]
            params = message["params"]
            if name := params.get("name", params.get("uri")):
                headers["Mcp-Name"] = name
        elif message["method"] != "initialize":
            headers["MCP-Protocol-Version"] = self.revision
        response = self._client.post(self._url, json=message, headers=headers)
        if session := response.headers.get("mcp-session-id"):
            self._headers["Mcp-Session-Id"] = session
        return response

    def notify(self, method: str, params: Json | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        assert self.post(message).status_code == 202

    def _exchange(self, request: Json) -> Json:
        response = self.post(request)
        if response.headers["content-type"].startswith("text/event-stream"):
            told = [line[5:] for line in response.text.splitlines() if line.startswith("data:")]
            messages = [json.loads(line) for line in told if line.strip()]
        else:
            messages = [response.json()]
        answer = next(m for m in messages if m.get("id") == request["id"])
        assert isinstance(answer, dict)
        return answer


class serving_http:  # noqa: N801 - read as a verb: with serving_http(...)
    """A server process that listens on a free port of this machine; gives its URL."""

    def __init__(self, root: Path, *flags: str, where: str = "127.0.0.1:0") -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "memhtml", "serve", "mcp"),
                *("--repo", str(root), "--http", where, *flags),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def __enter__(self) -> str:
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert line.startswith("listening at http://"), line + self.process.stderr.read()
        return line.split()[-1]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        out, _ = self.process.communicate(timeout=_PATIENCE_SECONDS)
        assert out == "", "standard output is not for logs"
