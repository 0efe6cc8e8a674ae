"""Texts into vectors: whatever has no row yet is encoded, a batch at a time.

Encoding is slow and the index is not locked meanwhile: texts are read, encoded with no lock held,
and their rows written as one short transaction. So it may be interrupted and taken up again, and
searches and writes go on. A batch that finds the index rebuilt or the space replaced meanwhile
writes only what still fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from memhtml.index import vectors
from memhtml.index.chunks import chunk_text
from memhtml.model.errors import EmbedModelMismatch, IndexStale
from memhtml.scoring.vectors import unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from memhtml.index.database import Index
    from memhtml.index.vectors import Space
    from memhtml.model.ports import DenseEncoder, Progress, SparseEncoder, SparseRow

__all__ = ["BATCH_TEXTS", "Coverage", "Embedded", "coverage", "embed"]

BATCH_TEXTS = 256
"""Texts encoded between two commits by default: two seconds of work that may be lost."""

_SPACE_OF_KIND = "SELECT id, kind, name, dims, covered FROM spaces WHERE kind = ?"
_ALL_SPACES = "SELECT id, kind, name, dims, covered FROM spaces ORDER BY kind DESC"
_ROWS_TABLE = {"sparse": "sp_doc", "dense": "dense_doc"}
_PENDING = """
SELECT t.id, t.hash, f.title, f.gist,
  substr(b.text, c.start_char + 1, c.end_char - c.start_char)
FROM texts AS t
JOIN chunks AS c ON c.text_id = t.id
JOIN files AS f ON f.id = c.file_id
JOIN bodies AS b ON b.file_id = c.file_id
WHERE t.id > ? AND t.uses > 0
  AND NOT EXISTS (SELECT 1 FROM {table} AS r WHERE r.space_id = ? AND r.text_id = t.id)
GROUP BY t.id ORDER BY t.id LIMIT ?
"""
_STILL_PENDING = """
SELECT 1 FROM texts AS t WHERE t.id = ? AND t.hash = ?
  AND NOT EXISTS (SELECT 1 FROM {table} AS r WHERE r.space_id = ? AND r.text_id = t.id)
"""


class Coverage(NamedTuple):
    """How much of the index has rows of one vector space."""

    kind: str
    """``sparse`` or ``dense``."""
    space: str
    covered: int
    """Texts that have a row."""
    texts: int
    """Texts that can have one."""

    @property
    def share(self) -> float:
        """In ``[0, 1]``; an index without texts is covered."""
        return self.covered / self.texts if self.texts else 1.0


class Embedded(NamedTuple):
    """What one run of encoding did."""

    coverage: Coverage
    written: int


class _Task(NamedTuple):
    """How the texts of one space come by their rows."""

    kind: str
    name: str
    dims: int | None
    encode: Callable[[Sequence[str]], Sequence[Any]]
    add: Callable[[apsw.Connection, Space, dict[int, Any]], None]


class _Text(NamedTuple):
    id: int
    hash: bytes
    text: str


def coverage(index: Index) -> tuple[Coverage, ...]:
    """Return the coverage of each vector space that the index has rows of, sparse first."""
    with index.reading("read the coverage") as connection:
        state = index.state()
        if state is None:
            return ()
        spaces = [vectors.Space._make(row) for row in connection.execute(_ALL_SPACES)]
    return tuple(Coverage(s.kind, s.name, s.covered, state.texts) for s in spaces)


def embed(
    index: Index,
    encoder: SparseEncoder | DenseEncoder,
    *,
    migrate: bool = False,
    workers: int = 1,
    limit: int | None = None,
    batch: int | None = None,
    progress: Progress | None = None,
) -> Embedded:
    """Give every text that lacks one a row in the space of *encoder*, *limit* of them at most.

    *workers* is how many threads a sparse encoder may use. *migrate* replaces another space of the
    same kind; see Raises. *batch* texts at a time are encoded and kept; what *progress* raises
    after one ends the run, and loses nothing.

    Raises:
        EmbedModelMismatch: The index has rows of another space, and *migrate* is not given.
        IndexStale: There is no usable index.
        ModelUnavailable: The model could not answer; what was encoded before is kept.
    """
    if hasattr(encoder, "encode_docs"):
        task = _sparse(cast("SparseEncoder", encoder), workers)
    else:
        task = _dense(encoder)
    with index.writing("prepare for encoding") as connection:
        state = index.state()
        if state is None:
            raise IndexStale(f"there is no usable index at {index.path!r}")
        space = _settled(connection, task, migrate=migrate)
    total = state.texts - space.covered
    total = total if limit is None else min(total, limit)
    written, last = 0, 0
    while written < total:
        pending = _pending(index, space, last, min(batch or BATCH_TEXTS, total - written))
        if not pending:
            break
        rows = task.encode([text.text for text in pending])
        with index.writing("keep what was encoded") as connection:
            if vectors.find_space(connection, space.kind, space.name) is None:
                break  # somebody replaced the space, or the index by one without it
            fresh = [_is_pending(connection, space, text) for text in pending]
            kept = {
                t.id: row for t, row, is_fresh in zip(pending, rows, fresh, strict=True) if is_fresh
            }
            task.add(connection, space, kept)
        written += len(kept)
        last = pending[-1].id
        if progress is not None:
            progress(written, total)
    with index.writing("finish encoding") as connection:
        vectors.purge(connection)
    found = [one for one in coverage(index) if one.kind == space.kind]
    return Embedded(found[0] if found else Coverage(space.kind, space.name, 0, 0), written)


def _sparse(encoder: SparseEncoder, workers: int) -> _Task:
    def encode(texts: Sequence[str]) -> Sequence[SparseRow]:
        return encoder.encode_docs(texts, workers=workers)

    return _Task("sparse", encoder.space_id, None, encode, vectors.add_sparse)


def _dense(encoder: DenseEncoder) -> _Task:
    def encode(texts: Sequence[str]) -> Sequence[bytes]:
        answer = encoder.encode(texts, "document")
        rows = unit_rows(answer, len(texts), encoder.dims, model=encoder.space_id)
        return [row.astype("<f4").tobytes() for row in rows]

    return _Task("dense", encoder.space_id, encoder.dims, encode, vectors.add_dense)


def _settled(connection: apsw.Connection, task: _Task, *, migrate: bool) -> Space:
    """Return the space to write to, made or put in place of another where that is wanted."""
    found = connection.execute(_SPACE_OF_KIND, (task.kind,)).fetchone()
    if found is not None:
        space = vectors.Space._make(found)
        if (space.name, space.dims) == (task.name, task.dims):
            return space
        if not migrate:
            raise EmbedModelMismatch(space.name, task.name)
        vectors.drop_space(connection, space.id)
    return vectors.make_space(connection, task.kind, task.name, task.dims)


def _pending(index: Index, space: Space, after: int, limit: int) -> list[_Text]:
    sql = _PENDING.format(table=_ROWS_TABLE[space.kind])
    with index.reading("look for what is not encoded") as connection:
        return [
            _Text(text_id, text_hash, chunk_text(title, claim, piece, index.chunk_chars))
            for text_id, text_hash, title, claim, piece in connection.execute(
                sql, (after, space.id, limit)
            )
        ]


def _is_pending(connection: apsw.Connection, space: Space, text: _Text) -> bool:
    # The hash tells whether the id still means this text: a rebuild may number texts anew.
    sql = _STILL_PENDING.format(table=_ROWS_TABLE[space.kind])
    return connection.execute(sql, (text.id, text.hash, space.id)).fetchone() is not None
