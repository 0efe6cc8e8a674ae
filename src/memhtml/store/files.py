"""Files and their names: written whole, then placed without ever covering somebody else's.

Also the only code that touches the working tree. A symlink is followed neither as a file nor on
the way to one, so nothing is read from or written to a place outside the root.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from memhtml.store.durability import Barrier

__all__ = [
    "content",
    "is_free",
    "make_room",
    "names",
    "place_new",
    "place_over",
    "read_regular",
    "remove",
    "unlink_if_there",
    "write_new",
]

_BINARY = getattr(os, "O_BINARY", 0)


def write_new(path: str, *parts: bytes, mode: int = 0o666, barrier: Barrier | None = None) -> None:
    """Write *parts* to a file of ours, in place of any leftover of that name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    try:
        fd = os.open(path, flags, mode)
    except FileExistsError:
        # Never written into: a leftover may be a second name of a file in its final place.
        os.unlink(path)
        fd = os.open(path, flags, mode)
    try:
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(fd, rest) :]
        if barrier is not None:
            barrier.written(fd)
    finally:
        os.close(fd)


def place_new(scratch: str, path: str) -> None:
    """Give the file *scratch* the name *path*, in one step, if the name is free.

    Raises:
        FileExistsError: Something stands there; *scratch* is left.
    """
    if sys.platform == "win32":
        os.rename(scratch, path)  # which refuses to replace there
        return
    try:
        os.link(scratch, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # No hard links here (exFAT, some network mounts) or another file system: the name is
        # taken first and filled afterwards, which a crash can leave unfinished.
        with open(scratch, "rb") as source, open(path, "xb") as target:
            try:
                target.write(source.read())
                target.flush()
            except OSError:
                os.unlink(path)
                raise
    os.unlink(scratch)


def make_room(place: Callable[[], None], path: str) -> None:
    """Run *place*, which needs the folder of *path*; make that folder only if it is missing."""
    try:
        place()
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        place()


def place_over(scratch: str, path: str) -> None:
    """Give the file *scratch* the name *path*, in one step, in place of the file there."""
    try:
        os.replace(scratch, path)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        folder, name = os.path.split(path)
        beside = os.path.join(folder, f".{name}.memhtml")
        with open(scratch, "rb") as source:
            write_new(beside, source.read())
        os.replace(beside, path)
        os.unlink(scratch)


def unlink_if_there(path: str) -> None:
    """Remove the file *path*, which may already be gone."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def read_regular(root: str, path: str) -> bytes | None:
    """Return the file at *path* under *root*; None when there is no regular file.

    Raises:
        OSError: It is there and cannot be read.
    """
    if not _leads_through_folders(root, path):
        return None
    full = _full(root, path)
    try:
        if not stat.S_ISREG(os.lstat(full).st_mode):
            return None
        # O_NONBLOCK: should a FIFO take its place meanwhile, opening it must not wait.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        fd = os.open(full, flags | _BINARY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with open(fd, "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(fd).st_mode) else None


def content(path: str) -> bytes | None:
    """Return what the file *path* of ours or git's holds; None when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def is_free(root: str, path: str) -> bool:
    """Tell whether a new file could stand at *path*: nothing there, only folders on the way."""
    return _leads_through_folders(root, path, may_end=True) and not os.path.lexists(
        _full(root, path)
    )


def names(root: str, directory: str) -> list[str]:
    """Return what stands in *directory* ("" for the root) on disk; nothing if it is no folder."""
    if directory and not _leads_through_folders(root, f"{directory}/"):
        return []
    try:
        return os.listdir(_full(root, directory))
    except FileNotFoundError:
        return []


def remove(root: str, path: str) -> None:
    """Remove the file at *path* and, as git does, the folders this leaves empty."""
    unlink_if_there(_full(root, path))
    *folders, _ = path.split("/")
    while folders:
        try:
            os.rmdir(os.path.join(root, *folders))
        except OSError:
            return
        folders.pop()


def _leads_through_folders(root: str, path: str, *, may_end: bool = False) -> bool:
    """Tell whether every folder of *path* is one; *may_end*: or is not there yet."""
    at = root
    for folder in path.split("/")[:-1]:
        at = os.path.join(at, folder)
        try:
            if not stat.S_ISDIR(os.lstat(at).st_mode):
                return False
        except (FileNotFoundError, NotADirectoryError):
            return may_end
    return True


def _full(root: str, path: str) -> str:
    return os.path.join(root, *path.split("/"))
