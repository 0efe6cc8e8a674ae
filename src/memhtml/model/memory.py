"""What callers give (`Draft`) and get (`Written`): a memory before and after it has a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memhtml.model.diagnostics import Severity
from memhtml.model.notebook import table
from memhtml.model.paths import original_path
from memhtml.model.whitespace import is_blank, wide_trim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.model.diagnostics import Diagnostic
    from memhtml.model.document import Citation, Document, Facet, Link
    from memhtml.model.vocabulary import MemoryType, TaskStatus

__all__ = ["Checked", "Draft", "Memory", "Written", "split_tags"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory as its author states it, before rendering and placing.

    Either *article_html*, used byte for byte, or *claim* with *paragraphs*, which the template
    turns into markup. Text fields are plain text; markup in them is escaped, never read.
    """

    title: str
    memory_type: MemoryType
    claim: str = ""
    paragraphs: tuple[str, ...] = ()
    """Prose after the claim; a paragraph that is a whole backtick fence becomes a figure."""
    article_html: str | None = None
    facets: tuple[Facet, ...] = ()
    citations: tuple[Citation, ...] = ()
    happened_at: str | None = None
    """When the fact happened; becomes a ``<time datetime>``. Like *facets* and *citations* not with
    *article_html*, which says all this itself."""
    path: str | None = None
    """An exact place; refused when unusable or occupied, never re-derived."""
    workspace: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    """By their ``rel`` tokens, with hrefs from the root."""
    confidence: float | None = None
    """0 to 1."""
    importance: int | None = None
    """1 to 10."""
    author: str | None = None
    session_id: str | None = None
    prompt_id: str | None = None
    turn_uuid: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    task_status: TaskStatus | None = None
    due_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A document with its place in a tree."""

    path: str
    sha: str
    """Git's name for the bytes, to hand back as the version that was read."""
    document: Document

    @property
    def is_archived(self) -> bool:
        """Whether it stands in the archive; the place decides, not the stamp."""
        return original_path(self.path) is not None

    def __repr__(self) -> str:
        return f"<Memory {self.path!r}: {self.document.claim!r}>"

    def _repr_html_(self) -> str:
        said = self.document
        rows = [
            ("claim", said.claim),
            ("type", said.head.memory_type),
            ("updated", said.head.updated_at),
            ("tags", ", ".join(said.head.tags)),
            ("entities", ", ".join(said.head.entities)),
            *((facet.name, facet.value) for facet in said.facets),
            ("says", said.body_text),
        ]
        shown = [row for row in rows if row[1]]
        return table((self.path, ""), shown, caption=said.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check found in one file."""

    path: str
    diagnostics: tuple[Diagnostic, ...] = ()
    """Everything, in order; empty for a file without fault."""
    is_unreadable: bool = False
    """It is no regular file, or cannot be read, so nothing can be said of it."""

    @property
    def is_valid(self) -> bool:
        """Whether it is a memory: it was read and has no violation."""
        return not self.is_unreadable and all(
            found.severity is not Severity.VIOLATION for found in self.diagnostics
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a write did."""

    path: str
    created: bool
    """A file was made; False when the same content was already there."""
    deduped: bool
    existing_path: str | None
    """The memory that already says this, when *deduped*."""
    commit: str | None
    content_hash: str
    near_duplicates: tuple[str, ...] = ()
    """Active memories that say nearly the same; the new one was written all the same."""


def split_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Return the tags that *values* name, each once: a comma separates two tags.

    For the doors where people write ``--tag "owls, barn"``; a `Draft` takes tags as they are. A
    value that names no tag at all is kept, so that it is refused and not lost.

    >>> split_tags(["owls, barn", "barn", "night,"])
    ('owls', 'barn', 'night')
    """
    tags: dict[str, None] = {}
    for value in values:
        named = [wide_trim(part) for part in value.split(",") if not is_blank(part)]
        tags.update(dict.fromkeys(named or [value]))
    return tuple(tags)
