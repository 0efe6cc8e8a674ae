"""Cursors of a search: where the next page begins, for which question, in which state of the index.

A ranking is no list that stands still, so a cursor is an offset that knows what it is an offset
into. For another question it is refused. When the index has changed since, the page still comes,
and the answer says that it may repeat or miss something.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from memhtml.model.errors import InvalidFlag

if TYPE_CHECKING:
    from memhtml.index.database import State
    from memhtml.search.scope import Scope

__all__ = ["Cursor", "parse_cursor", "question_digest", "state_digest"]

_cursor_re = re.compile(r"([0-9]{1,6})-([0-9]{1,3})-([0-9a-f]{8})-([0-9a-f]{8})")


class Cursor(NamedTuple):
    """The beginning of a page."""

    offset: int
    page: int
    """Hits on the first page, which decided how the ranking was diversified."""
    question: int
    state: int

    def __str__(self) -> str:
        return f"{self.offset}-{self.page}-{self.question:08x}-{self.state:08x}"


def parse_cursor(text: str, question: int) -> Cursor:
    """Return the cursor that *text* is.

    Raises:
        InvalidFlag: It is none, or of another question.
    """
    match = _cursor_re.fullmatch(text)
    if match is None:
        raise InvalidFlag(f"{text!r} is not a cursor that a search gave")
    offset, page, asked, state = match.groups()
    cursor = Cursor(int(offset), int(page), int(asked, 16), int(state, 16))
    if cursor.question != question or not cursor.page:
        raise InvalidFlag(
            f"the cursor {text!r} belongs to another question or other filters",
            suggestions=("repeat the search without a cursor",),
        )
    return cursor


def question_digest(text: str, scope: Scope) -> int:
    """Return 32 bits that other words or filters have otherwise."""
    return crc32(repr((text, scope)).encode("utf-8", "surrogatepass"))


def state_digest(state: State) -> int:
    """Return 32 bits that change with the index."""
    return crc32(repr((state.head_sha, state.updated_at, state.files)).encode())
