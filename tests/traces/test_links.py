from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.index.usage import Moment
from memhtml.model.changes import Correction
from memhtml.model.errors import PathNotFound, StorageFailure
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    Corpus.init(tmp_path / "store")
    with Corpus.open(tmp_path / "store", clock=lambda: NOW) as opened:
        yield opened


def test_links_of_a_memory_follow_its_moves(corpus: Corpus) -> None:
    """extras.md §10.10: links by path did not follow moves."""
    claim = "The rye starter is fed at 05:40."
    draft = Draft(title=claim, claim=claim, memory_type=MemoryType.SEMANTIC, session_id="s1")
    first = corpus.write(draft).path
    corpus.record_read(first, moment=Moment("s2"))
    correction = Correction(
        target=first, title="Feeding at six", claim="It is fed at 06:10.", session_id="s3"
    )
    second = corpus.correct(correction)
    corpus.record_read(second.path, moment=Moment("s4"))
    third = corpus.archive(second.path, reason="the starter died").archive_path
    places = {first, second.archived_path, second.path, third}
    assert len(places) == 4
    for place in places:
        links = corpus.links_of_path(place)
        assert {link.session_id for link in links} == {"s1", "s2", "s3", "s4"}, place
        assert len(links) == len(set(links))
    with pytest.raises(PathNotFound):
        corpus.links_of_path("areas/nowhere.html")


def test_what_is_known_of_transcripts_stands_in_the_folder_git_ignores(corpus: Corpus) -> None:
    with corpus.traces() as base:
        assert base.path == f"{corpus.root}/.memhtml/cache/traces.db"
    assert not corpus.worktree_changes()


def test_what_stands_in_its_place_is_reported(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "store" / ".memhtml" / "cache" / "traces.db").mkdir(parents=True)
    with pytest.raises(StorageFailure, match=r"traces\.db"):
        corpus.traces()
