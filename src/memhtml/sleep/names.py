"""Names of things and people: which are one by declaration, and how alike two of them are."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from memhtml.index.analysis import folded
from memhtml.model.entities import is_person, normalize_entity_name, parse_entity
from memhtml.model.whitespace import is_blank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.sleep.population import Live, Population

__all__ = [
    "Declared",
    "compact",
    "declared_groups",
    "is_person_page",
    "known_as",
    "overlap",
    "tells_apart",
]

_PEOPLE = "resources/people/"
_digits_re = re.compile(r"\d+")
_word_re = re.compile(r"[^\W_]+")
_letters_re = re.compile(r"[^\W\d_]+|\d+")

_VARIANTS = frozenset(
    """
    pro max mini lite plus ultra air beta alpha rc preview legacy deprecated experimental canary lts
    v new old next test testing staging stage dev development prod production sandbox qa demo
    internal external public private primary secondary main replica backup standby master slave read
    write reader writer client server east west north south eu us uk apac emea junior senior jr sr
    i ii iii iv
    """.split()
)
"""Words that tell a thing from its sibling."""


class Declared(NamedTuple):
    """What one page says about how somebody is called."""

    name: str
    """The person's own name there, in normal form."""
    others: frozenset[str]
    """The aliases, in normal form."""
    page: str


def is_person_page(memory: Live) -> bool:
    """Whether *memory* stands, or stood before it was archived, among the pages about people."""
    path = memory.origin_path or memory.path
    return path.startswith(_PEOPLE)


def declared_groups(population: Population) -> list[Declared]:
    """Return what pages about one person declare.

    An alias that two people have says nothing about either, so it is left out of both.
    """
    found = []
    for memory in population:
        if not memory.aliases or not is_person_page(memory):
            continue
        people = {
            normalize_entity_name(entity.name)
            for reference in memory.entities
            if is_person(reference) and (entity := parse_entity(reference))
        }
        aliases = {normalize_entity_name(a) for a in memory.aliases if not is_blank(a)}
        if len(own := sorted(people - aliases) or sorted(people)) == 1:
            found.append(Declared(own[0], frozenset(aliases - {own[0]}), memory.path))
    owners: dict[str, set[str]] = {}
    for declared in found:
        for alias in declared.others:
            owners.setdefault(alias, set()).add(declared.name)
    shared = {alias for alias, names in owners.items() if len(names) > 1}
    return [declared._replace(others=declared.others - shared) for declared in found]


def known_as(population: Population) -> Mapping[str, str]:
    """Return of each declared ``person:`` alias, in normal form, the name it leads to."""
    leads = {
        alias: declared.name
        for declared in declared_groups(population)
        for alias in declared.others
    }
    return {f"person:{alias}": f"person:{_followed(alias, leads)}" for alias in leads}


def _followed(name: str, leads: Mapping[str, str]) -> str:
    seen = {name}
    while (further := leads.get(name)) is not None and further not in seen:
        seen.add(further)
        name = further
    return name if name not in leads else min(seen)


def overlap(one: str, other: str) -> float:
    """Return twice the longest common subsequence over both lengths, in ``[0, 1]``.

    >>> round(overlap("laith", "laith al-saadoon"), 3), overlap("svc1", "svc2")
    (0.476, 0.75)
    """
    total = len(one) + len(other)
    return 2 * _common(one, other) / total if total else 1.0


def _common(one: str, other: str) -> int:
    """Return the length of the longest common subsequence, a row of the table in one integer."""
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    full = (1 << len(one)) - 1
    row = full
    for letter in other:
        matched = row & places.get(letter, 0)
        row = ((row + matched) | (row - matched)) & full
    return len(one) - row.bit_count()


def compact(kind: str, name: str) -> str:
    """Return what spellings of one name share: case, marks, accents and spaces do not count.

    The order of a person's names does not count either, and a thing may be in the plural.

    >>> compact("service", "Check-out API"), compact("service", "checkout apis")
    ('checkoutapi', 'checkoutapi')
    >>> compact("person", "Müller, Jörg") == compact("person", "jorg muller")
    True
    """
    words = _word_re.findall(folded(unicodedata.normalize("NFKC", name))[0])
    if kind == "person":
        return " ".join(sorted(words))
    return "".join(
        w[:-1] if len(w) > 3 and w[-1] == "s" and w[-2] not in "su" else w for w in words
    )


def tells_apart(one: str, other: str) -> bool:
    """Whether a number, a version or a word for a variant stands in only one of two names.

    >>> tells_apart("svc1", "svc10"), tells_apart("payments-v1", "payments-v2")
    (True, True)
    >>> tells_apart("cache", "cache beta"), tells_apart("check-out", "checkout")
    (True, False)
    """
    if _digits_re.findall(one) != _digits_re.findall(other):
        return True
    mine, theirs = (_marks(name) for name in (one, other))
    return mine != theirs


def _marks(name: str) -> Counter[str]:
    return Counter(word for word in _letters_re.findall(name.lower()) if word in _VARIANTS)
