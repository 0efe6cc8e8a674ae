"""A term that is over is extended for what is used, three times, or the memory is archived."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memhtml.format.parse import parse
from memhtml.index.usage import Usage
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.phases import reprieve
from memhtml.sleep.phases.reprieve import merit_of
from tests.sleep.trees import NOW, Tree, days_ago

OFFER = "areas/offer.html"
USED = {OFFER: Usage(access_count=6, outcome_score=1.0, last_accessed_at=days_ago(1))}


def tree_with(until: str = "2026-08-01", **fields: Any) -> Tree:
    tree = Tree()
    tree.write(OFFER, "The offer stands.", valid_until=until, **fields)
    tree.write("areas/other.html", "Something without an end.")
    return tree


def sleep(tree: Tree, **known: Any) -> dict[str, int]:
    found = reprieve.run(tree.context(**known))
    tree.apply(*found.proposals)
    return dict(found.counts)


def test_what_is_used_gets_two_more_weeks_and_no_stamp() -> None:
    tree = tree_with()
    before = parse(tree.files[OFFER])
    assert sleep(tree, usage=USED)["reprieved"] == 1
    after = parse(tree.files[OFFER])
    assert (after.head.valid_until, after.head.reprieves) == ("2026-08-16", 1)
    assert after.head.updated_at == before.head.updated_at
    assert after.content_hash == before.content_hash


def test_what_is_not_used_goes_to_the_archive() -> None:
    tree = tree_with()
    assert sleep(tree)["archived"] == 1
    assert tree.meta("archive/2026/areas/offer.html", "valid_until") == "2026-08-01"


def test_the_fourth_time_it_goes_however_much_it_is_used() -> None:
    tree = tree_with()
    done = []
    for night in range(0, 70, 14):
        now = NOW + timedelta(days=night)
        usage = {OFFER: USED[OFFER]._replace(last_accessed_at=days_ago(1, now))}
        done.append(sleep(tree, now=now, usage=usage))
    assert [counts["reprieved"] for counts in done] == [1, 1, 1, 0, 0]
    assert done[3]["archived"] == 1


@pytest.mark.parametrize("until", ["2026-08-03", "2026-08-02T03:00:01Z"])
def test_a_term_that_still_runs_is_left_alone(until: str) -> None:
    assert sleep(tree_with(until))["expired"] == 0


@pytest.mark.parametrize("until", ["2026-08-02", "2026-08-02T03:00:00Z"])
def test_a_term_that_ends_now_is_over(until: str) -> None:
    assert sleep(tree_with(until))["expired"] == 1


def test_the_same_date_again_changes_nothing() -> None:
    tree = tree_with()
    sleep(tree, usage=USED)
    assert sleep(tree, usage=USED)["expired"] == 0


def test_what_is_pinned_is_not_archived() -> None:
    counts = sleep(tree_with(tags=("pinned",)))
    assert (counts["pinned"], counts["archived"]) == (1, 0)


def test_arcs_and_tasks_are_left_alone() -> None:
    for memory_type in (MemoryType.ARC, MemoryType.TASK):
        assert sleep(tree_with(memory_type=memory_type))["expired"] == 0


@pytest.mark.parametrize(
    ("importance", "usage", "hours", "merit"),
    [
        (5, None, 0, 0.3),
        # .4·.5 + .3·ln 2 + .2·.5 + .1·e^-1
        (5, Usage(access_count=1, outcome_score=0.5), 100, 0.5447),
        (10, Usage(access_count=0, outcome_score=-1.0), 1e9, 0.4),
    ],
)
def test_merit_is_the_sum_of_four_parts(
    importance: int, usage: Usage | None, hours: float, merit: float
) -> None:
    assert merit_of(importance, usage, hours).score == pytest.approx(merit, abs=5e-5)


def test_a_decision_tells_why() -> None:
    (proposal,) = reprieve.run(tree_with().context()).proposals
    (decision,) = proposal.decisions
    assert decision.why == (
        "Its term ended on 2026-08-01, and its merit is 0.20, and 0.5 would keep it."
    )
    assert dict(decision.evidence)["validUntil"] == "2026-08-01"
