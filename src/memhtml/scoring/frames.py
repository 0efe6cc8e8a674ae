"""Frame keys: what a claim is about, without the value it gives.

Two claims with one key fill the same slot, so they may contradict each other: "The pool ceiling
is 64" and "The pool ceiling is 80". The key is found by form alone, so it proposes and never
decides.
"""

from __future__ import annotations

from memhtml.model.whitespace import wide_split

__all__ = ["frame_key"]

_HINGES = frozenset({"of", "is", "in", "to", "by", "as"})
_MIN_FRAME_WORDS = 3
_MAX_VALUE_WORDS = 6


def frame_key(claim: str) -> str | None:
    """Return the lower-cased words of *claim* up to its last hinge word that a value follows.

    Hinges are ``of is in to by as``, in lower case. None when there is no such word, when fewer
    than three words precede the value, or when the value has more than six.

    >>> frame_key("The pool  ceiling is 64."), frame_key("The pool ceiling is 80")
    ('the pool ceiling is', 'the pool ceiling is')
    >>> frame_key("Backups go to the vault in Oslo")
    'backups go to the vault in'
    >>> frame_key("It is 64")
    """
    words = wide_split(" ".join(wide_split(claim)).removesuffix("."))
    hinges = (n for n in range(len(words) - 2, -1, -1) if words[n] in _HINGES)
    last = next(hinges, None)
    if last is None:
        return None
    frame, value = words[: last + 1], words[last + 1 :]
    if len(frame) < _MIN_FRAME_WORDS or len(value) > _MAX_VALUE_WORDS:
        return None
    return " ".join(frame).lower()
