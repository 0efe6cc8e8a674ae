from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.format.parse import parse
from memhtml.sleep.names import compact, declared_groups, overlap, tells_apart
from memhtml.sleep.phase import Offered, Outcome
from memhtml.sleep.phases import entity_resolution, person_links
from memhtml.sleep.phases.entity_resolution import SameEntity
from tests.sleep.trees import NOW, Tree, days_ago

if TYPE_CHECKING:
    from collections.abc import Sequence


def naming(*references: str) -> Tree:
    tree = Tree()
    for number, reference in enumerate(references):
        tree.write(f"areas/{number:03}.html", f"Fact number {number}", entities=(reference,))
    return tree


def after(tree: Tree, **context: Any) -> tuple[Outcome, list[str]]:
    """What comes of it, and the entities of each file then."""
    outcome = entity_resolution.run(tree.context(**context))
    tree.apply(*outcome.proposals)
    stated = [e for m in tree.population().active for e in parse(tree.files[m.path]).head.entities]
    return outcome, stated


def test_the_overlap_is_that_of_the_seed() -> None:
    assert round(overlap("laith", "laith al-saadoon"), 3) == 0.476
    assert overlap("", "") == 1.0


def test_two_hundred_numbered_services_stay_two_hundred() -> None:
    """sleep.md §9.1: all of them became ``svc0``."""
    names = [f"service:svc{n}" for n in range(200)]
    outcome, stated = after(naming(*names, "service:payments-v1", "service:payments-v2"))
    assert (outcome.proposals, outcome.findings) == ((), ())
    assert stated == [*names, "service:payments-v1", "service:payments-v2"]


def test_names_join_directly_and_never_by_way_of_others() -> None:
    """sleep.md §9.1: union was transitive below the band."""
    chain = ("service:abcdefgh", "service:abcdefgi", "service:abcdefii", "service:abcdeiii")
    outcome, stated = after(naming(*chain))
    assert stated == list(chain)
    assert outcome.proposals == ()
    assert outcome.findings


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("service:checkout", "service:checkout-beta"),
        ("service:db-primary", "service:db-replica"),
        ("person:Anna Schmidt", "person:Hanna Schmidt"),
        ("person:Jan Berg", "person:Jana Berg"),
        ("tool:cache 2", "tool:cache 3"),
        ("service:read-api", "service:write-api"),
    ],
)
def test_siblings_and_people_with_like_names_stay_apart(one: str, other: str) -> None:
    _, stated = after(naming(one, other))
    assert stated == [one, other]


@pytest.mark.parametrize(
    ("common", "rare"),
    [
        ("service:checkout-api", "service:Checkout API"),
        ("service:checkout-api", "service:checkout_apis"),
        ("person:Jörg Müller", "person:jorg muller"),
        ("org:DGX", "org: dgx "),
    ],
)
def test_spellings_become_the_one_that_most_memories_use(common: str, rare: str) -> None:
    outcome, stated = after(naming(common, rare, common))
    assert stated == [common] * 3
    (decision,) = outcome.proposals[0].decisions
    assert dict(decision.evidence)["after"] == common


def test_a_declared_alias_is_the_person_whatever_the_letters_say() -> None:
    """The seed, §1: 0.476 is below every band, and a declaration is evidence at once."""
    tree = naming("person:laith", "person:laith", "person:Laith Al-Saadoon")
    tree.write(
        "resources/people/laith.html",
        "Laith Al-Saadoon builds stores",
        entities=("person:Laith Al-Saadoon",),
        aliases=("laith",),
    )
    outcome, stated = after(tree)
    assert set(stated) == {"person:Laith Al-Saadoon"}
    assert outcome.counts["aliasMerges"] == 1
    assert "resources/people/laith.html says" in outcome.proposals[0].decisions[0].why
    assert after(tree)[0].proposals == ()


def test_an_alias_of_two_people_says_nothing_about_either() -> None:
    tree = naming("person:anna", "person:anna schmidt", "person:anna berg")
    for name in ("anna schmidt", "anna berg"):
        tree.write(
            f"resources/people/{name.replace(' ', '-')}.html",
            f"{name} is here",
            entities=(f"person:{name}",),
            aliases=("anna",),
        )
    assert [declared.others for declared in declared_groups(tree.population())] == [set(), set()]
    assert after(tree)[0].proposals == ()


def test_names_that_are_merely_alike_are_told_with_where_they_stand() -> None:
    outcome, _ = after(naming("person:Anna Schmidt", "person:Hanna Schmidt"))
    (finding,) = outcome.findings
    assert finding.claim.startswith("confirm: is the person 'anna schmidt'")
    assert finding.quotes == (
        ("areas/000.html", "Fact number 0"),
        ("areas/001.html", "Fact number 1"),
    )
    assert dict(finding.measured) == {"overlap": 0.96}


def test_only_the_entities_of_the_head_change_and_no_stamp_goes_back() -> None:
    """sleep.md §9.3."""
    tree = naming("org:DGX", "org:DGX")
    tree.write("areas/x.html", "Late", entities=("org:dgx", "place:Oslo"), at=days_ago(-1))
    before = parse(tree.files["areas/x.html"])
    after(tree)
    now = parse(tree.files["areas/x.html"])
    assert now.head.entities == ("org:DGX", "place:Oslo")
    assert (now.head.updated_at, now.content_hash) == (days_ago(-1), before.content_hash)


def test_a_memory_that_names_both_names_one_afterwards() -> None:
    tree = naming("org:DGX", "org:DGX")
    tree.write("areas/x.html", "Both", entities=("org:DG-X", "org:DGX"))
    _, stated = after(tree)
    assert stated == ["org:DGX"] * 3


@dataclass
class Scripted:
    confidence: float = 0.9
    name: str = "scripted"

    def ask(self, task: str, members: Sequence[str], answer: type[Any]) -> tuple[Any, Offered]:
        assert "of type 'org'" in task
        keys = {f"m{n + 1}": n for n in range(len(members))}
        value = answer(clusters=[SameEntity("m1", [*keys, "m77"], self.confidence)])
        return value, Offered(keys)


def test_what_a_model_suspects_is_believed_on_the_second_date_only() -> None:
    tree = naming("org:IBM", "org:Big Blue", "org:IBM")
    for _ in range(2):
        # Twice on one date is once.
        outcome, stated = after(tree, judge=Scripted())
        assert stated == ["org:IBM", "org:Big Blue", "org:IBM"]
        assert outcome.counts["pendingCorroboration"] == 1
    outcome, stated = after(tree, judge=Scripted(), now=NOW + timedelta(days=1))
    assert stated == ["org:IBM"] * 3
    assert (outcome.counts["llmMerges"], outcome.counts["unresolved"]) == (1, 1)


def test_a_model_cannot_join_what_a_number_tells_apart() -> None:
    tree = naming("org:Unit 7", "org:Unit 8")
    for day in range(3):
        _, stated = after(tree, judge=Scripted(), now=NOW + timedelta(days=day))
    assert stated == ["org:Unit 7", "org:Unit 8"]


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [("api v2", "api v3", True), ("east", "west", True), ("check-out", "checkout", False)],
)
def test_what_tells_names_apart(one: str, other: str, apart: bool) -> None:
    assert tells_apart(one, other) is apart


def test_the_order_of_a_persons_names_does_not_count() -> None:
    assert compact("person", "Schmidt, Anna") == compact("person", "anna schmidt")


# Person links


def links_of(tree: Tree, path: str) -> list[tuple[str, str]]:
    return [(link.rel, link.href) for link in parse(tree.files[path]).links]


def test_each_person_has_one_page_however_they_are_spelled() -> None:
    """sleep.md §9.6, §9.17: a page was made for each spelling."""
    tree = naming("person:Jörg Müller", "person:jorg  muller", "person:Jörg Müller", "person:Ada")
    outcome = person_links.run(tree.context())
    tree.apply(*outcome.proposals)
    pages = sorted(path for path in tree.files if path.startswith("resources/people/"))
    assert pages == ["resources/people/ada.html", "resources/people/jorg-muller.html"]
    about = ("memhtml-about-person", "/resources/people/jorg-muller.html")
    assert [links_of(tree, f"areas/{n:03}.html") for n in range(3)] == [[about]] * 3
    assert parse(tree.files[pages[1]]).title == "Jörg Müller"
    assert outcome.counts["pagesCreated"] == 2
    assert person_links.run(tree.context()).proposals == ()


def test_aliases_lead_to_the_page_that_declares_them() -> None:
    tree = naming("person:laith", "person:Laith Al-Saadoon")
    page = tree.write(
        "resources/people/las.html",
        "He builds stores",
        entities=("person:Laith Al-Saadoon",),
        aliases=("laith",),
    )
    outcome = person_links.run(tree.context())
    tree.apply(*outcome.proposals)
    assert outcome.counts["pagesCreated"] == 0
    for number in (0, 1):
        assert links_of(tree, f"areas/00{number}.html") == [("memhtml-about-person", f"/{page}")]


def test_a_fact_that_stands_among_the_pages_is_no_page() -> None:
    tree = Tree()
    fact = tree.write("resources/people/tea.html", "Ada drinks tea", entities=("person:Ada",))
    tree.apply(*person_links.run(tree.context()).proposals)
    assert links_of(tree, fact) == [("memhtml-about-person", "/resources/people/ada.html")]


def test_a_page_that_was_archived_is_not_made_again() -> None:
    tree = naming("person:Ada")
    tree.write(
        "archive/2026/resources/people/ada.html", "Ada", entities=("person:Ada",),
        title="Ada", metas={"status": "archived"},
    )  # fmt: skip
    outcome = person_links.run(tree.context())
    assert (outcome.proposals, outcome.counts["pagesArchived"]) == ((), 1)
