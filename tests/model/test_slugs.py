from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memhtml.model.slugs import (
    MAX_SLUG_CHARS,
    filename,
    has_date_prefix,
    is_device_name,
    is_slug,
    slugify,
    with_ordinal,
)

# Everyday text, so that most examples are not one unassigned character beside another.
TITLES = st.text(alphabet=st.characters(categories=("L", "M", "N", "P", "S", "Z")), max_size=60)
SLUGS = st.from_regex(r"[a-z0-9]{1,40}(-[a-z0-9]{1,30})?(-2)?", fullmatch=True)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Release plan", "release-plan"),
        ("release-plan", "release-plan"),
        ("RELEASE PLAN", "release-plan"),
        ("CON", "con-1"),
        ("aux.html", "aux-html"),
        ("a:b*c?", "a-b-c"),
        ("trailing dot.", "trailing-dot"),
        ("my-app status", "my-app-status"),
        ("日程", "ri-cheng"),
        ("Расписание", "raspisanie"),
        ("📌", "pushpin"),
    ],
)
def test_a_title_becomes_a_name_that_people_recognise(title: str, slug: str) -> None:
    assert slugify(title) == slug


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("한국어 일정", "hangugeo-iljeong"),
        ("नमस्ते दुनिया", "nmste-duniya"),
        ("تقرير ٢٠٢٦", "tqryr-2026"),
        ("письмо", "pismo"),
        ("が か", "ga-ka"),
        ("Hawaiʻi", "hawaii"),
        ("Straße nach Łódź", "strasse-nach-lodz"),
        ("北京 2024", "bei-jing-2024"),
    ],
)
def test_letters_of_every_script_are_transliterated(title: str, slug: str) -> None:
    assert slugify(title) == slug


def test_a_sign_is_named_only_where_nothing_else_would_be_left() -> None:
    assert slugify("🦉 owl 🦉") == "owl"
    assert slugify("🦉🦉") == "owl-owl"
    assert slugify("—…!") == "untitled"


def test_letters_nobody_can_transliterate_leave_a_title_untitled() -> None:
    assert slugify("\U00012000") == "untitled"


@pytest.mark.parametrize("title", ["nul", "PRN", "Com1", "lpt9", "COM¹", " aux "])
def test_a_device_name_gets_a_suffix(title: str) -> None:
    slug = slugify(title)
    assert is_slug(slug)
    assert not is_device_name(slug)


@pytest.mark.parametrize("name", ["aux", "AUX.html", "con.tar.gz", "nul .html", "LPT³"])
def test_windows_reads_a_device_whatever_the_case_and_extension(name: str) -> None:
    assert is_device_name(name)


@pytest.mark.parametrize("name", ["auxiliary", "com", "com10", "my-con", "lpta"])
def test_a_name_that_only_resembles_a_device_is_free(name: str) -> None:
    assert not is_device_name(name)


@given(TITLES)
@example("ﷺ" * 20)
def test_what_slugify_gives_is_a_slug_and_no_device(title: str) -> None:
    slug = slugify(title)
    assert is_slug(slug)
    assert not is_device_name(slug)


@given(TITLES)
@example("が")
@example("ᄒ각")
def test_composed_and_decomposed_titles_agree(title: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, title) for form in ("NFC", "NFD"))
    assert slugify(composed) == slugify(decomposed)


@given(SLUGS)
def test_a_slug_is_its_own_slug(slug: str) -> None:
    assume(not is_device_name(slug))
    assert slugify(slug) == slug


@given(SLUGS, st.integers(2, 10**6))
@example("a" * 78 + "-2", 2)
@example("a" * 76 + "-100", 100)
def test_a_later_ordinal_gives_another_slug(slug: str, ordinal: int) -> None:
    assert is_slug(slug)
    other = with_ordinal(slug, ordinal)
    assert is_slug(other)
    assert other != slug
    assert other.endswith(f"-{ordinal}")


@given(SLUGS, st.integers(1, 10**4), st.integers(1, 10**4))
def test_two_ordinals_never_share_a_name(slug: str, one: int, other: int) -> None:
    assume(one != other)
    assert with_ordinal(slug, one) != with_ordinal(slug, other)


def test_two_long_titles_that_begin_alike_get_two_names() -> None:
    slug = slugify("x" * 400)
    assert len(slug) == MAX_SLUG_CHARS
    assert len(with_ordinal(slug, 2)) == MAX_SLUG_CHARS
    assert with_ordinal(slug, 2) != slug


def test_an_episodic_name_begins_with_the_utc_date() -> None:
    name = filename("owl", dated_at=datetime(2026, 1, 2, tzinfo=UTC))
    assert name == "20260102-owl.html"
    assert has_date_prefix(name)
    assert not has_date_prefix(filename("owl"))
