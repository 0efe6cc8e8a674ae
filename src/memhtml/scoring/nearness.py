"""The same thing said otherwise: a key that rewordings of one statement share.

The key is the set of a text's content words, so case, spacing, punctuation, composed or decomposed
accents and the order of words make no difference; function words do not count. Negations and
numbers do: a text that says "not", or another number, is another statement. It only ever advises.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["near_key"]

# Words that carry grammar and no fact. No negation is among them, nor any number or quantity.
_FUNCTION_WORDS = frozenset(
    "a an the of at in on to for by with from as is are was were be been being has have had do does"
    " did will would shall should can could may might must it its this that these those and or but"
    " if then than so there here i you he she we they them his her our their your my me us".split()
)
_word_re = re.compile(r"\w+")
_ASCII_FUNCTION_WORDS = frozenset(word.encode() for word in _FUNCTION_WORDS)
# Every ASCII character that is part of no word becomes a space.
_ASCII_WORDS = bytes(code if _word_re.fullmatch(chr(code)) else 32 for code in range(128)).ljust(
    256
)
# A run in a script that puts no spaces between words is compared by its characters' pairs.
_unspaced_re = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")


def near_key(text: str) -> str | None:
    """Return 16 hexadecimal digits that rewordings of *text* share; None for fewer than two words.

    >>> near_key("The gate opens at 06:30.") == near_key("gate  OPENS 06:30")
    True
    >>> near_key("The gate opens at 06:30.") == near_key("The gate never opens at 06:30.")
    False
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    if folded.isascii():
        words = set(folded.encode().translate(_ASCII_WORDS).split()) - _ASCII_FUNCTION_WORDS
    else:
        spelled = set(_words(folded)) - _FUNCTION_WORDS
        words = {word.encode("utf-8", "surrogatepass") for word in spelled}
    if len(words) < 2:
        return None
    # In UTF-8, words sort as they do in code points.
    return hashlib.sha256(b"\0".join(sorted(words))).hexdigest()[:16]


def _words(folded: str) -> Iterator[str]:
    for run in _word_re.findall(folded):
        if _unspaced_re.search(run):
            yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
        else:
            yield run
