"""Person links: a page for everybody memories name, and a link to it from each that does.

There is one page a person, not one a spelling: spellings of a name and declared aliases lead to
the page that is there. A page that somebody archived is not made again.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import AddLink, SetMeta, apply_edits, read_meta
from memhtml.model.edges import href_of
from memhtml.model.entities import is_person, parse_entity
from memhtml.model.errors import InvalidMemory, SecretFound
from memhtml.model.instants import stamp
from memhtml.model.memory import Draft
from memhtml.model.plural import plural
from memhtml.model.slugs import slugify
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.sleep.names import compact, declared_groups, is_person_page
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.store.archive import later
from memhtml.store.plan import Overlay, Put
from memhtml.store.write import plan_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memhtml.sleep.phase import Context
    from memhtml.sleep.population import Live, Population
    from memhtml.store.plan import Step, View

__all__ = ["AUTHOR", "NAME", "NEEDS", "run"]

NAME = "person-links"
NEEDS = ("preflight",)

AUTHOR = "agent:sleep"
_ABOUT = Rel.ABOUT_PERSON.value


class _Person(NamedTuple):
    """Somebody whom memories name."""

    name: str
    """As most memories write it."""
    memories: tuple[Live, ...]
    """Those that name them, the pages too."""


def run(context: Context) -> Outcome:
    """Propose one commit with the pages that are missing and the links that lead to them."""
    people = _people(context.population)
    pages = _pages(context.population)
    view = Overlay(context.view)
    steps: list[Step] = []
    decisions: list[Decision] = []
    counts = dict.fromkeys(
        ("people", "pagesCreated", "pagesArchived", "pagesRefused", "linksAdded"), 0
    )
    counts["people"] = len(people)
    for key, person in sorted(people.items()):
        page = _page_of(person, pages.get(key, ()))
        if page is not None and page.archived:
            counts["pagesArchived"] += 1
            continue
        if page is not None:
            path = page.path
        else:
            try:
                planned = plan_write(_draft(person), view, now=context.now)
            except (InvalidMemory, SecretFound):
                # A name that no file can bear, or that looks like a credential.
                counts["pagesRefused"] += 1
                continue
            view.add(planned.steps, planned.facts)
            steps += planned.steps
            path = str(planned.result.path)
            counts["pagesCreated"] += 1
            decisions.append(_created(path, person))
        for memory in person.memories:
            put = _linked(memory, path, context, view)
            if put is not None:
                view.add((put,))
                steps.append(put)
                counts["linksAdded"] += 1
                why = f"It names {person.name}, whose page this is."
                decisions.append(Decision("linked", memory.path, why, path))
    proposal = Proposal(
        subject=f"{plural(counts['pagesCreated'], 'page')} of people, "
        f"{plural(counts['linksAdded'], 'link')} to them",
        steps=tuple(steps),
        decisions=tuple(decisions),
    )
    return Outcome(proposals=(proposal,) if steps else (), counts=counts)


def _created(path: str, person: _Person) -> Decision:
    many = len(person.memories)
    told = plural(many, "memory names", "memories name")
    return Decision(
        "created",
        path,
        f"{told} {person.name}, who had no page.",
        evidence=(("named in", person.memories[0].path), ("memories", many)),
    )


def _linked(memory: Live, page: str, context: Context, view: View) -> Put | None:
    """Return the step that links *memory* to *page*; None when it does or is the page."""
    if memory.path == page or (_ABOUT, page) in memory.links:
        return None
    file = view.find(memory.path)
    if file is None:
        return None
    stamped = later(stamp(context.now), read_meta(file.data, "memhtml-updated"))
    edits = (AddLink(Rel.ABOUT_PERSON, href_of(page)), SetMeta("memhtml-updated", stamped))
    return Put(memory.path, apply_edits(file.data, edits), file.sha)


def _people(population: Population) -> dict[str, _Person]:
    """Return everybody by what all spellings of their names share."""
    keys = _Keys(population)
    spellings: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    memories: dict[str, dict[str, Live]] = defaultdict(dict)
    for memory in population.active:
        for name in _names(memory):
            key = keys.of(name)
            # The name of somebody with aliases is the one that the page gives.
            spellings[key][" ".join(name.split())] += 1
            memories[key][memory.path] = memory
    people = {}
    for key, counts in spellings.items():
        own = {name: count for name, count in counts.items() if compact("person", name) == key}
        best = own or counts
        name = min(best, key=lambda spelling: (-best[spelling], spelling))
        people[key] = _Person(name, tuple(m for _, m in sorted(memories[key].items())))
    return people


class _Keys:
    """What the names of one person share: spelling does not count, and declared aliases lead on."""

    def __init__(self, population: Population) -> None:
        self._leads = {
            compact("person", alias): compact("person", declared.name)
            for declared in declared_groups(population)
            for alias in sorted(declared.others)
        }

    def of(self, name: str) -> str:
        """Return the key of *name*."""
        key = compact("person", name)
        return self._leads.get(key, key)


def _pages(population: Population) -> Mapping[str, list[Live]]:
    """Return the pages by the person they are of.

    A fact about somebody stands among the pages too; a page has their name as its title or file
    name, or says what else they are called, and names nobody else.
    """
    keys = _Keys(population)
    pages: dict[str, list[Live]] = defaultdict(list)
    for memory in population:
        if is_person_page(memory) and memory.memory_type != MemoryType.TASK:
            names = _names(memory)
            named = {keys.of(name) for name in names}
            titled = keys.of(memory.title) in named or any(_is_file_of(memory, n) for n in names)
            if len(named) == 1 and (memory.aliases or titled):
                pages[named.pop()].append(memory)
    return pages


def _page_of(person: _Person, pages: Iterable[Live]) -> Live | None:
    """Return the page to link to: one that is live, with aliases, named as they are, the oldest."""
    return min(
        pages,
        key=lambda page: (
            page.archived,
            not page.aliases,
            not _is_file_of(page, person.name),
            page.created_at,
            page.path,
        ),
        default=None,
    )


def _is_file_of(memory: Live, name: str) -> bool:
    return memory.path.endswith(f"/{slugify(name)}.html")


def _names(memory: Live) -> list[str]:
    found = (parse_entity(reference) for reference in memory.entities if is_person(reference))
    return [entity.name for entity in found if entity and compact("person", entity.name)]


def _draft(person: _Person) -> Draft:
    return Draft(
        title=person.name,
        memory_type=MemoryType.SEMANTIC,
        claim=f"{person.name} is somebody whom memories name.",
        entities=(f"person:{person.name}",),
        author=AUTHOR,
    )
