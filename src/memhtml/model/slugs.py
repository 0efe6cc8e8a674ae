"""A title as a stable, safe file name.

A slug is lower-case ASCII words joined by hyphens, so it is the same on every file system. Where
a title decomposes to ASCII the rule is the shared one of the format (format-behaviour §16).
Letters that do not decompose are transliterated instead of dropped, so a title in any script stays
recognisable, and a name that Windows reserves for a device gets a suffix.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from memhtml.model.instants import stamp

if TYPE_CHECKING:
    from datetime import datetime

__all__ = [
    "MAX_SLUG_CHARS",
    "UNTITLED",
    "filename",
    "has_date_prefix",
    "is_device_name",
    "is_slug",
    "slugify",
    "with_ordinal",
]

MAX_SLUG_CHARS = 80
UNTITLED = "untitled"

_slug_re = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_gap_re = re.compile(r"[^a-z0-9]+")
_date_prefix_re = re.compile(r"[0-9]{8}-")
_DEVICES = frozenset(
    # Windows reads the superscripts one to three as digits here.
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [port + digit for port in ("com", "lpt") for digit in "0123456789\u00b9\u00b2\u00b3"]
)


def slugify(title: str) -> str:
    """Return *title* as a slug of 1 to 80 characters; every spelling of it in Unicode agrees.

    >>> slugify("Déjà vu — café"), slugify("my-app status"), slugify("!!!")
    ('deja-vu-cafe', 'my-app-status', 'untitled')
    >>> slugify("日程 2026"), slugify("Расписание"), slugify("Straße")
    ('ri-cheng-2026', 'raspisanie', 'strasse')

    What has neither letters nor digits is called by the name of its signs, if they have one:

    >>> slugify("📌"), slugify("CON")
    ('pushpin', 'con-1')
    """
    slug = _hyphenate(title if title.isascii() else _ascii_of(title))
    return f"{slug}-1" if is_device_name(slug) else slug or UNTITLED


def is_slug(value: str) -> bool:
    """Whether *value* has the form that `slugify` gives.

    >>> is_slug("owl-boxes"), is_slug("owl--boxes"), is_slug("Owl")
    (True, False, False)
    """
    return len(value) <= MAX_SLUG_CHARS and _slug_re.fullmatch(value) is not None


def with_ordinal(slug: str, ordinal: int) -> str:
    """Return *slug* for the *ordinal*-th file that wants it: itself for the first, then suffixed.

    From the second on, the result differs from *slug* and stays within the 80 characters.

    >>> with_ordinal("owl", 1), with_ordinal("owl", 2), with_ordinal("owl-2", 2)
    ('owl', 'owl-2', 'owl-2-2')
    """
    if ordinal <= 1:
        return slug
    suffix = f"-{ordinal}"
    stem = slug[: MAX_SLUG_CHARS - len(suffix)].rstrip("-")
    while stem + suffix == slug:
        stem = stem[:-1].rstrip("-")
    return (stem or UNTITLED) + suffix


def filename(slug: str, *, dated_at: datetime | None = None) -> str:
    """Return the file name for *slug*, with the UTC date of *dated_at* in front if given.

    Episodic memories are dated, so that a folder of them lists in the order of events. The date is
    not part of the 80 characters.

    >>> from datetime import datetime
    >>> filename("owl", dated_at=datetime.fromisoformat("2026-01-01T00:30:00+02:00"))
    '20251231-owl.html'
    """
    if dated_at is None:
        return f"{slug}.html"
    return f"{stamp(dated_at)[:10].replace('-', '')}-{slug}.html"


def has_date_prefix(name: str) -> bool:
    """Whether a file name begins like a dated one: eight digits and a hyphen.

    >>> has_date_prefix("20260102-owl.html"), has_date_prefix("owl.html")
    (True, False)
    """
    return _date_prefix_re.match(name) is not None


def is_device_name(name: str) -> bool:
    """Whether Windows takes *name* for a device, whatever its case or extension.

    >>> is_device_name("aux.html"), is_device_name("COM1"), is_device_name("auxiliary")
    (True, True, False)
    """
    return name.partition(".")[0].rstrip(" ").lower() in _DEVICES


def _hyphenate(text: str) -> str:
    words = _gap_re.sub("-", text.lower()).strip("-")
    return words[:MAX_SLUG_CHARS].rstrip("-")


def _ascii_of(title: str) -> str:
    # Composed first: a transliteration knows "й" and "が", not their parts.
    text = unicodedata.normalize("NFKC", title)
    if any(_is_foreign(char) for char in text):
        text = "".join(map(_romanised, text))
    else:
        text = _without_marks(text)
    if _gap_re.fullmatch(text.lower()):
        # Nothing is left but signs; an emoji has a name at least.
        from anyascii import anyascii  # noqa: PLC0415 - 30 ms, for titles outside ASCII only

        text = anyascii(title)
    return text


def _is_foreign(char: str) -> bool:
    return unicodedata.category(char)[0] == "L" and not _without_marks(char).isascii()


def _romanised(char: str) -> str:
    """Return the Latin letters for *char*, "" for what is only heard, "-" for what parts words."""
    from anyascii import anyascii  # noqa: PLC0415 - 30 ms, for titles outside ASCII only

    folded = _without_marks(char)
    if folded and folded.isascii():
        return folded
    kind = unicodedata.category(char)
    if kind[0] not in "LM" and kind not in {"Nd", "Nl"}:
        return "-"
    # Vowel signs are marks in many scripts, so they are kept, whereas accents have no letters.
    # A soft sign or an ayin comes out as an apostrophe, and must not cut its word in two.
    letters = "".join(filter(str.isalnum, anyascii(char)))
    # Han has no spaces: one hyphen a syllable keeps it readable.
    return f"-{letters}-" if _is_han(char) else letters


def _is_han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff"


def _without_marks(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
