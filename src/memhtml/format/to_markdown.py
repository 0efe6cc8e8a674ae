r"""An article as Markdown, for programs that read notes.

The reverse of `memhtml.format.markdown` as far as Markdown goes: every element of the vocabulary
that Markdown has a word for gets it, and the text of every other stays. Facets become a list of
names with values. What stands in the text is escaped, so that no word of a memory turns into
markup.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memhtml.format.elements import INLINE
from memhtml.format.tree import read_fragment
from memhtml.model.whitespace import collapse

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["to_markdown"]

_SPANS: Mapping[str, str] = {"strong": "**", "em": "*", "dfn": "*"}
_CODE = frozenset({"code", "kbd", "samp", "var"})
_UNSEEN = frozenset({"script", "style", "template"})
_special_re = re.compile(r"([\\`*_\[\]<>&|~#])")
_line_start_re = re.compile(r"([0-9]{0,9})([-+=.)])(?=\s|\Z|[-=])")


def to_markdown(article_html: str) -> str:
    r"""Return the inside of an article as Markdown, with one line end at its end.

    >>> to_markdown('<p><mark>Ovens <em>heat</em>.</mark></p><ul><li>250 &deg;C</li></ul>')
    'Ovens *heat*.\n\n- 250 °C\n'
    """
    writer = _Writer()
    for step in read_fragment(article_html):
        if step is None:
            writer.end()
        elif isinstance(step, str):
            writer.text(step)
        else:
            writer.start(step[0], step[1])
    return writer.finish()


class _Writer:
    """Steps of an article into blocks. What a list item holds is indented once it is whole."""

    def __init__(self) -> None:
        self._blocks: list[list[str]] = [[]]
        """Blocks of the article, and of each list and each item that is open."""
        self._line: list[str] = []
        self._open: list[tuple[str, str]] = []
        """Each open element, with what its end adds to the line."""
        self._numbers: list[int | None] = []
        """The next number of each open list; None for one without numbers."""
        self._rows: list[list[str]] | None = None
        self._verbatim: list[str] | None = None
        self._lang = ""
        self._name = ""
        self._unseen = 0
        self._in_code = 0
        self._code_at = 0

    def start(self, tag: str, attrs: Mapping[str, str]) -> None:
        """Open an element."""
        closing = ""
        if self._unseen or tag in _UNSEEN:
            self._unseen += 1
        elif self._verbatim is not None:
            self._lang = self._lang or attrs.get("data-lang", "")
        elif tag in INLINE or tag in {"kbd", "samp", "var"}:
            closing = self._open_span(tag, attrs)
        else:
            self._open_block(tag, attrs)
        self._open.append((tag, closing))

    def text(self, text: str) -> None:
        """Add words."""
        if self._unseen:
            return
        if self._verbatim is not None:
            self._verbatim.append(text)
        else:
            self._line.append(text if self._in_code else _special_re.sub(r"\\\1", text))

    def end(self) -> None:
        """Close the element that was opened last."""
        tag, closing = self._open.pop()
        if self._unseen:
            self._unseen -= 1
        elif self._verbatim is not None:
            if tag == "pre":
                self._fence("".join(self._verbatim))
                self._verbatim = None
        elif closing == "`":
            self._in_code -= 1
            if not self._in_code:
                self._close_code()
        elif tag in INLINE:
            self._line.append(closing)
        else:
            self._close_block(tag)

    def finish(self) -> str:
        """Return what was written."""
        self._flush()
        return "\n\n".join(self._blocks[0]).strip("\n") + "\n"

    def _open_span(self, tag: str, attrs: Mapping[str, str]) -> str:
        """Begin a span, and return what ends it."""
        if tag in _CODE:
            if not self._in_code:
                self._code_at = len(self._line)  # how many backticks it takes is known at its end
            self._in_code += 1
            return "`"
        if self._in_code:
            return ""
        if tag in _SPANS:
            self._line.append(_SPANS[tag])
            return _SPANS[tag]
        if tag == "a" and attrs.get("href"):
            self._line.append("[")
            return f"]({_address(attrs['href'])})"
        if tag == "q":
            self._line.append("\N{LEFT DOUBLE QUOTATION MARK}")
            source = f" (<{_address(attrs['cite'])}>)" if attrs.get("cite") else ""
            return f"\N{RIGHT DOUBLE QUOTATION MARK}{source}"
        return ""

    def _open_block(self, tag: str, attrs: Mapping[str, str]) -> None:
        if self._rows is not None:
            if tag == "tr":
                self._rows.append([])
            return
        self._flush()
        if tag in {"ul", "ol", "dl"}:
            start = attrs.get("start", "")
            number = int(start) if re.fullmatch("[0-9]{1,9}", start) else 1
            self._numbers.append(number if tag == "ol" else None)
            self._blocks.append([])
        elif tag in {"li", "dd"}:
            self._blocks.append([])
        elif tag == "pre":
            self._verbatim, self._lang = [], ""
        elif tag == "table":
            self._rows = []

    def _close_block(self, tag: str) -> None:
        if self._rows is not None:
            if tag == "table":
                self._table(self._rows)
                self._rows = None
            elif tag in {"td", "th"} and self._rows:
                self._rows[-1].append(self._take())
            return
        if tag == "dt":
            self._name = self._take()
            return
        if tag == "dd":
            self._line.insert(0, f"{self._name}: ")
        self._flush()
        if tag in {"li", "dd"}:
            self._item(self._blocks.pop())
        elif tag in {"ul", "ol", "dl"}:
            self._numbers.pop()
            items = self._blocks.pop()
            if items:
                self._blocks[-1].append("\n".join(items))

    def _close_code(self) -> None:
        at = self._code_at
        raw = "".join(self._line[at:])
        code = collapse(raw)
        ticks = _ticks(code, 1)
        space = " " if code.startswith("`") or code.endswith("`") else ""
        if self._rows is not None:
            code = code.replace("|", r"\|")
        # A blank at its ends parts it from what stands beside it, and Markdown would drop it.
        before, after = raw[:1].isspace() * " ", raw[-1:].isspace() * " "
        span = f"{before}{ticks}{space}{code}{space}{ticks}{after}"
        self._line[at:] = [span] if code else [before]

    def _take(self) -> str:
        text = collapse("".join(self._line))
        self._line = []
        return text

    def _flush(self) -> None:
        if text := self._take():
            self._blocks[-1].append(
                _line_start_re.sub(r"\1\\\2", text, count=1) if _line_start_re.match(text) else text
            )

    def _item(self, blocks: list[str]) -> None:
        number = self._numbers[-1] if self._numbers else None
        marker = "- " if number is None else f"{number}. "
        if number is not None:
            self._numbers[-1] = number + 1
        text = "\n\n".join(blocks)
        first, *rest = text.split("\n")
        indent = " " * len(marker)
        lines = [marker + first, *(indent + line if line else line for line in rest)]
        self._blocks[-1].append("\n".join(lines))

    def _fence(self, code: str) -> None:
        ticks = _ticks(code, 3)
        self._blocks[-1].append(f"{ticks}{self._lang}\n{code}\n{ticks}")

    def _table(self, rows: list[list[str]]) -> None:
        self._flush()
        rows = [row for row in rows if row]
        if not rows:
            return
        width = max(map(len, rows))
        lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
        self._blocks[-1].append("\n".join([lines[0], "|" + " --- |" * width, *lines[1:]]))


def _ticks(code: str, least: int) -> str:
    """Return a run of backticks, of at least *least*, that *code* does not hold."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    return "`" * max(least, longest + 1)


def _address(href: str) -> str:
    return re.sub(r"[\s()<>\\]", lambda match: f"%{ord(match[0]):02X}", href)
