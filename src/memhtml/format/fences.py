"""Backtick fences: a paragraph of prose that is code (seed §7).

A fence is a whole paragraph or nothing: its first line opens it, the first line that closes it
must be its last, and what stands between is code, verbatim. An author's label is a fact about the
code and reaches ``data-lang`` as it was written.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memhtml.model.whitespace import wide_split, wide_trim

__all__ = [
    "LANG_TOKEN",
    "FenceBlock",
    "closes_fence",
    "fence_block",
    "fence_opening",
    "is_lang_token",
    "split_lines",
]

LANG_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+#.-]*")
"""What a language may be called; to be matched against a whole value."""

_opening_re = re.compile(r"(`{3,})([^`]*)", re.DOTALL)
_line_end_re = re.compile(r"\r\n?|\n")


class FenceBlock(NamedTuple):
    """A fence, taken apart."""

    lang: str | None
    """The author's label, unchanged; None leaves the language to the detector."""
    code: str
    """The lines between the fence lines, joined by LF."""


def is_lang_token(value: str) -> bool:
    """Whether *value* can be a ``data-lang``.

    >>> is_lang_token("C++"), is_lang_token("py,linenos")
    (True, False)
    """
    return LANG_TOKEN.fullmatch(value) is not None


def fence_opening(line: str) -> str | None:
    """Return the run of backticks with which *line* opens a fence; None when it opens none.

    >>> fence_opening("  ````md title"), fence_opening("``x``")
    ('````', None)
    """
    match = _opening_re.fullmatch(wide_trim(line))
    return match[1] if match else None


def closes_fence(line: str, opening: str) -> bool:
    """Whether *line* closes the fence that *opening*, a run of backticks, began.

    >>> closes_fence(" ````", "```"), closes_fence("```py", "```")
    (True, False)
    """
    run = wide_trim(line)
    return len(run) >= len(opening) and not run.strip("`")


def fence_block(paragraph: str) -> FenceBlock | None:
    r"""Return *paragraph* as a fence; None when it is not a whole one.

    >>> fence_block("```TS strict\nlet x\n```\n")
    FenceBlock(lang='TS', code='let x')
    >>> fence_block("```\na\n```\nprose\n```\nb\n```")
    """
    first, *rest = split_lines(wide_trim(paragraph))
    match = _opening_re.fullmatch(wide_trim(first))
    if match is None:
        return None
    opening, info = match.groups()
    closer = next((n for n, line in enumerate(rest) if closes_fence(line, opening)), None)
    if closer is None or closer != len(rest) - 1:
        return None
    return FenceBlock(_label(info), "\n".join(rest[:closer]))


def split_lines(text: str) -> list[str]:
    r"""Return the lines of *text*; they end at LF, CRLF or CR and nothing else.

    >>> split_lines("a\r\nb\x0bc\rd")
    ['a', 'b\x0bc', 'd']
    """
    return _line_end_re.split(text)


def _label(info: str) -> str | None:
    token = next(iter(wide_split(info)), "")
    return token if is_lang_token(token) else None
