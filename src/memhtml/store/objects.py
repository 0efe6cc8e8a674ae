"""Git objects: their names, their bytes on disk, and a writer for loose ones."""

from __future__ import annotations

import os
import zlib
from functools import partial
from typing import TYPE_CHECKING

from memhtml.store.files import make_room, write_new

if TYPE_CHECKING:
    from memhtml.store.durability import Barrier

__all__ = ["LooseWriter", "commit_content", "object_sha", "read_loose"]

# Memories are small and written once; level 1 takes half the time of git's default 6 here and
# leaves 5 % more bytes, which the next repack squeezes out.
_LEVEL = 1


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


def object_sha(kind: str, content: bytes, *, algorithm: str = "sha1") -> str:
    """Return git's name for an object.

    >>> object_sha("blob", b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    import hashlib  # noqa: PLC0415 - loads OpenSSL, and a search names no object

    digest = hashlib.new(algorithm, _header(kind, content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def commit_content(
    *, tree: str, parent: str | None, author: str, committer: str, message: str
) -> bytes:
    """Return the content of a commit object. The two names end in seconds and zone."""
    lines = [f"tree {tree}"]
    if parent is not None:
        lines.append(f"parent {parent}")
    lines += [f"author {author}", f"committer {committer}", "", message]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


class LooseWriter:
    """Writes objects one file each. They get their names in `finish`, all of them or none."""

    def __init__(self, objects: str, tmp: str, barrier: Barrier) -> None:
        """*tmp* is a folder of ours on the same file system."""
        self._objects = objects
        self._tmp = tmp
        self._barrier = barrier
        self._pending: dict[str, str] = {}

    def add(self, kind: str, content: bytes) -> str:
        """Take an object in and return its sha."""
        sha = object_sha(kind, content)
        if sha in self._pending:
            return sha
        try:
            # It exists: make it young, as git does, so that a running prune spares it.
            os.utime(self._place(sha))
        except FileNotFoundError:
            scratch = os.path.join(self._tmp, f"object-{sha}")
            packed = zlib.compress(_header(kind, content) + content, _LEVEL)
            write_new(scratch, packed, mode=0o444, barrier=self._barrier)
            self._pending[sha] = scratch
        return sha

    def finish(self) -> None:
        """Give every object its name; the barrier must have settled."""
        for sha, scratch in self._pending.items():
            place = self._place(sha)
            # Missing for the first object of a folder, or because `git gc` just removed it.
            make_room(partial(os.replace, scratch, place), place)
        self._pending.clear()

    def _place(self, sha: str) -> str:
        return os.path.join(self._objects, sha[:2], sha[2:])


def _header(kind: str, content: bytes) -> bytes:
    return f"{kind} {len(content)}\0".encode("ascii")
