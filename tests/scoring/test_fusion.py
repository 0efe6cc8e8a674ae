from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.scoring.fusion import (
    NUDGE_LIMIT,
    boosted,
    fused,
    nudged,
    ranked,
    scaled,
)

_scores = st.dictionaries(st.integers(0, 40), st.floats(-1, 1e6, allow_subnormal=False))
_positive = st.dictionaries(st.integers(0, 40), st.floats(0.01, 100))


@given(_scores, st.floats(0.1, 10))
def test_the_best_of_an_arm_counts_its_weight_and_none_counts_more(
    scores: dict[int, float], weight: float
) -> None:
    result = scaled(scores, weight)
    assert set(result) == {key for key, score in scores.items() if score > 0}
    assert all(0 <= score <= weight for score in result.values())
    assert not result or max(result.values()) == weight


@given(_positive, st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_unit_of_an_arm_does_not_matter(scores: dict[int, float], factor: float) -> None:
    assert scaled({key: score * factor for key, score in scores.items()}) == scaled(scores)


@given(st.lists(_positive, max_size=4))
def test_a_sum_has_every_key_of_every_arm(arms: list[dict[int, float]]) -> None:
    total = fused(arms)
    assert set(total) == {key for arm in arms for key in arm}
    for key, score in total.items():
        assert score == pytest.approx(sum(arm.get(key, 0) for arm in arms))


@given(_positive)
def test_an_arm_that_found_nothing_changes_nothing(scores: dict[int, float]) -> None:
    assert fused([scores, {}]) == fused([{}, scores]) == scores


@given(_positive)
def test_a_neighbour_gives_its_share_once(scores: dict[int, float]) -> None:
    result = boosted(scores, lambda n: (n - 1, n + 1), share=0.2)
    for key in range(-1, 42):
        beside = max(scores.get(key - 1, 0), scores.get(key + 1, 0))
        assert result.get(key, 0) == pytest.approx(scores.get(key, 0) + 0.2 * beside)


def test_without_neighbours_nothing_is_boosted() -> None:
    assert boosted({1: 1.0, 2: 0.5}, lambda _: ()) == {1: 1.0, 2: 0.5}


_signals = st.lists(st.tuples(st.floats(0, 1), st.floats(-2, 3)), max_size=4)


@given(st.floats(0, 10), _signals)
def test_signals_never_take_away_and_never_add_more_than_their_limit(
    score: float, signals: list[tuple[float, float]]
) -> None:
    assert score <= nudged(score, signals) <= score * (1 + NUDGE_LIMIT)


@given(st.floats(0.1, 10), _signals, _signals)
def test_signals_cannot_push_out_a_clearly_better_match(
    score: float, helped: list[tuple[float, float]], unhelped: list[tuple[float, float]]
) -> None:
    better = score * (1 + 2 * NUDGE_LIMIT)
    assert nudged(better, unhelped) > nudged(score, helped)
    assert nudged(0, helped) == 0


@given(_positive, st.integers(0, 50))
def test_a_ranking_descends_breaks_ties_by_key_and_is_a_prefix_of_the_whole(
    scores: dict[int, float], limit: int
) -> None:
    whole = ranked(scores)
    assert dict(whole) == scores
    assert all((-a[1], a[0]) < (-b[1], b[0]) for a, b in pairwise(whole))
    assert ranked(scores, limit) == whole[:limit]
