"""The index file: opening it, transactions on it, and putting a new one in its place.

The index is a projection, so it is never repaired and never migrated. Whatever is not exactly ours
(a damaged file, a foreign one, another schema) is replaced by a database built aside, and the
replacing is one SQLite transaction on the live file (the backup API writes its pages). Readers
therefore see the old index until they see the new one, open connections notice by themselves, and
no file is ever renamed or unlinked under a connection, which would mix one file's pages with
another's write-ahead log.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple

import apsw

from memhtml.index.schema import CHUNK_CHARS, SCHEMA_VERSION, TABLES
from memhtml.model.closing import Closing
from memhtml.model.errors import Busy, IndexStale, NotAStore, StorageFailure, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BUSY_TIMEOUT_MS",
    "Index",
    "State",
    "cache_folder",
    "empty_database",
    "lend",
    "make_ignored_folder",
    "open_index",
    "open_index_at",
]

BUSY_TIMEOUT_MS = 20_000
"""How long a writer waits for another. Readers never wait: the journal is a write-ahead log."""

PAGE_BYTES = 4096

READ_CACHE_KIB = 64 * 1024
"""Pages a connection may keep, filled as they are read. SQLite's own 2 MB hold no large index's
postings, so that a process that searches again and again would read them each time."""

BUILD_CACHE_KIB = 64 * 1024
"""Pages held in memory while an index is built."""

_SELECT_STATE = """
SELECT schema_version, chunk_chars, head_sha, files, archived, skipped, chunks, texts, rebuilt_at,
  updated_at FROM index_state
"""


class State(NamedTuple):
    """What the index knows about itself."""

    head_sha: str | None
    """The commit its committed rows describe; None when the store had no commit."""
    files: int
    archived: int
    """How many of the files."""
    skipped: int
    chunks: int
    texts: int
    """Distinct texts to encode; see `memhtml.index.chunks`."""
    rebuilt_at: str
    updated_at: str


class Index(Closing):
    """One connection to the index of one store; a context manager. For one thread at a time."""

    def __init__(
        self,
        path: str,
        connection: apsw.Connection,
        *,
        root: str | None,
        chunk_chars: int,
        is_private: bool,
    ) -> None:
        self.path = path
        self.connection = connection
        self.root = root
        """The store whose state plane follows the moves seen here; None where none does."""
        self.chunk_chars = chunk_chars
        """Longest text to encode. An index with texts of another length is built anew."""
        self.is_private = is_private
        """The store cannot be written to, so this index lives and dies with the process."""
        self._identity = None if is_private else _identity(path)

    def close(self) -> None:
        """Let go of the file, after what another thread asks of it. Closing twice is harmless."""
        end = time.monotonic() + BUSY_TIMEOUT_MS / 1000
        while True:
            try:
                return self.connection.close()
            except apsw.ThreadingViolationError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def state(self) -> State | None:
        """What the index knows about itself, or None when it must be built before use.

        Raises:
            Busy: Another process holds the whole file.
            StorageFailure: The file cannot be read at all.
        """
        with self.guarded("read the index"):
            try:
                row = self.connection.execute(_SELECT_STATE).fetchone()
            except (apsw.SQLError, apsw.NotADBError, apsw.CorruptError):
                return None
        if row is None or row[:2] != (SCHEMA_VERSION, self.chunk_chars):
            return None
        return State(*row[2:])

    def damage(self) -> str | None:
        """Return what SQLite finds wrong with the pages of the file, None when nothing is.

        Every page is read: about a second for a gigabyte.
        """
        with self.guarded("examine the index"):
            try:
                found = self.connection.execute("PRAGMA quick_check(1)").fetchone()
            except (apsw.SQLError, apsw.NotADBError, apsw.CorruptError) as error:
                return str(error)
        return None if found is None or found[0] == "ok" else str(found[0]).splitlines()[-1]

    @contextlib.contextmanager
    def guarded(self, doing: str) -> Iterator[None]:
        """Turn what SQLite raises inside into our errors; *doing* completes "could not …".

        Raises:
            Busy: Another process holds the index.
            IndexStale: The file is damaged or not an index of this version.
            StorageFailure: Disk full, permissions, input or output.
            UsageError: Another thread closed the index.
        """
        try:
            yield
        except (
            apsw.ConnectionClosedError,
            apsw.CursorClosedError,
            apsw.ThreadingViolationError,
        ) as error:
            raise UsageError(f"could not {doing}: the index is closed") from error
        except (apsw.BusyError, apsw.LockedError) as error:
            raise Busy(f"could not {doing}: another process holds {self.path!r}") from error
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError) as error:
            if isinstance(error, apsw.SQLError) and self.state() is not None:
                raise
            raise IndexStale(f"could not {doing}: {self.path!r} is damaged") from error
        except (
            apsw.CantOpenError,
            apsw.FullError,
            apsw.IOError,
            apsw.PermissionsError,
            apsw.ReadOnlyError,
        ) as error:
            raise StorageFailure(f"could not {doing} at {self.path!r}: {error}") from error

    @contextlib.contextmanager
    def reading(self, doing: str) -> Iterator[apsw.Connection]:
        """One unchanging view of the index for everything inside; another inside joins it."""
        with self.guarded(doing):
            if self.connection.in_transaction:
                yield self.connection
                return
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self.connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def writing(self, doing: str) -> Iterator[apsw.Connection]:
        """A transaction that no other writer can overlap; all of it happens or none."""
        with self.guarded(doing):
            self.connection.pragma("foreign_keys", "on")
            self.connection.pragma("synchronous", "normal")
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    def replace(self, built: apsw.Connection) -> None:
        """Make the index equal to *built*, whatever it was, in one step for every reader.

        Raises:
            Busy: Another process is writing.
            StorageFailure: The disk is full or refuses.
        """
        with self.guarded("replace the index"):
            if not self.is_private:
                self._make_replaceable()
            with self.connection.backup("main", built, "main") as copy:
                while not copy.done:
                    copy.step(-1)
            if not self.is_private:
                # The log is as large as the index now; a reader in the way only delays this.
                with contextlib.suppress(apsw.BusyError, apsw.LockedError):
                    self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def reopen_if_moved(self) -> None:
        """Reopen the file when somebody deleted it and perhaps made another in its place."""
        if not self.is_private and _identity(self.path) != self._identity:
            connection = _connect(self.path)
            self.connection.close()
            self.connection = connection
            self._identity = _identity(self.path)

    def _make_replaceable(self) -> None:
        connection = self.connection
        try:
            usable = connection.pragma("page_size") == PAGE_BYTES
            # Pages of another size can be given up only where no log is kept.
            connection.pragma("journal_mode", "wal" if usable else "delete")
            connection.execute("SELECT count(*) FROM sqlite_schema")
        except (apsw.NotADBError, apsw.CorruptError):
            usable = False
        if not usable:
            # SQLite's own way to empty a file it cannot use, under its own locks.
            connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
            try:
                connection.execute(f"PRAGMA page_size = {PAGE_BYTES}; VACUUM")
            finally:
                connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)
            connection.pragma("journal_mode", "wal")


def cache_folder(root: str) -> str:
    """Where a store keeps what can be made again; git ignores all of it."""
    return os.path.join(root, ".memhtml", "cache")


def open_index(root: str, *, chunk_chars: int = CHUNK_CHARS) -> Index:
    """Open the index of the store at *root*; an absent one is made empty and has no state.

    *chunk_chars* is the longest text to encode, in code points. A store that cannot be written to
    gets a private index, started from the one on disk where that can be read.

    Raises:
        StorageFailure: What stands in the index's place cannot be opened.
    """
    path = os.path.join(cache_folder(root), "index.db")
    return open_index_at(path, root=root, chunk_chars=chunk_chars)


def open_index_at(path: str, *, root: str | None, chunk_chars: int) -> Index:
    """Open the index in the file *path*; see `open_index`. *root* is `Index.root`."""
    try:
        connection = _connect(path)
    except (OSError, apsw.CantOpenError):
        return _open_private(path, chunk_chars)
    if connection.readonly("main"):
        connection.close()
        return _open_private(path, chunk_chars)
    return Index(path, connection, root=root, chunk_chars=chunk_chars, is_private=False)


def lend(index: Index, root: str) -> None:
    """Give the working tree at *root*, which has no index yet, a copy of *index*.

    An update of the copy then costs what differs, and what is encoded need not be made again.

    Raises:
        Busy: Another process is writing.
        StorageFailure: The copy cannot be written.
    """
    with open_index(root, chunk_chars=index.chunk_chars) as copy, index.guarded("copy the index"):
        copy.replace(index.connection)


def empty_database() -> apsw.Connection:
    """A database with our tables and nothing in them, in a temporary file that nobody else sees.

    `writer.seal` completes it.
    """
    connection = apsw.Connection("")
    connection.pragma("page_size", PAGE_BYTES)
    connection.pragma("journal_mode", "off")
    connection.pragma("synchronous", "off")
    # Hashes come in no order, so every page of their indexes is wanted all the time.
    connection.pragma("cache_size", -BUILD_CACHE_KIB)
    connection.execute(TABLES)
    return connection


def _connect(path: str) -> apsw.Connection:
    make_ignored_folder(os.path.dirname(path))
    connection = apsw.Connection(path)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # This reads the file already; what is wrong with it is for those to tell who want its rows.
    with contextlib.suppress(apsw.Error):
        connection.pragma("cache_size", -READ_CACHE_KIB)
    return connection


def _open_private(path: str, chunk_chars: int) -> Index:
    connection = apsw.Connection("")
    # Without its log a database is complete; with one, only its owner can read it.
    if os.path.isfile(path) and not _size(path + "-wal"):
        uri = f"file:{_quoted(path)}?immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with contextlib.suppress(apsw.Error):
            stored = apsw.Connection(uri, flags=flags)
            with contextlib.closing(stored), connection.backup("main", stored, "main") as copy:
                copy.step(-1)
    return Index(path, connection, root=None, chunk_chars=chunk_chars, is_private=True)


def make_ignored_folder(folder: str) -> None:
    """Make *folder*, and let git ignore it and all in it.

    Raises:
        NotAStore: The store it is part of is gone; moved away, it must not come back empty.
        StorageFailure: It, something in it, or what it stands in is a link.
    """
    _refuse_links(folder)
    # A folder that ignores itself changes no tracked file and needs no rule elsewhere.
    marker = os.path.join(folder, ".gitignore")
    if os.path.exists(marker):
        return
    root = folder.rpartition(f"{os.sep}.memhtml{os.sep}")[0]
    if root and not os.path.isdir(root):
        raise NotAStore(root, "there is no such folder")
    os.makedirs(folder, exist_ok=True)
    with open(marker, "w", encoding="utf-8", newline="\n") as file:
        file.write("*\n")


def _refuse_links(folder: str) -> None:
    """Let nobody have a database written through a link: a cloned store may hold one.

    What is above the store's root was resolved when it was opened; three levels reach it.
    """
    above = os.path.dirname(folder)
    places = [folder, above, os.path.dirname(above)]
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        places += (entry.path for entry in os.scandir(folder))
    for place in places:
        if os.path.islink(place):
            raise StorageFailure(
                f"{place!r} is a link, and what memhtml keeps there would be written through it",
                suggestions=(f"rm {place!r}",),
            )


def _quoted(path: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 - heavy, and only a read-only store needs it

    return quote(os.path.abspath(path).replace(os.sep, "/"))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
