"""Memories that are changed where they stand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import memhtml
from memhtml import Draft, MemoryType, Rel
from memhtml.model.changes import Place
from memhtml.model.errors import (
    InvalidMemory,
    InvalidPath,
    PathNotFound,
    SecretFound,
    WriteConflict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml import Corpus

HERE = "areas/shelf/pump.html"
THERE = "areas/shelf/valve.html"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Clock:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        Clock.now += timedelta(minutes=1)
        return Clock.now


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    memhtml.init(tmp_path / "store")
    with memhtml.open(tmp_path / "store", clock=Clock()) as corpus:
        yield corpus


def draft(claim: str, path: str | None = HERE) -> Draft:
    return Draft(title="Pump", claim=claim, memory_type=MemoryType.SEMANTIC, path=path)


def test_what_is_put_again_stands_where_it_stood_and_git_has_what_was_there(corpus: Corpus) -> None:
    first = corpus.put([Place(draft("The pump runs."))])
    made = corpus.read(HERE).document.head
    second = corpus.put([Place(draft("The pump stands still."))])
    now = corpus.read(HERE).document
    assert first != second
    assert now.claim == "The pump stands still."
    assert now.head.created_at == made.created_at
    assert str(now.head.updated_at) > str(made.updated_at)
    assert [version.path for version in corpus.history(HERE)] == [HERE, HERE]
    assert [hit.path for hit in corpus.search("does the pump stand still").hits] == [HERE]
    assert len(list(corpus.memories(include_archived=True))) == 1


def test_what_is_so_already_makes_no_commit(corpus: Corpus) -> None:
    corpus.put([Place(draft("The pump runs."))])
    before = corpus.read(HERE).sha
    assert corpus.put([Place(draft("The pump runs."))]) is None
    assert corpus.read(HERE).sha == before


def test_the_same_content_at_two_places_is_two_memories(corpus: Corpus) -> None:
    corpus.put([Place(draft("It runs.")), Place(draft("It runs.", THERE))])
    assert [memory.path for memory in corpus] == [HERE, THERE]


def test_links_of_the_file_stay(corpus: Corpus) -> None:
    corpus.put([Place(draft("The pump runs.")), Place(draft("The valve is open.", THERE))])
    corpus.link(HERE, Rel.RELATES_TO, THERE)
    corpus.put([Place(draft("The pump stands still."))])
    assert [link.href for link in corpus.read(HERE).document.links] == [f"/{THERE}"]


def test_a_file_moves_and_git_has_what_it_said_where_it_stood(corpus: Corpus) -> None:
    corpus.put([Place(draft("The pump runs."))])
    corpus.put([Place(draft("The pump runs.", THERE), moved_from=HERE)])
    assert [memory.path for memory in corpus.memories(include_archived=True)] == [THERE]
    assert {version.path for version in corpus.history(HERE)} == {HERE}


def test_all_is_one_commit_or_nothing(corpus: Corpus) -> None:
    corpus.put([Place(draft("The pump runs."))])
    head = corpus.index_status().head
    with pytest.raises(PathNotFound):
        corpus.put([Place(draft("New.", THERE))], archive=["areas/shelf/none.html"], reason="x")
    with pytest.raises(InvalidMemory):
        corpus.put([Place(draft("New.", THERE))], archive=[HERE], reason=" ")
    assert corpus.index_status().head == head
    corpus.put([Place(draft("New.", THERE))], archive=[HERE], reason="replaced")
    assert [memory.path for memory in corpus] == [THERE]


def test_a_version_that_was_not_read_is_not_replaced(corpus: Corpus) -> None:
    corpus.put([Place(draft("The pump runs."))])
    sha = corpus.read(HERE).sha
    corpus.put([Place(draft("The pump hums."), expect=sha)])
    for stale in (sha, ""):
        with pytest.raises(WriteConflict):
            corpus.put([Place(draft("The pump stops."), expect=stale)])
    with pytest.raises(WriteConflict):
        corpus.put([Place(draft("New.", THERE), expect=sha)])
    assert corpus.read(HERE).document.claim == "The pump hums."


def test_a_file_edited_by_hand_is_not_run_over(corpus: Corpus, tmp_path: Path) -> None:
    corpus.put([Place(draft("The pump runs."))])
    file = tmp_path / "store" / HERE
    file.write_text(file.read_text("utf-8").replace("runs", "drips"), "utf-8")
    with pytest.raises(WriteConflict):
        corpus.put([Place(draft("The pump stops."))])
    assert "drips" in file.read_text("utf-8")


@pytest.mark.parametrize("path", [None, "../x.html", "archive/2026/x.html", "areas/x.txt"])
def test_only_a_usable_path_will_do(corpus: Corpus, path: str | None) -> None:
    with pytest.raises(InvalidPath):
        corpus.put([Place(draft("New.", path))])


def test_no_credential_gets_in(corpus: Corpus) -> None:
    with pytest.raises(SecretFound):
        corpus.put([Place(draft(f"The token is {TOKEN}."))])
    assert not list(corpus)


def test_nothing_moves_onto_another_file(corpus: Corpus) -> None:
    corpus.put([Place(draft("The pump runs.")), Place(draft("The valve is open.", THERE))])
    with pytest.raises(WriteConflict):
        corpus.put([Place(draft("The pump runs.", THERE), moved_from=HERE)])
