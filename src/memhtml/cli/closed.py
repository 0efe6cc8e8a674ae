"""Streams that were closed before we started: who reads or writes one is told, and not fooled.

A closed standard input is no empty one: a body taken from it would be a memory that says nothing.
"""

from __future__ import annotations

import errno
import io
from typing import TYPE_CHECKING, cast

from memhtml.model.errors import MissingArgument

if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

__all__ = ["closed_input", "closed_output"]


def closed_input() -> BinaryIO:
    """Return a stream that raises `MissingArgument` when it is read."""
    return cast("BinaryIO", _Input())


def closed_output() -> TextIO:
    """Return a stream that raises `OSError` when it is written to."""
    return cast("TextIO", _Output())


class _Input(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise MissingArgument("there is nothing to read: standard input is closed")


class _Output(io.TextIOBase):
    def write(self, _: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")
