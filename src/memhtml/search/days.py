"""Days between two times of the format, without the library of dates: a search needs no more."""

from __future__ import annotations

import functools

__all__ = ["days_between"]


def days_between(earlier: str, later: str) -> float:
    """Return how many days *later* comes after *earlier*; both dates or UTC instants.

    >>> days_between("2024-02-28", "2024-03-01T12:00:00Z")
    2.5
    """
    return _days(later) - _days(earlier)


@functools.lru_cache(maxsize=4096)
def _days(instant: str) -> float:
    year, month, day = int(instant[:4]), int(instant[5:7]), int(instant[8:10])
    # Counted in years that begin in March, so a leap day is the last of its year.
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day
    if len(instant) == 10:
        return float(days)
    seconds = 3600 * int(instant[11:13]) + 60 * int(instant[14:16]) + int(instant[17:19])
    return days + seconds / 86_400
