"""The file in which a store keeps what it knows of transcripts: opening it, and transactions on it.

What stands in it may stand nowhere else by now, so a damaged file is reported and never replaced.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import apsw

from memhtml.model.closing import Closing
from memhtml.model.errors import Busy, StorageFailure
from memhtml.model.shell import quoted
from memhtml.traces.schema import MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FILE_NAME", "TraceBase", "open_traces"]

FILE_NAME = "traces.db"
BUSY_TIMEOUT_MS = 20_000


class TraceBase(Closing):
    """One connection to what one store knows of transcripts; a context manager. For one thread."""

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self.path = path
        self.connection = connection

    def close(self) -> None:
        """Let go of the file. Closing twice is harmless."""
        self.connection.close()

    @contextlib.contextmanager
    def guarded(self, doing: str) -> Iterator[apsw.Connection]:
        """Turn what SQLite raises inside into our errors; *doing* completes "could not …".

        Raises:
            Busy: Another process holds the file.
            StorageFailure: It is damaged, or the disk refuses.
        """
        try:
            yield self.connection
        except (apsw.BusyError, apsw.LockedError) as error:
            raise Busy(f"could not {doing}: another process holds {self.path!r}") from error
        except (apsw.NotADBError, apsw.CorruptError) as error:
            raise StorageFailure(
                f"could not {doing}: {self.path!r} is damaged",
                suggestions=(f"move it away: mv {quoted(self.path)} {quoted(self.path + '.bad')}",),
            ) from error
        except apsw.Error as error:
            raise StorageFailure(f"could not {doing} at {self.path!r}: {error}") from error

    @contextlib.contextmanager
    def writing(self, doing: str) -> Iterator[apsw.Connection]:
        """A transaction that no other writer can overlap; all of it happens or none."""
        with self.guarded(doing):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")


def open_traces(folder: str) -> TraceBase:
    """Open the file in *folder*, which is there; an absent file is made.

    Raises:
        Busy: Another process holds it.
        StorageFailure: It cannot be written, is damaged, or newer than this version knows.
    """
    path = f"{folder}/{FILE_NAME}"
    try:
        connection = apsw.Connection(path)
    except apsw.Error as error:
        raise StorageFailure(f"could not open {path!r}: {error}") from error
    base = TraceBase(path, connection)
    try:
        _migrate(base)
    except BaseException:
        connection.close()
        raise
    return base


def _migrate(base: TraceBase) -> None:
    with base.guarded("open what is known of transcripts") as connection:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.pragma("foreign_keys", "on")
        connection.pragma("synchronous", "normal")
        version = _version(connection)
        if version == len(MIGRATIONS):
            return
        if version > len(MIGRATIONS):
            raise StorageFailure(f"{base.path!r} was written by a newer version of memhtml")
        if version == 0 and not connection.readonly("main"):
            connection.pragma("journal_mode", "wal")
    with base.writing("bring what is known of transcripts up to date") as connection:
        # Another process may have done it while we waited.
        version = _version(connection)
        for number, step in enumerate(MIGRATIONS[version:], version + 1):
            connection.execute(step)
            connection.pragma("user_version", number)


def _version(connection: apsw.Connection) -> int:
    return int(str(connection.pragma("user_version")))
