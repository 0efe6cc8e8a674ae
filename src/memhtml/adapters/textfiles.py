"""Text files under ``/memories``, as the file commands of Anthropic's memory tool see them.

A file is a text on a shelf; a folder is there as long as something is below it. What the commands
answer is worded as the tool's documentation words it, for models are trained on these sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from memhtml.adapters.shelf import Key, Note, Shelf
from memhtml.model.errors import MemhtmlError, WriteConflict
from memhtml.search.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memhtml.adapters.shelf import Entry
    from memhtml.corpus import Corpus

__all__ = ["ROOT", "Refused", "TextFiles", "answer_of"]

ROOT = "memories"
"""The one folder at the top."""

_MAX_LINES = 999_999
_SHOWN_DEPTH = 2
_CONTEXT = 2
"""Lines shown on either side of an edit."""

_JOINERS = {0x200C: None, 0x200D: None}
"""Words of Persian and Hindi, and many an emoji, are not written without them."""

Parts = tuple[str, ...]


class Refused(Exception):
    """A command that is not carried out; the text is the tool's answer."""


class TextFiles:
    """The files that are kept below *folder* of a corpus."""

    def __init__(self, corpus: Corpus, folder: str) -> None:
        self._shelf = Shelf(corpus, folder)

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """Return the lines of a file, numbered, or what stands in a folder."""
        parts = _parts(path)
        entry = self._find(parts)
        if entry is not None:
            return _shown(path, entry.text, view_range)
        below = list(self._below(parts))
        if not below and parts != (ROOT,):
            raise Refused(f"The path {path} does not exist. Please provide a valid path.")
        return _listed(path, len(parts), below)

    def create(self, path: str, text: str) -> str:
        """Make a file where nothing stands."""
        parts = self._place(_parts(path), f"Error: File {path} already exists")
        self._shelf.change([_note(parts, text)], expect={_key(parts): ""})
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old: str, new: str) -> str:
        """Put *new* where *old* stands, if it stands there once."""
        entry = self._file(
            path, f"Error: The path {path} does not exist. Please provide a valid path."
        )
        found = _occurrences(entry.text, old)
        if not found:
            raise Refused(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if len(found) > 1:
            places = ", ".join(str(entry.text.count("\n", 0, at) + 1) for at in found)
            raise Refused(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{places}. Please ensure it is unique"
            )
        text = f"{entry.text[: found[0]]}{new}{entry.text[found[0] + len(old) :]}"
        self._rewrite(entry, text)
        first = text.count("\n", 0, found[0])
        last = first + new.count("\n")
        lines = text.split("\n")
        begin = max(0, first - _CONTEXT)
        snippet = _numbered(lines[begin : last + 1 + _CONTEXT], begin + 1)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            f"numbers):\n{snippet}"
        )

    def insert(self, path: str, line: int, text: str) -> str:
        """Put *text* as lines of their own behind line *line*; 0 is the beginning."""
        entry = self._file(path, f"Error: The path {path} does not exist")
        lines = _lines(entry.text)
        if not 0 <= line <= len(lines):
            raise Refused(
                f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of "
                f"lines of the file: [0, {len(lines)}]"
            )
        before, after = "".join(lines[:line]), "".join(lines[line:])
        if before and not before.endswith("\n"):
            before += "\n"
        elif after and not text.endswith("\n"):
            text += "\n"
        self._rewrite(entry, f"{before}{text}{after}")
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Put a file, or all below a folder, into the archive."""
        parts = _parts(path)
        if parts == (ROOT,):
            raise Refused(f"Error: The folder {path} itself cannot be deleted")
        gone = self._tree(parts, f"Error: The path {path} does not exist")
        self._shelf.change(drop=gone, reason=f"deleted {path}")
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Move a file, or a folder with all below it, to where nothing stands."""
        old, new = _parts(old_path), _parts(new_path)
        if old == (ROOT,):
            raise Refused(f"Error: The folder {old_path} itself cannot be renamed")
        moving = self._tree(old, f"Error: The path {old_path} does not exist")
        self._place(new, f"Error: The destination {new_path} already exists")
        if new[: len(old)] == old:
            raise Refused(f"Error: The folder {old_path} cannot be moved into itself")
        notes = [_note((*new, *_of(entry)[len(old) :]), entry.text) for entry in moving]
        moved = {note.key: entry for note, entry in zip(notes, moving, strict=True)}
        self._shelf.change(notes, moved=moved)
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        """Put every file into the archive."""
        self._shelf.change(drop=list(self._below((ROOT,))), reason="all memory cleared")
        return "All memory cleared"

    def _find(self, parts: Parts) -> Entry | None:
        return self._shelf.find(_key(parts)) if len(parts) > 1 else None

    def _file(self, path: str, missing: str) -> Entry:
        entry = self._find(_parts(path))
        if entry is None:
            raise Refused(missing)
        return entry

    def _tree(self, parts: Parts, missing: str) -> list[Entry]:
        """Return the file *parts*, or all files below the folder of that name."""
        entry = self._find(parts)
        found = [entry] if entry is not None else list(self._below(parts))
        if not found:
            raise Refused(missing)
        return found

    def _below(self, parts: Parts) -> Iterator[Entry]:
        # Each file bears the folders above it as tags, so the index finds what is below one.
        tags = (_tag(parts),) if len(parts) > 1 else ()
        for entry in self._shelf.entries(Scope(all_tags=tags)):
            if _of(entry)[: len(parts)] == parts and _of(entry) != parts:
                yield entry

    def _place(self, parts: Parts, taken: str) -> Parts:
        """Return *parts* when a file or folder may be made there."""
        if len(parts) == 1 or self._find(parts) is not None or any(self._below(parts)):
            raise Refused(taken)
        for depth in range(2, len(parts)):
            if self._find(parts[:depth]) is not None:
                above = _path_of(parts[:depth])
                raise Refused(f"Error: {above} is a file, so nothing can be made below it")
        return parts

    def _rewrite(self, entry: Entry, text: str) -> None:
        self._shelf.change([_note(_of(entry), text)], expect={entry.key: entry.sha})


def answer_of(error: MemhtmlError) -> str:
    """Return what the tool answers to what the store refuses."""
    if isinstance(error, WriteConflict):
        return "Error: The file was changed at the same time. View it, and try again"
    return f"Error: {error.message}"


def _parts(path: str) -> Parts:
    """Return the names *path* is made of.

    Raises:
        Refused: It leads out of ``/memories`` in one spelling or another, or no file can bear it.
    """
    plain = unquote(path)
    parts = tuple(part for part in path.split("/") if part)
    stays = path.startswith("/") and parts[:1] == (ROOT,)
    if not stays or "\\" in plain or {".", ".."} & set(plain.split("/")):
        raise Refused(f"Error: The path {path} is not inside /{ROOT}")
    if not path.translate(_JOINERS).isprintable():
        raise Refused(f"Error: The path {path!r} holds a character that no file name can hold")
    return parts


def _key(parts: Parts) -> Key:
    return Key(parts[:-1], parts[-1])


def _of(entry: Entry) -> Parts:
    return (*entry.key.folder, entry.key.name)


def _note(parts: Parts, text: str) -> Note:
    folders = tuple(_tag(parts[:depth]) for depth in range(2, len(parts)))
    return Note(_key(parts), text, title=_path_of(parts), tags=folders)


def _tag(folder: Parts) -> str:
    # A tag has no blank at its ends, as a folder's name may have; the slash keeps it.
    return f"{_path_of(folder)}/"


def _path_of(parts: Parts) -> str:
    return "/" + "/".join(parts)


def _occurrences(text: str, part: str) -> list[int]:
    found: list[int] = []
    at = text.find(part) if part else -1
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def _lines(text: str) -> list[str]:
    """Return the lines of *text* with their ends; only LF ends one."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


def _shown(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > _MAX_LINES:
        raise Refused(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = view_range if view_range and len(view_range) == 2 else (1, -1)
    if last == -1:
        last = len(lines)
    if not 1 <= first <= last <= len(lines):
        raise Refused(
            f"Error: Invalid `view_range` parameter: {list(view_range or ())}. It should be within "
            f"the range of lines of the file: [1, {len(lines)}]"
        )
    shown = _numbered(lines[first - 1 : last], first)
    return f"Here's the content of {path} with line numbers:\n{shown}"


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, first))


def _listed(path: str, depth: int, entries: Sequence[Entry]) -> str:
    """Return what stands up to two levels below the folder *path*, with sizes."""
    top = path.rstrip("/")
    sizes: dict[str, int] = {}
    total = 0
    for entry in entries:
        size = len(entry.text.encode("utf-8", "surrogatepass"))
        total += size
        names = _of(entry)[depth:]
        for level in range(1, min(len(names), _SHOWN_DEPTH) + 1):
            shown = names[:level]
            if any(name.startswith(".") or name == "node_modules" for name in shown):
                break
            line = "/".join((top, *shown)) + ("/" if level < len(names) else "")
            sizes[line] = sizes.get(line, 0) + size
    rows = [f"{_size(total)}\t{path}", *(f"{_size(sizes[line])}\t{line}" for line in sorted(sizes))]
    return (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items "
        "and node_modules:\n" + "\n".join(rows)
    )


def _size(count: int) -> str:
    """Return a number of bytes as people read it.

    >>> _size(0), _size(1536), _size(3 * 1024**2)
    ('0B', '1.5K', '3.0M')
    """
    if count < 1024:
        return f"{count}B"
    return f"{count / 1024:.1f}K" if count < 1024**2 else f"{count / 1024**2:.1f}M"
