"""Quiet memories about one thing become one, in which every claim stands word for word."""

from __future__ import annotations

from typing import Any

import pytest

from memhtml.format.edit import read_links
from memhtml.format.parse import parse
from memhtml.index.usage import Usage
from memhtml.model.document import Facet
from memhtml.model.errors import BudgetSpent, ModelUnavailable
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.sleep.phase import Offered, Outcome
from memhtml.sleep.phases import compress
from memhtml.sleep.phases.compress import Folded
from tests.sleep.trees import Tree, clique, days_ago

CLAIMS = [
    "The kiln door is bricked up before each firing",
    "Nobody opens the kiln while it glows",
    "Ash from the kiln goes on the lower field",
    "The kiln log hangs on a nail beside the flue",
]
PATHS = [f"areas/kiln/k{n}.html" for n in range(4)]


def tree_with(**fields: Any) -> Tree:
    """Four quiet notes about a kiln; *fields* are of the last."""
    tree = Tree()
    for n, (path, claim) in enumerate(zip(PATHS, CLAIMS, strict=True)):
        own: dict[str, Any] = {
            "tags": ("kiln", f"t{n}"),
            "entities": ("place:barn",),
            "confidence": 0.9 - n / 10,
        }
        own |= {"paragraphs": (f"It was Mira who said so, in year {n}.", "The barn is old.")}
        tree.write(path, claim, **(own | (fields if n == 3 else {})))
    return tree


def sleep(tree: Tree, **known: Any) -> Outcome:
    known.setdefault("alike", clique(PATHS))
    found = compress.run(tree.context(**known))
    tree.apply(*found.proposals)
    return found


def canonical(tree: Tree) -> str:
    found = [path for path, data in tree.files.items() if b"memhtml-supersedes" in data]
    assert len(found) == 1
    return found[0]


def test_every_claim_stands_verbatim_and_links_to_its_original() -> None:
    tree = tree_with()
    found = sleep(tree)
    path = canonical(tree)
    document = parse(tree.files[path])
    assert path.startswith("areas/kiln/")
    assert document.claim in CLAIMS
    assert all(claim in document.body_text for claim in CLAIMS)
    archived = [f"archive/2026/{source}" for source in PATHS]
    assert {link.href for link in document.links} == {f"/{place}" for place in archived}
    for source, place in zip(PATHS, archived, strict=True):
        assert source not in tree.files
        assert f'href="/{place}"' in document.article_html
        assert tree.meta(place, "superseded_by") == f"/{path}"
    assert found.counts["folded"] == 4
    assert [d.kind for d in found.proposals[0].decisions] == ["folded"] * 4


def test_sentences_are_verbatim_and_repeats_stand_once() -> None:
    tree = tree_with()
    sleep(tree)
    text = parse(tree.files[canonical(tree)]).body_text
    assert text.count("The barn is old.") == 1
    assert all(f"It was Mira who said so, in year {n}." in text for n in range(4))


def test_it_can_be_found_by_all_their_labels_and_is_no_surer_than_they_were() -> None:
    tree = tree_with(importance=7)
    sleep(tree)
    head = parse(tree.files[canonical(tree)]).head
    assert set(head.tags) == {"kiln", "t0", "t1", "t2", "t3"}
    assert head.entities == ("place:barn",)
    assert (head.confidence, head.importance, head.author) == (0.6, 7, "agent:sleep")
    assert head.memory_type == MemoryType.SEMANTIC


@pytest.mark.parametrize(
    "fields",
    [
        {"importance": 9},
        {"tags": ("pinned",)},
        {"facets": (Facet("answers", "What hangs there?"),)},
        {"facets": (Facet("colour", "red"),)},
        {"memory_type": MemoryType.PROCEDURAL},
        {"memory_type": MemoryType.USER_PREFERENCE},
        {"valid_until": "2027-01-01"},
        {"valid_from": "2027-01-01"},
        {"at": days_ago(10)},
        {"happened_at": "2026-01-05"},
        {"links": [(Rel.CAUSED_BY, PATHS[0])]},
        {"links": [(Rel.CONTRADICTS, PATHS[0])]},
        {"links": [(Rel.PART_OF, "areas/arcs/a.html")]},
        {"paragraphs": ("```\ncode\n```",)},
        {"paragraphs": ("word " * 200,)},
    ],
)
def test_what_would_lose_something_is_not_folded(fields: dict[str, Any]) -> None:
    """sleep.md §9.13, §9.19."""
    tree = tree_with(**fields)
    tree.write("areas/arcs/a.html", "An arc.", memory_type=MemoryType.ARC)
    sleep(tree)
    assert PATHS[3] in tree.files
    is_contested = fields.get("links", [()])[0] == (Rel.CONTRADICTS, PATHS[0])
    assert (PATHS[1] in tree.files) == is_contested, "the other three are folded"


def test_what_is_read_is_left_alone() -> None:
    usage = {PATHS[3]: Usage(access_count=2, last_accessed_at=days_ago(5))}
    tree = tree_with()
    sleep(tree, usage=usage)
    assert PATHS[3] in tree.files


def test_two_values_of_one_slot_are_for_a_person() -> None:
    tree = tree_with()
    tree.write(PATHS[2], "The heat of the kiln is 960")
    tree.write(PATHS[3], "The heat of the kiln is 980")
    sleep(tree)
    assert (PATHS[2] in tree.files) != (PATHS[3] in tree.files)


def test_two_alike_are_no_group() -> None:
    tree = tree_with()
    assert not sleep(tree, alike=clique(PATHS[:2])).proposals


def test_likeness_is_not_passed_on_over_two_steps() -> None:
    tree = tree_with()
    chain = {(PATHS[n], PATHS[n + 1]): 0.9 for n in range(3)}
    sleep(tree, alike=chain)
    assert sum(path in tree.files for path in PATHS) == 1


def test_projects_are_not_mixed() -> None:
    tree = tree_with()
    for n, path in enumerate(PATHS):
        tree.set(f"projects/p{n % 2}/k{n}.html", tree.files[path])
        tree.set(path, None)
    places = [f"projects/p{n % 2}/k{n}.html" for n in range(4)]
    assert not sleep(tree, alike=clique(places)).proposals


def test_a_record_of_a_day_stays_and_becomes_part_of_it() -> None:
    tree = tree_with()
    dated = "areas/kiln/20260103-firing.html"
    tree.write(
        dated,
        "The kiln was fired on a Saturday",
        memory_type=MemoryType.EPISODIC,
        facets=(Facet("day", "2026-01-03"),),
        at=days_ago(150),
        importance=7,
        confidence=1.0,
    )
    usage = {dated: Usage(access_count=8, last_accessed_at=days_ago(120))}
    sleep(tree, alike=clique([*PATHS, dated]), usage=usage)
    path = canonical(tree)
    assert (Rel.PART_OF.token, f"/{path}") in [
        (link.rel, link.href) for link in read_links(tree.files[dated])
    ]
    assert any(link.href == f"/{dated}" for link in parse(tree.files[path]).links)


def test_links_of_others_follow() -> None:
    tree = tree_with()
    tree.write(
        "areas/other.html", "See the kiln.", links=[(Rel.RELATES_TO, PATHS[1])], at=days_ago(1)
    )
    sleep(tree)
    (link,) = read_links(tree.files["areas/other.html"])
    assert link.href == f"/{canonical(tree)}"


def test_the_next_night_folds_nothing_again() -> None:
    tree = tree_with()
    sleep(tree)
    path = canonical(tree)
    rest = [p for p in tree.files if not p.startswith("archive/")]
    assert not sleep(tree, alike=clique([*rest, path])).proposals


def test_each_commit_can_be_dropped_alone() -> None:
    tree = tree_with()
    more = []
    for n in range(4):
        more.append(f"areas/owl/o{n}.html")
        tree.write(more[-1], f"The owl in box {n} is called {'ABCD'[n]}")
    link = "areas/both.html"
    both = [(Rel.RELATES_TO, PATHS[0]), (Rel.RELATES_TO, more[0])]
    tree.write(link, "Owls nest above the kiln.", links=both, at=days_ago(1))
    alike = clique(PATHS) | clique(more)
    found = compress.run(tree.context(alike=alike))
    assert (len(found.proposals), found.counts["deferred"]) == (1, 1)
    tree.apply(*found.proposals)
    assert len(compress.run(tree.context(alike=alike)).proposals) == 1


def test_the_number_of_new_memories_is_capped() -> None:
    found = compress.run(tree_with().context(alike=clique(PATHS), max_compressions=0))
    assert not found.proposals
    assert found.counts["deferred"] == 1


def test_a_secret_is_not_copied() -> None:
    tree = tree_with()
    words = "The door opens with AKIA" + "IOSFODNN7EXAMPLQ today."
    tree.write(PATHS[3], CLAIMS[3], paragraphs=(words,))
    assert sleep(tree).counts["refused"] == 1


class Writer:
    """A model that answers what a test says."""

    name = "scripted"

    def __init__(self, said: Folded | None = None, failure: Exception | None = None) -> None:
        self.said, self.failure = said, failure
        self.asked: list[list[str]] = []

    def ask(self, task: str, members: Any, answer: Any) -> Any:
        assert answer is Folded
        assert "Add nothing" in task
        self.asked.append(list(members))
        if self.failure:
            raise self.failure
        return self.said, Offered({f"m{n + 1}": n for n in range(len(members))})


def test_a_model_may_write_the_lead_and_the_claims_still_stand() -> None:
    tree = tree_with()
    said = Folded("Firing", "The kiln has its rules.", ["They are old."], ["m1", "label_m3", "m9"])
    found = sleep(tree, judge=Writer(said))
    document = parse(tree.files[canonical(tree)])
    assert (document.title, document.claim) == ("Firing", "The kiln has its rules.")
    assert all(CLAIMS[n] in document.body_text for n in (0, 2))
    assert [path in tree.files for path in PATHS] == [False, True, False, True]
    assert (found.counts["folded"], found.counts["unresolved"]) == (2, 1)


@pytest.mark.parametrize(
    "said",
    [
        Folded("Firing", "It has rules.", [], ["m1"]),
        Folded("Firing", " ", [], ["m1", "m2"]),
        Folded("", "It has rules.", [], ["m1", "m2"]),
    ],
)
def test_what_is_no_fold_changes_nothing(said: Folded) -> None:
    found = sleep(tree_with(), judge=Writer(said))
    assert not found.proposals
    assert found.counts["notFolded"] == 1


@pytest.mark.parametrize("failure", [BudgetSpent("x", "spent"), ModelUnavailable("x", "down")])
def test_a_model_that_fails_folds_nothing(failure: Exception) -> None:
    found = sleep(tree_with(), judge=Writer(failure=failure))
    assert not found.proposals
    assert found.counts["skipped"] == 1


def test_a_deep_run_offers_what_only_shares_an_entity() -> None:
    tree = tree_with()
    said = Folded("Firing", "It has rules.", [], ["m1", "m2"])
    writer = Writer(said)
    sleep(tree, judge=writer, alike={})
    assert writer.asked == []
    sleep(tree, judge=writer, alike={}, deep=True)
    assert [len(members) for members in writer.asked] == [4]
