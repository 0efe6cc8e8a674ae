"""The SDK's own client, over both transports and in every era."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.mcpserver.peers import MODERN, serving_http

if TYPE_CHECKING:
    from pathlib import Path

    from mcp.client.client import ConnectMode

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
