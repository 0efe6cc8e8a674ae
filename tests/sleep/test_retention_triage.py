"""What is worth little and was quiet for long is archived, unless something protects it."""

from __future__ import annotations

from typing import Any

import pytest

from memhtml.format.parse import parse
from memhtml.index.usage import Usage
from memhtml.model.document import Facet
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.sleep.phases import retention_triage
from tests.sleep.trees import Tree, clique, days_ago

DULL = "areas/dull.html"
QUIET = days_ago(300)


HUB = "areas/hub.html"


def tree_with(**fields: Any) -> Tree:
    """A short note that nobody opened, 300 days old unless *fields* say otherwise.

    It stands beside ten new ones that point at an eleventh.
    """
    tree = Tree()
    fields.setdefault("at", QUIET)
    fields.setdefault("confidence", 0.6)
    path = fields.pop("path", DULL)
    tree.write(path, "The tap drips.", **fields)
    for path in (HUB, *(f"areas/new{n}.html" for n in range(10))):
        links = [] if path == HUB else [(Rel.RELATES_TO, HUB)]
        tree.write(
            path, f"{path} is new, and its owner has much to say.", at=days_ago(1), links=links
        )
    return tree


def archived(tree: Tree, **known: Any) -> list[str]:
    found = retention_triage.run(tree.context(**known))
    tree.apply(*found.proposals)
    return [decision.path for proposal in found.proposals for decision in proposal.decisions]


def test_it_goes_to_the_archive_with_its_reasons() -> None:
    tree = tree_with()
    found = retention_triage.run(tree.context())
    (proposal,) = found.proposals
    (decision,) = proposal.decisions
    evidence = dict(decision.evidence)
    share = float(evidence["rank"])
    expected = 0.05 * 2 ** (-300 / 90) + 0.2 * 0.6 + 0.2 * share + 0.1 * 0.009 + 0.05
    assert evidence["score"] == pytest.approx(expected, abs=1e-4)
    assert 0 < share < 0.15
    assert decision.why.startswith("It was never opened, has been quiet for 300 days")
    assert found.counts == {
        "scored": 12,
        "keep": 0,
        "compress": 11,
        "evict": 1,
        "evicted": 1,
        "protected": 0,
        "young": 0,
        "deferred": 0,
    }
    before = parse(tree.files[DULL])
    tree.apply(proposal)
    after = parse(tree.files["archive/2026/areas/dull.html"])
    assert after.content_hash == before.content_hash
    assert after.head.status == "archived"


@pytest.mark.parametrize(
    "fields",
    [
        {"importance": 8},
        {"tags": ("Pinned",)},
        {"aliases": ("ada",)},
        {"facets": (Facet("answers", "What about the tap?"),)},
        {"metas": {"needs-revision": "true"}},
        {"memory_type": MemoryType.USER_PREFERENCE},
        {"path": "resources/people/ada.html"},
    ],
)
def test_what_is_protected_stays(fields: dict[str, Any]) -> None:
    """sleep.md §9.19."""
    tree = tree_with(**fields)
    found = retention_triage.run(tree.context())
    assert not found.proposals
    assert found.counts["protected"] == 1


@pytest.mark.parametrize("rel", [Rel.PART_OF, Rel.SUPERSEDES, Rel.SUPPORTS, Rel.ABOUT_PERSON])
def test_what_a_live_memory_leans_on_stays(rel: Rel) -> None:
    """sleep.md §9.19."""
    tree = tree_with()
    leaning = "areas/leaning.html"
    tree.write(leaning, "It rests on the tap.", at=days_ago(1), links=[(rel, DULL)])
    assert archived(tree) == []
    tree.set(leaning, None)
    assert archived(tree) == [DULL]


def test_what_an_open_task_is_about_stays() -> None:
    tree = tree_with()
    tree.write(
        "areas/inbox/tasks/a.html",
        "Confirm it.",
        memory_type=MemoryType.TASK,
        facets=(Facet("concerns", DULL),),
    )
    assert archived(tree) == []


def test_a_short_note_is_not_archived_for_being_short() -> None:
    tree = tree_with(at=days_ago(1), confidence=0.3)
    found = retention_triage.run(tree.context())
    assert (found.counts["evict"], found.counts["young"]) == (1, 1)
    assert not found.proposals


@pytest.mark.parametrize(
    "fields",
    [
        {"metas": {"updated": days_ago(0)}},
        {"metas": {"updated": days_ago(0), "confidence": "0.55"}},
    ],
)
def test_a_bookkeeping_stamp_does_not_make_it_young(fields: dict[str, Any]) -> None:
    """sleep.md §9.4: the peer's decay made every age about 0."""
    assert archived(tree_with(**fields)) == [DULL]


def test_a_reading_makes_it_young() -> None:
    """sleep.md §9.18."""
    usage = {DULL: Usage(access_count=1, last_accessed_at=days_ago(20))}
    assert archived(tree_with(), usage=usage) == []


def test_what_is_said_today_about_long_ago_is_young() -> None:
    assert archived(tree_with(at=days_ago(1), happened_at="1990-01-01")) == []


def test_few_go_in_one_night_and_the_least_worthy_first() -> None:
    tree = tree_with()
    for n in range(6):
        tree.write(f"areas/d{n}.html", f"Tap {n} drips.", at=QUIET, confidence=0.5 - n / 20)
    found = retention_triage.run(tree.context(max_evictions=2))
    assert (found.counts["evicted"], found.counts["deferred"]) == (2, 5)
    assert archived(tree, max_evictions=2) == ["areas/d5.html", "areas/d4.html"]


def test_arcs_and_tasks_are_left_alone() -> None:
    tree = Tree()
    for memory_type in (MemoryType.ARC, MemoryType.TASK):
        tree.write(f"areas/{memory_type}.html", "x", memory_type=memory_type, at=QUIET)
    assert retention_triage.run(tree.context()).counts["scored"] == 0


def test_a_memory_in_the_middle_of_others_is_worth_more() -> None:
    tree = tree_with()
    paths = [
        tree.write(f"areas/{n}.html", f"Tap {n} drips.", at=QUIET, confidence=0.6) for n in range(4)
    ]
    lonely = retention_triage.run(tree.context())
    alike = clique([DULL, *paths])
    linked = retention_triage.run(tree.context(alike=alike))
    assert lonely.counts["evicted"] == 5
    assert linked.counts["evicted"] < 5


def test_two_of_one_name_get_two_places_in_the_archive() -> None:
    tree = tree_with()
    tree.write(f"archive/2026/{DULL}", "It dripped before.", metas={"status": "archived"})
    archived(tree)
    assert "archive/2026/areas/dull-2.html" in tree.files


def test_the_next_night_has_nothing_left_to_do() -> None:
    tree = tree_with()
    archived(tree)
    assert archived(tree) == []
