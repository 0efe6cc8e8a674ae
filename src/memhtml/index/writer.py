"""Rows into SQL. Every function here runs inside a transaction of its caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.index.rows import EdgeRow, EntityRow, FacetRow, FileRow, Rows, SkippedRow, TextRow
from memhtml.index.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

__all__ = ["add", "move", "put", "remove", "skip", "unskip", "write_state"]


def _insert(table: str, *columns: str) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our names


_INSERT_FILE = _insert("files", "id", *FileRow._fields)
_INSERT_BODY = _insert("bodies", "file_id", "text")
_INSERT_TAG = _insert("file_tags", "file_id", "tag")
_INSERT_ENTITY = _insert("file_entities", "file_id", *EntityRow._fields)
_INSERT_FACET = _insert("file_facets", "file_id", *FacetRow._fields)
_INSERT_EDGE = _insert("edges", "src_id", *EdgeRow._fields)
_INSERT_TEXT = _insert("files_fts", "rowid", *TextRow._fields)
_INSERT_SKIPPED = _insert("skipped", *SkippedRow._fields)
_SELECT_ID = "SELECT id FROM files WHERE path = ?"
_LAST_ID = "SELECT coalesce(max(id), 0) FROM files"
_MOVE = "UPDATE files SET path = ? WHERE path = ?"
_WRITE_STATE = """
INSERT INTO index_state (id, schema_version, head_sha, files, skipped, rebuilt_at, updated_at)
VALUES (1, ?, ?, (SELECT count(*) FROM files), (SELECT count(*) FROM skipped), ?, ?)
ON CONFLICT (id) DO UPDATE SET schema_version = excluded.schema_version,
  head_sha = excluded.head_sha, files = excluded.files, skipped = excluded.skipped,
  rebuilt_at = excluded.rebuilt_at, updated_at = excluded.updated_at
"""


def add(connection: apsw.Connection, batch: Sequence[Rows]) -> None:
    """Add memories at paths that have none."""
    ((last_id,),) = connection.execute(_LAST_ID)
    _insert_all(connection, enumerate(batch, last_id + 1))


def put(connection: apsw.Connection, rows: Rows) -> None:
    """Add a memory, or replace the one at its path, which keeps its id."""
    found = connection.execute(_SELECT_ID, (rows.file.path,)).fetchone()
    if found is None:
        add(connection, [rows])
        return
    _delete(connection, found[0])
    _insert_all(connection, [(found[0], rows)])


def move(connection: apsw.Connection, source: str, target: str) -> None:
    """Give the memory at *source* the path *target*, where none stands; it keeps its id."""
    connection.execute(_MOVE, (target, source))


def remove(connection: apsw.Connection, path: str) -> None:
    """Take the memory at *path* out, if there is one."""
    found = connection.execute(_SELECT_ID, (path,)).fetchone()
    if found is not None:
        _delete(connection, found[0])


def skip(connection: apsw.Connection, row: SkippedRow) -> None:
    """Remember a file that is no memory."""
    connection.execute(_INSERT_SKIPPED, row)


def unskip(connection: apsw.Connection, path: str) -> None:
    """Forget that the file at *path* was no memory, if it was none."""
    connection.execute("DELETE FROM skipped WHERE path = ?", (path,))


def write_state(
    connection: apsw.Connection, *, head_sha: str | None, rebuilt_at: str, updated_at: str
) -> None:
    """Record the commit that the committed rows describe, and count the rows."""
    connection.execute(_WRITE_STATE, (SCHEMA_VERSION, head_sha, rebuilt_at, updated_at))


def _insert_all(connection: apsw.Connection, numbered: Iterable[tuple[int, Rows]]) -> None:
    numbered = tuple(numbered)
    connection.executemany(_INSERT_FILE, ((n, *rows.file) for n, rows in numbered))
    connection.executemany(_INSERT_BODY, ((n, rows.body) for n, rows in numbered))
    connection.executemany(_INSERT_TAG, ((n, tag) for n, rows in numbered for tag in rows.tags))
    for sql, field in (
        (_INSERT_ENTITY, "entities"),
        (_INSERT_FACET, "facets"),
        (_INSERT_EDGE, "edges"),
    ):
        connection.executemany(
            sql, ((n, *row) for n, rows in numbered for row in getattr(rows, field))
        )
    connection.executemany(_INSERT_TEXT, ((n, *rows.text) for n, rows in numbered))


def _delete(connection: apsw.Connection, file_id: int) -> None:
    # The tables about a file go with it by cascade; a virtual table takes no part in that.
    connection.execute("DELETE FROM files_fts WHERE rowid = ?", (file_id,))
    connection.execute("DELETE FROM files WHERE id = ?", (file_id,))
