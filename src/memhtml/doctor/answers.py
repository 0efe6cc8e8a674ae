"""Asking the questions that memories say they answer; see `memhtml.search.answers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.doctor.finding import Finding
from memhtml.model.shell import quoted
from memhtml.search.answers import DEPTH, WITHIN, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.corpus import Corpus
    from memhtml.search.hits import Hits

__all__ = ["QUESTIONS_ASKED", "unanswered"]

QUESTIONS_ASKED = 50
"""A search takes some 20 ms in a large store, and a look at the store should not wait for many."""


def unanswered(corpus: Corpus, *, limit: int | None) -> Iterator[Finding]:
    """Yield the questions whose answer is not among the first hits, asking *limit* at most.

    Those of the memories that changed last are asked first, and how many are left is told.
    """

    def ask(text: str) -> Hits:
        return corpus.search(text, limit=DEPTH, scan=False)

    questions = corpus.questions()
    for question in questions[:limit]:
        found = answer(question, ask)
        if found.is_found():
            continue
        place = f"at place {found.rank}" if found.rank else f"not among the first {DEPTH}"
        by = "" if question.asked_by == question.path else f", as {question.asked_by!r} did"
        yield Finding(
            code="answer-not-found",
            path=question.path,
            message=f"it says it answers {question.text!r}{by}, and is {place}, not in {WITHIN}",
            hint=f"memhtml search {quoted(question.text)} --explain",
        )
    left = 0 if limit is None else max(0, len(questions) - limit)
    if left:
        yield Finding(
            code="answers-not-asked",
            message=f"{left} of {len(questions)} questions were not asked",
            hint="memhtml doctor --answers",
        )
