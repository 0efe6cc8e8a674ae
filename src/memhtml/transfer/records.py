"""Our own exports: memory files as lines of JSON, which carry every byte.

The first line says what follows and the last how many memories it was, so a file that was cut off
is noticed. A line holds a file as text, or in base64 where its bytes are no UTF-8, with the hash of
the bytes; the other members only serve who reads the file without us. A page made by `page` carries
the same lines in a data block.
"""

from __future__ import annotations

import base64
import binascii
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from memhtml.model.errors import InvalidFlag, MemhtmlError
from memhtml.transfer.item import Item, Record
from memhtml.transfer.jsonlists import MAX_ELEMENT_BYTES, Element, decode, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.model.memory import Memory
    from memhtml.transfer.item import Options
    from memhtml.transfer.source import Source

__all__ = [
    "DATA_CLOSE",
    "DATA_OPEN",
    "FORMAT",
    "PAGE_MARK",
    "first_line",
    "is_first_line",
    "last_line",
    "memory_line",
    "read_page",
    "read_records",
]

FORMAT = "memhtml-export"
VERSION = 1

PAGE_MARK = b'<meta name="generator" content="memhtml export">'
"""What a page of ours is known by; it stands among its first lines."""
DATA_OPEN = '<script type="application/x-ndjson" id="memhtml-data">'
DATA_CLOSE = "</script>"
"""The lines of a page stand between these two, each on a line of its own."""


def first_line(*, exported_at: str) -> str:
    """Return the line that begins an export."""
    return _line(
        {"type": "export", "format": FORMAT, "version": VERSION, "exportedAt": exported_at}
    )


def last_line(memories: int) -> str:
    """Return the line that ends an export of so many."""
    return _line({"type": "end", "memories": memories})


def memory_line(memory: Memory, data: bytes, *, with_text: bool = False) -> str:
    """Return the line of *memory*, whose file is *data*; *with_text* adds the article's words."""
    document = memory.document
    head = document.head
    value: dict[str, Any] = {
        "type": "memory",
        "path": memory.path,
        "sha256": sha256(data).hexdigest(),
        "title": document.title,
        "claim": document.claim,
        "memoryType": head.memory_type,
        "archived": memory.is_archived,
        "createdAt": head.created_at,
        "updatedAt": head.updated_at,
        "tags": list(head.tags),
        "entities": list(head.entities),
        "links": [{"rel": link.rel, "href": link.href} for link in document.links],
    }
    if with_text:
        value["text"] = document.body_text
    try:
        value["html"] = data.decode()
    except UnicodeDecodeError:
        value["base64"] = base64.b64encode(data).decode()
    return _line(value)


def is_first_line(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether *value* begins an export of ours."""
    return isinstance(value, dict) and value.get("format") == FORMAT


def read_records(source: Source, options: Options) -> Iterator[Item]:  # noqa: ARG001 - a file is restored as it was
    """Yield each memory file that the lines of *source* carry."""
    for name in source.named(".jsonl", ".ndjson"):
        yield from _items(name, lines(source, name))


def read_page(source: Source, options: Options) -> Iterator[Item]:  # noqa: ARG001 - as above
    """Yield each memory file that a page of ours carries."""
    for name in source.named(".html", ".htm"):
        yield from _items(name, _page_lines(source, name))


def _page_lines(source: Source, name: str) -> Iterator[Element]:
    opening, closing = DATA_OPEN.encode(), DATA_CLOSE.encode()
    with source.stream(name) as stream:
        number, is_inside = 0, False
        while line := stream.readline(MAX_ELEMENT_BYTES):
            number += 1
            line = line.strip()
            if not is_inside:
                is_inside = line == opening
            elif line == closing:
                return
            elif line:
                try:
                    yield Element(number, decode(line))
                except InvalidFlag as error:
                    yield Element(number, None, error)


def _items(name: str, elements: Iterator[Element]) -> Iterator[Item]:
    """Yield what the lines hold; a failure at the end where the end does not say what was read."""
    read, told, has_begun = 0, None, False
    for element in elements:
        origin, value = f"{name}:{element.number}", element.value
        if element.error is not None:
            read += 1
            yield Item(origin, error=element.error)
        elif is_first_line(value):
            has_begun = True
            if value.get("version") != VERSION:
                reason = f"it is of version {value.get('version')!r}, and this memhtml reads 1"
                yield Item(origin, error=InvalidFlag(reason))
                return
        elif isinstance(value, dict) and value.get("type") == "end":
            told = value.get("memories")
        else:
            read += 1
            yield _item(value, origin)
    if not has_begun:
        yield Item(name, error=InvalidFlag("it has no first line of an export of memhtml"))
    elif told != read:
        reason = f"it ends early: {read} memories are in it, and its end tells of {told}"
        yield Item(f"{name}:end", error=InvalidFlag(reason))


def _item(value: Any, origin: str) -> Item:  # noqa: ANN401 - JSON
    title = value.get("title") if isinstance(value, dict) else None
    title = title if isinstance(title, str) else ""
    try:
        return Item(origin, title, record=_record(value))
    except MemhtmlError as error:
        return Item(origin, title, error=error)


def _record(value: Any) -> Record:  # noqa: ANN401 - JSON
    if not isinstance(value, dict) or value.get("type") != "memory":
        raise InvalidFlag("it is no memory of an export; operations are for: memhtml apply")
    path, html, encoded = value.get("path"), value.get("html"), value.get("base64")
    if not isinstance(path, str) or not path:
        raise InvalidFlag("it has no path")
    try:
        if isinstance(html, str):
            data = html.encode()
        elif isinstance(encoded, str):
            data = base64.b64decode(encoded, validate=True)
        else:
            raise InvalidFlag("it has neither html nor base64")
    except (UnicodeEncodeError, binascii.Error):
        raise InvalidFlag("its text cannot be turned into bytes") from None
    if value.get("sha256") not in {None, sha256(data).hexdigest()}:
        raise InvalidFlag("its bytes are not those that were exported: the hash differs")
    return Record(path, data)


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
