"""References to things: ``type:name``, such as ``person:Ada`` or ``service:checkout-api``.

A reference is stored as its author wrote it. Two are the same thing when their normal forms are
equal, so normal forms are compared and counted but never written back.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.whitespace import is_blank, wide_split, wide_trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memhtml.model.document import Document

__all__ = [
    "Entity",
    "entity_rows",
    "is_person",
    "normalize_entity",
    "normalize_entity_name",
    "parse_entity",
]


class Entity(NamedTuple):
    """A thing that memories are about."""

    type: str
    name: str


def parse_entity(reference: str) -> Entity | None:
    """Return both halves of *reference*, split at the first colon and untrimmed.

    None when there is no colon or a half is empty: then it has a name but no type.

    >>> parse_entity("service:api:v2"), parse_entity("checkout-api")
    (Entity(type='service', name='api:v2'), None)
    """
    kind, _, name = reference.partition(":")
    return Entity(kind, name) if kind and name else None


def normalize_entity_name(name: str) -> str:
    r"""Return the form in which equal names are equal: composed, lower case, single spaces.

    >>> normalize_entity_name("  The   Old\tBarn ")
    'the old barn'
    """
    lowered = unicodedata.normalize("NFC", name).lower()
    return " ".join(wide_split(unicodedata.normalize("NFC", lowered)))


def normalize_entity(reference: str) -> str:
    """Return the normal form of a whole reference; one without a type is normalised as a name.

    >>> normalize_entity(" PLACE : The  Barn "), normalize_entity("DGX")
    ('place:the barn', 'dgx')
    """
    entity = parse_entity(wide_trim(reference))
    if entity is None:
        return normalize_entity_name(reference)
    return ":".join(map(normalize_entity_name, entity))


def is_person(reference: str) -> bool:
    """Whether *reference* names a person: ``person:`` in lower case, and a name after it.

    >>> is_person("person:Ada"), is_person("person: "), is_person("Person:Ada")
    (True, False, False)
    """
    kind, _, name = reference.partition(":")
    return kind == "person" and not is_blank(name)


def entity_rows(document: Document) -> tuple[Entity, ...]:
    """Return what *document* is about, as authored: stated entities, defined terms, languages.

    Each pair comes once, where it first occurs. An entity without a type gets ``unknown``.
    """
    return tuple(dict.fromkeys(_mentions(document)))


def _mentions(document: Document) -> Iterator[Entity]:
    for reference in _stated(document.head.entities):
        yield parse_entity(reference) or Entity("unknown", reference)
    for term in document.defined_terms:
        yield Entity("concept", term)
    for lang in document.code_langs:
        yield Entity("lang", lang)


def _stated(references: Iterable[str]) -> Iterator[str]:
    return filter(None, map(wide_trim, references))
