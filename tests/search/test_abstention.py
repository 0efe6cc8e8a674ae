"""Nothing is found where nothing answers, over the benchmark's store with another seed."""

# ruff: noqa: S311 - chance that can be repeated, not secrets

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from bench import abstention

from memhtml.index.database import open_index
from memhtml.index.indexer import update
from memhtml.search.search import search
from memhtml.store.repo import Repo
from tests.index.stores import NOW, Store, memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.index.database import Index

RNG_SEED = 5
FACTS = abstention.make_facts(random.Random(RNG_SEED))

PLAIN = (
    ("We deploy to production every Tuesday at 10:00", "when do we deploy"),
    ("The staging database password rotates monthly", "how often is the staging password changed"),
    ("Ana prefers tea over coffee", "what does Ana like to drink"),
    ("The API rate limit is 600 requests per minute", "how many requests are allowed each minute"),
    ("Backups of the wiki are kept for 90 days", "how long do we keep wiki backups"),
    ("Payment retries use exponential backoff", "what is the retry strategy of payments"),
    ("The office dog is called Biscuit", "name of the dog"),
    ("Use pnpm, not npm, in the web repo", "which package manager does the web repository use"),
    ("Invoices go out on the first of the month", "when are invoices sent"),
)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    store = Store(tmp_path_factory.mktemp("town"))
    for number, (fact, _) in enumerate(FACTS[0]):
        store.put(f"areas/town/{number:04}.html", abstention.page(fact))
    store.commit()
    root = str(store.root)
    with Repo.open(root) as repo, open_index(root) as index:
        update(index, repo, now=NOW)
        yield index


def test_by_words_alone_95_of_100_find_nothing_and_98_of_100_find_their_fact(town: Index) -> None:
    asked = abstention.make_questions(random.Random(RNG_SEED), *FACTS)
    empty = {kind: sum(not search(town, q).hits for q in qs) for kind, qs in asked.items()}
    assert empty.pop("true") <= 0.02 * len(asked["true"])
    assert sum(empty.values()) >= 0.95 * sum(len(asked[kind]) for kind in empty)


def test_what_is_found_is_the_fact(town: Index) -> None:
    right = 0
    sample = random.Random(RNG_SEED).sample(FACTS[0], 100)
    for fact, question in sample:
        right += search(town, question, limit=1).hits[0].gist == fact
    assert right >= 95


@pytest.mark.parametrize("size", [1, 3, 9])
def test_a_store_of_few_memories_finds_what_is_plainly_there_and_nothing_else(
    tmp_path: Path, size: int
) -> None:
    for start in range(0, len(PLAIN), size if size > 1 else 3):
        known = PLAIN[start : start + size]
        store = Store(tmp_path / str(start))
        for number, (fact, _) in enumerate(known):
            store.put(f"areas/{number}.html", memory(fact))
        store.commit()
        root = str(store.root)
        with Repo.open(root) as repo, open_index(root) as index:
            update(index, repo, now=NOW)
            for fact, question in PLAIN:
                found = [hit.gist for hit in search(index, question).hits]
                assert found[:1] == ([fact] if (fact, question) in known else [])
