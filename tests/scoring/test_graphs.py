"""Ranks, communities and bridges on graphs small enough to check by hand."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.scoring.graphs import Edge, Graph

CLIQUES = [Edge(a, b) for group in ("abc", "xyz") for a in group for b in group if a < b]


def test_of_parallel_edges_the_strongest_counts_and_strangers_do_not() -> None:
    graph = Graph("ab", [Edge("a", "b", 0.2), Edge("a", "b", 0.9), Edge("a", "a"), Edge("a", "q")])
    assert graph.neighbours("a") == {"b": 0.9}
    assert graph.neighbours("q") == {}


def test_ranks_of_a_small_graph_are_those_of_its_equations() -> None:
    # a -> b, b -> a, c -> a: c = .05; a = .05 + .85·(b + c); b = .05 + .85·a
    ranks = Graph("abc", [Edge("a", "b"), Edge("b", "a"), Edge("c", "a")]).ranks()
    a = (0.05 + 0.85 * (0.05 + 0.05)) / (1 - 0.85**2)
    assert ranks == pytest.approx({"a": a, "b": 0.05 + 0.85 * a, "c": 0.05}, abs=1e-5)


def test_rank_that_has_no_way_out_goes_to_all() -> None:
    assert Graph("abcd", []).ranks() == pytest.approx(dict.fromkeys("abcd", 0.25))


def test_a_stronger_edge_hands_on_more_rank() -> None:
    ranks = Graph("abc", [Edge("a", "b", 0.9), Edge("a", "c", 0.1)]).ranks()
    assert ranks["b"] > ranks["c"] > ranks["a"]


def test_two_groups_with_one_edge_between_them_stay_two_and_the_edge_is_a_bridge() -> None:
    graph = Graph("abcxyz", [*CLIQUES, Edge("c", "x", 0.5)])
    labels = graph.communities()
    assert labels == {**dict.fromkeys("abc", "a"), **dict.fromkeys("xyz", "x")}
    assert graph.bridges(labels) == {"c": 1, "x": 1}


def test_a_pair_is_no_community_and_no_bridge_leads_to_it() -> None:
    graph = Graph("abcde", [*CLIQUES[:3], Edge("d", "e"), Edge("c", "d", 0.1)])
    labels = graph.communities()
    assert set(labels) == set("abc")
    assert graph.bridges(labels) == {}


@given(st.lists(st.tuples(*[st.sampled_from("abcdefgh")] * 2, st.floats(0, 1))), st.randoms())
def test_the_order_of_nodes_and_edges_makes_no_difference(
    edges: list[tuple[str, str, float]], chance: random.Random
) -> None:
    straight = Graph("abcdefgh", map(Edge._make, edges))
    shuffled = chance.sample(edges, len(edges))
    other = Graph(chance.sample("abcdefgh", 8), map(Edge._make, shuffled))
    assert straight.ranks() == other.ranks()
    assert straight.communities() == other.communities()
    assert sum(straight.ranks().values()) == pytest.approx(1)


def test_twenty_thousand_nodes_take_seconds() -> None:
    chance = random.Random(4)  # noqa: S311 - a graph, not a secret
    nodes = [f"areas/{n:05}.html" for n in range(20_000)]
    edges = [
        Edge(nodes[n], nodes[(n // 20) * 20 + chance.randrange(20)], chance.random())
        for n in range(20_000)
        for _ in range(5)
    ]
    began = time.process_time()
    graph = Graph(nodes, edges)
    labels = graph.communities()
    graph.bridges(labels)
    graph.ranks()
    assert len(set(labels.values())) >= 1000
    assert time.process_time() - began < 10
