"""Files into rows, and rows made what the files say: the part of the indexer that writes.

Loaded only when something changed; a search on a clean tree gets by without it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memhtml.format.parse import parse
from memhtml.index import writer
from memhtml.index.overlay import (
    NOT_A_FILE,
    REASONS,
    File,
    blob_sha,
    committed_file,
    disk_bytes,
    on_disk,
    read_overlay,
)
from memhtml.index.project import placed, rows_of
from memhtml.index.rows import Rows, SkippedRow
from memhtml.model.paths import original_path, path_fault
from memhtml.model.tree import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw

    from memhtml.index.overlay import TreeReader
    from memhtml.model.document import Document
    from memhtml.model.ports import Progress
    from memhtml.model.tree import Change

__all__ = ["Counts", "bring_to", "committed_states", "fill"]

BATCH_FILES = 200
"""New files whose rows are inserted together; bounds the memory that takes."""

PARALLEL_FILES = 2_000
"""From so many files on, a rebuild starts other processes: it takes a second by then."""

Item = TypeVar("Item")

_SELECT_INDEXED = """
SELECT blob_sha, NULL FROM files WHERE path = ?1
UNION ALL SELECT blob_sha, reason FROM skipped WHERE path = ?1
"""


class Counts(NamedTuple):
    """What became of the rows."""

    added: int
    modified: int
    removed: int
    renamed: int
    skipped: tuple[SkippedRow, ...]
    """Files found to be no memories."""


class _Indexed(NamedTuple):
    """What the index has at a path."""

    sha: str | None
    reason: str | None
    """Why it is no memory; None for one."""


def committed_states(
    connection: apsw.Connection, changes: Iterable[Change], worktree: Iterable[str]
) -> dict[str, File | None]:
    """Return what HEAD has at every path that may have to change."""
    overlay = read_overlay(connection)
    committed = {path: over.committed for path, over in overlay.items()}
    for change in changes:
        if path_fault(change.path) is None:
            path, file = committed_file(change.path, change.sha, change.mode)
            committed[path] = None if change.kind is ChangeKind.REMOVED else file
    for path in worktree:
        if path not in committed:
            row = _indexed(connection, path)
            # Not overlaid so far, so the row was made from the commit.
            committed[path] = row and File(row.sha, row.reason if row.reason in REASONS else None)
    return committed


def bring_to(
    connection: apsw.Connection,
    reader: TreeReader,
    wanted: Mapping[str, File | None],
    chunk_chars: int,
    parsed: Mapping[bytes, Document | Rows],
) -> Counts:
    """Make the rows at every path of *wanted* what it says; None is no file.

    *parsed* is what some files say, by their bytes: as documents, or as rows that are `unplaced`.
    """
    before = {path: _indexed(connection, path) for path in wanted}
    moves = _moves(wanted, before)
    for source, target in moves.items():
        writer.move(connection, source, target)
    gone = [p for p in wanted if wanted[p] is None and before[p] is not None and p not in moves]
    for path in gone:
        writer.unskip(connection, path)
        writer.remove(connection, path)
    stale = {p: f for p, f in wanted.items() if f is not None and not _is_current(f, before[p])}
    skipped: list[SkippedRow] = []
    batch: list[Rows] = []
    moved = set(moves.values())
    for found in _read(reader, stale, chunk_chars, parsed):
        if isinstance(found, SkippedRow):
            writer.unskip(connection, found.path)
            writer.remove(connection, found.path)
            writer.skip(connection, found)
            skipped.append(found)
        elif before[found.file.path] is None and found.file.path not in moved:
            batch.append(found)
            if len(batch) == BATCH_FILES:
                writer.add(connection, batch)
                batch.clear()
        else:
            writer.unskip(connection, found.file.path)
            writer.put(connection, found)
    writer.add(connection, batch)
    known = sum(before[path] is not None for path in stale)
    return Counts(
        added=len(stale) - known - len(moves),
        modified=known,
        removed=len(gone),
        renamed=len(moves),
        skipped=tuple(skipped),
    )


def fill(
    connection: apsw.Connection,
    reader: TreeReader,
    wanted: Mapping[str, File | None],
    chunk_chars: int,
    progress: Progress | None = None,
) -> tuple[int, tuple[SkippedRow, ...]]:
    """Insert everything into an empty database, a batch at a time.

    Returns how many memories there are, and what is none.
    """
    files, done = 0, 0
    skipped: list[SkippedRow] = []
    present = {path: file for path, file in wanted.items() if file is not None}
    for batch in _in_batches(reader, present, chunk_chars):
        memories = [found for found in batch if not isinstance(found, SkippedRow)]
        writer.add(connection, memories)
        for found in batch:
            if isinstance(found, SkippedRow):
                writer.skip(connection, found)
                skipped.append(found)
        files += len(memories)
        done += len(batch)
        if progress is not None:
            progress(done, len(present))
    return files, tuple(skipped)


def _in_batches(
    reader: TreeReader, wanted: Mapping[str, File], chunk_chars: int
) -> Iterator[Sequence[Rows | SkippedRow]]:
    """Yield the rows of each file, or why it has none; read by other processes where it pays."""
    from memhtml.index import workers  # noqa: PLC0415 - an update needs none

    # Of what the disk has otherwise there is little, and it is read at the last moment.
    paths_of: dict[str, list[str]] = {}
    if len(wanted) >= PARALLEL_FILES and (spare := workers.spare_processes()):
        for path, file in wanted.items():
            if file.reason is None and file.sha is not None and not file.on_disk:
                paths_of.setdefault(file.sha, []).append(path)
        blobs = (
            workers.Blob(path, sha, data)
            for sha, data in reader.read_blobs(paths_of)
            for path in paths_of[sha]
        )
        yield from workers.projected(_batches(blobs), chunk_chars, spare)
    read_there = {path for paths in paths_of.values() for path in paths}
    rest = {path: file for path, file in wanted.items() if path not in read_there}
    yield from _batches(_read(reader, rest, chunk_chars, {}))


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    left = iter(items)
    while batch := list(islice(left, BATCH_FILES)):
        yield batch


def _moves(
    wanted: Mapping[str, File | None], before: Mapping[str, _Indexed | None]
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


def _is_current(file: File, row: _Indexed | None) -> bool:
    if row is None or row.sha != file.sha:
        return False
    return file.reason == (row.reason if row.reason in REASONS else None)


def _read(
    reader: TreeReader,
    wanted: Mapping[str, File],
    chunk_chars: int,
    parsed: Mapping[bytes, Document | Rows],
) -> Iterator[Rows | SkippedRow]:
    """Yield the rows of each file, or why it has none. Holds one file's bytes at a time."""
    paths_of: dict[str, list[str]] = {}
    for path, file in wanted.items():
        if file.reason is not None or file.sha is None:
            yield _unread(path, file)
        elif not file.on_disk:
            paths_of.setdefault(file.sha, []).append(path)
        elif (data := disk_bytes(reader, path)) is None:
            yield _unread(path, on_disk(None))
        else:
            # The bytes may be newer than what was observed; the next update sees that they are.
            yield _rows(path, blob_sha(data, file.sha), data, chunk_chars, parsed)
    for sha, data in reader.read_blobs(paths_of) if paths_of else ():
        for path in paths_of[sha]:
            yield _rows(path, sha, data, chunk_chars, parsed)


def _rows(
    path: str, sha: str, data: bytes, chunk_chars: int, parsed: Mapping[bytes, Document | Rows]
) -> Rows | SkippedRow:
    known = parsed.get(data)
    if isinstance(known, Rows):
        return placed(known, path, sha)
    return rows_of(path, sha, known or parse(data), chunk_chars)


def _unread(path: str, file: File) -> SkippedRow:
    reason = file.reason or NOT_A_FILE
    return SkippedRow(
        path, file.sha, reason, f'[{{"code": "{reason}", "message": "{REASONS[reason]}"}}]'
    )


def _indexed(connection: apsw.Connection, path: str) -> _Indexed | None:
    found = connection.execute(_SELECT_INDEXED, (path,)).fetchone()
    return found and _Indexed(*found)
