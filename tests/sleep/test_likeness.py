from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

from memhtml.index.database import open_index
from memhtml.index.embed import embed
from memhtml.index.indexer import update
from memhtml.sleep import likeness_tables
from memhtml.sleep.likeness import Pair, likeness_of
from memhtml.sleep.population import read_population
from memhtml.store.repo import Repo
from tests.index.encoders import WordEncoder
from tests.index.stores import NOW, Store, memory
from tests.sleep.memories import live, population

if TYPE_CHECKING:
    from pathlib import Path

CLAIMS = (
    "The gateway retries failed calls three times",
    "Failed calls are retried 3 times by the gateway",
    "Owls hunt at night",
    "The bakery opens at 06:30",
)


def test_two_wordings_of_one_statement_are_the_likest_pair() -> None:
    memories = [live(claim, f"areas/{n}.html") for n, claim in enumerate(CLAIMS)]
    likeness = likeness_of(population(memories))
    assert likeness.basis == "shingles"
    (pair,) = likeness.pairs(floor=0.3, top=5, limit=10)
    assert pair[:2] == ("areas/0.html", "areas/1.html")
    assert pair.score > 0.9


def test_the_nearest_of_some_come_best_first_and_what_shares_nothing_is_left_out() -> None:
    memories = [live(claim, f"areas/{n}.html") for n, claim in enumerate(CLAIMS)]
    likeness = likeness_of(population(memories))
    found = likeness.nearest("areas/0.html", [m.path for m in memories], top=5)
    assert [path for path, _ in found] == ["areas/1.html"]
    assert likeness.nearest("areas/nowhere.html", ["areas/0.html"], top=5) == []


def test_pairs_among_some_leave_out_the_others() -> None:
    memories = [live(f"Owls hunt mice {word}", f"areas/{word}.html") for word in ("a1", "b2", "c3")]
    likeness = likeness_of(population(memories))
    chosen = ["areas/a1.html", "areas/c3.html"]
    assert [p[:2] for p in likeness.pairs(chosen, floor=0.1, top=5, limit=9)] == [tuple(chosen)]


@pytest.mark.parametrize("seed", [1, 2])
def test_with_and_without_numpy_the_same_pairs_come_back(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same each run
    words = [f"w{n}x" for n in range(80)]
    memories = [live(" ".join(rng.sample(words, 6))) for _ in range(150)]
    found = likeness_of(population(memories)).pairs(floor=0.3, top=5, limit=1000)
    monkeypatch.setattr(likeness_tables, "find_spec", lambda _: None)
    assert likeness_of(population(memories)).pairs(floor=0.3, top=5, limit=1000) == found
    assert len(found) > 100


def test_what_was_compared_is_taken_over_when_memories_only_went() -> None:
    claims = [f"Owls hunt mice in the {n % 3} barns" for n in range(9)]
    memories = [live(claim, f"areas/{n}.html") for n, claim in enumerate(claims)]
    first = likeness_of(population(memories))
    before = first.pairs(floor=0.3, top=9, limit=99)
    left = [m for m in memories if m.path != "areas/4.html"]
    unasked = likeness_of(population(left), earlier=first)
    after = likeness_of(population(left), earlier=unasked).pairs(floor=0.3, top=9, limit=99)
    assert len(before) > len(after) > 0
    assert after == [p for p in before if "areas/4.html" not in p[:2]]


def test_a_memory_that_came_meanwhile_is_compared_too() -> None:
    memories = [live("Owls hunt mice", "areas/a.html")]
    first = likeness_of(population(memories))
    assert first.pairs(floor=0.1, top=9, limit=9) == []
    more = [*memories, live("Owls hunt mice", "areas/b.html")]
    (pair,) = likeness_of(population(more), earlier=first).pairs(floor=0.1, top=9, limit=9)
    assert pair == Pair("areas/a.html", "areas/b.html", 1.0, "shingles")


def test_the_few_that_are_new_are_compared_with_all_that_was_there() -> None:
    memories = [live(f"Barn {n} houses owls of kind{n % 6}", f"areas/{n}.html") for n in range(30)]
    first = likeness_of(population(memories))
    first.pairs(floor=0.3, top=3, limit=9)
    more = [*memories, live("Barn 3 houses owls of kind3", "areas/new.html")]
    found = likeness_of(population(more), earlier=first).pairs(floor=0.3, top=3, limit=999)
    near_new = {(p.one, p.other) for p in found if "areas/new.html" in p[:2]}
    anew = likeness_of(population(more)).pairs(floor=0.3, top=3, limit=999)
    assert near_new == {(p.one, p.other) for p in anew if "areas/new.html" in p[:2]}
    assert ("areas/3.html", "areas/new.html") in near_new


def test_sparse_rows_of_the_index_are_the_basis_where_there_are_some(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for n, claim in enumerate(CLAIMS):
        store.put(f"areas/{n}.html", memory(claim))
    store.commit()
    with Repo.open(str(tmp_path)) as repo, open_index(str(tmp_path)) as index:
        update(index, repo, now=NOW)
        embed(index, WordEncoder())
        likeness = likeness_of(read_population(index), index)
    assert likeness.basis == "sparse"
    (first, *_) = likeness.pairs(floor=0.1, top=5, limit=9)
    assert first[:2] == ("areas/0.html", "areas/1.html")


def test_two_thousand_memories_are_compared_in_a_few_seconds_of_one_core() -> None:
    rng = random.Random(3)  # noqa: S311 - the same each run
    words = [f"{a}{b}x" for a in "bcdfghklmn" for b in "aeiou"]
    words = [a + b for a in words for b in words[:12]]
    memories = [live(" ".join(rng.choices(words, k=9))) for _ in range(2000)]
    started = time.process_time()
    likeness_of(population(memories)).pairs(floor=0.4, top=5, limit=400)
    assert time.process_time() - started < 5.0
