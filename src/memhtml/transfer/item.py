"""What a reader finds and what an import makes of it.

A reader yields one `Item` for everything it finds, the unusable included, so that the report's
counts add up: found is written and deduped and skipped and failed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memhtml.format.markdown import Note
    from memhtml.model.errors import MemhtmlError
    from memhtml.model.memory import Draft
    from memhtml.model.vocabulary import MemoryType, Rel
    from memhtml.transfer.source import Source

__all__ = [
    "Detected",
    "ImportFormat",
    "ImportReport",
    "Item",
    "ItemResult",
    "LinkCounts",
    "Options",
    "Outcome",
    "Reader",
    "Record",
    "Wish",
]


class ImportFormat(StrEnum):
    """Whose files are read."""

    MARKDOWN = "markdown"
    OBSIDIAN = "obsidian"
    BASIC_MEMORY = "basic-memory"
    AGENT_FILE = "agent-file"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEM0 = "mem0"
    MCP_MEMORY = "mcp-memory"
    JSONL = "jsonl"
    HTML = "html"


class Detected(NamedTuple):
    """A format, and what in the source speaks for it."""

    format: ImportFormat
    because: str


class Record(NamedTuple):
    """A memory file as an export of ours carries it."""

    path: str
    data: bytes


class Wish(NamedTuple):
    """A link that an item asks for, to another item by one of its names."""

    rel: Rel
    target: str
    line: int = 0


class Item(NamedTuple):
    """One thing that a reader found: a draft, a file to restore, or why it is neither."""

    origin: str
    """Where it stood: a file, with ``:line`` or ``#id`` where it was one of several."""
    title: str = ""
    draft: Draft | None = None
    record: Record | None = None
    notes: tuple[Note, ...] = ()
    names: tuple[str, ...] = ()
    """Names by which others refer to it, the surest first."""
    wishes: tuple[Wish, ...] = ()
    skipped: str = ""
    """Why it is no memory, though nothing is wrong with it."""
    error: MemhtmlError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a source is read."""

    memory_type: MemoryType | None = None
    """Type of what does not state its own; None leaves it to the reader."""
    tags: tuple[str, ...] = ()
    """Added to every memory."""
    workspace: str | None = None
    asked: bool = False
    """Of chats, take also what a person asked to be remembered."""
    detect: Callable[[str], str | None] | None = None
    """Names the language of code without a label."""


class Reader(Protocol):
    """What a module that reads one format offers."""

    def __call__(self, source: Source, options: Options) -> Iterator[Item]:
        """Yield what *source* holds, in a stable order."""
        ...


class Outcome(StrEnum):
    """What became of an item."""

    WRITTEN = "written"
    DEDUPED = "deduped"
    SKIPPED = "skipped"
    FAILED = "failed"


class ItemResult(NamedTuple):
    """What became of one item."""

    origin: str
    title: str
    outcome: Outcome
    path: str | None = None
    """Where it stands, or where the memory stands that says it already."""
    code: str | None = None
    """The error's code where it failed."""
    reason: str = ""
    notes: tuple[Note, ...] = ()
    near_duplicates: tuple[str, ...] = ()


class LinkCounts(NamedTuple):
    """The links between the items: those asked for are those made and those that were not."""

    found: int = 0
    made: int = 0
    unresolved: int = 0
    """They name something that was not found, or that is ambiguous."""
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did, or would do."""

    detected: Detected
    dry_run: bool
    results: tuple[ItemResult, ...]
    links: LinkCounts
    commit: str | None

    def count(self, outcome: Outcome) -> int:
        """Return how many items had that outcome."""
        return sum(result.outcome is outcome for result in self.results)
