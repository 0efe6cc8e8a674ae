"""The protocol over standard input and output, one message a line.

Standard output carries messages and nothing else: while we serve, descriptor 1 leads to standard
error, whatever a library prints, and the messages go out through a private duplicate. Standard
input is read by a thread of its own, in bounded lines; what is no message is answered with an
error and costs nobody else anything.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from anyio.lowlevel import current_token
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyio.lowlevel import EventLoopToken
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server

__all__ = ["MAX_MESSAGE_BYTES", "serve_stdio"]

MAX_MESSAGE_BYTES = 32 * 1024 * 1024
"""A longer line is refused without being held in memory. JSON may double a memory's 8 MiB twice."""

_CHUNK = 64 * 1024
_DRAIN_SECONDS = 30.0
_ENDLESS = frozenset({"subscriptions/listen"})

Streamed = SessionMessage | Exception


async def serve_stdio(server: Server[Any], stop: anyio.Event) -> None:
    """Serve until standard input ends, the reader of our output is gone, or *stop* is set."""
    with _claimed() as (source, sink):
        wire = _Wire(source, sink)
        async with anyio.create_task_group() as tasks:

            async def end_on_stop() -> None:
                await stop.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(end_on_stop)
            tasks.start_soon(wire.write_messages)
            Thread(target=wire.read_messages, args=(current_token(),), daemon=True).start()
            await server.run(wire.incoming, wire.outgoing, server.create_initialization_options())
            await wire.written.wait()
            tasks.cancel_scope.cancel()


@contextmanager
def _claimed() -> Iterator[tuple[int, int]]:
    """Lead descriptor 0 to nothing and 1 to standard error; yield duplicates of what they were."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)  # standard error is closed
    os.close(nothing)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - is only there

        for descriptor in (source, sink):
            msvcrt.setmode(descriptor, os.O_BINARY)
    try:
        yield source, sink
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(sink, 1)
        os.close(sink)
        # A thread may still be reading from the duplicate, so it stays open.
        os.dup2(source, 0)


_half_pair_re = re.compile(rb"\\u[dD][89a-fA-F]")
"""Where half a pair may be spelt; mostly the other half follows."""


class _Wire:
    """Two streams of messages, and the descriptors they come from and go to."""

    incoming: MemoryObjectReceiveStream[Streamed]
    outgoing: MemoryObjectSendStream[SessionMessage]

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._received, self.incoming = anyio.create_memory_object_stream[Streamed]()
        self.outgoing, self._to_write = anyio.create_memory_object_stream[SessionMessage]()
        self._writing = anyio.Lock()
        self._unanswered: set[types.RequestId] = set()
        self._answered = anyio.Event()
        self.written = anyio.Event()
        """Set when the last message is out, or there is nobody to take it."""

    def read_messages(self, loop: EventLoopToken) -> None:
        """Pass on every message until the end of input; runs in a thread of its own."""
        # The loop may end before the input does; then there is nothing left to pass on to.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, RuntimeError):
            try:
                for line in _lines(self._source):
                    from_thread.run(self._receive, line, token=loop)
            finally:
                from_thread.run(self._end_of_input, token=loop)

    async def write_messages(self) -> None:
        """Write every message until the server has no more."""
        try:
            async with self._to_write:
                async for item in self._to_write:
                    message = item.message
                    await self._write(
                        message.model_dump_json(by_alias=True, exclude_unset=True).encode()
                    )
                    if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                        self._is_answered(message.id)
        except OSError:
            # Nobody reads any more, so nobody will ask.
            await self._received.aclose()
        finally:
            self.written.set()

    async def _receive(self, line: bytes | None) -> None:
        """Pass on one line; None stands for one that was too long."""
        if line is None:
            await self._refuse(
                None, types.INVALID_REQUEST, f"a message is longer than {MAX_MESSAGE_BYTES:,} bytes"
            )
            return
        if not line.strip():
            return
        try:
            if _half_pair_re.search(line):
                line = _with_whole_characters(line)
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            if any(fault["type"] == "json_invalid" for fault in error.errors(include_input=False)):
                await self._refuse(None, types.PARSE_ERROR, "not JSON")
            else:
                await self._refuse(None, types.INVALID_REQUEST, "not a JSON-RPC 2.0 message")
            return
        is_notification = isinstance(message, types.JSONRPCNotification)
        if is_notification and b'"id"' in line and "id" in json.loads(line):
            # A request whose id cannot be used would pass for a notification, and its sender wait.
            await self._refuse(None, types.INVALID_REQUEST, "an id is a string or an integer")
            return
        if isinstance(message, types.JSONRPCRequest) and message.method not in _ENDLESS:
            self._unanswered.add(message.id)
        elif (
            isinstance(message, types.JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            self._is_answered((message.params or {}).get("requestId"))
        await self._received.send(SessionMessage(message))

    async def _end_of_input(self) -> None:
        """Close the stream once everything that was asked is answered."""
        with anyio.move_on_after(_DRAIN_SECONDS):
            while self._unanswered:
                self._answered = anyio.Event()
                await self._answered.wait()
        await self._received.aclose()

    async def _refuse(self, about: types.RequestId | None, code: int, reason: str) -> None:
        error = types.JSONRPCError(
            jsonrpc="2.0", id=about, error=types.ErrorData(code=code, message=reason)
        )
        with suppress(OSError):
            await self._write(error.model_dump_json(exclude_unset=True).encode())

    async def _write(self, message: bytes) -> None:
        async with self._writing:
            # A client that does not read must not keep us from ending.
            await to_thread.run_sync(
                _write_all, self._sink, message + b"\n", abandon_on_cancel=True
            )

    def _is_answered(self, about: object) -> None:
        if isinstance(about, str | int):  # else the client named no request of its own
            self._unanswered.discard(about)
            self._answered.set()


def _with_whole_characters(line: bytes) -> bytes:
    """Return *line* with a "?" for each half of a surrogate pair; as it is where it is no JSON.

    Some clients cut a text in the middle of an emoji. Its JSON is good to them and not to others.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _lines(source: int) -> Iterator[bytes | None]:
    """Yield each line of *source*, and what follows the last; None for one that is too long."""
    held = bytearray()
    is_skipping = False
    while chunk := os.read(source, _CHUNK):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if not is_skipping:
                held += part
                yield None if len(held) > MAX_MESSAGE_BYTES else bytes(held)
            held.clear()
            is_skipping = False
        if is_skipping:
            continue
        held += rest
        if len(held) > MAX_MESSAGE_BYTES:
            yield None
            held.clear()
            is_skipping = True
    if held:
        yield bytes(held)


def _write_all(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]
