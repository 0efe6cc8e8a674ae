"""An article's HTML as lines for a terminal.

The walk keeps one paragraph of styled words at a time. A block element ends the paragraph before
it; what stands in a list, a quotation or a fold is indented by a prefix that every line repeats.
Elements that the format does not have are read for their text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memhtml.cli.screen import cells, clip, columns, pad, printable, wrap
from memhtml.format.elements import INLINE
from memhtml.format.tree import read_fragment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.cli.screen import Screen

__all__ = ["article_lines"]

_STYLES: Mapping[str, tuple[str, ...]] = {
    "mark": ("bold", "yellow"),
    "strong": ("bold",),
    "b": ("bold",),
    "dfn": ("bold",),
    "em": ("italic",),
    "i": ("italic",),
    "cite": ("italic",),
    "var": ("italic",),
    "code": ("cyan",),
    "kbd": ("cyan",),
    "samp": ("cyan",),
    "a": ("underline",),
    "summary": ("bold",),
    "figcaption": ("italic",),
    "caption": ("italic",),
    "h1": ("bold",),
    "h2": ("bold",),
    "h3": ("bold",),
    "h4": ("bold",),
}
_INLINE = INLINE | {"b", "i", "u", "s", "small", "sub", "sup"}
"""What stays in its paragraph: the format's own elements, and what people write all the same."""

_BLOCKS = frozenset("p pre ul ol dl table aside details figure section".split())
_UNSEEN = frozenset({"script", "style", "template"})
_NARROWEST_COLUMN = 6
_spaces_re = re.compile(" +")


def article_lines(html: str, screen: Screen) -> list[str]:
    """Return *html*, the inside of an article, laid out; one blank line between blocks."""
    page = _Page(screen)
    for step in read_fragment(html):
        if step is None:
            page.end()
        elif isinstance(step, str):
            page.text(step)
        else:
            page.start(step[0], step[1].get("href", ""))
    page.flush()
    while page.lines and not page.lines[-1].strip():
        page.lines.pop()
    return page.lines


class _Open:
    """An element that has begun. *first* stands before its first line, *rest* before the others."""

    __slots__ = ("first", "href", "items", "name", "rest")

    def __init__(self, name: str, href: str, first: str, rest: str) -> None:
        self.name = name
        self.href = href
        self.first = first
        self.rest = rest
        self.items = 0


class _Page:
    """What has been laid out so far, and the paragraph that is being gathered."""

    def __init__(self, screen: Screen) -> None:
        self.lines: list[str] = []
        self._screen = screen
        self._open: list[_Open] = []
        self._runs: list[tuple[str, tuple[str, ...]]] = []
        self._terms: list[tuple[str, str]] = []
        self._term = ""
        self._rows: list[list[str]] = []

    def start(self, name: str, href: str) -> None:
        """An element begins."""
        if name not in _INLINE:
            self.flush()
        if name in _BLOCKS:
            self._blank()
        if name == "q":
            self._runs.append(("“", ()))
        elif name == "tr":
            self._rows.append([])
        self._open.append(_Open(name, href, *self._prefixes(name)))

    def text(self, text: str) -> None:
        """Text of the innermost element."""
        names = [element.name for element in self._open]
        if _UNSEEN.isdisjoint(names):
            styles = dict.fromkeys(style for name in names for style in _STYLES.get(name, ()))
            self._runs.append((text, tuple(styles)))

    def end(self) -> None:
        """The innermost element ends."""
        element = self._open[-1]
        match element.name:
            case "q":
                self._runs.append(("”", ()))
            case "a" if element.href and not self._says(element.href):
                self._runs.append((f" <{element.href}>", ("dim",)))
            case "dt":
                self._term = self._taken()
            case "dd":
                self._terms.append((self._term, self._taken()))
                self._term = ""
            case "td" | "th" if self._rows:
                self._rows[-1].append(self._taken())
            case "dl":
                self._add(columns(self._terms, indent=0, width=self._room))
                self._terms = []
            case "table":
                self._add(_table(self._rows, self._room))
                self._rows = []
            case name if name not in _INLINE:
                self.flush()
            case _:
                pass
        self._open.pop()
        if element.name in _BLOCKS:
            self._blank()

    def flush(self) -> None:
        """End the paragraph that is being gathered."""
        if any(element.name == "pre" for element in self._open):
            source = "".join(text for text, _ in self._runs).strip("\n")
            self._runs = []
            if source:
                self._add([printable(line.expandtabs(4)) for line in source.split("\n")])
            return
        text, runs = _collapsed(self._runs)
        self._runs = []
        if text:
            lines = wrap(text, self._room)
            self._add([self._painted(text, runs, start, end) for start, end in lines])

    @property
    def _room(self) -> int:
        return max(20, self._screen.width - sum(cells(element.rest) for element in self._open))

    def _prefixes(self, name: str) -> tuple[str, str]:
        if name == "li":
            parent = self._open[-1] if self._open else None
            if parent is not None and parent.name == "ol":
                parent.items += 1
                bullet = f"{parent.items}. "
                return bullet, " " * len(bullet)
            return "• ", "  "
        rest = {"aside": "│ ", "blockquote": "│ ", "details": "  ", "pre": "  "}.get(name, "")
        return rest, rest

    def _add(self, lines: list[str]) -> None:
        for line in lines:
            prefix = "".join(element.first for element in self._open)
            for element in self._open:
                element.first = element.rest
            self.lines.append((prefix + line).rstrip())

    def _blank(self) -> None:
        """Leave a blank line, but neither two nor one inside of a list."""
        is_listed = any(element.name == "li" for element in self._open)
        if self.lines and self.lines[-1] and not is_listed:
            self.lines.append("")

    def _says(self, href: str) -> bool:
        """Whether the link's own text is its address."""
        return bool(self._runs) and self._runs[-1][0].strip() == href

    def _taken(self) -> str:
        text, _ = _collapsed(self._runs)
        self._runs = []
        return text

    def _painted(
        self, text: str, runs: list[tuple[int, int, tuple[str, ...]]], start: int, end: int
    ) -> str:
        return "".join(
            self._screen.paint(text[max(left, start) : min(right, end)], *styles)
            for left, right, styles in runs
            if left < end and right > start
        )


def _collapsed(
    runs: list[tuple[str, tuple[str, ...]]],
) -> tuple[str, list[tuple[int, int, tuple[str, ...]]]]:
    """Return the text of *runs* with its whitespace collapsed, and where each run is in it."""
    text = ""
    places = []
    for piece, styles in runs:
        shown = _spaces_re.sub(" ", printable(piece))
        if not text or text.endswith(" "):
            shown = shown.removeprefix(" ")
        places.append((len(text), len(text) + len(shown), styles))
        text += shown
    return text.rstrip(" "), places


def _table(rows: list[list[str]], width: int) -> list[str]:
    """Lay out *rows* in columns; the widest columns are cut until they fit."""
    count = max(map(len, rows), default=0)
    if not count:
        return []
    full = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = [max(cells(row[place]) for row in full) for place in range(count)]
    while sum(widths) + 2 * (count - 1) > width and max(widths) > _NARROWEST_COLUMN:
        widths[widths.index(max(widths))] -= 1
    return [
        "  ".join(pad(clip(cell, size), size) for cell, size in zip(row, widths, strict=True))
        for row in full
    ]
