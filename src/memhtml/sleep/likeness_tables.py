"""Likeness by dense vectors, sparse rows or words: each memory's nearest, found once a run.

All three are cosines. The sparse two share their arithmetic: rows of terms and weights, and an
inverted list a term, added up with numpy where it is there. A term that a quarter of the memories
have tells none from another and would cost a quarter of all pairs, so it is left out; and so are
the lightest terms of a long row. Words are weighed by how rare they are (idf), and those of the
claim count twice.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from memhtml.index import vectors
from memhtml.index.vectors import Space
from memhtml.sleep.likeness import Pair
from memhtml.sleep.wording import content_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    import apsw

    from memhtml.index.database import Index
    from memhtml.sleep.likeness import Likeness
    from memhtml.sleep.population import Live, Population

__all__ = ["best_likeness"]

_LEAST_COVER = 0.95
"""Below, memories without a vector would be alike to nothing, so the next basis serves."""
_DEPTH = 12
_FLOOR = 0.3
"""Neighbours are kept this deep and down to this score; who asks for more makes it anew."""
_COMMON_SHARE = 4
_FEW_MEMORIES = 200
"""In a smaller store a word that a quarter of the memories have may well tell them apart."""
_MOST_TERMS = 48
_MOST_CHARS = 2000
"""Of an article: what comes later is rarely what a memory is about."""
_POSTINGS_WITHOUT_NUMPY = 128
_MOST_NEW = 0.1
"""Share of memories from which on all are compared anew."""
_BLOCK = 512
_DIGITS = 5
"""Scores are rounded, since sums of floats differ in their last digits with their order."""

_SPACES = "SELECT id, kind, name, dims, covered FROM spaces WHERE kind = ? AND covered > 0"
_FIRST_TEXTS = "SELECT file_id, text_id FROM chunks WHERE ordinal = 0 ORDER BY file_id"
_BATCH = 500

Row = dict[int, float]
"""Terms with weights; of unit length."""


def best_likeness(
    population: Population, index: Index | None, earlier: Likeness | None = None
) -> Likeness:
    """Return likeness on the best basis; see `memhtml.sleep.likeness.likeness_of`."""
    live = [memory for memory in population if not memory.archived]
    claims = {memory.path for memory in population.claims}
    before = earlier if isinstance(earlier, _Nearness) else None
    measure = _measure(live, index, before)
    return _Nearness(live, claims, measure, before)


class _Measure(Protocol):
    """How likeness is measured between memories that are called by their position."""

    basis: str

    def neighbours(
        self, chosen: Sequence[int], floor: float, depth: int, of: Container[int] | None = None
    ) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Yield each of *chosen* with its *depth* nearest among them, best first.

        *of* are those of them to be told of; None: all.
        """

    def scores(self, one: int, others: Sequence[int]) -> list[float]:
        """Return how like *one* each of *others* is."""


class _Nearness:
    """A `Likeness`."""

    def __init__(
        self,
        live: Sequence[Live],
        claims: set[str],
        measure: _Measure,
        earlier: _Nearness | None,
    ) -> None:
        self.basis = measure.basis
        self.measure = measure
        self.live = live
        self._places = {memory.path: place for place, memory in enumerate(live)}
        self._claims = [place for place, memory in enumerate(live) if memory.path in claims]
        self.earlier: _Nearness | None = earlier.last_compared() if earlier else None
        self.table: dict[int, list[tuple[int, float]]] | None = None

    def pairs(
        self, paths: Iterable[str] | None = None, *, floor: float, top: int, limit: int
    ) -> list[Pair]:
        """Return what `Likeness.pairs` says."""
        if paths is None:
            chosen = self._claims
        else:
            chosen = sorted({self._places[path] for path in paths if path in self._places})
        found: dict[tuple[str, str], float] = {}
        for place, near in self._neighbours(chosen, floor, top):
            for other, score in near[:top]:
                if score < floor:
                    break
                one, two = sorted((self.live[place].path, self.live[other].path))
                found[one, two] = max(score, found.get((one, two), 0.0))
        ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[: max(limit, 0)]
        return [Pair(one, other, score, self.basis) for (one, other), score in ranked]

    def nearest(self, path: str, among: Iterable[str], *, top: int) -> list[tuple[str, float]]:
        """Return what `Likeness.nearest` says; archived memories are like nothing."""
        one = self._places.get(path)
        if one is None:
            return []
        others = sorted({self._places[other] for other in among if other in self._places} - {one})
        scored = zip(others, self.measure.scores(one, others), strict=True)
        ranked = sorted((-score, self.live[other].path) for other, score in scored if score > 0)
        return [(other, -score) for score, other in ranked[: max(top, 0)]]

    def last_compared(self) -> _Nearness | None:
        """Return this, or the one before it that has compared anything."""
        return self.earlier if self.table is None else self

    def _neighbours(
        self, chosen: list[int], floor: float, top: int
    ) -> Iterable[tuple[int, list[tuple[int, float]]]]:
        if chosen != self._claims or floor < _FLOOR or top > _DEPTH:
            return self.measure.neighbours(chosen, floor, top)
        if self.table is None:
            self.table = self._taken_over() or dict(self.measure.neighbours(chosen, _FLOOR, _DEPTH))
            self.earlier = None
        return self.table.items()

    def _taken_over(self) -> dict[int, list[tuple[int, float]]] | None:
        """Return the table of the earlier likeness, brought up to date; None if much is new.

        What has gone is left out, and what is new is compared with all the others.
        """
        before = self.earlier
        if before is None or before.table is None or before.basis != self.basis:
            return None
        known = {m.id: (place, m.content_hash) for place, m in enumerate(before.live)}
        now: dict[int, int] = {}
        new: set[int] = set()
        for place in self._claims:
            memory = self.live[place]
            old, content_hash = known.get(memory.id, (-1, ""))
            if content_hash == memory.content_hash and old in before.table:
                now[old] = place
            else:
                new.add(place)
        if len(new) > _MOST_NEW * len(self._claims):
            return None
        table = {
            place: [(now[n], score) for n, score in before.table[old] if n in now]
            for old, place in now.items()
        }
        for place, near in self.measure.neighbours(self._claims, _FLOOR, _DEPTH, new):
            table[place] = near
            for other, score in near:
                if other not in new:
                    table[other].append((place, score))
                    table[other].sort(key=lambda item: (-item[1], item[0]))
        return dict(sorted(table.items()))


def _measure(live: Sequence[Live], index: Index | None, earlier: _Nearness | None) -> _Measure:
    if index is not None and live:
        with index.reading("compare the memories") as connection:
            dense = _dense_rows(connection, live) if find_spec("numpy") is not None else None
            if dense is not None:
                return _Dense(*dense)
            sparse = _sparse_rows(connection, live)
            if sparse is not None:
                return _Terms("sparse", sparse)
    known = earlier.measure.bags if earlier and isinstance(earlier.measure, _Words) else {}
    return _Words(live, known)


# Sparse rows and words


class _Terms:
    """Likeness of rows of terms."""

    def __init__(self, basis: str, rows: Iterable[Row]) -> None:
        self.basis = basis
        self._rows = _told_apart(list(rows))

    def neighbours(
        self, chosen: Sequence[int], floor: float, depth: int, of: Container[int] | None = None
    ) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Yield each of *chosen* with its nearest."""
        if find_spec("numpy") is None:
            yield from self._neighbours_in_python(chosen, floor, depth, of)
            return
        np = _numpy()
        postings = {
            term: (np.array(docs, np.int32), np.array(weights))
            for term, (docs, weights) in self._postings(chosen).items()
        }
        size = len(chosen)
        for place, one in enumerate(chosen):
            if of is not None and one not in of:
                continue
            row = self._rows[one]
            parts = [postings[term] for term in row]
            if not parts:
                yield one, []
                continue
            docs = np.concatenate([docs for docs, _ in parts])
            weights = np.concatenate(
                [w * own for (_, w), own in zip(parts, row.values(), strict=True)]
            )
            if len(docs) > size:
                totals = np.bincount(docs, weights, size)
                totals[place] = 0.0
                found = np.flatnonzero(totals >= floor)
                scores = totals[found]
            else:
                found, back = np.unique(docs, return_inverse=True)
                scores = np.bincount(back, weights)
                kept = (scores >= floor) & (found != place)
                found, scores = found[kept], scores[kept]
            yield one, [(chosen[n], score) for n, score in _best(np, found, scores, depth)]

    def scores(self, one: int, others: Sequence[int]) -> list[float]:
        """Return how like *one* each of *others* is."""
        row = self._rows[one]
        return [_product(row, self._rows[other]) for other in others]

    def _postings(self, chosen: Sequence[int]) -> dict[int, tuple[list[int], list[float]]]:
        postings: dict[int, tuple[list[int], list[float]]] = {}
        for place, one in enumerate(chosen):
            for term, weight in self._rows[one].items():
                docs, weights = postings.setdefault(term, ([], []))
                docs.append(place)
                weights.append(weight)
        return postings

    def _neighbours_in_python(
        self, chosen: Sequence[int], floor: float, depth: int, of: Container[int] | None
    ) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        postings = self._postings(chosen)
        for place, one in enumerate(chosen):
            if of is not None and one not in of:
                continue
            row = self._rows[one]
            # Two memories that are alike share a rare term, so the common ones propose nobody.
            near = {
                other
                for term in row
                if len(docs := postings[term][0]) <= _POSTINGS_WITHOUT_NUMPY
                for other in docs
            }
            near.discard(place)
            scored = ((-_product(row, self._rows[chosen[n]]), chosen[n]) for n in near)
            best = sorted(item for item in scored if -item[0] >= floor)[:depth]
            yield one, [(other, -score) for score, other in best]


class _Words(_Terms):
    """Likeness by words."""

    def __init__(self, live: Sequence[Live], known: Mapping[str, Mapping[str, int]]) -> None:
        self.bags = {
            memory.content_hash: known.get(memory.content_hash) or _bag(memory) for memory in live
        }
        bags = [self.bags[memory.content_hash] for memory in live]
        counts = Counter(word for bag in bags for word in bag)
        numbers = {word: number for number, word in enumerate(counts)}
        idf = {word: math.log(1 + len(bags) / count) for word, count in counts.items()}
        super().__init__(
            "shingles",
            ({numbers[word]: times * idf[word] for word, times in bag.items()} for bag in bags),
        )


def _bag(memory: Live) -> Mapping[str, int]:
    """Return the words of a memory, those of its claim twice."""
    rest = content_of(memory.body[:_MOST_CHARS])
    claim = set(content_of(memory.gist))
    return {word: 2 if word in claim else 1 for word in dict.fromkeys([*claim, *rest])}


def _told_apart(rows: list[Row]) -> list[Row]:
    """Return *rows* of unit length, without terms that tell nothing."""
    counts = Counter(term for row in rows for term in row)
    most = len(rows) if len(rows) < _FEW_MEMORIES else len(rows) // _COMMON_SHARE
    made = []
    for row in rows:
        telling = [(term, weight) for term, weight in row.items() if counts[term] <= most]
        if len(telling) > _MOST_TERMS:
            telling = sorted(telling, key=lambda item: (-item[1], item[0]))[:_MOST_TERMS]
        length = math.sqrt(sum(weight * weight for _, weight in telling))
        made.append({term: weight / length for term, weight in telling} if length else {})
    return made


def _product(one: Row, other: Row) -> float:
    if len(other) < len(one):
        one, other = other, one
    return round(
        min(1.0, sum(weight * other[term] for term, weight in one.items() if term in other)),
        _DIGITS,
    )


# Dense vectors


class _Dense:
    """Likeness of dense vectors."""

    basis = "dense"

    def __init__(self, rows: Any) -> None:  # noqa: ANN401 - an array, and numpy comes late
        self._rows = rows

    def neighbours(
        self, chosen: Sequence[int], floor: float, depth: int, of: Container[int] | None = None
    ) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Yield each of *chosen* with its nearest."""
        np = _numpy()
        rows = self._rows[np.array(chosen, np.int64)] if chosen else self._rows[:0]
        places = [place for place, one in enumerate(chosen) if of is None or one in of]
        for start in range(0, len(places), _BLOCK):
            some = places[start : start + _BLOCK]
            for place, cosines in zip(some, rows[some] @ rows.T, strict=True):
                cosines[place] = -1.0
                found = np.flatnonzero(cosines >= floor)
                near = _best(np, found, cosines[found].astype(float), depth)
                yield chosen[place], [(chosen[n], score) for n, score in near]

    def scores(self, one: int, others: Sequence[int]) -> list[float]:
        """Return how like *one* each of *others* is."""
        np = _numpy()
        if not others:
            return []
        cosines = self._rows[np.array(others, np.int64)] @ self._rows[one]
        return [round(float(cosine), _DIGITS) for cosine in cosines]


def _best(np: Any, found: Any, scores: Any, depth: int) -> list[tuple[int, float]]:  # noqa: ANN401 - numpy comes late
    """Return the *depth* best of *found* with their scores, equal ones by position."""
    scores = np.minimum(np.round(scores, _DIGITS), 1.0)
    if len(found) > depth:
        reached = scores >= np.partition(scores, -depth)[-depth]
        found, scores = found[reached], scores[reached]
    order = np.lexsort((found, -scores))[:depth]
    return list(zip(found[order].tolist(), scores[order].tolist(), strict=True))


def _numpy() -> Any:  # noqa: ANN401 - a module
    return importlib.import_module("memhtml.providers.encoders.arrays").np


# Rows of the index


class _Cover(NamedTuple):
    space: Space
    texts: tuple[int | None, ...]
    """The first text of each memory."""


def _sparse_rows(connection: apsw.Connection, live: Sequence[Live]) -> list[Row] | None:
    cover = _cover(connection, "sparse", live)
    if cover is None:
        return None
    rows: dict[int, Row] = {}
    for batch in _batches(cover):
        for text, row in vectors.sparse_rows(connection, cover.space, batch).items():
            heavy = sorted(zip(row.weights, row.terms, strict=True), reverse=True)[:_MOST_TERMS]
            rows[text] = {term: float(weight) for weight, term in heavy}
    return [rows.get(text or 0, {}) for text in cover.texts] if _covers(rows, cover) else None


def _dense_rows(connection: apsw.Connection, live: Sequence[Live]) -> tuple[Any] | None:
    cover = _cover(connection, "dense", live)
    if cover is None:
        return None
    found: dict[int, bytes] = {}
    for batch in _batches(cover):
        found |= vectors.dense_vectors(connection, cover.space, batch)
    if not _covers(found, cover):
        return None
    np = _numpy()
    rows = np.zeros((len(live), cover.space.dims or 0), np.float32)
    for place, text in enumerate(cover.texts):
        if text in found:
            rows[place] = np.frombuffer(found[text], "<f4")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1.0),)


def _cover(connection: apsw.Connection, kind: str, live: Sequence[Live]) -> _Cover | None:
    row = connection.execute(_SPACES, (kind,)).fetchone()
    if row is None:
        return None
    texts = dict(connection.execute(_FIRST_TEXTS))
    return _Cover(Space._make(row), tuple(texts.get(memory.id) for memory in live))


def _covers(found: Mapping[int, object], cover: _Cover) -> bool:
    covered = sum(text in found for text in cover.texts)
    return covered >= _LEAST_COVER * len(cover.texts)


def _batches(cover: _Cover) -> Iterator[list[int]]:
    texts = sorted({text for text in cover.texts if text is not None})
    for start in range(0, len(texts), _BATCH):
        yield texts[start : start + _BATCH]
