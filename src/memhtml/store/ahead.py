"""Drafts made into files before anybody asks for them, by another process while this one plans.

To render, check and gate a draft takes no view of the tree, and is most of the work of a large
batch. So while the planner folds one request after the other, children make the drafts it will come
to, a chunk each, and where it comes to one that is still under way, this process makes later ones
meanwhile. Whatever a child does not return, for want of the child or because the draft is refused,
is made by the planner itself, which then meets the same refusal in its turn.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from memhtml.model.memory import Draft
from memhtml.store.write import make

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memhtml.model.document import Document
    from memhtml.store.write import Made
    from memhtml.workers import Worker

__all__ = ["Order", "make_all", "making_ahead"]

Keys: TypeAlias = "tuple[str | None, str | None]"
"""Near key and frame key."""

AHEAD_FROM = 1_000
"""From so many drafts on, other processes make some: one takes as long as 200 to start."""

CHUNK = 64
"""Drafts handed out together. Some 30 ms of work, so nobody waits long for the last ones."""

_TASK = "memhtml.store.ahead:make_all"


class Order(NamedTuple):
    """How drafts are to be made. Another process has to understand it too."""

    at: str
    allow_secret: bool
    project: Callable[[Document, Keys], object] | None = None
    """What takes the place of `Made.document`, made of it and the keys in its `Fact`: a function
    that can be pickled."""


@contextmanager
def making_ahead(
    requests: Sequence[object], order: Order
) -> Iterator[Callable[[int], Made | None] | None]:
    """Give what returns the file of the draft at an index of *requests*, once; None if it cannot.

    None in place of that where making ahead does not pay. The drafts must be asked for in order.
    """
    drafts = {n: request for n, request in enumerate(requests) if isinstance(request, Draft)}
    if len(drafts) < AHEAD_FROM:
        yield None
        return
    from memhtml import workers  # noqa: PLC0415 - brings `subprocess`, and few batches are so large

    spare = workers.spare_processes()
    if not spare:
        yield None
        return
    with ExitStack() as stack:
        children = [stack.enter_context(closing(workers.Worker(_TASK))) for _ in range(spare)]
        yield _Ahead(drafts, children, order).take


def make_all(message: tuple[Order, list[Draft]]) -> list[Made | None]:
    """Return the file of each draft, None for one that the planner has to make: a worker's task."""
    order, drafts = message
    return [_made(draft, order) for draft in drafts]


class _Ahead:
    def __init__(self, drafts: dict[int, Draft], workers: Sequence[Worker], order: Order) -> None:
        self._drafts = drafts
        self._left = iter(drafts)
        self._order = order
        self._made: dict[int, Made | None] = {}
        self._under_way: dict[Worker, list[int]] = {worker: [] for worker in workers}

    def take(self, index: int) -> Made | None:
        """Return the file of the draft at *index*, if somebody could make it."""
        self._exchange()
        while index not in self._made:
            following = next(self._left, None)
            if following is None:
                self._wait_for(index)
            else:
                self._made[following] = _made(self._drafts[following], self._order)
                self._exchange()
        return self._made.pop(index)

    def _exchange(self) -> None:
        """Take what is done, and hand out what is next."""
        for worker, chunk in self._under_way.items():
            if chunk and worker.is_ready:
                self._receive(worker, chunk)
            if not chunk:
                self._hand_out(worker, chunk)

    def _hand_out(self, worker: Worker, chunk: list[int]) -> None:
        chunk += islice(self._left, CHUNK)
        if chunk:
            worker.send((self._order, [self._drafts[index] for index in chunk]))

    def _receive(self, worker: Worker, chunk: list[int]) -> None:
        made: list[Made | None] | None = worker.receive()
        self._made.update(zip(chunk, made or [None] * len(chunk), strict=True))
        chunk.clear()

    def _wait_for(self, index: int) -> None:
        for worker, chunk in self._under_way.items():
            if index in chunk:
                self._receive(worker, chunk)
                return
        self._made[index] = None  # nobody has it, as it was taken before


def _made(draft: Draft, order: Order) -> Made | None:
    try:
        made = make(draft, at=order.at, detect=_ask_nobody, allow_secret=order.allow_secret)
        if order.project is None:
            return made
        keys = made.fact.near_key, made.fact.frame_key
        return made._replace(document=order.project(made.document, keys))
    except Exception:  # noqa: BLE001 - the planner makes it again, and tells in its turn
        return None


def _ask_nobody(_code: str) -> str | None:
    """Give up on a draft whose code names no language: the planner's detector is not here."""
    raise LookupError
