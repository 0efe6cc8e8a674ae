"""The state plane: how memories are used, which no file says.

It has a file of its own beside the index, so that deleting the index loses nothing of it. Rows are
keyed by path and move when their memory moves, is corrected or comes back from the archive
(`memhtml.index.heirs`).

An opened memory is an access; opening it again within the cooldown is the same act of reading. A
verdict (positive, negative) is something else, with a clock of its own: one that follows a read at
once counts in full, and however often it is given it is recorded, though only the first few in a
row move the score.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import apsw

from memhtml.index.database import BUSY_TIMEOUT_MS, cache_folder, make_ignored_folder
from memhtml.index.state_file import state_path
from memhtml.index.usage_schema import MIGRATIONS
from memhtml.model.closing import Closing
from memhtml.model.errors import Busy, StorageFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "COOLDOWN_SECONDS",
    "WARMTH_HALF_LIFE_DAYS",
    "LinkKind",
    "Moment",
    "Reinforced",
    "SessionLink",
    "Signal",
    "Usage",
    "UsagePlane",
    "open_usage",
    "warmth_at",
]

COOLDOWN_SECONDS = 900
"""A second open within a quarter of an hour is the same act of reading, not a new vote."""

MOST_IN_A_ROW = 3
"""So many equal verdicts, each within the cooldown of the one before, move the score."""

WARMTH_HALF_LIFE_DAYS = 30.0

_KEPT_SHARE = 0.7
"""What a new verdict leaves of the score so far."""

_COLUMNS = """access_count, reinforcement_count, outcome_score, warmth, last_accessed_at,
  last_reinforced_at, updated_at"""
_SELECT = f"SELECT path, {_COLUMNS} FROM usage"  # noqa: S608 - our names
_FIND = f"SELECT {_COLUMNS} FROM usage WHERE path = ?"  # noqa: S608 - our names
_PUT = f"INSERT OR REPLACE INTO usage (path, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - our names
_FIND_BURST = "SELECT signals, last_at FROM bursts WHERE path = ? AND signal = ?"
_PUT_BURST = "INSERT OR REPLACE INTO bursts (path, signal, signals, last_at) VALUES (?, ?, ?, ?)"
_PUT_LINK = """
INSERT OR IGNORE INTO session_links (path, session_id, kind, at, prompt_id, turn_uuid)
VALUES (?, ?, ?, ?, ?, ?)
"""
_LINKS = """
SELECT path, session_id, kind, at, prompt_id, turn_uuid FROM session_links
WHERE {column} = ? ORDER BY at, path, kind
"""
_MOVE_BURSTS = "UPDATE OR REPLACE bursts SET path = ? WHERE path = ?"
_MOVE_LINKS = "UPDATE OR IGNORE session_links SET path = ? WHERE path = ?"
_TABLES = ("usage", "bursts", "session_links")


class Signal(StrEnum):
    """What came of a memory."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEUTRAL = "neutral"
    """It was opened, and nothing is known of whether it helped."""


_VALUES = {Signal.POSITIVE: 1.0, Signal.NEGATIVE: -1.0}


class LinkKind(StrEnum):
    """What a session did with a memory."""

    WROTE = "wrote"
    """Said by the memory's own file, so the state plane never has it."""
    READ = "read"
    CORRECTED = "corrected"
    REINFORCED = "reinforced"


class Usage(NamedTuple):
    """How one memory is used."""

    access_count: int = 0
    reinforcement_count: int = 0
    outcome_score: float = 0.0
    """-1 to 1: what verdicts said, the latest weighing most."""
    warmth: float = 0.0
    """Accesses, each half as much after `WARMTH_HALF_LIFE_DAYS`, as of the last; `warmth_at`."""
    last_accessed_at: str | None = None
    last_reinforced_at: str | None = None
    updated_at: str = ""


class Moment(NamedTuple):
    """The place in a session at which something was done."""

    session_id: str
    prompt_id: str | None = None
    turn_uuid: str | None = None


class SessionLink(NamedTuple):
    """That a session did something with a memory."""

    path: str
    session_id: str
    kind: LinkKind
    at: str
    prompt_id: str | None
    turn_uuid: str | None


class Reinforced(NamedTuple):
    """What became of one signal, by path; each path is in one of the three."""

    signal: Signal
    bumped: tuple[str, ...]
    """It counted in full."""
    capped: tuple[str, ...]
    """It is recorded, but was given too often in a row to move the score."""
    cooled_down: tuple[str, ...]
    """It was no news: a memory opened again within the cooldown."""


class UsagePlane(Closing):
    """One connection to the state plane of one store; a context manager. For one thread."""

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self.path = path
        self.connection = connection

    def close(self) -> None:
        """Let go of the file. Closing twice is harmless."""
        self.connection.close()

    # Asking

    def find(self, paths: Iterable[str]) -> dict[str, Usage]:
        """Return the usage of those of *paths* that were ever used."""
        with self._guarded("look up usage"):
            found = ((path, self.connection.execute(_FIND, (path,)).fetchone()) for path in paths)
            return {path: Usage._make(row) for path, row in found if row is not None}

    def rows(self) -> list[tuple[str, Usage]]:
        """Return every row with its path, by path."""
        with self._guarded("list usage"):
            found = self.connection.execute(f"{_SELECT} ORDER BY path")
            return [(path, Usage._make(row)) for path, *row in found]

    def links_of_session(self, session_id: str) -> list[SessionLink]:
        """Return what *session_id* read, corrected and reinforced, in order of time."""
        return self._links("session_id", session_id)

    def links_of_path(self, path: str) -> list[SessionLink]:
        """Return which sessions did something with the memory at *path*, in order of time."""
        return self._links("path", path)

    # Recording

    def reinforce(
        self, paths: Iterable[str], signal: Signal, *, now: str, moment: Moment | None = None
    ) -> Reinforced:
        """Record *signal* for each of *paths*, and who gave it; see the module."""
        bumped: list[str] = []
        capped: list[str] = []
        cooled_down: list[str] = []
        with self.writing("record a signal"):
            for path in dict.fromkeys(paths):
                usage = self._found(path)
                after = _accessed(usage, now)
                if signal in _VALUES:
                    counts = self._is_news(path, signal, now)
                    after = _judged(after, _VALUES[signal], now, counts=counts)
                    (bumped if counts else capped).append(path)
                else:
                    (cooled_down if after == usage else bumped).append(path)
                if after != usage:
                    self._put(path, after)
                if moment is not None and signal in _VALUES:
                    self._link(path, LinkKind.REINFORCED, moment, now)
        return Reinforced(signal, tuple(bumped), tuple(capped), tuple(cooled_down))

    def record_read(self, path: str, *, now: str, moment: Moment | None = None) -> Reinforced:
        """Record that the memory at *path* was opened."""
        with self.writing("record a read"):
            if moment is not None:
                self._link(path, LinkKind.READ, moment, now)
            return self.reinforce([path], Signal.NEUTRAL, now=now)

    def record_correction(self, path: str, *, now: str, moment: Moment) -> None:
        """Record that a session corrected a memory, into the one now at *path*."""
        with self.writing("record a correction"):
            self._link(path, LinkKind.CORRECTED, moment, now)

    def move(self, heirs: Mapping[str, str]) -> None:
        """Let each value of *heirs* have what is known of its key; doing it twice is harmless."""
        if not heirs:
            return
        with self.writing("move usage"):
            for source, target in heirs.items():
                left = self._found(source)
                if left != Usage():
                    self._put(target, _joined(self._found(target), left))
                self.connection.execute(_MOVE_BURSTS, (target, source))
                self.connection.execute(_MOVE_LINKS, (target, source))
                self._forget(source)

    def merge(self, rows: Iterable[tuple[str, Usage]]) -> int:
        """Take in what another machine counted; return how many rows that changed.

        Neither saw what the other did: the higher counters and the later times hold, and the score
        is that of the row touched last.
        """
        changed = 0
        with self.writing("merge usage"):
            for path, theirs in rows:
                ours = self._found(path)
                merged = _merged(ours, theirs)
                if merged != ours:
                    self._put(path, merged)
                    changed += 1
        return changed

    def forget(self, paths: Iterable[str]) -> int:
        """Remove the rows of *paths*; return how many memories that was."""
        with self.writing("forget usage"):
            return sum(self._forget(path) for path in paths)

    @contextlib.contextmanager
    def writing(self, doing: str) -> Iterator[None]:
        """A transaction that no other writer can overlap; may be entered again within itself."""
        with self._guarded(doing):
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")

    # Helpers

    def _found(self, path: str) -> Usage:
        row = self.connection.execute(_FIND, (path,)).fetchone()
        return Usage() if row is None else Usage._make(row)

    def _put(self, path: str, usage: Usage) -> None:
        self.connection.execute(_PUT, (path, *usage))

    def _is_news(self, path: str, signal: Signal, now: str) -> bool:
        """Count *signal* in its burst, and tell whether it still moves the score."""
        burst = self.connection.execute(_FIND_BURST, (path, signal)).fetchone()
        signals = 1 if burst is None or not _is_soon(str(burst[1]), now) else int(burst[0]) + 1
        self.connection.execute(_PUT_BURST, (path, signal, signals, now))
        return signals <= MOST_IN_A_ROW

    def _link(self, path: str, kind: LinkKind, moment: Moment, now: str) -> None:
        row = (path, moment.session_id, kind, now, moment.prompt_id, moment.turn_uuid)
        self.connection.execute(_PUT_LINK, row)

    def _links(self, column: str, value: str) -> list[SessionLink]:
        with self._guarded("look up sessions"):
            found = self.connection.execute(_LINKS.format(column=column), (value,))
            return [
                SessionLink(path, session, LinkKind(kind), *rest)
                for path, session, kind, *rest in found
            ]

    def _forget(self, path: str) -> bool:
        before = self.connection.total_changes()
        for table in _TABLES:
            self.connection.execute(f"DELETE FROM {table} WHERE path = ?", (path,))  # noqa: S608 - ours
        return self.connection.total_changes() > before

    @contextlib.contextmanager
    def _guarded(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (apsw.BusyError, apsw.LockedError) as error:
            raise Busy(f"could not {doing}: another process holds {self.path!r}") from error
        except apsw.Error as error:
            # What stands here stands nowhere else, so a damaged file is never replaced.
            raise StorageFailure(f"could not {doing} at {self.path!r}: {error}") from error


def warmth_at(usage: Usage, now: str) -> float:
    """Return how warm *usage* still is at *now*: its accesses, the older ones worth less.

    >>> warmth_at(Usage(warmth=2.0, last_accessed_at="2026-01-01"), "2026-01-31T00:00:00Z")
    1.0
    """
    if usage.last_accessed_at is None:
        return usage.warmth
    days = max(0.0, _seconds_between(usage.last_accessed_at, now) / 86_400)
    return float(usage.warmth * 2.0 ** (-days / WARMTH_HALF_LIFE_DAYS))


def open_usage(root: str) -> UsagePlane:
    """Open the state plane of the store at *root*, made where there is none.

    A new one takes in what the other tool counted and what the committed copy says. A store that
    cannot be written to gets one that lives and dies with the process.

    Raises:
        Busy: Another process holds the file.
        StorageFailure: What stands in its place is damaged, or newer than this version knows.
    """
    path = state_path(root)
    try:
        make_ignored_folder(cache_folder(root))
        connection = apsw.Connection(path)
    except (OSError, apsw.CantOpenError):
        connection = apsw.Connection("")
    plane = UsagePlane(path, connection)
    try:
        _migrate(plane, root)
    except BaseException:
        connection.close()
        raise
    return plane


def _migrate(plane: UsagePlane, root: str) -> None:
    connection = plane.connection
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    with plane._guarded("open the state plane"):  # noqa: SLF001 - our own, in this module
        version = int(str(connection.pragma("user_version")))
        if version == len(MIGRATIONS):
            return
        if version == 0 and not connection.readonly("main"):
            connection.pragma("journal_mode", "wal")
    if version > len(MIGRATIONS):
        raise StorageFailure(f"{plane.path!r} was written by a newer version of memhtml")
    with plane.writing("bring the state plane up to date"):
        # Another process may have done it while we waited.
        version = int(str(connection.pragma("user_version")))
        for number, step in enumerate(MIGRATIONS[version:], version + 1):
            connection.execute(step)
            connection.pragma("user_version", number)
        if version == 0:
            from memhtml.index.sidecar import found_usage  # noqa: PLC0415 - once in a store's life

            for rows in found_usage(root):
                plane.merge(rows)


def _accessed(usage: Usage, now: str) -> Usage:
    if usage.last_accessed_at is not None and _is_soon(usage.last_accessed_at, now):
        return usage
    return usage._replace(
        access_count=usage.access_count + 1,
        warmth=warmth_at(usage, now) + 1.0,
        last_accessed_at=now,
        updated_at=now,
    )


def _judged(usage: Usage, value: float, now: str, *, counts: bool) -> Usage:
    score = usage.outcome_score
    if counts:
        is_first = not usage.reinforcement_count
        score = value if is_first else _KEPT_SHARE * score + (1 - _KEPT_SHARE) * value
    return usage._replace(
        reinforcement_count=usage.reinforcement_count + 1,
        outcome_score=max(-1.0, min(1.0, score)),
        last_reinforced_at=now,
        updated_at=now,
    )


def _joined(target: Usage, source: Usage) -> Usage:
    """Return the usage of one memory that was counted under two paths."""
    older, newer = sorted((target, source), key=lambda usage: usage.updated_at)
    return _merged(older, newer)._replace(
        access_count=target.access_count + source.access_count,
        reinforcement_count=target.reinforcement_count + source.reinforcement_count,
        warmth=target.warmth + source.warmth,
    )


def _merged(ours: Usage, theirs: Usage) -> Usage:
    # Of a row that went out and comes back, ours has the score with all its digits.
    is_newer = theirs.updated_at > ours.updated_at or ours == Usage()
    newer = theirs if is_newer else ours
    accessed = max(filter(None, (ours.last_accessed_at, theirs.last_accessed_at)), default=None)
    return Usage(
        access_count=max(ours.access_count, theirs.access_count),
        reinforcement_count=max(ours.reinforcement_count, theirs.reinforcement_count),
        outcome_score=newer.outcome_score,
        warmth=max(warmth_at(one, accessed) if accessed else one.warmth for one in (ours, theirs)),
        last_accessed_at=accessed,
        last_reinforced_at=max(
            filter(None, (ours.last_reinforced_at, theirs.last_reinforced_at)), default=None
        ),
        updated_at=newer.updated_at,
    )


def _is_soon(before: str, now: str) -> bool:
    return _seconds_between(before, now) < COOLDOWN_SECONDS


def _seconds_between(before: str, now: str) -> float:
    return (_moment(now) - _moment(before)).total_seconds()


def _moment(instant: str) -> datetime:
    found = datetime.fromisoformat(instant)
    # A date alone is its midnight, here as everywhere in UTC.
    return found if found.tzinfo else found.replace(tzinfo=UTC)
