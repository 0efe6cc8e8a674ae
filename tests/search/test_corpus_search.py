"""The same through the corpus, which hands in usage, the clock and the model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memhtml.corpus import Corpus
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus
from memhtml.providers.encoders.load import sparse_encoder
from memhtml.search.recall import Unit
from memhtml.search.scope import make_scope

if TYPE_CHECKING:
    from pathlib import Path

CLAIMS = (
    "The password of the build server had expired",
    "The lorry is parked behind the mill",
    "The baker kneads the dough twice",
    "Owls hunt at night",
    "Rain is expected on Sunday",
)


def clock() -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC)


def test_meaning_finds_what_words_do_not_and_every_answer_says_whether_it_took_part(
    tmp_path: Path, splade_cache: Path
) -> None:
    Corpus.init(tmp_path / "store", clock=clock)
    with Corpus.open(tmp_path / "store", clock=clock, cache_dir=splade_cache) as corpus:
        for claim in CLAIMS:
            corpus.write(Draft(title=claim, memory_type=MemoryType.SEMANTIC, claim=claim))
        by_words = corpus.search("truck", abstain=False)
        assert (by_words.hits, by_words.degraded, by_words.arms) == ((), True, ())
        assert by_words.degraded_reason
        corpus.embed(sparse_encoder("splade-tiny", splade_cache))
        meant = corpus.search("truck", abstain=False)
        assert meant.hits[0].gist == CLAIMS[1]
        assert (meant.degraded, meant.coverage, meant.hits[0].arms) == (False, 1.0, ("sparse",))
        first = meant.hits[0].path
        assert corpus.similar(first, limit=1)[0].arm == "sparse"
    with Corpus.open(tmp_path / "store", clock=clock, cache_dir=tmp_path) as corpus:
        without = corpus.search("lorry parked")
        assert without.hits[0].gist == CLAIMS[1]
        assert without.degraded
        assert "splade-tiny" in (without.degraded_reason or "")


def test_every_question_about_a_store_is_a_method(tmp_path: Path) -> None:
    Corpus.init(tmp_path / "store", clock=clock)
    with Corpus.open(tmp_path / "store", clock=clock, cache_dir=tmp_path) as corpus:
        first, second, *_ = (
            corpus.write(
                Draft(title=claim, memory_type=MemoryType.SEMANTIC, claim=claim, tags=("t",))
            ).path
            for claim in CLAIMS
        )
        task = Draft(
            title="Mend the roof",
            memory_type=MemoryType.TASK,
            claim="The roof is tight",
            task_status=TaskStatus.TODO,
        )
        corpus.write(task)
        corpus.link(first, Rel.RELATES_TO, second)
        assert [node.path for node in corpus.neighbors(second).nodes] == [first]
        assert len(corpus.find_route(first, second) or ()) == 1
        assert corpus.resolve(first).path == first
        assert len(corpus.list_memories(limit=3).files) == 3
        assert len(corpus.list_memories(make_scope(tags=["t"])).files) == len(CLAIMS)
        assert [tag.tag for tag in corpus.list_tags()] == ["t"]
        assert corpus.list_entities().entity_count == 0
        assert [one.title for one in corpus.list_tasks().tasks] == ["Mend the roof"]
        pack = corpus.recall("build server password", budget=50, unit=Unit.TOKENS)
        assert pack.memories.disclosed[0].body == CLAIMS[0]
        assert 0 < pack.spent <= 50
        assert corpus.search("owls hunt", neighbours=False).hits[0].gist == CLAIMS[3]
