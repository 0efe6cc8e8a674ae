"""Git trees: find a path in one, and change one path-wise.

Only the trees on a changed path are read and written, so a commit costs the same in a store of any
size, as long as its folders stay small. A tree sorts its folders as if their names ended in ``/``,
and so do the keys here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import GitFailure, WriteConflict
from memhtml.model.paths import path_key
from memhtml.store.plumbing import decode_path, encode_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["DIRECTORY", "FILE", "CommitTrees", "Entry", "Trees"]

FILE = "100644"
DIRECTORY = "40000"
_CACHED_TREES = 4096


class Entry(NamedTuple):
    """What stands at a name in a tree."""

    mode: str
    sha: str


class _Tree:
    """A parsed tree: sorted keys beside the raw entries they belong to."""

    __slots__ = ("keys", "raw")

    def __init__(self, keys: list[bytes], raw: list[bytes]) -> None:
        self.keys = keys
        self.raw = raw

    def find(self, key: bytes) -> int | None:
        at = bisect_left(self.keys, key)
        return at if at < len(self.keys) and self.keys[at] == key else None

    def put(self, key: bytes, raw: bytes) -> None:
        at = bisect_left(self.keys, key)
        if at < len(self.keys) and self.keys[at] == key:
            self.raw[at] = raw
        else:
            self.keys.insert(at, key)
            self.raw.insert(at, raw)

    def drop(self, key: bytes) -> None:
        at = self.find(key)
        if at is not None:
            del self.keys[at]
            del self.raw[at]


class Trees:
    """Trees by sha, as read from somewhere and kept while they are of use."""

    def __init__(self, read: Callable[[str], bytes], *, sha_bytes: int = 20) -> None:
        """*read* returns the content of a tree object."""
        self._read = read
        self._sha_bytes = sha_bytes
        self._entry_re = re.compile(rb"(\d+) ([^\0]+)\0.{%d}" % sha_bytes, re.DOTALL)
        self._cache: dict[str, _Tree] = {}

    def find(self, root: str | None, path: str) -> Entry | None:
        """Return what stands at *path* under the tree *root*, a folder included."""
        *folders, name = encode_path(path).split(b"/")
        sha = root
        for folder in folders:
            entry = self._entry(sha, folder + b"/")
            if entry is None:
                return None
            sha = entry.sha
        return self._entry(sha, name) or self._entry(sha, name + b"/")

    def names(self, root: str | None, directory: str) -> list[str]:
        """Return the names in *directory* ("" for the top), folders included."""
        sha = root
        if directory:
            found = self.find(root, directory)
            sha = found.sha if found is not None and found.mode == DIRECTORY else None
        return [decode_path(key.rstrip(b"/")) for key in self._load(sha).keys]

    def edit(
        self,
        root: str | None,
        edits: Mapping[str, Entry | None],
        write: Callable[[bytes], str],
    ) -> str:
        """Return the tree *root* with *edits* made; None removes. *write* stores a tree object.

        Raises:
            WriteConflict: A file would take a folder's place or the reverse, or a new name differs
                from one beside it only in what some file systems do not tell apart.
        """
        top = {encode_path(path): entry for path, entry in edits.items()}
        return self._edit(root, top, write, b"") or write(b"")

    def _edit(
        self,
        root: str | None,
        edits: Mapping[bytes, Entry | None],
        write: Callable[[bytes], str],
        prefix: bytes,
    ) -> str | None:
        here: dict[bytes, Entry | None] = {}
        below: dict[bytes, dict[bytes, Entry | None]] = {}
        for path, entry in edits.items():
            name, slash, rest = path.partition(b"/")
            if slash:
                below.setdefault(name, {})[rest] = entry
            else:
                here[name] = entry
        before = self._load(root)
        tree = _Tree(before.keys.copy(), before.raw.copy())
        # Removals first: a name that one edit vacates is free for the next.
        for name, entry in here.items():
            if entry is None:
                tree.drop(name)
        for name, inner in below.items():
            old = self._entry(root, name + b"/")
            sha = self._edit(old and old.sha, inner, write, prefix + name + b"/")
            if sha is None:
                tree.drop(name + b"/")
            else:
                self._put(tree, prefix, name + b"/", Entry(DIRECTORY, sha))
        for name, entry in here.items():
            if entry is not None:
                self._put(tree, prefix, name, entry)
        if not tree.keys:
            return None
        sha = write(b"".join(tree.raw))
        self._keep(sha, tree)
        return sha

    def _put(self, tree: _Tree, prefix: bytes, key: bytes, entry: Entry) -> None:
        name = key.rstrip(b"/")
        if tree.find(key) is None:
            rival = _rival(tree.keys, key)
            if rival is not None:
                path = decode_path(prefix + name)
                raise WriteConflict(
                    path, reason=f"{decode_path(prefix + rival)!r} stands in its way"
                )
        raw = entry.mode.encode("ascii") + b" " + name + b"\0" + bytes.fromhex(entry.sha)
        tree.put(key, raw)

    def _entry(self, sha: str | None, key: bytes) -> Entry | None:
        tree = self._load(sha)
        at = tree.find(key)
        if at is None:
            return None
        raw = tree.raw[at]
        return Entry(raw[: raw.index(b" ")].decode("ascii"), raw[-self._sha_bytes :].hex())

    def _load(self, sha: str | None) -> _Tree:
        if sha is None:
            return _Tree([], [])
        tree = self._cache.get(sha)
        if tree is None:
            keys, raw = [], []
            for match in self._entry_re.finditer(self._read(sha)):
                mode, name = match.groups()
                keys.append(name + b"/" if mode == b"40000" else name)
                raw.append(match.group())
            tree = _Tree(keys, raw)
            self._keep(sha, tree)
        return tree

    def _keep(self, sha: str, tree: _Tree) -> None:
        self._cache[sha] = tree
        if len(self._cache) > _CACHED_TREES:
            del self._cache[next(iter(self._cache))]


class CommitTrees:
    """The trees of commits, for one repository."""

    def __init__(self, read: Callable[[str], tuple[str, bytes] | None]) -> None:
        """*read* returns kind and content of an object."""
        self._read = read
        self._trees: Trees | None = None
        self._tree_of: dict[str, str] = {}

    def trees(self, *, sha_bytes: int) -> Trees:
        """Return the trees themselves; every sha of a repository has the same length."""
        if self._trees is None:
            self._trees = Trees(lambda sha: self._content(sha, "tree"), sha_bytes=sha_bytes)
        return self._trees

    def of(self, commit: str) -> str:
        """Return the sha of *commit*'s tree."""
        if commit not in self._tree_of:
            first_line = self._content(commit, "commit").partition(b"\n")[0]
            self.note(commit, first_line.removeprefix(b"tree ").decode("ascii"))
        return self._tree_of[commit]

    def note(self, commit: str, tree: str) -> None:
        """Remember what the tree of *commit* is; only the newest commit is asked about twice."""
        self._tree_of = {commit: tree}

    def at(self, commit: str, path: str) -> Entry | None:
        """Return what *commit* has at *path*."""
        return self.trees(sha_bytes=len(commit) // 2).find(self.of(commit), path)

    def names(self, commit: str, directory: str) -> list[str]:
        """Return the names *commit* has in *directory* ("" for the top), folders included."""
        return self.trees(sha_bytes=len(commit) // 2).names(self.of(commit), directory)

    def _content(self, sha: str, kind: str) -> bytes:
        found = self._read(sha)
        if found is None or found[0] != kind:
            raise GitFailure(("cat-file", kind, sha), 1, "it is missing", suggestions=("git fsck",))
        return found[1]


def _rival(keys: list[bytes], key: bytes) -> bytes | None:
    """Return the name that a case-blind file system would take for the new *key*."""
    name = key.rstrip(b"/")
    names = b"\0%b\0" % b"\0".join(keys).replace(b"/\0", b"\0").removesuffix(b"/")
    if names.isascii() and name.isascii():
        # One search over all names: taking the key of each would cost more than the whole commit.
        at = names.lower().find(b"\0%b\0" % name.lower())
        return None if at < 0 else names[at + 1 : at + 1 + len(name)]
    wanted = path_key(decode_path(name))
    others = names.split(b"\0")
    return next((other for other in others if path_key(decode_path(other)) == wanted), None)
