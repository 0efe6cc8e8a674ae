"""What one memory file says, as values.

`memhtml.format.parse` is the only maker of a `Document`. Reading is lenient: a field whose value
breaks a rule is absent here, and the reason is in `Document.diagnostics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from memhtml.model.diagnostics import Diagnostic, Severity

__all__ = ["Citation", "Document", "Facet", "Head", "Link"]


class Facet(NamedTuple):
    """One named value: a ``dt`` and one of its ``dd`` (seed §2)."""

    name: str
    value: str
    number: float | None = None
    """The first ``<data value>`` of the ``dd``, when it is a number. The unit is in the prose."""


class Citation(NamedTuple):
    """Where a fact came from: a ``cite`` or a ``q``."""

    text: str
    href: str | None = None
    """The ``cite`` attribute of a ``q``, verbatim; always None for a ``cite`` element."""


class Link(NamedTuple):
    """A head link: a ``rel`` token such as ``memhtml-supersedes``, and its href, both verbatim."""

    rel: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The metas of a file that were usable. None means absent or refused, never a default."""

    memory_type: str | None = None
    status: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    confidence: float | None = None
    importance: int | None = None
    content_hash: str | None = None
    """What the file states, verbatim; advisory. The computed one is `Document.content_hash`."""
    author: str | None = None
    session_id: str | None = None
    prompt_id: str | None = None
    turn_uuid: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    reprieves: int | None = None
    archived_at: str | None = None
    superseded_by: str | None = None
    needs_revision: bool | None = None
    task_status: str | None = None
    due_at: str | None = None
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What one file says (format-behaviour §7), and what is wrong with it."""

    title: str
    head: Head
    links: tuple[Link, ...]
    claim: str
    """Text of the first ``mark`` of the article without code, "" where there is none (the gist)."""
    text: str
    """Canonical text of the article, exactly what `content_hash` covers."""
    body_text: str
    """`text` with every run of whitespace collapsed: what search and listings show."""
    article_html: str
    """Source of the article between its tags, as written in the file; "" without an article."""
    happened_at: str | None
    """``datetime`` of the first ``time`` in the article: when the fact happened."""
    facets: tuple[Facet, ...]
    citations: tuple[Citation, ...]
    defined_terms: tuple[str, ...]
    summaries: tuple[str, ...]
    asides: tuple[str, ...]
    captions: tuple[str, ...]
    code_langs: tuple[str, ...]
    abbreviations: tuple[str, ...]
    content_hash: str
    diagnostics: tuple[Diagnostic, ...]
    """Everything the checker found, in order; empty for a file without fault."""

    @property
    def violations(self) -> tuple[Diagnostic, ...]:
        """The findings that make this no memory."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.VIOLATION)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The findings that never block a write."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.WARNING)

    @property
    def is_valid(self) -> bool:
        """Whether the file is a memory: it has no violation."""
        return not self.violations
