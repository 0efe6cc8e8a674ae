"""Retrieval quality: recall@5, recall@10, MRR and nDCG@10 over a file of memories and questions.

    python bench/retrieval.py --data FILE [--cache DIR] [--keep DIR] [--dense]

FILE has one JSON object a line: memories (``kind``, ``corpus``, ``id``, ``session``, ``at``,
``text``) and queries (``kind``, ``corpus``, ``id``, ``category``, ``text``, ``evidence``). Each
corpus becomes a store of its own, a memory a file, written, committed, indexed and encoded as any
other; every system but the floor is the product's own search with something switched off.

The floor, *plain bm25*, is FTS5 with ``porter`` over the bare texts, the words of the question
that are no stop words joined by OR. Answers are taken as they come: where search says that nothing
answers, the question scores nothing.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import apsw

from memhtml.index.database import open_index
from memhtml.index.embed import embed
from memhtml.index.indexer import update
from memhtml.providers.encoders.load import dense_encoder, query_table, sparse_encoder
from memhtml.providers.models import cache_home
from memhtml.scoring.stopwords import content_words
from memhtml.search.arms.dense import DenseQuestions
from memhtml.search.search import Means, search
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memhtml.index.database import Index

RETURNED = 100
NOW = "2026-01-01T00:00:00Z"

_word_re = re.compile(r"[^\W_]+")


class Memory(NamedTuple):
    id: str
    session: str
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


class Store(NamedTuple):
    """One corpus, twice: as a store of ours, and as the bare texts of the floor."""

    ours: Index
    bare: apsw.Connection
    ids: Mapping[str, str]
    """Of a path, the memory."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=cache_home(os.environ, sys.platform))
    parser.add_argument("--keep", type=Path, help="where stores stay for the next run")
    parser.add_argument("--dense", action="store_true", help="also with the dense model, minilm")
    options = parser.parse_args()
    corpora, questions = read(options.data)
    with tempfile.TemporaryDirectory() as folder:
        root = options.keep or Path(folder)
        stores = {name: build(root / name, m, options) for name, m in corpora.items()}
        report(systems(options.cache, with_dense=options.dense), stores, questions)


def systems(cache: Path, *, with_dense: bool) -> dict[str, Callable[[Store, str], list[str]]]:
    queries = query_table("splade-tiny", cache)

    def product(means: Means) -> Callable[[Store, str], list[str]]:
        def ask(store: Store, question: str) -> list[str]:
            found = search(store.ours, question, limit=RETURNED, means=means)
            return [store.ids[hit.path] for hit in found.hits]

        return ask

    found = {
        "plain bm25": plain_bm25,
        "words": product(Means(with_neighbours=False)),
        "words + sparse": product(Means(queries=queries, with_neighbours=False)),
        "default (+ neighbours)": product(Means(queries=queries)),
    }
    if with_dense:
        dense = DenseQuestions(dense_encoder("minilm", cache))
        found["words + dense"] = product(Means(dense=dense, with_neighbours=False))
        found["default + dense"] = product(Means(queries=queries, dense=dense))
    return found


def plain_bm25(store: Store, question: str) -> list[str]:
    words = content_words(_word_re.findall(question.lower()))
    found = store.bare.execute(
        "SELECT id FROM memories WHERE memories MATCH ? ORDER BY bm25(memories), rowid LIMIT ?",
        (" OR ".join(f'"{word}"' for word in words), RETURNED),
    )
    return [name for (name,) in found]


def build(root: Path, memories: Sequence[Memory], options: argparse.Namespace) -> Store:
    """Make a store of *memories*, or take the one that stands at *root*."""
    ids = {f"areas/turns/{number:04}.html": memory.id for number, memory in enumerate(memories)}
    if not (root / ".git").exists():
        for path, memory in zip(ids, memories, strict=True):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(page(memory), encoding="utf-8")
        git(root, "init", "-q", "-b", "main")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "memories")
    index = open_index(str(root))
    with Repo.open(str(root)) as repo:
        update(index, repo, now=NOW)
    embed(index, sparse_encoder("splade-tiny", options.cache))
    if options.dense:
        embed(index, dense_encoder("minilm", options.cache))
    bare = apsw.Connection(":memory:")
    bare.execute(
        "CREATE VIRTUAL TABLE memories USING fts5 (id UNINDEXED, text, "
        "tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    bare.executemany("INSERT INTO memories VALUES (?, ?)", [(m.id, m.text) for m in memories])
    return Store(index, bare, ids)


def page(memory: Memory) -> str:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{html.escape(memory.text[:60])}</title>
<meta name="memhtml-type" content="episodic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="{memory.at}">
<meta name="memhtml-updated" content="{memory.at}">
<meta name="memhtml-session" content="{memory.session}">
</head>
<body>
<article>
<p><mark>{html.escape(memory.text)}</mark></p>
</article>
</body>
</html>
"""


def git(root: Path, *args: str) -> None:
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    subprocess.run(("git", "-C", str(root), *who, *args), check=True)


def read(path: Path) -> tuple[dict[str, list[Memory]], list[Question]]:
    """Return the memories of each corpus, in order, and the questions."""
    corpora: dict[str, list[Memory]] = defaultdict(list)
    questions = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            item = json.loads(line)
            corpus = item["corpus"]
            if item["kind"] == "memory":
                session = f"{corpus}-{item['session']}"
                corpora[corpus].append(Memory(item["id"], session, item["at"], item["text"]))
            else:
                evidence = frozenset(item["evidence"])
                questions.append(Question(corpus, item["category"], item["text"], evidence))
    return dict(corpora), questions


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


def report(
    systems: Mapping[str, Callable[[Store, str], list[str]]],
    stores: Mapping[str, Store],
    questions: Sequence[Question],
) -> None:
    categories = sorted({question.category for question in questions})
    print(
        "recall@5 recall@10 MRR nDCG@10 over all but adversarial; CPU ms a question; empty answers"
    )
    print(
        f"{'':24}{'R@5':>6}{'R@10':>6}{'MRR':>6}{'nDCG':>6}{'p50':>7}{'p95':>6}{'empty':>7}", end=""
    )
    print("   nDCG@10: " + " ".join(f"{name:>11}" for name in [*categories, "all"]))
    for name, system in systems.items():
        found: dict[str, list[Scores]] = defaultdict(list)
        times = []
        empty = 0
        for question in questions:
            began = time.process_time()
            ranking = system(stores[question.corpus], question.text)
            times.append(time.process_time() - began)
            empty += not ranking
            result = score(ranking, question.evidence)
            for group in (question.category, "all", "answerable"):
                if group != "answerable" or question.category != "adversarial":
                    found[group].append(result)
        times.sort()
        means = [sum(column) / len(column) for column in zip(*found["answerable"], strict=True)]
        p50, p95 = (times[int(len(times) * at)] * 1e3 for at in (0.5, 0.95))
        print(f"{name:24}" + "".join(f"{mean:6.3f}" for mean in means), end="")
        print(f"{p50:7.2f}{p95:6.1f}{empty:7}" + " " * 12, end="")
        groups = [found[group] for group in [*categories, "all"]]
        print(" ".join(f"{sum(s.ndcg for s in group) / len(group):11.3f}" for group in groups))


if __name__ == "__main__":
    main()
