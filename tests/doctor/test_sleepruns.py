"""Runs of sleep that nobody came back to are named. Real git, real runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.doctor.doctor import examine
from memhtml.format.edit import SetMeta, apply_edits
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.merge import MergeOptions, drop, merge
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.sleep.runner import RunOptions, run
from memhtml.sleep.runs import Runs
from memhtml.store.plan import Put
from tests.sleep.conftest import TestPhase
from tests.suggestions import fault_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.doctor.finding import Finding
    from memhtml.sleep.phase import Context

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)
RUN = "sleep/2026-08-02"
GATE = "areas/inbox/gate.html"


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    Corpus.init(tmp_path / "store")
    with Corpus.open(tmp_path / "store", clock=lambda: NOW) as opened:
        draft = Draft(title="Gate", memory_type=MemoryType.SEMANTIC, claim="The gate is green.")
        opened.write(draft)
        yield opened


def raise_it(context: Context) -> Outcome:
    file = context.view.find(GATE)
    assert file is not None
    put = Put(GATE, apply_edits(file.data, (SetMeta("memhtml-importance", "9"),)), file.sha)
    decision = Decision("raised", GATE, "It was asked for.")
    return Outcome(proposals=(Proposal(subject="raise", steps=(put,), decisions=(decision,)),))


def die(_: Context) -> Outcome:
    raise KeyboardInterrupt


def night(corpus: Corpus, *, dies: bool = False) -> None:
    phases = (TestPhase("raise", raise_it), *([TestPhase("dies", die)] if dies else []))
    run(corpus, RunOptions(registry=phases))


def found_in(corpus: Corpus, *, days: float = 0) -> list[Finding]:
    with Corpus.open(corpus.root, clock=lambda: NOW + timedelta(days=days)) as later:
        findings = examine(later).findings
    return [finding for finding in findings if finding.code == "sleep-run-interrupted"]


def test_an_interrupted_run_is_named_with_the_way_on(corpus: Corpus) -> None:
    with pytest.raises(KeyboardInterrupt):
        night(corpus, dies=True)
    (finding,) = found_in(corpus)
    assert "was interrupted" in finding.message
    assert finding.hint == f"memhtml sleep resume {RUN}"
    assert fault_of(finding.hint) is None
    assert fault_of(f"memhtml sleep drop {RUN}") is None
    drop(corpus, RUN)
    assert not found_in(corpus)


def test_a_run_that_a_process_works_on_is_left_alone(corpus: Corpus) -> None:
    with pytest.raises(KeyboardInterrupt):
        night(corpus, dies=True)
    runs = Runs(corpus.repo)
    try:
        with runs.worked_on(RUN):
            assert not found_in(corpus)
    finally:
        runs.close()


def test_a_run_that_waits_is_named_after_two_weeks(corpus: Corpus) -> None:
    night(corpus)
    assert not found_in(corpus, days=14)
    (finding,) = found_in(corpus, days=15)
    assert "15 days" in finding.message
    assert finding.hint == f"memhtml sleep review {RUN}"


def test_a_merged_run_whose_branch_is_kept_waits_for_nothing(corpus: Corpus) -> None:
    night(corpus)
    merge(corpus, RUN, MergeOptions(keep_branch=True))
    assert not found_in(corpus, days=30)


def test_half_a_line_in_a_journal_hides_nothing(corpus: Corpus) -> None:
    with pytest.raises(KeyboardInterrupt):
        night(corpus, dies=True)
    runs = Runs(corpus.repo)
    with (runs.folder(RUN) / "journal.jsonl").open("a") as journal:
        journal.write('{"kind": "end')
    runs.close()
    assert len(found_in(corpus)) == 1
