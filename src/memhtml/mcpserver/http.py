"""The protocol over HTTP, for this machine by default.

A browser can be made to talk to any port of this machine, so the Host and Origin of a request must
be ours. Whoever listens to other machines as well must ask for a token.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse

from memhtml.mcpserver.stdio import MAX_MESSAGE_BYTES
from memhtml.model.errors import InvalidFlag, StorageFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["PATH", "Address", "listen", "parse_address", "serve_http", "url_of"]

PATH = "/mcp"

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SHUTDOWN_SECONDS = 2


class Address(NamedTuple):
    """Where to listen."""

    host: str
    """A name or an address, an IPv6 one without brackets."""
    port: int
    """0 for any that is free."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def host_header(self) -> str:
        """The host as a URL has it."""
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_address(text: str) -> Address:
    """Return the address that *text* names as HOST:PORT, [IPv6]:PORT or :PORT.

    >>> parse_address(":8765")
    Address(host='127.0.0.1', port=8765)

    Raises:
        InvalidFlag: It names none.
    """
    host, colon, port = text.rpartition(":")
    is_port = port.isascii() and port.isdecimal() and int(port) < 1 << 16
    if not colon or not is_port or (":" in host and not host.startswith("[")):
        raise InvalidFlag(f"write HOST:PORT such as 127.0.0.1:8765, not {text!r}")
    return Address(host.strip("[]") or "127.0.0.1", int(port))


def listen(address: Address, *, token: str | None) -> socket.socket:
    """Return a socket that listens at *address*; the caller closes it.

    Raises:
        InvalidFlag: Other machines could reach it, and there is no *token*.
        StorageFailure: The address cannot be listened to.
    """
    if not token and not address.is_loopback:
        raise InvalidFlag(
            f"{address.host!r} can be reached from other machines, so a token is needed",
            suggestions=("set MEMHTML_MCP_TOKEN", "listen to 127.0.0.1"),
        )
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        # The protocol has to be named: asyncio sends small answers at once only over a socket that
        # says it is TCP, and otherwise each waits 40 ms for the client's acknowledgement.
        listener = socket.socket(found[0][0], socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":  # elsewhere this would let others listen to the same port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(found[0][4])
            listener.listen()
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise StorageFailure(
            f"cannot listen to {address.host}:{address.port}: {error.strerror or error}"
        ) from error
    return listener


def url_of(address: Address, listener: socket.socket) -> str:
    """Return where clients find what *listener*, made for *address*, serves."""
    return f"http://{address.host_header}:{listener.getsockname()[1]}{PATH}"


async def serve_http(
    server: Server[Any],
    listener: socket.socket,
    stop: anyio.Event,
    *,
    hosts: Iterable[str] = (),
    token: str | None = None,
) -> None:
    """Serve on *listener* until *stop* is set.

    *hosts* are the names, besides those every machine has for itself, by which clients call this
    one. With a *token*, every request must bear it.
    """
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_MESSAGE_BYTES,
        transport_security=_security(hosts),
    )
    if token:
        app = _Gate(app, token)
    web = _Web(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
    )
    async with anyio.create_task_group() as tasks:

        async def end_on_stop() -> None:
            await stop.wait()
            web.should_exit = True

        tasks.start_soon(end_on_stop)
        await web.serve(sockets=[listener])
        tasks.cancel_scope.cancel()


class _Web(uvicorn.Server):
    """A web server that leaves signals to who runs it: the store has to be closed after it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Gate:
    """Lets through what has the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = b"Bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                refusal = PlainTextResponse(
                    "the token is missing or wrong\n", 401, {"WWW-Authenticate": "Bearer"}
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _security(hosts: Iterable[str]) -> TransportSecuritySettings:
    forms = [form for name in (*_LOOPBACK, *hosts) for form in (name, f"{name}:*")]
    return TransportSecuritySettings(
        allowed_hosts=forms,
        allowed_origins=[f"{scheme}://{form}" for form in forms for scheme in ("http", "https")],
    )
