from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.format.parse import parse
from memhtml.model.errors import ModelUnavailable
from memhtml.model.vocabulary import Rel
from memhtml.sleep.likeness import likeness_of
from memhtml.sleep.phase import Offered
from memhtml.sleep.phases import edge_typing, preflight, relationship_mining
from memhtml.sleep.phases.edge_typing import PairVerdict
from tests.sleep.trees import NOW, Tree, clique, days_ago

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.sleep.phase import Outcome

PAIR = ("areas/a.html", "areas/b.html")


def two(one: str, other: str, mine: dict[str, Any], theirs: dict[str, Any]) -> Tree:
    tree = Tree()
    tree.write(PAIR[0], one, **mine)
    tree.write(PAIR[1], other, **theirs)
    return tree


def test_two_values_of_one_frame_are_told_with_both_claims() -> None:
    """sleep.md §9.13: without a model nothing looked for contradictions."""
    tree = two("The pool ceiling is 64", "The pool ceiling is 80", {}, {})
    outcome = edge_typing.run(tree.context())
    (finding,) = outcome.findings
    assert finding.claim.startswith("resolve: areas/a.html and areas/b.html cannot both hold")
    assert finding.quotes == (
        (PAIR[0], "The pool ceiling is 64"),
        (PAIR[1], "The pool ceiling is 80"),
    )
    assert (outcome.proposals, outcome.judged_all) == ((), True)
    assert finding.key == edge_typing.run(tree.context()).findings[0].key


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ({"entities": ("service:a",)}, {"entities": ("service:b",)}),
        ({"valid_until": days_ago(9)}, {"valid_from": days_ago(9)}),
        ({"happened_at": "2026-01-01"}, {"happened_at": "2026-02-01"}),
        ({}, {"links": ((Rel.CONTRADICTS, PAIR[0]),)}),
    ],
)
def test_values_for_different_things_or_times_are_no_contradiction(
    mine: dict[str, Any], theirs: dict[str, Any]
) -> None:
    tree = two("The pool ceiling is 64", "The pool ceiling is 80", mine, theirs)
    assert edge_typing.run(tree.context()).findings == ()


def test_values_of_two_workspaces_are_no_contradiction() -> None:
    tree = Tree()
    tree.write("projects/a/pool.html", "The pool ceiling is 64")
    tree.write("projects/b/pool.html", "The pool ceiling is 80")
    assert edge_typing.run(tree.context()).findings == ()


def test_a_slot_with_many_values_is_a_list() -> None:
    tree = Tree()
    for number in range(9):
        tree.write(f"areas/{number}.html", f"A guest of the inn is person{number}")
    assert edge_typing.run(tree.context()).findings == ()


@dataclass
class Scripted:
    relation: str
    direction: str = "a_to_b"
    confidence: float = 0.9
    name: str = "scripted"

    def ask(self, task: str, members: Sequence[str], answer: type[Any]) -> tuple[Any, Offered]:
        assert task.startswith("Each member is a pair")
        assert all(member.startswith("A: ") for member in members)
        if self.relation == "down":
            raise ModelUnavailable(self.name, "down")
        verdicts = [
            PairVerdict(key, self.relation, self.direction, self.confidence, "so it says")
            for key in ("m1", "m9")
        ]
        return answer(verdicts=verdicts), Offered({"m1": 0})


def judged(tree: Tree, judge: Scripted, **context: Any) -> Outcome:
    outcome = edge_typing.run(tree.context(alike=clique(PAIR), judge=judge, **context))
    tree.apply(*outcome.proposals)
    return outcome


def links(tree: Tree, path: str) -> list[tuple[str, str]]:
    return [(link.rel, link.href) for link in parse(tree.files[path]).links]


def test_a_relation_with_a_direction_becomes_a_link_of_its_subject_at_once() -> None:
    tree = two("The disk was full", "The import stopped", {}, {})
    outcome = judged(tree, Scripted("caused_by", "b_to_a"))
    assert links(tree, PAIR[1]) == [("memhtml-caused-by", "/areas/a.html")]
    assert links(tree, PAIR[0]) == []
    assert (outcome.counts["typed"], outcome.counts["unresolved"]) == (1, 1)
    assert judged(tree, Scripted("caused_by", "b_to_a")).counts["candidates"] == 0


def test_a_contradiction_is_linked_in_both_on_the_second_date_and_told_before() -> None:
    tree = two("The gate is open at night", "Nobody gets in at night", {}, {})
    for _ in range(2):
        outcome = judged(tree, Scripted("contradicts"))
        assert len(outcome.findings) == 1
        assert links(tree, PAIR[0]) == []
    judged(tree, Scripted("contradicts"), now=NOW + timedelta(days=1))
    assert links(tree, PAIR[0]) == [("memhtml-contradicts", "/areas/b.html")]
    assert links(tree, PAIR[1]) == [("memhtml-contradicts", "/areas/a.html")]


@pytest.mark.parametrize("judge", [Scripted("caused_by", confidence=0.5), Scripted("none")])
def test_what_a_model_is_unsure_of_is_left(judge: Scripted) -> None:
    tree = two("The disk was full", "The import stopped", {}, {})
    assert judged(tree, judge).proposals == ()


def test_a_batch_that_failed_is_counted_and_the_pass_is_not_whole() -> None:
    tree = two("The disk was full", "The import stopped", {}, {})
    outcome = judged(tree, Scripted("down"))
    assert (outcome.counts["skipped"], outcome.judged_all) == (1, False)


def test_mining_counts_what_is_related_and_proposes_nothing() -> None:
    tree = two("Owls hunt mice at night", "At night owls hunt mice", {}, {})
    tree.write("areas/c.html", "Bread is baked at dawn")
    context = tree.context()
    outcome = relationship_mining.run(
        replace(context, likeness=likeness_of(context.population), deep=True)
    )
    assert outcome.proposals == ()
    assert outcome.counts == {"related": 1, "lateral": 0, "linkedAlready": 0}


def test_preflight_tells_what_there_is_to_work_with() -> None:
    tree = two("Owls hunt", "Bats hunt", {"memory_type": "arc"}, {"memory_type": "task"})
    outcome = preflight.run(tree.context())
    assert outcome.counts["memories"] == 2
    assert (outcome.counts["arcs"], outcome.counts["tasks"]) == (1, 1)
    assert outcome.detail == "likeness by dense vectors; no model bound"
