"""Truth of curation: what a run merges, beside what it should have merged.

    python bench/curation.py [--seeds 1 7919] [--facts 400] [--model] [--misses N] [--out FILE]

For each seed a store is made (`bench/curation_store.py`), `sleep run` works on it without a
language model, and the commit it ends with is compared with the truth. The second seed is held
back: look at its figures, and at the misses of the first alone. ``--model`` encodes the store with
splade-tiny before, as a user who added it would have it.

- *precision*: of the memories that were archived for another that was there before, how many say
  the same; and of the names that were replaced, how many are the same thing. Bar: 0.99 together.
- *recall*: of the repetitions in the store, how many were merged with their own. Bar: 0.8.
- *across a veto*: merges of a fact with its near-twin, by what sets them apart. Bar: none.
- *numbered names*: how many of them are still names of their own. Bar: all.

Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.curation_store import NOW, Twin, Wording, make_curated

from memhtml.corpus import Corpus
from memhtml.format.parse import parse
from memhtml.format.render import render_memory
from memhtml.model.edges import path_of_href
from memhtml.model.entities import normalize_entity
from memhtml.model.instants import stamp
from memhtml.model.paths import original_path, path_fault
from memhtml.store.plan import Planned, Put

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.curation_store import Curated, Item

    from memhtml.store.repo import Repo

__all__ = ["Merge", "Score", "Seen", "build", "read_state", "score_run"]

SEEDS = (1, 7919)
PRECISION_BAR = 0.99
RECALL_BAR = 0.8


class Seen(NamedTuple):
    """What one file of a commit says that matters here."""

    claim: str
    content_hash: str
    entities: frozenset[str]
    """In normal form."""
    successor: str | None


class Merge(NamedTuple):
    """One memory that was archived for another."""

    dropped: Item
    kept: Item


class Score(NamedTuple):
    """What a run did, against the truth."""

    merges: tuple[Merge, ...]
    renames: tuple[tuple[str, str], ...]
    """Names that were replaced, each pair once."""
    wrong_renames: tuple[tuple[str, str], ...]
    crossed: Mapping[Twin, int]
    """Merges of near-twins."""
    repetitions: Mapping[Wording, int]
    """How many there are of each kind."""
    missed: tuple[Item, ...]
    """Repetitions that still stand by themselves, the first memory of a fact not counted."""
    numbered: int
    numbered_before: int
    alias_names: int
    """Names beyond the first of each person or project that has several."""
    alias_left: int
    folded: int
    """Archived for a summary that was not there before."""
    retired: int
    """Archived for nothing."""

    @property
    def wrong_merges(self) -> tuple[Merge, ...]:
        """Merges of two memories that do not say the same."""
        return tuple(merge for merge in self.merges if merge.dropped.fact != merge.kept.fact)

    @property
    def precision(self) -> float:
        """Of all merges and renames, how many are right; 1 when there is none."""
        made = len(self.merges) + len(self.renames)
        wrong = len(self.wrong_merges) + len(self.wrong_renames)
        return 1 - wrong / made if made else 1.0

    @property
    def recall(self) -> float:
        """Of all repetitions, how many were merged with their own."""
        wanted = sum(self.repetitions.values())
        return (len(self.merges) - len(self.wrong_merges)) / wanted if wanted else 1.0

    @property
    def faults(self) -> tuple[str, ...]:
        """Every bar that is missed."""
        found = []
        if self.precision < PRECISION_BAR:
            found.append(f"precision {self.precision:.4f} is below {PRECISION_BAR}")
        if self.recall < RECALL_BAR:
            found.append(f"recall {self.recall:.3f} is below {RECALL_BAR}")
        if sum(self.crossed.values()):
            found.append(f"{sum(self.crossed.values())} merges across a veto")
        if self.numbered != self.numbered_before:
            found.append(f"{self.numbered} of {self.numbered_before} numbered names are left")
        return tuple(found)


def build(root: str, curated: Curated) -> str:
    """Make a store of *curated* at *root*, one commit; return the commit."""
    Corpus.init(root, clock=lambda: NOW)
    puts = tuple(
        Put(item.path, render_memory(item.draft, at=stamp(item.at))[0]) for item in curated.items
    )
    with Corpus.open(root, clock=lambda: NOW, durability="none") as corpus:
        _, commit = corpus.carry_out(
            lambda _view, _now: Planned(result=None, steps=puts, subject="memhtml(bench): a store")
        )
    assert commit is not None
    return commit


def read_state(repo: Repo, commit: str) -> dict[str, Seen]:
    """Return what every memory of *commit* says, archived ones included."""
    shas = {
        entry.path: entry.sha for entry in repo.list_tree(commit) if path_fault(entry.path) is None
    }
    read = dict(repo.read_blobs(dict.fromkeys(shas.values())))
    documents = ((path, parse(read[sha])) for path, sha in shas.items())
    return {
        path: Seen(
            document.claim,
            document.content_hash,
            frozenset(map(normalize_entity, document.head.entities)),
            path_of_href(document.head.superseded_by or ""),
        )
        for path, document in documents
        if document.is_valid
    }


def _origin(path: str) -> str:
    """Return where what stands at *path* stood before it was archived."""
    return original_path(path) or path


def score_run(curated: Curated, before: Mapping[str, Seen], after: Mapping[str, Seen]) -> Score:
    """Compare what became of the memories of *before* with the truth."""
    places = _follow(before, after)
    items = {item.path: item for item in curated.items}
    merges, folded, retired = list[Merge](), 0, 0
    for path, item in items.items():
        place = places.get(path)
        if place is None:
            retired += 1
        elif original_path(place) is not None:
            successor = after[place].successor
            kept = items.get(_origin(successor)) if successor else None
            if kept is not None:
                merges.append(Merge(item, kept))
            elif successor is not None:
                folded += 1
            else:
                retired += 1
    right = {merge.dropped.path for merge in merges if merge.dropped.fact == merge.kept.fact}
    repeated = [item for item in curated.items if item.wording is not Wording.FIRST]
    renames = sorted(set(_renames(curated, before, after, places)))
    live = {
        entity
        for path, seen in after.items()
        if original_path(path) is None
        for entity in seen.entities
    }
    names = defaultdict(set)
    for entity, identity in curated.identities.items():
        names[identity].add(entity)
    several = [group for group in names.values() if len(group) > 1]
    return Score(
        merges=tuple(merges),
        renames=tuple(renames),
        wrong_renames=tuple(
            (one, other)
            for one, other in renames
            if curated.identities.get(one) != curated.identities.get(other)
        ),
        crossed=_crossed(curated, merges),
        repetitions=Counter(item.wording for item in repeated),
        missed=tuple(_missed(curated, right)),
        numbered=len(curated.numbered & live),
        numbered_before=len(curated.numbered),
        alias_names=sum(len(group) - 1 for group in several),
        alias_left=sum(max(0, len(group & live) - 1) for group in several),
        folded=folded,
        retired=retired,
    )


def _follow(before: Mapping[str, Seen], after: Mapping[str, Seen]) -> dict[str, str]:
    """Return where each memory of *before* stands: in its place, archived, or moved."""
    archived = {
        origin: path for path in after if (origin := original_path(path)) and path not in before
    }
    strays = defaultdict(list)
    for path, seen in sorted(after.items()):
        if path not in before and archived.get(original_path(path) or "") != path:
            strays[seen.content_hash].append(path)
    places = {}
    for path, seen in before.items():
        if path in after:
            places[path] = path
        elif path in archived:
            places[path] = archived[path]
        elif strays[seen.content_hash]:
            places[path] = strays[seen.content_hash].pop(0)
    return places


def _renames(
    curated: Curated,
    before: Mapping[str, Seen],
    after: Mapping[str, Seen],
    places: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    """Yield each name that left a memory with the one that came, or was there, in its place."""
    for path, place in places.items():
        came = after[place].entities - before[path].entities
        for gone in before[path].entities - after[place].entities:
            kind = gone.partition(":")[0]
            others = sorted(came or after[place].entities)
            alike = [other for other in others if other.partition(":")[0] == kind] or others
            identity = curated.identities.get(gone)
            same = [other for other in alike if curated.identities.get(other) == identity]
            # A name that is gone for nothing is as wrong as one that became another.
            yield gone, (same or alike or ["(nothing)"])[0]


def _crossed(curated: Curated, merges: list[Merge]) -> dict[Twin, int]:
    crossed: Counter[Twin] = Counter()
    for merge in merges:
        for one, other in (
            (merge.dropped.fact, merge.kept.fact),
            (merge.kept.fact, merge.dropped.fact),
        ):
            original, kind = curated.twins.get(one, (None, None))
            if kind is not None and original == other:
                crossed[kind] += 1
    return dict(crossed)


def _missed(curated: Curated, right: set[str]) -> Iterator[Item]:
    """Yield, of each fact, the repetitions that are left over: which of them is kept is free."""
    by_fact = defaultdict(list)
    for item in curated.items:
        by_fact[item.fact].append(item)
    for items in by_fact.values():
        left = [item for item in items if item.path not in right]
        left.sort(key=lambda item: list(Wording).index(item.wording))
        yield from left[1:]


# The bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--facts", type=int, default=400)
    parser.add_argument("--model", action="store_true", help="encode with splade-tiny first")
    parser.add_argument("--misses", type=int, default=0, help="show so many of the first seed")
    parser.add_argument("--out", type=Path, help="where the figures go as JSON")
    options = parser.parse_args()
    told, faults = {}, []
    for number, seed in enumerate(options.seeds):
        curated = make_curated(seed, facts=options.facts)
        with tempfile.TemporaryDirectory() as folder:
            begin = time.process_time()
            score, phases = _sleep(f"{folder}/store", curated, with_model=options.model)
            seconds = time.process_time() - begin
        told[seed] = figures(score) | {"memories": len(curated.items), "cpuSeconds": seconds}
        print(f"seed {seed}: {len(curated.items)} memories, {seconds:.1f} s of CPU")
        for name, value in figures(score).items():
            print(f"  {name:<22}{value}")
        for fault in (*score.faults, *phases):
            faults.append(fault)
            print(f"  FAULT {fault}")
        if number == 0:
            _show(curated, score, options.misses)
    if options.out is not None:
        options.out.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    sys.exit(1 if faults else 0)


def figures(score: Score) -> dict[str, object]:
    """Return the score as numbers with names."""
    left = Counter(item.wording for item in score.missed)
    return {
        "precision": round(score.precision, 4),
        "recall": round(score.recall, 4),
        **{
            f"recall, {wording}": round(1 - left[wording] / count, 4)
            for wording, count in sorted(score.repetitions.items())
        },
        "merges": len(score.merges),
        "wrongMerges": len(score.wrong_merges),
        "acrossVeto": {kind.value: count for kind, count in score.crossed.items()},
        "renames": len(score.renames),
        "wrongRenames": len(score.wrong_renames),
        "numberedNames": f"{score.numbered} of {score.numbered_before}",
        "aliasRecall": round(1 - score.alias_left / score.alias_names, 4),
        "folded": score.folded,
        "retired": score.retired,
    }


def _sleep(root: str, curated: Curated, *, with_model: bool) -> tuple[Score, list[str]]:
    """Run all phases on a store of *curated*; return the score, and the phases that failed."""
    from memhtml.sleep.runner import RunOptions, run  # noqa: PLC0415 - the scorer needs none

    base = build(root, curated)
    with Corpus.open(root, clock=lambda: NOW, durability="none") as corpus:
        corpus.update()
        if with_model:
            from memhtml.providers.encoders.load import sparse_encoder  # noqa: PLC0415 - as above
            from memhtml.providers.home import cache_folder  # noqa: PLC0415 - as above

            corpus.embed(sparse_encoder("splade-tiny", cache_folder(os.environ, sys.platform)))
        report = run(corpus, RunOptions())
        before, after = (read_state(corpus.repo, at) for at in (base, report.tip))
    return score_run(curated, before, after), [f"phase {name} failed" for name in report.failed]


def _show(curated: Curated, score: Score, misses: int) -> None:
    for merge in score.wrong_merges:
        print(f"  WRONG  {merge.dropped.draft.claim}\n         {merge.kept.draft.claim}")
    for one, other in score.wrong_renames:
        print(f"  WRONG  {one} became {other}")
    firsts = {item.fact: item for item in curated.items if item.wording is Wording.FIRST}
    for item in score.missed[:misses]:
        print(f"  MISSED {item.draft.claim}\n         {firsts[item.fact].draft.claim}")


if __name__ == "__main__":
    main()
