"""A pack and its index (gitformat-pack, version 2), written in one go.

A batch of thousands of files would leave as many loose objects, each a file of its own; a pack is
two files and two flushes. Nothing is deltified: the next repack does that better.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from itertools import accumulate
from struct import pack
from typing import TYPE_CHECKING

from memhtml.store.files import write_new
from memhtml.store.objects import object_sha

if TYPE_CHECKING:
    from memhtml.store.durability import Barrier

__all__ = ["PackWriter"]

_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_LEVEL = 1
_LARGE = 1 << 31


class PackWriter:
    """Collects objects in memory; `seal` writes them out and `finish` gives the pack its name."""

    def __init__(self, objects: str, tmp: str, barrier: Barrier) -> None:
        self._folder = os.path.join(objects, "pack")
        self._tmp = tmp
        self._barrier = barrier
        self._parts: list[bytes] = []
        self._offset = 12
        self._seen: dict[str, tuple[int, int]] = {}
        self._name = ""

    def add(self, kind: str, content: bytes) -> str:
        """Take an object in and return its sha."""
        sha = object_sha(kind, content)
        if sha not in self._seen:
            entry = _entry_header(_KINDS[kind], len(content)) + zlib.compress(content, _LEVEL)
            self._seen[sha] = (self._offset, zlib.crc32(entry))
            self._parts.append(entry)
            self._offset += len(entry)
        return sha

    def seal(self) -> None:
        """Write pack and index under temporary names; the barrier settles next."""
        body = b"".join((b"PACK", pack(">II", 2, len(self._parts)), *self._parts))
        trailer = hashlib.sha1(body, usedforsecurity=False).digest()
        self._name = f"pack-{trailer.hex()}"
        self._parts.clear()
        write_new(self._scratch("pack"), body, trailer, mode=0o444, barrier=self._barrier)
        index = _index(self._seen, trailer)
        end = hashlib.sha1(index, usedforsecurity=False).digest()
        write_new(self._scratch("idx"), index, end, mode=0o444, barrier=self._barrier)

    def finish(self) -> None:
        """Give both files their names, the index last: git looks for packs by their index."""
        os.makedirs(self._folder, exist_ok=True)
        for kind in ("pack", "idx"):
            os.replace(self._scratch(kind), os.path.join(self._folder, f"{self._name}.{kind}"))

    def _scratch(self, kind: str) -> str:
        return os.path.join(self._tmp, f"{self._name}.{kind}")


def _entry_header(kind: int, size: int) -> bytes:
    """Return kind and size as a pack has them: 4 bits of size in the first byte, then 7 each."""
    header = bytearray()
    byte = kind << 4 | size & 15
    size >>= 4
    while size:
        header.append(byte | 128)
        byte = size & 127
        size >>= 7
    header.append(byte)
    return bytes(header)


def _index(objects: dict[str, tuple[int, int]], trailer: bytes) -> bytes:
    rows = sorted((bytes.fromhex(sha), *where) for sha, where in objects.items())
    first_bytes = [0] * 256
    for sha, _, _ in rows:
        first_bytes[sha[0]] += 1
    large = [offset for _, offset, _ in rows if offset >= _LARGE]
    far = iter(range(len(large)))
    offsets = [next(far) | _LARGE if offset >= _LARGE else offset for _, offset, _ in rows]
    return b"".join(
        (
            b"\377tOc",
            pack(">I", 2),
            pack(">256I", *accumulate(first_bytes)),
            *(sha for sha, _, _ in rows),
            pack(f">{len(rows)}I", *(checksum for _, _, checksum in rows)),
            pack(f">{len(rows)}I", *offsets),
            pack(f">{len(large)}Q", *large),
            trailer,
        )
    )
