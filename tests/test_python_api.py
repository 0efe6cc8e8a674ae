"""The facade as a Python program uses it: complete, shared by threads, and safe to show."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from typing import TYPE_CHECKING, NamedTuple

import pytest

import memhtml
from memhtml import Correction, Draft, LinkRequest, MemoryType, Rel, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memhtml import Corpus

THREADS = 8
HOSTILE = "<script>alert(1)</script><img src=x onerror=\"alert(2)\"> & 'quoted'"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    memhtml.init(tmp_path / "store")
    return tmp_path / "store"


def fact(number: int, *, thread: int = 0) -> Draft:
    return Draft(
        title=f"Tank {thread} {number}",
        claim=f"Tank tk{thread}z{number} holds {thread * 100 + number} litres.",
        memory_type=MemoryType.SEMANTIC,
        tags=("tanks",),
    )


def task(title: str, *, due: str | None = None) -> Draft:
    return Draft(title=title, claim=title, memory_type=MemoryType.TASK, due_at=due)


class TestFacade:
    def test_iterating_yields_the_active_memories_in_order_of_path(self, store: Path) -> None:
        with memhtml.open(store) as corpus:
            paths = [corpus.write(fact(n)).path for n in range(3)]
            corpus.archive(paths.pop(), reason="drained")
            assert [memory.path for memory in corpus] == sorted(paths)

    def test_tasks_come_all_however_many_pages_they_fill(
        self, store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("memhtml.search.lists.MAX_PAGE", 2)
        with memhtml.open(store) as corpus:
            corpus.apply([task(f"Valve {n}", due=f"2026-01-0{n + 1}") for n in range(5)])
            corpus.set_task_status(next(corpus.tasks()).path, TaskStatus.DOING)
            assert [found.title for found in corpus.tasks()] == [f"Valve {n}" for n in range(5)]
            doing = corpus.tasks(statuses=[TaskStatus.DOING])
            assert [found.title for found in doing] == ["Valve 0"]
            assert len(list(corpus.tasks(due_before="2026-01-03"))) == 2

    def test_a_check_tells_of_every_file_as_it_is_on_disk(self, store: Path) -> None:
        with memhtml.open(store) as corpus:
            good = corpus.write(fact(1)).path
            (store / "areas/inbox/bad.html").write_text("<p>no memory</p>", encoding="utf-8")
            (store / "areas/inbox/link.html").symlink_to(store / good)
            found = {checked.path: checked for checked in corpus.check()}
            assert found[good].is_valid
            assert not found["areas/inbox/bad.html"].is_valid
            assert found["areas/inbox/bad.html"].diagnostics
            assert found["areas/inbox/link.html"].is_unreadable
            assert [c.path for c in corpus.check([good])] == [good]
            with pytest.raises(memhtml.PathNotFound):
                list(corpus.check(["areas/inbox/none.html"]))

    def test_a_listing_may_be_gone_through_while_writing(self, store: Path) -> None:
        # It was one view of the index for as long as it lasted, and a write inside it failed.
        with memhtml.open(store) as corpus:
            corpus.apply([fact(n) for n in range(3)])
            for listed in corpus.listing():
                corpus.archive(listed.path, reason="drained")
            assert not list(corpus)

    @pytest.mark.parametrize(
        "use",
        [
            lambda corpus: corpus.search("tank"),
            lambda corpus: corpus.write(fact(1)),
            lambda corpus: corpus.read("areas/inbox/x.html"),
            list,
            lambda corpus: corpus.status(),
        ],
    )
    def test_a_closed_corpus_says_so(self, store: Path, use: Callable[[Corpus], object]) -> None:
        corpus = memhtml.open(store)
        corpus.write(fact(0))
        corpus.close()
        corpus.close()
        with pytest.raises(memhtml.UsageError, match="the corpus is closed"):
            use(corpus)

    @pytest.mark.parametrize(
        "use",
        [
            lambda corpus: corpus.read("../../etc/passwd"),
            lambda corpus: corpus.read("areas/\0.html"),
            lambda corpus: corpus.archive("areas/inbox/none.html", reason="x"),
            lambda corpus: corpus.search("x", limit=0),
            lambda corpus: corpus.search("x", cursor="nonsense"),
            lambda corpus: corpus.search("x", at="nonsense"),
            lambda corpus: corpus.recall("x", budget=-1),
            lambda corpus: corpus.history("areas/inbox/none.html"),
            lambda corpus: corpus.similar("areas/inbox/none.html"),
            lambda corpus: corpus.write(Draft(title="", memory_type=MemoryType.SEMANTIC)),
            lambda corpus: corpus.link("a", Rel.RELATES_TO, "b"),
            lambda corpus: list(corpus.tasks(due_before="soon")),
        ],
    )
    def test_what_cannot_be_is_one_of_our_errors(
        self, store: Path, use: Callable[[Corpus], object]
    ) -> None:
        with memhtml.open(store) as corpus, pytest.raises(memhtml.MemhtmlError) as caught:
            use(corpus)
        assert caught.value.code.startswith("ERR_")
        assert caught.value.message


class TestThreads:
    def test_eight_threads_write_and_search_one_corpus_and_nothing_is_lost(
        self, store: Path
    ) -> None:
        rounds = 4
        with memhtml.open(store) as corpus:
            corpus.apply([fact(n, thread=99) for n in range(20)])
            gate = threading.Barrier(THREADS)

            def work(thread: int) -> list[str]:
                gate.wait()
                paths: list[str] = []
                for number in range(rounds):
                    path = corpus.write(fact(number, thread=thread)).path
                    assert f"tk{thread}z{number}" in corpus.read(path).document.claim
                    found = corpus.search(f"what does tk{thread}z{number} hold")
                    assert path in [hit.path for hit in found.hits], found
                    if number % 3 == 0:
                        corrected = corpus.correct(
                            Correction(target=path, claim=f"Tank tk{thread}z{number} leaks.")
                        )
                        path = corrected.path
                        assert len(corpus.history(path)) == 2
                    elif number % 3 == 1:
                        corpus.apply([LinkRequest(src=path, rel=Rel.RELATES_TO, dst=paths[0])])
                    paths.append(path)
                    assert corpus.recall(f"tk{thread}z{number}").memories.disclosed
                    list(corpus.tasks())
                return paths

            with ThreadPoolExecutor(THREADS) as pool:
                written = [path for paths in pool.map(work, range(THREADS)) for path in paths]
            assert len(set(written)) == THREADS * rounds
            known = {memory.path for memory in corpus}
            assert known >= set(written)
            assert len(known) == 20 + THREADS * rounds
            health = corpus.status()
            assert (health.dirty, health.skipped) == ((), ())
            assert all(checked.is_valid for checked in corpus.check())

    def test_closing_waits_for_what_other_threads_are_in_the_midst_of(self, store: Path) -> None:
        """An error of the database came out of it, and what other threads had stayed open."""
        corpus = memhtml.open(store)
        corpus.apply([fact(n) for n in range(300)])
        gate = threading.Barrier(THREADS + 1)

        def work(_: int) -> str:
            gate.wait()
            while True:
                try:
                    corpus.search("which tank holds litres")
                except memhtml.MemhtmlError as error:
                    return error.code

        with ThreadPoolExecutor(THREADS) as pool:
            codes = pool.map(work, range(THREADS))
            gate.wait()
            time.sleep(0.3)
            corpus.close()
            assert all(code.startswith("ERR_") for code in codes)

    def test_the_same_fact_from_eight_threads_is_written_once(self, store: Path) -> None:
        with memhtml.open(store) as corpus, ThreadPoolExecutor(THREADS) as pool:
            gate = threading.Barrier(THREADS)

            def work(_: int) -> bool:
                gate.wait()
                return corpus.write(fact(1)).created

            assert sum(pool.map(work, range(THREADS))) == 1

    def test_a_search_does_not_wait_for_a_write_under_way(self, store: Path) -> None:
        with memhtml.open(store) as corpus, ThreadPoolExecutor(1) as pool:
            corpus.write(fact(1))

            def planner(*_: object) -> object:
                # Inside the lock; a search that waited for it would never come back.
                assert pool.submit(corpus.search, "tank").result(timeout=30).hits
                raise memhtml.UsageError("nothing to do")

            with pytest.raises(memhtml.UsageError, match="nothing to do"):
                corpus.carry_out(planner)  # type: ignore[arg-type]

    def test_threads_that_come_and_go_leave_no_connections_behind(self, store: Path) -> None:
        with memhtml.open(store) as corpus:
            corpus.write(fact(1))
            for _ in range(50):
                thread = threading.Thread(target=corpus.search, args=("tank",))
                thread.start()
                thread.join()
            assert len(corpus._opened) < 10


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attrs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attrs += [name for name, _ in attrs]


class Shown(NamedTuple):
    name: str
    make: Callable[[Corpus], object]


SHOWN = [
    Shown("memory", lambda corpus: next(iter(corpus))),
    Shown("hits", lambda corpus: corpus.search("hostile words")),
    Shown("no hits", lambda corpus: corpus.search("zebra")),
    Shown("pack", lambda corpus: corpus.recall("hostile words")),
    Shown("empty pack", lambda corpus: corpus.recall("zebra")),
    Shown("files", lambda corpus: corpus.list_memories()),
    Shown("tasks", lambda corpus: corpus.list_tasks()),
    Shown("batch", lambda corpus: corpus.apply([task(f"Again: {HOSTILE}")])),
    Shown("refused batch", lambda corpus: corpus.apply([memhtml.UsageError(HOSTILE)])),
]


class TestShowing:
    @pytest.fixture
    def corpus(self, store: Path) -> Iterator[Corpus]:
        with memhtml.open(store) as corpus:
            corpus.write(
                Draft(
                    title=f"Hostile words {HOSTILE}",
                    claim=f"Hostile words say {HOSTILE} to whoever reads.",
                    memory_type=MemoryType.SEMANTIC,
                    tags=(HOSTILE,),
                    facets=(memhtml.Facet(HOSTILE, HOSTILE),),
                )
            )
            corpus.write(task(f"Wash {HOSTILE}"))
            yield corpus

    @pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.name)
    def test_a_notebook_shows_memories_as_text_and_nothing_of_them_as_markup(
        self, corpus: Corpus, shown: Shown
    ) -> None:
        result = shown.make(corpus)
        page = result._repr_html_()  # type: ignore[attr-defined]
        tags = _Tags()
        tags.feed(page)
        assert tags.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
        assert tags.attrs == []
        if shown.name not in {"no hits", "empty pack", "batch"}:  # which quote nothing
            assert "&lt;script&gt;" in page

    @pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.name)
    def test_a_repr_is_short_and_prints_no_control_character(
        self, corpus: Corpus, shown: Shown
    ) -> None:
        line = repr(shown.make(corpus))
        assert len(line) < 1500
        assert not [char for char in line if not char.isprintable() and char != "\n"]

    def test_the_repr_of_an_answer_names_what_was_found(self, corpus: Corpus) -> None:
        corpus.write(fact(7))
        found = repr(corpus.search("what does tk0z7 hold"))
        assert "Tank tk0z7 holds 7 litres." in found
        assert "none, no memory has what was asked for" in repr(corpus.search("zebra"))
        assert repr(corpus).startswith("<Corpus ")
