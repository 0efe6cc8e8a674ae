"""Times as people and programs write them, read into the one spelling the format has.

Only a text that names one instant can be read: a date and a time with an offset or ``Z``. What
has none is somebody's local time, and whose is not written.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memhtml.model.instants import Instant, is_instant

__all__ = ["utc_instant"]

# A fraction of a second is read only when it is zero, for the format has no place to keep another.
_zoned_re = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt]| +)([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:[.,]0+)?)?"
    r" ?(?:[Zz]|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?)"
)


def utc_instant(text: str) -> Instant | None:
    """Return the instant that *text* names in the format's spelling, or None if it names none.

    >>> utc_instant("2026-03-01 00:30:00 +02:00")
    '2026-02-28T22:30:00Z'
    >>> utc_instant("2026-03-01T00:30:00") is None  # whose half past midnight?
    True
    """
    match = _zoned_re.fullmatch(text.strip())
    if match is None:
        return None
    date, minute, second, sign, hours, minutes = match.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        local = datetime.fromisoformat(f"{date}T{minute}")
        moment = local + offset if sign == "-" else local - offset
    except (ValueError, OverflowError):
        return None
    # Offsets are whole minutes, so the second, be it the 60th, is the same in every zone.
    instant = f"{moment.isoformat()[:16]}:{second or '00'}Z"
    return Instant(instant) if is_instant(instant) else None
