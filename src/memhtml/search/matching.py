"""Terms against the index: which of them it knows, how telling each is, and who has which.

A word that no memory has is looked for once more as the beginning of a word ("config" in
"configuration"): only then, since endings are the stemmer's business. Such a term counts half, for
it may be another word altogether.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from memhtml.search.terms import Term

__all__ = ["Matching", "holders", "match_terms"]

PREFIX_WORTH = 0.5
FEW_FILES = 20
"""A store with fewer memories weighs terms as if it had so many: that one memory of three has a
word tells little of the word, and would make what is plainly there look half missing."""

MIN_PREFIX_CHARS = 3

_COUNT = "(SELECT count(*) FROM files_fts WHERE files_fts MATCH ?)"
_HOLDERS = "SELECT {place}, rowid FROM files_fts WHERE files_fts MATCH ? AND {rowid} IN ({ids})"

_PROBE_ROWS = 200
"""Asking FTS5 for one row costs about what running through so many matches does."""


class Matching(NamedTuple):
    """What the index knows of a question's terms; all tuples are in the order of `terms`."""

    terms: tuple[Term, ...]
    spellings: tuple[tuple[str, ...], ...]
    """The phrases of each term that some memory has, in or out of scope; none when unmatched."""
    counts: tuple[int, ...]
    """How many memories have each term, counted once for each of its spellings."""
    weights: tuple[float, ...]
    """How telling each term is, positive; most for one that no memory has."""
    worths: tuple[float, ...]
    """What part of a term its spellings stand for, 0 to 1."""

    @property
    def unmatched(self) -> tuple[str, ...]:
        """What was asked for and stands in no memory at all."""
        known = zip(self.terms, self.spellings, strict=True)
        return tuple(term.text for term, spellings in known if not spellings)

    @property
    def expression(self) -> str | None:
        """What FTS5 is asked for, or None when nothing can match."""
        known = list(zip(self.terms, self.spellings, strict=True))
        if any(term.required and not spellings for term, spellings in known):
            return None
        demanded = " AND ".join(phrase for t, found in known if t.required for phrase in found)
        wished = " OR ".join(phrase for t, found in known if not t.required for phrase in found)
        if demanded and wished:
            # Nothing in FTS5 is optional, so what is demanded is an alternative as well.
            return f"({demanded}) AND (({demanded}) OR {wished})"
        return demanded or wished or None


def match_terms(connection: apsw.Connection, terms: Sequence[Term], files: int) -> Matching:
    """Look *terms* up in an index of *files* memories."""
    counts = _counted(connection, (phrase for term in terms for phrase in term.phrases))
    spellings = [tuple(p for p in term.phrases if counts[p]) for term in terms]
    beginnings = {
        place: f"{term.phrases[0]} *"
        for place, term in enumerate(terms)
        if not spellings[place] and _may_begin_a_word(term)
    }
    if beginnings:
        counts |= _counted(connection, beginnings.values())
        for place, phrase in beginnings.items():
            spellings[place] = (phrase,) if counts[phrase] else ()
    return Matching(
        terms=tuple(terms),
        spellings=tuple(spellings),
        counts=tuple(sum(counts[p] for p in found) for found in spellings),
        weights=tuple(
            _weight(min((counts[p] for p in found), default=0), max(files, FEW_FILES))
            for found in spellings
        ),
        worths=tuple(
            PREFIX_WORTH if place in beginnings else 1.0 for place in range(len(spellings))
        ),
    )


def holders(
    connection: apsw.Connection, matching: Matching, ids: Iterable[int]
) -> dict[int, set[int]]:
    """Return for each of *ids* the places of the terms that it has, asked in one statement."""
    wanted = list(ids)
    found: dict[int, set[int]] = {}
    asked = [place for place, spellings in enumerate(matching.spellings) if spellings]
    if not asked or not wanted:
        return found
    listed = ", ".join(map(str, wanted))
    few = _PROBE_ROWS * len(wanted)
    sql = " UNION ALL ".join(
        # The plus sign keeps the condition from FTS5, which would look each row up by itself.
        _HOLDERS.format(
            place=place, rowid="+rowid" if matching.counts[place] <= few else "rowid", ids=listed
        )
        for place in asked
    )
    matches = [" OR ".join(matching.spellings[place]) for place in asked]
    for place, file_id in connection.execute(sql, matches):
        found.setdefault(file_id, set()).add(place)
    return found


def _counted(connection: apsw.Connection, phrases: Iterable[str]) -> dict[str, int]:
    texts = list(dict.fromkeys(phrases))
    if not texts:
        return {}
    (counts,) = connection.execute("SELECT " + ", ".join([_COUNT] * len(texts)), texts)
    return dict(zip(texts, counts, strict=True))


def _may_begin_a_word(term: Term) -> bool:
    return not term.required and bool(term.words) and len(term.words[0]) >= MIN_PREFIX_CHARS


def _weight(count: int, files: int) -> float:
    # A softened idf: positive however common a term is, unlike the one that bm25 uses.
    return math.log1p((files - count + 0.5) / (count + 0.5))
