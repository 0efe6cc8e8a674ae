"""Other processes that read files into rows while this one inserts them.

They are plain children with a pipe each way. What the standard library offers starts a child by
importing the caller's main module again where it cannot fork, and a library has no say in how that
was written. A child that fails costs nothing but time: its files are read here.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.parse import parse
from memhtml.index.project import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memhtml.index.rows import Rows, SkippedRow

__all__ = ["Blob", "projected", "serve", "spare_processes"]

MOST_WORKERS = 4
"""One process inserts as fast as some four can read."""

_CHILD = "import sys; sys.path[:] = sys.argv[1:]; from memhtml.index.workers import serve; serve()"


class Blob(NamedTuple):
    """A file to read."""

    path: str
    sha: str
    data: bytes


def spare_processes() -> int:
    """Return how many processes may work beside this one; 0 on one core or without a Python."""
    if not sys.executable or getattr(sys, "frozen", False):
        return 0
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # Windows and macOS have no such call
        cores = os.cpu_count() or 1
    return min(cores - 1, MOST_WORKERS)


def projected(
    batches: Iterable[Sequence[Blob]], chunk_chars: int, workers: int
) -> Iterator[list[Rows | SkippedRow]]:
    """Yield the rows of each of *batches*, in order, read by so many *workers* at once.

    A batch is handed out before the one before it is given to the caller, who may take his time.
    """
    waiting = iter(batches)
    under_way: deque[tuple[_Worker, Sequence[Blob]]] = deque()
    with contextlib.ExitStack() as stack:
        for _ in range(workers):
            batch = next(waiting, None)
            if batch is None:
                break
            worker = stack.enter_context(contextlib.closing(_Worker(chunk_chars)))
            worker.send(batch)
            under_way.append((worker, batch))
        while under_way:
            worker, batch = under_way.popleft()
            rows = worker.receive()
            # Nothing is sent to a child whose answer nobody took, or both would wait for ever.
            following = next(waiting, None)
            if following is not None:
                worker.send(following)
                under_way.append((worker, following))
            if rows is None:
                rows = [rows_of(path, sha, parse(data), chunk_chars) for path, sha, data in batch]
            yield rows


def serve() -> None:
    """Answer each batch on stdin with its rows on stdout, until there is no more."""
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            chunk_chars, batch = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own parent
            rows = [rows_of(path, sha, parse(data), chunk_chars) for path, sha, data in batch]
            pickle.dump(rows, sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
            sys.stdout.buffer.flush()


class _Worker:
    """One child. What goes wrong with it is no error: it has no answer then."""

    def __init__(self, chunk_chars: int) -> None:
        self._chunk_chars = chunk_chars
        self._child: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):
            self._child = subprocess.Popen(
                (sys.executable, "-c", _CHILD, *sys.path),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    def send(self, batch: Sequence[Blob]) -> None:
        if self._child is None or self._child.stdin is None:
            return
        message = (self._chunk_chars, [tuple(blob) for blob in batch])
        try:
            pickle.dump(message, self._child.stdin, pickle.HIGHEST_PROTOCOL)
            self._child.stdin.flush()
        except OSError:
            self.close()

    def receive(self) -> list[Rows | SkippedRow] | None:
        if self._child is None or self._child.stdout is None:
            return None
        try:
            rows: list[Rows | SkippedRow] = pickle.load(self._child.stdout)  # noqa: S301 - as above
        except (EOFError, OSError, pickle.UnpicklingError):
            self.close()
            return None
        return rows

    def close(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        with contextlib.suppress(OSError):
            child.communicate()
