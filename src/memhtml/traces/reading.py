"""A transcript as a stream of records, from wherever the last reading stopped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from memhtml.traces.files import MAX_WHOLE_BYTES, complete_lines
from memhtml.traces.layouts import LAYOUTS
from memhtml.traces.record import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.traces.files import Found
    from memhtml.traces.record import Record

__all__ = ["Read", "decoded", "read_records", "whole_values"]


class Read(NamedTuple):
    """One JSON value of a transcript, and where reading it left off."""

    line: int
    end: int
    record: Record | Skip


def read_records(
    found: Found, file: BinaryIO, *, size: int, offset: int = 0, line: int = 0
) -> Iterator[Read]:
    """Yield what *found* says from byte *offset* to *size*; *line* lines come before.

    Raises:
        OSError: The file cannot be read, or must be read whole and is too large or no JSON.
    """
    read = LAYOUTS[found.agent].read
    if found.is_whole:
        for number, said in whole_values(file, size):
            yield Read(number, size, read(said))
        return
    for one in complete_lines(file, offset=offset, line=line, stop=size):
        value = None if one.data is None else decoded(one.data)
        if value is not None:
            yield Read(one.number, one.end, read(value))
        else:
            # A blank line is nothing that was lost.
            lost = one.data is None or one.data.strip()
            yield Read(one.number, one.end, Skip.DROPPED if lost else Skip.IGNORED)


def decoded(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object that *data* is, None if it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def whole_values(file: BinaryIO, size: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the head of a session that is one JSON object, then its messages, each with a line.

    Raises:
        OSError: The file is too large, or no JSON object.
    """
    if size > MAX_WHOLE_BYTES:
        raise OSError(f"it is one JSON value of {size:,} bytes, more than {MAX_WHOLE_BYTES:,}")
    file.seek(0)
    data = file.read(size)
    value = decoded(data)
    if value is None:
        raise OSError("it is no JSON object, perhaps because it is being written")
    messages = value.pop("messages", None)
    yield 1, value
    place, line = 0, 1
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict):
            continue
        # Its own name stands where it stands, on a line of its own in what these agents write.
        name = json.dumps(message.get("id")).encode()
        start = data.find(name, place)
        if start >= 0:
            line += data.count(b"\n", place, start)
            place = start
        yield line, message
