"""JSON lists of any length, one element at a time.

An export of chats is one list of gigabytes, and a library that reads it whole needs many times
that. Here only one element is in memory, an element that is no JSON costs that element alone, and
one that is too large is passed over without being held.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.model.errors import InvalidFlag, MemhtmlError, StorageFailure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from memhtml.transfer.source import Source

__all__ = ["MAX_ELEMENT_BYTES", "Element", "decode", "elements", "first_bytes", "lines"]

MAX_ELEMENT_BYTES = 64 * 2**20
"""A longer element, such as one conversation, is refused by its number."""

_CHUNK = 2**20
_mark_re = re.compile(rb'["\[\]{},]')
_string_re = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


class Element(NamedTuple):
    """One element of a list: what it says, or what is wrong with it."""

    number: int
    """From 0 in a list; of a line from 1."""
    value: Any
    error: MemhtmlError | None = None


def elements(source: Source, name: str) -> Iterator[Element]:
    """Yield the elements of the list that the file *name* is.

    A file that is one object instead is its only element, if it is not too large. What cannot be
    read is an element with an error, and the last one.
    """
    return _guarded(_elements(source, name), name)


def lines(source: Source, name: str) -> Iterator[Element]:
    """Yield the value of each line of *name* that is not blank, numbered from 1; see `elements`."""
    return _guarded(_lines(source, name), name)


def first_bytes(source: Source, name: str) -> bytes:
    """Return how the file *name* begins, without a byte order mark and blanks."""
    with source.stream(name) as stream:
        return stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()


def decode(raw: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return the value of *raw*.

    Raises:
        InvalidFlag: it is no JSON that we read.
    """
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidFlag(f"not UTF-8 at byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidFlag(f"not JSON we read: {str(error)[:120]}") from None


def _guarded(found: Iterator[Element], name: str) -> Iterator[Element]:
    number = 0
    try:
        for element in found:
            number = element.number + 1
            yield element
    except MemhtmlError as error:
        yield Element(number, None, error)
    except (OSError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        yield Element(number, None, StorageFailure(f"{name!r} cannot be read on: {error}"))


def _elements(source: Source, name: str) -> Iterator[Element]:
    if first_bytes(source, name)[:1] != b"[":
        yield _element(0, source.read(name))
        return
    with source.stream(name) as stream:
        number = 0
        for raw in _split(stream):
            if raw is None:
                error = StorageFailure(f"it has more than {MAX_ELEMENT_BYTES:,} bytes")
                yield Element(number, None, error)
            elif raw.strip():
                yield _element(number, raw)
            else:
                continue
            number += 1


def _lines(source: Source, name: str) -> Iterator[Element]:
    with source.stream(name) as stream:
        number = 0
        while line := stream.readline(MAX_ELEMENT_BYTES + 1):
            number += 1
            if len(line) > MAX_ELEMENT_BYTES:
                while line and not line.endswith(b"\n"):
                    line = stream.readline(_CHUNK)
                error = StorageFailure(f"it has more than {MAX_ELEMENT_BYTES:,} bytes")
                yield Element(number, None, error)
            elif line.strip():
                yield _element(number, line)


def _element(number: int, raw: bytes) -> Element:
    try:
        return Element(number, decode(raw))
    except InvalidFlag as error:
        return Element(number, None, error)


def _split(  # noqa: C901, PLR0912 - one loop over one state; parts of it would share it all
    stream: BinaryIO,
) -> Iterator[bytes | None]:
    """Yield the source of each element of the list in *stream*; None for one too large.

    Commas and brackets count only outside of strings, and a string may end in a later chunk; its
    state is all that is carried over.
    """
    parts: list[bytes] = []
    size = depth = 0
    in_string = False
    rest = b""
    while chunk := stream.read(_CHUNK):
        data, at, start = rest + chunk, 0, 0
        rest = b""
        end = len(data)
        while at < end:
            if in_string:
                match = _string_re.match(data, at)
                at = end if match is None else match.end()
                if at < end and data[at : at + 1] == b'"':
                    in_string = False
                    at += 1
                elif at < end:  # half of an escape
                    rest, end = data[at:], at
                continue
            found = _mark_re.search(data, at)
            if found is None:
                break
            at = found.end()
            mark = found.group()
            if mark == b'"':
                in_string = True
            elif mark in b"[{":
                depth += 1
                if depth == 1:
                    start = at  # the list begins
            elif mark in b"]}":
                depth -= 1
            if depth == 0 or (depth == 1 and mark == b","):
                parts.append(data[start : at - 1])
                size += at - 1 - start
                yield None if size > MAX_ELEMENT_BYTES else b"".join(parts)
                parts, size, start = [], 0, at
                if depth == 0:
                    return
        parts.append(data[start:end])
        size += end - start
        if size > MAX_ELEMENT_BYTES:
            parts.clear()
    yield b"".join(parts) if size <= MAX_ELEMENT_BYTES else None
