"""A tree in memory, to ask planners about without git."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from memhtml.format.edit import read_links, read_meta
from memhtml.format.parse import parse
from memhtml.model.edges import href_of
from memhtml.model.paths import original_path, path_key
from memhtml.store.plan import Fact, File, Move, Put, Remove

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memhtml.store.plan import Step


class DictView:
    """Files by path. `apply` does what `Repo.apply` does to the tree, expectations included."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self.origins: dict[str, str] = {}

    def find(self, path: str) -> File | None:
        data = self.files.get(path)
        return None if data is None else File(blob(data), data)

    def find_active(self, content_hash: str) -> str | None:
        return next((f.path for f in self._facts() if f.content_hash == content_hash), None)

    def find_near(self, near_key: str) -> list[str]:
        return [f.path for f in self._facts() if f.near_key == near_key][:3]

    def find_frame(self, frame_key: str) -> tuple[str, str] | None:
        found = [(f.path, f.claim) for f in self._facts() if f.frame_key == frame_key]
        return min(found) if found else None

    def _facts(self) -> list[Fact]:
        """Return what the active memories say, oldest first."""
        found = [
            (read_meta(data, "memhtml-created") or "", Fact.of(path, parse(data)))
            for path, data in self.files.items()
            if original_path(path) is None and read_meta(data, "memhtml-type") != "task"
        ]
        return [fact for _, fact in sorted(found)]

    def names(self, directory: str) -> Mapping[str, str]:
        prefix = f"{directory}/" if directory else ""
        names = {
            path.removeprefix(prefix).partition("/")[0]
            for path in self.files
            if path.startswith(prefix)
        }
        return {path_key(name): name for name in names}

    def linking(self, path: str) -> Sequence[str]:
        return sorted(
            source
            for source, data in self.files.items()
            if original_path(source) is None
            and any(link.href == href_of(path) for link in read_links(data))
        )

    def origin(self, archived: str) -> str | None:
        return self.origins.get(archived)

    def apply(self, steps: Iterable[Step]) -> None:
        for step in steps:
            match step:
                case Put(path, data, expect):
                    found = self.find(path)
                    assert expect == (found.sha if found else None)
                    self.files[path] = data
                case Move(src, dst, data, expect):
                    assert blob(self.files.pop(src)) == expect
                    assert dst not in self.files
                    self.files[dst] = data
                    self.origins[dst] = src
                case Remove(path, expect):
                    assert blob(self.files.pop(path)) == expect


def blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
