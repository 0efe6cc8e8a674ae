"""How hard a commit is pressed onto the disk.

*Bulk* follows git's own ``core.fsyncMethod=batch``: every file's pages are written out without a
barrier, one fsync then makes them and all earlier metadata durable, and only afterwards do the
files get their names. A commit costs two barriers however many files it has. Git's default for
loose objects is none at all.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Barrier", "Durability"]


class Durability(StrEnum):
    """What survives a power cut."""

    NONE = "none"
    """Whatever the system had written by then; never half a file under a final name."""
    BULK = "bulk"
    """Every acknowledged commit, on file systems that order data before metadata."""
    EACH = "each"
    """Every acknowledged commit, on any file system: each file is flushed by itself."""


class Barrier:
    """The flushes of one commit: `written` for each file, then `settle` before they are named."""

    def __init__(self, durability: Durability, folder: str) -> None:
        """*folder* is on the file system of the files; a scratch file is made in it."""
        self._durability = durability
        self._scratch = os.path.join(folder, "barrier")
        self._open = False

    def written(self, fd: int) -> None:
        """Note that *fd* holds a whole new file."""
        if self._durability is Durability.NONE:
            return
        if self._durability is Durability.BULK and _write_out is not None:
            _write_out(fd)
            self._open = True
        else:
            _flush(fd)

    def settle(self) -> None:
        """Make everything noted so far durable."""
        if not self._open:
            return
        self._open = False
        fd = os.open(self._scratch, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.write(fd, b".")
            _flush(fd)
        finally:
            os.close(fd)

    def renamed(self, folder: str) -> None:
        """Make the names in *folder* durable, where a folder can be flushed at all."""
        if self._durability is Durability.NONE or sys.platform == "win32":
            return
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _flush(fd: int) -> None:
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - exists on POSIX only

        # fsync there hands pages to the drive, which may keep them in its cache.
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fsync(fd)


def _system_write_out() -> Callable[[int], None] | None:
    """Return what writes a file's pages without a barrier; None where there is no such call."""
    if sys.platform == "darwin":
        return os.fsync
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # noqa: PLC0415 - 3 ms that only writers on Linux pay

    call = getattr(ctypes.CDLL(None, use_errno=True), "sync_file_range", None)
    if call is None:
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    wait_write_wait = 1 | 2 | 4

    def write_out(fd: int) -> None:
        if call(fd, 0, 0, wait_write_wait):
            os.fsync(fd)  # not every file system has it

    return write_out


_write_out = _system_write_out()
