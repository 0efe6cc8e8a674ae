"""The index follows the tree: rebuild it whole, or bring it up to date.

Two states of the tree meet in the index. Its *committed* side is a commit, the watermark in
`index_state`. Over it lies what the working tree says otherwise, and the `overlay` table remembers
for each such path what the commit had there. So when a hand edit is undone, the row goes back to
the committed blob, though no commit ever mentions it; and a commit that says what the disk already
said costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.index.overlay import known_edits, listed, observe, require_present, write_overlay
from memhtml.model.errors import IndexStale

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from memhtml.index.database import Index, State
    from memhtml.index.overlay import File, TreeReader
    from memhtml.index.rows import Rows, SkippedRow
    from memhtml.model.document import Document
    from memhtml.model.ports import Progress
    from memhtml.model.tree import Change

__all__ = ["Report", "rebuild", "update"]

MAX_CHANGES = 2_000
"""So many committed changes are always followed in place: that takes some two seconds."""

MOST_CHANGES = 10_000
"""More are indexed aside, so that other writers need not wait; and so are fewer, where they are a
quarter of the index and a rebuild, which works on both cores, is done as soon."""


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


def rebuild(
    index: Index,
    reader: TreeReader,
    *,
    now: str,
    progress: Progress | None = None,
    vectors_of: Index | None = None,
) -> Report:
    """Build the index anew from HEAD and the working tree, and put it in place of the old one.

    The old index answers until the new one is complete; a failure or a kill leaves it as it was.
    *now* is the instant to record; *progress* hears of files, and stops the rebuild by raising.
    *vectors_of* is the index to take vectors from, *index* itself by default.

    Raises:
        Busy: Another process is writing to the index.
        GitFailure: The store cannot be read.
        MemoriesMissing: Most memories are gone from the disk.
        StorageFailure: The disk is full or refuses.
    """
    from memhtml.index import follow, heirs, vectors, writer  # noqa: PLC0415 - a clean tree needs none
    from memhtml.index.database import empty_database  # noqa: PLC0415 - as above

    index.reopen_if_moved()
    head = reader.head()
    worktree = observe(reader, head)
    committed = dict(listed(reader, head))
    require_present(worktree, {}, len(committed))
    built = empty_database()
    try:
        with index.guarded("build the index"):
            built.execute("BEGIN")
            _keep_vectors(vectors_of or index, built)
            files, skipped = follow.fill(
                built, reader, {**committed, **worktree}, index.chunk_chars, progress
            )
            write_overlay(built, worktree, committed)
            writer.seal(built, head_sha=head, chunk_chars=index.chunk_chars, now=now)
            vectors.purge(built)
            built.execute("COMMIT")
        if index.root is not None:
            heirs.settle(built, index.root)
        index.replace(built)
    finally:
        built.close()
    return Report(head, rebuilt=True, added=files, dirty=len(worktree), skipped=skipped)


def update(
    index: Index,
    reader: TreeReader,
    *,
    now: str,
    scan: bool = True,
    parsed: Mapping[bytes, Document | Rows] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Bring the index up to HEAD and the working tree; rebuild it where that cannot be done.

    Without *scan* the disk is not looked at: commits are followed, and what was known of hand edits
    stays. When nothing changed, nothing is written and no lock is taken. *now* is the instant to
    record; *parsed* is what files say that need not be read again. *progress* is for a rebuild.

    Raises:
        Busy: Another process is writing to the index.
        GitFailure: The store cannot be read.
        MemoriesMissing: Most memories are gone from the disk; the index is as it was.
        StorageFailure: The disk is full or refuses.
    """
    index.reopen_if_moved()
    try:
        state = index.state()
        if state is None:
            return rebuild(index, reader, now=now, progress=progress)
        head = reader.head()
        # Looked at before the lock is taken, because git needs a while in a large store.
        seen = (head, observe(reader, head)) if scan else None
        if state.head_sha == head:
            with index.reading("compare the index with the tree") as connection:
                known = known_edits(connection)
            if seen is None or known == seen[1]:
                return Report(head, unchanged=True, dirty=len(known))
        report = _follow_tree(index, reader, now, seen=seen, parsed=parsed or {})
        return report or rebuild(index, reader, now=now, progress=progress)
    except IndexStale:
        return rebuild(index, reader, now=now, progress=progress)


def _follow_tree(
    index: Index,
    reader: TreeReader,
    now: str,
    *,
    seen: tuple[str | None, dict[str, File | None]] | None,
    parsed: Mapping[bytes, Document | Rows],
) -> Report | None:
    """Update under the writer's lock, so that no other writer moves the watermark meanwhile.

    *seen* is what was observed of the disk, and at which HEAD; None when nobody looked. The result
    is None when the watermark is lost or too far behind.
    """
    from memhtml.index import follow, writer  # noqa: PLC0415 - a clean tree needs neither

    with index.writing("update the index") as connection:
        state = index.state()
        head = reader.head()
        # Who does not look at the disk has just made the commit, and reads nothing twice.
        limit = None if seen is None or state is None else _most_changes(state)
        changes = None if state is None else _changes(reader, state, head, limit)
        if state is None or changes is None:
            return None
        known = known_edits(connection)
        if seen is not None and seen[0] != head:
            seen = (head, observe(reader, head))
        worktree = known if seen is None else seen[1]
        require_present(worktree, known, state.files)
        committed = follow.committed_states(connection, changes, worktree)
        wanted = {**committed, **worktree}
        counts = follow.bring_to(connection, reader, wanted, index.chunk_chars, parsed)
        gone = [path for path, file in wanted.items() if file is None]
        if gone and index.root is not None:
            from memhtml.index.heirs import settle  # noqa: PLC0415 - only when something left

            settle(connection, index.root, gone)
        connection.execute("DELETE FROM overlay")
        write_overlay(connection, worktree, committed)
        writer.write_state(connection, head_sha=head, updated_at=now)
    return Report(head, dirty=len(worktree), **counts._asdict())


def _most_changes(state: State) -> int:
    return max(MAX_CHANGES, min(MOST_CHANGES, state.files // 4))


def _changes(
    reader: TreeReader, state: State, head: str | None, limit: int | None
) -> list[Change] | None:
    """Return the committed changes to follow one by one; None when a rebuild is the better way."""
    if state.head_sha == head:
        return []
    if state.head_sha is None or head is None:
        return None
    changes = reader.changes(state.head_sha, head)
    return None if changes is None or (limit and len(changes) > limit) else changes


def _keep_vectors(index: Index, built: apsw.Connection) -> None:
    """Bring over what encoders made of texts: it is keyed by text, and costs hours to make."""
    import apsw  # noqa: PLC0415 - as `follow`

    from memhtml.index import vectors  # noqa: PLC0415 - as `follow`

    built.execute("SAVEPOINT vectors")
    try:
        index.connection.execute("BEGIN")
        try:
            vectors.carry_over(index.connection, built)
        finally:
            index.connection.execute("ROLLBACK")
    except apsw.Error:
        # Damaged, of another version, or no index at all: nothing there can be trusted.
        built.execute("ROLLBACK TO vectors")
    built.execute("RELEASE vectors")
