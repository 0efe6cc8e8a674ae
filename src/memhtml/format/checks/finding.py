"""What a check yields: a code, its facts, and what in the file it is about."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memhtml.format.extract import Facts
    from memhtml.format.tree import Tree
    from memhtml.model.diagnostics import Span

__all__ = ["Absent", "Check", "Finding"]


class Absent(Enum):
    """Where something that is not there would stand."""

    IN_HEAD = auto()
    IN_BODY = auto()


class Finding(NamedTuple):
    """One finding, before its place is worked out."""

    code: str
    place: Absent | Span | Any
    """The handle of an element, unless it is one of the first two."""
    info: Mapping[str, str | int | None]
    attribute: str | None = None
    """The attribute of that element which is at fault."""


Check: TypeAlias = "Callable[[Tree, Facts], Iterable[Finding]]"
"""A rule or a family of them: it reads the facts and yields what is wrong, in order."""
