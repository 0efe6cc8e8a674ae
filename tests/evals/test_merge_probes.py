"""Probes of a merge: real stores, real commits, and a merge that hurts or does not."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.evals.merge import asker, probe_merge
from memhtml.evals.probes import Probe, query_of
from memhtml.format.edit import SetMeta, apply_edits
from memhtml.model.changes import Correction
from memhtml.model.document import Facet
from memhtml.model.errors import InvalidFlag
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.search.hits import Hits

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)

CLAIMS = (
    "The ingest worker retries a failed call three times.",
    "The export worker writes one file an hour.",
    "The nightly report goes to the finance team.",
    "The billing queue holds forty messages at most.",
)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    Corpus.init(tmp_path / "store")
    with Corpus.open(tmp_path / "store", clock=lambda: NOW, durability="none") as opened:
        for claim in CLAIMS:
            write(opened, claim)
        yield opened


def write(corpus: Corpus, claim: str, **fields: object) -> str:
    fields.setdefault("memory_type", MemoryType.SEMANTIC)
    return corpus.write(Draft(title=claim[:40], claim=claim, **fields)).path  # type: ignore[arg-type]  # test shorthand


def head(corpus: Corpus) -> str:
    commit = corpus.repo.head()
    assert commit is not None
    return commit


def test_a_change_that_touches_no_memory_asks_nothing_and_passes(corpus: Corpus) -> None:
    found = probe_merge(corpus, head(corpus), head(corpus))
    assert found.passed
    assert found.probes == ()


def test_a_successor_that_says_it_too_takes_the_place_of_what_it_replaced(corpus: Corpus) -> None:
    """sleep.md §9.12."""
    base = head(corpus)
    old = corpus.search("ingest worker retries").hits[0].path
    new = corpus.correct(
        Correction(target=old, title="x", claim="The ingest worker retries any failed call 3 times")
    )
    found = probe_merge(corpus, base, head(corpus))
    assert found.passed
    (probe,) = [probe for probe in found.probes if probe.path == old]
    assert (probe.heir, probe.rank_before, probe.rank_after) == (new.path, 1, 1)


def test_a_successor_that_does_not_say_it_is_a_regression_with_ranks(corpus: Corpus) -> None:
    """sleep.md §9.12."""
    base = head(corpus)
    old = corpus.search("ingest worker retries").hits[0].path
    new = corpus.correct(Correction(target=old, title="Notes", claim="Cats like warm boxes."))
    found = probe_merge(corpus, base, head(corpus))
    assert not found.passed
    told = found.as_json()["regressions"]
    assert told == [
        {
            "query": "ingest worker retries failed call three times",
            "path": old,
            "rankBefore": 1,
            "rankAfter": None,
            "successor": new.path,
            "question": False,
        }
    ]


def test_a_successor_in_other_words_may_stand_among_the_first_five_and_that_is_told(
    corpus: Corpus,
) -> None:
    base = head(corpus)
    old = corpus.search("ingest worker retries").hits[0].path
    corpus.correct(Correction(target=old, title="x", claim="Failed ingest gets three more tries."))
    write(corpus, "The ingest worker retries a failed export three times.")
    found = probe_merge(corpus, base, head(corpus))
    (probe,) = [probe for probe in found.probes if probe.path == old]
    assert (probe.rank_before, probe.rank_after) == (1, 2)
    assert found.slipped == (probe,)
    assert found.passed


@pytest.mark.parametrize(
    ("probe", "is_harder"),
    [
        (Probe("q", "a", "a", 1, 1), False),
        (Probe("q", "a", "a", 1, 2), True),
        (Probe("q", "a", "a", 3, None), True),
        (Probe("q", "a", "a", None, None), False),
        (Probe("q", "a", "b", 1, 5), False),
        (Probe("q", "a", "b", 1, 6), True),
        (Probe("q", "a", "b", 7, 7), False),
        (Probe("q", "a", "b", 7, 8), True),
        (Probe("q", "a", "a", 2, 5, is_question=True), False),
        (Probe("q", "a", "a", 2, 6, is_question=True), True),
        (Probe("q", "a", "a", 6, 9, is_question=True), False),
    ],
)
def test_what_counts_as_harder(probe: Probe, is_harder: bool) -> None:
    assert probe.is_harder is is_harder


def test_a_newcomer_that_pushes_a_neighbour_down_is_a_regression_of_the_neighbour(
    corpus: Corpus,
) -> None:
    base = head(corpus)
    there = corpus.search("billing queue holds").hits[0].path
    write(
        corpus,
        "Billing queue holds forty messages: billing queue holds forty messages at most.",
        entities=("system:billing queue",),
        paragraphs=("The billing queue holds forty messages at most.",),
    )
    found = probe_merge(corpus, base, head(corpus))
    assert [(probe.path, probe.rank_before, probe.rank_after) for probe in found.regressions] == [
        (there, 1, 2)
    ]


def test_what_was_archived_for_good_is_told_and_not_asked_for(corpus: Corpus) -> None:
    base = head(corpus)
    old = corpus.search("nightly report").hits[0].path
    corpus.archive(old, reason="nobody reads it")
    found = probe_merge(corpus, base, head(corpus))
    assert found.passed
    assert found.retired == (old,)
    assert old not in {probe.path for probe in found.probes}


def test_a_memory_that_only_moved_is_asked_for_where_it_is_now(corpus: Corpus) -> None:
    base = head(corpus)
    old = corpus.search("nightly report").hits[0].path
    subprocess.run(["git", "-C", corpus.root, "mv", old, "resources/report.html"], check=True)
    subprocess.run(["git", "-C", corpus.root, "commit", "-qm", "Move"], check=True)
    found = probe_merge(corpus, base, "HEAD")
    assert found.passed
    (probe,) = [probe for probe in found.probes if probe.path == old]
    assert (probe.heir, probe.rank_after) == ("resources/report.html", 1)


def test_an_edit_of_a_head_is_asked_for_too(corpus: Corpus) -> None:
    base = head(corpus)
    old = corpus.search("nightly report").hits[0].path
    data = corpus.read_file(old)
    assert data is not None
    edited = apply_edits(data, (SetMeta("memhtml-confidence", "0.412"),))
    Path(corpus.root, old).write_bytes(edited)
    subprocess.run(["git", "-C", corpus.root, "commit", "-qam", "Decay"], check=True)
    found = probe_merge(corpus, base, "HEAD")
    assert found.passed
    assert old in {probe.path for probe in found.probes}


def test_a_claim_that_says_something_else_now_is_told_and_not_asked_for(corpus: Corpus) -> None:
    base = head(corpus)
    old = corpus.search("nightly report").hits[0].path
    commit_edit(corpus, old, b"finance", b"audit")
    found = probe_merge(corpus, base, "HEAD")
    assert found.rewritten == (old,)
    assert old not in {probe.path for probe in found.probes}


def test_a_memory_that_is_none_any_more_is_a_regression(corpus: Corpus) -> None:
    base = head(corpus)
    old = corpus.search("nightly report").hits[0].path
    commit_edit(corpus, old, b"mark>", b"b>")
    found = probe_merge(corpus, base, "HEAD")
    assert [(probe.path, probe.rank_after) for probe in found.regressions] == [(old, None)]


def commit_edit(corpus: Corpus, path: str, old: bytes, new: bytes) -> None:
    file = Path(corpus.root, path)
    file.write_bytes(file.read_bytes().replace(old, new))
    subprocess.run(["git", "-C", corpus.root, "commit", "-qam", "By hand"], check=True)


def test_a_question_that_was_answered_must_be_answered_by_the_successor(corpus: Corpus) -> None:
    old = write(
        corpus,
        "Jo Marsh keeps the spare key of the boat house.",
        facets=(Facet("answers", "who keeps the spare key of the boat house"),),
    )
    base = head(corpus)
    corpus.correct(Correction(target=old, title="Boats", claim="Boats float.", facets=()))
    found = probe_merge(corpus, base, head(corpus))
    assert any(probe.is_question for probe in found.regressions)


def test_a_commit_that_is_none_is_refused_and_does_not_pass(corpus: Corpus) -> None:
    with pytest.raises(InvalidFlag):
        probe_merge(corpus, head(corpus), "no-such-branch")


def test_who_has_an_index_of_a_state_hands_it_in(corpus: Corpus) -> None:
    base = head(corpus)
    old = corpus.search("nightly report").hits[0].path
    corpus.correct(Correction(target=old, title="x", claim="The nightly report goes to finance."))
    asked: list[str] = []

    def after(text: str) -> Hits:
        asked.append(text)
        return asker(corpus)(text)

    given = probe_merge(corpus, base, head(corpus), after=after)
    assert given == probe_merge(corpus, base, head(corpus))
    assert asked == list(dict.fromkeys(asked))


@pytest.mark.parametrize(
    ("claim", "query"),
    [
        ("The E-1042 fault is not fixed in v2.1.", "e-1042 fault not fixed v2.1"),
        ("…", ""),
        ("北京的天气很好", "北京的天气很好"),
        (" ".join(f"w{n}" for n in range(20)), " ".join(f"w{n}" for n in range(12))),
    ],
)
def test_a_claim_is_asked_for_by_its_first_words(claim: str, query: str) -> None:
    assert query_of(claim) == query
