"""How hard a commit is pressed onto the disk.

*Bulk* follows git's own ``core.fsyncMethod=batch``: every file's pages are written out without a
barrier, one fsync then makes them and all earlier metadata durable, and only afterwards do the
files get their names. A commit costs two barriers however many files it has. Where there are very
many, waiting for each file's pages costs more than one flush of the whole file system, which then
takes their place. Git's default for loose objects is none at all.
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


# From this many files on (a wait is 0.1 to 1 ms each) the file system is flushed as a whole.
_MANY = 256


class Barrier:
    """The flushes of one commit: `written` for each file, then `settle` before they are named."""

    def __init__(self, durability: Durability, folder: str) -> None:
        """*folder* is on the file system of the files; a scratch file is made in it."""
        self._durability = durability
        self._scratch = os.path.join(folder, "barrier")
        self._open = False
        self._count = 0

    def written(self, fd: int) -> None:
        """Note that *fd* holds a whole new file."""
        if self._durability is Durability.NONE:
            return
        if self._durability is Durability.BULK and _write_out is not None:
            self._open = True
            self._count += 1
            if _sync_file_system is None or self._count <= _MANY:
                _write_out(fd)
        else:
            _flush(fd)

    def settle(self) -> None:
        """Make everything noted so far durable."""
        if not self._open:
            return
        is_whole = self._count > _MANY
        self._open = False
        self._count = 0
        fd = os.open(self._scratch, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.write(fd, b".")
            if is_whole and _sync_file_system is not None:
                _sync_file_system(fd)
            else:
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


def _system_sync() -> Callable[[int], None] | None:
    """Return what flushes the file system that a file is on; None where there is no such call."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # noqa: PLC0415 - as above

    call = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if call is None:
        return None
    call.argtypes = (ctypes.c_int,)

    def sync(fd: int) -> None:
        if call(fd):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))

    return sync


_write_out = _system_write_out()
_sync_file_system = _system_sync()
