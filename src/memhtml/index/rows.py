"""What one file is in the index: one named tuple a table, fields named as its columns.

The writer makes its inserts from the fields, so a column is named here and in `schema` only. The
file's id is not part of a row: only the writer knows it.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EdgeRow", "EntityRow", "FacetRow", "FileRow", "Rows", "SkippedRow", "TextRow"]


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
    confidence: float
    created_at: str
    updated_at: str
    event_at: str | None
    title: str
    gist: str
    near_key: str | None
    """What rewordings of the memory share; see `memhtml.scoring.nearness`."""
    frame_key: str | None
    """The slot that the claim fills; see `memhtml.scoring.frames`."""


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


class EdgeRow(NamedTuple):
    """One authored link (table ``edges``). Its target need not exist."""

    rel: str
    dst_path: str


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
    body: str
    tags: tuple[str, ...]
    entities: tuple[EntityRow, ...]
    facets: tuple[FacetRow, ...]
    edges: tuple[EdgeRow, ...]
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
