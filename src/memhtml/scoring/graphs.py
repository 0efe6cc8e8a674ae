"""A graph of memories: who is pointed at, who belongs together, who joins two groups.

Everything is deterministic: nodes are visited in order of name, ties go to the smallest label, and
sums are taken in one order. It needs no array library: 20,000 nodes with 100,000 edges take about
a second.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Edge", "Graph"]

DAMPING = 0.85
MAX_ROUNDS = 100
"""Iterations of a page rank, and sweeps of the labels (sleep format §4)."""

CHANGE_PER_NODE = 1e-6
"""Ranks that move less than this, times the number of nodes, in sum stand still."""

MIN_COMMUNITY = 3
"""Two alike are a pair; a community begins at three."""


class Edge(NamedTuple):
    """One node points at another."""

    source: str
    target: str
    strength: float = 1.0


class Graph:
    """Nodes, and the edges between them.

    Of parallel edges the strongest stays; one to itself, or to or from a node that is none of
    *nodes*, is left out, and so is one without strength.
    """

    def __init__(self, nodes: Iterable[str], edges: Iterable[Edge]) -> None:
        self.nodes = tuple(sorted(set(nodes)))
        ids = {node: number for number, node in enumerate(self.nodes)}
        strongest: dict[tuple[int, int], float] = {}
        for source, target, strength in edges:
            ends = (ids.get(source, -1), ids.get(target, -1))
            if min(ends) < 0 or ends[0] == ends[1] or strength <= 0.0:
                continue
            if strength > strongest.get(ends, 0.0):
                strongest[ends] = strength
        self._edges = sorted((one, other, weight) for (one, other), weight in strongest.items())

    def neighbours(self, node: str) -> Mapping[str, float]:
        """Return the nodes that *node* has an edge with, either way, and how strong it is."""
        return self._neighbours.get(node, {})

    def ranks(self) -> dict[str, float]:
        """Return the page rank of each node; they add up to 1.

        An edge hands on rank by its share of the strength that leaves its source; a node without a
        way out hands its rank to all.

        >>> ranks = Graph("abc", [Edge("a", "c"), Edge("b", "c")]).ranks()
        >>> max(ranks, key=ranks.get), round(sum(ranks.values()), 9)
        ('c', 1.0)
        """
        count = len(self.nodes)
        if not count:
            return {}
        leaving = [0.0] * count
        for source, _, weight in self._edges:
            leaving[source] += weight
        shares = [(source, target, w / leaving[source]) for source, target, w in self._edges]
        stuck = [number for number, weight in enumerate(leaving) if not weight]
        rank = [1.0 / count] * count
        for _ in range(MAX_ROUNDS):
            lost = sum(rank[number] for number in stuck)
            after = [(1.0 - DAMPING + DAMPING * lost) / count] * count
            for source, target, share in shares:
                after[target] += DAMPING * rank[source] * share
            change = sum(abs(new - old) for new, old in zip(after, rank, strict=True))
            rank = after
            if change < CHANGE_PER_NODE * count:
                break
        return dict(zip(self.nodes, rank, strict=True))

    def communities(self) -> dict[str, str]:
        """Return the community of each node that is in one, named by its smallest member.

        Each node in turn takes the label that weighs most among its neighbours, of equal ones the
        smallest, until none changes.

        >>> graph = Graph("abcde", [Edge("a", "b"), Edge("b", "c"), Edge("a", "c"), Edge("d", "e")])
        >>> graph.communities()
        {'a': 'a', 'b': 'a', 'c': 'a'}
        """
        around: list[list[tuple[int, float]]] = [[] for _ in self.nodes]
        for (one, other), weight in self._joined.items():
            around[one].append((other, weight))
            around[other].append((one, weight))
        labels = list(range(len(self.nodes)))
        for _ in range(MAX_ROUNDS):
            moved = False
            for number, neighbours in enumerate(around):
                if not neighbours:
                    continue
                weights: dict[int, float] = defaultdict(float)
                for other, weight in neighbours:
                    weights[labels[other]] += weight
                best = min(weights, key=lambda label: (-weights[label], label))
                moved |= best != labels[number]
                labels[number] = best
            if not moved:
                break
        members: dict[int, list[int]] = defaultdict(list)
        for number, label in enumerate(labels):
            members[label].append(number)
        named = {
            number: self.nodes[group[0]]
            for group in members.values()
            if len(group) >= MIN_COMMUNITY
            for number in group
        }
        return {self.nodes[number]: named[number] for number in sorted(named)}

    def bridges(self, communities: Mapping[str, str]) -> dict[str, int]:
        """Return how many edges of each node lead from one of *communities* into another.

        Nodes without any are left out.
        """
        counts: dict[str, int] = defaultdict(int)
        for source, target, _ in self._edges:
            ends = self.nodes[source], self.nodes[target]
            labels = [communities.get(end) for end in ends]
            if None not in labels and labels[0] != labels[1]:
                for end in ends:
                    counts[end] += 1
        return dict(counts)

    @cached_property
    def _joined(self) -> dict[tuple[int, int], float]:
        """What holds two nodes together, whichever way it points: both ways count in sum."""
        joined: dict[tuple[int, int], float] = defaultdict(float)
        for one, other, weight in self._edges:
            joined[min(one, other), max(one, other)] += weight
        return dict(sorted(joined.items()))

    @cached_property
    def _neighbours(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for (one, other), weight in self._joined.items():
            found[self.nodes[one]][self.nodes[other]] = weight
            found[self.nodes[other]][self.nodes[one]] = weight
        return dict(found)
