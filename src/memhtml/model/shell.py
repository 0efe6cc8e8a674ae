"""Words of a command that a person can paste into a shell: what every suggestion is made of."""

from __future__ import annotations

import re

__all__ = ["quoted"]

_plain_re = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b"'\\")


def quoted(word: str) -> str:
    r"""Return *word* as one word of a POSIX shell.

    A name that is no UTF-8, or steers a terminal, is spelled in octal; that form (``$'…'``) is
    POSIX since 2024, and bash and zsh have long had it.

    >>> print(quoted("areas/x.html"), quoted("it's"), quoted("caf\udce9"), quoted(""))
    areas/x.html 'it'"'"'s' $'caf\351' ''
    """
    if _plain_re.fullmatch(word):
        return word
    if word.isprintable():
        return "'" + word.replace("'", "'\"'\"'") + "'"
    raw = word.encode("utf-8", "surrogateescape")
    return "$'" + "".join(chr(b) if b in _PLAIN else f"\\{b:03o}" for b in raw) + "'"
