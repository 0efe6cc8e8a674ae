"""The piece of a text that best shows why it was found, with the places of what was looked for.

A snippet is cut from the memory's own text, never from what the index was fed, so it shows words
as they were written. A word matches by its stem; the stemmer is the index's own and is handed in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memhtml.index.analysis import folded, is_word_char

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memhtml.search.terms import Term

__all__ = ["SNIPPET_CHARS", "Snippet", "cut_snippet", "words_with_stem"]

SNIPPET_CHARS = 300
"""Longest piece shown, in code points, the marks of what was left out not counted."""

_part_re = re.compile(r"[^\W\d_]+|[0-9]+")
_ELLIPSIS = "…"
_SNAP_CHARS = 24
"""How far an end of the piece may move to fall between two words."""

_REPEAT_WORTH = 0.1
"""What a second mention adds, as a part of what the first did: many terms beat many mentions."""


class Snippet(NamedTuple):
    """A piece of a text."""

    text: str
    matches: tuple[tuple[int, int], ...]
    """Start and end of each match, in code points of `text`, in order and apart."""


class _Match(NamedTuple):
    start: int
    end: int
    term: int


def cut_snippet(
    text: str, terms: Sequence[Term], weights: Sequence[float], stem: Callable[[str], str]
) -> Snippet:
    """Return the piece of *text* whose matches weigh most; its beginning when it has none.

    *weights* says how telling each of *terms* is. *stem* gives the stem of a folded word.
    """
    matches = sorted(_matches(text, terms, stem))
    start, end = _window(text, _best(matches, weights))
    before, after = _ELLIPSIS if start else "", _ELLIPSIS if end < len(text) else ""
    shift = len(before) - start
    shown = [(m.start + shift, m.end + shift) for m in matches if start <= m.start and m.end <= end]
    return Snippet(before + text[start:end] + after, tuple(_merged(shown)))


def words_with_stem(low: str, wanted: str, stem: Callable[[str], str]) -> Iterator[tuple[int, int]]:
    """Yield the span of each word of *low* whose stem is *wanted*; *low* is folded."""
    # Stemming changes at most the last letter of what it leaves of a word. Looking for that
    # beginning is many times faster than a regular expression over all words.
    beginning = wanted[:-1] or wanted
    start = low.find(beginning) if beginning else -1
    while start >= 0:
        end = start + len(beginning)
        if not (start and is_word_char(low[start - 1])):
            while end < len(low) and is_word_char(low[end]):
                end += 1
            if stem(low[start:end]) == wanted:
                yield start, end
        start = low.find(beginning, end)


def _matches(text: str, terms: Sequence[Term], stem: Callable[[str], str]) -> Iterator[_Match]:
    low, offsets = folded(text)
    seen = set()
    for start, end, term in _matches_in_folded(low, terms, stem):
        seen.add(term)
        yield _Match(*_original_span(start, end, offsets), term)
    for term, wanted in enumerate(terms):
        if term not in seen:
            for start, end in _spans_of_parts(wanted.text, low):
                span = _original_span(start, end, offsets)
                if _begins_a_part(text, span[0]):
                    yield _Match(*span, term)


def _spans_of_parts(text: str, low: str) -> Iterator[tuple[int, int]]:
    """Find a term that was indexed as part of a longer word, or as words written together."""
    whole = folded(text)[0]
    for wanted in (whole,) if whole in low else _part_re.findall(whole):
        if len(wanted) > 1:
            yield from (match.span() for match in re.finditer(re.escape(wanted), low))


def _begins_a_part(text: str, start: int) -> bool:
    """Whether a word or a part of one, such as "User" in getUserName, begins at *start*."""
    return text[start].isupper() or not text[start - 1 : start].isalpha()


def _matches_in_folded(
    low: str, terms: Sequence[Term], stem: Callable[[str], str]
) -> Iterator[tuple[int, int, int]]:
    for term, wanted in enumerate(terms):
        for word in wanted.words:
            for span in words_with_stem(low, stem(word), stem):
                yield *span, term
    for term, wanted in enumerate(terms):
        for literal in wanted.literals:
            for match in re.finditer(rf"(?<!\w){re.escape(literal)}(?![\w+#])", low):
                yield *match.span(), term
        for run in wanted.runs:
            for match in re.finditer(re.escape(run), low):
                yield *match.span(), term


def _original_span(start: int, end: int, offsets: list[int] | None) -> tuple[int, int]:
    if offsets is None:
        return start, end
    # A character that folds to two has one offset twice; one that folds to none is skipped over.
    return offsets[start], max(offsets[end], offsets[end - 1] + 1)


def _best(matches: Sequence[_Match], weights: Sequence[float]) -> tuple[int, int] | None:
    """Return the span of the neighbouring matches that fit into a snippet and weigh most."""
    best, best_worth = None, 0.0
    counts = [0] * len(weights)
    worth = 0.0
    last = 0
    for first, match in enumerate(matches):
        while last < len(matches) and (
            last == first or matches[last].end - match.start <= SNIPPET_CHARS
        ):
            term = matches[last].term
            worth += weights[term] * (_REPEAT_WORTH if counts[term] else 1)
            counts[term] += 1
            last += 1
        if worth > best_worth + 1e-9:
            best, best_worth = (match.start, matches[last - 1].end), worth
        counts[match.term] -= 1
        worth -= weights[match.term] * (_REPEAT_WORTH if counts[match.term] else 1)
    return best


def _window(text: str, span: tuple[int, int] | None) -> tuple[int, int]:
    first, last = span or (0, 0)
    # A match longer than a snippet is shown from its start.
    last = min(last, first + SNIPPET_CHARS)
    lead = (SNIPPET_CHARS - (last - first)) // 3
    start = max(0, min(first - lead, len(text) - SNIPPET_CHARS))
    end = min(len(text), start + SNIPPET_CHARS)
    if start:
        space = text.find(" ", start, min(start + _SNAP_CHARS, first))
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", max(end - _SNAP_CHARS, last), end)
        end = space if space >= 0 else end
    return start, end


def _merged(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    at: tuple[int, int] | None = None
    for start, end in spans:
        if at is None or start > at[1]:
            if at is not None:
                yield at
            at = (start, end)
        else:
            at = (at[0], max(at[1], end))
    if at is not None:
        yield at
