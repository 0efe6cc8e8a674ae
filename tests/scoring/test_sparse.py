from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.model.ports import SparseRow
from memhtml.scoring import sparse
from memhtml.scoring.sparse import (
    Posting,
    affordable,
    best,
    cosine,
    cosines,
    inverted,
    pack_terms,
    scores,
    scores_numpy,
    unpack_row,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_term = st.integers(0, 65535)
_pairs = st.dictionaries(st.one_of(st.integers(0, 9), _term), st.integers(1, 255), max_size=12)


def row(pairs: Mapping[int, int]) -> SparseRow:
    terms = tuple(sorted(pairs))
    return SparseRow(terms, bytes(pairs[term] for term in terms))


_rows = st.lists(_pairs.map(row), max_size=12)


def asked(query: dict[int, int], postings: dict[int, Posting]) -> list[tuple[int, Posting]]:
    return [(weight, postings[term]) for term, weight in query.items() if term in postings]


@given(_pairs)
def test_a_row_comes_back_from_its_bytes(pairs: dict[int, int]) -> None:
    packed = pack_terms(row(pairs))
    assert len(packed) == 2 * len(pairs)
    assert unpack_row(packed, row(pairs).weights) == row(pairs)


@given(_rows, _pairs)
def test_a_score_is_the_dot_product_by_either_scorer(
    rows: list[SparseRow], query: dict[int, int]
) -> None:
    postings = asked(query, inverted(enumerate(rows)))
    expected = [
        sum(query.get(term, 0) * weight for term, weight in zip(r.terms, r.weights, strict=True))
        for r in rows
    ]
    assert scores(postings, len(rows)) == expected
    assert scores_numpy(postings, len(rows)).tolist() == expected


@given(_rows, _pairs, st.integers(0, 12))
def test_an_index_in_segments_scores_like_one(
    rows: list[SparseRow], query: dict[int, int], cut: int
) -> None:
    numbered = list(enumerate(rows))
    whole = asked(query, inverted(numbered))
    parts = asked(query, inverted(numbered[:cut])) + asked(query, inverted(numbered[cut:]))
    assert scores(parts, len(rows)) == scores(whole, len(rows))
    assert scores_numpy(parts, len(rows)).tolist() == scores(whole, len(rows))


def test_big_endian_machines_read_and_write_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Swapping twice is what such a machine does; on this one it shows as swapped bytes.
    monkeypatch.setattr(sparse, "_SWAPPED", not sparse._SWAPPED)
    assert pack_terms(SparseRow((1,), b"x")) in (b"\x00\x01", b"\x01\x00")
    assert unpack_row(pack_terms(SparseRow((1, 300), b"xy")), b"xy").terms == (1, 300)
    postings = [(2, inverted([(3, SparseRow((5,), b"\x07"))])[5])]
    assert scores(postings, 4) == [0, 0, 0, 14]


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 10))
def test_the_best_are_the_same_by_either_scorer(totals: list[int], limit: int) -> None:
    order = sorted(range(len(totals)), key=lambda doc: (-totals[doc], doc))
    expected = [(doc, totals[doc]) for doc in order if totals[doc]][:limit]
    assert best(totals, limit) == expected
    assert best(np.asarray(totals, np.int32), limit) == expected


@given(_pairs, st.dictionaries(_term, st.integers(0, 50)), st.integers(0, 200))
def test_what_is_read_stays_in_the_budget_or_is_one_term(
    query: dict[int, int], lengths: dict[int, int], budget: int
) -> None:
    taken = affordable(query, lengths, budget)
    assert taken.items() <= query.items()
    assert len(taken) <= 1 or sum(lengths[term] for term in taken) <= budget
    known = {term for term in query if lengths.get(term)}
    assert bool(taken) == bool(known)
    left = known - taken.keys()
    assert all(query[term] <= weight for term in left for weight in taken.values())


def test_a_large_budget_keeps_every_term_that_the_index_has() -> None:
    assert affordable({1: 5, 2: 9, 3: 7}, {1: 10, 2: 10}, 20) == {2: 9, 1: 5}


@given(_pairs.map(row), _pairs.map(row))
def test_likeness_is_symmetric_and_between_nothing_and_the_same(
    left: SparseRow, right: SparseRow
) -> None:
    assert cosine(left, right) == pytest.approx(cosine(right, left))
    assert 0 <= cosine(left, right) <= 1 + 1e-12
    assert cosine(left, left) == (1.0 if left.terms else 0.0)
    assert (cosine(left, right) == 0) == (not set(left.terms) & set(right.terms))


@given(_rows)
def test_likeness_of_all_pairs_is_that_of_each_with_or_without_numpy(
    rows: list[SparseRow],
) -> None:
    expected = [[cosine(left, right) for right in rows] for left in rows]
    assert "numpy" in sys.modules
    for line, wanted in zip(cosines(rows), expected, strict=True):
        assert line == pytest.approx(wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "numpy")
        assert cosines(rows) == expected
