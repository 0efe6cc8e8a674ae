"""Questions that memories say they answer, and who hears when they do not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.doctor import answers
from memhtml.doctor.doctor import examine
from memhtml.model.changes import Correction
from memhtml.model.document import Facet
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from tests.cli.calls import call
from tests.suggestions import fault_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.doctor.finding import Finding

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)
QUESTION = "where is the key of the boat house"


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    Corpus.init(tmp_path / "store")
    with Corpus.open(tmp_path / "store", clock=lambda: NOW, durability="none") as opened:
        yield opened


def write(corpus: Corpus, claim: str, *questions: str, **fields: object) -> str:
    fields.setdefault("memory_type", MemoryType.SEMANTIC)
    facets = tuple(Facet("answers", question) for question in questions)
    draft = Draft(title=claim[:30], claim=claim, facets=facets, **fields)  # type: ignore[arg-type]  # test shorthand
    return corpus.write(draft).path


def told(corpus: Corpus, *, all_answers: bool = False) -> list[Finding]:
    found = examine(corpus, all_answers=all_answers).findings
    assert all(finding.hint is None or fault_of(finding.hint) is None for finding in found)
    return [finding for finding in found if finding.code.startswith("answer")]


def test_a_memory_that_answers_its_questions_is_no_finding(corpus: Corpus) -> None:
    path = write(corpus, "Jo hangs the boat house key behind the clock.", QUESTION, "who is Jo")
    assert [(q.text, q.path) for q in corpus.questions()] == [(QUESTION, path), ("who is Jo", path)]
    assert told(corpus) == []


def test_one_that_is_crowded_out_is_a_warning_with_question_and_place(corpus: Corpus) -> None:
    path = write(
        corpus,
        "Jo hangs it behind the clock.",
        "clock " + QUESTION,
        paragraphs=("Nobody remembers why. " * 60,),
    )
    for number in range(8):
        write(corpus, f"Clock {number}: where is the key of the boat house clock, the boat house.")
    (finding,) = told(corpus)
    assert (finding.code, finding.path, finding.gravity) == ("answer-not-found", path, "warning")
    assert repr("clock " + QUESTION) in finding.message
    assert "place" in finding.message
    assert not finding.is_fixable


def test_what_takes_the_place_of_a_memory_has_to_answer_its_questions(corpus: Corpus) -> None:
    old = write(corpus, "The key of the boat house is behind the clock.", QUESTION)
    new = corpus.correct(Correction(target=old, title="Owls", claim="Owls hunt.", facets=())).path
    (finding,) = told(corpus)
    assert finding.path == new
    assert "archive/2026/" in finding.message
    corpus.correct(
        Correction(target=new, title="Key", claim="The key of the boat house is in the shed.")
    )
    assert told(corpus) == []


def test_what_was_archived_for_good_has_nothing_to_answer(corpus: Corpus) -> None:
    path = write(corpus, "The key of the boat house is behind the clock.", QUESTION)
    corpus.archive(path, reason="sold")
    assert corpus.questions() == []
    assert told(corpus) == []


def test_questions_beyond_the_limit_are_counted_and_asked_on_request(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memhtml.doctor.doctor.QUESTIONS_ASKED", 1)
    write(corpus, "Owls hunt at night.", "when do owls hunt", "what hunts at night")
    (note,) = told(corpus)
    assert (note.code, note.gravity) == ("answers-not-asked", "note")
    assert "1 of 2" in note.message
    assert told(corpus, all_answers=True) == []
    assert answers.QUESTIONS_ASKED > 1


def test_the_command_asks_all_of_them_and_exits_by_the_verdict(corpus: Corpus) -> None:
    write(corpus, "Owls hunt at night.", "when do owls hunt")
    good = call("eval", "answers", "--repo", corpus.root, "--json")
    assert (good.status, good.data["questions"], good.data["missed"]) == (0, 1, [])
    old = write(corpus, "The key of the boat house is behind the clock.", QUESTION)
    new = corpus.correct(Correction(target=old, title="Gulls", claim="Gulls cry.", facets=())).path
    bad = call("eval", "answers", "--repo", corpus.root, "--json")
    assert bad.status == 1
    assert [(m["question"], m["path"], m["rank"]) for m in bad.data["missed"]] == [
        (QUESTION, new, None)
    ]
    assert (
        "not found: where is the key"
        in call("eval", "answers", "--repo", corpus.root, "--text").out
    )


def test_doctor_lists_it_for_people_and_machines(corpus: Corpus) -> None:
    old = write(corpus, "The key of the boat house is behind the clock.", QUESTION)
    corpus.correct(Correction(target=old, title="Gulls", claim="Gulls cry.", facets=()))
    result = call("doctor", "--repo", corpus.root, "--answers", "--json")
    assert result.status == 0
    assert "answer-not-found" in [finding["code"] for finding in result.data["findings"]]
    assert call("doctor", "--repo", corpus.root, "--strict", "--json").status == 1
