"""Whether a transcript says what it is quoted with.

A quote is verbatim but for whitespace. It may be taken from a line as it stands in the file, with
JSON's escapes, or from a string in it as it was meant.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from memhtml.traces.files import complete_lines, open_transcript
from memhtml.traces.reading import decoded, whole_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

__all__ = ["MIN_QUOTE_BYTES", "find_quotes", "is_quotable"]

MIN_QUOTE_BYTES = 8
"""A shorter quote would be found anywhere."""

_word_re = re.compile(r"[A-Za-z0-9_-]+")


def is_quotable(quote: str) -> bool:
    """Tell whether *quote* is long enough to be evidence of anything."""
    return len(" ".join(quote.split()).encode("utf-8", "replace")) >= MIN_QUOTE_BYTES


def find_quotes(path: str, quotes: Iterable[str]) -> dict[str, int]:
    """Return in which line of the transcript at *path* each of *quotes* stands that does.

    Lines count from 1. The file is read once, and only to the last quote that is found.

    Raises:
        OSError: It cannot be read.
    """
    wanted = {quote: " ".join(quote.split()) for quote in dict.fromkeys(quotes)}
    wanted = {quote: flat for quote, flat in wanted.items() if is_quotable(flat)}
    found = dict[str, int]()
    with open_transcript(path) as (file, status):
        for number, text, value in _said(path, file, status.st_size):
            hints = [quote for quote, flat in wanted.items() if _may_hold(text, flat)]
            if not hints:
                continue
            texts = [" ".join(text.split()), *_strings(value())]
            for quote in hints:
                if any(wanted[quote] in one for one in texts):
                    found[quote] = number
                    del wanted[quote]
            if not wanted:
                break
    return found


def _said(path: str, file: BinaryIO, size: int) -> Iterator[tuple[int, str, Callable[[], object]]]:
    """Yield each JSON value of a transcript: its line, its text, and how to decode that."""
    if path.endswith(".json"):
        for number, whole in whole_values(file, size):
            text = json.dumps(whole, ensure_ascii=False)
            yield number, text, partial(decoded, text.encode("utf-8", "replace"))
        return
    for line in complete_lines(file, offset=0, line=0, stop=size):
        if line.data is not None:
            yield line.number, line.data.decode("utf-8", "replace"), partial(decoded, line.data)


def _may_hold(text: str, flat: str) -> bool:
    """Tell without decoding whether *text* could hold *flat*: its longest plain word is there.

    JSON escapes no character of such a word.
    """
    return max(_word_re.findall(flat), key=len, default="") in text


def _strings(value: object) -> Iterator[str]:
    """Yield every string in a decoded *value*, whitespace flattened."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield " ".join(one.split())
            # The arguments of a call may be JSON in a string.
            if one.startswith("{"):
                stack.append(decoded(one.encode("utf-8", "replace")))
        elif isinstance(one, dict):
            stack += one.values()
        elif isinstance(one, list):
            stack += one
