"""Git's index, kept in step with our commits without ever staging anything else.

A commit that left the index behind would be undone by the user's next ``git commit``, which writes
the index's state. So the index follows every commit, but it is never its source: what the user has
staged stays staged. Reading looks at the file itself where its format is the plain one and asks
git where it is not; only git writes it.
"""

from __future__ import annotations

import os
import random
import time
from struct import unpack_from
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import Busy, StorageFailure
from memhtml.store.files import content, place_new, unlink_if_there, write_new
from memhtml.store.plumbing import IndexEntry, encode_path

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from memhtml.store.git import Git
    from memhtml.store.trees import Entry

__all__ = ["MARKER", "Staging"]

MARKER = "index-lock"
"""Name of the temporary file that says ``index.lock`` is ours."""

_LONGEST_PAUSE = 0.1
# Up to this many paths are searched for in the file; for more it is read entry by entry.
_FEW = 8
# An entry git was told by name has no stat data, so every `git status` reads that file again.
# From this many on, one refresh costs less than the readings it saves.
_REFRESH_FROM = 256
_STATLESS = b"\0" * 24 + b"\0\0\x81\xa4" + b"\0" * 12
_EXTENDED = 0x4000
_LENGTH = 0x0FFF


class _Read(NamedTuple):
    """An index file as it was read."""

    stamp: tuple[int, int, int]
    """Time, size and inode: what changes when git writes another one."""
    raw: bytes
    entries: int
    is_plain: bool
    """Its entries stand in it one after another, each with its whole path."""


class Staging:
    """The index of one working tree, and the lock that keeps git from writing it."""

    def __init__(
        self, own: str, tmp: str, git: Git, *, sha_bytes: int, wait_seconds: float
    ) -> None:
        self._index = os.path.join(own, "index")
        self._lock = os.path.join(own, "index.lock")
        self._marker = os.path.join(tmp, MARKER)
        self._tmp = tmp
        self._git = git
        self._sha_bytes = sha_bytes
        self._wait_seconds = wait_seconds
        self._pending: dict[str, Entry | None] = {}
        self._read: _Read | None = None
        self.held_since: float | None = None
        """Monotonic time since which the lock is ours; None while it is not."""

    @property
    def pending(self) -> int:
        """How many paths the index has yet to learn about."""
        return len(self._pending)

    def hold(self) -> None:
        """Take ``index.lock``, as git does before it commits; nothing if it is ours already.

        Raises:
            Busy: Another git process kept it all the while.
        """
        if self.held_since is not None:
            return
        owner = f"memhtml {os.getpid()} {time.time_ns()}\n".encode("ascii")
        scratch = os.path.join(self._tmp, "index-lock-new")
        # The same words in both files: whoever finds them after a crash knows the lock for ours.
        write_new(self._marker, owner)
        write_new(scratch, owner)
        deadline = time.monotonic() + self._wait_seconds
        pause = 0.002
        while True:
            try:
                place_new(scratch, self._lock)
                break
            except FileExistsError:
                if time.monotonic() > deadline:
                    unlink_if_there(self._marker)
                    unlink_if_there(scratch)
                    raise self._busy() from None
                time.sleep(pause * (0.5 + random.random()))  # noqa: S311 - spreads waiters, no secret
                pause = min(pause * 1.6, _LONGEST_PAUSE)
        self.held_since = time.monotonic()

    def adopt(self) -> None:
        """Make a lock that a dead process of ours left behind our own."""
        owner = content(self._marker)
        if owner and owner == content(self._lock):
            self.held_since = time.monotonic()

    def find(self, paths: Collection[str]) -> dict[str, IndexEntry]:
        """Return the entries of those *paths* that have one, as they will be once all is written.

        A path that stands only in an unfinished merge has a stage other than 0.
        """
        found = self._find(paths)
        for path in paths:
            if path in self._pending:
                entry = self._pending[path]
                if entry is None:
                    found.pop(path, None)
                else:
                    found[path] = IndexEntry(entry.mode, entry.sha, 0)
        return found

    def put(self, changes: Mapping[str, Entry | None]) -> None:
        """Note what the index has to learn."""
        self._pending.update(changes)

    def flush(self) -> None:
        """Let git write what is pending into the index; the lock stays.

        Git works on a copy under another name, which then takes the index's place, as the lock
        file would in git's own hands.
        """
        if not self._pending:
            return
        # A name of its own: git, orphaned by a kill of ours, may still be at work on another copy.
        copy = os.path.join(self._tmp, f"index-{os.getpid()}-{time.time_ns()}")
        try:
            os.link(self._index, copy)  # git replaces it and never writes into it
        except OSError:
            raw = content(self._index)
            if raw is not None:  # before the first commit there is none
                write_new(copy, raw)
        self._git.update_index(copy, self._pending, sha_digits=2 * self._sha_bytes)
        if len(self._pending) + self._count_statless() >= _REFRESH_FROM:
            self._git.refresh_index(copy)
        os.replace(copy, self._index)
        self._pending.clear()

    def release(self) -> None:
        """Let git write the index again."""
        if self.held_since is not None:
            self.held_since = None
            unlink_if_there(self._lock)
            unlink_if_there(self._marker)

    def forget(self) -> None:
        """Drop what is pending and give the lock back: the journal knows the rest."""
        self._pending.clear()
        self.release()

    def _busy(self) -> Busy:
        try:
            age = max(0, time.time() - os.stat(self._lock).st_mtime)
        except FileNotFoundError:
            age = 0
        return Busy(
            f"another git process holds {self._lock!r}, made {age:.0f} s ago",
            suggestions=(
                "try again when it is done",
                "if no git process is running, it is a leftover: remove that file",
            ),
        )

    def _count_statless(self) -> int:
        index = self._read_index()
        return index.raw.count(_STATLESS) if index is not None else 0

    def _read_index(self) -> _Read | None:
        """Return the index file, read again only if it is another one than last time."""
        try:
            now = os.stat(self._index)
        except FileNotFoundError:
            return None
        stamp = (now.st_mtime_ns, now.st_size, now.st_ino)
        if self._read is None or self._read.stamp != stamp:
            raw = content(self._index) or b""
            if len(raw) < 12 or raw[:4] != b"DIRC":
                raise StorageFailure(
                    f"{self._index!r} is not a git index", suggestions=("git status", "git reset")
                )
            # Version 4 shortens paths; a split or sparse index has entries elsewhere. The marks
            # are extension names, and a path that ends like one merely costs a question to git.
            version, count = unpack_from(">II", raw, 4)
            is_plain = version in {2, 3} and b"link\0" not in raw and b"sdir\0" not in raw
            self._read = _Read(stamp, raw, count, is_plain)
        return self._read

    def _find(self, paths: Collection[str]) -> dict[str, IndexEntry]:
        index = self._read_index()
        if index is None:
            return {}
        if not index.is_plain:
            staged = self._git.staged(paths if len(paths) <= _FEW else ())
            return {path: staged[path] for path in paths if path in staged}
        raw = index.raw
        if len(paths) <= _FEW:
            quick = self._search(raw, paths)
            if quick is not None:
                return quick
        wanted = {encode_path(path): path for path in paths}
        return {
            wanted[name]: entry for name, entry in self._walk(raw, index.entries) if name in wanted
        }

    def _search(self, raw: bytes, paths: Collection[str]) -> dict[str, IndexEntry] | None:
        """Find *paths* by their bytes; None if what was found is not unmistakable.

        An entry's place is always found by its name. Bytes that only look like the entry may be
        found as well, so two finds for one path mean reading the index entry by entry.
        """
        found = {}
        for path in paths:
            name = encode_path(path)
            entries = list(self._candidates(raw, name))
            if len(entries) > 1:
                return None
            if entries:
                found[path] = entries[0]
        return found

    def _candidates(self, raw: bytes, name: bytes) -> list[IndexEntry]:
        found = []
        fixed = 40 + self._sha_bytes  # stat data, then the sha, then two bytes of flags
        at = raw.find(name + b"\0", 12)
        while at >= 0:
            for flag_bytes in (2, 4):
                start = at - flag_bytes - fixed
                if start < 12 or (start - 12) % 8:
                    continue
                (flags,) = unpack_from(">H", raw, start + fixed)
                extended = bool(flags & _EXTENDED)
                if flags & _LENGTH == min(len(name), _LENGTH) and extended == (flag_bytes == 4):
                    found.append(self._entry(raw, start))
            at = raw.find(name + b"\0", at + 1)
        return found

    def _walk(self, raw: bytes, count: int) -> list[tuple[bytes, IndexEntry]]:
        rows = []
        fixed = 40 + self._sha_bytes
        at = 12
        for _ in range(count):
            (flags,) = unpack_from(">H", raw, at + fixed)
            name_at = at + fixed + (4 if flags & _EXTENDED else 2)
            end = raw.index(b"\0", name_at)
            rows.append((raw[name_at:end], self._entry(raw, at)))
            # Entries are padded with one to eight NULs to a multiple of eight bytes.
            at += (end - at + 8) & ~7
        return rows

    def _entry(self, raw: bytes, at: int) -> IndexEntry:
        (mode,) = unpack_from(">I", raw, at + 24)
        sha = raw[at + 40 : at + 40 + self._sha_bytes].hex()
        (flags,) = unpack_from(">H", raw, at + 40 + self._sha_bytes)
        return IndexEntry(f"{mode:o}", sha, flags >> 12 & 3)
