"""The retention scorer, against numbers worked out by hand (sleep.md §4)."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

from memhtml.model.vocabulary import MemoryType
from memhtml.scoring.retention import (
    Band,
    Uses,
    _compensated,
    band_of,
    retention,
    signals_of,
    weights_of,
)


@pytest.mark.parametrize("memory_type", list(MemoryType))
def test_the_weights_of_a_type_sum_to_one(memory_type: MemoryType) -> None:
    assert sum(Fraction(str(weight)) for weight in weights_of(memory_type).signals) == 1


@pytest.mark.parametrize(
    ("words", "density"), [(0, 0.0), (9, 0.081), (10, 0.1), (50, 0.5), (100, 1.0), (900, 1.0)]
)
def test_density_falls_with_the_square_under_ten_words(words: int, density: float) -> None:
    assert signals_of(Uses(0, words=words), None).content_density == pytest.approx(density)


@pytest.mark.parametrize(
    ("contradictions", "contested"), [(0, 1.0), (1, 2 / 3), (3, 0.0), (9, 0.0)]
)
def test_each_contradiction_takes_a_third(contradictions: int, contested: float) -> None:
    signals = signals_of(Uses(0, contradictions=contradictions), None)
    assert signals.contested == pytest.approx(contested)


def test_every_signal_is_capped_at_one() -> None:
    much = Uses(-5, accesses=99, confidence=2, rank=2, bridges=99, reinforcements=99, words=999)
    assert set(signals_of(much, 10.0)) == {1.0}


def test_recency_halves_with_the_half_life_of_the_type() -> None:
    assert signals_of(Uses(10), 10.0).recency == pytest.approx(0.5)
    assert signals_of(Uses(10_000), None).recency == 1.0


@pytest.mark.parametrize(
    ("memory_type", "uses", "score"),
    [
        # .25·½ + .15·.4 + .10·.8 + .10·.5 + .10·.2 + .10·.2 + .10·.6 + .10·⅔
        ("episodic", Uses(10, 4, 0.8, 0.5, 1, 1, 60, 1), 0.4817),
        # .05·1 + .20·1 + .10·.2 + .05·1, nothing else known
        ("semantic", Uses(0, words=20), 0.32),
        # a procedure does not age: .15 + .10·.3 + .10
        ("procedural", Uses(5000, words=30), 0.28),
        ("verdict", Uses(30, words=100), 0.425),
    ],
)
def test_scores_are_the_weighted_sums(memory_type: str, uses: Uses, score: float) -> None:
    assert retention(memory_type, uses) == score


def test_half_a_ten_thousandth_rounds_up() -> None:
    # .20·confidence + .05 contested + .05 recency: 0.10005 comes to 0.1001
    assert retention("semantic", Uses(0, confidence=0.00025)) == 0.1001


def test_a_boundary_belongs_to_the_lower_band() -> None:
    assert [band_of(score) for score in (1.0, 0.7001, 0.7, 0.3001, 0.3, 0.0)] == [
        Band.KEEP,
        Band.KEEP,
        Band.COMPRESS,
        Band.COMPRESS,
        Band.EVICT,
        Band.EVICT,
    ]


def test_the_sum_does_not_depend_on_the_order_of_its_terms() -> None:
    terms = (0.1, 1e16, 0.2, -1e16)
    assert all(_compensated(order) == pytest.approx(0.3) for order in permutations(terms))
    assert sum(terms) != pytest.approx(0.3)
