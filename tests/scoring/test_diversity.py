from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from memhtml.scoring.diversity import diversified, overlap, shingles

if TYPE_CHECKING:
    from collections.abc import Sequence

_candidates = st.dictionaries(st.integers(0, 30), st.floats(0.01, 9), max_size=15).map(
    lambda scores: sorted(scores.items(), key=lambda item: (-item[1], item[0]))
)


def near(one: int, others: Sequence[int]) -> list[float]:
    return [max(0.0, 1 - abs(one - other) / 10) for other in others]


def unlike(_: int, others: Sequence[int]) -> list[float]:
    return [0.0] * len(others)


@given(_candidates, st.integers(0, 20), st.floats(0, 1))
def test_an_answer_is_a_reordering_without_duplicates(
    candidates: list[tuple[int, float]], limit: int, balance: float
) -> None:
    answer = diversified(candidates, near, limit=limit, balance=balance)
    assert len(answer) == min(limit, len(candidates))
    assert len(set(answer)) == len(answer)
    assert set(answer) <= set(candidates)
    assert answer[:1] == candidates[:1][: len(answer)]


@given(_candidates, st.integers(0, 20))
def test_a_longer_answer_begins_with_the_shorter(
    candidates: list[tuple[int, float]], limit: int
) -> None:
    longer = diversified(candidates, near, limit=limit + 1)
    assert longer[:limit] == diversified(candidates, near, limit=limit)


@given(_candidates, st.integers(0, 20))
def test_a_full_balance_or_candidates_unlike_each_other_are_a_plain_cut(
    candidates: list[tuple[int, float]], limit: int
) -> None:
    assert diversified(candidates, near, limit=limit, balance=1.0) == candidates[:limit]
    assert diversified(candidates, unlike, limit=limit) == candidates[:limit]


@given(_candidates, st.sampled_from([0.5, 64.0]))
def test_the_unit_of_the_scores_does_not_matter(
    candidates: list[tuple[int, float]], factor: float
) -> None:
    scaled = [(key, score * factor) for key, score in candidates]
    expected = [key for key, _ in diversified(candidates, near, limit=5)]
    assert [key for key, _ in diversified(scaled, near, limit=5)] == expected


@given(_candidates, st.integers(1, 6), st.floats(0, 0.99))
def test_each_place_goes_to_the_best_balance_of_score_and_novelty(
    candidates: list[tuple[int, float]], limit: int, balance: float
) -> None:
    answer = diversified(candidates, near, limit=limit, balance=balance)
    best = max((score for _, score in candidates), default=1.0)

    def worth(candidate: tuple[int, float], taken: list[tuple[int, float]]) -> float:
        likest = max((near(key, [candidate[0]])[0] for key, _ in taken), default=0.0)
        return balance * candidate[1] / best - (1 - balance) * likest

    for place, winner in enumerate(answer):
        taken = answer[:place]
        left = [candidate for candidate in candidates if candidate not in taken]
        assert worth(winner, taken) >= max(worth(other, taken) for other in left) - 1e-12


def test_likeness_is_asked_once_for_each_place_but_the_last() -> None:
    asked = []

    def count(one: int, others: Sequence[int]) -> list[float]:
        asked.append(len(others))
        return near(one, others)

    diversified([(n, 30.0 - n) for n in range(30)], count, limit=10)
    assert asked == [30 - taken for taken in range(1, 10)]


_words = st.lists(st.sampled_from("abcd"), max_size=8)


@given(_words, st.integers(1, 4))
def test_shingles_are_every_run_of_words(words: list[str], width: int) -> None:
    runs = shingles(words, width)
    joined = " ".join(words)
    assert all(" ".join(run) in joined for run in runs)
    assert all(len(run) == min(width, len(words)) for run in runs)
    assert bool(runs) == bool(words)


@given(_words, _words)
def test_overlap_is_symmetric_and_full_for_the_same_text(left: list[str], right: list[str]) -> None:
    a, b = shingles(left), shingles(right)
    assert overlap(a, b) == overlap(b, a)
    assert 0 <= overlap(a, b) <= 1
    assert overlap(a, a) == (1.0 if left else 0.0)
    assert (overlap(a, b) == 1.0) == (a == b and bool(a))
