"""What a store says already of a claim that somebody proposes, and what in it speaks against it.

The claim is held against live memories as they say it, by the same comparison and the same vetoes
that fold duplicates: a number, a name or a negation more is another claim.
"""

from __future__ import annotations

import re
from collections import Counter
from heapq import nlargest
from typing import TYPE_CHECKING

from memhtml.index.project import project
from memhtml.model.entities import normalize_entity_name, parse_entity
from memhtml.model.whitespace import collapse
from memhtml.sleep.detections import AUTHOR
from memhtml.sleep.equivalence import compare
from memhtml.sleep.names import compact
from memhtml.sleep.population import Facet, Live
from memhtml.sleep.statements import read_statement
from memhtml.sleep.vetoes import find_veto
from memhtml.traces.candidates import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.model.document import Document
    from memhtml.sleep.population import Population
    from memhtml.traces.candidates import Candidate

__all__ = ["Known", "is_same"]

_LEAST_LIKE = 0.25
"""Share of all their words that two claims have in common at least, to be compared at all."""
_MOST_COMPARED = 50
"""A comparison takes a quarter of a millisecond, and thousands of memories may be of one form."""

# How `memhtml.traces.mine` words what it found.
_correction_re = re.compile(r"Use (?P<use>.+) instead of (?P<drop>.+)\.")
_error_re = re.compile(r"(?P<error>.+?)(?: \(seen [^()]+\)\.|(?P<fix>; .+ fixed it\.))", re.DOTALL)
_word_re = re.compile(r"\w+")


def is_same(memory: Live, claim: str) -> bool:
    """Whether *memory* would say the same if its claim were *claim*."""
    if collapse(memory.gist).casefold() == collapse(claim).casefold():
        return True
    changed = memory._replace(gist=claim, body=memory.body.replace(memory.gist, claim, 1))
    one, other = read_statement(memory), read_statement(changed)
    mine, theirs = one.claim.tokens, other.claim.tokens
    # The same words in another order may turn it round: tabs over spaces, spaces over tabs.
    if mine != theirs and sorted(mine) == sorted(theirs):
        return False
    return compare(one, other).same and find_veto(one, other) is None


class Known:
    """The memories there are, and those that come in meanwhile."""

    def __init__(self, population: Population, tag: str) -> None:
        self._live = list(population.claims)
        self._words = [_words(memory.gist) for memory in self._live]
        self._dismissed = [
            memory.gist.casefold()
            for memory in population
            if memory.archived and memory.author == AUTHOR and tag in memory.tags
        ]
        spellings: dict[tuple[str, str], Counter[str]] = {}
        for memory in population.active:
            for reference in memory.entities:
                entity = parse_entity(reference)
                if entity is not None:
                    key = _thing(entity.type, entity.name)
                    spellings.setdefault(key, Counter())[reference] += 1
        self._spellings = {
            key: min(names, key=lambda name: (-names[name], name))
            for key, names in spellings.items()
        }

    def add(self, path: str, document: Document) -> None:
        """Let the memory *document* at *path* have come in."""
        rows = project(path, "0" * 40, document)
        fields = rows.file._asdict()
        memory = Live(
            id=-len(self._live),
            body=rows.body.text,
            tags=tuple(rows.tags),
            entities=tuple(row.entity for row in rows.entities),
            aliases=tuple(rows.aliases),
            facets=tuple(Facet(*row) for row in rows.facets),
            links=tuple((str(edge.rel), edge.dst_path) for edge in rows.edges),
            **{name: fields[name] for name in Live._fields if name in fields},
        )
        self._live.append(memory)
        self._words.append(_words(memory.gist))

    def says(self, candidate: Candidate) -> bool:
        """Whether a live memory says what *candidate* claims."""
        if candidate.source is Source.ERROR:
            return any(_tells_error(memory.gist, candidate.claim) for memory in self._live)
        return any(is_same(memory, candidate.claim) for memory in self._like(candidate.claim))

    def was_dismissed(self, candidate: Candidate) -> bool:
        """Whether sleep learned the same before and somebody archived it."""
        return candidate.claim.casefold() in self._dismissed

    def rivals(self, candidate: Candidate) -> list[Live]:
        """Return the memories that a correction goes against: those that say to use the other."""
        match = _correction_re.fullmatch(candidate.claim)
        if candidate.source is not Source.CORRECTION or match is None:
            return []
        use, drop = match["use"], match["drop"]
        turned = f"Use {drop} instead of {use}."
        told_re = re.compile(
            rf"\b(?:use[sd]?|using|runs?|running|prefers?|with|via)\s+(?:the\s+)?{_named(drop)}",
            re.IGNORECASE,
        )
        denied_re = re.compile(
            rf"\b(?:not|never|no longer|don't|instead of|rather than)\b[^.;]{{0,20}}{_named(drop)}",
            re.IGNORECASE,
        )
        use_re = re.compile(_named(use), re.IGNORECASE)
        found = {memory.path: memory for memory in self._like(turned) if is_same(memory, turned)}
        for memory in self._live:
            says = memory.gist
            if told_re.search(says) and not denied_re.search(says) and not use_re.search(says):
                found[memory.path] = memory
        return [found[path] for path in sorted(found)]

    def spelled(self, entities: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return *entities*, each a type and a name, as most memories spell them."""
        named = (
            self._spellings.get(_thing(kind, name), f"{kind}:{' '.join(name.split())}")
            for kind, name in entities
        )
        return tuple(dict.fromkeys(named))

    def _like(self, claim: str) -> list[Live]:
        """Return the memories that share most words with *claim*, and enough of them."""
        words = _words(claim)
        shares = (
            (len(words & theirs) / len(words | theirs) if theirs else 0.0, place)
            for place, theirs in enumerate(self._words)
        )
        best = nlargest(_MOST_COMPARED, (one for one in shares if one[0] >= _LEAST_LIKE))
        return [self._live[place] for _, place in best]


def _thing(kind: str, name: str) -> tuple[str, str]:
    normal = normalize_entity_name(kind)
    return normal, compact(normal, name) or normalize_entity_name(name)


def _tells_error(known: str, claim: str) -> bool:
    """Whether *known* is about the same error, and about what fixed it if *claim* is."""
    mine, theirs = _error_re.fullmatch(claim), _error_re.fullmatch(known)
    if mine is None or theirs is None:
        return known.casefold() == claim.casefold()
    is_news = mine["fix"] is not None and theirs["fix"] is None
    return mine["error"].casefold() == theirs["error"].casefold() and not is_news


def _named(name: str) -> str:
    return rf"(?<![\w-]){re.escape(name)}(?![\w-])"


def _words(text: str) -> frozenset[str]:
    return frozenset(_word_re.findall(text.casefold()))
