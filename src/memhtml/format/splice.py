"""A head as places in bytes: where its elements stand, and how one is put in or taken out.

A head is written one element a line, and a splice keeps it so: a new element becomes a line of
its own, with the line end of its neighbour, and a removed one takes its line along. That holds
only where the element has the line to itself, but for a comment after it. Where a line is shared,
a splice works at the edges of an element, so a file on a single line is edited as safely as any.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.escape import link_tag, meta_tag
from memhtml.format.metas import META_PREFIX
from memhtml.format.tree import read_tree
from memhtml.model.diagnostics import Diagnostic, Severity
from memhtml.model.errors import InvalidMemory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.format.tree import Element
    from memhtml.model.diagnostics import Span

__all__ = ["HeadSplicer", "Tag"]

_VOID = frozenset({"base", "basefont", "bgsound", "link", "meta"})
_BLANKS = frozenset(b" \t\f")
_LINE_ENDS = frozenset(b"\r\n")

_blanks_re = re.compile(rb"[ \t\f]*")
_line_end_re = re.compile(rb"\r\n?|\n")
_whitespace_re = re.compile(rb"[ \t\f\r\n]*")
# A comment that ends at once, `<!-->`, is left to the parser; `--!>` ends one as `-->` does.
_comment_re = re.compile(rb"<!--(?!-?>)")
_comment_end_re = re.compile(rb"--!?>")


class Tag:
    """A meta or link of ours, by what it states and where it stands."""

    __slots__ = ("end", "key", "start", "value")

    def __init__(self, key: str, value: str | None, start: int, end: int) -> None:
        self.key = key
        """The ``name`` of a meta, the ``rel`` of a link."""
        self.value = value
        """The decoded ``content`` or ``href``; None when the attribute is missing."""
        self.start = start
        self.end = end


class HeadSplicer:
    """A file and the places in its head, which move along with every splice."""

    __slots__ = ("_start", "_tail", "data", "ends_with_file", "links", "metas")

    def __init__(self, data: bytes) -> None:
        tree = read_tree(data)
        head = tree.head
        elements = head.children if head is not None else ()
        self.data = data
        """The file after the splices so far."""
        self.metas = _tags(elements, "meta", "name", "content")
        """The metas of the head whose name has our prefix, known or not, in document order."""
        self.links = _tags(elements, "link", "rel", "href")
        """The links whose ``rel`` has our prefix, in the same way."""
        self.ends_with_file = False
        """Nothing ends the head but the end of the file. A splice may then move where it ends, so
        the file must be read again before the next one."""
        self._start = tree.start
        self._tail: int | None = None
        if (close := tree.head_end_tag) is not None:
            self._tail = close.start
        elif head is not None and (location := head.location) is not None:
            self._find_implied_tail(location.start_tag.end, elements)

    def restate(self, meta: Tag, value: str) -> None:
        """Write *meta* anew, with *value*."""
        new = meta_tag(meta.key, value).encode()
        self._splice([_Cut(meta.start, meta.end, new)])
        meta.end = meta.start + len(new)
        meta.value = value

    def remove(self, tags: Iterable[Tag]) -> None:
        """Take *tags* out, each with its line where it has that to itself."""
        gone = set(tags)
        if gone:
            self.metas = [tag for tag in self.metas if tag not in gone]
            self.links = [tag for tag in self.links if tag not in gone]
            self._splice([self._cut_out(tag) for tag in sorted(gone, key=_start)])

    def insert_meta(
        self, name: str, value: str, *, before: Tag | None = None, after: Tag | None = None
    ) -> None:
        """Write a new meta *before* or *after* one, or at the end of the head.

        Raises:
            InvalidMemory: it should go to the end of the head, and the file spells out no head.
        """
        text = meta_tag(name, value).encode()
        start = self._insert(text, before, after)
        insort(self.metas, Tag(name, value, start, start + len(text)), key=_start)

    def insert_link(self, rel: str, href: str, *, after: Tag | None = None) -> None:
        """Write a new link *after* a meta or link, or at the end of the head.

        Raises:
            InvalidMemory: it should go to the end of the head, and the file spells out no head.
        """
        text = link_tag(rel, href).encode()
        start = self._insert(text, None, after)
        insort(self.links, Tag(rel, href, start, start + len(text)), key=_start)

    def _insert(self, new: bytes, before: Tag | None, after: Tag | None) -> int:
        """Put *new* in and return where it starts."""
        if before is not None:
            cut = self._cut_before(before.start, new)
        elif after is not None:
            cut = self._cut_after(after.end, new)
        elif self._tail is None:
            raise InvalidMemory([_no_head(self._start)])
        elif self.ends_with_file:
            cut = self._cut_after(self._tail, new)
        else:
            cut = self._cut_before(self._tail, new)
        self._splice([cut])
        return cut.start

    def _find_implied_tail(self, at: int, elements: tuple[Element, ...]) -> None:
        """Set the tail of a head without an end tag, whose start tag ends *at*."""
        if elements and (location := elements[-1].location) is not None:
            at = location.start_tag.end
            if elements[-1].tag not in _VOID:
                if location.end_tag is None:
                    # The element swallows the rest of the file, so nothing can come after it.
                    self._tail = location.start_tag.start
                    return
                at = location.end_tag.end
        stop = _skip_comments(self.data, at)
        self.ends_with_file = stop == len(self.data)
        self._tail = at if self.ends_with_file else stop

    def _splice(self, cuts: list[_Cut]) -> None:
        """Replace every cut; *cuts* are in order and apart."""
        pieces: list[bytes] = []
        at = 0
        for cut in cuts:
            pieces += (self.data[at : cut.start], cut.new)
            at = cut.stop
        self.data = b"".join((*pieces, self.data[at:]))
        stops = [cut.stop for cut in cuts]
        shifts = list(accumulate((len(c.new) - (c.stop - c.start) for c in cuts), initial=0))
        for tag in (*self.metas, *self.links):
            shift = shifts[bisect_right(stops, tag.start)]
            tag.start += shift
            tag.end += shift
        if self._tail is not None:
            self._tail += shifts[bisect_right(stops, self._tail)]

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
        start = self._line_start(tag.start)
        rest = self._line_rest(tag.end)
        if start is None or rest is None:
            return _Cut(tag.start, tag.end, b"")
        return _Cut(start, rest.stop, b"")

    def _line_start(self, at: int) -> int | None:
        """Return where the line of *at* starts; None when more than blanks stands before *at*."""
        data, floor = self.data, self._start.start
        while at > floor and data[at - 1] in _BLANKS:
            at -= 1
        return at if at == floor or data[at - 1] in _LINE_ENDS else None

    def _line_end_before(self, start: int) -> bytes:
        if start <= self._start.start:
            return b""
        return b"\r\n" if self.data.endswith(b"\r\n", 0, start) else self.data[start - 1 : start]

    def _line_rest(self, at: int) -> _Rest | None:
        """Return how the line of *at* ends; None when more than blanks and comments follows there.

        A comment that goes on in another line counts as more. At the end of the file the line
        end is empty.
        """
        data = self.data
        end = _line_end_re.search(data, at)
        limit = end.start() if end else len(data)
        while (at := _end(_blanks_re, data, at)) < limit:
            if not _comment_re.match(data, at):
                return None
            close = _comment_end_re.search(data, at, limit)
            if close is None:
                return None
            at = close.end()
        return _Rest(end.end(), end.group()) if end else _Rest(limit, b"")


class _Cut(NamedTuple):
    """Bytes to take out, and what to put there."""

    start: int
    stop: int
    new: bytes


class _Rest(NamedTuple):
    """Where a line stops, its line end included, and what that is."""

    stop: int
    line_end: bytes


def _start(tag: Tag) -> int:
    return tag.start


def _tags(elements: tuple[Element, ...], name: str, key: str, value: str) -> list[Tag]:
    tags = []
    for element in elements:
        if element.tag != name or not element.attrs.get(key, "").startswith(META_PREFIX):
            continue
        if (location := element.location) is not None:
            span = location.start_tag
            tags.append(Tag(element.attrs[key], element.attrs.get(value), span.start, span.end))
    return tags


def _skip_comments(data: bytes, at: int) -> int:
    """Return where whitespace and comments end that start *at*; the end if one is not closed."""
    while (at := _end(_whitespace_re, data, at)) < len(data) and _comment_re.match(data, at):
        close = _comment_end_re.search(data, at)
        at = close.end() if close else len(data)
    return at


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    return match.end() if match else at


def _first_line_end(data: bytes, at: int) -> bytes:
    match = _line_end_re.search(data, at)
    return match.group() if match else b"\n"


def _no_head(start: Span) -> Diagnostic:
    return Diagnostic(
        "head-missing",
        Severity.VIOLATION,
        "the file has no <head> to put anything in; write <head> and </head> around its title",
        start,
    )
