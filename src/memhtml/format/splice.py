"""A head as places in bytes: where its elements stand, and how one is put in or taken out.

A head is written one element a line, and a splice keeps it so: a new element becomes a line of
its own, with the line end of its neighbour, and a removed one takes its line along. That holds
only where the element has the line to itself, but for a comment after it. Where a line is shared,
a splice works at the edges of an element, so a file on a single line is edited as safely as any.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from codecs import BOM_UTF8
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.checks.codes import diagnostic
from memhtml.format.escape import link_tag, meta_tag
from memhtml.format.metas import META_PREFIX
from memhtml.format.tree import read_tree
from memhtml.model.errors import InvalidMemory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.format.extract import Node
    from memhtml.format.tree import Tree

__all__ = ["HeadSplicer", "Tag"]

_VOID = frozenset({"base", "basefont", "bgsound", "link", "meta"})
_BLANKS = frozenset(b" \t\f")
_LINE_ENDS = frozenset(b"\r\n")

_blanks_re = re.compile(rb"[ \t\f]*")
_line_end_re = re.compile(rb"\r\n?|\n")
_whitespace_re = re.compile(rb"[ \t\f\r\n]*")
# `<!-->` is a whole comment, and is not worth a rule here; `--!>` ends one as `-->` does.
_comment_start_re = re.compile(rb"<!--(?!-?>)")
_comment_end_re = re.compile(rb"--!?>")


class Tag:
    """A meta or link of ours, by what it states."""

    __slots__ = ("_end", "_moves", "_node", "_start", "_tree", "key", "value")

    def __init__(
        self, key: str, value: str | None, tree: Tree | None = None, node: Node = None
    ) -> None:
        self.key = key
        """The ``name`` of a meta, the ``rel`` of a link."""
        self.value = value
        """The decoded ``content`` or ``href``; None when the attribute is missing."""
        self._tree = tree
        self._node = node
        self._start = self._end = -1
        self._moves = 0

    def put(self, start: int, end: int, moves: int) -> None:
        """Say where the tag stands now, after *moves* splices."""
        self._start, self._end, self._moves = start, end, moves
        self._tree = None

    def place(self, moves: list[_Move]) -> tuple[int, int]:
        """Return where the tag starts and ends now; *moves* are all splices so far."""
        # Most edits ask for one place of many, so each is measured when it is asked for.
        if self._tree is not None and (location := self._tree.locate(self._node)) is not None:
            self._start, self._end = location.start_tag[:2]
            self._tree = None
        for move in moves[self._moves :]:
            shift = move.shifts[bisect_right(move.stops, self._start)]
            self._start += shift
            self._end += shift
        self._moves = len(moves)
        return self._start, self._end


class HeadSplicer:
    """A file, the metas and links of its head, and ways to change those.

    Any number of changes needs one reading of the file, except that one at the end of a head is
    found in the file as it then is.
    """

    __slots__ = ("_floor", "_moves", "_tree", "data", "links", "metas")

    def __init__(self, data: bytes) -> None:
        self._read(data)

    def _read(self, data: bytes) -> None:
        self._tree = read_tree(data)
        self._floor = self._tree.start.start
        self._moves: list[_Move] = []
        self.data = data
        """The file after the changes so far."""
        self.metas: list[Tag] = []
        """The metas of the head whose name has our prefix, known or not, in document order."""
        self.links: list[Tag] = []
        """The links whose ``rel`` has our prefix, in the same way."""
        tree, head = self._tree, self._tree.head_node
        for tag, _, node in tree.elements_in(head) if head is not None else ():
            if tag == "meta" and (name := node.attr("name") or "").startswith(META_PREFIX):
                self.metas.append(Tag(name, node.attr("content"), tree, node))
            elif tag == "link" and (rel := node.attr("rel") or "").startswith(META_PREFIX):
                self.links.append(Tag(rel, node.attr("href"), tree, node))

    def restate(self, meta: Tag, value: str) -> None:
        """Write *meta* anew, with *value*."""
        new = meta_tag(meta.key, value).encode()
        start, end = meta.place(self._moves)
        self._splice([_Cut(start, end, new)])
        meta.put(start, start + len(new), len(self._moves))
        meta.value = value

    def remove(self, tags: Iterable[Tag]) -> None:
        """Take *tags* out, each with its line where it has that to itself."""
        gone = set(tags)
        if gone:
            cuts = sorted(self._cut_out(tag) for tag in gone)
            self.metas = [tag for tag in self.metas if tag not in gone]
            self.links = [tag for tag in self.links if tag not in gone]
            self._splice(self._without_new_mark(cuts))

    def insert_meta(
        self, name: str, value: str, *, before: Tag | None = None, after: Tag | None = None
    ) -> None:
        """Write a new meta *before* or *after* one, or at the end of the head.

        Raises:
            InvalidMemory: it should go to the end of the head, and the file spells out no head.
        """
        new = meta_tag(name, value).encode()
        cut = self._cut_beside(before, after, new)
        self._insert(self.metas, Tag(name, value), cut, len(new))

    def insert_link(self, rel: str, href: str, *, after: Tag | None = None) -> None:
        """Write a new link *after* a meta or link, or at the end of the head.

        Raises:
            InvalidMemory: it should go to the end of the head, and the file spells out no head.
        """
        new = link_tag(rel, href).encode()
        cut = self._cut_beside(None, after, new)
        self._insert(self.links, Tag(rel, href), cut, len(new))

    def _insert(self, tags: list[Tag], tag: Tag, cut: _Cut, size: int) -> None:
        self._splice([cut])
        tag.put(cut.start, cut.start + size, len(self._moves))
        insort(tags, tag, key=lambda tag: tag.place(self._moves)[0])

    def _splice(self, cuts: list[_Cut]) -> None:
        """Replace every cut; *cuts* are in order and apart."""
        pieces: list[bytes] = []
        at = 0
        for cut in cuts:
            pieces += (self.data[at : cut.start], cut.new)
            at = cut.stop
        self.data = b"".join((*pieces, self.data[at:]))
        growth = (len(cut.new) - (cut.stop - cut.start) for cut in cuts)
        self._moves.append(_Move([cut.stop for cut in cuts], [*accumulate(growth, initial=0)]))

    def _without_new_mark(self, cuts: list[_Cut]) -> list[_Cut]:
        """Leave a line end where U+FEFF of the text would become the file's byte order mark."""
        at = 0
        for number, cut in enumerate(cuts):
            if cut.start > at:
                break
            at = cut.stop
            if self._floor == 0 and self.data.startswith(BOM_UTF8, at):
                return [*cuts[:number], cut._replace(new=b"\n"), *cuts[number + 1 :]]
        return cuts

    def _cut_beside(self, before: Tag | None, after: Tag | None, new: bytes) -> _Cut:
        if before is not None:
            return self._cut_before(before.place(self._moves)[0], new)
        if after is not None:
            return self._cut_after(after.place(self._moves)[1], new)
        return self._cut_last(new)

    def _cut_last(self, new: bytes) -> _Cut:
        """Return where *new* goes at the end of the head."""
        if self._moves:
            # A change may have moved where a head without an end tag ends.
            self._read(self.data)
        head = self._tree.head
        if (close := self._tree.head_end_tag) is not None:
            return self._cut_before(close.start, new)
        if head is None or (location := head.location) is None:
            raise InvalidMemory([diagnostic("head-missing", self._tree.start)])
        at = location.start_tag.end
        if head.children and (location := head.children[-1].location) is not None:
            at = location.start_tag.end
            if head.children[-1].tag not in _VOID:
                if location.end_tag is None:
                    # The element swallows the rest of the file, so nothing can come after it.
                    return self._cut_before(location.start_tag.start, new)
                at = location.end_tag.end
        stop = _skip_comments(self.data, at)
        return self._cut_after(at, new) if stop == len(self.data) else self._cut_before(stop, new)

    def _cut_before(self, at: int, new: bytes) -> _Cut:
        start = self._line_start(at)
        if start is None:
            return _Cut(at, at, new)
        newline = self._line_end_before(start) or _first_line_end(self.data, at)
        return _Cut(start, start, new + newline)

    def _cut_after(self, at: int, new: bytes) -> _Cut:
        rest = self._line_rest(at)
        if rest is None or not rest.line_end:
            return _Cut(at, at, new)
        return _Cut(rest.stop, rest.stop, new + rest.line_end)

    def _cut_out(self, tag: Tag) -> _Cut:
        start, end = tag.place(self._moves)
        line_start = self._line_start(start)
        rest = self._line_rest(end)
        if line_start is None or rest is None:
            return _Cut(start, end, b"")
        return _Cut(line_start, rest.stop, b"")

    def _line_start(self, at: int) -> int | None:
        """Return where the line of *at* starts; None when more than blanks stands before *at*."""
        data, floor = self.data, self._floor
        while at > floor and data[at - 1] in _BLANKS:
            at -= 1
        return at if at == floor or data[at - 1] in _LINE_ENDS else None

    def _line_end_before(self, start: int) -> bytes:
        if start <= self._floor:
            return b""
        return b"\r\n" if self.data.endswith(b"\r\n", 0, start) else self.data[start - 1 : start]

    def _line_rest(self, at: int) -> _Rest | None:
        """Return how the line of *at* ends; None when more than blanks and comments follows there.

        A comment that goes on in another line counts as more. At the end of the file the line
        end is empty.
        """
        data = self.data
        while True:
            at = _end(_blanks_re, data, at)
            if end := _line_end_re.match(data, at):
                return _Rest(end.end(), end.group())
            if at == len(data):
                return _Rest(at, b"")
            start = _comment_start_re.match(data, at)
            close = _comment_end_re.search(data, start.end()) if start else None
            if close is None or _line_end_re.search(data, at, close.start()):
                return None
            at = close.end()


class _Cut(NamedTuple):
    """Bytes to take out, and what to put there."""

    start: int
    stop: int
    new: bytes


class _Move(NamedTuple):
    """How far places went with one splice: those from ``stops[i - 1]`` on by ``shifts[i]``."""

    stops: list[int]
    shifts: list[int]


class _Rest(NamedTuple):
    """Where a line stops, its line end included, and what that is."""

    stop: int
    line_end: bytes


def _skip_comments(data: bytes, at: int) -> int:
    """Return where whitespace and comments end that start *at*; the end if one is not closed."""
    while True:
        at = _end(_whitespace_re, data, at)
        start = _comment_start_re.match(data, at)
        if start is None:
            return at
        close = _comment_end_re.search(data, start.end())
        at = close.end() if close else len(data)


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    return match.end() if match else at


def _first_line_end(data: bytes, at: int) -> bytes:
    match = _line_end_re.search(data, at)
    return match.group() if match else b"\n"
