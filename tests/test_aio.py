"""The async twin: complete, typed, and safe to cancel."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import random
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

import memhtml
from memhtml import Corpus, Draft, MemoryType, aio
from memhtml.store.write import plan_write

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from memhtml import Hits, Written
    from memhtml.aio import AsyncCorpus
    from memhtml.store.plan import Planned, View

SYNC_ONLY = {
    "init": "a function of the module",
    "open": "a function of the module",
    "repo": "hands out what works without awaiting",
    "view": "as repo",
    "index": "belongs to the thread that asks",
    "lend_index": "as index",
    "traces": "as index",
}
PLAIN = {"root", "now"}
"""What has nothing to wait for."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    memhtml.init(tmp_path / "store")
    return tmp_path / "store"


def fact(number: int) -> Draft:
    return Draft(
        title=f"Sluice {number}",
        claim=f"Sluice sl{number}x opens at {number} bar.",
        memory_type=MemoryType.SEMANTIC,
    )


def git(store: Path, *args: str) -> str:
    return subprocess.run(
        ["git", "-C", str(store), *args], check=True, capture_output=True, text=True
    ).stdout


def _parameters(signature: inspect.Signature) -> list[tuple[object, ...]]:
    return [
        (p.name, p.kind, p.annotation, "a function" if callable(p.default) else p.default)
        for p in signature.parameters.values()
    ]


class Held:
    """A write that stops in the middle of its work until it is let go."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, view: View, now: datetime) -> Planned[Written]:
        self.begun.set()
        assert self.go_on.wait(30)
        return plan_write(self.draft, view, now=now)


class TestTwin:
    @pytest.mark.parametrize("name", [n for n in dir(Corpus) if not n.startswith("_")])
    def test_every_method_has_its_twin_with_the_same_parameters(self, name: str) -> None:
        if name in SYNC_ONLY:
            assert not hasattr(aio.AsyncCorpus, name)
            return
        ours, theirs = getattr(Corpus, name), getattr(aio.AsyncCorpus, name)
        if name in PLAIN:
            assert type(ours) is type(theirs)
            return
        assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters
        assert theirs.__doc__
        if str(inspect.signature(ours).return_annotation).startswith("Iterator["):
            assert inspect.isasyncgenfunction(theirs)
        else:
            assert inspect.iscoroutinefunction(theirs)

    def test_it_has_nothing_that_the_corpus_has_not(self) -> None:
        names = {name for name in dir(aio.AsyncCorpus) if not name.startswith("_")}
        assert names <= {name for name in dir(Corpus) if not name.startswith("_")}

    @pytest.mark.parametrize("name", ["open", "init"])
    def test_stores_are_opened_and_made_with_the_same_arguments(self, name: str) -> None:
        ours = inspect.signature(getattr(Corpus, name))
        assert _parameters(inspect.signature(getattr(aio, name))) == _parameters(ours)

    def test_a_store_is_made_written_to_searched_and_gone_through(self, tmp_path: Path) -> None:
        async def use() -> None:
            report = await memhtml.aio.init(tmp_path / "new")
            assert report.created
            async with memhtml.aio.open(tmp_path / "new") as corpus:
                written: Written = await corpus.write(fact(3))
                hits: Hits = await corpus.search("when does sl3x open")
                assert [hit.path for hit in hits.hits] == [written.path]
                assert [memory.path async for memory in corpus] == [written.path]
                assert [c.is_valid async for c in corpus.check()] == [True]
                assert repr(corpus).startswith("<AsyncCorpus ")

        asyncio.run(use())

    def test_what_it_is_called_with_is_checked_by_type_checkers(self, store: Path) -> None:
        # mypy runs over this file, and would call an ignore that nothing needs an error.
        async def use() -> None:
            async with aio.open(store) as corpus:
                with pytest.raises(AttributeError):
                    await corpus.write("a text")  # type: ignore[arg-type]
                with pytest.raises(TypeError):
                    await corpus.search("x", limt=3)  # type: ignore[call-arg]

        asyncio.run(use())

    def test_more_items_than_one_trip_brings_come_all(self, store: Path) -> None:
        count = 2 * aio._FETCHED + 1

        async def use() -> None:
            async with aio.open(store) as corpus:
                await corpus.apply([fact(n) for n in range(count)])
                assert len({memory.path async for memory in corpus.memories()}) == count

        asyncio.run(use())

    def test_errors_are_the_same(self, store: Path) -> None:
        async def use() -> None:
            async with aio.open(store) as corpus:
                with pytest.raises(memhtml.PathNotFound):
                    await corpus.read("areas/inbox/none.html")
            await corpus.close()
            with pytest.raises(memhtml.UsageError, match="the corpus is closed"):
                await corpus.search("x")

        asyncio.run(use())

    def test_the_loop_goes_on_while_a_worker_works(self, store: Path) -> None:
        async def use() -> None:
            async with aio.open(store) as corpus:
                held = Held(fact(1))
                writing = asyncio.create_task(corpus.carry_out(held))
                await asyncio.to_thread(held.begun.wait, 30)
                assert (await corpus.search("sl1x")).no_match is not None
                held.go_on.set()
                planned, commit = await writing
                assert planned.result.created
                assert commit is not None

        asyncio.run(use())


class TestCancelling:
    def test_a_call_that_waits_for_a_worker_never_begins(self, store: Path) -> None:
        async def use() -> None:
            corpus = aio.AsyncCorpus(memhtml.open(store), workers=1)
            async with corpus:
                held = Held(fact(1))
                writing = asyncio.create_task(corpus.carry_out(held))
                await asyncio.to_thread(held.begun.wait, 30)
                waiting = asyncio.create_task(corpus.write(fact(2)))
                await asyncio.sleep(0)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
                held.go_on.set()
                await writing

        asyncio.run(use())
        with memhtml.open(store) as corpus:
            assert [memory.document.title for memory in corpus] == ["Sluice 1"]

    def test_a_call_that_has_begun_is_left_at_once_and_finished(self, store: Path) -> None:
        async def use() -> None:
            async with aio.open(store) as corpus:
                held = Held(fact(1))
                writing = asyncio.create_task(corpus.carry_out(held))
                await asyncio.to_thread(held.begun.wait, 30)
                writing.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await writing
                assert not held.go_on.is_set()
                held.go_on.set()

        asyncio.run(use())
        with memhtml.open(store) as corpus:
            assert [memory.document.title for memory in corpus] == ["Sluice 1"]
            assert corpus.status().dirty == ()

    def test_wherever_writes_are_cancelled_each_is_a_whole_commit_or_none(
        self, store: Path
    ) -> None:
        chance = random.Random(6)  # noqa: S311 - the same moments each run
        before = int(git(store, "rev-list", "--count", "HEAD"))
        told: list[str] = []

        async def write(corpus: AsyncCorpus, number: int) -> None:
            told.append((await corpus.write(fact(number))).path)

        async def use() -> None:
            async with aio.open(store) as corpus:
                tasks = [asyncio.create_task(write(corpus, n)) for n in range(30)]
                for task in chance.sample(tasks, 20):
                    await asyncio.sleep(chance.uniform(0, 0.02))
                    task.cancel()
                for task in tasks:
                    with contextlib.suppress(asyncio.CancelledError):
                        await task

        asyncio.run(use())
        assert len(told) < 30, "nothing was cancelled, so nothing was tested"
        assert git(store, "status", "--porcelain") == ""
        git(store, "fsck", "--strict")
        with memhtml.open(store) as corpus:
            paths = {memory.path for memory in corpus}
            assert all(checked.is_valid for checked in corpus.check())
        assert paths >= set(told)
        assert int(git(store, "rev-list", "--count", "HEAD")) == before + len(paths)

    def test_an_iteration_may_be_left_early(self, store: Path) -> None:
        async def use() -> None:
            async with aio.open(store) as corpus:
                await corpus.apply([fact(n) for n in range(3)])
                async for _ in corpus:
                    break
                assert (await corpus.search("sl1x")).hits

        asyncio.run(use())
