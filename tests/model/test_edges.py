from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.model.edges import (
    Edge,
    LinkRefusal,
    LinkRule,
    Provenance,
    href_of,
    is_root_relative,
    is_well_formed,
    link_refusal,
    path_of_href,
    rel_class,
    rel_for_token,
    rels_in,
)
from memhtml.model.vocabulary import Rel, RelClass


@pytest.mark.parametrize("rel", Rel)
def test_a_token_leads_back_to_its_relation(rel: Rel) -> None:
    assert rel_for_token(rel.token) is rel
    assert rel_class(rel) is rel.rel_class
    assert ":" not in rel.token


@given(st.text())
def test_no_other_token_means_a_relation(token: str) -> None:
    rel = rel_for_token(token)
    assert rel is None or rel.token == token


def test_a_token_with_underscores_is_no_token() -> None:
    assert rel_for_token("memhtml-caused_by") is None


def test_the_families_part_the_relations() -> None:
    assert [rel for family in RelClass for rel in rels_in(family)] == list(Rel)


@pytest.mark.parametrize(
    "href", ["//host/x", "/\\host/x", "/a\\..\\b", "/\t/host", "/a\x7f", "/%2e%2E/x", "/a/.%2e"]
)
def test_an_href_that_a_browser_takes_out_of_the_store_is_refused(href: str) -> None:
    assert not is_root_relative(href)


@pytest.mark.parametrize("href", ["/a%20b.html", "/a%2eb.html", "/a?q=\\x", "/..a", "/a#../.."])
def test_an_href_that_stays_below_the_root_is_accepted(href: str) -> None:
    assert is_root_relative(href)


@given(st.text(alphabet="ab./ é", min_size=1))
def test_the_href_of_a_path_leads_back_to_it(path: str) -> None:
    href = href_of(path)
    if is_root_relative(href):
        assert href_of(path_of_href(href) or "") == href


@pytest.mark.parametrize("strength", [-0.1, 1.1, float("nan")])
def test_an_edge_is_as_strong_as_nothing_to_one(strength: float) -> None:
    edge = Edge("areas/a.html", Rel.SUPPORTS, "areas/b.html", RelClass.MEMORY)
    assert is_well_formed(edge)
    assert not is_well_formed(edge._replace(strength=strength))


@pytest.mark.parametrize("provenance", Provenance)
def test_only_sleep_derives_edges(provenance: Provenance) -> None:
    edge = Edge("areas/a.html", Rel.SUPPORTS, "areas/b.html", RelClass.MEMORY, provenance)
    assert is_well_formed(edge)
    assert is_well_formed(edge._replace(derived=True)) is (provenance is Provenance.SLEEP)


def test_a_file_cannot_point_at_itself_however_its_path_is_spelt() -> None:
    edge = Edge("areas/a.html", Rel.SUPPORTS, "/areas//a.html", RelClass.MEMORY)
    assert not is_well_formed(edge)
    refusal = link_refusal(
        Rel.BLOCKS, src=edge.src, dst=edge.dst, src_type="verdict", dst_type="verdict"
    )
    assert refusal == LinkRefusal(LinkRule.SELF, None)
