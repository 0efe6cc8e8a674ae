"""From a question to ranked candidates: arms, fusion, neighbours, signals, relevance.

Scores are added (`memhtml.scoring.fusion`). Only what an arm found, or what stands beside that, is
ever a candidate: recency and salience reorder candidates by a few percent and find none. So an
empty ranking means that nothing matches, and a weak one is told by its relevance.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import ModelUnavailable
from memhtml.scoring import fusion
from memhtml.search.arms import lexical, recency, salience, sparse
from memhtml.search.beside import beside
from memhtml.search.hits import ArmScore, Explanation
from memhtml.search.matching import holders, match_terms
from memhtml.search.pool import Pool
from memhtml.search.relevance import Evidence, is_answer, relevance_of
from memhtml.search.scope import narrowed
from memhtml.search.terms import terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from memhtml.index.vectors import Space
    from memhtml.model.ports import SparseQueries, SparseRow
    from memhtml.search.arms.dense import DenseQuestions
    from memhtml.search.arms.salience import UsageReader
    from memhtml.search.matching import Matching
    from memhtml.search.scope import Scope

__all__ = ["Means", "Ranking", "rank"]

NEIGHBOUR = "neighbour"

GIVERS = 100
"""So many of the best lend a share to those beside them. A share of less would move nothing."""

SIGNALLED = 60
"""Signals are asked about so many of the best: a rise of 5 % moves nobody else to the front."""


class Means(NamedTuple):
    """What a search may use beside the words of the index."""

    queries: SparseQueries | None = None
    """The question side of the sparse space, if there is one."""
    unavailable: str | None = None
    """Why there is none, as a sentence without its full stop."""
    dense: DenseQuestions | None = None
    """The question side of the dense space, where a process has it loaded."""
    dense_unavailable: str | None = None
    """Why it is not there though the index has vectors of it, as such a sentence."""
    usage: UsageReader | None = None
    """How memories were used, if anybody knows."""
    now: str | None = None
    """The instant to be recent at; when the index was brought up to date, if not given."""
    with_neighbours: bool = True


class _Arm(NamedTuple):
    name: str
    weight: float
    scores: Mapping[int, float]
    """Best first."""
    unit: float | None = None
    """The score that counts as the whole weight; the best one, if not given."""

    @property
    def best(self) -> float:
        """What the scores are divided by."""
        return next(iter(self.scores.values())) if self.unit is None else self.unit

    @property
    def shares(self) -> dict[int, float]:
        """What the arm adds to the sum, for each that it found."""
        if self.unit is None:
            return fusion.scaled(self.scores, self.weight)
        return {n: self.weight * s / self.unit for n, s in self.scores.items()}


class Ranking:
    """Candidates in order, and everything their places were computed from."""

    def __init__(
        self,
        pool: Pool,
        *,
        matching: Matching,
        means: Means,
        space: Space | None,
        dense_space: Space | None,
        dense_reason: str | None,
        arms: Sequence[_Arm],
        texts: Mapping[int, sparse.Found],
    ) -> None:
        self.matching = matching
        self.space = space
        self.dense_space = dense_space
        self.texts = texts
        """Of each memory that the sparse arm found, the text that it was found by."""
        self.arms = tuple(arm.name for arm in arms)
        self.order: list[int] = []
        self._pool = pool
        self._means = means
        self._dense_reason = dense_reason
        self._arms = arms
        self._fused: dict[int, float] = {}
        self._total: dict[int, float] = {}
        self._rises: dict[int, tuple[float, float]] = {}
        self._held: dict[int, set[int]] = {}
        self._rows: dict[int, list[SparseRow]] = {}
        self._relevance: dict[int, float] = {}
        self._meanings: list[dict[int, int]] = []
        self._ranks: dict[tuple[str, int], dict[int, int]] = {}

    @property
    def attainable(self) -> float:
        """What the arms that ran give at most together."""
        return sum(arm.weight for arm in self._arms)

    def total(self, file_id: int) -> float:
        """What a candidate is ordered by."""
        return self._total[file_id]

    def score(self, file_id: int) -> float:
        """The part that a candidate has of what all arms could give."""
        return min(1.0, self._total[file_id] / self.attainable)

    def sparse_rows(self, ids: Iterable[int]) -> Mapping[int, Sequence[SparseRow]]:
        """Return the sparse rows of *ids*; of those that have none, nothing."""
        if self.space is None:
            return {}
        if missing := [file_id for file_id in ids if file_id not in self._rows]:
            read = sparse.rows_of(self._pool.connection, self.space, missing)
            self._rows.update({file_id: read.get(file_id, []) for file_id in missing})
        return self._rows

    def weigh(self, ids: Sequence[int]) -> dict[int, float]:
        """Return how relevant each of *ids* is, 0 to 1."""
        missing = [file_id for file_id in ids if file_id not in self._relevance]
        if missing:
            held = holders(self._pool.connection, self.matching, missing)
            self._held.update({file_id: held.get(file_id, set()) for file_id in missing})
            rows = self.sparse_rows(missing)
            queries = None if self.space is None else self._means.queries
            if queries is not None and not self._meanings:
                self._meanings = [queries.query(term.text) for term in self.matching.terms]
            for file_id in missing:
                self._relevance[file_id] = relevance_of(
                    self.matching, self._held[file_id], rows.get(file_id, ()), self._meanings
                )
        return {file_id: self._relevance[file_id] for file_id in ids}

    def explain(self, file_id: int) -> Explanation:
        """Return how a candidate came by its place. It has been weighed before."""
        scores = []
        for arm in self._arms:
            if file_id in arm.scores:
                place, raw = self._rank_of(arm, file_id), arm.scores[file_id]
                scores.append(ArmScore(arm.name, place, raw, arm.best, arm.weight))
        rises = self._rises[file_id]
        own = sum(score.share for score in scores)
        held = self._held[file_id]
        terms = self.matching.terms
        return Explanation(
            arms=tuple(scores),
            neighbour=max(0.0, self._fused[file_id] - own),
            recency=rises[0],
            salience=rises[1],
            total=self._total[file_id],
            matched=tuple(term.text for n, term in enumerate(terms) if n in held),
            missing=tuple(term.text for n, term in enumerate(terms) if n not in held),
        )

    def is_answer(self, ids: Sequence[int]) -> bool:
        """Whether the candidates answer, of which *ids* are the best."""
        terms = self.matching.terms
        if any(term.required for term in terms):
            return True  # they have what was demanded to the letter
        relevance = self.weigh(ids)
        most = max(ids, key=relevance.__getitem__)
        # Of a memory that is not encoded yet, no model says what it means.
        meaning = self._scores(sparse.NAME) if self.sparse_rows([most]).get(most) else []
        return is_answer(
            Evidence(
                relevances=sorted(relevance.values(), reverse=True),
                words=self._scores(lexical.NAME),
                meaning=meaning,
                terms=sum(not term.has_parts for term in terms),
            )
        )

    @property
    def is_spoken(self) -> bool:
        """Whether some candidate has a word of the question."""
        return bool(self._scores(lexical.NAME))

    def _scores(self, name: str) -> list[float]:
        """Return what the arm *name* gave, best first; nothing if it did not run."""
        return next((list(arm.scores.values()) for arm in self._arms if arm.name == name), [])

    def holds_any(self, file_id: int) -> bool:
        """Whether a weighed candidate has a word of the question."""
        return bool(self._held[file_id])

    def append(self, ids: Iterable[int], lexical_scores: Mapping[int, float]) -> None:
        """Add candidates behind all others, with what the lexical arm says of them."""
        (arm,) = [arm for arm in self._arms if arm.name == lexical.NAME]
        best = max(lexical_scores.values(), default=0.0)
        for file_id in ids:
            share = arm.weight * lexical_scores[file_id] / best if best > 0.0 else 0.0
            self._fused[file_id] = self._total[file_id] = share
            self._rises[file_id] = (0.0, 0.0)
            self.order.append(file_id)
        self._arms = [
            arm._replace(scores=lexical_scores) if one is arm else one for one in self._arms
        ]

    @property
    def covered(self) -> int:
        """How many texts have vectors that took part."""
        return max((s.covered for s in (self.space, self.dense_space) if s is not None), default=0)

    @property
    def degraded_reason(self) -> str | None:
        """Why vectors that might have taken part did not, as a sentence without its full stop."""
        reasons = [self._means.unavailable, self._dense_reason]
        if self.space is None and self._means.queries is not None:
            reasons.append(_unembedded(self._means.queries.space_id))
        elif self.space is None and self.dense_space is None and not any(reasons):
            return "no model for meaning was asked for"
        return "; ".join(filter(None, reasons)) or None

    def _rank_of(self, arm: _Arm, file_id: int) -> int:
        key = (arm.name, len(arm.scores))
        if key not in self._ranks:
            self._ranks[key] = {found: place for place, found in enumerate(arm.scores, 1)}
        return self._ranks[key][file_id]

    def settle(self, fused: Mapping[int, float], now: str) -> None:
        """Put the candidates in order; signals order the best of them."""
        candidates = self._pool.find(fused)
        self._fused = dict(fused)
        self._total = dict(fused)
        self._rises = dict.fromkeys(fused, (0.0, 0.0))
        best = {n: candidates[n] for n, _ in fusion.ranked(fused, SIGNALLED)}
        usage: Mapping[str, salience.Usage] = {}
        if self._means.usage is not None:
            usage = self._means.usage([candidate.path for candidate in best.values()])
        for file_id, candidate in best.items():
            used = usage.get(candidate.path)
            rises = (
                recency.WEIGHT * recency.value(candidate.news_at, now),
                0.0 if used is None else salience.WEIGHT * salience.value(used, now),
            )
            self._rises[file_id] = rises
            self._total[file_id] = fusion.nudged(fused[file_id], [(rise, 1.0) for rise in rises])
        self.order = sorted(candidates, key=lambda n: (-self._total[n], candidates[n].path))


def rank(
    connection: apsw.Connection,
    text: str,
    scope: Scope,
    means: Means,
    *,
    files: int,
    depth: int,
    now: str,
) -> Ranking:
    """Rank the memories in *scope* by *text*, in an index of *files*, each arm *depth* deep."""
    matching = match_terms(connection, terms_of(text), files)
    pool = Pool(connection, narrowed(connection, scope))
    arms: list[_Arm] = []
    if (expression := matching.expression) is not None:
        scores = lexical.find(pool, expression, depth)
        arms.append(_Arm(lexical.NAME, fusion.LEXICAL_WEIGHT, scores))
    space = sparse.usable_space(connection, means.queries)
    texts: dict[int, sparse.Found] = {}
    demanded = any(term.required for term in matching.terms)
    if space is not None and means.queries is not None and matching.terms:
        if demanded:
            # Meaning ranks what has the words that were demanded, and adds nothing to them.
            pool = pool.only(arms[0].scores if arms else ())
        texts = sparse.find(pool, space, means.queries.query(text), depth)
        scores = {file_id: float(found.score) for file_id, found in texts.items()}
        arms.append(_Arm(sparse.NAME, fusion.SPARSE_WEIGHT, scores))
    dense_space, dense_reason = None, means.dense_unavailable
    if means.dense is not None and matching.terms:
        try:
            dense_space = _add_dense(pool, means.dense, text, arms, depth, demanded=demanded)
            if dense_space is None:
                dense_reason = _unembedded(means.dense.space_id)
        except ModelUnavailable as error:
            dense_reason = error.message
    ranking = Ranking(
        pool,
        matching=matching,
        means=means,
        space=space,
        dense_space=dense_space,
        dense_reason=dense_reason,
        arms=arms,
        texts=texts,
    )
    fused = fusion.fused(arm.shares for arm in arms)
    if fused and means.with_neighbours and not demanded:
        fused = _with_neighbours(pool, fused)
    if fused:
        ranking.settle(fused, now)
    return ranking


def _unembedded(space_id: str) -> str:
    return f"the index has no vectors of {space_id}; memhtml index embed makes them"


def _add_dense(
    pool: Pool,
    questions: DenseQuestions,
    text: str,
    arms: list[_Arm],
    depth: int,
    *,
    demanded: bool,
) -> Space | None:
    """Add the dense arm to *arms*; return its space, if the index has rows of that."""
    from memhtml.search.arms import dense  # noqa: PLC0415 - most processes have no dense model

    space = dense.usable_space(pool.connection, questions)
    if space is None:
        return None
    vector = questions.vector(text)
    if demanded or any(arm.name == sparse.NAME for arm in arms):
        best = {n for arm in arms for n in itertools.islice(arm.scores, dense.JUDGED)}
        scores = dense.judged(pool.connection, space, vector, best)
    else:
        scores = dense.find(pool, space, questions, vector, depth)
    # A cosine of nothing, or less, is no find.
    scores = {file_id: cosine for file_id, cosine in scores.items() if cosine > 0.0}
    arms.append(_Arm(dense.NAME, fusion.DENSE_WEIGHT, scores, unit=1.0))
    return space


def _with_neighbours(pool: Pool, fused: Mapping[int, float]) -> dict[int, float]:
    givers = dict(fusion.ranked(fused, GIVERS))
    near = beside(pool.connection, givers)
    boosted = fusion.boosted(givers, lambda n: near.get(n, ()))
    strangers = pool.find(n for n in boosted if n not in fused)
    gains = {
        n: score - givers.get(n, 0.0)
        for n, score in boosted.items()
        if n in fused or n in strangers
    }
    return {n: fused.get(n, 0.0) + gains.get(n, 0.0) for n in (*fused, *gains)}
