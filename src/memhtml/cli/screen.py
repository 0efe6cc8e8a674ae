"""Text on a terminal: colours, widths in cells, and nothing that a memory could smuggle in.

A memory's words are somebody else's bytes. `printable` stands between them and the terminal, one
character for one, so that offsets into a text stay true after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.plural import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "Screen",
    "cells",
    "clip",
    "columns",
    "flowing",
    "pad",
    "placed",
    "plural",
    "printable",
    "relative",
    "table",
    "wrap",
]

_STYLES = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    # Reverse video for a match would fight with every theme; bold yellow is read in all of them.
    "match": "1;33",
}

# C0 and C1 controls could move the cursor or retitle the window; the bidirectional ones could
# show a text in another order than it has; lone surrogates cannot be written at all.
_HARMFUL = (
    *range(0x20),
    *range(0x7F, 0xA0),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_SAFE = dict.fromkeys(_HARMFUL, "\ufffd") | dict.fromkeys(map(ord, "\t\n\r\u2028\u2029"), " ")

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


class Screen(NamedTuple):
    """Where text is laid out: how wide, whether in colour, and when."""

    columns: int
    has_colour: bool
    now: float
    """Seconds since the epoch, for relative times."""

    @property
    def width(self) -> int:
        """Cells a line of prose may take: lines much longer than 100 are hard to read."""
        return max(30, min(self.columns, 100))

    def paint(self, text: str, *styles: str) -> str:
        """Return *text* in *styles*, or as it is where colours are off."""
        if not self.has_colour or not text or not styles:
            return text
        return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"

    def mark(self, text: str, marks: Iterable[tuple[int, int]], start: int, end: int) -> str:
        """Return ``text[start:end]`` with the parts that *marks* (offsets into *text*) cover lit.

        Where colours are off the words stand as they are: a terminal without colour is often one
        that is read aloud.
        """
        pieces, at = [], start
        for left, right in marks:
            first, last = max(left, at), min(right, end)
            if first < last:
                pieces += [text[at:first], self.paint(text[first:last], "match")]
                at = last
        return "".join(pieces) + text[at:end]


def printable(text: str) -> str:
    r"""Return *text* on one line and without characters that would steer a terminal.

    The length does not change.

    >>> printable("a\x1b[31mb\nc")
    'a�[31mb c'
    """
    if text.isprintable():
        return text
    safe = text.translate(_SAFE)
    if not safe.isascii():
        safe = safe.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return safe


def cells(text: str) -> int:
    """Return how many terminal cells *text* takes; no escape sequences in it.

    >>> cells("naïve"), cells("日本")
    (5, 4)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - 10 ms, and only some text needs it

    return cell_len(text)


def clip(text: str, width: int) -> str:
    """Return *text* cut to *width* cells, the last one an ellipsis if anything was cut.

    >>> clip("a long line", 6)
    'a lon…'
    """
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[: min(len(text) - 1, width - 1)]
    return text + "…"


def pad(text: str, width: int) -> str:
    """Return *text* with spaces up to *width* cells."""
    return text + " " * (width - cells(text))


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Return where to break a one-line *text*: a start and end offset for every line.

    Lines break at spaces, between wide characters, and in the middle of a word only when it is
    wider than a line. Spaces at either end of a line belong to none.

    >>> [("one two three"[a:b]) for a, b in wrap("one two three", 8)]
    ['one two', 'three']
    """
    lines: list[tuple[int, int]] = []
    start = at = used = 0
    break_at = resume_at = 0  # where the line would end, and where the next would start
    was_wide = False
    while at < len(text):
        char = text[at]
        if char == " " and at == start:
            start = at = break_at = at + 1
            continue
        size = cells(char)
        follows_space = at > start and text[at - 1] == " "
        if char == " ":
            # The line ends before a run of spaces and the next starts after it.
            break_at, resume_at = break_at if follows_space else at, at + 1
        elif (was_wide or size == 2) and at > start and not follows_space:
            break_at, resume_at = at, at
        if used + size > width and at > start and char != " ":
            if break_at <= start:
                break_at = resume_at = at
            lines.append((start, break_at))
            start = at = resume_at
            used, break_at, was_wide = 0, start, False
            continue
        was_wide = size == 2
        used += size
        at += 1
    end = len(text.rstrip(" "))
    if end > start or not lines:
        lines.append((start, max(start, end)))
    return lines


def flowing(text: str, screen: Screen, indent: int = 0) -> list[str]:
    """Return *text*, made printable, in lines of the screen's width, each indented."""
    text = printable(text)
    return [" " * indent + text[a:b] for a, b in wrap(text, screen.width - indent)]


def columns(rows: Iterable[tuple[str, str]], *, indent: int, width: int, gap: int = 2) -> list[str]:
    """Lay out pairs as two columns, the right one wrapped."""
    rows = list(rows)
    left = min(max((cells(name) for name, _ in rows), default=0), max(12, width // 3))
    lines = []
    for name, text in rows:
        room = max(20, width - indent - left - gap)
        parts = [text[a:b] for a, b in wrap(text, room)]
        head = " " * indent + pad(name, left)
        if cells(name) > left:
            lines.append(head)
            head = " " * (indent + left)
        lines.append((head + " " * gap + parts[0]).rstrip())
        lines += [" " * (indent + left + gap) + part for part in parts[1:]]
    return lines


def placed(path: str, notes: Iterable[str], screen: Screen, indent: int = 0) -> list[str]:
    """Return a path with notes after it, on a line of their own where one would be too long.

    A path is to be copied, so it is never cut.
    """
    lead, note = " " * indent, " · ".join(notes)
    path = printable(path)
    if not note:
        return [lead + screen.paint(path, "dim")]
    if indent + cells(path) + 3 + cells(note) <= screen.columns:
        return [lead + screen.paint(f"{path} · {note}", "dim")]
    return [lead + screen.paint(path, "dim"), lead + screen.paint(note, "dim")]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], screen: Screen) -> list[str]:
    """Return *rows* below *head*: as wide as the screen at most, the first column giving way.

    A column whose head ends in a colon has numbers, which stand at its right.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    names = [name.removesuffix(":") for name in head]
    sizes = [max(map(cells, column)) for column in zip(names, *rows, strict=True)]
    room = screen.width - sum(sizes[1:]) - 2 * (len(sizes) - 1)
    sizes[0] = min(sizes[0], max(8, room))
    lines = [screen.paint(_row(names, head, sizes), "dim")]
    return [*lines, *(_row(row, head, sizes) for row in rows)]


def _row(row: Sequence[str], head: Sequence[str], sizes: Sequence[int]) -> str:
    shown = [clip(cell, size) for cell, size in zip(row, sizes, strict=True)]
    laid = [
        " " * (size - cells(cell)) + cell if name.endswith(":") else pad(cell, size)
        for cell, name, size in zip(shown, head, sizes, strict=True)
    ]
    return "  ".join(laid).rstrip()


def relative(instant: str, now: float) -> str:
    """Return how long ago a UTC *instant* or date of the format was, at *now*.

    >>> relative("1970-01-01T00:00:00Z", 7200.0), relative("1970-01-03", 0.0)
    ('2 hours ago', 'in 2 days')
    """
    from datetime import UTC, datetime  # noqa: PLC0415 - only pages for people have times in words

    try:
        then = datetime.fromisoformat(instant)
    except ValueError:
        return instant
    gap = now - then.replace(tzinfo=then.tzinfo or UTC).timestamp()
    size = abs(gap)
    if size < _MINUTE:
        return "just now"
    for limit, unit, word in (
        (_HOUR, _MINUTE, "minute"),
        (_DAY, _HOUR, "hour"),
        (30 * _DAY, _DAY, "day"),
        (365 * _DAY, 30 * _DAY, "month"),
        (float("inf"), 365 * _DAY, "year"),
    ):
        if size < limit:
            words = plural(int(size // unit), word)
            return f"{words} ago" if gap > 0 else f"in {words}"
    return instant
