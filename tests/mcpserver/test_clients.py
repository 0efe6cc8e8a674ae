"""The SDK's own client, over both transports and in every era."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import ResourceUpdatedNotification

from tests.mcpserver.peers import MODERN, serving_http
from tests.mcpserver.test_server import client_stream, write

if TYPE_CHECKING:
    from pathlib import Path

    from mcp.client.client import ConnectMode
    from mcp.client.session import IncomingMessage

ERAS = ("legacy", MODERN, "auto")


def test_the_sdks_client_over_stdio_finds_the_era_by_itself(root: Path) -> None:
    anyio.run(
        assert_remembers,
        StdioServerParameters(
            command=sys.executable,
            args=["-m", "memhtml", "serve", "mcp", "--repo", str(root)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ),
        "auto",
    )


def test_the_sdks_client_over_http_in_every_era(root: Path) -> None:
    with serving_http(root) as url:
        for mode in ERAS:
            anyio.run(assert_remembers, url, mode)


@pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")
@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_who_subscribed_over_http_hears_of_an_edit_by_hand(root: Path, mode: ConnectMode) -> None:
    with serving_http(root) as url:
        anyio.run(assert_hears, url, mode, root)


async def assert_hears(url: str, mode: ConnectMode, root: Path) -> None:
    news = anyio.Event()

    def hear(uri: str) -> None:
        assert uri.startswith("memhtml://file/")
        news.set()

    async def on_message(message: IncomingMessage) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            hear(message.params.uri)

    async with Client(url, mode=mode, message_handler=on_message) as client:
        path = await write(client, "Gate", "The gate is red.")
        uri = f"memhtml://file/{path}"
        async with anyio.create_task_group() as tasks:
            if mode == "legacy":
                await client.subscribe_resource(uri)
            else:
                await client_stream(client, [uri], tasks, hear)
            file = root / path
            file.write_bytes(file.read_bytes().replace(b"is red", b"is blue"))
            with anyio.fail_after(20):
                await news.wait()
            tasks.cancel_scope.cancel()


async def assert_remembers(server: StdioServerParameters | str, mode: ConnectMode) -> None:
    async with Client(server, mode=mode) as client:
        fact = f"The gate is opened by whoever speaks {mode}."
        await client.call_tool(
            "memory_write", {"title": f"Gate {mode}", "memory_type": "semantic", "body": fact}
        )
        found = await client.call_tool("memory_search", {"query": f"who speaks {mode}"})
        assert fact in [hit["gist"] for hit in found.structured_content["hits"]]
        first = (await client.list_resources()).resources[1]
        assert "# Gate" in getattr((await client.read_resource(first.uri)).contents[0], "text", "")
