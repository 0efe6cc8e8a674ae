"""Names that memories declare to mean one person: the aliases of the pages about people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.model.entities import is_person, normalize_entity_name, parse_entity
from memhtml.model.whitespace import is_blank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.sleep.population import Live, Population

__all__ = ["declared_groups", "is_person_page", "known_as"]

_PEOPLE = "resources/people/"


def is_person_page(memory: Live) -> bool:
    """Whether *memory* is a page about a person; it counts in the archive too."""
    path = memory.origin_path or memory.path
    return path.startswith(_PEOPLE) and "/" not in path.removeprefix(_PEOPLE)


def declared_groups(population: Population) -> list[tuple[frozenset[str], str]]:
    """Return the normal names that each page about a person says are one, with its path.

    A page that names several people says of none of them what else they are called.
    """
    groups = []
    for memory in population:
        if not memory.aliases or not is_person_page(memory):
            continue
        people = {
            normalize_entity_name(entity.name)
            for reference in memory.entities
            if is_person(reference) and (entity := parse_entity(reference))
        }
        aliases = {normalize_entity_name(a) for a in memory.aliases if not is_blank(a)}
        if len(people) == 1 or people <= aliases:
            groups.append((frozenset(people | aliases), memory.path))
    return groups


def known_as(population: Population) -> Mapping[str, str]:
    """Return of each declared ``person:`` name, in normal form, the one that stands for all."""
    leads: dict[str, str] = {}
    for group, _ in declared_groups(population):
        joined = set(group)
        for name, lead in list(leads.items()):
            if name in group or lead in group:
                joined |= {name, lead}
        leads |= dict.fromkeys(joined, min(joined))
    return {f"person:{name}": f"person:{lead}" for name, lead in leads.items()}
