"""Retrieval quality: recall@5, recall@10, MRR and nDCG@10 over a file of memories and questions.

    python bench/retrieval.py --data FILE [--cache DIR] [--dense] [--pool]

FILE has one JSON object a line: memories (``kind``, ``corpus``, ``id``, ``session``, ``at``,
``text``) and queries (``kind``, ``corpus``, ``id``, ``category``, ``text``, ``evidence``). Each
corpus is an index of its own; with ``--pool`` they are also measured as one. Every system is one
entry of `SYSTEMS`, a function from an `Index` and a question to ranked ids.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from memhtml.providers.encoders.load import dense_encoder, sparse_encoder
from memhtml.providers.models import cache_home
from memhtml.scoring import fusion, sparse
from memhtml.scoring.stopwords import content_words

if TYPE_CHECKING:
    from memhtml.model.ports import DenseEncoder, SparseEncoder, SparseRow

ARM_LIMIT = 200
DENSE_CANDIDATES = 50
RETURNED = 100

_word_re = re.compile(r"[^\W_]+")


class Memory(NamedTuple):
    id: str
    session: tuple[str, int]
    at: str
    text: str


class Question(NamedTuple):
    corpus: str
    category: str
    text: str
    evidence: frozenset[str]


class Scores(NamedTuple):
    recall5: float
    recall10: float
    mrr: float
    ndcg: float


@dataclass(frozen=True, slots=True)
class Encoders:
    sparse: SparseEncoder
    dense: DenseEncoder | None


class Index:
    """A scratch index of one corpus: FTS5, postings and vectors in memory. Ids are row numbers."""

    def __init__(
        self, memories: Sequence[Memory], rows: Mapping[str, SparseRow], dense: Mapping[str, Any]
    ) -> None:
        self.ids = [memory.id for memory in memories]
        self.size = len(memories)
        self.database = apsw.Connection(":memory:")
        self.database.execute(
            "CREATE VIRTUAL TABLE memories USING fts5(text, "
            "tokenize='porter unicode61 remove_diacritics 2')"
        )
        self.database.executemany(
            "INSERT INTO memories (rowid, text) VALUES (?, ?)",
            [(number, memory.text) for number, memory in enumerate(memories)],
        )
        self.postings = sparse.inverted(
            (number, rows[memory.id]) for number, memory in enumerate(memories)
        )
        self.vectors = [dense[memory.id] for memory in memories] if dense else []
        self.beside: dict[int, list[int]] = {number: [] for number in range(self.size)}
        sessions = defaultdict(list)
        for number, memory in enumerate(memories):
            sessions[memory.session].append((memory.at, number))
        for members in sessions.values():
            order = [number for _, number in sorted(members)]
            for before, after in pairwise(order):
                self.beside[before].append(after)
                self.beside[after].append(before)

    def lexical(self, question: str) -> dict[int, float]:
        words = content_words(_word_re.findall(question.lower()))
        if not words:
            return {}
        found = self.database.execute(
            "SELECT rowid, bm25(memories) FROM memories WHERE memories MATCH ? "
            "ORDER BY bm25(memories), rowid LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), ARM_LIMIT),
        )
        return {number: -rank for number, rank in found}

    def semantic(self, question: str, encoders: Encoders) -> dict[int, float]:
        asked = [
            (weight, self.postings[term])
            for term, weight in encoders.sparse.query(question).items()
            if term in self.postings
        ]
        return dict(sparse.best(sparse.scores(asked, self.size), ARM_LIMIT))

    def cosines(
        self, question: str, encoders: Encoders, candidates: Iterable[int]
    ) -> dict[int, float]:
        assert encoders.dense
        asked = encoders.dense.encode([question], "query")[0]
        return {number: float(self.vectors[number] @ asked) for number in candidates}


Ranking = list[tuple[int, float]]
System = Callable[[Index, Encoders, str], Ranking]


def bm25(index: Index, encoders: Encoders, question: str) -> Ranking:
    del encoders
    return fusion.ranked(index.lexical(question), RETURNED)


def splade(index: Index, encoders: Encoders, question: str) -> Ranking:
    return fusion.ranked(index.semantic(question, encoders), RETURNED)


def fused(index: Index, encoders: Encoders, question: str) -> Ranking:
    return fusion.ranked(_fused(index, encoders, question), RETURNED)


def neighbours(index: Index, encoders: Encoders, question: str) -> Ranking:
    scores = fusion.boosted(_fused(index, encoders, question), index.beside.__getitem__)
    return fusion.ranked(scores, RETURNED)


def minilm(index: Index, encoders: Encoders, question: str) -> Ranking:
    return fusion.ranked(index.cosines(question, encoders, range(index.size)), RETURNED)


def lexical_and_dense(index: Index, encoders: Encoders, question: str) -> Ranking:
    lexical = index.lexical(question)
    cosines = index.cosines(question, encoders, range(index.size))
    arms = [fusion.scaled(lexical), {k: fusion.DENSE_WEIGHT * v for k, v in cosines.items()}]
    return fusion.ranked(fusion.fused(arms), RETURNED)


def everything(index: Index, encoders: Encoders, question: str) -> Ranking:
    lexical, semantic = index.lexical(question), index.semantic(question, encoders)
    first = {key for arm in (lexical, semantic) for key in list(arm)[:DENSE_CANDIDATES]}
    cosines = index.cosines(question, encoders, first)
    arms = [
        fusion.scaled(lexical, fusion.LEXICAL_WEIGHT),
        fusion.scaled(semantic, fusion.SPARSE_WEIGHT),
        {key: fusion.DENSE_WEIGHT * cosine for key, cosine in cosines.items()},
    ]
    scores = fusion.boosted(fusion.fused(arms), index.beside.__getitem__)
    return fusion.ranked(scores, RETURNED)


SYSTEMS: dict[str, System] = {
    "bm25": bm25,
    "sparse": splade,
    "bm25 + sparse": fused,
    "default (+ neighbours)": neighbours,
}
DENSE_SYSTEMS: dict[str, System] = {
    "dense": minilm,
    "bm25 + dense": lexical_and_dense,
    "default + dense": everything,
}


def _fused(index: Index, encoders: Encoders, question: str) -> dict[int, float]:
    return fusion.fused(
        [
            fusion.scaled(index.lexical(question), fusion.LEXICAL_WEIGHT),
            fusion.scaled(index.semantic(question, encoders), fusion.SPARSE_WEIGHT),
        ]
    )


def score(ranking: Sequence[str], evidence: frozenset[str]) -> Scores:
    """Score one question; all of *evidence* is equally right.

    >>> score(["x", "a", "b"], frozenset("ab"))
    Scores(recall5=1.0, recall10=1.0, mrr=0.5, ndcg=0.6934264036172708)
    """
    ids = list(dict.fromkeys(ranking))[:RETURNED]
    places = [place for place, name in enumerate(ids, 1) if name in evidence]
    gain = sum(1 / math.log2(place + 1) for place in places if place <= 10)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(10, len(evidence)) + 1))
    return Scores(
        sum(place <= 5 for place in places) / len(evidence),
        sum(place <= 10 for place in places) / len(evidence),
        1 / places[0] if places else 0.0,
        gain / ideal,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=cache_home(os.environ, sys.platform))
    parser.add_argument("--dense", action="store_true", help="also the systems that need minilm")
    parser.add_argument("--pool", action="store_true", help="also all corpora as one index")
    options = parser.parse_args()
    corpora, questions = read(options.data)
    encoders = Encoders(
        sparse_encoder("splade-tiny", options.cache),
        dense_encoder("minilm", options.cache) if options.dense else None,
    )
    memories = [memory for corpus in corpora.values() for memory in corpus]
    began = time.process_time()
    texts = [memory.text for memory in memories]
    encoded = encoders.sparse.encode_docs(texts, progress=show)
    rows = dict(zip((memory.id for memory in memories), encoded, strict=True))
    spent = (time.process_time() - began) / len(memories)
    print(f"\n{len(memories)} memories, {len(questions)} questions; {spent * 1000:.1f} ms a memory")
    dense: dict[str, Any] = {}
    if encoders.dense:
        matrix = encoders.dense.encode(texts, "document", progress=show)
        dense = dict(zip((memory.id for memory in memories), matrix, strict=True))
    systems = SYSTEMS | (DENSE_SYSTEMS if options.dense else {})
    settings = {"each corpus by itself": corpora}
    if options.pool:
        settings["all corpora as one"] = dict.fromkeys(corpora, memories)
    for title, groups in settings.items():
        built: dict[int, Index] = {}
        indexes = {}
        for corpus, members in groups.items():
            if id(members) not in built:
                built[id(members)] = Index(members, rows, dense)
            indexes[corpus] = built[id(members)]
        report(title, systems, indexes, encoders, questions)


def read(path: Path) -> tuple[dict[str, list[Memory]], list[Question]]:
    """Return the memories of each corpus, in order, and the questions; ids tell their corpus."""
    corpora: dict[str, list[Memory]] = defaultdict(list)
    questions = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            item = json.loads(line)
            corpus = item["corpus"]
            if item["kind"] == "memory":
                session = (corpus, item["session"])
                corpora[corpus].append(
                    Memory(f"{corpus}/{item['id']}", session, item["at"], item["text"])
                )
            else:
                evidence = frozenset(f"{corpus}/{name}" for name in item["evidence"])
                questions.append(Question(corpus, item["category"], item["text"], evidence))
    return dict(corpora), questions


def report(
    title: str,
    systems: Mapping[str, System],
    indexes: Mapping[str, Index],
    encoders: Encoders,
    questions: Sequence[Question],
) -> None:
    categories = sorted({question.category for question in questions})
    print(f"\n{title}: recall@5 recall@10 MRR nDCG@10 over all but adversarial; CPU ms a question")
    print(
        f"{'':24}{'R@5':>6}{'R@10':>6}{'MRR':>6}{'nDCG':>6}{'p50':>7}{'p95':>6}   nDCG@10: ", end=""
    )
    print(" ".join(f"{name:>11}" for name in [*categories, "all"]))
    for name, system in systems.items():
        found: dict[str, list[Scores]] = defaultdict(list)
        times = []
        for question in questions:
            index = indexes[question.corpus]
            began = time.process_time()
            ranking = system(index, encoders, question.text)
            times.append(time.process_time() - began)
            result = score([index.ids[number] for number, _ in ranking], question.evidence)
            for group in (question.category, "all", "answerable"):
                if group != "answerable" or question.category != "adversarial":
                    found[group].append(result)
        times.sort()
        means = [sum(column) / len(column) for column in zip(*found["answerable"], strict=True)]
        print(f"{name:24}" + "".join(f"{mean:6.3f}" for mean in means), end="")
        print(
            f"{times[len(times) // 2] * 1e3:7.2f}{times[len(times) * 95 // 100] * 1e3:6.1f}", end=""
        )
        print(" " * 13, end="")
        groups = [found[group] for group in [*categories, "all"]]
        print(" ".join(f"{sum(s.ndcg for s in group) / len(group):11.3f}" for group in groups))


def show(done: int, total: int) -> None:
    if sys.stderr.isatty() and done % 64 == 0:
        print(f"\r{done}/{total}", end="", file=sys.stderr)


if __name__ == "__main__":
    main()
