from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.scoring import vectors
from memhtml.scoring.vectors import PAGE_ROWS, dot, matrix, nearest, pack, paged, unit, unpack

_floats = st.floats(-100, 100, width=32)


@given(st.lists(_floats, max_size=20))
def test_values_come_back_from_their_bytes(values: list[float]) -> None:
    assert unpack(pack(values)).tolist() == values
    assert pack(values) == np.asarray(values, "<f4").tobytes()


def test_big_endian_machines_read_and_write_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On this machine the swap shows as swapped bytes; reading undoes what writing did.
    plain = pack([1.0])
    monkeypatch.setattr(vectors, "_SWAPPED", not vectors._SWAPPED)
    assert pack([1.0]) == plain[::-1]
    assert unpack(pack([1.5, -2.0])).tolist() == [1.5, -2.0]


@pytest.mark.parametrize("count", [0, 1, PAGE_ROWS, PAGE_ROWS + 1, 3 * PAGE_ROWS - 1])
def test_rows_come_back_from_their_pages(count: int) -> None:
    rows = np.random.default_rng(1).normal(size=(count, 3)).astype(np.float32)
    pages = list(paged(rows))
    assert [len(page) for page in pages[:-1]] == [PAGE_ROWS * 3 * 4] * (len(pages) - 1)
    assert len(pages) == -(-count // PAGE_ROWS)
    back = matrix(pages, 3)
    assert np.array_equal(back, rows)
    assert back.flags.writeable


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), max_size=30), st.integers(0, 10))
def test_the_nearest_rows_come_first_and_ties_by_row(cosines: list[float], limit: int) -> None:
    rows = np.asarray(cosines, np.float32).reshape(-1, 1)
    order = sorted(range(len(cosines)), key=lambda row: (-cosines[row], row))
    expected = [(row, cosines[row]) for row in order][:limit]
    assert nearest(rows, np.ones(1, np.float32), limit) == expected


@given(st.lists(_floats, min_size=1, max_size=20))
def test_a_unit_vector_has_length_one_and_the_same_direction(values: list[float]) -> None:
    result = unit(values)
    if not any(values):
        assert result == values
        return
    assert dot(result, result) == pytest.approx(1)
    length = dot(values, values) ** 0.5
    assert dot(values, result) == pytest.approx(length)


@given(st.lists(st.tuples(_floats, _floats), max_size=20))
def test_the_dot_product_agrees_with_numpy(pairs: list[tuple[float, float]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    assert dot(left, right) == pytest.approx(float(np.dot(left, right)), rel=1e-9, abs=1e-6)


def test_vectors_of_different_width_have_no_product() -> None:
    with pytest.raises(ValueError, match="longer"):
        dot([1.0], [1.0, 2.0])
