"""What one file is in the index: one named tuple a table, fields named as its columns.

The writer makes its inserts from the fields, so a column is named here and in `schema` only. The
file's id is not part of a row: only the writer knows it.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "BodyRow",
    "ChunkRow",
    "CitationRow",
    "EdgeRow",
    "EntityRow",
    "FacetRow",
    "FileRow",
    "Rows",
    "SkippedRow",
    "TextRow",
]


class FileRow(NamedTuple):
    """The facts about a memory (table ``files``)."""

    path: str
    blob_sha: str
    """Git's name for the whole file as indexed, the working tree's version included."""
    content_hash: str
    memory_type: str
    para: str
    workspace: str | None
    archived: bool
    origin_path: str | None
    title: str
    gist: str
    word_count: int
    confidence: float
    importance: int
    created_at: str
    updated_at: str
    event_at: str | None
    news_at: str
    """When it became news: when the fact happened, or else when it was written.

    Curation stamps `updated_at`, and that is not news. A file that states the hash of its own
    content has it from whoever wrote that content; while the two agree, it was written when it was
    created. Where they differ, or none is stated, somebody wrote since, and `updated_at` is the
    best there is.
    """
    archived_at: str | None
    valid_from: str | None
    valid_until: str | None
    reprieves: int
    needs_revision: bool
    author: str
    session_id: str | None
    prompt_id: str | None
    turn_uuid: str | None
    task_status: str | None
    due_at: str | None
    near_key: str | None
    """What rewordings of the memory share; see `memhtml.scoring.nearness`."""
    frame_key: str | None
    """The slot that the claim fills; see `memhtml.scoring.frames`."""
    text_digest: str
    """Of what the full-text table was fed, which cannot be read back from it."""


class BodyRow(NamedTuple):
    """The long texts (table ``bodies``)."""

    text: str
    disclosure: str
    """What may be shown at a glance; see `memhtml.format.projection`."""


class EntityRow(NamedTuple):
    """One thing a memory is about (table ``file_entities``)."""

    entity_key: str
    """Normal form, by which entities are the same."""
    entity: str
    """``type:name`` as authored."""


class FacetRow(NamedTuple):
    """One named value (table ``file_facets``)."""

    name: str
    value: str
    numeric_value: float | None


class CitationRow(NamedTuple):
    """Where a fact came from (table ``file_citations``)."""

    text: str
    href: str | None


class EdgeRow(NamedTuple):
    """One authored link (table ``edges``). Its target need not exist."""

    rel: str
    dst_path: str
    edge_class: str


class ChunkRow(NamedTuple):
    """A piece of the body that is encoded (table ``chunks``)."""

    ordinal: int
    start_char: int
    """In code points of the body."""
    end_char: int
    text_hash: bytes
    """Of the piece with its context; the key of its vectors (table ``texts``)."""


class TextRow(NamedTuple):
    """What the full-text table is fed, analysed (table ``files_fts``)."""

    title: str
    claim: str
    facets: str
    names: str
    """Entities and tags."""
    aliases: str
    body: str


class Rows(NamedTuple):
    """One memory, in every table."""

    file: FileRow
    body: BodyRow
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    entities: tuple[EntityRow, ...]
    facets: tuple[FacetRow, ...]
    citations: tuple[CitationRow, ...]
    edges: tuple[EdgeRow, ...]
    chunks: tuple[ChunkRow, ...]
    text: TextRow


class SkippedRow(NamedTuple):
    """A file that stands where memories stand and is none (table ``skipped``)."""

    path: str
    blob_sha: str | None
    """None when its bytes were never read."""
    reason: str
    """The code of its first violation, or ``not-a-file`` or ``path-encoding``."""
    diagnostics: str
    """A JSON list of its violations: code, message, line, column."""
