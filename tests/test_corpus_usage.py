"""Usage and vectors through the one way in: a store, its index and its state plane together."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.index.usage import LinkKind, Moment, Signal
from memhtml.model.changes import Correction
from memhtml.model.errors import EmbedModelMismatch, PathNotFound
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from tests.index.encoders import WordEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)


ANOTHER_PLACE, SAME_PLACE = "Feeding at six", None


@pytest.fixture
def store(tmp_path: Path) -> Path:
    Corpus.init(tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def corpus(store: Path) -> Iterator[Corpus]:
    with Corpus.open(store, clock=lambda: NOW) as opened:
        yield opened


def draft(claim: str, session_id: str | None = None) -> Draft:
    return Draft(title=claim, claim=claim, memory_type=MemoryType.SEMANTIC, session_id=session_id)


@pytest.mark.parametrize("title", [ANOTHER_PLACE, SAME_PLACE])
def test_usage_follows_a_correction_to_what_readers_find_from_now_on(
    corpus: Corpus, title: str | None
) -> None:
    old = corpus.write(draft("The rye starter is fed at 05:40.", "s1")).path
    corpus.record_read(old, moment=Moment("s2"))
    corpus.reinforce([old], Signal.POSITIVE, moment=Moment("s2"))
    new = corpus.correct(
        Correction(
            target=old, title=title, claim="The rye starter is fed at 06:10.", session_id="s3"
        )
    )
    assert (new.path == old) is (title is SAME_PLACE)
    usage = corpus.usage([old, new.archived_path, new.path])
    assert {path: row.outcome_score for path, row in usage.items()} == {new.path: 1.0}
    did = [(link.kind, link.path) for link in corpus.links_of_session("s2")]
    assert did == [(LinkKind.READ, new.path), (LinkKind.REINFORCED, new.path)]
    kinds = {(link.kind, link.path) for link in corpus.links_of_session("s3")}
    assert kinds == {(LinkKind.WROTE, new.path), (LinkKind.CORRECTED, new.path)}
    assert [link.path for link in corpus.links_of_session("s1")] == [new.archived_path]


def test_usage_comes_back_with_what_was_archived(corpus: Corpus) -> None:
    path = corpus.write(draft("The rye starter is fed at 05:40.")).path
    corpus.reinforce([path], Signal.NEGATIVE)
    before = corpus.usage([path])[path]
    archived = corpus.archive(path, reason="done").archive_path
    assert corpus.usage([path, archived]) == {archived: before}
    corpus.unarchive(archived)
    assert corpus.usage([path, archived]) == {path: before}


def test_nothing_is_recorded_when_one_path_is_unknown(corpus: Corpus) -> None:
    path = corpus.write(draft("The rye starter is fed at 05:40.")).path
    with pytest.raises(PathNotFound):
        corpus.reinforce([path, "areas/no.html"], Signal.POSITIVE)
    assert corpus.usage([path]) == {}


def test_usage_travels_to_a_clone_and_is_committed_only_when_it_changed(
    corpus: Corpus, store: Path, tmp_path: Path
) -> None:
    assert corpus.export_usage().commit is None
    path = corpus.write(draft("The rye starter is fed at 05:40.")).path
    corpus.reinforce([path], Signal.POSITIVE)
    done = corpus.export_usage()
    assert (done.rows, done.commit) == (1, corpus.repo.head())
    assert corpus.export_usage().commit is None
    (line,) = (store / done.path).read_text().splitlines()
    assert json.loads(line)["lastAccessedAt"] == "2026-08-02T14:03:11Z"
    subprocess.run(("git", "clone", "-q", str(store), str(tmp_path / "clone")), check=True)
    with Corpus.open(tmp_path / "clone") as clone:
        assert clone.import_usage() == 0
        assert clone.usage([path])[path][:3] == (1, 1, 1.0)
        assert clone.export_usage().commit is None


def test_usage_that_nobody_can_claim_is_listed_and_forgotten(corpus: Corpus, store: Path) -> None:
    path = corpus.write(draft("The rye starter is fed at 05:40.")).path
    corpus.record_read(path)
    assert corpus.unclaimed_usage() == []
    (store / path).unlink()
    assert corpus.unclaimed_usage() == [path]
    assert corpus.forget_usage([path]) == 1
    assert corpus.unclaimed_usage() == []


def test_vectors_are_made_on_request_and_their_coverage_is_told(corpus: Corpus) -> None:
    for number in range(3):
        corpus.write(draft(f"The rye starter number {number} is fed at 05:40."))
    assert corpus.status().coverage == ()
    seen: list[tuple[int, int]] = []
    done = corpus.embed(WordEncoder(), progress=lambda n, total: seen.append((n, total)))
    assert (done.written, done.coverage.share, seen) == (3, 1.0, [(3, 3)])
    corpus.write(draft("The oven is cold."))
    assert [(one.covered, one.texts) for one in corpus.status().coverage] == [(3, 4)]
    with pytest.raises(EmbedModelMismatch):
        corpus.embed(WordEncoder("words@00000000000f"))
    told: list[tuple[int, int]] = []
    corpus.rebuild(progress=lambda n, total: told.append((n, total)))
    assert told[-1] == (4, 4)
    assert [(one.covered, one.texts) for one in corpus.coverage()] == [(3, 4)]
