"""Bytes into a `Document`, always; what is wrong with them is in its diagnostics.

Reading and judging are two steps over one walk: `parse` takes what can be used and reports the
rest, `check_memory` is the gate that lets only a file without violations through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks import diagnose, diagnostic
from memhtml.format.extract import scan
from memhtml.format.metas import read_flag, read_ranged
from memhtml.format.text import canonical_text, hash_text, plain_text
from memhtml.format.tree import read_tree
from memhtml.model.diagnostics import Span
from memhtml.model.document import Document, Head, Link
from memhtml.model.errors import InvalidMemory
from memhtml.model.instants import is_instant
from memhtml.model.vocabulary import MemoryType, Status, TaskStatus

if TYPE_CHECKING:
    from enum import StrEnum

    from memhtml.format.extract import Facts
    from memhtml.model.diagnostics import Diagnostic

__all__ = ["FILE_CAP", "check_document", "check_memory", "parse"]

FILE_CAP = 8 * 2**20
"""Most bytes a memory may have; a larger file is not parsed. Memories are 1 to 4 KB."""


def parse(data: bytes) -> Document:
    """Return what *data* says as a memory, and everything that is wrong with it.

    Never raises, whatever the bytes, and takes time linear in their number.

    >>> document = parse(b"<title>Dough</title><article><p><mark>It rises twice.</mark></p>")
    >>> document.claim, [finding.code for finding in document.violations][:1]
    ('It rises twice.', ['meta-required-missing'])
    """
    if len(data) > FILE_CAP:
        return _too_large(len(data))
    tree = read_tree(data)
    facts = scan(tree)
    # Without an article the hash covers all there is, as it does for bare markup.
    text = facts.text if facts.articles else canonical_text(data)
    first_time = facts.first_time and facts.first_time.datetime
    return Document(
        title=plain_text(tree.direct_text(facts.titles[0])) if facts.titles else "",
        head=_head(facts),
        links=tuple(Link(rel, href) for rel, href, _ in facts.links if href),
        claim=facts.gist,
        text=text,
        body_text=plain_text(text),
        article_html=tree.inner_source(facts.articles[0]) if facts.articles else "",
        happened_at=first_time if first_time and is_instant(first_time) else None,
        facets=facts.facets(),
        citations=facts.citations(),
        defined_terms=facts.texts_of("dfn"),
        summaries=facts.texts_of("summary"),
        asides=facts.texts_of("aside"),
        captions=facts.texts_of("figcaption"),
        code_langs=tuple(facts.code_langs),
        abbreviations=tuple(facts.abbreviations),
        content_hash=hash_text(text),
        diagnostics=diagnose(tree, facts),
    )


def check_document(data: bytes) -> tuple[Diagnostic, ...]:
    """Return everything that is wrong with *data* as a memory, in order; () when nothing is."""
    return parse(data).diagnostics


def check_memory(data: bytes) -> Document:
    """Return what *data* says, if it is a memory: the gate before anything is written.

    Raises:
        InvalidMemory: There are violations; the error has all of them.
    """
    document = parse(data)
    if violations := document.violations:
        raise InvalidMemory(violations)
    return document


def _head(facts: Facts) -> Head:
    kind = _word(facts, "memhtml-type", MemoryType)
    is_task = kind == MemoryType.TASK
    confidence = _number(facts, "memhtml-confidence")
    importance = _number(facts, "memhtml-importance")
    reprieves = _number(facts, "memhtml-reprieves")
    needs_revision = facts.meta("memhtml-needs-revision")
    return Head(
        memory_type=kind,
        status=_word(facts, "memhtml-status", Status),
        created_at=_instant(facts, "memhtml-created"),
        updated_at=_instant(facts, "memhtml-updated"),
        confidence=confidence,
        importance=None if importance is None else int(importance),
        content_hash=facts.meta("memhtml-content-hash"),
        author=facts.meta("memhtml-author"),
        session_id=facts.meta("memhtml-session"),
        prompt_id=facts.meta("memhtml-prompt"),
        turn_uuid=facts.meta("memhtml-turn"),
        valid_from=_instant(facts, "memhtml-valid-from"),
        valid_until=_instant(facts, "memhtml-valid-until"),
        reprieves=None if reprieves is None else int(reprieves),
        archived_at=_instant(facts, "memhtml-archived"),
        superseded_by=facts.meta("memhtml-superseded-by"),
        needs_revision=None if needs_revision is None else read_flag(needs_revision),
        task_status=_word(facts, "memhtml-task-status", TaskStatus) if is_task else None,
        due_at=_instant(facts, "memhtml-due") if is_task else None,
        entities=_values(facts, "memhtml-entity"),
        tags=_values(facts, "memhtml-tag"),
        aliases=_values(facts, "memhtml-alias"),
    )


def _word(facts: Facts, name: str, words: type[StrEnum]) -> str | None:
    value = facts.meta(name)
    return value if value in words.__members__.values() else None


def _instant(facts: Facts, name: str) -> str | None:
    value = facts.meta(name)
    return value if value is not None and is_instant(value) else None


def _number(facts: Facts, name: str) -> float | None:
    value = facts.meta(name)
    return None if value is None else read_ranged(name, value)


def _values(facts: Facts, name: str) -> tuple[str, ...]:
    return tuple(tag.content for tag in facts.metas.get(name, ()) if tag.content)


def _too_large(size: int) -> Document:
    return Document(
        title="",
        head=Head(),
        links=(),
        claim="",
        text="",
        body_text="",
        article_html="",
        happened_at=None,
        facets=(),
        citations=(),
        defined_terms=(),
        summaries=(),
        asides=(),
        captions=(),
        code_langs=(),
        abbreviations=(),
        content_hash="",
        diagnostics=(
            diagnostic("file-too-large", Span(0, 0, 1, 1, 1, 1), size=size, limit=FILE_CAP),
        ),
    )
