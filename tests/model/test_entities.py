from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memhtml.model.entities import (
    Entity,
    is_person,
    normalize_entity,
    normalize_entity_name,
    parse_entity,
)


@given(st.text())
@example("İ:I")
@example("a: :")
@example("ΑΣ:ΟΣ Σ")
def test_the_normal_form_is_its_own_normal_form(reference: str) -> None:
    normal = normalize_entity(reference)
    assert normalize_entity(normal) == normal


@given(st.text())
def test_composed_and_decomposed_names_are_one(name: str) -> None:
    forms = {normalize_entity_name(unicodedata.normalize(form, name)) for form in ("NFC", "NFD")}
    assert len(forms) == 1


@given(st.text())
def test_a_typed_reference_is_its_two_halves(reference: str) -> None:
    entity = parse_entity(reference)
    if entity is None:
        assert (
            ":" not in reference
            or reference[0] == ":"
            or reference.index(":") + 1 == len(reference)
        )
    else:
        assert ":".join(entity) == reference
        assert ":" not in entity.type


def test_only_the_first_colon_splits() -> None:
    assert parse_entity("url:http://x") == Entity("url", "http://x")


def test_case_and_spacing_do_not_make_another_thing() -> None:
    assert normalize_entity("org: DGX ") == normalize_entity("ORG:dgx")


@pytest.mark.parametrize("reference", ["person:Ada", "person: x", "person:a:b"])
def test_a_person_is_a_person_with_a_name(reference: str) -> None:
    assert is_person(reference)


@pytest.mark.parametrize("reference", ["person:", "person:\u3000", "Person:Ada", "persons:x"])
def test_what_only_looks_like_a_person_is_none(reference: str) -> None:
    assert not is_person(reference)
