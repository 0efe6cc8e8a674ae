"""Where the usage of a memory belongs once its place is empty.

A memory that moved into the archive, or back, took its usage along; one that was corrected left it
to the memory that took its place, for that is what readers will find from now on. All of this is
read off the index, so it can be done again at any time, and a rebuild does it for every path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.index.state_file import has_usage
from memhtml.index.usage import open_usage
from memhtml.model.paths import original_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memhtml.index.usage import UsagePlane

__all__ = ["find_heir", "orphans", "settle"]

_IS_MEMORY = "SELECT 1 FROM files WHERE path = ?"
_ARCHIVED_FROM = """
SELECT path FROM files WHERE origin_path = ? ORDER BY archived_at DESC, path DESC LIMIT 1
"""
_SUPERSEDED_BY = """
SELECT s.path FROM edges AS e JOIN files AS s ON s.id = e.src_id
WHERE e.rel = 'supersedes' AND e.dst_path IN (?, ?)
ORDER BY s.created_at DESC, s.path LIMIT 1
"""
_MOST_STEPS = 16


def find_heir(connection: apsw.Connection, path: str) -> str | None:
    """Return the memory that has what *path*, where none stands any more, had; None if none does.

    >>> import apsw; from memhtml.index.schema import TABLES
    >>> empty = apsw.Connection(":memory:"); _ = empty.execute(TABLES)
    >>> find_heir(empty, "areas/a.html")
    """
    origin = original_path(path)
    if origin is not None and _is_memory(connection, origin):
        return origin  # back from the archive
    row = connection.execute(_ARCHIVED_FROM, (path,)).fetchone()
    heir = None if row is None else str(row[0])
    seen = {path, heir}
    place = path
    for _ in range(_MOST_STEPS):
        row = connection.execute(_SUPERSEDED_BY, (place, heir)).fetchone()
        if row is None or row[0] in seen:
            break
        heir = place = str(row[0])
        seen.add(heir)
    return heir


def orphans(connection: apsw.Connection, plane: UsagePlane) -> list[str]:
    """Return the paths that have usage and no memory, sorted; each should be settled or dropped."""
    return [path for path, _ in plane.rows() if not _is_memory(connection, path)]


def settle(connection: apsw.Connection, root: str, gone: Iterable[str] | None = None) -> None:
    """Hand on the usage of *gone*, or of every path without a memory, to whom it belongs.

    Inside a transaction on the index: should that be undone, this is still right, since usage
    whose path has no memory is settled again.
    """
    if not has_usage(root):
        return
    with open_usage(root) as plane:
        paths = orphans(connection, plane) if gone is None else gone
        heirs = ((path, find_heir(connection, path)) for path in paths)
        plane.move({path: heir for path, heir in heirs if heir is not None})


def _is_memory(connection: apsw.Connection, path: str) -> bool:
    return connection.execute(_IS_MEMORY, (path,)).fetchone() is not None
