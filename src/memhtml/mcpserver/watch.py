"""Who wants to hear of which resource, and the loop that notices when one has changed.

Files change by our own calls, by other processes and by hand, so what was seen last is compared
with what is there now, and only for what somebody subscribed to. Clients of the handshake era hear
it on their session, those of today on the stream they opened.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import anyio
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ResourcesListChanged,
    ResourceUpdated,
)

from memhtml.mcpserver.resources import can_change, list_reports, read_resource
from memhtml.model.errors import MemhtmlError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from mcp.server.session import ServerSession

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Desk, Pulse

__all__ = ["LISTING", "Watch"]

LISTING = "memhtml://"
"""Stands for the list of all resources among the URIs that are watched."""

_LOOK_SECONDS = 1.0
_SHARE = 20
"""Looking takes no more than one part in so many of the time, as long as that is soon enough."""
_SELDOM_SECONDS = 10.0
_AT_ONCE = 50
"""Resources looked at before a call that came in has its turn."""
_MOST_SESSIONS = 1000


class _Listener(NamedTuple):
    session: ServerSession
    uris: set[str]


class Watch:
    """The subscriptions of one server."""

    def __init__(self, desk: Desk) -> None:
        self.bus = InMemorySubscriptionBus()
        self._desk = desk
        self._interest: Counter[str] = Counter()
        self._seen: dict[str, str] = {}
        # An HTTP session ends without telling us; the one that subscribed first makes room.
        self._listeners: OrderedDict[str, _Listener] = OrderedDict()
        self._nudge = anyio.Event()

    @asynccontextmanager
    async def watching(self, uris: Iterable[str]) -> AsyncIterator[None]:
        """Publish on `bus` what happens to *uris* inside the ``with`` block."""
        watched = [*dict.fromkeys(uris)]
        for uri in watched:
            await self._begin(uri)
        try:
            yield
        finally:
            for uri in watched:
                self._end(uri)

    async def subscribe(self, key: str, session: ServerSession, uri: str) -> None:
        """Let the session called *key* hear of *uris* too."""
        listener = self._listeners.setdefault(key, _Listener(session, set()))
        if uri not in listener.uris:
            await self._begin(uri)
            listener.uris.add(uri)
        while len(self._listeners) > _MOST_SESSIONS:
            _, gone = self._listeners.popitem(last=False)
            for left in gone.uris:
                self._end(left)

    def unsubscribe(self, key: str, uri: str) -> None:
        """Let the session called *key* hear of *uri* no longer."""
        listener = self._listeners.get(key)
        if listener is not None and uri in listener.uris:
            listener.uris.remove(uri)
            self._end(uri)

    def nudge(self) -> None:
        """Look now: something was changed by this server itself."""
        self._nudge.set()

    async def run(self) -> None:
        """Tell of changes until cancelled."""
        took = 0.0
        while True:
            # What takes long is done seldom, even when we know that something changed.
            if took > _LOOK_SECONDS / _SHARE:
                await anyio.sleep(min(_SHARE * took, _SELDOM_SECONDS))
            with anyio.move_on_after(_LOOK_SECONDS):
                await self._nudge.wait()
            self._nudge = anyio.Event()
            began = anyio.current_time()
            if self._interest:
                for uri in await self._changed():
                    await self._tell(uri)
            took = anyio.current_time() - began

    async def _changed(self) -> list[str]:
        watched = [*self._interest]
        now: dict[str, str] = {}
        for begin in range(0, len(watched), _AT_ONCE):
            some = watched[begin : begin + _AT_ONCE]
            now |= await self._desk.ask(partial(_states, uris=some), is_call=False)
        changed = [uri for uri in watched if uri in self._seen and now[uri] != self._seen[uri]]
        self._seen.update({uri: now[uri] for uri in watched if uri in self._interest})
        return changed

    async def _tell(self, uri: str) -> None:
        if uri == LISTING:
            await self.bus.publish(ResourcesListChanged())
            return
        await self.bus.publish(ResourceUpdated(uri=uri))
        for listener in [*self._listeners.values()]:
            if uri in listener.uris:
                await listener.session.send_resource_updated(uri)

    async def _begin(self, uri: str) -> None:
        # What is there at this moment is what the subscriber knows.
        if uri not in self._seen and (uri == LISTING or can_change(uri)):
            self._seen[uri] = await self._desk.ask(lambda corpus, _: _state(corpus, uri))
        self._interest[uri] += 1

    def _end(self, uri: str) -> None:
        self._interest[uri] -= 1
        if self._interest[uri] <= 0:
            del self._interest[uri]
            self._seen.pop(uri, None)


def _states(corpus: Corpus, _: Pulse, *, uris: list[str]) -> dict[str, str]:
    return {uri: _state(corpus, uri) for uri in uris}


def _state(corpus: Corpus, uri: str) -> str:
    """Return something that differs when what *uri* stands for differs."""
    try:
        if uri == LISTING:
            corpus.update()
            said = "\n".join([*sorted(corpus.indexed_files()), *list_reports(corpus)])
        else:
            said = read_resource(corpus, uri, counts=False).text
    except MemhtmlError as error:
        said = error.code
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
