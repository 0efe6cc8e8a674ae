"""The words that memories have and that are most like one that none has.

The index knows stems, people know words: a stem that is near is shown as a word of a memory that
has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.index.analysis import folded
from memhtml.search.snippets import words_with_stem

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from memhtml.search.matching import Matching

__all__ = ["distance", "nearest_words"]

MAX_WORDS = 5
"""So many unmatched terms are looked after; each costs a walk over the words of its letter."""

MAX_SUGGESTIONS = 3
MIN_CHARS = 4
MOST_APART = 2
MAX_STEMS = 12

_NEAR = """
SELECT term, doc FROM vocabulary
WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?
"""
_BEARER = """
SELECT f.title || char(10) || b.text FROM files_fts
JOIN files AS f ON f.id = files_fts.rowid JOIN bodies AS b ON b.file_id = f.id
WHERE files_fts MATCH ? LIMIT 1
"""


def nearest_words(
    connection: apsw.Connection, matching: Matching, stem: Callable[[str], str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the unmatched plain words of *matching*, each with the words most like it.

    A word is like another when one or two letters are missing, wrong, too many or swapped, not
    the first one. Words without any are left out.
    """
    unmatched = [
        term
        for term, spellings in zip(matching.terms, matching.spellings, strict=True)
        if not spellings and term.words and len(term.words[0]) >= MIN_CHARS
    ]
    found = []
    for term in unmatched[:MAX_WORDS]:
        wanted = term.words[0]
        words = dict.fromkeys(
            _as_word(connection, one, stem) for one in _near_stems(connection, stem(wanted))
        )
        ranked = sorted((distance(wanted, word, MOST_APART), word) for word in words)
        if near := tuple(word for apart, word in ranked if apart <= MOST_APART)[:MAX_SUGGESTIONS]:
            found.append((term.text, near))
    return tuple(found)


def distance(left: str, right: str, most: int) -> int:
    """Return how many letters are missing, wrong, too many or swapped; above *most*, any number.

    >>> [distance(*pair, 2) for pair in (("oven", "ovne"), ("oven", "ovens"), ("oven", "owls"))]
    [1, 1, 3]
    """
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        now = [row]
        for column, other in enumerate(right, 1):
            cost = min(last[column] + 1, now[column - 1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            now.append(cost)
        if min(now) > most:
            return most + 1
        before, last = last, now
    return last[-1]


def _near_stems(connection: apsw.Connection, wanted: str) -> list[str]:
    """Return stems that may belong to a word like the one whose stem is *wanted*, best first."""
    if not wanted:
        return []
    first = wanted[0]
    bounds = (first, chr(ord(first) + 1), MIN_CHARS - 1, len(wanted) + MOST_APART)
    # A slip near the end hides the ending from the stemmer: "elevatrs" keeps what "elevators"
    # loses. So a stem is also compared with as much of the word as it is long.
    ranked = sorted(
        (apart, -memories, term)
        for term, memories in connection.execute(_NEAR, bounds)
        if (apart := _apart(term, wanted)) <= MOST_APART
    )
    return [term for _, _, term in ranked[:MAX_STEMS]]


def _apart(term: str, wanted: str) -> int:
    return min(distance(term, wanted, MOST_APART), distance(term, wanted[: len(term)], MOST_APART))


def _as_word(connection: apsw.Connection, wanted: str, stem: Callable[[str], str]) -> str:
    inside = wanted.replace('"', '""')
    for (text,) in connection.execute(_BEARER, (f'"{inside}"',)):
        low = folded(text)[0]
        for start, end in words_with_stem(low, wanted, stem):
            return low[start:end]
    return wanted
