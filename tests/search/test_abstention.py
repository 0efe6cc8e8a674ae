"""Nothing is found where nothing answers, over the benchmark's store with another seed."""

# ruff: noqa: S311 - chance that can be repeated, not secrets

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from bench import abstention

from memhtml.index.database import open_index
from memhtml.index.embed import embed
from memhtml.index.indexer import update
from memhtml.providers.encoders.load import query_table, sparse_encoder
from memhtml.search.relevance import Evidence, is_answer
from memhtml.search.search import Means, NoMatchReason, search
from memhtml.store.repo import Repo
from tests.index.stores import NOW, Store, memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.index.database import Index

RNG_SEED = 5
FACTS = abstention.make_facts(random.Random(RNG_SEED))

EVERYDAY = (
    ("The physician sees patients on Tuesday mornings.", "doctor"),
    ("Our attorney is called Brigitte Sommer.", "lawyer"),
    ("Grandmother's flat is on the third floor.", "where does grandma live"),
    ("The canine must not eat chocolate.", "dog"),
    ("Rubbish is collected every second Thursday.", "garbage"),
    ("Wages are paid on the last working day.", "salary"),
    ("The spouse of Henrik is a carpenter.", "wife"),
    ("We purchase coffee beans from the roastery in Lund.", "buy"),
    ("The motorbike is parked behind the bakery.", "motorcycle"),
    ("Fridge temperature is set to four degrees.", "refrigerator cooling"),
    ("Our landlord wants the lease renewed by May.", "rental contract"),
    ("The kids learn swimming on Saturdays.", "pool lessons"),
    ("The couch came from a flea market.", "sofa"),
    ("The film festival starts in October.", "cinema event"),
    ("The aeroplane to Oslo leaves at 7:05.", "flight"),
    ("The checkout service retries a failed payment call at most three times.", ""),
)
UNKNOWN = (
    *("football", "volcano", "dinosaur", "sushi", "tax haven", "cancer", "passport", "beekeeping"),
    *(
        "opera",
        "whale",
        "election",
        "yoga",
        "rabbit",
        "gym membership",
        "bank account",
        "shoe size",
    ),
    *("stock market", "parking permit", "wine cellar temperature", "vehicle delivery time"),
)
"""The last four share a word with some claim."""

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


def test_near_misses_are_told_whoever_is_asked_for() -> None:
    """What three facts about one person say alike makes none of them an answer."""
    told = Evidence([0.48, 0.48, 0.48, 0.25], [11.2, 11.2, 10.8, 6.1, 6.0], [], terms=3)
    assert not is_answer(told)
    assert is_answer(told._replace(words=[11.2, 9.0, 8.8, 6.1, 6.0]))


def test_one_shared_word_of_a_few_is_no_answer_where_meaning_was_asked_too() -> None:
    shared = Evidence([0.32], [4.5], [24_000.0], terms=3)
    assert not is_answer(shared)
    assert is_answer(shared._replace(terms=4))
    assert is_answer(shared._replace(meaning=[]))


def test_what_is_only_meant_has_to_leave_the_others_far_behind() -> None:
    meant = Evidence([0.3], [], [20_000.0, 10_000.0, 900.0], terms=1)
    assert is_answer(meant)
    assert not is_answer(meant._replace(meaning=[20_000.0, 10_100.0]))
    assert not is_answer(meant._replace(relevances=[0.24]))


@pytest.fixture(scope="module")
def household(
    tmp_path_factory: pytest.TempPathFactory, splade_cache: Path
) -> Iterator[tuple[Index, Means]]:
    store = Store(tmp_path_factory.mktemp("household"))
    for number, (claim, _) in enumerate(EVERYDAY):
        store.put(f"areas/home/{number:02}.html", memory(claim))
    store.commit()
    root = str(store.root)
    with Repo.open(root) as repo, open_index(root) as index:
        update(index, repo, now=NOW)
        embed(index, sparse_encoder("splade-tiny", splade_cache))
        yield index, Means(queries=query_table("splade-tiny", splade_cache))


def test_a_short_question_in_other_words_is_answered_by_its_meaning(
    household: tuple[Index, Means],
) -> None:
    index, means = household
    asked = [pair for pair in EVERYDAY if pair[1]]
    firsts = [
        (claim, [hit.gist for hit in search(index, question, means=means).hits[:1]])
        for claim, question in asked
    ]
    assert all(found in ([], [claim]) for claim, found in firsts)
    assert sum(bool(found) for _, found in firsts) >= 0.8 * len(asked)


def test_a_short_question_about_nothing_that_is_known_is_not_answered(
    household: tuple[Index, Means],
) -> None:
    index, means = household
    assert [q for q in UNKNOWN if search(index, q, means=means).hits] == []


def test_what_is_only_near_in_meaning_is_named_with_what_it_says_and_no_word_is_claimed(
    household: tuple[Index, Means],
) -> None:
    index, means = household
    meant = search(index, "doctor appointment", means=means).no_match
    assert meant is not None
    assert meant.reason is NoMatchReason.NOT_SAID
    assert meant.closest[0].gist == EVERYDAY[0][0]
    assert 0 < meant.closest[0].relevance < 1
    shared = search(index, "vehicle delivery time", means=means).no_match
    assert shared is not None
    assert shared.reason is NoMatchReason.NOT_RELEVANT


def test_what_is_found_is_the_fact(town: Index) -> None:
    right = 0
    sample = random.Random(RNG_SEED).sample(FACTS[0], 100)
    for fact, question in sample:
        right += [hit.gist for hit in search(town, question, limit=1).hits] == [fact]
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
