"""Git objects: their names, their bytes on disk, and a writer for loose ones."""

from __future__ import annotations

import os
import zlib

__all__ = ["read_loose"]


def read_loose(objects: str, sha: str) -> tuple[str, bytes] | None:
    """Return kind and content of the loose object *sha* under *objects*; None if it is not loose.

    None also for one that does not decompress: git is asked next, and says what is wrong.
    """
    try:
        with open(os.path.join(objects, sha[:2], sha[2:]), "rb") as file:
            raw = zlib.decompress(file.read())
    except (FileNotFoundError, zlib.error):
        return None
    header, _, content = raw.partition(b"\0")
    kind, _, size = header.partition(b" ")
    if not size.isdigit() or int(size) != len(content):
        return None
    return kind.decode("ascii"), content
