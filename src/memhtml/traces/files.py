"""Transcripts on disk: found without following links, read by whole lines, never written.

A trace root belongs to another program, which may be writing at this moment, and what stands in it
was not chosen by us. So no link is followed, nothing but a regular file is opened, a line without
its end is left for the next time, and a line of absurd length is passed over without being held.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "MAX_LINE_BYTES",
    "MAX_WHOLE_BYTES",
    "Found",
    "Line",
    "Walk",
    "complete_lines",
    "open_transcript",
    "read_ends",
]

MAX_LINE_BYTES = 16 * 1024 * 1024
"""A longer line is passed over and counted. Pictures in a line are a few megabytes."""

MAX_WHOLE_BYTES = 64 * 1024 * 1024
"""A file that is one JSON value is not read when it is larger."""

END_BYTES = 1024
"""So much at either end of what was read tells whether it is still the same."""


class Found(NamedTuple):
    """A transcript that a layout found."""

    path: str
    agent: str
    """The layout's name."""
    root: str
    session_id: str
    """What its place or name says; for a subagent, the session that sent it out."""
    slug: str
    """The folder that stands for a project."""
    agent_id: str | None = None
    """Of a subagent; None for the session's own transcript."""
    cwd: str | None = None
    is_whole: bool = False
    """One JSON value, written anew each time; otherwise a JSON value a line, appended to."""
    trusts_records: bool = False
    """The session that its records name is right where its name says something else."""
    refusal: str | None = None
    """Why it cannot be read."""


class Line(NamedTuple):
    """A line of a transcript."""

    number: int
    """From 1."""
    end: int
    """Offset of the byte after it."""
    data: bytes | None
    """Without its end; None when it is longer than `MAX_LINE_BYTES`."""


class Walk:
    """One look through a trace root; what cannot be looked into is noted and costs no more."""

    def __init__(self) -> None:
        self.failures: list[tuple[str, str]] = []
        """Folders that could not be read, and why."""

    def children(self, folder: str) -> tuple[list[str], list[str]]:
        """Return the names of the folders and of the files in *folder*, sorted; of links, none.

        A folder that is not there has none.
        """
        folders, files = [], []
        try:
            with os.scandir(folder) as found:
                for entry in found:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(entry.name)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            self.failures.append((folder, error.strerror or str(error)))
        return sorted(folders), sorted(files)


@contextlib.contextmanager
def open_transcript(path: str) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open the regular file at *path* for reading, with what the system says of it.

    Raises:
        OSError: It cannot be opened, or is a link, a pipe or the like.
    """
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path!r} is no regular file")
        yield file, found


def complete_lines(file: BinaryIO, *, offset: int, line: int, stop: int) -> Iterator[Line]:
    """Yield the lines from byte *offset* on that end before *stop*; *line* come before them."""
    file.seek(offset)
    while offset < stop:
        data = file.readline(min(MAX_LINE_BYTES, stop - offset))
        read, is_held = len(data), True
        while data and not data.endswith(b"\n") and offset + read < stop:
            is_held = False
            data = file.readline(min(MAX_LINE_BYTES, stop - offset - read))
            read += len(data)
        if not data.endswith(b"\n"):
            return
        offset += read
        line += 1
        yield Line(line, offset, data.rstrip(b"\r\n") if is_held else None)


def read_ends(file: BinaryIO, size: int) -> bytes:
    """Return what the first and last `END_BYTES` of the *size* bytes that were read are now."""
    file.seek(0)
    first = file.read(min(END_BYTES, size))
    file.seek(max(0, size - END_BYTES))
    return first + file.read(min(END_BYTES, size))
