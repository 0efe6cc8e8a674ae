"""Whether an index can be asked at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.model.errors import IndexStale, PathNotFound
from memhtml.model.paths import normalize_path
from memhtml.model.shell import quoted

if TYPE_CHECKING:
    import apsw

    from memhtml.index.database import Index, State

__all__ = ["file_id_of", "ready"]

_FILE_ID = "SELECT id FROM files WHERE path = ?"


def ready(index: Index) -> State:
    """Return the state of an index that can be asked.

    Raises:
        IndexStale: It has to be built first.
    """
    state = index.state()
    if state is None:
        raise IndexStale(f"there is no usable index at {index.path!r}")
    return state


def file_id_of(connection: apsw.Connection, path: str) -> int:
    """Return the id of the memory at *path*.

    Raises:
        PathNotFound: The index has none there.
    """
    found = connection.execute(_FILE_ID, (normalize_path(path),)).fetchone()
    if found is None:
        raise PathNotFound(path, suggestions=(f"memhtml resolve {quoted(path)}",))
    return int(found[0])
