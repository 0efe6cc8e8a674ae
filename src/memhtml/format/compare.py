"""Texts compared by their words, and cut into sentences. Pure.

What a person wants to know of a change is which words came and went; how the lines of a file broke
is no part of what a memory says.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from memhtml.model.history import DiffKind, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["compare_words", "sentences"]

# Beyond this many words a comparison of each with each takes seconds; what differs is then told
# as one run between what both texts start and end with.
_MOST_WORDS = 4000

# Stops of Chinese and Japanese end a sentence without a blank.
_sentence_end_re = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*")


def compare_words(before: str, after: str) -> tuple[Piece, ...]:
    """Return the words of both texts in runs of the same kind; what went stands before what came.

    >>> [(p.kind.value, p.text) for p in compare_words("opens at 06:30", "opens at 07:00 now")]
    [('same', 'opens at'), ('removed', '06:30'), ('added', '07:00 now')]
    """
    left, right = before.split(), after.split()
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    runs = [
        (DiffKind.SAME, left[:start]),
        *_middle(left[start : len(left) - end], right[start : len(right) - end]),
        (DiffKind.SAME, left[len(left) - end :]),
    ]
    return tuple(
        Piece(kind, " ".join(word for _, words in group for word in words))
        for kind, group in groupby((run for run in runs if run[1]), key=lambda run: run[0])
    )


def sentences(text: str) -> tuple[str, ...]:
    """Return *text* cut after each full stop, exclamation or question mark that blank follows.

    >>> sentences("Version 1.2 is out. Is it?  Yes")
    ('Version 1.2 is out.', 'Is it?', 'Yes')
    """
    return tuple(filter(None, map(str.strip, _sentence_end_re.split(text))))


def _middle(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[DiffKind, Sequence[str]]]:
    if max(len(left), len(right)) > _MOST_WORDS or not (left and right):
        yield DiffKind.REMOVED, left
        yield DiffKind.ADDED, right
        return
    from difflib import SequenceMatcher  # noqa: PLC0415 - only where both sides have words

    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            yield DiffKind.SAME, left[a:b]
        else:
            yield DiffKind.REMOVED, left[a:b]
            yield DiffKind.ADDED, right[c:d]
