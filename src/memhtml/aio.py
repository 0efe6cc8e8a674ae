"""The corpus for asyncio: every method of `Corpus` under its name, done by worker threads.

A call that is cancelled while it waits for a worker never begins. One that a worker has begun is
not awaited any longer, and the worker finishes it: a commit is whole or was never made. Closing
waits for what is being done. Functions handed in, planners and progress included, are called by
the worker.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from memhtml.corpus import Corpus
from memhtml.model.errors import UsageError

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
    from datetime import datetime
    from types import TracebackType
    from typing import Self

    from memhtml.model.memory import Memory
    from memhtml.model.ports import DenseEncoder
    from memhtml.store.repo import InitReport

__all__ = ["WORKERS", "AsyncCorpus", "init", "open"]

WORKERS = 4
"""Threads that work for one corpus: one may write while the others read."""

_FETCHED = 32
"""So many items of an iteration come with one trip to a worker."""

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    method: Callable[Concatenate[Corpus, P], T],
) -> Callable[Concatenate[AsyncCorpus, P], Coroutine[Any, Any, T]]:
    """Return *method* as one whose result is awaited."""

    @wraps(method, assigned=("__name__", "__doc__"))
    async def call(self: AsyncCorpus, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(partial(method, self.corpus, *args, **kwargs))

    return call


def _iterated(
    method: Callable[Concatenate[Corpus, P], Iterator[T]],
) -> Callable[Concatenate[AsyncCorpus, P], AsyncIterator[T]]:
    """Return *method* as one whose items are awaited."""

    @wraps(method, assigned=("__name__", "__doc__"))
    async def walk(self: AsyncCorpus, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        items = await self._run(partial(method, self.corpus, *args, **kwargs))
        while fetched := await self._run(lambda: list(islice(items, _FETCHED))):
            for item in fetched:
                yield item

    return walk


class AsyncCorpus:
    """An open store for one event loop; use it in an ``async with``, or await `close`."""

    def __init__(self, corpus: Corpus, *, workers: int = WORKERS) -> None:
        self.corpus = corpus
        """The same store without awaiting; threads may use it meanwhile."""
        self._workers = ThreadPoolExecutor(workers, thread_name_prefix="memhtml")

    # One memory

    write = _awaited(Corpus.write)
    read = _awaited(Corpus.read)
    correct = _awaited(Corpus.correct)
    edit = _awaited(Corpus.edit)
    archive = _awaited(Corpus.archive)
    unarchive = _awaited(Corpus.unarchive)
    link = _awaited(Corpus.link)
    unlink = _awaited(Corpus.unlink)
    set_task_status = _awaited(Corpus.set_task_status)

    # Many

    apply = _awaited(Corpus.apply)
    put = _awaited(Corpus.put)
    choose = _awaited(Corpus.choose)
    memories = _iterated(Corpus.memories)
    tasks = _iterated(Corpus.tasks)
    check = _iterated(Corpus.check)
    carry_out = _awaited(Corpus.carry_out)

    # For those who plan

    listing = _iterated(Corpus.listing)
    overlaid_paths = _awaited(Corpus.overlaid_paths)
    committed_files = _iterated(Corpus.committed_files)
    worktree_changes = _awaited(Corpus.worktree_changes)
    read_file = _awaited(Corpus.read_file)
    indexed_files = _awaited(Corpus.indexed_files)
    read_committed = _awaited(Corpus.read_committed)
    sha_of = _awaited(Corpus.sha_of)

    # Over time

    history = _awaited(Corpus.history)
    commits = _iterated(Corpus.commits)
    compare_versions = _awaited(Corpus.compare_versions)
    blame = _awaited(Corpus.blame)
    sync = _awaited(Corpus.sync)

    # Search

    search = _awaited(Corpus.search)
    questions = _awaited(Corpus.questions)
    recall = _awaited(Corpus.recall)
    similar = _awaited(Corpus.similar)
    resolve = _awaited(Corpus.resolve)
    neighbors = _awaited(Corpus.neighbors)
    find_route = _awaited(Corpus.find_route)
    list_memories = _awaited(Corpus.list_memories)
    list_entities = _awaited(Corpus.list_entities)
    list_tags = _awaited(Corpus.list_tags)
    list_tasks = _awaited(Corpus.list_tasks)

    # The index

    rebuild = _awaited(Corpus.rebuild)
    embed = _awaited(Corpus.embed)
    coverage = _awaited(Corpus.coverage)
    update = _awaited(Corpus.update)
    index_damage = _awaited(Corpus.index_damage)
    index_status = _awaited(Corpus.index_status)
    status = _awaited(Corpus.status)

    # Usage

    reinforce = _awaited(Corpus.reinforce)
    record_read = _awaited(Corpus.record_read)
    usage = _awaited(Corpus.usage)
    links_of_session = _awaited(Corpus.links_of_session)
    links_of_path = _awaited(Corpus.links_of_path)
    export_usage = _awaited(Corpus.export_usage)
    import_usage = _awaited(Corpus.import_usage)
    unclaimed_usage = _awaited(Corpus.unclaimed_usage)
    forget_usage = _awaited(Corpus.forget_usage)

    # What needs no waiting

    @property
    def root(self) -> str:
        """Top of the store, absolute, symlinks resolved."""
        return self.corpus.root

    def now(self) -> datetime:
        """Return the time to stamp with."""
        return self.corpus.now()

    def __repr__(self) -> str:
        return f"<AsyncCorpus {self.root!r}>"

    def __aiter__(self) -> AsyncIterator[Memory]:
        return self.memories()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish what is being done, bring git's index in step and let go of everything.

        Closing twice is harmless, and one that is cancelled goes on.
        """
        await asyncio.to_thread(self._let_go)

    def _let_go(self) -> None:
        self._workers.shutdown()
        self.corpus.close()

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            done = asyncio.get_running_loop().run_in_executor(self._workers, work)
        except RuntimeError:
            raise UsageError("the corpus is closed") from None
        return await done


def open(  # noqa: A001 - read as aio.open
    root: str | os.PathLike[str],
    *,
    clock: Callable[[], datetime] | None = None,
    durability: str = "bulk",
    index_delay: float = 0.0,
    on_lag: Callable[[str], object] = lambda _: None,
    detect: Callable[[str], str | None] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    encoder: DenseEncoder | None = None,
    is_warm: bool = False,
) -> AsyncCorpus:
    """Open the store at *root*; nothing is read yet, so there is nothing to await.

    The arguments are those of `Corpus.open`.

    Raises:
        NotAStore: *root* is not the top of its own git repository.
    """
    return AsyncCorpus(
        Corpus.open(
            root,
            clock=clock,
            durability=durability,
            index_delay=index_delay,
            on_lag=on_lag,
            detect=detect,
            cache_dir=cache_dir,
            encoder=encoder,
            is_warm=is_warm,
        )
    )


async def init(
    root: str | os.PathLike[str], *, clock: Callable[[], datetime] | None = None
) -> InitReport:
    """Make *root* a store, or complete one; see `Corpus.init`.

    Raises:
        GitFailure: git is missing or refuses.
        StorageFailure: The folder cannot be written to.
    """
    return await asyncio.to_thread(partial(Corpus.init, root, clock=clock))
