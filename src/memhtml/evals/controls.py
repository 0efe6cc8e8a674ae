"""Controls: near-twins of a memory that say something else, and the vetoes that tell them apart.

A control shares nearly every word with its target, so a search that ranks one above the target by
chance would hand its reader the wrong fact. One is kept only if its own veto sees the difference.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Family", "control_of", "differs"]

VARIANTS = ("pro", "beta", "legacy", "experimental", "preview")

_NEGATABLE = ("should", "must", "will", "does", "were", "was", "are", "can", "is", "do")
_NEGATIVE = frozenset({"not", "no", "never", "none", "nothing", "nobody", "without"})
_number_re = re.compile(r"[0-9]+")
_token_re = re.compile(r"[a-z0-9]+(?:\.[0-9]+)*")


class Family(StrEnum):
    """How a control differs from its target."""

    NEGATION = "negation"
    NUMERIC = "numeric"
    VARIANT = "variant"


def control_of(claim: str, family: Family, *, anchor: str, choice: int) -> str | None:
    """Return *claim* turned into a control, or None when it cannot be.

    *anchor* names what the claim is about; *choice* picks the variant.

    >>> control_of("The mail relay should retry 4 times.", Family.NEGATION, anchor="", choice=0)
    'The mail relay should not retry 4 times.'
    >>> control_of("It keeps 120 rows.", Family.NUMERIC, anchor="", choice=0)
    'It keeps 240 rows.'
    >>> control_of("The mail relay rests.", Family.VARIANT, anchor="mail relay", choice=2)
    'The mail relay legacy rests.'
    """
    made = _MAKERS[family](claim, anchor, choice)
    return made if made is not None and differs(claim, made, family) else None


def differs(one: str, other: str, family: Family) -> bool:
    """Whether the veto of *family* sees that two texts do not say the same."""
    return _MARKS[family](one) != _MARKS[family](other)


def _negated(claim: str, _anchor: str, _choice: int) -> str:
    for word in _NEGATABLE:
        found = re.search(rf"\b{word}\b", claim, re.IGNORECASE)
        if found is not None:
            return f"{claim[: found.end()]} not{claim[found.end() :]}"
    return f"It is not true that {claim[:1].lower()}{claim[1:]}"


def _renumbered(claim: str, _anchor: str, _choice: int) -> str | None:
    found = _number_re.search(claim)
    if found is None:
        return None
    number = int(found[0])
    other = number + 10 if number < 100 else 2 * number
    return f"{claim[: found.start()]}{other}{claim[found.end() :]}"


def _varied(claim: str, anchor: str, choice: int) -> str:
    variant = VARIANTS[choice % len(VARIANTS)]
    at = claim.lower().find(anchor.lower()) if anchor else -1
    if at < 0:
        return f"{claim.removesuffix('.')}, in the {variant} edition."
    end = at + len(anchor)
    return f"{claim[:end]} {variant}{claim[end:]}"


def _tokens(text: str) -> list[str]:
    return _token_re.findall(text.lower())


_MAKERS: dict[Family, Callable[[str, str, int], str | None]] = {
    Family.NEGATION: _negated,
    Family.NUMERIC: _renumbered,
    Family.VARIANT: _varied,
}
_MARKS: dict[Family, Callable[[str], object]] = {
    Family.NEGATION: lambda text: frozenset(_tokens(text)) & _NEGATIVE,
    Family.NUMERIC: lambda text: {t for t in _tokens(text) if any(map(str.isdigit, t))},
    Family.VARIANT: lambda text: frozenset(_tokens(text)) & frozenset(VARIANTS),
}
