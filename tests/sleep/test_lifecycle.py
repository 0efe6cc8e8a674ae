"""The lifecycle phases one after another on a real store: git, index, and likeness by words."""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.format.parse import parse
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.detections import plan_detections
from memhtml.sleep.likeness import likeness_of
from memhtml.sleep.phase import Context
from memhtml.sleep.phases import (
    arc_synthesis,
    compress,
    confidence_decay,
    integrity,
    placement_triage,
    reprieve,
    retention_triage,
    state_export,
    task_detection,
)
from memhtml.sleep.population import read_population
from memhtml.sleep.settings import Settings
from memhtml.store.plan import Planned
from tests.sleep.trees import NOW

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.sleep.phase import Phase

PHASES: tuple[Phase, ...] = (
    confidence_decay,
    arc_synthesis,
    retention_triage,
    compress,
    reprieve,
    task_detection,
    placement_triage,
    integrity,
    state_export,
)
PARTS = ["door", "grate", "flue", "damper", "arch", "hearth"]


class Clock:
    now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def corpus(tmp_path: Path, clock: Clock) -> Iterator[Corpus]:
    Corpus.init(tmp_path / "store")
    with Corpus.open(tmp_path / "store", clock=clock) as corpus:
        fill(corpus, clock)
        clock.now = NOW
        yield corpus


def fill(corpus: Corpus, clock: Clock) -> None:
    """Write quiet notes and recent news of a kiln, an owl that nobody knows, and loose ends."""

    def write(claim: str, days: float, **fields: object) -> None:
        clock.now = NOW - timedelta(days=days)
        fields.setdefault("memory_type", MemoryType.SEMANTIC)
        draft = Draft(title=claim[:50], claim=claim, **fields)  # type: ignore[arg-type]  # shorthand
        corpus.write(draft)

    for n, part in enumerate(PARTS):
        claim = f"The brick kiln behind the barn has a cast iron {part} that Mira forged"
        write(claim, 300 - n, tags=("kiln",), confidence=0.9)
        claim = f"The glaze trial with cobalt and ash reached run {n} in the pottery studio"
        write(claim, 40 - 5 * n, memory_type=MemoryType.EPISODIC, entities=("project:glaze",))
    write("Owls sleep by day", 400, confidence=0.4)
    write("The offer of the timber yard stands", 60, valid_until="2026-07-01")
    write("We need to order cobalt by Friday.", 3, memory_type=MemoryType.EPISODIC)
    claim = "The brick kiln behind the barn has a cast iron grille that Mira forged"
    write(claim, 5, confidence=0.9)


def night(corpus: Corpus, now: datetime) -> dict[str, int]:
    """Run every phase once; return how many commits each made."""
    commits: dict[str, int] = {}
    for phase in PHASES:
        corpus.update()
        context = context_of(corpus, now)
        outcome = phase.run(context)
        proposals = list(outcome.proposals)
        for proposal in proposals:
            carry_out(corpus, proposal.steps)
        corpus.update()
        detected = plan_detections(
            phase.NAME,
            outcome.findings,
            context_of(corpus, now),
            budget=10,
            judged_all=outcome.judged_all,
        )
        if detected.proposal is not None:
            carry_out(corpus, detected.proposal.steps)
            proposals.append(detected.proposal)
        commits[phase.NAME] = len(proposals)
        for proposal in proposals:
            assert all(decision.why.endswith((".", "?")) for decision in proposal.decisions)
    return commits


def context_of(corpus: Corpus, now: datetime) -> Context:
    population = read_population(corpus.index)
    return Context(
        run_id="sleep/2026-08-02",
        now=now,
        population=population,
        view=corpus.view(),
        usage={},
        likeness=likeness_of(population, corpus.index),
        settings=Settings(),
    )


def carry_out(corpus: Corpus, steps: object) -> None:
    planned = Planned(result=None, steps=steps, subject="memhtml(sleep): x")  # type: ignore[arg-type]  # as proposed
    corpus.carry_out(lambda _view, _now: planned)


def test_a_night_does_what_each_phase_is_for(corpus: Corpus, clock: Clock) -> None:
    """sleep.md §9.13: without a model every phase has work it can do."""
    commits = night(corpus, clock.now)
    assert commits == {
        "confidence-decay": 1,
        "arc-synthesis": 1,
        "retention-triage": 1,
        "compress": 1,
        "reprieve": 1,
        "task-detection": 1,
        "placement-triage": 0,
        "integrity": 0,
        "state-export": 0,
    }


def test_the_same_date_again_changes_nothing(corpus: Corpus, clock: Clock) -> None:
    """sleep.md §8."""
    night(corpus, clock.now)
    head = corpus.repo.head()
    assert set(night(corpus, clock.now).values()) == {0}
    assert corpus.repo.head() == head


def test_after_thirty_nights_every_file_is_valid_and_no_claim_is_lost(
    corpus: Corpus, clock: Clock
) -> None:
    before = {memory.gist for memory in read_population(corpus.index)}
    for n in range(0, 30, 3):
        clock.now = NOW + timedelta(days=n)
        night(corpus, clock.now)
    assert not [checked for checked in corpus.check() if checked.diagnostics]
    texts = "\n".join(memory.body for memory in read_population(corpus.index))
    assert all(claim in texts for claim in before)
    subprocess.run(["git", "-C", corpus.root, "fsck", "--strict"], check=True, capture_output=True)


def test_stamps_never_go_back_in_time(corpus: Corpus, clock: Clock) -> None:
    """sleep.md §9.3: also in a run at an instant before the last writes."""
    night(corpus, clock.now - timedelta(days=4))
    for memory in read_population(corpus.index):
        data = corpus.read_committed(memory.path)
        assert data is not None
        head = parse(data).head
        assert head.created_at is not None
        assert head.updated_at is not None
        assert head.updated_at >= head.created_at, memory.path
