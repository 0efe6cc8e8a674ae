"""Rows of the vector spaces: what encoders made of texts, as it is stored.

There is at most one space of each kind. Whoever reads names the space it has an encoder for; when
the index has another, it has no rows for that reader, so two spaces are never mixed.

Postings come in *segments*, since an inverted list cannot be appended to in place at a cost that
does not grow with the index. A batch of texts is a segment of its own, and segments of about equal
size are merged, so that a text is copied a logarithmic number of times and a term is read from a
handful of rows. Dense vectors stand in pages, back to back, for a process that loads them all; one
vector is cut out of its page without reading another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.scoring.sparse import Posting, inverted, pack_terms, unpack_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw

    from memhtml.model.ports import SparseRow

__all__ = [
    "PAGE_VECTORS",
    "Space",
    "add_dense",
    "add_sparse",
    "carry_over",
    "dense_pages",
    "dense_vectors",
    "drop_space",
    "find_space",
    "make_space",
    "posting_lengths",
    "postings",
    "purge",
    "space_names",
    "sparse_rows",
    "text_limit",
]

PAGE_VECTORS = 64
"""Vectors in a page. Cutting one out of a page reads at most the page: 98 kB at 384 dimensions."""

MAX_SEGMENTS = 8
FEW_TEXTS = 1000
"""So many unused texts are always kept."""

_PURGE_TEXTS = 4096
"""Texts whose postings are made at once when postings are made anew; bounds its memory."""

_TABLES = {
    "texts": ("id", "hash"),
    "spaces": ("id", "kind", "name", "dims"),
    "sp_doc": ("space_id", "text_id", "terms", "weights"),
    "sp_post": ("space_id", "term", "segment", "docs", "weights"),
    "sp_segments": ("space_id", "segment", "texts"),
    "dense_doc": ("space_id", "text_id", "slot"),
    "dense_pages": ("space_id", "page", "vectors"),
}
_OWNED = ("sp_doc", "sp_post", "sp_segments", "dense_doc", "dense_pages")

_FIND_SPACE = "SELECT id, kind, name, dims, covered FROM spaces WHERE kind = ? AND name = ?"
_SPACE_NAMES = "SELECT kind, name FROM spaces WHERE covered > 0"
_ALL_SPACES = "SELECT id, kind, name, dims, covered FROM spaces ORDER BY id"
_MAKE_SPACE = "INSERT INTO spaces (id, kind, name, dims) VALUES (?, ?, ?, ?)"
_LAST_SPACE = "SELECT coalesce(max(id), 0) FROM spaces"
_INSERT_SPARSE = "INSERT INTO sp_doc (space_id, text_id, terms, weights) VALUES (?, ?, ?, ?)"
_INSERT_POSTING = """
INSERT INTO sp_post (space_id, term, segment, docs, weights) VALUES (?, ?, ?, ?, ?)
"""
_INSERT_SEGMENT = "INSERT INTO sp_segments (space_id, segment, texts) VALUES (?, ?, ?)"
_SELECT_SEGMENTS = """
SELECT segment, texts FROM sp_segments WHERE space_id = ? ORDER BY segment DESC
"""
_SELECT_MERGED = """
SELECT term, docs, weights FROM sp_post WHERE space_id = ? AND segment >= ? ORDER BY term, segment
"""
_POSTINGS = "SELECT term, docs, weights FROM sp_post WHERE space_id = ? AND term IN ({marks})"
_POSTING_LENGTHS = """
SELECT term, sum(length(weights)) FROM sp_post WHERE space_id = ? AND term IN ({marks})
GROUP BY term
"""
_SPARSE_ROWS = """
SELECT text_id, terms, weights FROM sp_doc WHERE space_id = ? AND text_id IN ({marks})
"""
_ALL_SPARSE = "SELECT text_id, terms, weights FROM sp_doc WHERE space_id = ? ORDER BY text_id"
_LAST_PAGE = """
SELECT page, vectors FROM dense_pages WHERE space_id = ? ORDER BY page DESC LIMIT 1
"""
_PUT_PAGE = """
INSERT INTO dense_pages (space_id, page, vectors) VALUES (?, ?, ?)
ON CONFLICT (space_id, page) DO UPDATE SET vectors = excluded.vectors
"""
_INSERT_DENSE = "INSERT INTO dense_doc (space_id, text_id, slot) VALUES (?, ?, ?)"
_DENSE_PLACES = f"""
SELECT d.text_id, p.rowid, d.slot % {PAGE_VECTORS} FROM dense_doc AS d
JOIN dense_pages AS p ON p.space_id = d.space_id AND p.page = d.slot / {PAGE_VECTORS}
WHERE d.space_id = ? AND d.text_id IN ({{marks}}) ORDER BY p.rowid
"""  # noqa: S608 - a number of ours
_DENSE_PAGES = "SELECT vectors FROM dense_pages WHERE space_id = ? ORDER BY page"
_DENSE_SLOTS = "SELECT text_id FROM dense_doc WHERE space_id = ? ORDER BY slot"
_UNUSED_TEXTS = "SELECT (SELECT count(*) FROM texts) - (SELECT texts FROM index_state)"
_UNUSED = "(SELECT id FROM texts WHERE uses = 0)"


class Space(NamedTuple):
    """A vector space that the index has rows of."""

    id: int
    kind: str
    """``sparse`` or ``dense``."""
    name: str
    """As the encoder calls it: `SparseQueries.space_id`."""
    dims: int | None
    """Width of a dense vector."""
    covered: int
    """So many of the texts that some file has, have a row."""


# Reading


def find_space(connection: apsw.Connection, kind: str, name: str) -> Space | None:
    """Return the space *name* of *kind*; None when the index has no rows of it."""
    found = connection.execute(_FIND_SPACE, (kind, name)).fetchone()
    return found and Space._make(found)


def space_names(connection: apsw.Connection) -> dict[str, str]:
    """Return the name of the space of each kind that the index has rows of."""
    return dict(connection.execute(_SPACE_NAMES))


def text_limit(connection: apsw.Connection) -> int:
    """Return a number above the id of every text."""
    ((last,),) = connection.execute("SELECT coalesce(max(id), 0) FROM texts")
    return int(last) + 1


def posting_lengths(
    connection: apsw.Connection, space: Space, terms: Sequence[int]
) -> dict[int, int]:
    """Return how many postings each of *terms* has; terms without any are left out."""
    sql = _POSTING_LENGTHS.format(marks=_marks(terms))
    return dict(connection.execute(sql, (space.id, *terms)))


def postings(
    connection: apsw.Connection, space: Space, terms: Sequence[int]
) -> Iterator[tuple[int, Posting]]:
    """Yield the postings of *terms*, each with its term. The documents are ids of texts."""
    sql = _POSTINGS.format(marks=_marks(terms))
    for term, docs, weights in connection.execute(sql, (space.id, *terms)):
        yield term, Posting(docs, weights)


def sparse_rows(
    connection: apsw.Connection, space: Space, text_ids: Sequence[int]
) -> dict[int, SparseRow]:
    """Return the rows that *text_ids* have."""
    sql = _SPARSE_ROWS.format(marks=_marks(text_ids))
    found = connection.execute(sql, (space.id, *text_ids))
    return {text_id: unpack_row(terms, weights) for text_id, terms, weights in found}


def dense_vectors(
    connection: apsw.Connection, space: Space, text_ids: Sequence[int]
) -> dict[int, bytes]:
    """Return the vectors that *text_ids* have, as `scoring.vectors.pack` packs them."""
    sql = _DENSE_PLACES.format(marks=_marks(text_ids))
    places = list(connection.execute(sql, (space.id, *text_ids)))
    if not places:
        return {}
    width = _width(space)
    found: dict[int, bytes] = {}
    # A blob that is opened is read where it is asked for; as a value it would come as a whole.
    with connection.blob_open("main", "dense_pages", "vectors", places[0][1], False) as page:
        for text_id, row, place in places:
            page.reopen(row)
            page.seek(place * width)
            found[text_id] = page.read(width)
    return found


def dense_pages(connection: apsw.Connection, space: Space) -> tuple[list[int], list[bytes]]:
    """Return the text of each vector in order, and the pages that hold the vectors."""
    texts = [text_id for (text_id,) in connection.execute(_DENSE_SLOTS, (space.id,))]
    return texts, [page for (page,) in connection.execute(_DENSE_PAGES, (space.id,))]


# Writing, inside a transaction of the caller


def make_space(connection: apsw.Connection, kind: str, name: str, dims: int | None) -> Space:
    """Make a space of a kind that has none."""
    ((last_id,),) = connection.execute(_LAST_SPACE)
    connection.execute(_MAKE_SPACE, (last_id + 1, kind, name, dims))
    return Space(last_id + 1, kind, name, dims, 0)


def drop_space(connection: apsw.Connection, space_id: int) -> None:
    """Remove a space and all its rows."""
    for table in _OWNED:
        connection.execute(f"DELETE FROM {table} WHERE space_id = ?", (space_id,))  # noqa: S608 - ours
    connection.execute("DELETE FROM spaces WHERE id = ?", (space_id,))


def add_sparse(connection: apsw.Connection, space: Space, rows: Mapping[int, SparseRow]) -> None:
    """Add the rows of texts that have none in *space*."""
    if not rows:
        return
    connection.executemany(
        _INSERT_SPARSE,
        ((space.id, text_id, pack_terms(row), row.weights) for text_id, row in rows.items()),
    )
    _add_segment(connection, space.id, rows.items(), len(rows))
    _merge(connection, space.id)


def add_dense(connection: apsw.Connection, space: Space, rows: Mapping[int, bytes]) -> None:
    """Add the vectors, packed, of texts that have none in *space*."""
    if not rows:
        return
    width = _width(space)
    page, data = connection.execute(_LAST_PAGE, (space.id,)).fetchone() or (0, b"")
    slot = page * PAGE_VECTORS + len(data) // width
    connection.executemany(
        _INSERT_DENSE, ((space.id, text_id, slot + n) for n, text_id in enumerate(rows))
    )
    data += b"".join(rows.values())
    for start in range(0, len(data), PAGE_VECTORS * width):
        piece = data[start : start + PAGE_VECTORS * width]
        connection.execute(_PUT_PAGE, (space.id, page, piece))
        page += 1


def purge(connection: apsw.Connection) -> bool:
    """Remove texts that no file has, and all their rows, once they are many; tell whether so.

    A few are kept, because an undone edit brings its text back.
    """
    ((unused,),) = connection.execute(_UNUSED_TEXTS)
    ((used,),) = connection.execute("SELECT texts FROM index_state")
    if unused <= max(FEW_TEXTS, used // 4):
        return False
    spaces = [Space._make(row) for row in connection.execute(_ALL_SPACES)]
    connection.execute(f"DELETE FROM sp_doc WHERE text_id IN {_UNUSED}")  # noqa: S608 - ours
    for space in spaces:
        if space.kind == "sparse":
            _repost(connection, space)
        else:
            _repage(connection, space)
    connection.execute("DELETE FROM texts WHERE uses = 0")
    return True


def carry_over(source: apsw.Connection, target: apsw.Connection) -> None:
    """Copy texts and everything that spaces have of them into the empty tables of *target*.

    Raises:
        apsw.Error: *source* has other tables, or is damaged.
    """
    for table, columns in _TABLES.items():
        names = ", ".join(columns)
        target.executemany(
            f"INSERT INTO {table} ({names}) VALUES ({_marks(columns)})",  # noqa: S608 - ours
            source.execute(f"SELECT {names} FROM {table}"),  # noqa: S608 - ours
        )


# Helpers


def _add_segment(
    connection: apsw.Connection, space_id: int, rows: Iterable[tuple[int, SparseRow]], texts: int
) -> None:
    last = connection.execute(_SELECT_SEGMENTS, (space_id,)).fetchone()
    segment = last[0] + 1 if last else 0
    connection.execute(_INSERT_SEGMENT, (space_id, segment, texts))
    connection.executemany(
        _INSERT_POSTING, ((space_id, term, segment, *post) for term, post in inverted(rows).items())
    )


def _merge(connection: apsw.Connection, space_id: int) -> None:
    """Merge the newest segments into one when there are too many."""
    segments = list(connection.execute(_SELECT_SEGMENTS, (space_id,)))
    if len(segments) <= MAX_SEGMENTS:
        return
    # As far back as each is no larger than twice what is newer: then no text is copied often.
    first, texts = segments[0]
    for segment, size in segments[1:]:
        if size > 2 * texts:
            break
        first, texts = segment, texts + size
    merged: dict[int, tuple[list[bytes], list[bytes]]] = {}
    for term, docs, weights in connection.execute(_SELECT_MERGED, (space_id, first)):
        parts = merged.setdefault(term, ([], []))
        parts[0].append(docs)
        parts[1].append(weights)
    for table in ("sp_post", "sp_segments"):
        connection.execute(
            f"DELETE FROM {table} WHERE space_id = ? AND segment >= ?",  # noqa: S608 - ours
            (space_id, first),
        )
    connection.execute(_INSERT_SEGMENT, (space_id, first, texts))
    connection.executemany(
        _INSERT_POSTING,
        (
            (space_id, term, first, b"".join(docs), b"".join(weights))
            for term, (docs, weights) in merged.items()
        ),
    )


def _repost(connection: apsw.Connection, space: Space) -> None:
    """Make the postings of *space* anew from its rows."""
    for table in ("sp_post", "sp_segments"):
        connection.execute(f"DELETE FROM {table} WHERE space_id = ?", (space.id,))  # noqa: S608 - ours
    rows = list(connection.execute(_ALL_SPARSE, (space.id,)))
    for start in range(0, len(rows), _PURGE_TEXTS):
        batch = [
            (n, unpack_row(terms, weights)) for n, terms, weights in rows[start:][:_PURGE_TEXTS]
        ]
        _add_segment(connection, space.id, batch, len(batch))
        _merge(connection, space.id)


def _repage(connection: apsw.Connection, space: Space) -> None:
    """Write the vectors of *space* anew, without those of texts that no file has."""
    texts, pages = dense_pages(connection, space)
    width = _width(space)
    data = b"".join(pages)
    gone = {n for (n,) in connection.execute("SELECT id FROM texts WHERE uses = 0")}
    kept = {
        text_id: data[slot * width : (slot + 1) * width]
        for slot, text_id in enumerate(texts)
        if text_id not in gone
    }
    for table in ("dense_doc", "dense_pages"):
        connection.execute(f"DELETE FROM {table} WHERE space_id = ?", (space.id,))  # noqa: S608 - ours
    add_dense(connection, space, kept)


def _width(space: Space) -> int:
    assert space.dims is not None  # noqa: S101 - only dense spaces have vectors
    return 4 * space.dims


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
