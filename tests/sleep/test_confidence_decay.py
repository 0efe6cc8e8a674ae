"""Confidence sinks with quiet days and with nothing else; files are left alone meanwhile."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.format.edit import RemoveMeta, SetMeta, apply_edits
from memhtml.format.parse import parse
from memhtml.index.usage import Usage
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.sleep.phase import Context
from memhtml.sleep.phases import confidence_decay
from memhtml.sleep.phases.confidence_decay import LEDGER, confidence_at
from memhtml.sleep.population import read_population
from memhtml.sleep.settings import Settings
from memhtml.store.plan import Planned
from tests.sleep.trees import NOW, Alike, Tree, days_ago

if TYPE_CHECKING:
    from pathlib import Path

OLD = "areas/old.html"


@pytest.fixture
def tree() -> Tree:
    tree = Tree()
    tree.write(OLD, "The spare key hangs behind the clock.", at=days_ago(400), confidence=0.9)
    return tree


def sleep(tree: Tree, **known: object) -> dict[str, int]:
    found = confidence_decay.run(tree.context(**known))  # type: ignore[arg-type]  # test shorthand
    tree.apply(*found.proposals)
    return dict(found.counts)


def test_only_the_one_meta_of_the_head_changes(tree: Tree) -> None:
    """sleep.md §9.4; seed §3: a decay is no change of content, and no stamp."""
    before = tree.files[OLD]
    sleep(tree)
    after = tree.files[OLD]
    assert after == before.replace(b'content="0.90"', b'content="0.550"')
    assert parse(after).content_hash == parse(before).content_hash
    assert parse(after).head.updated_at == days_ago(400)


def test_a_file_that_states_nothing_sinks_from_one(tree: Tree) -> None:
    tree.set(OLD, apply_edits(tree.files[OLD], (RemoveMeta("memhtml-confidence"),)))
    sleep(tree)
    assert tree.meta(OLD, "confidence") == 0.6


def test_the_same_date_again_changes_nothing(tree: Tree) -> None:
    sleep(tree)
    found = confidence_decay.run(tree.context())
    assert not found.proposals
    assert found.counts["decayed"] == 0


@pytest.mark.parametrize("seed", range(5))
def test_whatever_nights_are_missed_the_files_say_the_same_in_the_end(seed: int) -> None:
    """sleep.md §9.4: not a tenth a night, but a function of days."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    every, some, once = Tree(), Tree(), Tree()
    for tree in (every, some, once):
        for n in range(30):
            tree.write(
                f"areas/{n}.html",
                f"Fact number {n}.",
                at=days_ago(n * 13),
                confidence=(50 + n) / 100,
            )
    nights = 200
    for night in range(nights + 1):
        now = NOW + timedelta(days=night)
        sleep(every, now=now)
        if chance.random() < 0.2 or night == nights:
            sleep(some, now=now)
    sleep(once, now=NOW + timedelta(days=nights))
    said = [{p: d for p, d in t.files.items() if p != LEDGER} for t in (every, some, once)]
    assert said[0] == said[1] == said[2]


def test_it_ends_at_the_floor_and_never_rises(tree: Tree) -> None:
    stated = []
    for month in range(120):
        sleep(tree, now=NOW + timedelta(days=30 * month))
        stated.append(tree.meta(OLD, "confidence"))
    assert stated == sorted(stated, reverse=True)
    assert stated[-1] == 0.25
    assert confidence_at(1e6, 0.9, 365) == pytest.approx(0.2)


def test_a_file_read_daily_does_not_decay(tree: Tree) -> None:
    """sleep.md §9.18."""
    usage = {OLD: Usage(access_count=1, last_accessed_at=days_ago(1))}
    assert sleep(tree, usage=usage)["decayed"] == 0


def test_a_good_verdict_holds_and_a_bad_one_does_not(tree: Tree) -> None:
    good = Usage(reinforcement_count=1, outcome_score=1.0, last_reinforced_at=days_ago(3))
    assert sleep(tree, usage={OLD: good})["decayed"] == 0
    bad = good._replace(outcome_score=-1.0, last_accessed_at=days_ago(3))
    assert sleep(tree, usage={OLD: bad})["decayed"] == 1


def test_a_live_memory_that_supports_it_holds_it_until_it_is_gone(tree: Tree) -> None:
    path = "areas/why.html"
    tree.write(path, "I saw the key there.", at=days_ago(1), links=[(Rel.SUPPORTS, OLD)])
    assert sleep(tree)["held"] == 1
    assert tree.meta(OLD, "confidence") == 0.9
    tree.set(path, None)
    assert sleep(tree)["decayed"] == 1


def test_a_reading_after_a_decay_goes_on_from_what_the_file_says(tree: Tree) -> None:
    sleep(tree)
    assert tree.meta(OLD, "confidence") == 0.55
    used = {OLD: Usage(access_count=1, last_accessed_at=days_ago(-10))}
    sleep(tree, now=NOW + timedelta(days=39), usage=used)
    assert tree.meta(OLD, "confidence") == 0.55
    # .2 + .35·2^(-90/365) = .495: the next round value above is .5
    sleep(tree, now=NOW + timedelta(days=130), usage=used)
    assert tree.meta(OLD, "confidence") == 0.5


def test_what_happened_long_ago_and_was_said_today_is_young(tree: Tree) -> None:
    path = tree.write(
        "areas/founded.html", "The house was built.", at=days_ago(0), happened_at="1874-05-01"
    )
    sleep(tree)
    assert tree.meta(path, "confidence") is None


def test_a_confidence_written_by_hand_begins_a_new_curve(tree: Tree) -> None:
    sleep(tree)
    edits = (
        SetMeta("memhtml-confidence", "0.95"),
        SetMeta("memhtml-updated", days_ago(-5)),
    )
    tree.set(OLD, apply_edits(tree.files[OLD], edits))
    sleep(tree, now=NOW + timedelta(days=20))
    assert tree.meta(OLD, "confidence") == 0.95
    sleep(tree, now=NOW + timedelta(days=90))
    assert tree.meta(OLD, "confidence") == 0.9


def test_the_curve_follows_a_file_that_moves(tree: Tree) -> None:
    sleep(tree)
    moved = "resources/keys/old.html"
    tree.set(moved, tree.files[OLD])
    tree.set(OLD, None)
    assert sleep(tree)["decayed"] == 0
    sleep(tree, now=NOW + timedelta(days=120))
    # .2 + .7·2^(-490/365) = .476
    assert tree.meta(moved, "confidence") == 0.5
    assert [json.loads(line)["path"] for line in tree.files[LEDGER].splitlines()] == [moved]


def test_a_ledger_line_that_is_none_is_left_out(tree: Tree) -> None:
    tree.set(LEDGER, b'{"path":1}\nnot json\n[]\n{"since":"x"}\n')
    assert sleep(tree)["decayed"] == 1
    assert tree.files[LEDGER].count(b"\n") == 1


def test_tasks_and_archived_memories_are_left_alone(tree: Tree) -> None:
    tree.write("areas/inbox/tasks/a.html", "Oil the gate.", memory_type=MemoryType.TASK)
    tree.write("archive/2025/areas/b.html", "It was red.", confidence=0.9, at=days_ago(900))
    assert sleep(tree)["memories"] == 1


def test_over_ninety_nights_only_few_files_are_rewritten() -> None:
    """sleep.md §9.4: not all of them every night; of 3,000 it is 36 a night once caught up."""
    chance = random.Random(7)  # noqa: S311 - not a secret
    tree = Tree()
    for n in range(600):
        age = chance.uniform(0, 700)
        confidence = chance.choice((0.6, 0.75, 0.9, 1.0))
        tree.write(f"areas/f{n:04}.html", f"Fact {n}.", at=days_ago(age), confidence=confidence)
    nights = [sleep(tree, now=NOW + timedelta(days=n), max_decays=20) for n in range(90)]
    decayed = [counts["decayed"] for counts in nights]
    # An old store is caught up with by and by, so many files a night at most.
    assert decayed[0] == max(decayed) == 20
    assert nights[45]["deferred"] == 0
    assert sum(decayed[45:]) / 45 <= 0.015 * 600


def test_a_search_is_answered_in_the_same_order_before_and_after(tmp_path: Path) -> None:
    """sleep.md §9.4: retrieval is not disturbed."""
    now = NOW - timedelta(days=500)
    Corpus.init(tmp_path / "store")
    with Corpus.open(tmp_path / "store", clock=lambda: now) as corpus:
        for n in range(12):
            claim = f"The kiln is fired to {900 + n} degrees, batch {'owl ' * (n % 4)}{n}."
            corpus.write(
                Draft(
                    title=f"Kiln {n}",
                    claim=claim,
                    memory_type=MemoryType.SEMANTIC,
                    confidence=(n + 3) / 15,
                )
            )
        now = NOW
        before = [(hit.path, hit.score) for hit in corpus.search("kiln fired owl degrees").hits]
        corpus.update()
        context = Context(
            run_id="sleep/2026-08-02",
            now=NOW,
            population=read_population(corpus.index),
            view=corpus.view(),
            usage={},
            likeness=Alike({}),
            settings=Settings(),
        )
        (proposal,) = confidence_decay.run(context).proposals
        planned = Planned(result=None, steps=proposal.steps, subject="decay")
        corpus.carry_out(lambda _view, _now: planned)
        after = [(hit.path, hit.score) for hit in corpus.search("kiln fired owl degrees").hits]
        assert len(proposal.decisions) == 9
        assert after == before
