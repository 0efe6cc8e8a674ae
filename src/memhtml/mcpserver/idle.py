"""What a server does while nobody asks: it follows the files and encodes what has no vector yet.

It has a thread of its own and works in small batches, each of them kept, so a call that comes in
waits for nothing: at most it shares the processor with one batch. Of several servers on one store
one encodes at a time. Whatever goes wrong here is logged and costs nobody anything.
"""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import TYPE_CHECKING

from memhtml.index.database import cache_folder
from memhtml.mcpserver.schema import faults
from memhtml.model.closing import Closing
from memhtml.model.errors import MemhtmlError
from memhtml.store.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Desk
    from memhtml.model.ports import DenseEncoder, SparseEncoder

__all__ = ["Idle"]

logger = logging.getLogger(__name__)

BATCH_TEXTS = 16
"""A tenth of a second of work: so long may a call have to share the processor."""

_QUIET_SECONDS = 1.0
"""Nobody asks any more, after so long."""
_LOOK_SECONDS = 30.0
"""How often files are looked at that changed without a call."""
_PATIENCE_SECONDS = 60.0
"""When to try again after something went wrong, or where another process does the work."""

LOCK_NAME = "encode.lock"


class _Wanted(Exception):
    """Somebody asks something, or the server ends."""


class Idle(Closing):
    """The idle work of one server, until `close`.

    *open_encoder* returns the encoder of the model that it is given the name of, or of the default
    one, and None where that model has not been added.
    """

    def __init__(
        self,
        desk: Desk,
        open_encoder: Callable[[str | None], SparseEncoder | DenseEncoder | None],
    ) -> None:
        self._desk = desk
        self._open_encoder = open_encoder
        self._end = Event()
        self._thread = Thread(target=self._run, name="memhtml-idle", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End after the batch at hand."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        seen = -1  # calls, when we last had nothing left to do
        told = ""
        waited, patience = 0.0, 0.0
        while not self._end.wait(_QUIET_SECONDS):
            waited += _QUIET_SECONDS
            calls = self._desk.calls
            is_news = calls != seen or waited >= _LOOK_SECONDS
            if waited < patience or not is_news or self._desk.is_busy(_QUIET_SECONDS):
                continue
            waited, patience = 0.0, 0.0
            try:
                self._work()
            except _Wanted:
                continue
            except Exception as error:  # noqa: BLE001 - nobody waits for an answer
                patience = _PATIENCE_SECONDS
                if told != (told := repr(error)):
                    ours = isinstance(error, MemhtmlError)
                    logger.log(logging.INFO if ours else logging.WARNING, "idle work: %s", told)
            seen = calls

    def _work(self) -> None:
        faults({}, {})  # loads the validator, which the first call would wait for
        corpus = self._desk.corpus()
        corpus.update(progress=self._stop_at_end)
        for name in _unfinished(corpus):
            encoder = self._open_encoder(name)
            if encoder is None:
                continue
            lock = Lock(f"{cache_folder(corpus.root)}/{LOCK_NAME}", wait_seconds=0)
            lock.acquire()
            try:
                corpus.embed(encoder, batch=BATCH_TEXTS, progress=self._go_on)
            finally:
                lock.release()

    def _stop_at_end(self, _done: int, _total: int) -> None:
        # A call that comes in needs this index too, so only the end of the server is a reason.
        if self._end.is_set():
            raise _Wanted

    def _go_on(self, _done: int, _total: int) -> None:
        if self._end.is_set() or self._desk.is_busy(_QUIET_SECONDS):
            raise _Wanted


def _unfinished(corpus: Corpus) -> Iterator[str | None]:
    """Yield the model of each vector space that lacks texts; None where there is no space yet."""
    spaces = corpus.coverage()
    if not spaces and corpus.index_status().texts:
        yield None
    for space in spaces:
        if space.covered < space.texts:
            yield space.space.partition("@")[0]
