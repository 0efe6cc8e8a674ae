"""An export: every memory of a store, one at a time, into a folder or a file.

What is written appears whole or not at all: a file under another name first, a folder only where
there is none yet. What stands in the store and is no memory is told and left out.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.parse import parse
from memhtml.model.errors import InvalidFlag, StorageFailure
from memhtml.model.instants import stamp
from memhtml.model.memory import Memory
from memhtml.model.paths import original_path, path_key
from memhtml.model.slugs import with_ordinal
from memhtml.transfer.notefile import note_file
from memhtml.transfer.page import page_end, page_start
from memhtml.transfer.records import first_line, last_line, memory_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from memhtml.corpus import Corpus
    from memhtml.model.ports import Progress

__all__ = ["ExportReport", "export"]


_illegal_re = re.compile(r'[<>:"|?*\\]|[. ]+(?=/|\Z)')


class ExportReport(NamedTuple):
    """What an export wrote."""

    out: str
    memories: int
    archived: int
    size: int
    """Bytes of all that was written."""
    left_out: tuple[tuple[str, str], ...]
    """Files of the store that are no memories, each with the code of the reason."""


def export(
    corpus: Corpus,
    out: str,
    *,
    format_: str,
    active_only: bool = False,
    force: bool = False,
    only: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> ExportReport:
    """Write the memories of *corpus* to *out*: ``md`` a folder, ``jsonl`` and ``html`` a file.

    Memories are as they are on disk, hand edits included. *force* writes over what is there; in a
    folder other files stay. *only* are the paths to write, in that order; all where it is None.

    Raises:
        InvalidFlag: something stands at *out* already.
        StorageFailure: it cannot be written.
    """
    files = _Files(corpus, active_only=active_only, only=only, progress=progress)
    target = Path(out)
    _require_free(target, is_folder=format_ == "md", force=force)
    try:
        if format_ == "md":
            target.mkdir(parents=True, exist_ok=True)
            taken: set[str] = set()
            size = sum(_write_note(target, memory, taken) for memory, _ in files)
        else:
            with _replacing(target) as file:
                _write_lines(file, files, corpus, is_page=format_ == "html")
            size = target.stat().st_size
    except OSError as error:
        raise StorageFailure(f"{out!r} cannot be written: {error.strerror or error}") from error
    return ExportReport(out, files.count, files.archived, size, files.left_out())


class _Files:
    """The memories of a store with their bytes, counted as they pass."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        active_only: bool,
        only: Sequence[str] | None,
        progress: Progress | None,
    ) -> None:
        self.count = 0
        self.archived = 0
        self._corpus = corpus
        self._active_only = active_only
        self._only = only
        self._progress = progress
        skipped = corpus.status().skipped if only is None else ()
        self._skipped = [(file.path, file.reason) for file in skipped]

    def __iter__(self) -> Iterator[tuple[Memory, bytes]]:
        paths = sorted(self._corpus.indexed_files()) if self._only is None else self._only
        for number, path in enumerate(paths, 1):
            if self._progress is not None:
                self._progress(number, len(paths))
            if self._active_only and original_path(path) is not None:
                continue
            data = self._corpus.read_file(path)
            document = None if data is None else parse(data)
            if data is None or document is None or not document.is_valid:
                self._skipped.append((path, "changed-meanwhile"))
                continue
            memory = Memory(path=path, sha=self._corpus.sha_of(data), document=document)
            self.count += 1
            self.archived += memory.is_archived
            yield memory, data

    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Return what was no memory, by path."""
        return tuple(sorted(self._skipped))


def _write_lines(file: TextIO, files: _Files, corpus: Corpus, *, is_page: bool) -> None:
    at = stamp(corpus.now())
    if is_page:
        file.write(page_start(title=Path(corpus.root).name, exported_at=at))
    lines = _lines(files, at, with_text=is_page)
    # Nothing in the block may look like markup to the browser that passes over it.
    file.writelines(line.replace("<", "\\u003c") if is_page else line for line in lines)
    if is_page:
        file.write(page_end())


def _lines(files: _Files, at: str, *, with_text: bool) -> Iterator[str]:
    yield first_line(exported_at=at)
    for memory, data in files:
        yield memory_line(memory, data, with_text=with_text)
    yield last_line(files.count)


def _write_note(folder: Path, memory: Memory, taken: set[str]) -> int:
    # A store made elsewhere may hold names that this system has not, or takes for one.
    stem = _illegal_re.sub("_", memory.path.removesuffix(".html"))
    ordinal, name = 1, stem
    while path_key(name) in taken:
        ordinal += 1
        name = with_ordinal(stem, ordinal)
    taken.add(path_key(name))
    place = folder.joinpath(*f"{name}.md".split("/"))
    place.parent.mkdir(parents=True, exist_ok=True)
    data = note_file(memory).encode()
    place.write_bytes(data)
    return len(data)


def _require_free(target: Path, *, is_folder: bool, force: bool) -> None:
    if is_folder and target.is_dir():
        is_taken = any(target.iterdir())
    else:
        is_taken = target.exists() or target.is_symlink()
    is_other_kind = target.exists() and target.is_dir() is not is_folder
    if is_other_kind or (is_taken and not force):
        raise InvalidFlag(
            f"--out: something stands at {str(target)!r} already",
            suggestions=() if is_other_kind else ("--force writes over it",),
        )


@contextmanager
def _replacing(target: Path) -> Iterator[TextIO]:
    """Open a new file that takes the place of *target* once all of it is written."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        # Memories may be private, so nobody else may read the file while it is ours to decide.
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(  # noqa: PTH123 - it is opened already
            descriptor, "w", encoding="utf-8", newline="\n"
        ) as file:
            yield file
        partial.replace(target)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise
