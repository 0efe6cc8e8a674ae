"""What has a course over time is told in one place, in the memories' own words."""

from __future__ import annotations

from typing import Any

import pytest

from memhtml.format.edit import read_links
from memhtml.format.parse import parse
from memhtml.model.errors import BudgetSpent, ModelUnavailable
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.sleep.phase import Offered, Outcome
from memhtml.sleep.phases import arc_synthesis
from memhtml.sleep.phases.arc_synthesis import ArcEntry, ArcPlan, ArcText
from tests.sleep.trees import Tree, clique, days_ago

PATHS = [f"areas/barn/m{n}.html" for n in range(6)]
ARC = "areas/arcs/barn-over-time.html"


def tree_with(**fields: Any) -> Tree:
    """Six memories of a barn, ten days apart, the last ten days old."""
    tree = Tree()
    fields.setdefault("entities", ("place:barn",))
    for n, path in enumerate(PATHS):
        tree.write(path, f"Step {n} of the barn & its <roof>.", at=days_ago(60 - 10 * n), **fields)
    return tree


def sleep(tree: Tree, **known: Any) -> Outcome:
    known.setdefault("alike", clique(PATHS))
    found = arc_synthesis.run(tree.context(**known))
    tree.apply(*found.proposals)
    return found


def test_an_arc_tells_verbatim_and_in_order_of_time() -> None:
    """sleep.md §9.13."""
    tree = tree_with()
    found = sleep(tree)
    document = parse(tree.files[ARC])
    places = [document.body_text.index(f"Step {n} of the barn & its <roof>.") for n in range(5)]
    assert places == sorted(places)
    assert document.claim == "What 6 memories tell of barn, from 2026-06-03 to 2026-07-23"
    assert document.happened_at == "2026-07-23"
    assert document.head.memory_type == MemoryType.ARC
    assert document.head.author == "agent:sleep"
    for path in PATHS:
        assert [(link.rel, link.href) for link in read_links(tree.files[path])] == [
            (Rel.PART_OF.token, f"/{ARC}")
        ]
    assert found.counts["created"] == 1
    assert [d.kind for d in found.proposals[0].decisions] == ["arc begins", *["linked"] * 6]


def test_evidence_gets_a_link_and_no_stamp() -> None:
    tree = tree_with()
    before = parse(tree.files[PATHS[0]])
    sleep(tree)
    after = parse(tree.files[PATHS[0]])
    assert after.head.updated_at == before.head.updated_at
    assert after.content_hash == before.content_hash


def test_nothing_is_written_when_nothing_came_in() -> None:
    tree = tree_with()
    sleep(tree)
    for later in (0, 1):
        assert not sleep(tree, max_arcs=10 + later).proposals


def test_an_arc_grows_instead_of_being_told_again() -> None:
    tree = tree_with()
    sleep(tree)
    begun = tree.meta(ARC, "created_at")
    new = "areas/barn/new.html"
    tree.write(new, "The barn is painted.", at=days_ago(1), entities=("place:barn",))
    found = sleep(tree, alike=clique([*PATHS, new]))
    assert (found.counts["grown"], found.counts["updated"]) == (1, 1)
    document = parse(tree.files[ARC])
    assert "The barn is painted." in document.body_text
    assert document.claim.startswith("What 7 memories")
    assert document.head.created_at == begun
    assert sum(path.startswith("areas/arcs/") for path in tree.files) == 1
    assert len(found.proposals[0].steps) == 2, "the arc, and the link of the new one"


def test_an_arc_that_was_edited_by_hand_is_not_written_over() -> None:
    tree = tree_with()
    sleep(tree)
    edited = tree.files[ARC].replace(b"The latest:", b"Mine:")
    tree.set(ARC, edited)
    new = "areas/barn/new.html"
    tree.write(new, "The barn is painted.", at=days_ago(1), entities=("place:barn",))
    found = sleep(tree, alike=clique([*PATHS, new]))
    assert not found.proposals
    assert tree.files[ARC] == edited
    assert found.counts["othersArcs"] == 1


def test_what_a_person_tells_is_not_told_a_second_time() -> None:
    tree = tree_with(links=[(Rel.PART_OF, "areas/arcs/mine.html")])
    tree.write("areas/arcs/mine.html", "How the barn came to be.", memory_type=MemoryType.ARC)
    assert not sleep(tree).proposals


@pytest.mark.parametrize(
    ("fields", "alike"),
    [
        ({"entities": ()}, clique(PATHS)),
        ({}, clique(PATHS[:4])),
        ({}, {}),
        (
            {"happened_at": "2026-07-01", "metas": {"created": "2026-06-01T00:00:00Z"}},
            clique(PATHS),
        ),
        ({"memory_type": MemoryType.USER_PREFERENCE}, clique(PATHS)),
    ],
)
def test_what_is_no_story_gets_no_arc(
    fields: dict[str, Any], alike: dict[tuple[str, str], float]
) -> None:
    assert not sleep(tree_with(**fields), alike=alike).proposals


def test_a_story_that_is_long_over_is_not_begun() -> None:
    tree = Tree()
    for n, path in enumerate(PATHS):
        at = days_ago(400 - n)
        tree.write(path, f"Step {n} of the barn.", at=at, entities=("place:barn",))
    assert not sleep(tree).proposals


def test_a_shared_tag_is_a_name_too() -> None:
    sleep(tree := tree_with(entities=(), tags=("roofing",)))
    head = parse(tree.files["areas/arcs/roofing-over-time.html"]).head
    assert head.tags == ("told-in-order", "roofing")


def test_projects_are_told_apart() -> None:
    tree = tree_with()
    for n, path in enumerate(PATHS):
        tree.set(f"projects/p{n % 2}/m{n}.html", tree.files[path])
        tree.set(path, None)
    places = [f"projects/p{n % 2}/m{n}.html" for n in range(6)]
    assert not sleep(tree, alike=clique(places)).proposals


def test_the_number_of_new_arcs_is_capped() -> None:
    found = sleep(tree_with(), max_arcs=0)
    assert not found.proposals
    assert found.counts["deferred"] == 1


def test_a_secret_is_not_copied() -> None:
    tree = tree_with()
    words = "The barn opens with AKIA" + "IOSFODNN7EXAMPLQ today."
    tree.write(PATHS[5], words, at=days_ago(10), entities=("place:barn",))
    assert sleep(tree).counts["refused"] == 1


class Writer:
    """A model that answers what a test says."""

    name = "scripted"

    def __init__(self, *entries: ArcEntry, failure: Exception | None = None) -> None:
        self.entries, self.failure = entries, failure
        self.text = ArcText("The barn", "The barn was built.", "How", ["First stones.", "A roof."])
        self.asked: list[list[str]] = []

    def ask(self, task: str, members: Any, answer: Any) -> Any:
        assert task
        self.asked.append(list(members))
        if self.failure and answer is ArcText:
            raise self.failure
        value = self.text if answer is ArcText else ArcPlan(list(self.entries))
        return value, Offered({f"m{n + 1}": n for n in range(len(members))})


def entry(action: str = "create", **fields: Any) -> ArcEntry:
    fields.setdefault("evidence_keys", ["m1", "label_m2", "m99"])
    return ArcEntry(slug="the-barn", title="The barn", action=action, rationale="so", **fields)


def test_a_model_writes_an_arc_of_its_evidence() -> None:
    tree = tree_with()
    found = sleep(tree, judge=Writer(entry()))
    document = parse(tree.files["areas/arcs/the-barn.html"])
    assert document.claim == "The barn was built."
    assert document.summaries == ("How",)
    assert (found.counts["created"], found.counts["linked"]) == (1, 2)
    assert found.counts["unresolved"] == 1


def test_a_model_that_would_create_what_exists_updates_it_and_keeps_its_folds() -> None:
    tree = tree_with()
    sleep(tree, judge=Writer(entry()))
    writer = Writer(entry(evidence_keys=["m3", "m4"]))
    writer.text = ArcText("The barn", "The barn stands.", "Since", ["Paint."])
    found = sleep(tree, judge=writer)
    document = parse(tree.files["areas/arcs/the-barn.html"])
    assert found.counts["updated"] == 1
    assert document.summaries == ("Since", "How")
    assert "First stones." in document.body_text
    assert "First stones." in writer.asked[1][-1], "it is shown what the arc says so far"
    again = Writer(entry(evidence_keys=["m3", "m4"]))
    assert sleep(tree, judge=again).counts["nothingNew"] == 1


@pytest.mark.parametrize(
    ("wrong", "count"),
    [
        (entry("skip"), "skippedByModel"),
        (entry("burn"), "skippedByModel"),
        (entry("update"), "refused"),
        (entry(evidence_keys=["m1"]), "refused"),
        (entry(evidence_keys=["m98", "m99"]), "refused"),
    ],
)
def test_what_a_model_may_not_say_is_counted(wrong: ArcEntry, count: str) -> None:
    found = sleep(tree_with(), judge=Writer(wrong))
    assert found.counts[count] == 1
    assert not found.proposals


@pytest.mark.parametrize("failure", [BudgetSpent("x", "spent"), ModelUnavailable("x", "down")])
def test_a_model_that_fails_writes_nothing(failure: Exception) -> None:
    found = sleep(tree_with(), judge=Writer(entry(), failure=failure))
    assert not found.proposals
    assert found.counts["skipped"] == 1
    assert found.detail
