"""One file as rows: a pure function of its path, its blob and what it says.

Rebuild and update both call it and nothing else makes rows, so they cannot disagree. Where a file
stands decides what it is (bucket, workspace, archived); what it states about its own content hash
is not trusted.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from memhtml.format.projection import disclosure_text, word_count
from memhtml.index.analysis import analysed
from memhtml.index.chunks import chunk_rows
from memhtml.index.rows import (
    BodyRow,
    CitationRow,
    EdgeRow,
    EntityRow,
    FacetRow,
    FileRow,
    Rows,
    SkippedRow,
    TextRow,
)
from memhtml.index.schema import CHUNK_CHARS
from memhtml.model.edges import path_of_href, rel_for_token
from memhtml.model.entities import entity_rows, normalize_entity
from memhtml.model.paths import bucket_of, original_path, workspace_of
from memhtml.model.vocabulary import Bucket
from memhtml.model.whitespace import wide_trim
from memhtml.scoring.frames import frame_key
from memhtml.scoring.nearness import near_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memhtml.model.document import Document

__all__ = ["placed", "project", "rows_of", "skip_invalid", "unplaced"]

DEFAULT_IMPORTANCE = 5
DEFAULT_AUTHOR = "agent"


def rows_of(path: str, sha: str, document: Document, chunk_chars: int) -> Rows | SkippedRow:
    """Return the rows of *document* at *path*, or why it is no memory."""
    if not document.is_valid:
        return skip_invalid(path, sha, document)
    return project(path, sha, document, chunk_chars=chunk_chars)


def project(
    path: str, blob_sha: str, document: Document, *, chunk_chars: int = CHUNK_CHARS
) -> Rows:
    """Return the rows of the valid memory *document* at *path*, a path in a bucket."""
    return placed(unplaced(document, chunk_chars=chunk_chars), path, blob_sha)


def placed(rows: Rows, path: str, blob_sha: str) -> Rows:
    """Return *rows* that are `unplaced` as those of a file at *path*, a path in a bucket."""
    bucket = bucket_of(path)
    # No other path is ever projected.
    assert bucket is not None  # noqa: S101 - a broken promise of ours
    archived = bucket is Bucket.ARCHIVE
    file = rows.file._replace(
        path=path,
        blob_sha=blob_sha,
        para=bucket,
        workspace=workspace_of(path),
        archived=archived,
        origin_path=original_path(path) if archived else None,
    )
    edges = rows.edges
    if any(edge.dst_path == path for edge in edges):
        edges = tuple(edge for edge in edges if edge.dst_path != path)
    return rows._replace(file=file, edges=edges)


def unplaced(
    document: Document,
    keys: tuple[str | None, str | None] | None = None,
    *,
    chunk_chars: int = CHUNK_CHARS,
) -> Rows:
    """Return all of the rows of the valid memory *document* that its place does not decide.

    *keys* are its near key and its frame key, where they are at hand.
    """
    near, frame = keys or (near_key(document.body_text), frame_key(document.claim))
    entities = _entities(document)
    tags = _distinct(document.head.tags)
    text = TextRow(
        title=analysed(document.title),
        claim=analysed(document.claim),
        facets=_analysed_lines(f"{f.name} {f.value}" for f in document.facets),
        names=_analysed_lines([*(row.entity for row in entities), *tags]),
        aliases=_analysed_lines(document.head.aliases),
        body=analysed(document.body_text),
    )
    return Rows(
        file=_file(document, near, frame, _digest(text)),
        body=BodyRow(document.body_text, disclosure_text(document)),
        tags=tags,
        aliases=_distinct(document.head.aliases),
        entities=entities,
        facets=_facets(document),
        citations=_citations(document),
        edges=tuple(dict.fromkeys(_edges(document))),
        chunks=chunk_rows(document.title, document.claim, document.body_text, chunk_chars),
        text=text,
    )


def skip_invalid(path: str, blob_sha: str, document: Document) -> SkippedRow:
    """Return the row that says why *document* at *path*, which has violations, is no memory."""
    violations = document.violations
    listed = [
        {
            "code": found.code,
            "message": found.message,
            "line": found.span.line,
            "column": found.span.column,
        }
        for found in violations
    ]
    return SkippedRow(path, blob_sha, violations[0].code, json.dumps(listed, ensure_ascii=False))


def _file(document: Document, near: str | None, frame: str | None, text_digest: str) -> FileRow:
    head = document.head
    # The checker lets no memory pass without these three.
    assert head.memory_type is not None  # noqa: S101 - a broken promise of ours
    assert head.created_at is not None  # noqa: S101 - as above
    assert head.updated_at is not None  # noqa: S101 - as above
    return FileRow(
        path="",
        blob_sha="",
        content_hash=document.content_hash,
        memory_type=head.memory_type,
        para="",
        workspace=None,
        archived=False,
        origin_path=None,
        title=document.title,
        gist=document.claim,
        word_count=word_count(document),
        confidence=1.0 if head.confidence is None else head.confidence,
        importance=DEFAULT_IMPORTANCE if head.importance is None else head.importance,
        created_at=head.created_at,
        updated_at=head.updated_at,
        event_at=document.happened_at,
        news_at=document.happened_at or _written_at(document),
        archived_at=head.archived_at,
        valid_from=head.valid_from,
        valid_until=head.valid_until,
        reprieves=head.reprieves or 0,
        needs_revision=bool(head.needs_revision),
        author=head.author or DEFAULT_AUTHOR,
        session_id=head.session_id,
        prompt_id=head.prompt_id,
        turn_uuid=head.turn_uuid,
        task_status=head.task_status,
        due_at=head.due_at,
        near_key=near,
        frame_key=frame,
        text_digest=text_digest,
    )


def _written_at(document: Document) -> str:
    """Return when the content was written, as far as the file tells; see `FileRow.news_at`."""
    head = document.head
    is_as_created = head.content_hash == document.content_hash
    return (head.created_at if is_as_created else head.updated_at) or ""


def _facets(document: Document) -> tuple[FacetRow, ...]:
    rows: dict[tuple[str, str], FacetRow] = {}
    for facet in document.facets:
        rows.setdefault((facet.name, facet.value), FacetRow(facet.name, facet.value, facet.number))
    return tuple(rows.values())


def _citations(document: Document) -> tuple[CitationRow, ...]:
    rows: dict[str, CitationRow] = {}
    for citation in document.citations:
        rows.setdefault(citation.text, CitationRow(citation.text, citation.href))
    return tuple(rows.values())


def _entities(document: Document) -> tuple[EntityRow, ...]:
    rows: dict[str, EntityRow] = {}
    for kind, name in entity_rows(document):
        entity = f"{kind}:{name}"
        key = normalize_entity(entity)
        rows.setdefault(key, EntityRow(key, entity))
    return tuple(rows.values())


def _edges(document: Document) -> Iterator[EdgeRow]:
    for link in document.links:
        rel = rel_for_token(link.rel)
        target = path_of_href(link.href)
        if rel is not None and target:
            yield EdgeRow(rel, target, rel.rel_class)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(wide_trim, texts))))


def _analysed_lines(texts: Iterable[str]) -> str:
    return analysed("\n".join(texts))


def _digest(text: TextRow) -> str:
    fed = "\0".join(text).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(fed, digest_size=8).hexdigest()
