"""What lies in the inbox goes where its like stand, if that is clear, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from memhtml.format.edit import read_links
from memhtml.model.errors import BudgetSpent
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.sleep.phase import Offered
from memhtml.sleep.phases import placement_triage
from memhtml.sleep.phases.placement_triage import Place
from tests.sleep.trees import Tree, days_ago

NEW = "areas/inbox/new.html"
KILN = [f"resources/kiln/{n}.html" for n in range(4)]
OWLS = [f"areas/owls/{n}.html" for n in range(4)]


@pytest.fixture
def tree() -> Tree:
    tree = Tree()
    for n, path in enumerate(KILN):
        tree.write(path, f"Kiln fact {n}.", tags=("kiln",))
    for n, path in enumerate(OWLS):
        tree.write(path, f"Owl fact {n}.", tags=("owls",), entities=("place:barn",))
    tree.write(NEW, "The kiln has a new door.", at=days_ago(5))
    return tree


def near(paths: list[str], path: str = NEW) -> dict[tuple[str, str], float]:
    return {(path, other): 0.8 for other in paths}


def sleep(tree: Tree, **known: Any) -> dict[str, int]:
    found = placement_triage.run(tree.context(**known))
    tree.apply(*found.proposals)
    return dict(found.counts)


def test_it_goes_where_its_neighbours_stand_byte_for_byte(tree: Tree) -> None:
    """sleep.md §9.13."""
    before = tree.files[NEW]
    found = placement_triage.run(tree.context(alike=near(KILN)))
    (decision,) = found.proposals[0].decisions
    assert decision.why == "4 memories most like it stand in resources/kiln, 100% of the vote."
    tree.apply(*found.proposals)
    assert tree.files["resources/kiln/new.html"] == before
    assert NEW not in tree.files


def test_it_goes_where_its_tags_stand(tree: Tree) -> None:
    tree.write(NEW, "The door is red.", at=days_ago(5), tags=("kiln",))
    assert sleep(tree)["moved"] == 1
    assert "resources/kiln/new.html" in tree.files


def test_a_tag_that_says_how_memories_came_to_be_has_no_vote(tree: Tree) -> None:
    for n in range(3):
        tree.write(f"resources/odd/{n}.html", f"Odd fact {n}.", tags=("trace-consolidation",))
    tree.write(NEW, "The door is red.", at=days_ago(5), tags=("trace-consolidation",))
    assert sleep(tree)["moved"] == 0


@pytest.mark.parametrize(
    ("alike", "fields"),
    [
        ({}, {}),
        (near(KILN[:2]), {}),
        (near(KILN[:3]) | near(OWLS[:3]), {}),
        (near(KILN), {"tags": ("owls",)}),
        ({}, {"tags": ("owls", "kiln")}),
        ({}, {"tags": ("unheard",)}),
    ],
)
def test_without_a_clear_majority_it_stays(
    tree: Tree, alike: dict[tuple[str, str], float], fields: dict[str, Any]
) -> None:
    tree.write(NEW, "The kiln has a new door.", at=days_ago(5), **fields)
    counts = sleep(tree, alike=alike)
    assert (counts["moved"], counts["unclear"]) == (0, 1)
    assert NEW in tree.files


def test_a_name_that_is_everywhere_says_nothing(tree: Tree) -> None:
    for n in range(8):
        tree.write(f"areas/f{n}/x.html", f"Ada was at place {n}.", entities=("person:Ada",))
    tree.write(NEW, "Ada likes the kiln.", at=days_ago(5), entities=("person:Ada",))
    assert sleep(tree)["moved"] == 0
    assert sleep(tree, alike=near(KILN))["moved"] == 1


def test_neighbours_in_the_inbox_and_in_managed_folders_have_no_vote(tree: Tree) -> None:
    others = [
        tree.write(f"{folder}/{n}.html", f"Neighbour {folder} {n}.", at=days_ago(5))
        for folder in ("areas/inbox", "areas/inbox/2026-07", "resources/people", "projects/barn")
        for n in range(3)
    ]
    assert sleep(tree, alike=near(others))["moved"] == 0


def test_links_follow(tree: Tree) -> None:
    other = "areas/owls/0.html"
    tree.write(other, "An owl likes the door.", links=[(Rel.RELATES_TO, NEW)])
    sleep(tree, alike=near(KILN))
    (link,) = read_links(tree.files[other])
    assert link.href == "/resources/kiln/new.html"


def test_two_that_move_together_keep_the_link_between_them(tree: Tree) -> None:
    second = "areas/inbox/second.html"
    tree.write(second, "The door squeaks.", at=days_ago(5), links=[(Rel.CAUSED_BY, NEW)])
    assert sleep(tree, alike=near(KILN) | near(KILN, second))["moved"] == 2
    (link,) = read_links(tree.files["resources/kiln/second.html"])
    assert link.href == "/resources/kiln/new.html"


def test_a_name_that_is_taken_is_no_place(tree: Tree) -> None:
    tree.write("resources/kiln/NEW.html", "The door of old.")
    counts = sleep(tree, alike=near(KILN))
    assert (counts["collision"], counts["moved"]) == (1, 0)


def test_what_came_today_may_still_be_worked_on(tree: Tree) -> None:
    tree.write(NEW, "The kiln has a new door.", at=days_ago(0.1))
    counts = sleep(tree, alike=near(KILN))
    assert (counts["fresh"], counts["moved"]) == (1, 0)


def test_tasks_stay_where_tasks_are(tree: Tree) -> None:
    task = "areas/inbox/tasks/door.html"
    tree.write(task, "Oil the door.", memory_type=MemoryType.TASK, tags=("kiln",))
    sleep(tree, alike=near(KILN, task))
    assert task in tree.files


def test_a_folder_with_subfolders_for_months_is_one_place(tree: Tree) -> None:
    for n in range(3):
        tree.write(f"resources/kiln/2026-0{n + 1}/x.html", f"Kiln in month {n}.", tags=("ash",))
    tree.write(NEW, "Ash is grey.", at=days_ago(5), tags=("ash",))
    sleep(tree)
    assert "resources/kiln/new.html" in tree.files


def test_the_next_night_has_nothing_left_to_do(tree: Tree) -> None:
    sleep(tree, alike=near(KILN))
    assert sleep(tree, alike=near(KILN, "resources/kiln/new.html"))["moved"] == 0


class Sorter:
    """A model that answers what a test says."""

    name = "scripted"

    def __init__(self, *places: Place, failure: Exception | None = None) -> None:
        self.places = places
        self.failure = failure
        self.tasks: list[str] = []

    def ask(self, task: str, members: Any, answer: Any) -> Any:
        self.tasks.append(task)
        if self.failure:
            raise self.failure
        value = answer(places=list(self.places))
        return value, Offered({f"m{n + 1}": n for n in range(len(members))})


def test_a_model_may_name_a_folder_that_exists(tree: Tree) -> None:
    judge = Sorter(Place("m1", "areas/owls", 0.9))
    assert sleep(tree, judge=judge)["moved"] == 0, "only a deep run asks"
    assert sleep(tree, judge=judge, deep=True)["byModel"] == 1
    assert "areas/owls/new.html" in tree.files
    assert "- areas/owls\n- resources/kiln" in judge.tasks[0]


@pytest.mark.parametrize(
    ("place", "count"),
    [
        (Place("m1", "keep-inbox", 0.9), "kept"),
        (Place("m9", "areas/owls", 0.9), "unresolved"),
        (Place("m1", "areas/owls", 0.6), "belowFloor"),
        (Place("m1", "resources/people", 0.9), "refused"),
        (Place("m1", "projects/barn", 0.9), "refused"),
        (Place("m1", "areas/../../etc", 0.9), "refused"),
        (Place("m1", "archive/2026", 0.9), "refused"),
        (Place("m1", "areas/quite-new", 0.9), "refused"),
    ],
)
def test_what_a_model_may_not_say_is_counted(tree: Tree, place: Place, count: str) -> None:
    counts = sleep(tree, judge=Sorter(place), deep=True)
    assert (counts[count], counts["moved"]) == (1, 0)


def test_a_new_folder_needs_three_memories(tree: Tree) -> None:
    for n in range(2):
        tree.write(f"areas/inbox/{n}.html", f"Tide table {n}.", at=days_ago(5))
    places = [Place(f"m{n}", "resources/tides", 0.9) for n in (1, 2, 3)]
    assert sleep(tree, judge=Sorter(*places[:2]), deep=True)["moved"] == 0
    assert sleep(tree, judge=Sorter(*places), deep=True)["moved"] == 3
    assert "resources/tides/0.html" in tree.files


def test_a_model_that_may_spend_no_more_leaves_the_votes_standing(tree: Tree) -> None:
    tree.write("areas/inbox/odd.html", "Something else.", at=days_ago(5))
    judge = Sorter(failure=BudgetSpent("x", "spent"))
    counts = sleep(tree, judge=judge, deep=True, alike=near(KILN))
    assert (counts["moved"], counts["skipped"]) == (1, 1)
