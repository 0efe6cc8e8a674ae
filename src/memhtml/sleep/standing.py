"""Where each memory stands among the others: what it hangs together with, and what it is worth.

Two memories hang together when one links to the other or when they are much alike. The retention
score is the scorer's (`memhtml.scoring.retention`) over that graph and over how a memory is used.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import read_meta
from memhtml.format.metas import read_flag
from memhtml.model.vocabulary import PERSON_RELS, MemoryType, Rel, RelClass
from memhtml.scoring.graphs import Edge, Graph
from memhtml.scoring.retention import Band, Uses, band_of, retention
from memhtml.sleep.quiet import is_pinned, quiet_days

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.sleep.phase import Context
    from memhtml.sleep.population import Live

__all__ = ["Protections", "Standing", "graph_of", "standings"]

GROUP_FLOORS = {"dense": 0.72, "sparse": 0.6, "shingles": 0.45}
"""How alike two memories are that are about the same, by basis: far below duplicates."""

NEIGHBOURS = 5
"""So many of its nearest does a memory bring into the graph (sleep format §3)."""

_MEMORY_RELS = frozenset(rel.value for rel in Rel if rel.rel_class is RelClass.MEMORY)
_LEANED_ON = frozenset({Rel.SUPERSEDES, Rel.PART_OF, Rel.SUPPORTS, *PERSON_RELS})
"""A live memory that points at another by one of these would lose what it rests on."""

_ANSWERS = "answers"
_PEOPLE = "resources/people/"


class Standing(NamedTuple):
    """What one memory is worth."""

    score: float
    band: Band
    quiet_days: float
    uses: Uses


def graph_of(context: Context) -> Graph:
    """Return how the active memories hang together.

    An authored link is one edge with its direction; likeness has none, so it is two.
    """
    return Graph((memory.path for memory in context.population.active), _edges(context))


def _edges(context: Context) -> Iterator[Edge]:
    for memory in context.population.active:
        for rel, target in memory.links:
            if rel in _MEMORY_RELS:
                yield Edge(memory.path, target)
    likeness = context.likeness
    limit = NEIGHBOURS * len(context.population.active)
    floor = GROUP_FLOORS[likeness.basis]
    for one, other, score, _ in likeness.pairs(floor=floor, top=NEIGHBOURS, limit=limit):
        yield Edge(one, other, score)
        yield Edge(other, one, score)


def standings(context: Context, graph: Graph) -> dict[str, Standing]:
    """Return what each claim is worth, by path."""
    ranks = graph.ranks()
    highest = max(ranks.values(), default=0.0)
    bridges = graph.bridges(graph.communities())
    pointed = Counter(
        (rel, target) for memory in context.population.active for rel, target in memory.links
    )
    found = {}
    for memory in context.population.claims:
        usage = context.usage.get(memory.path)
        days = quiet_days(memory, context.usage, context.now)
        uses = Uses(
            age_days=days,
            accesses=usage.access_count if usage else 0,
            confidence=memory.confidence,
            rank=ranks[memory.path] / highest if highest else 0.0,
            bridges=bridges.get(memory.path, 0),
            reinforcements=pointed[Rel.SUPPORTS, memory.path],
            words=memory.word_count,
            contradictions=pointed[Rel.CONTRADICTS, memory.path],
        )
        score = retention(memory.memory_type, uses)
        found[memory.path] = Standing(score, band_of(score), days, uses)
    return found


class Protections:
    """Why some memories may not be put away, whatever they are worth."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._leaned_on = {
            target
            for memory in context.population.active
            for rel, target in memory.links
            if rel in _LEANED_ON
        }
        self._asked_about = {
            facet.value
            for task in context.population.tasks
            if not task.archived
            for facet in task.facets
        }

    def find(self, memory: Live) -> str | None:
        """Return why *memory* is kept, as the end of a sentence; None when nothing keeps it."""
        return next((reason for reason, holds in self._reasons(memory) if holds), None)

    def _reasons(self, memory: Live) -> Iterator[tuple[str, bool]]:
        most = self._context.settings.protected_importance
        yield f"its importance is {memory.importance}", memory.importance >= most
        yield "it is pinned", is_pinned(memory)
        is_preference = memory.memory_type == MemoryType.USER_PREFERENCE
        yield "a preference holds until its owner says otherwise", is_preference
        is_somebody = bool(memory.aliases) or memory.path.startswith(_PEOPLE)
        yield "it says who somebody is", is_somebody
        names = {facet.name.casefold() for facet in memory.facets}
        yield "it has questions to answer", _ANSWERS in names
        yield "another memory leans on it", memory.path in self._leaned_on
        yield "an open task is about it", memory.path in self._asked_about
        yield "somebody asked for its revision", self._needs_revision(memory)

    def _needs_revision(self, memory: Live) -> bool:
        # The index is not asked for it, and only candidates get here.
        file = self._context.view.find(memory.path)
        flag = read_meta(file.data, "memhtml-needs-revision") if file else None
        return flag is not None and read_flag(flag)
