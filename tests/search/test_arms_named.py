"""An arm that was asked for and took no part is named, and why, whatever the others did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.corpus import Corpus
from memhtml.index.embed import embed
from memhtml.index.indexer import update
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.search.arms.dense import DenseQuestions
from memhtml.search.search import Means, search
from tests.index.stores import NOW, Store, memory
from tests.search.meanings import DenseMeanings, Meanings

if TYPE_CHECKING:
    from pathlib import Path

    from memhtml.index.database import Index
    from memhtml.store.repo import Repo

CLAIM = "The oven in the bakery is cold"


def test_each_arm_that_was_asked_and_took_no_part_is_named(tmp_path: Path) -> None:
    root, encoder = tmp_path / "store", DenseMeanings()
    Corpus.init(root)
    with Corpus.open(root, cache_dir=tmp_path, encoder=encoder) as corpus:
        corpus.write(Draft(title=CLAIM, memory_type=MemoryType.SEMANTIC, claim=CLAIM))
        assert "no vectors" in (corpus.search("cold oven").degraded_reason or "")
        asked = corpus.search("cold oven", dense=True).degraded_reason or ""
        assert "no vectors" in asked
        assert "no dense vectors" in asked
        corpus.embed(Meanings())
        for answer in (corpus.search("oven", dense=True), corpus.recall("oven", dense=True)):
            assert "no dense vectors" in (answer.degraded_reason or "")


def test_a_model_that_an_index_has_no_vectors_of_is_named_beside_one_it_has(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put("areas/oven.html", memory(CLAIM))
    store.commit()
    update(index, repo, now=NOW)
    sparse, dense = Meanings(), DenseMeanings()
    means = Means(queries=sparse, dense=DenseQuestions(dense))
    embed(index, sparse)
    answer = search(index, "cold oven", means=means)
    assert not answer.degraded
    assert "no vectors of dense-meanings@0" in (answer.degraded_reason or "")
    other = means._replace(queries=Meanings("other@0"))
    embed(index, dense)
    answer = search(index, "cold oven", means=other)
    assert not answer.degraded
    assert "no vectors of other@0" in (answer.degraded_reason or "")
    assert "dense-meanings" not in (answer.degraded_reason or "")
