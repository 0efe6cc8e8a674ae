"""Text as the full-text index is fed it: words as they are, and what words alone would lose.

SQLite's tokenizer sees letters and digits only, so ``C++`` and ``C#`` would be one word, and a run
of Japanese would be a single one. Three rewritings mend that before it looks:

- An *identifier* (``E-1042``, ``.NET``, ``ops@example.org``, ``getUserName``) becomes its *exact
  token* followed by its parts, so it is found whole, by each part, and told from its neighbours.
  In an exact token each mark is written as a private-use character, which the tokenizer takes for
  a letter, and one more at the end keeps the stemmer away.
- A *run* of a script written without spaces becomes its overlapping pairs of characters and its
  last character: any word of two or more characters inside it is then a phrase of pairs, and any
  single character the beginning of a token.
- Everything else is brought into its compatibility form (NFKC) and case-folded.

What a question means is decided in `memhtml.search.terms`, with the pieces defined here.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import NamedTuple

__all__ = [
    "RUN_CLASS",
    "Identifier",
    "Segment",
    "analysed",
    "chunks",
    "cleaned",
    "exact_token",
    "folded",
    "identify",
    "is_run",
    "is_word_char",
    "pairs",
    "segment_tokens",
]

EXACT_END = "\ue0ff"
MAX_EXACT_CHARS = 200
"""A longer thing between two spaces is data, not a name: only its parts are indexed."""

# Han with its iteration marks, kana, hangul, Thai, Lao, Myanmar, Khmer.
RUN_CLASS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u30a0-\u30ff"
    "\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_SYMBOLS = r".\-+#@/\\:=&%~$"
# Python's \w leaves out the marks that are written as characters of their own.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"


def _special(chunk: str) -> str:
    # A chunk that is one plain word, perhaps at the end of a sentence, needs no second look; the
    # tokenizer reads it as we would. This keeps prose at the speed of one regular expression.
    plain = rf"(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)[.:]*(?!{chunk})"
    return rf"(?<!{chunk})(?!{plain}){chunk}+"


# Patterns over all of Unicode take milliseconds to compile, which a cold search for ASCII words
# need not pay: they are strings, and `re` compiles and keeps each at its first use.
_RUN = f"[{RUN_CLASS}]+"
_ASCII_CHUNK = rf"[\w{_SYMBOLS}]"
_CHUNK = rf"[\w{_MARKS}{_SYMBOLS}]"
_ASCII_SPECIAL = _special(_ASCII_CHUNK)
_SPECIAL = _special(_CHUNK)
_outer_re = re.compile(r"[/\\@:=&%~$]+")
_inner_re = re.compile(r"[.\-_+#]+")
_part_re = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Nobody sees these, and they would split a word.
_invisible_re = re.compile("[\u00ad\u200c\u200d\u2060\ufeff]")
_HIDDEN_MARKS = {ord(mark): 0xE000 + ord(mark) for mark in ".-_+#@/\\:=&%~$"}


class Segment(NamedTuple):
    """A piece of an identifier between its outer marks, such as ``v2.1.3`` in ``/srv/v2.1.3/x``."""

    text: str
    words: tuple[str, ...]
    """What stands between its inner marks."""
    parts: tuple[tuple[str, ...], ...]
    """Of each word, the sub-words that case and digits show; one when it shows none."""

    @property
    def is_marked(self) -> bool:
        """Whether the tokenizer would not give *text* back as one word."""
        return self.words != (self.text,)

    @property
    def joined(self) -> str | None:
        """The words written as one, when only hyphens and underscores part them."""
        plain = len(self.words) > 1 and not any(mark in self.text for mark in ".+#")
        return "".join(self.words) if plain else None


class Identifier(NamedTuple):
    """A chunk of text that is more than one plain word."""

    text: str
    segments: tuple[Segment, ...]

    def tokens(self) -> list[str]:
        """Everything it is indexed as, in order: itself, then each segment and its parts."""
        tokens = []
        if len(self.segments) > 1:
            tokens.append(exact_token(self.text))
        for segment in self.segments:
            tokens += segment_tokens(segment)
        return [token for token in tokens if len(token) <= MAX_EXACT_CHARS]


def analysed(text: str) -> str:
    """Return *text* as the full-text index is fed it.

    >>> analysed("Plain words stay.")
    'plain words stay.'
    >>> analysed("東京都").split()
    ['東京', '京都', '都']
    >>> analysed("snake_case").split()[1:]
    ['snakecase', 'snake', 'case']
    """
    text = cleaned(text)
    if text.isascii():
        # Nothing reaches across a space, and prose says most of its words again and again.
        words = text.split(" ")
        if max(map(len, words)) <= MAX_EXACT_CHARS:
            return " ".join(map(_analysed_word, words))
    else:
        text = re.sub(_RUN, lambda match: f" {pairs(match[0])} ", text)
    special = _ASCII_SPECIAL if text.isascii() else _SPECIAL
    return re.sub(special, lambda match: _expanded(match[0]), text).casefold()


def cleaned(text: str) -> str:
    """Return *text* in compatibility form, without what nobody sees and what we use ourselves."""
    text = text.replace("\0", " ")
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _invisible_re.sub("", text))
    # Private use is ours inside the index, and some symbols SQLite takes for letters.
    marks = [c for c in set(text) if not c.isascii() and unicodedata.category(c)[0] not in "LNM"]
    return text.translate(dict.fromkeys(map(ord, marks), " "))


def chunks(text: str) -> list[str]:
    """Return the runs, words and identifiers of a *cleaned* text, in order.

    >>> chunks("Use .NET 9 (東京 office), not C++.")
    ['Use', '.NET', '9', '東京', 'office', 'not', 'C++.']
    """
    if text.isascii():
        return re.findall(f"{_ASCII_CHUNK}+", text)
    return re.findall(f"{_CHUNK}+", re.sub(_RUN, r" \g<0> ", text))


def identify(chunk: str) -> Identifier | None:
    """Return *chunk* taken apart, or None when it holds no letter or digit.

    Marks at its ends belong to the sentence, but for a dot in front and ``+`` or ``#`` behind.

    >>> identify("C++.").text, identify("...and").text, identify("/.ssh/config:").text
    ('C++', 'and', '.ssh/config')
    """
    segments = tuple(
        segment for piece in _outer_re.split(chunk) if (segment := _segment(piece)) is not None
    )
    if not segments:
        return None
    if len(segments) == 1:
        return Identifier(segments[0].text, segments)
    first, last = segments[0].text, segments[-1].text
    return Identifier(chunk[chunk.index(first) : chunk.rindex(last) + len(last)], segments)


def segment_tokens(segment: Segment) -> list[str]:
    """Return what one segment is indexed as: exact, joined, then its words and their parts."""
    tokens = [exact_token(segment.text)] if segment.is_marked else []
    if segment.joined:
        tokens.append(segment.joined)
    for word, parts in zip(segment.words, segment.parts, strict=True):
        # The C of C++ is not the language C, so a lone letter is left to the exact token.
        if len(word) > 1 or len(segment.words) > 1 or not segment.is_marked:
            tokens.append(word)
        if len(parts) > 1:
            tokens += [part for part in parts if len(part) > 1]
    return tokens


def is_run(text: str) -> bool:
    """Whether *text* begins in a script that is written without spaces."""
    return not text.isascii() and re.match(_RUN, text) is not None


def is_word_char(char: str) -> bool:
    """Whether the tokenizer sees *char* as part of a word."""
    return char.isalnum() or (not char.isascii() and unicodedata.category(char)[0] == "M")


def exact_token(text: str) -> str:
    """Return the one token that stands for *text* to the letter, marks included, but for case."""
    return text.translate(_HIDDEN_MARKS).casefold() + EXACT_END


def pairs(run: str) -> str:
    """Return the overlapping pairs of characters in *run* and its last one, separated by spaces."""
    return " ".join(run[start : start + 2] for start in range(len(run)))


def folded(text: str) -> tuple[str, list[int] | None]:
    """Return *text* folded for comparing by eye, and where each of its characters comes from.

    The list has, for each character of the folded text and for its end, an offset into *text*; it
    is None when the two are aligned. Diacritics of Latin and Greek letters are dropped, as the
    tokenizer drops them.

    >>> folded("Crème ﬁne")
    ('creme fine', [0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9])
    """
    if text.isascii():
        return text.lower(), None
    pieces = [_folded_char(char) for char in text]
    offsets = [place for place, piece in enumerate(pieces) for _ in piece]
    offsets.append(len(text))
    return "".join(pieces), offsets


@functools.lru_cache(maxsize=8192)
def _folded_char(char: str) -> str:
    if char.isascii():
        return char.lower()
    if "\u0300" <= char <= "\u036f" or _invisible_re.match(char):
        return ""
    folded_char = unicodedata.normalize("NFKC", char).casefold()
    base = unicodedata.normalize("NFD", folded_char)[:1]
    # Latin and Greek end below U+0400; й is a letter of its own, and so is が.
    return base if base < "\u0400" and len(folded_char) == 1 else folded_char


@functools.lru_cache(maxsize=32_768)
def _analysed_word(word: str) -> str:
    return re.sub(_ASCII_SPECIAL, lambda match: _expanded(match[0]), word).lower()


@functools.lru_cache(maxsize=4096)
def _expanded(chunk: str) -> str:
    identifier = identify(chunk)
    return f" {' '.join(identifier.tokens())} " if identifier else " "


def _segment(piece: str) -> Segment | None:
    text = _trimmed(piece)
    words = tuple(word for word in _inner_re.split(text) if word)
    if not words:
        return None
    return Segment(text, words, tuple(_parts(word) for word in words))


def _trimmed(text: str) -> str:
    text = text.rstrip(".-_")
    bare = text.lstrip(".-_+#")
    return f".{bare}" if bare and text[: len(text) - len(bare)] == "." else bare


def _parts(word: str) -> tuple[str, ...]:
    return tuple(_part_re.findall(word)) if word.isascii() else (word,)
