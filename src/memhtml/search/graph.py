"""Memories as a graph: what stands near one by its links, and how two hang together.

Links are walked against their direction too, so two memories that point at the same third are two
hops apart. A link to a memory that was archived since names its old place and still counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.edges import rels_in
from memhtml.model.errors import InvalidFlag
from memhtml.model.vocabulary import Rel, RelClass
from memhtml.search.state import file_id_of, ready

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from memhtml.index.database import Index

__all__ = ["GraphEdge", "Neighbourhood", "Node", "find_route", "neighbours"]

MAX_DEPTH = 2
MAX_NODES = 200
MAX_EDGES = 10_000
MAX_ROUTE = 12
_BATCH = 500

_ENDS = """
FROM edges AS e JOIN files AS s ON s.id = e.src_id
JOIN files AS d ON d.path = e.dst_path OR d.origin_path = e.dst_path
WHERE {side} IN ({ids}) AND e.rel IN ({rels}) AND s.id <> d.id
"""
_EDGES = f"""
SELECT s.id, e.rel, d.id {_ENDS.format(side="s.id", ids="{ids}", rels="{rels}")}
UNION
SELECT s.id, e.rel, d.id {_ENDS.format(side="d.id", ids="{ids}", rels="{rels}")}
ORDER BY 1, 2, 3 LIMIT {MAX_EDGES + 1}
"""
_NODES = "SELECT id, path, title, archived FROM files WHERE id IN ({ids})"


class Node(NamedTuple):
    """A memory and how far it is from where the walk began."""

    path: str
    title: str
    archived: bool
    hop: int
    rel: str
    """Of the link by which it was reached first."""


class GraphEdge(NamedTuple):
    """One link between two memories of the index."""

    source: str
    rel: str
    target: str


class Neighbourhood(NamedTuple):
    """What stands near a memory."""

    center: str
    depth: int
    nodes: tuple[Node, ...]
    """Nearest first, then by path; without the center."""
    edges: tuple[GraphEdge, ...]
    """Between the center and *nodes*, sorted."""
    nodes_dropped: int
    """So many more there are than were asked for."""
    scan_saturated: bool
    """There are more links than are ever followed at once, so memories may be missing."""


_Edge = tuple[int, str, int]


def neighbours(
    index: Index, path: str, *, depth: int = 1, rels: Iterable[Rel] = (), limit: int = MAX_NODES
) -> Neighbourhood:
    """Return the memories at most *depth* links away from *path*, whatever way the links point.

    *rels* narrows which links count; those between memories do, when none is named.

    Raises:
        IndexStale: There is no usable index; it has to be built first.
        InvalidFlag: *depth* is not 1 or 2, or *limit* not between 1 and 200.
        PathNotFound: No memory stands at *path*.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise InvalidFlag(f"a depth of {depth} links is not between 1 and {MAX_DEPTH}")
    if not 1 <= limit <= MAX_NODES:
        raise InvalidFlag(f"a limit of {limit} memories is not between 1 and {MAX_NODES}")
    wanted = _rels(rels)
    with index.reading("walk the links") as connection:
        ready(index)
        center = file_id_of(connection, path)
        hops: dict[int, tuple[int, str]] = {center: (0, "")}
        edges: set[_Edge] = set()
        saturated = False
        frontier = {center}
        for hop in range(1, depth + 1):
            found = _edges_of(connection, frontier, wanted)
            saturated |= len(found) > MAX_EDGES
            edges.update(found)
            frontier = set()
            for source, rel, target in found:
                for one in (source, target):
                    if one not in hops:
                        hops[one] = (hop, rel)
                        frontier.add(one)
        rows = _rows(connection, hops)
    ranked = sorted((hops[n][0], rows[n][0], n) for n in hops if n != center)
    kept = {n for _, _, n in ranked[:limit]} | {center}
    return Neighbourhood(
        center=rows[center][0],
        depth=depth,
        nodes=tuple(Node(*rows[n], *hops[n]) for _, _, n in ranked[:limit]),
        edges=tuple(
            sorted(
                GraphEdge(rows[source][0], rel, rows[target][0])
                for source, rel, target in edges
                if source in kept and target in kept
            )
        ),
        nodes_dropped=len(ranked) - len(ranked[:limit]),
        scan_saturated=saturated,
    )


def find_route(
    index: Index, start: str, end: str, *, rels: Iterable[Rel] = ()
) -> tuple[GraphEdge, ...] | None:
    """Return the fewest links that join *start* and *end*, in order; None when nothing does.

    Empty when both are the same memory. Links are followed both ways, 12 at most.

    Raises:
        IndexStale: There is no usable index; it has to be built first.
        PathNotFound: No memory stands at one of the ends.
    """
    wanted = _rels(rels)
    with index.reading("walk the links") as connection:
        ready(index)
        first, last = file_id_of(connection, start), file_id_of(connection, end)
        came_by: dict[int, _Edge | None] = {first: None}
        frontier = {first}
        for _ in range(MAX_ROUTE):
            if last in came_by or not frontier:
                break
            reached: set[int] = set()
            for edge in _edges_of(connection, frontier, wanted):
                source, _, target = edge
                for here, there in ((source, target), (target, source)):
                    if here in frontier and there not in came_by:
                        came_by[there] = edge
                        reached.add(there)
            frontier = reached
        if last not in came_by:
            return None
        route = _walked_back(came_by, last)
        rows = _rows(connection, {n for source, _, target in route for n in (source, target)})
    return tuple(GraphEdge(rows[s][0], rel, rows[d][0]) for s, rel, d in route)


def _walked_back(came_by: dict[int, _Edge | None], last: int) -> list[_Edge]:
    route: list[_Edge] = []
    here = last
    while (edge := came_by[here]) is not None:
        route.append(edge)
        here = edge[0] if edge[2] == here else edge[2]
    return route[::-1]


def _rels(rels: Iterable[Rel]) -> tuple[Rel, ...]:
    return tuple(dict.fromkeys(rels)) or rels_in(RelClass.MEMORY)


def _edges_of(connection: apsw.Connection, ids: Iterable[int], rels: Sequence[Rel]) -> list[_Edge]:
    """Return the links at either end of *ids*, in a fixed order."""
    found: dict[_Edge, None] = {}
    words = ", ".join(f"'{rel}'" for rel in rels)
    listed = sorted(ids)
    for start in range(0, len(listed), _BATCH):
        batch = ", ".join(map(str, listed[start : start + _BATCH]))
        for edge in connection.execute(_EDGES.format(ids=batch, rels=words)):
            found[edge] = None
        if len(found) > MAX_EDGES:
            break
    return list(found)


def _rows(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, tuple[str, str, bool]]:
    sql = _NODES.format(ids=", ".join(map(str, ids)))
    return {n: (path, title, bool(old)) for n, path, title, old in connection.execute(sql)}
