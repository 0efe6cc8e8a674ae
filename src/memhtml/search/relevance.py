"""Relevance: how much of a question a memory covers, and whether that is an answer at all.

Each term weighs what it tells apart, and one that no memory has weighs most: what is asked about
"the colour of the loading bay" is the colour, and a memory that has only the bay covers little. A
term that a memory has not, but means, counts in part: the sparse row of the memory says so.

Covering a part is an answer only from a memory that stands out. Where the bay is known and its
colour is not, everything about the bay matches equally well, and the ranking is flat at its top;
where a question merely uses other words than its answer, the answer still leads.

How small a part may be depends on who was asked. Words alone cannot tell a word that was said
otherwise from one that was not said. Where a model was asked, what is neither said nor meant is
missing: one shared word of two or three is no answer then. And what has none of the words, and only
means them, has to leave all others far behind.

The limits are the point where `bench/abstention.py` and the questions of `bench/retrieval.py` meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memhtml.model.ports import SparseRow
    from memhtml.search.matching import Matching

__all__ = ["Evidence", "is_answer", "relevance_of"]

FULL = 0.85
"""A memory that covers so much is an answer, however many there are like it."""

PARTIAL = 0.25
"""A memory that covers less is none, however far it stands out, where words alone were asked."""

JUDGED_PARTIAL = 0.2
"""The same where meaning was asked too. Of a question of less than five words it is the share of
one, for a single word that is shared never covers more."""

UNSPOKEN = 0.5
"""The same, for a memory that has no word of the question and only means it."""

CLEARLY_MEANT = 0.25
"""The same, where the best of those that mean it scores `CLEAR` times as much as the second."""

CLEAR = 2.0

STANDOUT = 0.1
"""The best score must be higher than the fifth by this part of itself."""

AMONG = 5

TIED = 0.05
"""Of three that score the same and cover the same, but for this part, none stands out."""

TIE = 3


class Evidence(NamedTuple):
    """What a ranking says for its best memories; all numbers are best first."""

    relevances: Sequence[float]
    words: Sequence[float]
    """Scores of the arm of words; none when no memory has a word of the question."""
    meaning: Sequence[float]
    """Scores of the arm of meaning; none where it was not asked, or found nothing."""
    terms: int
    """How many words the question has."""


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


def is_answer(found: Evidence) -> bool:
    """Whether a ranking answers.

    >>> is_answer(Evidence([1.0], [5.0] * 5, [], terms=4))
    True
    >>> one_leads = Evidence([0.6, 0.4], [5.0, 4.9], [], terms=4)
    >>> is_answer(one_leads), is_answer(one_leads._replace(words=[5.0] * 5))
    (True, False)
    """
    relevance = max(found.relevances, default=0.0)
    if relevance >= FULL:
        return True
    scores = found.words or found.meaning
    if not scores or not _leads(scores, AMONG, STANDOUT):
        return False
    if not found.words:
        return relevance >= UNSPOKEN or (
            relevance >= CLEARLY_MEANT and _leads(found.meaning, 2, 1 - 1 / CLEAR)
        )
    if not _leads(scores, TIE, TIED) and not _leads(found.relevances, TIE, TIED):
        return False
    if not found.meaning:
        return relevance >= PARTIAL
    return relevance >= max(JUDGED_PARTIAL, 1 / found.terms if found.terms > 1 else 0.0)


def _leads(scores: Sequence[float], place: int, part: float) -> bool:
    """Whether the first of *scores* is higher than the one at *place* by *part* of itself."""
    other = scores[place - 1] if len(scores) >= place else 0.0
    return scores[0] - other >= part * scores[0]


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
