"""Rows into SQL. Every function here runs inside a transaction of its caller.

A memory that is indexed already is compared with what it says now, table by table, and only what
differs is written: an edit of the head leaves its text, its chunks and their vectors alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.index.rows import (
    BodyRow,
    ChunkRow,
    CitationRow,
    EdgeRow,
    EntityRow,
    FacetRow,
    FileRow,
    Rows,
    SkippedRow,
    TextRow,
)
from memhtml.index.schema import INDEXES, SCHEMA_VERSION, TRIGGERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

__all__ = ["add", "move", "put", "remove", "seal", "skip", "unskip", "write_state"]


def _insert(table: str, *columns: str) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our names


class _Child(NamedTuple):
    """A table with some rows for each file, and the field of `Rows` they come from."""

    table: str
    field: str
    owner: str
    columns: tuple[str, ...]
    key: int
    """So many of the columns identify a row of one file."""

    @property
    def insert(self) -> str:
        return _insert(self.table, self.owner, *self.columns)

    @property
    def select(self) -> str:
        columns = ", ".join(self.columns)
        return f"SELECT {columns} FROM {self.table} WHERE {self.owner} = ?"  # noqa: S608 - our names

    @property
    def delete(self) -> str:
        same = "".join(f" AND {column} = ?" for column in self.columns[: self.key])
        return f"DELETE FROM {self.table} WHERE {self.owner} = ?{same}"  # noqa: S608 - our names


_CHILDREN = (
    _Child("file_tags", "tags", "file_id", ("tag",), 1),
    _Child("file_aliases", "aliases", "file_id", ("alias",), 1),
    _Child("file_entities", "entities", "file_id", EntityRow._fields, 1),
    _Child("file_facets", "facets", "file_id", FacetRow._fields, 2),
    _Child("file_citations", "citations", "file_id", CitationRow._fields, 1),
    _Child("edges", "edges", "src_id", EdgeRow._fields, 2),
)
_CHILD_SQL = tuple((child, child.insert, child.select, child.delete) for child in _CHILDREN)

_INSERT_FILE = _insert("files", "id", *FileRow._fields)
_UPDATE_FILE = (
    f"UPDATE files SET {', '.join(f'{name} = ?' for name in FileRow._fields)} WHERE id = ?"  # noqa: S608 - our names
)
_SELECT_FILE = f"SELECT id, {', '.join(FileRow._fields)} FROM files WHERE path = ?"  # noqa: S608 - our names
_INSERT_BODY = _insert("bodies", "file_id", *BodyRow._fields)
_SELECT_BODY = f"SELECT {', '.join(BodyRow._fields)} FROM bodies WHERE file_id = ?"  # noqa: S608 - our names
_UPDATE_BODY = "UPDATE bodies SET text = ?, disclosure = ? WHERE file_id = ?"
_INSERT_FED = _insert("files_fts", "rowid", *TextRow._fields)
_DELETE_FED = "DELETE FROM files_fts WHERE rowid = ?"
_INSERT_TEXT = "INSERT INTO texts (hash) VALUES (?) ON CONFLICT (hash) DO NOTHING"
_INSERT_CHUNK = """
INSERT INTO chunks (file_id, ordinal, start_char, end_char, text_id)
SELECT ?, ?, ?, ?, id FROM texts WHERE hash = ?
"""
_SELECT_CHUNKS = """
SELECT c.ordinal, c.start_char, c.end_char, t.hash
FROM chunks AS c JOIN texts AS t ON t.id = c.text_id WHERE c.file_id = ?
"""
_DELETE_CHUNK = "DELETE FROM chunks WHERE file_id = ? AND ordinal = ?"
_INSERT_SKIPPED = _insert("skipped", *SkippedRow._fields)
_SELECT_ID = "SELECT id FROM files WHERE path = ?"
_LAST_ID = "SELECT coalesce(max(id), 0) FROM files"
_MOVE = "UPDATE files SET path = ? WHERE path = ?"
_COUNT_USES = """
UPDATE texts SET uses = used.n
FROM (SELECT text_id, count(*) AS n FROM chunks GROUP BY text_id) AS used WHERE id = used.text_id
"""
_COUNT_COVERED = """
UPDATE spaces SET covered = (SELECT count(*) FROM texts WHERE uses > 0 AND (
  id IN (SELECT text_id FROM sp_doc WHERE space_id = spaces.id)
  OR id IN (SELECT text_id FROM dense_doc WHERE space_id = spaces.id)))
"""
_BEGIN_STATE = """
INSERT INTO index_state (id, schema_version, chunk_chars, head_sha, files, archived, skipped,
  chunks, texts, rebuilt_at, updated_at)
VALUES (1, ?1, ?2, ?3, (SELECT count(*) FROM files),
  (SELECT count(*) FROM files WHERE archived = 1), (SELECT count(*) FROM skipped),
  (SELECT count(*) FROM chunks), (SELECT count(*) FROM texts WHERE uses > 0), ?4, ?4)
"""
_WRITE_STATE = "UPDATE index_state SET head_sha = ?, updated_at = ?"


def add(connection: apsw.Connection, batch: Sequence[Rows]) -> None:
    """Add memories at paths that have none."""
    ((last_id,),) = connection.execute(_LAST_ID)
    numbered = tuple(enumerate(batch, last_id + 1))
    connection.executemany(_INSERT_FILE, ((n, *rows.file) for n, rows in numbered))
    connection.executemany(_INSERT_BODY, ((n, *rows.body) for n, rows in numbered))
    for child, insert, _, _ in _CHILD_SQL:
        connection.executemany(
            insert,
            ((n, *_columns(row)) for n, rows in numbered for row in getattr(rows, child.field)),
        )
    _add_chunks(connection, [(n, row) for n, rows in numbered for row in rows.chunks])
    connection.executemany(_INSERT_FED, ((n, *rows.text) for n, rows in numbered))


def put(connection: apsw.Connection, rows: Rows) -> None:
    """Add a memory, or make the one at its path say what *rows* say; it keeps its id."""
    found = connection.execute(_SELECT_FILE, (rows.file.path,)).fetchone()
    if found is None:
        add(connection, [rows])
        return
    file_id, known = found[0], FileRow._make(found[1:])
    if known != rows.file:
        connection.execute(_UPDATE_FILE, (*rows.file, file_id))
    if connection.execute(_SELECT_BODY, (file_id,)).fetchone() != rows.body:
        connection.execute(_UPDATE_BODY, (*rows.body, file_id))
    for child, insert, select, delete in _CHILD_SQL:
        before = set(connection.execute(select, (file_id,)))
        after = {_columns(row) for row in getattr(rows, child.field)}
        gone = ((file_id, *row[: child.key]) for row in before - after)
        connection.executemany(delete, gone)
        connection.executemany(insert, ((file_id, *row) for row in after - before))
    pieces = set(map(ChunkRow._make, connection.execute(_SELECT_CHUNKS, (file_id,))))
    gone = ((file_id, row.ordinal) for row in pieces.difference(rows.chunks))
    connection.executemany(_DELETE_CHUNK, gone)
    _add_chunks(connection, [(file_id, row) for row in rows.chunks if row not in pieces])
    if known.text_digest != rows.file.text_digest:
        connection.execute(_DELETE_FED, (file_id,))
        connection.execute(_INSERT_FED, (file_id, *rows.text))


def move(connection: apsw.Connection, source: str, target: str) -> None:
    """Give the memory at *source* the path *target*, where none stands; it keeps its id."""
    connection.execute(_MOVE, (target, source))


def remove(connection: apsw.Connection, path: str) -> None:
    """Take the memory at *path* out, if there is one."""
    found = connection.execute(_SELECT_ID, (path,)).fetchone()
    if found is not None:
        # The tables about a file go with it by cascade; a virtual table takes no part in that.
        connection.execute(_DELETE_FED, found)
        connection.execute("DELETE FROM files WHERE id = ?", found)


def skip(connection: apsw.Connection, row: SkippedRow) -> None:
    """Remember a file that is no memory."""
    connection.execute(_INSERT_SKIPPED, row)


def unskip(connection: apsw.Connection, path: str) -> None:
    """Forget that the file at *path* was no memory, if it was none."""
    connection.execute("DELETE FROM skipped WHERE path = ?", (path,))


def seal(connection: apsw.Connection, *, head_sha: str | None, chunk_chars: int, now: str) -> None:
    """Count the rows of a new index, record what they describe, and keep the counts from now on."""
    connection.execute(INDEXES)
    connection.execute(_COUNT_USES)
    connection.execute(_COUNT_COVERED)
    connection.execute(_BEGIN_STATE, (SCHEMA_VERSION, chunk_chars, head_sha, now))
    connection.execute(TRIGGERS)


def write_state(connection: apsw.Connection, *, head_sha: str | None, updated_at: str) -> None:
    """Record the commit that the committed rows describe."""
    connection.execute(_WRITE_STATE, (head_sha, updated_at))


def _add_chunks(connection: apsw.Connection, numbered: Sequence[tuple[int, ChunkRow]]) -> None:
    connection.executemany(_INSERT_TEXT, ((row.text_hash,) for _, row in numbered))
    connection.executemany(_INSERT_CHUNK, ((n, *row) for n, row in numbered))


def _columns(row: object) -> tuple[object, ...]:
    """Return *row* as the tuple its table has; a table of one column has plain strings."""
    return row if isinstance(row, tuple) else (row,)
