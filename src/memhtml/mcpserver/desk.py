"""The one thread that works with the corpus, and how the event loop asks it for things.

Calls happen in one thread, one after the other, so that none sees half of what another does. The
loop stays free: it goes on reading requests, tells callers how far theirs is, and takes a cancelled
one back, from the queue or at its next sign of life.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memhtml.corpus import Corpus

__all__ = ["Cancelled", "Desk", "Pulse"]

T = TypeVar("T")

_REPORT_SECONDS = 0.5


class Cancelled(Exception):
    """Nobody waits for this call any more; raised at its next sign of life to end it."""


class Pulse:
    """How far a call is; written by the thread that works, read by the loop."""

    def __init__(self) -> None:
        self.done = 0
        self.total: int | None = None
        self.is_cancelled = False

    def tell(self, done: int, total: int | None = None) -> None:
        """Say that *done* steps are behind us.

        Raises:
            Cancelled: Stop here; whatever is not committed yet shall not be.
        """
        if self.is_cancelled:
            raise Cancelled
        self.done, self.total = done, total


class Desk:
    """A corpus that is opened when it is first needed; `close` lets go of it."""

    def __init__(self, open_corpus: Callable[[], Corpus]) -> None:
        self._open = open_corpus
        self._corpus: Corpus | None = None
        self._opening = Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memhtml-corpus")
        self._waiting = 0
        self._last_end = time.monotonic()
        self.calls = 0
        """How many there were."""

    def corpus(self) -> Corpus:
        """Return the corpus, opened if need be; for a thread that works beside the calls.

        Raises:
            MemhtmlError: It cannot be opened.
        """
        with self._opening:
            if self._corpus is None:
                self._corpus = self._open()
            return self._corpus

    def is_busy(self, seconds: float) -> bool:
        """Tell whether a call runs, or the last one ended less than so many *seconds* ago."""
        return self._waiting > 0 or time.monotonic() - self._last_end < seconds

    async def ask(
        self,
        work: Callable[[Corpus, Pulse], T],
        *,
        report: Callable[[int, Pulse], Awaitable[None]] | None = None,
        is_call: bool = True,
    ) -> T:
        """Return what *work* returns, done after everything that was asked before.

        *report* hears of a call that takes longer, each time with a higher count, from 1. What the
        server asks for itself is no call, and leaves a quiet moment quiet.

        Raises:
            MemhtmlError: What *work*, or opening the store, raises.
        """
        pulse = Pulse()
        self._waiting += is_call
        answer = asyncio.wrap_future(self._thread.submit(self._do, work, pulse))
        try:
            for count in range(1, 1_000_000):
                await asyncio.wait({answer}, timeout=None if report is None else _REPORT_SECONDS)
                if answer.done():
                    break
                if report is not None:
                    await report(count, pulse)
            return await answer
        except asyncio.CancelledError:
            pulse.is_cancelled = True
            answer.cancel()
            raise
        finally:
            if is_call:
                self._waiting -= 1
                self.calls += 1
                self._last_end = time.monotonic()

    def close(self) -> None:
        """Finish what is being done, bring git's index in step and let go of the store."""
        self._thread.submit(self._let_go).result()
        self._thread.shutdown()

    def _do(self, work: Callable[[Corpus, Pulse], T], pulse: Pulse) -> T:
        pulse.tell(0)
        return work(self.corpus(), pulse)

    def _let_go(self) -> None:
        if self._corpus is not None:
            self._corpus.close()
            self._corpus = None
