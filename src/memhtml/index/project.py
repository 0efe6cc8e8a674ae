"""One file as rows: a pure function of its path, its blob and what it says.

Rebuild and update both call it and nothing else makes rows, so they cannot disagree. Where a file
stands decides what it is (bucket, workspace, archived); what it states about its own content hash
is not trusted.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memhtml.index.analysis import analysed
from memhtml.index.rows import EdgeRow, EntityRow, FacetRow, FileRow, Rows, SkippedRow, TextRow
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

__all__ = ["project", "skip_invalid"]


def project(path: str, blob_sha: str, document: Document) -> Rows:
    """Return the rows of the valid memory *document* at *path*, a path in a bucket."""
    entities = _entities(document)
    tags = _distinct(document.head.tags)
    return Rows(
        file=_file(path, blob_sha, document),
        body=document.body_text,
        tags=tags,
        entities=entities,
        facets=tuple(dict.fromkeys(FacetRow(f.name, f.value) for f in document.facets)),
        edges=tuple(dict.fromkeys(_edges(path, document))),
        text=TextRow(
            title=analysed(document.title),
            claim=analysed(document.claim),
            facets=_analysed_lines(f"{f.name} {f.value}" for f in document.facets),
            names=_analysed_lines([*(row.entity for row in entities), *tags]),
            aliases=_analysed_lines(document.head.aliases),
            body=analysed(document.body_text),
        ),
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


def _file(path: str, blob_sha: str, document: Document) -> FileRow:
    head = document.head
    bucket = bucket_of(path)
    # The checker lets no memory pass without these three, and no other path is ever projected.
    assert bucket is not None  # noqa: S101 - a broken promise of ours
    assert head.memory_type is not None  # noqa: S101 - as above
    assert head.created_at is not None  # noqa: S101 - as above
    assert head.updated_at is not None  # noqa: S101 - as above
    archived = bucket is Bucket.ARCHIVE
    return FileRow(
        path=path,
        blob_sha=blob_sha,
        content_hash=document.content_hash,
        memory_type=head.memory_type,
        para=bucket,
        workspace=workspace_of(path),
        archived=archived,
        origin_path=original_path(path) if archived else None,
        confidence=1.0 if head.confidence is None else head.confidence,
        created_at=head.created_at,
        updated_at=head.updated_at,
        event_at=document.happened_at,
        title=document.title,
        gist=document.claim,
        near_key=near_key(document.body_text),
        frame_key=frame_key(document.claim),
    )


def _entities(document: Document) -> tuple[EntityRow, ...]:
    rows: dict[str, EntityRow] = {}
    for kind, name in entity_rows(document):
        entity = f"{kind}:{name}"
        key = normalize_entity(entity)
        rows.setdefault(key, EntityRow(key, entity))
    return tuple(rows.values())


def _edges(path: str, document: Document) -> Iterator[EdgeRow]:
    for link in document.links:
        rel = rel_for_token(link.rel)
        target = path_of_href(link.href)
        if rel is not None and target and target != path:
            yield EdgeRow(rel, target)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(wide_trim, texts))))


def _analysed_lines(texts: Iterable[str]) -> str:
    return analysed("\n".join(texts))
