"""One writer at a time, across processes.

The lock belongs to an open file, so the system frees it however its holder ends, and there is
never a stale one to remove.
"""

from __future__ import annotations

import os
import sys
import time

from memhtml.model.errors import Busy, StorageFailure

__all__ = ["Lock"]

_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.05


class Lock:
    """An exclusive lock on the file *path*, which is made if need be and never removed."""

    def __init__(self, path: str, *, wait_seconds: float) -> None:
        self._path = path
        self._wait_seconds = wait_seconds
        self._fd = -1

    def acquire(self) -> None:
        """Wait for the lock.

        Raises:
            Busy: Another process kept it all the while.
            StorageFailure: The file cannot be made or locked.
        """
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise StorageFailure(f"cannot write in {self._path!r}: {error.strerror}") from error
        try:
            _wait(fd, self._wait_seconds)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def release(self) -> None:
        """Let the next one in."""
        fd, self._fd = self._fd, -1
        os.close(fd)


def _wait(fd: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while not _try_lock(fd):
        if time.monotonic() > deadline:
            raise Busy("another memhtml process is writing to this store")
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise StorageFailure(f"this file system has no locks: {error.strerror}") from error
        return True
