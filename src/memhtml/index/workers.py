"""Other processes that read files into rows while this one inserts them."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.parse import parse
from memhtml.index.project import rows_of
from memhtml.workers import Worker, spare_processes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memhtml.index.rows import Rows, SkippedRow

__all__ = ["Blob", "projected", "read_rows", "spare_processes"]

_TASK = "memhtml.index.workers:read_rows"


class Blob(NamedTuple):
    """A file to read."""

    path: str
    sha: str
    data: bytes


def projected(
    batches: Iterable[Sequence[Blob]], chunk_chars: int, workers: int
) -> Iterator[list[Rows | SkippedRow]]:
    """Yield the rows of each of *batches*, in order, read by so many *workers* at once.

    A batch is handed out before the one before it is given to the caller, who may take his time.
    """
    waiting = map(list, batches)
    under_way: deque[tuple[Worker, list[Blob]]] = deque()
    with contextlib.ExitStack() as stack:
        for _ in range(workers):
            batch = next(waiting, None)
            if batch is None:
                break
            worker = stack.enter_context(contextlib.closing(Worker(_TASK)))
            worker.send((chunk_chars, batch))
            under_way.append((worker, batch))
        while under_way:
            worker, batch = under_way.popleft()
            rows: list[Rows | SkippedRow] | None = worker.receive()
            following = next(waiting, None)
            if following is not None:
                worker.send((chunk_chars, following))
                under_way.append((worker, following))
            yield read_rows((chunk_chars, batch)) if rows is None else rows


def read_rows(message: tuple[int, list[Blob]]) -> list[Rows | SkippedRow]:
    """Return the rows of a batch of files: what a worker answers."""
    chunk_chars, batch = message
    return [rows_of(path, sha, parse(data), chunk_chars) for path, sha, data in batch]
