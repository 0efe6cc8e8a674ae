"""Relevance: how much of a question a memory covers, and whether that is an answer at all.

Each term weighs what it tells apart, and one that no memory has weighs most: what is asked about
"the colour of the loading bay" is the colour, and a memory that has only the bay covers little. A
term that a memory has not, but means, counts in part: the sparse row of the memory says so.

Covering a part is an answer only from a memory that stands out. Where the bay is known and its
colour is not, everything about the bay matches equally well, and the ranking is flat at its top;
where a question merely uses other words than its answer, the answer still leads.

The three limits are the point where `bench/abstention.py` and the questions of `bench/retrieval.py`
meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memhtml.model.ports import SparseRow
    from memhtml.search.matching import Matching

__all__ = ["is_answer", "relevance_of"]

FULL = 0.85
"""A memory that covers so much is an answer, however many there are like it."""

PARTIAL = 0.25
"""A memory that covers less is none, however far it stands out."""

UNSPOKEN = 0.5
"""The same, for a memory that has no word of the question and only means it."""

STANDOUT = 0.1
"""The best score must be higher than the fifth by this part of itself."""

AMONG = 5


def relevance_of(
    matching: Matching,
    held: Iterable[int],
    rows: Iterable[SparseRow],
    meanings: Sequence[Mapping[int, int]],
) -> float:
    """Return the covered part of *matching*'s terms, by weight; *held* are places of terms.

    *rows* are the memory's own, and *meanings* what each term asks about in the same space.
    """
    had = set(held)
    # Of "title:engine", the whole counts where it is found; else its words speak for it.
    counted = {n for n, term in enumerate(matching.terms) if n in had or not term.has_parts}
    whole = sum(matching.weights[place] for place in counted)
    if not whole:
        return 0.0
    covered = sum(matching.weights[place] * matching.worths[place] for place in had)
    missing = [place for place in counted - had if not matching.terms[place].required]
    if missing and meanings:
        documents = [dict(zip(row.terms, row.weights, strict=True)) for row in rows]
        for place in missing:
            covered += matching.weights[place] * _meant(meanings[place], documents)
    return min(1.0, covered / whole)


def is_answer(relevance: float, scores: Sequence[float], *, is_spoken: bool) -> bool:
    """Whether a ranking answers, by the *relevance* of its most relevant memory.

    *scores* are those of one arm, best first; *is_spoken* tells that they are of words.

    >>> is_answer(1.0, [5.0] * 5, is_spoken=True)
    True
    >>> is_answer(0.6, [5.0] * 5, is_spoken=True), is_answer(0.6, [5.0, 4.9], is_spoken=True)
    (False, True)
    """
    if relevance >= FULL:
        return True
    fifth = scores[AMONG - 1] if len(scores) >= AMONG else 0.0
    stands_out = bool(scores) and scores[0] - fifth >= STANDOUT * scores[0]
    return stands_out and relevance >= (PARTIAL if is_spoken else UNSPOKEN)


def _meant(asked: Mapping[int, int], documents: Iterable[Mapping[int, int]]) -> float:
    """Return 0 to 1: how clearly some text of a memory means what one word asks about."""
    most = sum(weight * weight for weight in asked.values())
    if not most:
        return 0.0
    said = max(
        (
            sum(weight * document.get(term, 0) for term, weight in asked.items())
            for document in documents
        ),
        default=0,
    )
    return min(1.0, said / most)
