"""A memory as a statement that can be held against another: its claim and the rest, taken apart."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.entities import normalize_entity
from memhtml.sleep.wording import Wording, concept_of, read_wording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.sleep.population import Live

__all__ = ["Statement", "read_statement"]

_MOST_CHARS = 20_000
"""Of an article's text beyond the claim; a longer memory is not folded on what was read of it."""


class Statement(NamedTuple):
    """One memory, taken apart."""

    memory: Live
    claim: Wording
    joined: frozenset[str]
    """Its neighbouring concepts written together."""
    rest: Wording
    """What the article says beside the claim."""
    is_whole: bool
    """Whether all of the article was read."""
    entities: frozenset[str]
    """In normal form, under the name that aliases lead to."""
    entity_words: frozenset[str]
    """The concepts their names consist of."""


def read_statement(memory: Live, known_as: Mapping[str, str] | None = None) -> Statement:
    """Return *memory* taken apart; *known_as* leads from an entity in normal form to its name."""
    known_as = known_as or {}
    rest = memory.body.replace(memory.gist, " ", 1) if memory.gist else memory.body
    entities = frozenset(
        known_as.get(normal, normal) for normal in map(normalize_entity, memory.entities)
    )
    names = [entity.partition(":")[2] or entity for entity in entities]
    claim = read_wording(memory.gist)
    return Statement(
        memory,
        claim,
        frozenset(first + second for first, second in pairwise(claim.concepts)),
        read_wording(rest[:_MOST_CHARS]),
        len(rest) <= _MOST_CHARS,
        entities,
        frozenset(concept_of(word) for name in names for word in sorted(read_wording(name).words)),
    )
