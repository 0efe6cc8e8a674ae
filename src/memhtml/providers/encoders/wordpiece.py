"""WordPiece: text → word pieces, exactly as uncased BERT models were trained to see it.

Two steps. `words` folds a text (control characters out, accents off, lower case) and cuts it at
white space, around every punctuation mark and around every Han character. `spell` then makes up
each word from the longest pieces a vocabulary has, left to right; a word that cannot be spelled is
one unknown piece. Any other reading would feed the model words it has never met.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["LONGEST_WORD", "WordPiece", "spell", "words"]

LONGEST_WORD = 100
"""A longer word is one unknown piece, whatever it is made of (BERT's own limit)."""

_ascii_word_re = re.compile(r"[0-9a-z]+|[!-/:-@\[-`{-~]")
_ascii_control_re = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

# The blocks that BERT calls Chinese: Han, without kana and Hangul, whose words stay whole.
_HAN = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)

Found = TypeVar("Found")


class WordPiece:
    """Spells texts as piece ids of one vocabulary."""

    __slots__ = ("_begin", "_end", "_ids", "_unknown")

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """*vocabulary* is every piece in order of its id, the special ones included."""
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        self._begin = self._ids["[CLS]"]
        self._end = self._ids["[SEP]"]
        self._unknown = self._ids["[UNK]"]

    def ids(self, text: str, limit: int) -> list[int]:
        """Return the ids of *text* between the two that BERT wants around it.

        What passes *limit* ids, those two included, is cut off.

        >>> WordPiece(["[UNK]", "[CLS]", "[SEP]", "un", "##do"]).ids("Undo it", 8)
        [1, 3, 4, 0, 2]
        """
        ids = [self._begin]
        for word in words(text):
            whole = self._ids.get(word)
            if whole is None or len(word) > LONGEST_WORD:
                ids += spell(word, self._ids.get) or (self._unknown,)
            else:
                ids.append(whole)
            if len(ids) >= limit:
                break
        del ids[limit - 1 :]
        ids.append(self._end)
        return ids


def words(text: str) -> list[str]:
    """Return the words and the single marks of *text*, folded, in order.

    >>> words("Ça va, C++?")
    ['ca', 'va', ',', 'c', '+', '+', '?']
    >>> words("東京tower")
    ['東', '京', 'tower']
    """
    if text.isascii():
        return _ascii_word_re.findall(_ascii_control_re.sub("", text).lower())
    decomposed = unicodedata.normalize("NFD", text.translate(_CLEANED))
    return decomposed.translate(_FOLDED).split()


def spell(word: str, find: Callable[[str], Found | None]) -> list[Found] | None:
    """Return what *find* has for the longest pieces that make up *word*, left to right.

    *find* is asked for pieces as a vocabulary has them: one that continues a word begins with
    ``##``. None when the word cannot be spelled or is longer than `LONGEST_WORD`.

    >>> spell("undo", {"un": 3, "##do": 4, "##d": 5}.get)
    [3, 4]
    """
    if len(word) > LONGEST_WORD:
        return None
    found: list[Found] = []
    start = 0
    while start < len(word):
        lead = "##" if start else ""
        for end in range(len(word), start, -1):
            piece = find(lead + word[start:end])
            if piece is not None:
                found.append(piece)
                start = end
                break
        else:
            return None
    return found


class _Cleaned(dict[int, str]):
    """A `str.translate` table that fills itself: what BERT drops, and what it sets apart."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in "\t\n\r":
            clean = " "
        elif char == "\ufffd" or unicodedata.category(char).startswith("C"):
            clean = ""
        elif char.isspace():
            clean = " "
        elif any(first <= code <= last for first, last in _HAN):
            clean = f" {char} "
        else:
            clean = char
        self[code] = clean
        return clean


class _Folded(dict[int, str]):
    """The same for decomposed text: accents off, marks apart, lower case.

    Lower case is taken character by character: `str.lower` reads a final sigma by its context,
    BERT does not.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if category == "Mn":
            folded = ""
        elif category.startswith("P") or (code < 128 and category.startswith("S")):
            folded = f" {char} "
        else:
            folded = char.lower()
        self[code] = folded
        return folded


_CLEANED = _Cleaned()
_FOLDED = _Folded()
