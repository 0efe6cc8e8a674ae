"""The arms look no further than they must, and find what looking at everything would find."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import pytest

from memhtml.index.database import open_index
from memhtml.index.embed import embed
from memhtml.index.indexer import update
from memhtml.index.vectors import find_space
from memhtml.search.arms import lexical, sparse
from memhtml.search.matching import Matching, holders, match_terms
from memhtml.search.pool import Pool
from memhtml.search.scope import Scope, make_scope, where
from memhtml.search.terms import terms_of
from memhtml.store.repo import Repo
from tests.index.stores import NOW, Store, memory
from tests.search.meanings import Meanings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.index.database import Index

WORDS = ("oven", "stove", "bread", "loaf", "repair", "mend", "rain", "gate", "lamp")
SCOPES = (
    Scope(),
    make_scope(tags=("rare",)),
    make_scope(tags=("half",)),
    Scope(include_archived=True),
    Scope(only_archived=True),
)
DEPTHS = (1, 5, 60, 400)

_ALL_MATCHES = """
SELECT f.id, f.path, -bm25(files_fts, 2.0, 1.0, 1.0, 1.5, 1.5, 1.0)
FROM files_fts JOIN files AS f ON f.id = files_fts.rowid WHERE files_fts MATCH ? AND {scope}
"""
_ALL_ROWS = """
SELECT f.id, f.path, d.terms, d.weights FROM files AS f JOIN chunks AS c ON c.file_id = f.id
JOIN sp_doc AS d ON d.text_id = c.text_id WHERE {scope}
"""


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, Meanings]]:
    """Three hundred memories of few words: many are equal, many archived, and some are tagged."""
    root: Path = tmp_path_factory.mktemp("crowd")
    store, model = Store(root), Meanings()
    rng = random.Random(5)  # noqa: S311 - a test
    for number in range(300):
        folder = "archive/2026/areas" if number % 3 == 0 else f"areas/{rng.randrange(9)}"
        tags = ("rare",) * (number % 60 == 1) + ("half",) * (number % 2)
        claim = " ".join(rng.choices(WORDS, k=rng.randint(1, 3)))
        store.put(f"{folder}/{number}.html", memory(claim, title="A note", tags=tags))
    store.commit()
    with Repo.open(str(root)) as repo, open_index(str(root)) as index:
        update(index, repo, now=NOW)
        embed(index, model)
        yield index, model


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("depth", DEPTHS)
def test_words_find_what_scoring_every_match_finds(
    crowd: tuple[Index, Meanings], scope: Scope, depth: int
) -> None:
    index, _ = crowd
    within = where(scope)
    for question in ("oven", "bread rain", "note", "note oven lamp gate"):
        expression = _matching(index, question).expression
        assert expression is not None
        sql = _ALL_MATCHES.format(scope=within.sql)
        rows = list(index.connection.execute(sql, (expression, *within.values)))
        rows.sort(key=lambda row: (-row[2], row[1]))
        found = lexical.find(Pool(index.connection, within), expression, depth)
        assert list(found.items()) == [(n, score) for n, _, score in rows[:depth]]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("with_numpy", [True, False])
def test_meaning_finds_what_scoring_every_row_finds(
    crowd: tuple[Index, Meanings], scope: Scope, depth: int, *, with_numpy: bool
) -> None:
    index, model = crowd
    within = where(scope)
    space = find_space(index.connection, "sparse", model.space_id)
    assert space is not None
    for question in ("furnace", "loaves vehicle rain", "note"):
        query = model.query(question)
        scores: dict[tuple[str, int], int] = {}
        sql = _ALL_ROWS.format(scope=within.sql)
        for file_id, path, terms, weights in index.connection.execute(sql, within.values):
            row = dict(zip(memoryview(terms).cast("H"), weights, strict=True))
            score = sum(weight * row.get(term, 0) for term, weight in query.items())
            scores[path, file_id] = max(score, scores.get((path, file_id), 0))
        order = sorted((-score, path, n) for (path, n), score in scores.items() if score)
        with pytest.MonkeyPatch.context() as patch:
            if not with_numpy:
                patch.delitem(sys.modules, "numpy", raising=False)
            found = sparse.find(Pool(index.connection, within), space, query, depth)
        # Of texts that score the same at the very end, those of lesser ids are looked at.
        assert [-f.score for f in found.values()] == [score for score, _, _ in order[:depth]]
        if depth >= len(order):
            assert list(found) == [n for _, _, n in order]


def test_who_has_a_term_is_found_alike_by_row_and_by_running_through_its_matches(
    crowd: tuple[Index, Meanings],
) -> None:
    index, _ = crowd
    matching = _matching(index, "oven bread note zeppelin")
    assert [count > 0 for count in matching.counts] == [True, True, True, False]
    for ids in ([], [3], list(range(1, 40))):
        through = holders(index.connection, matching, ids)
        rows = matching._replace(counts=(10**9,) * 4)
        assert holders(index.connection, rows, ids) == through
        assert all(2 in places for places in through.values())
        assert sorted(through) == ids


def _matching(index: Index, question: str) -> Matching:
    state = index.state()
    assert state is not None
    return match_terms(index.connection, terms_of(question), state.files)
