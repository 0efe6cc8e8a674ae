"""Texts and questions as SQLite's full-text index is given them.

It knows words between spaces only, so every character of a script that writes none stands apart,
and a question asks for a run of them as a phrase. Nothing that is typed is ever syntax: a question
is put together here from letters and digits, each phrase in quotes.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["MAX_TERMS", "indexed", "terms_of"]

MAX_TERMS = 32
"""A longer question is cut here: each term costs a look at the index."""

# Thai and its like, kana, Han, hangul: what is written without spaces.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_unspaced_re = re.compile(f"([{_UNSPACED}])")
_word_re = re.compile(r"[^\W_]+")


def indexed(text: str) -> str:
    """Return *text* as it is put into the index.

    >>> indexed("本番DB is Read-only")
    ' 本  番 db is read-only'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded if folded.isascii() else _unspaced_re.sub(r" \1 ", folded)


def terms_of(query: str) -> list[str]:
    """Return what *query* asks for, each thing once as a phrase of FTS5, at most `MAX_TERMS`.

    >>> terms_of('pnpm AND "E-1042" 本番 NEAR( *')
    ['"pnpm"', '"and"', '"e 1042"', '"本 番"', '"near"']
    """
    folded = unicodedata.normalize("NFKC", query.encode("utf-8", "replace").decode()).casefold()
    phrases = (
        " ".join(_word_re.findall(_unspaced_re.sub(r" \1 ", chunk))) for chunk in folded.split()
    )
    return [f'"{phrase}"' for phrase in dict.fromkeys(filter(None, phrases))][:MAX_TERMS]
