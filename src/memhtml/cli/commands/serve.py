"""``memhtml serve mcp``: the store for agents, over standard input and output or HTTP."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from typing import TYPE_CHECKING

from memhtml.cli.command import Command, Flag, Kind
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store, root_of
from memhtml.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from typing import Any

    import anyio
    from mcp.server.lowlevel import Server

    from memhtml.cli.command import Call
    from memhtml.corpus import Corpus
    from memhtml.model.ports import DenseEncoder, SparseEncoder

__all__ = ["COMMANDS", "run", "script"]

COMMANDS = (
    Command(
        name="serve mcp",
        summary="Serve the store to agents by the Model Context Protocol.",
        description=(
            "Without --http it speaks over standard input and output until the input ends, and "
            "standard output carries nothing else. A store that does not exist yet is no reason to "
            "stop: each call says so until it does. memhtml-mcp is the same command under a name "
            "of its own."
        ),
        flags=(
            Flag(
                name="http",
                metavar="host:port",
                summary="listen there instead, at /mcp; :PORT is this machine alone",
            ),
            Flag(
                name="token",
                metavar="text",
                summary=(
                    "what every HTTP request must bear; needed where other machines can call; "
                    "MEMHTML_MCP_TOKEN keeps it off the command line"
                ),
            ),
            Flag(
                name="allow-host",
                repeatable=True,
                metavar="name",
                summary="a name by which others may call this machine over HTTP",
            ),
            Flag(
                name="embed",
                kind=Kind.BOOLEAN,
                default=True,
                summary=(
                    "make missing vectors while nobody asks, if a model has been added; "
                    "--no-embed leaves that to index embed"
                ),
            ),
        ),
        response_types=("serve.exit",),
        errors=("ERR_REPO_REQUIRED", "ERR_STORAGE"),
        exit_statuses=(
            (0, "the client went away"),
            (1, "it could not be done"),
            (2, "the call is wrong"),
            (130, "it was interrupted"),
            (143, "it was told to end"),
        ),
        examples=(
            "memhtml serve mcp",
            "memhtml serve mcp --http 127.0.0.1:8765",
        ),
    ),
)

_INDEX_DELAY_SECONDS = 0.5


def script() -> int:
    """Run ``memhtml serve mcp`` with this process's arguments: the command ``memhtml-mcp``."""
    from memhtml.cli.main import main, process_world  # noqa: PLC0415 - it imports the commands

    return main(["serve", "mcp", *sys.argv[1:]], process_world())


def run(call: Call) -> Success:
    """Serve until the client is gone or a signal comes."""
    with _loading():
        try:
            import mcp  # noqa: F401, PLC0415 - heavy, and an extra
        except ImportError:
            raise UsageError(
                "serving needs the package 'mcp'", suggestions=("pip install 'mcp>=2.3,<3'",)
            ) from None
        import anyio  # noqa: PLC0415 - comes with the extra

        import memhtml.mcpserver.server  # noqa: PLC0415 - heavy
        import memhtml.mcpserver.stdio  # noqa: F401, PLC0415 - as above

    status = anyio.run(_serve, call)
    return Success("serve.exit", {"server": "mcp"}, lambda _: "", status, form="text")


@contextlib.contextmanager
def _loading() -> Iterator[None]:
    """Load what stays to the end: a sixth faster than otherwise (``python -X importtime``).

    Nothing of it is garbage, so nobody looks for any, now or later; and pydantic does not search
    all that is installed for plugins.
    """
    import gc  # noqa: PLC0415 - a cold command needs none of these
    import os  # noqa: PLC0415 - as above

    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


async def _serve(call: Call) -> int:
    import logging  # noqa: PLC0415 - a cold command needs none of these

    import anyio  # noqa: PLC0415 - as above

    from memhtml.mcpserver.desk import Desk  # noqa: PLC0415 - as above
    from memhtml.mcpserver.idle import Idle  # noqa: PLC0415 - as above
    from memhtml.mcpserver.server import make_server  # noqa: PLC0415 - as above

    logging.basicConfig(stream=call.world.stderr, level=logging.WARNING)
    serve = _transport(call)
    desk = Desk(_opener(call))
    stop = anyio.Event()
    caught: list[int] = []
    try:
        with Idle(desk, partial(_encoder, call)):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_stop_on_signal, stop, caught)
                await serve(make_server(desk), stop)
                tasks.cancel_scope.cancel()
    finally:
        desk.close()
    return 128 + caught[0] if caught else 0


def _opener(call: Call) -> Callable[[], Corpus]:
    """Return what opens the store; whether one was named is seen now."""
    root_of(call)
    return lambda: open_store(call, index_delay=_INDEX_DELAY_SECONDS)


def _encoder(call: Call, name: str | None) -> SparseEncoder | DenseEncoder | None:
    """Return the encoder of a model that has been added, of the default one without a *name*."""
    from memhtml.cli import encoders  # noqa: PLC0415 - only who encodes

    name = name or encoders.DEFAULT_MODEL
    if not call.is_on("embed") or encoders.find_installed(call, name) is None:
        return None
    return encoders.open_encoder(call, name)


def _transport(call: Call) -> Callable[[Server[Any], anyio.Event], Awaitable[None]]:
    """Return what serves as *call* asks; an address is listened to from now on."""
    where = call.optional_text("http")
    token = call.optional_text("token") or call.world.env.get("MEMHTML_MCP_TOKEN", "").strip()
    if where is None:
        from memhtml.mcpserver.stdio import serve_stdio  # noqa: PLC0415 - one of the two

        return serve_stdio
    from memhtml.mcpserver import http  # noqa: PLC0415 - one of the two

    address = http.parse_address(where)
    listener = http.listen(address, token=token)
    call.world.stderr.write(f"listening at {http.url_of(address, listener)}\n")
    call.world.stderr.flush()
    hosts = (address.host_header, *call.texts("allow-host"))

    async def serve(server: Server[Any], stop: anyio.Event) -> None:
        with listener:
            await http.serve_http(server, listener, stop, hosts=hosts, token=token)

    return serve


async def _stop_on_signal(stop: anyio.Event, caught: list[int]) -> None:
    """Set *stop* at the first signal to end; a second one ends the process as ever."""
    import signal  # noqa: PLC0415 - a cold command needs none

    import anyio  # noqa: PLC0415 - as above

    with (
        contextlib.suppress(NotImplementedError),  # not every system has such signals
        anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals,
    ):
        async for number in signals:
            caught.append(number)
            stop.set()
            return
