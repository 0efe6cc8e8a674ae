"""Who may talk to the server over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest

from memhtml.mcpserver.http import parse_address
from memhtml.model.errors import InvalidFlag
from tests.cli.calls import call
from tests.mcpserver.peers import HttpPeer, serving_http

if TYPE_CHECKING:
    from pathlib import Path

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}


def status(url: str, **headers: str) -> int:
    sent = {"Accept": "application/json, text/event-stream", **headers}
    return httpx2.post(url, json=PING, headers=sent).status_code


def test_a_web_page_cannot_talk_to_the_server(root: Path) -> None:
    with serving_http(root) as url:
        assert status(url, Origin="https://evil.example") == 403
        assert status(url, Host="evil.example") == 421
        assert status(url, Host="127.0.0.1.evil.example:80") == 421
        assert status(url, Origin="http://localhost:5173") not in {401, 403, 421}
        response = httpx2.post(url, content=b"{}", headers={"Content-Type": "text/plain"})
        assert response.status_code == 400
        response = httpx2.post(
            url, content=b"not json", headers={"Content-Type": "application/json"}
        )
        assert response.status_code == 400
        assert httpx2.get(url.replace("/mcp", "/")).status_code == 404


def test_off_this_machine_a_token_is_needed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = call("serve", "mcp", "--repo", str(root), "--http", "0.0.0.0:0")
    assert refused.status == 2
    assert "a token is needed" in refused.json["error"]
    monkeypatch.setenv("MEMHTML_MCP_TOKEN", "s3cret")
    with serving_http(root, "--allow-host", "store.example", where="0.0.0.0:0") as listening:
        url = listening.replace("//0.0.0.0:", "//127.0.0.1:")
        assert status(url) == 401
        assert status(url, Authorization="Bearer wrong") == 401
        bearer = {"Authorization": "Bearer s3cret"}
        assert status(url, **bearer, Host="evil.example") == 421
        assert status(url, **bearer, Host="store.example") not in {401, 403, 421}
        peer = HttpPeer(url, "2025-11-25", bearer)
        peer.open()
        assert peer.call("memory_status")["isError"] is False
        peer.close()


@pytest.mark.parametrize("text", ["8765", "host", "host:", "host:x", "host:70000", "::1:80"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidFlag, match="HOST:PORT"):
        parse_address(text)


def test_an_address_that_is_taken_is_told(root: Path) -> None:
    with serving_http(root) as url:
        where = url.removeprefix("http://").removesuffix("/mcp")
        refused = call("serve", "mcp", "--repo", str(root), "--http", where)
    assert refused.json["code"] == "ERR_STORAGE"
    assert where in refused.json["error"]
