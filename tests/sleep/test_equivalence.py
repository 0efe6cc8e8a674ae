from __future__ import annotations

from typing import Any

import pytest

from memhtml.sleep.equivalence import adds, compare, known_names
from memhtml.sleep.population import Facet
from memhtml.sleep.statements import Statement, read_statement
from memhtml.sleep.vetoes import Veto, find_veto
from tests.sleep.memories import live
from tests.sleep.pairs import DIFFERENT, SAME


def both_ways(one: Statement, other: Statement) -> tuple[bool, Veto | None]:
    there = compare(one, other).same, find_veto(one, other)
    back = compare(other, one).same, find_veto(other, one)
    assert there[0] == back[0]
    assert (there[1] and there[1].rule) == (back[1] and back[1].rule), "a veto is symmetric"
    return there


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_other_words_is_the_same_and_nothing_stands_against_it(
    one: str, other: str
) -> None:
    assert both_ways(read_statement(live(one)), read_statement(live(other))) == (True, None)


@pytest.mark.parametrize(("one", "other", "rule"), DIFFERENT)
def test_nearly_the_same_words_for_something_else_stay_apart(
    one: str, other: str, rule: str | None
) -> None:
    """sleep.md §9.1, §9.14, §9.15."""
    same, veto = both_ways(read_statement(live(one)), read_statement(live(other)))
    assert (veto and veto.rule) == rule
    assert veto or not same


def test_a_marker_on_both_sides_does_not_hide_what_is_denied() -> None:
    """sleep.md §9.14: ``failed`` counted as a marker in both, so these two were folded."""
    one = read_statement(live("The gateway never retries failed calls"))
    other = read_statement(live("The gateway retries failed calls"))
    veto = find_veto(one, other)
    assert veto == Veto("negation", "only one of them denies retr")


@pytest.mark.parametrize(
    ("mine", "theirs", "rule"),
    [
        ({"body": "It waits 5 s"}, {"body": "It waits 5 min"}, "quantity"),
        ({"body": "The legacy one"}, {"body": "The one"}, "variant"),
        ({"entities": ("service:cart",)}, {"entities": ("service:search",)}, "entity"),
        ({"entities": ("service:cart",)}, {}, "entity"),
        ({"workspace": "alpha"}, {"workspace": "beta"}, "workspace"),
        ({"event_at": "2026-01-01"}, {"event_at": "2026-01-02"}, "time"),
        ({"valid_until": "2026-01-01"}, {}, "time"),
        (
            {"facets": (Facet("port", "80", 80.0),)},
            {"facets": (Facet("port", "81", 81.0),)},
            "facet",
        ),
        ({"path": "areas/a.html", "links": (("contradicts", "areas/b.html"),)}, {}, "relation"),
    ],
)
def test_equal_claims_stay_apart_for_what_stands_around_them(
    mine: dict[str, Any], theirs: dict[str, Any], rule: str
) -> None:
    """sleep.md §9.15: only the claims were compared, and only their bare numbers."""
    claim = "The request timeout is 30 s"
    one = read_statement(live(claim, **{"path": "areas/a.html", **mine}))
    other = read_statement(live(claim, **{"path": "areas/b.html", **theirs}))
    same, veto = both_ways(one, other)
    assert same
    assert veto is not None
    assert veto.rule == rule


def test_an_entity_that_the_other_claim_speaks_of_is_no_difference() -> None:
    claim = "The cart service asks the search service"
    one = read_statement(live(claim, entities=("service:cart",)))
    other = read_statement(live(claim, entities=("service:search",)))
    assert find_veto(one, other) is None


def test_aliases_are_one_person() -> None:
    leads = {"person:laith": "person:laith", "person:laith al-saadoon": "person:laith"}
    one = read_statement(live("He likes tea", entities=("person:laith",)), leads)
    other = read_statement(live("He likes tea", entities=("person:Laith Al-Saadoon",)), leads)
    assert find_veto(one, other) is None


def test_a_remark_may_go_but_a_number_a_name_or_a_paragraph_is_something_added() -> None:
    plain = read_statement(live("The gate opens early"))
    for body, added in (
        ("The runbook has the details.", ()),
        ("It is so since 2019.", ("2019",)),
        ("We learned it from Omar.", ("omar",)),
    ):
        assert adds(read_statement(live("The gate opens early", body=body)), plain) == added
    paragraph = "Lorries queue along the fence while guards inspect papers, seals, tyres, " * 2
    paragraph += "brakes, mirrors, cargo, drivers, licences and permits"
    assert adds(read_statement(live("The gate opens early", body=paragraph)), plain)


def test_a_word_is_a_name_where_it_is_mostly_written_as_one() -> None:
    claims = ("We met Hanna", "Then Hanna left", "A hanna is rare", "The Gate is a gate", "a gate")
    assert known_names([read_statement(live(claim)) for claim in claims]) == {"hanna"}
