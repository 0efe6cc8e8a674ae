"""Where an import reads from: a folder, a zip archive or one file, behind one face.

Names are relative with ``/``. Nothing is unpacked and no link is followed, so a source can neither
write anywhere nor make us read what its owner did not put into it.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from memhtml.model.closing import Closing
from memhtml.model.errors import InvalidFlag, StorageFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

__all__ = ["MAX_FILE_BYTES", "Source"]

MAX_FILE_BYTES = 64 * 2**20
"""Most bytes of a file that is read whole; lists of any length are streamed instead."""

_HIDDEN = frozenset({"__MACOSX", "node_modules"})


class Source(Closing):
    """An open source; a context manager."""

    def __init__(self, root: Path, names: Iterable[str], archive: zipfile.ZipFile | None) -> None:
        self.root = root
        self.names = tuple(sorted(names))
        """Every regular file but hidden ones, sorted."""
        self.links: tuple[str, ...] = ()
        """Symlinks, which are left alone."""
        self.hidden: frozenset[str] = frozenset()
        """Hidden entries at the top, by which some programs are known."""
        self._archive = archive

    @classmethod
    def open(cls, path: str) -> Self:
        """Open what is at *path*.

        Raises:
            InvalidFlag: there is nothing, or nothing that can be read.
        """
        root = Path(path)
        try:
            if root.is_dir():
                return cls._folder(root)
            if zipfile.is_zipfile(root):
                archive = zipfile.ZipFile(root)
                names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
                return cls(root, filter(_is_shown, names), archive)
            if root.is_file():
                return cls(root.parent, [root.name], None)
        except (OSError, zipfile.BadZipFile) as error:
            raise InvalidFlag(f"{path!r} cannot be read: {error}") from error
        raise InvalidFlag(f"there is no file or folder {path!r}")

    @classmethod
    def _folder(cls, root: Path) -> Self:
        names: list[str] = []
        links: list[str] = []
        for folder, folders, files in os.walk(root):
            here = Path(folder)
            linked = [name for name in folders if (here / name).is_symlink()]
            folders[:] = sorted(n for n in folders if _is_shown(n) and n not in linked)
            for name in (*files, *linked):
                relative = (here / name).relative_to(root).as_posix()
                if _is_shown(name):
                    (links if (here / name).is_symlink() else names).append(relative)
        source = cls(root, names, None)
        source.links = tuple(sorted(links))
        source.hidden = frozenset(entry.name for entry in root.iterdir() if entry.name[0] == ".")
        return source

    def close(self) -> None:
        """Let go of the archive, if it is one."""
        if self._archive is not None:
            self._archive.close()

    def named(self, *endings: str) -> Iterator[str]:
        """Yield the names that end in one of *endings*, whatever their case."""
        return (name for name in self.names if name.casefold().endswith(endings))

    def stream(self, name: str) -> BinaryIO:
        """Open a file of the source; the caller closes it.

        Raises:
            StorageFailure: it cannot be read, such as one that is encrypted.
        """
        try:
            if self._archive is None:
                return (self.root / name).open("rb")
            return cast("BinaryIO", self._archive.open(name))
        except (OSError, RuntimeError, zipfile.BadZipFile, NotImplementedError) as error:
            raise StorageFailure(f"{name!r} cannot be read: {error}") from error

    def read(self, name: str, limit: int = MAX_FILE_BYTES) -> bytes:
        """Return a whole file.

        Raises:
            StorageFailure: it cannot be read, or has more than *limit* bytes.
        """
        with self.stream(name) as file:
            try:
                data = file.read(limit + 1)
            except (OSError, RuntimeError, zipfile.BadZipFile, EOFError) as error:
                raise StorageFailure(f"{name!r} cannot be read: {error}") from error
        if len(data) > limit:
            raise StorageFailure(f"{name!r} has more than {limit:,} bytes")
        return data

    def text(self, name: str, limit: int = MAX_FILE_BYTES) -> str:
        """Return a whole file that is UTF-8 text.

        Raises:
            StorageFailure: it cannot be read, is too large, or is not UTF-8.
        """
        try:
            return self.read(name, limit).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise StorageFailure(f"{name!r} is not UTF-8 at byte {error.start + 1}") from error


def _is_shown(name: str) -> bool:
    return not any(part.startswith(".") or part in _HIDDEN for part in name.split("/"))
