"""Moments as people name them: a day, an instant, or how long ago. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from memhtml.model.instants import is_instant, stamp
from memhtml.model.zoned import utc_instant

__all__ = ["moment"]

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_ago_re = re.compile(r"([0-9]{1,4}) ?(h|d|w)(?:ours?|ays?|eeks?)?(?: ago)?")
_DAYS = {"today": 0, "yesterday": 1}


def moment(text: str, now: datetime, *, to_the_end: bool = False) -> str | None:
    """Return the instant that *text* names at *now*, or None where it names none.

    Days are those of UTC, as in the files; one counts from its start, or *to_the_end* of it.

    >>> noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    >>> moment("2026-11-01", noon), moment("3 days ago", noon), moment("36h", noon)
    ('2026-11-01T00:00:00Z', '2026-11-27T12:00:00Z', '2026-11-29T00:00:00Z')
    >>> moment("yesterday", noon, to_the_end=True), moment("HEAD~3", noon)
    ('2026-11-29T23:59:59Z', None)
    """
    text = text.strip()
    ago = _ago_re.fullmatch(text.lower())
    if ago is not None:
        return stamp(now - int(ago[1]) * _UNITS[ago[2]])
    if text.lower() in _DAYS:
        text = (now.astimezone(UTC) - timedelta(days=_DAYS[text.lower()])).date().isoformat()
    if is_instant(text):
        if len(text) == 10:
            return text + ("T23:59:59Z" if to_the_end else "T00:00:00Z")
        return text
    return utc_instant(text)
