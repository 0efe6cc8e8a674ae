from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.model.instants import is_content_hash, is_instant, stamp

# Two days from either end of the calendar, so that every zone's clock face still exists in UTC.
FIRST, LAST = datetime.fromisoformat("0001-01-03"), datetime.fromisoformat("9999-12-29")
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(FIRST, LAST, timezones=ZONES)


@pytest.mark.parametrize("value", ["2026-03-04", "2026-03-04T05:06:07Z", "0001-01-01"])
def test_the_two_forms_are_instants(value: str) -> None:
    assert is_instant(value)


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-04 05:06:07Z",
        "2026-03-04T05:06:07+00:00",
        "2026-03-04T05:06:07.5Z",
        "2026-03-04T05:06Z",
        "05:06:07",
        "P1D",
        "2026-W10",
        "2026-03-04T05:06:07Z\n",
        "２０２６-03-04",
    ],
)
def test_what_would_not_sort_by_its_spelling_is_no_instant(value: str) -> None:
    assert not is_instant(value)


def test_second_sixty_is_an_instant_and_hour_twenty_five_is_not() -> None:
    assert is_instant("2026-06-30T23:59:60Z")
    assert not is_instant("2026-06-30T25:00:00Z")


def test_there_is_no_year_zero() -> None:
    assert not is_instant("0000-01-01")
    assert is_instant("0044-03-15")


@given(st.integers(1, 9999), st.integers(0, 13), st.integers(0, 32))
def test_a_date_is_an_instant_exactly_when_the_calendar_has_it(
    year: int, month: int, day: int
) -> None:
    try:
        date(year, month, day)
    except ValueError:
        exists = False
    else:
        exists = True
    assert is_instant(f"{year:04}-{month:02}-{day:02}") is exists


@given(MOMENTS)
def test_a_stamp_is_an_instant(moment: datetime) -> None:
    assert is_instant(stamp(moment))


@given(MOMENTS, MOMENTS)
def test_stamps_sort_as_the_moments_do(one: datetime, other: datetime) -> None:
    if one < other:
        assert stamp(one) <= stamp(other)


@given(MOMENTS)
def test_a_bare_date_sorts_before_every_instant_of_its_day(moment: datetime) -> None:
    instant = stamp(moment)
    next_day = (datetime.fromisoformat(instant) + timedelta(days=1)).date().isoformat()
    assert instant[:10] < instant < next_day


def test_a_stamp_is_in_utc_and_in_whole_seconds() -> None:
    east = timezone(timedelta(hours=2))
    assert stamp(datetime(2026, 1, 1, 0, 30, 0, 999_999, east)) == "2025-12-31T22:30:00Z"
    assert stamp(datetime(7, 1, 2, tzinfo=UTC)) == "0007-01-02T00:00:00Z"


def test_a_moment_without_a_zone_has_no_stamp() -> None:
    with pytest.raises(ValueError, match="time zone"):
        stamp(datetime(2026, 1, 1))  # noqa: DTZ001 - a naive moment is the point


def test_a_content_hash_is_sixty_four_lower_case_hex_digits() -> None:
    assert is_content_hash("sha256:" + "0a" * 32)
    assert not is_content_hash("sha256:" + "0A" * 32)
    assert not is_content_hash("sha256:" + "0a" * 32 + "\n")
