"""Texts of a transcript as they may be stored: short, on one line, and without credentials.

People paste keys into conversations and tools print them. What is stored of a transcript can be
found and quoted for ever, so every text passes through here first, and what is cut is shown as
``[secret: GitHub token]``.
"""

from __future__ import annotations

import re

from memhtml.format.secrets import find_secrets

__all__ = ["clipped", "cut_secrets", "flat"]

_BEGIN = "private key"
_end_of_key_re = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_MARGIN_CHARS = 4096
"""A credential that begins before a cut and ends behind it must be seen whole."""


def cut_secrets(text: str) -> tuple[str, int]:
    """Return *text* with each credential replaced by its kind, and how many there were.

    Of a private key everything to its last line goes, or to the end where that is missing.

    >>> cut_secrets("令牌ghp_" + "a1B2" * 9 + "在这里")
    ('令牌[secret: GitHub token]在这里', 1)
    """
    parts, reached, count = list[str](), 0, 0
    for found in find_secrets(text):
        if found.start < reached:
            continue
        end = found.end
        if found.kind == _BEGIN:
            last = _end_of_key_re.search(text, end)
            end = last.end() if last else len(text)
        parts += [text[reached : found.start], f"[secret: {found.kind}]"]
        reached = end
        count += 1
    return "".join([*parts, text[reached:]]), count


def clipped(text: str, limit: int) -> tuple[str, int]:
    """Return at most *limit* characters of *text* on one line, safe to store; and what was cut."""
    seen = text[: limit + _MARGIN_CHARS]
    safe, count = cut_secrets(seen)
    return flat(safe)[:limit], count


def flat(text: str) -> str:
    r"""Return *text* with every run of whitespace as one space, and none at its ends.

    >>> flat(" a\n\t b ")
    'a b'
    """
    # A lone surrogate is legal in JSON and nowhere else.
    return " ".join(text.split()).encode("utf-8", "replace").decode("utf-8")
