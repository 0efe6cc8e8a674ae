"""Probes: what a claim is looked up by, and whether it became harder to find.

A claim is asked for by its own words, once before a change and once after it. What counts is who
stands above it: a memory with the same score, to within `TIE`, does not, so that the order of
equals is nobody's loss.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from memhtml.scoring.stopwords import content_words
from memhtml.search.answers import WITHIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.search.hits import Hits

__all__ = ["DEPTH", "TIE", "Ask", "Claim", "Probe", "place_of", "probe_all", "query_of"]

DEPTH = 12
"""How many hits a probe looks at; whoever makes an `Ask` asks for so many. Claims are asked for by
their own words, so nearly all stand among the first three."""

QUERY_WORDS = 12

TIE = 0.01
"""Scores that differ by less than this part are equal."""

# What a letter or digit on either side holds together is one word: "v2.1", "E-1042", "don't".
_word_re = re.compile(r"[^\W_]+(?:[-._'/:][^\W_]+)*")

Ask: TypeAlias = Callable[[str], "Hits"]
"""One state of a store: a question in, at most `DEPTH` hits out."""


class Claim(NamedTuple):
    """What a memory says, and where it is said after the change."""

    path: str
    text: str
    heir: str
    """The same path, or that of the memory that took its place."""


class Probe(NamedTuple):
    """One claim or question, asked before and after."""

    query: str
    path: str
    heir: str
    rank_before: int | None
    """From 1; None when it was not among the hits."""
    rank_after: int | None
    is_question: bool = False
    """A question that a memory says it answers, and no claim."""

    @property
    def bar(self) -> int | None:
        """The lowest place it may have after the change; None when any will do.

        A claim that is still said must not stand lower. One that was superseded is said in other
        words from now on, and a question has an answer as long as it is among the first few.
        """
        if self.rank_before is None:
            return None
        if self.is_question:
            return WITHIN if self.rank_before <= WITHIN else None
        return self.rank_before if self.heir == self.path else max(self.rank_before, WITHIN)

    @property
    def is_harder(self) -> bool:
        """Whether it stands lower than it may."""
        return self.bar is not None and (self.rank_after is None or self.rank_after > self.bar)

    @property
    def has_slipped(self) -> bool:
        """Whether it stands lower than before, and may."""
        before, after = self.rank_before, self.rank_after
        return before is not None and after is not None and after > before and not self.is_harder


def query_of(claim: str) -> str:
    """Return the first twelve words of *claim* that are no stop words; "" when it has no word.

    >>> query_of("The ingest worker retries a failed call 3 times.")
    'ingest worker retries failed call 3 times'
    """
    return " ".join(content_words(_word_re.findall(claim.lower()))[:QUERY_WORDS])


def place_of(hits: Hits, path: str) -> int | None:
    """Return the rank of *path* among *hits*, from 1; None when it is not there."""
    totals = [hit.explanation.total for hit in hits.hits]
    for place, hit in enumerate(hits.hits):
        if hit.path == path:
            bar = totals[place] * (1 + TIE)
            return 1 + sum(total > bar for total in totals[:place])
    return None


def probe_all(before: Ask, after: Ask, claims: Iterable[Claim]) -> list[Probe]:
    """Ask for each of *claims* in both states; claims without a word are left out."""
    probes = []
    for claim in claims:
        query = query_of(claim.text)
        if query:
            there = place_of(before(query), claim.path)
            probes.append(
                Probe(query, claim.path, claim.heir, there, place_of(after(query), claim.heir))
            )
    return probes
