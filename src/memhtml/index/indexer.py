"""The index follows the tree: rebuild it whole, or bring it up to date.

Two states of the tree meet in the index. Its *committed* side is a commit, the watermark in
`index_state`. Over it lies what the working tree says otherwise, and the `overlay` table remembers
for each such path what the commit had there. So when a hand edit is undone, the row goes back to
the committed blob, though no commit ever mentions it; and a commit that says what the disk already
said costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from memhtml.index import writer
from memhtml.index.database import empty_database
from memhtml.index.rows import SkippedRow
from memhtml.model.errors import IndexStale, StorageFailure
from memhtml.model.paths import original_path, path_fault
from memhtml.model.tree import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import apsw

    from memhtml.index.database import Index, State
    from memhtml.index.rows import Rows
    from memhtml.model.tree import Change, TreeEntry, WorktreeChange

__all__ = ["Report", "TreeReader", "rebuild", "update"]

BATCH_FILES = 200
"""Files whose rows are inserted together in a rebuild; bounds its memory."""

MAX_CHANGES = 2_000
"""More committed changes than this are indexed aside, so that other writers need not wait."""

NOT_A_FILE = "not-a-file"
"""Reason for a symbolic link, a submodule, or a file that cannot be read."""

PATH_ENCODING = "path-encoding"
"""Reason for a file whose name is not UTF-8."""

_REASONS = {
    NOT_A_FILE: "it is not a regular file that can be read; links are not followed",
    PATH_ENCODING: "its name is not UTF-8; rename it",
}
_FILE_MODES = frozenset({"100644", "100755"})

_SELECT_OVERLAY = "SELECT path, disk, committed_sha, committed_reason FROM overlay"
_INSERT_OVERLAY = """
INSERT INTO overlay (path, disk, committed_sha, committed_reason) VALUES (?, ?, ?, ?)
"""
_SELECT_INDEXED = """
SELECT blob_sha, NULL FROM files WHERE path = ?1
UNION ALL SELECT blob_sha, reason FROM skipped WHERE path = ?1
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


class Report(NamedTuple):
    """What a rebuild or an update did."""

    head_sha: str | None
    rebuilt: bool = False
    unchanged: bool = False
    added: int = 0
    modified: int = 0
    removed: int = 0
    renamed: int = 0
    dirty: int = 0
    """Paths whose indexed state is the working tree's, not the commit's."""
    skipped: tuple[SkippedRow, ...] = ()
    """Files found in this pass to be no memories."""


class _File(NamedTuple):
    """A file of the commit or of the working tree."""

    sha: str | None
    """Git's name for its bytes; None where it has none."""
    reason: str | None = None
    """Why its bytes are not to be read, if they are not."""
    on_disk: bool = False


class _Overlaid(NamedTuple):
    """A path where the working tree differs from the commit; None is no file."""

    disk: _File | None
    committed: _File | None


class _Indexed(NamedTuple):
    """What the index has at a path."""

    sha: str | None
    reason: str | None
    """Why it is no memory; None for one."""


def rebuild(index: Index, reader: TreeReader, *, now: str) -> Report:
    """Build the index anew from HEAD and the working tree, and put it in place of the old one.

    The old index answers until the new one is complete; a failure or a kill leaves it as it was.
    *now* is the instant to record.

    Raises:
        Busy: Another process is writing to the index.
        GitFailure: The store cannot be read.
        StorageFailure: The disk is full or refuses.
    """
    index.follow()
    head = reader.head()
    worktree = _observe(reader, head)
    committed = dict(_listed(reader, head))
    wanted = _overlaid(committed, worktree)
    built = empty_database()
    try:
        with index.guarded("build the index"):
            built.execute("BEGIN")
            files, skipped = _fill(built, reader, wanted)
            _write_overlay(built, worktree, committed)
            writer.write_state(built, head_sha=head, rebuilt_at=now, updated_at=now)
            built.execute("COMMIT")
        index.replace(built)
    finally:
        built.close()
    return Report(head, rebuilt=True, added=files, dirty=len(worktree), skipped=tuple(skipped))


def update(index: Index, reader: TreeReader, *, now: str, scan: bool = True) -> Report:
    """Bring the index up to HEAD and the working tree; rebuild it where that cannot be done.

    Without *scan* the disk is not looked at: commits are followed, and what was known of hand edits
    stays. When nothing changed, nothing is written and no lock is taken. *now* is the instant to
    record.

    Raises:
        Busy: Another process is writing to the index.
        GitFailure: The store cannot be read.
        StorageFailure: The disk is full or refuses.
    """
    index.follow()
    try:
        state = index.state()
        if state is None:
            return rebuild(index, reader, now=now)
        head = reader.head()
        if state.head_sha == head:
            with index.reading("compare the index with the tree") as connection:
                known = _known_edits(connection)
            if not scan or known == _observe(reader, head):
                return Report(head, unchanged=True, dirty=len(known))
        return _follow_tree(index, reader, now, scan=scan) or rebuild(index, reader, now=now)
    except IndexStale:
        return rebuild(index, reader, now=now)


def _follow_tree(index: Index, reader: TreeReader, now: str, *, scan: bool) -> Report | None:
    """Update under the writer's lock, so that no other writer moves the watermark meanwhile.

    None when the watermark is lost or too far behind.
    """
    with index.writing("update the index") as connection:
        state = index.state()
        head = reader.head()
        changes = None if state is None else _changes(reader, state, head)
        if state is None or changes is None:
            return None
        worktree = _observe(reader, head) if scan else _known_edits(connection)
        committed = _committed(connection, changes, worktree)
        report = _bring_to(connection, reader, _overlaid(committed, worktree))
        connection.execute("DELETE FROM overlay")
        _write_overlay(connection, worktree, committed)
        writer.write_state(connection, head_sha=head, rebuilt_at=state.rebuilt_at, updated_at=now)
    return report._replace(head_sha=head, dirty=len(worktree))


def _changes(reader: TreeReader, state: State, head: str | None) -> list[Change] | None:
    """Return the committed changes to follow one by one; None when a rebuild is the better way."""
    if state.head_sha == head:
        return []
    if state.head_sha is None or head is None:
        return None
    changes = reader.changes(state.head_sha, head)
    return None if changes is None or len(changes) > MAX_CHANGES else changes


def _observe(reader: TreeReader, head: str | None) -> dict[str, _File | None]:
    """Return what the disk has wherever a memory may stand and it differs from HEAD."""
    seen: dict[str, _File | None] = {}
    for change in reader.worktree_changes():
        if path_fault(change.path) is not None:
            continue
        path, reason = _readable(change.path)
        if change.kind is ChangeKind.REMOVED:
            seen[path] = None
        elif reason is not None:
            seen[path] = _File(None, reason, on_disk=True)
        else:
            data = _disk_bytes(reader, path)
            seen[path] = _on_disk(None if data is None else _blob_sha(data, head))
    return seen


def _listed(reader: TreeReader, head: str | None) -> Iterator[tuple[str, _File]]:
    for entry in reader.list_tree(head) if head else ():
        if path_fault(entry.path) is None:
            yield _committed_file(entry.path, entry.sha, entry.mode)


def _committed(
    connection: apsw.Connection, changes: Iterable[Change], worktree: Iterable[str]
) -> dict[str, _File | None]:
    """Return what HEAD has at every path that may have to change."""
    overlay = _read_overlay(connection)
    committed = {path: over.committed for path, over in overlay.items()}
    for change in changes:
        if path_fault(change.path) is None:
            path, file = _committed_file(change.path, change.sha, change.mode)
            committed[path] = None if change.kind is ChangeKind.REMOVED else file
    for path in worktree:
        if path not in committed:
            row = _indexed(connection, path)
            # Not overlaid so far, so the row was made from the commit.
            committed[path] = row and _File(row.sha, row.reason if row.reason in _REASONS else None)
    return committed


def _overlaid(
    committed: Mapping[str, _File | None], worktree: Mapping[str, _File | None]
) -> dict[str, _File | None]:
    return {**committed, **worktree}


def _bring_to(
    connection: apsw.Connection, reader: TreeReader, wanted: Mapping[str, _File | None]
) -> Report:
    """Make the rows at every path of *wanted* what it says; None is no file."""
    before = {path: _indexed(connection, path) for path in wanted}
    moves = _moves(wanted, before)
    for source, target in moves.items():
        writer.move(connection, source, target)
    gone = [p for p in wanted if wanted[p] is None and before[p] is not None and p not in moves]
    for path in gone:
        writer.unskip(connection, path)
        writer.remove(connection, path)
    stale = {p: f for p, f in wanted.items() if f is not None and not _is_current(f, before[p])}
    skipped = []
    for found in _read(reader, stale):
        if isinstance(found, SkippedRow):
            writer.unskip(connection, found.path)
            writer.remove(connection, found.path)
            writer.skip(connection, found)
            skipped.append(found)
        else:
            writer.unskip(connection, found.file.path)
            writer.put(connection, found)
    known = sum(before[path] is not None for path in stale)
    return Report(
        None,
        added=len(stale) - known - len(moves),
        modified=known,
        removed=len(gone),
        renamed=len(moves),
        skipped=tuple(skipped),
    )


def _moves(
    wanted: Mapping[str, _File | None], before: Mapping[str, _Indexed | None]
) -> dict[str, str]:
    """Pair what went into the archive, or came back, by where it stood: never by likeness."""
    # Only a memory has a row to move; a skipped file has none.
    gone = {
        path
        for path, row in before.items()
        if row is not None and row.reason is None and wanted[path] is None
    }
    restored = {original_path(path): path for path in sorted(gone, reverse=True)}
    moves: dict[str, str] = {}
    for target in sorted(p for p, row in before.items() if row is None and wanted[p] is not None):
        archived_from = original_path(target)
        source = archived_from if archived_from in gone else restored.get(target)
        if source is not None and source not in moves:
            moves[source] = target
    return moves


def _is_current(file: _File, row: _Indexed | None) -> bool:
    if row is None or row.sha != file.sha:
        return False
    return file.reason == (row.reason if row.reason in _REASONS else None)


def _fill(
    connection: apsw.Connection, reader: TreeReader, wanted: Mapping[str, _File | None]
) -> tuple[int, list[SkippedRow]]:
    """Insert everything into an empty database, a batch at a time."""
    files = 0
    batch: list[Rows] = []
    skipped: list[SkippedRow] = []
    for found in _read(reader, {path: file for path, file in wanted.items() if file is not None}):
        if isinstance(found, SkippedRow):
            writer.skip(connection, found)
            skipped.append(found)
            continue
        files += 1
        batch.append(found)
        if len(batch) == BATCH_FILES:
            writer.add(connection, batch)
            batch.clear()
    writer.add(connection, batch)
    return files, skipped


def _read(reader: TreeReader, wanted: Mapping[str, _File]) -> Iterator[Rows | SkippedRow]:
    """Yield the rows of each file, or why it has none. Holds one file's bytes at a time."""
    paths_of: dict[str, list[str]] = {}
    for path, file in wanted.items():
        if file.reason is not None or file.sha is None:
            yield _unread(path, file)
        elif not file.on_disk:
            paths_of.setdefault(file.sha, []).append(path)
        elif (data := _disk_bytes(reader, path)) is None:
            yield _unread(path, _on_disk(None))
        else:
            # The bytes may be newer than what was observed; the next update sees that they are.
            yield _projected(path, _blob_sha(data, file.sha), data)
    for sha, data in reader.read_blobs(paths_of) if paths_of else ():
        for path in paths_of[sha]:
            yield _projected(path, sha, data)


def _projected(path: str, sha: str, data: bytes) -> Rows | SkippedRow:
    # A search on a clean tree parses nothing, and must not pay for loading the parser.
    from memhtml.format.parse import parse  # noqa: PLC0415
    from memhtml.index.project import project, skip_invalid  # noqa: PLC0415

    document = parse(data)
    return project(path, sha, document) if document.is_valid else skip_invalid(path, sha, document)


def _disk_bytes(reader: TreeReader, path: str) -> bytes | None:
    try:
        return reader.read_file(path)
    except StorageFailure:
        # One file nobody may read must not keep all others from being found.
        return None


def _unread(path: str, file: _File) -> SkippedRow:
    reason = file.reason or NOT_A_FILE
    return SkippedRow(
        path, file.sha, reason, f'[{{"code": "{reason}", "message": "{_REASONS[reason]}"}}]'
    )


def _indexed(connection: apsw.Connection, path: str) -> _Indexed | None:
    found = connection.execute(_SELECT_INDEXED, (path,)).fetchone()
    return found and _Indexed(*found)


def _known_edits(connection: apsw.Connection) -> dict[str, _File | None]:
    return {path: over.disk for path, over in _read_overlay(connection).items()}


def _read_overlay(connection: apsw.Connection) -> dict[str, _Overlaid]:
    overlay = {}
    for path, disk, committed_sha, committed_reason in connection.execute(_SELECT_OVERLAY):
        committed = committed_sha and _File(committed_sha, committed_reason)
        overlay[path] = _Overlaid(_from_column(disk), committed)
    return overlay


def _write_overlay(
    connection: apsw.Connection,
    worktree: Mapping[str, _File | None],
    committed: Mapping[str, _File | None],
) -> None:
    for path, disk in worktree.items():
        over = committed.get(path) or _File(None)
        column = disk and (disk.sha or disk.reason)
        connection.execute(_INSERT_OVERLAY, (path, column, over.sha, over.reason))


def _from_column(disk: str | None) -> _File | None:
    if disk is None:
        return None
    return _File(None, disk, on_disk=True) if disk in _REASONS else _on_disk(disk)


def _on_disk(sha: str | None) -> _File:
    return _File(sha, None if sha else NOT_A_FILE, on_disk=True)


def _committed_file(path: str, sha: str, mode: str) -> tuple[str, _File]:
    path, reason = _readable(path)
    return path, _File(sha, reason or (None if mode in _FILE_MODES else NOT_A_FILE))


def _readable(path: str) -> tuple[str, str | None]:
    """Return *path* as text that a database can hold, and the reason if that is not its name."""
    if path.isascii():
        return path, None
    name = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return name, None if name == path else PATH_ENCODING


def _blob_sha(data: bytes, like: str | None) -> str:
    """Return git's name for *data*, in the hash that made the name *like* (SHA-1 by default)."""
    import hashlib  # noqa: PLC0415 - needed only when a file was edited by hand

    new = hashlib.sha256 if like is not None and len(like) == 64 else hashlib.sha1
    return new(b"blob %d\0" % len(data) + data).hexdigest()
