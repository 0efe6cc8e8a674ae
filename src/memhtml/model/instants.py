"""The two time forms a memory may state, and the hash form beside them.

A time is kept, compared and ordered as the string it is, so only values that sort by spelling as
they sort by time are times here (seed §5.2): the calendar date ``YYYY-MM-DD`` and the UTC instant
``YYYY-MM-DDThh:mm:ssZ``. A date is a prefix of every instant of its day, so the two mix safely.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["ContentHash", "Instant", "is_content_hash", "is_instant", "stamp"]

Instant = NewType("Instant", str)
"""A date or UTC instant in one of the two sortable forms."""

ContentHash = NewType("ContentHash", str)
"""``sha256:`` and 64 lower-case hex digits."""

# Second 60 is admitted at any minute: a leap second is a real instant (seed §5.2).
_instant_re = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)Z)?"
)
_content_hash_re = re.compile(r"sha256:[0-9a-f]{64}")

_MONTHS_OF_30_DAYS = frozenset({4, 6, 9, 11})


def is_instant(value: str) -> bool:
    """Whether *value* is a date that exists, or a UTC instant on one, in its one spelling.

    The year is 0001 to 9999. There is no year 0000 between 1 BC and AD 1, so it is refused; the
    TypeScript tool also refuses 0001 to 0099, though they sort as they should.

    >>> [is_instant(v) for v in ("2024-02-29", "2026-02-29", "2026-03-04T23:59:60Z")]
    [True, False, True]
    >>> [is_instant(v) for v in ("2026-03-04 05:06:07Z", "2026-03-04T05:06Z", "0044-03-15")]
    [False, False, True]
    """
    if _instant_re.fullmatch(value) is None or value.startswith("0000"):
        return False
    # Every month has 28 days, so most dates need no calendar; this is asked of every time we read.
    day = value[8:10]
    return day <= "28" or int(day) <= _days_in(int(value[:4]), int(value[5:7]))


def stamp(moment: datetime) -> Instant:
    """Return *moment* as a UTC instant; what is finer than a second is cut off.

    Raises:
        ValueError: *moment* has no time zone, so it names no instant.

    >>> from datetime import datetime
    >>> stamp(datetime.fromisoformat("2026-01-01T00:30:00.9+02:00"))
    '2025-12-31T22:30:00Z'
    """
    offset = moment.utcoffset()
    if offset is None:
        raise ValueError("a moment without a time zone names no instant")
    # `isoformat` pads the year to four digits on every platform; `strftime("%Y")` does not.
    return Instant((moment.replace(tzinfo=None, microsecond=0) - offset).isoformat() + "Z")


def is_content_hash(value: str) -> bool:
    """Whether *value* has the form of a content hash; whether it is true is another question.

    >>> is_content_hash("sha256:" + "0" * 64), is_content_hash("sha256:" + "F" * 64)
    (True, False)
    """
    return _content_hash_re.fullmatch(value) is not None


def _days_in(year: int, month: int) -> int:
    if month == 2:
        is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return 29 if is_leap else 28
    return 30 if month in _MONTHS_OF_30_DAYS else 31
