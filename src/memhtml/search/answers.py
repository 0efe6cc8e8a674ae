"""Questions that memories say they answer: the facet ``answers``, one value a question.

A memory whose author knows what it will be asked can say so, and then it is asked: whoever is not
among the first few answers to its own question is not found by the reader it was written for. A
question outlives its memory: what took its place has to answer it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.search.trail import StopReason, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from memhtml.index.database import Index
    from memhtml.search.hits import Hits

__all__ = ["DEPTH", "FACET", "WITHIN", "Answer", "Question", "answer", "questions"]

FACET = "answers"

WITHIN = 5
"""A question is answered when the memory is among so many of the first hits."""

DEPTH = 40
"""So many hits are looked at to tell where it stands instead."""

_QUESTIONS = f"""
SELECT f.path, f.archived, v.value FROM file_facets AS v JOIN files AS f ON f.id = v.file_id
WHERE v.name IN ('{FACET}', '{FACET.capitalize()}') AND f.memory_type <> 'task' AND v.value <> ''
ORDER BY f.updated_at DESC, f.path, v.value
"""  # noqa: S608 - our own word


class Question(NamedTuple):
    """A question and who has to answer it."""

    text: str
    path: str
    """The live memory that says so, or that took the place of one that did."""
    asked_by: str
    """The memory that says so."""


class Answer(NamedTuple):
    """Where a question leads."""

    question: Question
    rank: int | None
    """Of the memory that has to answer it, from 1; None when it is not among the hits."""

    def is_found(self, within: int = WITHIN) -> bool:
        """Whether that is near enough."""
        return self.rank is not None and self.rank <= within


def answer(question: Question, ask: Callable[[str], Hits]) -> Answer:
    """Ask *question* of whoever searches, `DEPTH` hits deep."""
    paths = [hit.path for hit in ask(question.text).hits]
    rank = paths.index(question.path) + 1 if question.path in paths else None
    return Answer(question, rank)


def questions(index: Index) -> list[Question]:
    """Return the questions of all memories, those changed last first, each pair once.

    One whose memory was archived without a successor is nobody's to answer any more.
    """
    with index.reading("list what memories answer") as connection:
        found: dict[tuple[str, str], Question] = {}
        rows: list[tuple[str, int, str]] = list(connection.execute(_QUESTIONS))
        for path, archived, text in rows:
            heir = _live(index, path) if archived else path
            if heir is not None:
                found.setdefault((text, heir), Question(text, heir, path))
    return list(found.values())


def _live(index: Index, path: str) -> str | None:
    trail = resolve(index, path)
    return trail.path if trail.stop_reason is StopReason.LIVE else None
