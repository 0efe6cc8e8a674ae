"""What is wrong with a memory file, as data: a finding, not a failure.

A checker returns every `Diagnostic` it finds. Each has a stable code, a severity, the place it
is about and a message that says what to do; nothing is repaired on the way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Diagnostic", "Severity", "Span"]


class Severity(StrEnum):
    """How much a finding matters."""

    VIOLATION = "violation"
    """Blocks every write; a file that has one is not indexed."""
    WARNING = "warning"
    """Worth mending; never blocks."""
    NOTE = "note"
    """Something the reader dropped, such as a number out of range."""


class Span(NamedTuple):
    """A place in a file: byte offsets, and line and column for people.

    *start* and *end* are offsets into the file's bytes, *end* exclusive; equal ones mark the place
    where something absent would stand. Lines and columns count from 1; a column counts code points
    of the decoded line, and a line ends at LF, CRLF or CR.
    """

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about one file."""

    code: str
    """Stable, lower-case with hyphens; `docs/codes.md` has a section for each."""
    severity: Severity
    message: str
    """What is wrong and what to do, in one sentence; never quotes a memory's body at length."""
    span: Span
    info: Mapping[str, str | int | None] = field(default_factory=dict)
    """The facts of the message as data: ``name``, ``value``, ``count``, ``element`` and so on."""

    def __str__(self) -> str:
        return f"{self.span.line}:{self.span.column}: {self.code} {self.severity}: {self.message}"
