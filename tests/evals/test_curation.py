"""The generated store of `bench/curation.py`, and that its scorer tells good mergers from bad."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from bench.curation import build, read_state, score_run
from bench.curation_store import Curated, Twin, Wording, make_curated

from memhtml.corpus import Corpus
from memhtml.format.edit import SetMeta
from memhtml.format.render import render_memory
from memhtml.model.edges import href_of
from memhtml.store.archive import archiving, find_memory
from memhtml.store.plan import Planned

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bench.curation import Score

    from memhtml.store.plan import Step, View

NOW = datetime(2026, 8, 3, tzinfo=UTC)


@pytest.fixture(scope="module")
def curated() -> Curated:
    return make_curated(5, facts=48, numbered=20)


def test_at_least_half_of_the_repetitions_are_reworded() -> None:
    for seed in (1, 7919):
        kinds = Counter(item.wording for item in make_curated(seed).items)
        reworded = kinds[Wording.LIGHT] + kinds[Wording.DEEP]
        assert reworded >= kinds[Wording.COPIED]
        assert kinds[Wording.DEEP] >= 60


def test_a_store_depends_on_its_seed_alone() -> None:
    assert make_curated(5, facts=48, numbered=20) == make_curated(5, facts=48, numbered=20)
    assert make_curated(6, facts=48, numbered=20) != make_curated(5, facts=48, numbered=20)


def test_every_kind_of_near_twin_occurs() -> None:
    for seed in (1, 7919):
        kinds = Counter(kind for _, kind in make_curated(seed).twins.values())
        assert set(kinds) == set(Twin)


def test_no_two_facts_are_said_in_the_same_words() -> None:
    for seed in (1, 7919):
        said = defaultdict(set)
        for item in make_curated(seed).items:
            said[plain(item.draft.claim)].add(item.fact)
        assert not {claim: facts for claim, facts in said.items() if len(facts) > 1}


def test_every_draft_is_a_memory(curated: Curated) -> None:
    for item in curated.items:
        assert render_memory(item.draft, at="2026-08-02T00:00:00Z")[1].is_valid
    assert len({item.path for item in curated.items}) == len(curated.items)


def test_words_are_shared_across_facts(curated: Curated) -> None:
    facts_of = defaultdict(set)
    for item in curated.items:
        for word in plain(item.draft.claim).split():
            facts_of[word].add(item.fact)
    words = plain(" ".join(i.draft.claim for i in curated.items if i.fact.startswith("f"))).split()
    shared = sum(len(facts_of[word]) > 1 for word in words)
    assert shared > 0.9 * len(words)


def test_whoever_merges_nothing_is_precise_and_recalls_nothing(
    curated: Curated, tmp_path: Path
) -> None:
    score = merged(curated, tmp_path, {})
    assert (score.precision, score.recall, score.merges) == (1.0, 0.0, ())
    assert score.numbered == 20
    assert any("recall" in fault for fault in score.faults)


def test_whoever_merges_equal_text_is_precise_and_recalls_copies_alone(
    curated: Curated, tmp_path: Path
) -> None:
    first: dict[str, str] = {}
    plan = {}
    for item in curated.items:
        kept = first.setdefault(plain(item.draft.claim), item.path)
        if kept != item.path:
            plan[item.path] = kept
    score = merged(curated, tmp_path, plan)
    assert score.precision == 1.0
    copies = score.repetitions[Wording.COPIED]
    assert len(score.merges) >= copies > 0
    assert score.recall < 0.8
    assert {item.wording for item in score.missed} <= {Wording.LIGHT, Wording.DEEP}


def test_whoever_merges_everything_is_told_so(curated: Curated, tmp_path: Path) -> None:
    kept = curated.items[0].path
    plan = {item.path: kept for item in curated.items[1:]}
    score = merged(curated, tmp_path, plan)
    assert score.precision < 0.1
    assert score.numbered < 20
    assert len(score.faults) >= 3


def test_whoever_knows_the_truth_is_perfect(curated: Curated, tmp_path: Path) -> None:
    first: dict[str, str] = {}
    plan = {}
    for item in curated.items:
        kept = first.setdefault(item.fact, item.path)
        if kept != item.path:
            plan[item.path] = kept
    score = merged(curated, tmp_path, plan)
    assert (score.precision, score.recall, score.missed, score.faults) == (1.0, 1.0, (), ())


def test_a_merge_across_a_veto_is_counted_by_its_kind(curated: Curated, tmp_path: Path) -> None:
    paths = {item.fact: item.path for item in curated.items}
    twin, (original, kind) = next(iter(curated.twins.items()))
    score = merged(curated, tmp_path, {paths[twin]: paths[original]})
    assert score.crossed == {kind: 1}
    assert len(score.wrong_merges) == 1


def test_names_that_are_taken_for_others_are_wrong_and_aliases_are_right(
    curated: Curated, tmp_path: Path
) -> None:
    build(str(tmp_path / "store"), curated)
    with Corpus.open(tmp_path / "store") as corpus:
        head = corpus.repo.head()
        assert head is not None
        before = read_state(corpus.repo, head)
    swaps = {
        "service:svc1": "service:svc2",
        "person:bob whitcombe": "person:robert whitcombe",
    }
    after = {
        path: seen._replace(entities=frozenset(swaps.get(e, e) for e in seen.entities))
        for path, seen in before.items()
    }
    score = score_run(curated, before, after)
    assert score.renames == tuple(sorted(swaps.items()))
    assert score.wrong_renames == (("service:svc1", "service:svc2"),)
    assert score.numbered == 19
    assert score.alias_left == score.alias_names - 1


def plain(text: str) -> str:
    return " ".join(re.findall(r"[\w.]*\w", text.lower()))


def merged(curated: Curated, tmp_path: Path, plan: Mapping[str, str]) -> Score:
    """Carry out *plan*, from dropped to kept, on a real store, and score that."""
    base = build(str(tmp_path / "store"), curated)
    with Corpus.open(tmp_path / "store", clock=lambda: NOW, durability="none") as corpus:

        def planner(view: View, now: datetime) -> Planned[None]:
            steps: list[Step] = []
            for dropped, kept in plan.items():
                path, file = find_memory(dropped, view)
                edits = (SetMeta("memhtml-superseded-by", href_of(kept)),)
                steps += archiving(path, file, view, now=now, edits=edits)[1]
            return Planned(result=None, steps=tuple(steps), subject="memhtml(test): merge")

        _, commit = corpus.carry_out(planner)
        after = read_state(corpus.repo, commit or base)
        return score_run(curated, read_state(corpus.repo, base), after)
