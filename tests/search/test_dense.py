"""The dense arm: what it adds, when it is asked, and what an answer says when it is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import pytest

from memhtml.corpus import Corpus
from memhtml.index.embed import coverage, embed
from memhtml.index.indexer import update
from memhtml.model.errors import ModelUnavailable
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.scoring.fusion import DENSE_WEIGHT
from memhtml.search.arms.dense import DenseQuestions
from memhtml.search.hits import NoMatchReason
from memhtml.search.scope import make_scope
from memhtml.search.search import Means, search
from tests.index.stores import NOW, Store, memory
from tests.search.meanings import DenseMeanings, Meanings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy import float32
    from numpy.typing import NDArray

    from memhtml.index.database import Index
    from memhtml.model.ports import TextKind
    from memhtml.search.search import Hits
    from memhtml.store.repo import Repo

CLAIMS = (
    "The oven in the bakery is cold",
    "Bread rises overnight in the cellar",
    "The lorry is parked behind the mill",
    "Rain is expected on Sunday",
    "Owls hunt at night",
)


class Broken(DenseMeanings):
    """Its server is down when a question comes."""

    def encode(self, texts: Sequence[str], kind: TextKind, **_: object) -> NDArray[float32]:
        if kind == "query":
            raise ModelUnavailable("there", "it does not answer")
        return super().encode(texts, kind)


def fill(store: Store, repo: Repo, index: Index, claims: Sequence[str] = CLAIMS) -> None:
    for number, claim in enumerate(claims):
        store.put(f"areas/{number}.html", memory(claim))
    store.commit()
    update(index, repo, now=NOW)


def first(answer: Hits) -> str:
    return answer.hits[0].gist


def test_a_store_with_dense_vectors_alone_is_searched_by_words_and_by_all_of_them(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index)
    encoder = DenseMeanings()
    embed(index, encoder)
    means = Means(dense=DenseQuestions(encoder), with_neighbours=False)
    answer = search(index, "is a vehicle parked", means=means, abstain=False)
    assert first(answer) == CLAIMS[2]
    assert (answer.arms, answer.degraded, answer.coverage) == (("fts", "dense"), False, 1.0)
    assert answer.degraded_reason is None
    # No word of it stands anywhere, so only the vectors can find it.
    meant = search(index, "vehicle", means=means, abstain=False)
    assert (first(meant), meant.hits[0].arms) == (CLAIMS[2], ("dense",))


class Wrong(DenseMeanings):
    """A caller's own encoder, which answers *kind* with what `spoil` makes of good rows."""

    def __init__(self, kind: TextKind, spoil: Callable[[Any], object]) -> None:
        super().__init__()
        self._wrong = kind
        self._spoil = spoil

    def encode(self, texts: Sequence[str], kind: TextKind, **_: object) -> NDArray[float32]:
        rows = super().encode(texts, kind)
        return cast("NDArray[float32]", self._spoil(rows)) if kind == self._wrong else rows


SPOILED: dict[str, Callable[[Any], object]] = {
    "not a number": lambda rows: rows * float("nan"),
    "no direction": lambda rows: rows * 0,
    "too narrow": lambda rows: rows[:, :-1],
    "too few": lambda rows: rows[:-1],
    "no rows": lambda rows: rows[0],
    "no numbers": lambda rows: [["x"] for _ in rows],
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_what_is_no_unit_vector_is_neither_kept_nor_asked_with(
    store: Store, repo: Repo, index: Index, spoil: Callable[[Any], object]
) -> None:
    """NaN was kept for good, and another width was an error of the matrix product."""
    fill(store, repo, index)
    with pytest.raises(ModelUnavailable):
        embed(index, Wrong("document", spoil))
    assert [one.covered for one in coverage(index)] in ([], [0])
    asked = Wrong("query", spoil)
    embed(index, asked)
    answer = search(index, "parked lorry", means=Means(dense=DenseQuestions(asked)))
    assert (first(answer), answer.arms) == (CLAIMS[2], ("fts",))
    assert answer.degraded_reason is not None


def test_a_model_of_another_width_under_the_same_name_takes_no_part(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index)
    encoder = DenseMeanings()
    embed(index, encoder)
    questions = DenseQuestions(encoder)
    questions.dims += 1
    answer = search(index, "parked lorry", means=Means(dense=questions))
    assert (first(answer), answer.arms) == (CLAIMS[2], ("fts",))


def test_the_explanation_adds_the_cosine_as_it_is(store: Store, repo: Repo, index: Index) -> None:
    fill(store, repo, index)
    model, encoder = Meanings(), DenseMeanings()
    embed(index, model)
    embed(index, encoder)
    means = Means(queries=model, dense=DenseQuestions(encoder), with_neighbours=False)
    answer = search(index, "cold stove in the bakery", means=means)
    assert first(answer) == CLAIMS[0]
    for hit in answer.hits:
        why = hit.explanation
        by_arm = {score.arm: score for score in why.arms}
        cosine = by_arm["dense"]
        assert (cosine.best, cosine.weight) == (1.0, DENSE_WEIGHT)
        assert cosine.share == pytest.approx(2 * cosine.raw)
        shares = sum(score.share for score in why.arms) + why.neighbour
        assert why.total == pytest.approx(shares * (1 + why.recency + why.salience))
        assert f"2·{cosine.raw:.3f}/1.000 dense" in why.arithmetic
        assert 0 < hit.score <= 1


def test_beside_a_sparse_arm_cosines_only_judge_what_is_found(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index)
    model, encoder = Meanings(), DenseMeanings()
    embed(index, model)
    embed(index, encoder)
    means = Means(queries=model, dense=DenseQuestions(encoder), with_neighbours=False)
    answer = search(index, "oven", means=means, abstain=False)
    assert [hit.gist for hit in answer.hits] == [CLAIMS[0]]
    assert answer.hits[0].arms == ("fts", "sparse", "dense")


def test_cosines_stay_within_the_scope_and_the_quoted_words(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index)
    encoder = DenseMeanings()
    embed(index, encoder)
    means = Means(dense=DenseQuestions(encoder))
    elsewhere = make_scope(path_prefix="areas/0")
    assert not search(index, "vehicle", elsewhere, means=means, abstain=False).hits
    demanded = search(index, '"bread rises" vehicle', means=means, abstain=False)
    assert [hit.gist for hit in demanded.hits] == [CLAIMS[1]]


def test_vectors_that_came_later_are_seen_by_a_process_that_keeps_the_others(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index)
    encoder = DenseMeanings()
    embed(index, encoder)
    means = Means(dense=DenseQuestions(encoder), with_neighbours=False)
    assert not search(index, "furnace repair", means=means, abstain=False).hits[1:]
    fill(store, repo, index, (*CLAIMS, "Ask the smith to mend it"))
    embed(index, encoder)
    found = search(index, "furnace repair", means=means, abstain=False)
    assert {hit.gist for hit in found.hits} == {CLAIMS[0], "Ask the smith to mend it"}


@pytest.mark.parametrize("with_sparse", [True, False])
def test_dense_vectors_make_no_answer_of_what_is_none(
    store: Store, repo: Repo, index: Index, *, with_sparse: bool
) -> None:
    facts = [f"The lamp of quay {number} is {colour}" for number, colour in enumerate(COLOURS)]
    fill(store, repo, index, facts)
    model, encoder = Meanings(), DenseMeanings()
    if with_sparse:
        embed(index, model)
    embed(index, encoder)
    means = Means(queries=model if with_sparse else None, dense=DenseQuestions(encoder))
    for question in ("who paid the lamp", "zeppelin", "price of the quay"):
        answer = search(index, question, means=means)
        assert answer.hits == ()
        assert answer.no_match is not None
        assert answer.no_match.reason in (NoMatchReason.NOT_RELEVANT, NoMatchReason.NO_TERM_FOUND)
    assert first(search(index, "the green lamp", means=means)) == facts[1]


COLOURS = ("red", "green", "blue", "white", "yellow", "black", "violet", "brown")


def test_a_server_that_is_down_costs_its_arm_and_is_named(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index)
    encoder = Broken()
    embed(index, encoder)
    answer = search(index, "cold oven", means=Means(dense=DenseQuestions(encoder)))
    assert first(answer) == CLAIMS[0]
    assert (answer.degraded, answer.arms) == (True, ("fts",))
    assert "does not answer" in (answer.degraded_reason or "")


def clock() -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC)


def test_a_model_is_asked_where_it_is_loaded_and_an_answer_says_where_it_was_not(
    tmp_path: Path,
) -> None:
    root, encoder = tmp_path / "store", DenseMeanings()
    Corpus.init(root, clock=clock)
    with Corpus.open(root, clock=clock, cache_dir=tmp_path, encoder=encoder) as corpus:
        for claim in CLAIMS:
            corpus.write(Draft(title=claim, memory_type=MemoryType.SEMANTIC, claim=claim))
        corpus.embed(encoder)
        assert "dense" in corpus.search("the lorry behind the mill").arms
        assert encoder.asked == 1
        declined = corpus.search("the lorry behind the mill", dense=False)
        assert (declined.arms, declined.degraded) == (("fts",), True)
        assert encoder.asked == 1
        assert not corpus.recall("the lorry behind the mill").degraded
    with Corpus.open(root, clock=clock, cache_dir=tmp_path) as corpus:
        without = corpus.search("the lorry behind the mill")
        assert without.degraded
        assert "dense-meanings@0 were not asked" in (without.degraded_reason or "")
        missing = corpus.search("the lorry behind the mill", dense=True)
        assert "has not been added" in (missing.degraded_reason or "")
        assert first(missing) == CLAIMS[2]
    with Corpus.open(root, clock=clock, cache_dir=tmp_path, is_warm=True) as corpus:
        assert "has not been added" in (corpus.search("lorry mill").degraded_reason or "")
    other = DenseMeanings("another@0")
    with Corpus.open(root, clock=clock, cache_dir=tmp_path, encoder=other) as corpus:
        assert "were not asked" in (corpus.search("lorry mill").degraded_reason or "")
        assert other.asked == 0


def test_a_cold_search_loads_no_array_library_for_vectors_that_it_does_not_ask(
    tmp_path: Path,
) -> None:
    root, encoder = tmp_path / "store", DenseMeanings()
    Corpus.init(root, clock=clock)
    with Corpus.open(root, clock=clock) as corpus:
        corpus.write(Draft(title=CLAIMS[0], memory_type=MemoryType.SEMANTIC, claim=CLAIMS[0]))
        corpus.embed(encoder)
    script = (
        "import sys\nfrom memhtml.corpus import Corpus\n"
        f"with Corpus.open({str(root)!r}) as corpus:\n"
        "    print(len(corpus.search('cold oven').hits), 'numpy' in sys.modules)"
    )
    done = subprocess.run(
        (sys.executable, "-c", script), check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["1", "False"]


def test_the_command_asks_a_dense_model_when_told_to_and_names_what_it_could_not_ask(
    tmp_path: Path,
) -> None:
    root, encoder = tmp_path / "store", DenseMeanings()
    Corpus.init(root, clock=clock)
    with Corpus.open(root, clock=clock) as corpus:
        corpus.write(Draft(title=CLAIMS[0], memory_type=MemoryType.SEMANTIC, claim=CLAIMS[0]))
        corpus.embed(encoder)
        corpus.embed(Meanings())
    command = (sys.executable, "-m", "memhtml", "search", "cold oven", "--repo", str(root))
    env = {**os.environ, "MEMHTML_CACHE": str(tmp_path)}
    for flags, reason in (((), "--dense-model loads"), (("--dense-model",), "has not been added")):
        done = subprocess.run(
            (*command, *flags), check=True, capture_output=True, text=True, env=env
        )
        answer = json.loads(done.stdout)["data"]
        assert len(answer["hits"]) == 1
        assert "'meanings'" in answer["degradedReason"]
        assert reason in answer["degradedReason"]
