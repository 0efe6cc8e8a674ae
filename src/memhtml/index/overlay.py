"""What the working tree says otherwise than the commit, as files and as rows.

A search looks here before it trusts the index, so this module loads nothing that only indexing
needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from memhtml.model.errors import MemoriesMissing, StorageFailure
from memhtml.model.paths import path_fault
from memhtml.model.tree import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import apsw

    from memhtml.model.tree import Change, TreeEntry, WorktreeChange

__all__ = [
    "NOT_A_FILE",
    "PATH_ENCODING",
    "REASONS",
    "File",
    "Overlaid",
    "TreeReader",
    "blob_sha",
    "committed_file",
    "disk_bytes",
    "known_edits",
    "listed",
    "observe",
    "on_disk",
    "read_overlay",
    "require_present",
    "write_overlay",
]

NOT_A_FILE = "not-a-file"
"""Reason for a symbolic link, a submodule, or a file that cannot be read."""

PATH_ENCODING = "path-encoding"
"""Reason for a file whose name is not UTF-8."""

REASONS = {
    NOT_A_FILE: "it is not a regular file that can be read; links are not followed",
    PATH_ENCODING: "its name is not UTF-8; rename it",
}
_MANY_MISSING = 10
"""Fewer files than this are deleted by hand often enough."""

_FILE_MODES = frozenset({"100644", "100755"})

_SELECT_OVERLAY = "SELECT path, disk, committed_sha, committed_reason FROM overlay"
_INSERT_OVERLAY = """
INSERT INTO overlay (path, disk, committed_sha, committed_reason) VALUES (?, ?, ?, ?)
"""


class TreeReader(Protocol):
    """What the index needs to know of a store's tree."""

    def head(self) -> str | None:
        """Return the commit that HEAD is, None in a store without commits."""

    def list_tree(self, commit: str) -> Iterator[TreeEntry]:
        """Yield every file of *commit*."""

    def read_blobs(self, shas: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield each of *shas* with its bytes, in any order."""

    def changes(self, since: str, until: str) -> list[Change] | None:
        """Return what differs between two commits; None when *since* does not exist any more."""

    def worktree_changes(self) -> list[WorktreeChange]:
        """Return what the disk says otherwise than HEAD, each untracked file by itself."""

    def read_file(self, path: str) -> bytes | None:
        """Return the bytes on disk; None when there is no regular file, symlinks not followed."""


class File(NamedTuple):
    """A file of the commit or of the working tree."""

    sha: str | None
    """Git's name for its bytes; None where it has none."""
    reason: str | None = None
    """Why its bytes are not to be read, if they are not."""
    on_disk: bool = False


_ELSEWHERE = File(None)


class Overlaid(NamedTuple):
    """A path where the working tree differs from the commit; None is no file."""

    disk: File | None
    committed: File | None


def observe(reader: TreeReader, head: str | None) -> dict[str, File | None]:
    """Return what the disk has wherever a memory may stand and it differs from HEAD."""
    seen: dict[str, File | None] = {}
    for change in reader.worktree_changes():
        if path_fault(change.path) is not None:
            continue
        path, reason = _readable(change.path)
        if change.kind is ChangeKind.REMOVED:
            seen[path] = None
        elif reason is not None:
            seen[path] = File(None, reason, on_disk=True)
        else:
            data = disk_bytes(reader, path)
            seen[path] = on_disk(None if data is None else blob_sha(data, head))
    return seen


def known_edits(connection: apsw.Connection) -> dict[str, File | None]:
    """Return what `observe` returned when the index last looked at the disk."""
    return {path: over.disk for path, over in read_overlay(connection).items()}


def require_present(
    worktree: Mapping[str, File | None], known: Mapping[str, File | None], files: int
) -> None:
    """Refuse a working tree from which most of *files* memories vanished since *known* was seen.

    A few deletions by hand are an edit like any other, and committed ones are nobody's mishap.

    Raises:
        MemoriesMissing: They did.
    """
    missing = sum(
        file is None and known.get(path, _ELSEWHERE) is not None for path, file in worktree.items()
    )
    if missing >= _MANY_MISSING and missing > files / 2:
        raise MemoriesMissing(missing, files)


def read_overlay(connection: apsw.Connection) -> dict[str, Overlaid]:
    """Return each path where the index has the working tree's state, not the commit's."""
    overlay = {}
    for path, disk, committed_sha, committed_reason in connection.execute(_SELECT_OVERLAY):
        committed = committed_sha and File(committed_sha, committed_reason)
        overlay[path] = Overlaid(_from_column(disk), committed)
    return overlay


def write_overlay(
    connection: apsw.Connection,
    worktree: Mapping[str, File | None],
    committed: Mapping[str, File | None],
) -> None:
    """Remember *worktree*, and what *committed* has at its paths, in the empty overlay table."""
    for path, disk in worktree.items():
        over = committed.get(path) or File(None)
        column = disk and (disk.sha or disk.reason)
        connection.execute(_INSERT_OVERLAY, (path, column, over.sha, over.reason))


def listed(reader: TreeReader, head: str | None) -> Iterator[tuple[str, File]]:
    """Yield what HEAD has wherever a memory may stand."""
    for entry in reader.list_tree(head) if head else ():
        if path_fault(entry.path) is None:
            yield committed_file(entry.path, entry.sha, entry.mode)


def disk_bytes(reader: TreeReader, path: str) -> bytes | None:
    """Return the bytes of a file on disk; None when there are none that can be read."""
    try:
        return reader.read_file(path)
    except StorageFailure:
        # One file nobody may read must not keep all others from being found.
        return None


def on_disk(sha: str | None) -> File:
    """Return the file of the working tree with that blob name; None is no regular file."""
    return File(sha, None if sha else NOT_A_FILE, on_disk=True)


def committed_file(path: str, sha: str, mode: str) -> tuple[str, File]:
    """Return the file of a commit, and its path as the index spells it."""
    path, reason = _readable(path)
    return path, File(sha, reason or (None if mode in _FILE_MODES else NOT_A_FILE))


def blob_sha(data: bytes, like: str | None) -> str:
    """Return git's name for *data*, in the hash that made the name *like* (SHA-1 by default)."""
    import hashlib  # noqa: PLC0415 - needed only when a file was edited by hand

    new = hashlib.sha256 if like is not None and len(like) == 64 else hashlib.sha1
    return new(b"blob %d\0" % len(data) + data).hexdigest()


def _from_column(disk: str | None) -> File | None:
    if disk is None:
        return None
    return File(None, disk, on_disk=True) if disk in REASONS else on_disk(disk)


def _readable(path: str) -> tuple[str, str | None]:
    """Return *path* as text that a database can hold, and the reason if that is not its name."""
    if path.isascii():
        return path, None
    name = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return name, None if name == path else PATH_ENCODING
