from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memhtml.format.parse import parse
from memhtml.model.errors import BudgetSpent
from memhtml.model.vocabulary import Rel
from memhtml.sleep.likeness import likeness_of
from memhtml.sleep.phase import Offered
from memhtml.sleep.phases import dedup_merge
from memhtml.sleep.phases.dedup_merge import SameFact, SameFacts
from tests.sleep.trees import Tree, days_ago

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.sleep.phase import Outcome

CLAIM = "The gateway retries failed calls three times"
REWORDED = "Failed calls are retried 3 times by the gateway"


def run(tree: Tree, **settings: Any) -> Outcome:
    context = tree.context(**settings)
    return dedup_merge.run(replace(context, likeness=likeness_of(context.population)))


def merged(outcome: Outcome) -> list[tuple[str, str | None]]:
    return [(d.path, d.other) for p in outcome.proposals for d in p.decisions]


def test_the_fresher_claim_stays_and_takes_over_what_the_other_knew() -> None:
    """sleep.md §9.16: the older file was always kept."""
    tree = Tree()
    tree.write("areas/target.html", "Calls cost money")
    old = tree.write(
        "areas/old.html", CLAIM, at=days_ago(90), tags=("net",), entities=("service:gateway",),
        aliases=("retries",), importance=9, links=((Rel.SUPPORTS, "areas/target.html"),),
    )  # fmt: skip
    new = tree.write("areas/new.html", REWORDED, at=days_ago(10), tags=("calls",), confidence=0.8)
    hash_before = parse(tree.files[new]).content_hash
    outcome = run(tree)
    assert merged(outcome) == [(old, new)]
    (decision,) = outcome.proposals[0].decisions
    assert "fresher" in decision.why
    assert dict(decision.evidence)["goes"] == CLAIM
    tree.apply(*outcome.proposals)
    kept = parse(tree.files[new])
    archived = "archive/2026/areas/old.html"
    assert kept.content_hash == hash_before
    assert set(kept.head.tags) == {"net", "calls"}
    assert kept.head.entities == ("service:gateway",)
    assert kept.head.aliases == ("retries",)
    assert (kept.head.importance, kept.head.confidence) == (9, 1.0)
    assert {(link.rel, link.href) for link in kept.links} == {
        ("memhtml-supports", "/areas/target.html"),
        ("memhtml-supersedes", f"/{archived}"),
    }
    gone = parse(tree.files[archived])
    assert gone.head.superseded_by == f"/{new}"
    assert gone.head.valid_until == days_ago(10)
    assert run(tree).proposals == ()


def test_a_stamp_never_goes_back() -> None:
    """sleep.md §9.3: a run stamped files earlier than they were created."""
    tree = Tree()
    tree.write("areas/a.html", CLAIM, at=days_ago(3))
    later = tree.write("areas/b.html", REWORDED, at=days_ago(-2))
    tree.apply(*run(tree).proposals)
    assert tree.meta(later, "updated_at") == days_ago(-2)


def test_three_wordings_become_one_and_links_to_them_follow() -> None:
    tree = Tree()
    tree.write("areas/a.html", CLAIM, at=days_ago(3))
    tree.write("areas/b.html", REWORDED, at=days_ago(2))
    stays = tree.write(
        "areas/c.html", "The gateway re-attempts failed calls 3 times", at=days_ago(1)
    )
    tree.write("areas/d.html", "Owls are loud", links=((Rel.SUPPORTS, "areas/a.html"),))
    outcome = run(tree)
    assert merged(outcome) == [("areas/b.html", stays), ("areas/a.html", stays)]
    tree.apply(*outcome.proposals)
    assert [link.href for link in parse(tree.files["areas/d.html"]).links] == [f"/{stays}"]


def test_a_correction_stays_whatever_is_fresher() -> None:
    tree = Tree()
    tree.write("archive/2026/areas/x.html", "Calls are never retried", metas={"status": "archived"})
    right = tree.write(
        "areas/a.html",
        CLAIM,
        at=days_ago(9),
        links=((Rel.SUPERSEDES, "archive/2026/areas/x.html"),),
    )
    tree.write("areas/b.html", REWORDED, at=days_ago(2))
    assert merged(run(tree)) == [("areas/b.html", right)]


def test_the_older_one_stays_where_it_alone_says_everything() -> None:
    tree = Tree()
    full = tree.write("areas/a.html", CLAIM, at=days_ago(9), paragraphs=("Omar measured 41 ms.",))
    tree.write("areas/b.html", REWORDED, at=days_ago(2))
    outcome = run(tree)
    assert merged(outcome) == [("areas/b.html", full)]
    assert "alone has everything" in outcome.proposals[0].decisions[0].why


def test_a_pinned_memory_stays_and_two_of_them_both_do() -> None:
    tree = Tree()
    tree.write("areas/a.html", CLAIM, at=days_ago(9), tags=("pinned",))
    tree.write("areas/b.html", REWORDED, at=days_ago(2))
    assert merged(run(tree)) == [("areas/b.html", "areas/a.html")]
    tree.write("areas/b.html", REWORDED, at=days_ago(2), tags=("pinned",))
    assert merged(run(tree)) == []


def test_two_that_each_add_something_are_left_to_a_person() -> None:
    tree = Tree()
    tree.write("areas/a.html", CLAIM, paragraphs=("We heard it from Omar.",))
    tree.write("areas/b.html", REWORDED, paragraphs=("It was measured by Ines.",))
    outcome = run(tree)
    assert outcome.proposals == ()
    (finding,) = outcome.findings
    assert finding.claim.startswith("decide: areas/b.html and areas/a.html claim the same")


def test_what_a_veto_keeps_apart_is_told_with_both_claims() -> None:
    tree = Tree()
    tree.write("areas/a.html", "The gateway never retries failed calls")
    tree.write("areas/b.html", "The gateway retries failed calls")
    outcome = run(tree)
    assert outcome.proposals == ()
    (finding,) = outcome.findings
    assert (finding.detector, finding.paths) == ("dedup-merge", ("areas/a.html", "areas/b.html"))
    assert finding.quotes[0] == ("areas/a.html", "The gateway never retries failed calls")
    assert dict(finding.measured)["veto"] == "negation"
    assert outcome.counts["vetoed"] == 1


def test_another_number_in_a_name_is_another_thing_and_nothing_to_tell() -> None:
    tree = Tree()
    tree.write("areas/a.html", "The audit log of svc12 goes to the cold archive")
    tree.write("areas/b.html", "The audit log of svc13 goes to the cold archive")
    outcome = run(tree)
    assert (outcome.proposals, outcome.findings, outcome.counts["vetoed"]) == ((), (), 1)


def test_a_run_folds_no_more_than_it_may() -> None:
    tree = Tree()
    for n in range(3):
        tree.write(f"areas/{n}.html", CLAIM, tags=(f"t{n}",))
    outcome = run(tree, max_merges=1)
    assert (len(merged(outcome)), outcome.counts["capped"]) == (1, 1)


def test_tasks_and_arcs_are_left_alone() -> None:
    tree = Tree()
    for n, memory_type in enumerate(("task", "task", "arc", "arc")):
        tree.write(f"areas/{n}.html", CLAIM, memory_type=memory_type)
    assert run(tree).proposals == ()


@dataclass
class Scripted:
    """A judge that says of any members that those with these words are one."""

    words: tuple[str, str]
    spent: bool = False
    name: str = "scripted"

    def ask(self, task: str, members: Sequence[str], answer: type[Any]) -> tuple[Any, Offered]:
        assert "component 1" in task
        if self.spent:
            raise BudgetSpent(self.name, "spent")
        keys = {f"m{n + 1}": n for n in range(len(members))}
        found = [f"label_{k}" for k, n in keys.items() if any(w in members[n] for w in self.words)]
        value = answer(groups=[SameFact([*found, "m99"])])
        assert isinstance(value, SameFacts)
        return value, Offered(keys)


def test_a_model_adds_wordings_that_no_table_knows_and_the_vetoes_hold_for_it_too() -> None:
    tree = Tree()
    tree.write("areas/a.html", "The gateway gives flaky upstreams a second chance", at=days_ago(9))
    tree.write("areas/b.html", "Flaky upstreams get another go from the gateway", at=days_ago(2))
    assert run(tree).proposals == ()
    outcome = run(tree, judge=Scripted(("second", "another")))
    assert merged(outcome) == [("areas/a.html", "areas/b.html")]
    assert outcome.counts["unresolved"] == 1
    tree.write("areas/b.html", "Flaky upstreams never get another go from the gateway")
    outcome = run(tree, judge=Scripted(("second", "another")))
    assert (outcome.proposals, outcome.counts["vetoed"]) == ((), 1)


def test_when_the_budget_is_spent_the_pass_does_not_count_as_whole() -> None:
    tree = Tree()
    tree.write("areas/a.html", "The gateway gives flaky upstreams a second chance")
    tree.write("areas/b.html", "Flaky upstreams get another go from the gateway")
    outcome = run(tree, judge=Scripted(("x", "y"), spent=True))
    assert (outcome.judged_all, outcome.counts["skipped"]) == (False, 1)
