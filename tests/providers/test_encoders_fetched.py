"""The published sparse model itself, where it could be fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memhtml.providers import models
from memhtml.providers.encoders.load import query_table, sparse_encoder
from memhtml.scoring import sparse

if TYPE_CHECKING:
    from pathlib import Path

    from memhtml.providers.encoders.splade import Splade

DOCS = [
    "The nightly deployment failed because the database password had expired.",
    "We repaint the kitchen in a warm yellow next spring.",
    "Maria's cat is allergic to chicken and eats salmon only.",
    "Releases are cut on Tuesdays, after all the tests have passed.",
]


@pytest.fixture(scope="module")
def encoder(splade_cache: Path) -> Splade:
    return sparse_encoder("splade-tiny", splade_cache)


def test_conversion_gives_the_same_space_on_every_machine(splade_cache: Path) -> None:
    assert query_table("splade-tiny", splade_cache).space_id == "splade-tiny@fb9edcef4870"
    assert models.verify("splade-tiny", splade_cache) == []


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("login credentials error", 0),
        ("new color for the walls", 1),
        ("which food can our pet have", 2),
        ("what day do we publish", 3),
    ],
)
def test_a_question_that_shares_no_word_with_its_answer_finds_it(
    encoder: Splade, question: str, right: int
) -> None:
    postings = sparse.inverted(enumerate(encoder.encode_docs(DOCS)))
    asked = [
        (weight, postings[term])
        for term, weight in encoder.query(question).items()
        if term in postings
    ]
    assert sparse.best(sparse.scores(asked, len(DOCS)), 1)[0][0] == right


def test_rows_have_many_terms_and_a_batch_equals_its_parts(encoder: Splade) -> None:
    rows = encoder.encode_docs(DOCS, workers=2)
    assert rows == [encoder.encode_docs([text])[0] for text in DOCS]
    assert all(20 <= len(row.terms) <= 96 for row in rows)
