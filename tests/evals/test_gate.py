"""The discrimination gate: that it passes as it stands, that it can fail, and that it is hard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memhtml.evals.controls import Family, control_of, differs
from memhtml.evals.gate import Discrimination, run_gate
from memhtml.evals.hashed import HashedWords
from memhtml.evals.probes import query_of
from memhtml.evals.synthetic import DAYS, Kind, make_synthetic
from memhtml.format.edit import read_meta
from memhtml.format.parse import parse
from memhtml.model.paths import original_path
from memhtml.model.ports import SparseRow
from memhtml.model.vocabulary import MemoryType
from tests.cli.calls import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.model.ports import Progress

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)


@pytest.fixture(scope="module")
def found() -> Discrimination:
    return run_gate(now=NOW)


def test_the_gate_passes_as_search_stands(found: Discrimination) -> None:
    assert found.faults == ()
    assert found.passed
    assert len(found.results) == 36
    assert found.inversions == 0


def test_every_near_twin_is_among_the_hits_so_that_each_could_have_won(
    found: Discrimination,
) -> None:
    """extras.md §10.15: 51 of 90 controls were never returned."""
    ranks = [control.rank for one in found.results for control in one.controls]
    assert len(ranks) == 3 * 36
    assert None not in ranks


def test_the_hard_questions_are_not_saturated(found: Discrimination) -> None:
    """extras.md §10.15."""
    assert {family.kind for family in found.hard} == set(Kind)
    for family in found.hard:
        assert len(family.ranks) >= 24
        assert family.floor <= family.recall(5)
        assert family.recall(1) < 1.0
    assert len(found.latencies_ms) == 36 + sum(len(family.ranks) for family in found.hard)


class Gullible(HashedWords):
    """Finds denials most important."""

    def encode_docs(
        self, texts: Sequence[str], *, workers: int = 1, progress: Progress | None = None
    ) -> list[SparseRow]:
        rows = super().encode_docs(texts, workers=workers, progress=progress)
        return [
            SparseRow(row.terms, bytes(255 for _ in row.weights)) if " not " in text else row
            for row, text in zip(rows, texts, strict=True)
        ]


def test_a_search_that_prefers_a_near_twin_does_not_pass() -> None:
    found = run_gate(now=NOW, encoder=Gullible(), size=24, probes=8)
    assert found.inversions > 0
    assert not found.passed
    twins = [one for one in found.results if one.discrimination_rank > 1]
    assert all(
        control.rank is not None
        for one in twins
        for control in one.controls
        if control.family is Family.NEGATION
    )


def test_hard_questions_answered_less_often_than_their_floor_do_not_pass(
    found: Discrimination,
) -> None:
    for number, family in enumerate(found.hard):
        lost = (*[None] * len(family.ranks[1:]), 1)
        worse = (*found.hard[:number], family._replace(ranks=lost), *found.hard[number + 1 :])
        (fault,) = found._replace(hard=worse).faults
        assert fault.startswith(f"{family.kind} questions: recall@5 0.0")


def test_a_gate_that_asked_nothing_does_not_pass(found: Discrimination) -> None:
    assert not found._replace(results=()).passed


def test_a_target_that_is_not_found_loses_to_all_its_twins(found: Discrimination) -> None:
    lost = found.results[0]._replace(rank=None)
    assert lost.discrimination_rank == 1 + len(lost.controls)


def test_a_twin_that_is_not_found_is_below(found: Discrimination) -> None:
    one = found.results[0]
    absent = tuple(control._replace(rank=None) for control in one.controls)
    assert one._replace(controls=absent).discrimination_rank == 1


def test_one_seed_and_day_make_one_store_and_another_seed_another() -> None:
    one = make_synthetic(seed=1, now=NOW, size=60, probes=8)
    assert make_synthetic(seed=1, now=NOW, size=60, probes=8) == one
    assert make_synthetic(seed=2, now=NOW, size=60, probes=8).files != one.files


def test_the_store_is_what_it_is_said_to_be() -> None:
    made = make_synthetic(seed=20260802, now=NOW, size=200, probes=36)
    documents = {path: parse(data) for path, data in made.files.items()}
    assert all(document.is_valid for document in documents.values())
    types = {document.head.memory_type for document in documents.values()}
    assert types == set(MemoryType) - {MemoryType.TASK}
    oldest = (NOW - timedelta(days=DAYS + 91)).isoformat()
    assert all(oldest < (d.head.created_at or "") for d in documents.values())
    archived = [path for path in documents if original_path(path) is not None]
    assert len(archived) == 33
    assert all(read_meta(made.files[path], "memhtml-superseded-by") for path in archived)
    assert {probe.path for probe in made.hard} <= documents.keys()


def test_titles_tell_no_target_from_its_twins() -> None:
    """extras.md §10.15."""
    made = make_synthetic(seed=20260802, now=NOW, size=200, probes=36)
    for target in made.targets:
        titles = {
            parse(made.files[path]).title
            for path in (target.path, *(p for p, _ in target.controls))
        }
        assert len(titles) == 1
        assert set(target.query.split()) - set(titles.pop().lower().split())


@pytest.mark.parametrize("family", Family)
def test_a_control_differs_in_what_its_veto_sees(family: Family) -> None:
    claim = "The mail relay must be restarted every 12 hours."
    made = control_of(claim, family, anchor="mail relay", choice=1)
    assert made is not None
    assert differs(claim, made, family)
    others = set(Family) - {family}
    assert not any(differs(claim, made, other) for other in others)


def test_a_claim_without_a_number_has_no_numeric_control() -> None:
    assert control_of("Owls hunt at night.", Family.NUMERIC, anchor="", choice=0) is None


def test_a_denial_of_what_is_denied_already_is_no_control() -> None:
    claim = "Owls are not blind."
    assert control_of(claim, Family.NEGATION, anchor="", choice=0) is None


def test_a_question_of_the_hard_kind_is_not_the_claim_again() -> None:
    made = make_synthetic(seed=20260802, now=NOW, size=200, probes=36)
    for probe in made.hard:
        claim = set(query_of(parse(made.files[probe.path]).claim).split())
        asked = set(query_of(probe.query).split())
        assert len(claim & asked) < len(claim)


def test_the_command_answers_with_every_figure_and_exits_by_the_verdict() -> None:
    result = call("eval", "discriminate", "--size", "24", "--probes", "6", "--json")
    assert result.status == 0
    data = result.data
    assert {"mrr", "corpusMrr", "hard", "latencyMs", "results", "corpusSize"} <= data.keys()
    assert data["probes"] == data["discriminated"] == 6


def test_a_model_that_is_not_there_is_no_pass(tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = str(tmp_path_factory.mktemp("empty"))
    result = call("eval", "--mode", "live", "--json", env={"MEMHTML_CACHE": cache})
    assert result.status == 1
    assert result.data["skipped"] is True
    assert result.data["passed"] is False
