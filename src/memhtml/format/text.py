"""The canonical text of an article, the content hash over it, and the gist of a claim.

The canonical text depends on an article's words and not on its layout: each edge of a block is
one collapsible space, inline elements have no edges, runs of HTML whitespace are one space, and
only a ``pre`` keeps its whitespace (seed §3). The hash covers nothing else of a file, so no edit
of a head can move it.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from hashlib import sha256
from typing import TYPE_CHECKING

from memhtml.format.elements import INLINE
from memhtml.format.tree import EDGE, read_fragment, read_tree
from memhtml.model.whitespace import HTML_WHITESPACE, wide_trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memhtml.format.tree import Step

__all__ = [
    "EDGELESS",
    "canonical_text",
    "content_hash",
    "gist",
    "hash_text",
    "join_runs",
    "plain_text",
]

EDGELESS: frozenset[str] = frozenset(
    prefix + name for name in INLINE for prefix in ("", "svg ", "math ")
)
"""Names of a `Step` without edges. An inline name is one in every namespace, so that the hash of
a pasted drawing is the one the TypeScript tool gives it."""

_article_tag_re = re.compile(rb"<article[\t\n\f\r />]", re.IGNORECASE)
_surrogate_re = re.compile("[\ud800-\udfff]")
_html_run_re = re.compile(f"[{HTML_WHITESPACE}]+")


def canonical_text(html: str | bytes) -> str:
    r"""Return the text that the content hash of *html* covers.

    *html* is a whole file or the markup inside an article; both give the same text. Of a file
    without an article it is all the text.

    >>> canonical_text("<p>The  bread</p>\n<pre>\n  rises\n</pre>")
    'The bread   rises\n'
    """
    pieces: list[str] = []
    verbatim: list[int] = []
    depth = 0  # of open elements since the outermost pre
    stack: list[str] = []
    for step in _article_steps(html):
        if step is None:
            tag = stack.pop()
            if tag not in EDGELESS:
                pieces.append(EDGE)
            depth -= depth > 0
        elif isinstance(step, str):
            if depth:
                verbatim.append(len(pieces))
            pieces.append(step)
        else:
            tag = step[0]
            stack.append(tag)
            if tag not in EDGELESS:
                pieces.append(EDGE)
            depth += depth > 0 or tag == "pre"
    return join_runs(pieces, verbatim)[0]


def content_hash(html: str | bytes) -> str:
    """Return ``sha256:`` and the digest of the canonical text of *html*.

    >>> content_hash("<p>The bread rises twice.</p>")
    'sha256:c09c2de82b9cb936794a3d40ffc9e316d0230069e02e1977f3d75fa3f0a8e918'
    """
    return hash_text(canonical_text(html))


def gist(html: str | bytes) -> str:
    """Return the claim of *html* as one line: its first ``mark``, less any ``pre`` and ``code``.

    "" when there is no claim, or nothing of it is left. *html* is as for `canonical_text`.

    >>> gist("<p><mark>Run <code>drain</code> first</mark>, then wait.</p>")
    'Run first'
    """
    pieces: list[str] = []
    depth = 0  # of open elements since the mark; 0 is outside
    skipped = 0  # of those, since the outermost pre or code
    stack: list[str] = []
    for step in _article_steps(html):
        if step is None:
            tag = stack.pop()
            if depth and not skipped and tag not in EDGELESS:
                pieces.append(EDGE)
            skipped -= skipped > 0
            depth -= depth > 0
            if not depth and tag == "mark":
                break
        elif isinstance(step, str):
            if depth and not skipped:
                pieces.append(step)
        else:
            tag = step[0]
            stack.append(tag)
            depth += depth > 0 or tag == "mark"
            skipped += depth > 0 and (skipped > 0 or tag in {"pre", "code"})
            if depth and not skipped and tag not in EDGELESS:
                pieces.append(EDGE)
    return plain_text("".join(pieces))


def hash_text(text: str) -> str:
    """Return the content hash of a canonical text that is already at hand."""
    return "sha256:" + sha256(text.encode()).hexdigest()


def join_runs(pieces: Sequence[str], verbatim: Sequence[int]) -> tuple[str, str]:
    """Return the canonical text made of *pieces*, and the same as one line.

    *verbatim* are the indexes of the pieces that are kept as they are. Whitespace never collapses
    across one, and the ends are trimmed of what collapses only: a ``pre`` that begins with two
    spaces differs from one that does not.
    """
    if not verbatim:
        text = _collapse("".join(pieces))
        return text, wide_trim(text)
    runs: list[str] = []
    line: list[str] = []
    start = 0
    for index in (*verbatim, len(pieces)):
        if start < index:
            runs.append(_squeeze("".join(pieces[start:index])))
            line.append(runs[-1])
        if index < len(pieces):
            runs.append(pieces[index])
            line.append(_squeeze(pieces[index]))
        start = index + 1
    if verbatim[0] > 0:
        runs[0] = runs[0].removeprefix(" ")
    if verbatim[-1] < len(pieces) - 1:
        runs[-1] = runs[-1].removesuffix(" ")
    return "".join(runs), wide_trim("".join(_without_double_spaces(line)))


def _without_double_spaces(runs: Iterable[str]) -> Iterator[str]:
    """Yield *runs*, each of which is squeezed, so that they are when joined."""
    is_spaced = False
    for run in runs:
        if run:
            yield run.removeprefix(" ") if is_spaced else run
            is_spaced = run.endswith(" ")


def plain_text(text: str) -> str:
    """Return *text* as one line: each run of HTML whitespace a space, the ends wide-trimmed.

    The same as `model.whitespace.collapse`, and much faster.
    """
    text = text.strip("\n ")
    # The space is the only whitespace that is printable.
    if text.isprintable() and "  " not in text:
        return text
    return wide_trim(_collapse(text))


def _squeeze(text: str) -> str:
    """Return *text* with each run of HTML whitespace made one space, at the ends too."""
    collapsed = _collapse(text)
    if not collapsed:
        return " " if text else ""
    before = " " if text[0] in HTML_WHITESPACE else ""
    after = " " if text[-1] in HTML_WHITESPACE else ""
    return f"{before}{collapsed}{after}"


def _collapse(text: str) -> str:
    """Return *text* with each run of HTML whitespace made one space, and none at the ends.

    Most text has its whitespace at the ends of lines, or else of pieces, which `EDGE` makes lines
    too. So lines are tried first, then lines without their indent, and words last: a file has ten
    times as many of those.
    """
    collapsed = " ".join(filter(None, text.split("\n")))
    if _has_runs(collapsed):
        lines = [line.strip(HTML_WHITESPACE) for line in text.split("\n")]
        collapsed = " ".join(filter(None, lines))
        if _has_runs(collapsed):
            if "\v" in text:
                return _html_run_re.sub(" ", text).strip(" ")
            # Bytes split at HTML whitespace and at the vertical tab.
            return b" ".join(text.encode().split()).decode()
    return collapsed.strip(" ")


def _has_runs(text: str) -> bool:
    """Whether *text*, which has no line ends, has whitespace other than single spaces."""
    return "  " in text or "\t" in text or "\r" in text or "\f" in text


def _article_steps(html: str | bytes) -> Iterator[Step]:
    """Yield what stands inside the first article of *html*, or all of it when there is none."""
    if isinstance(html, bytes):
        data, text = html, ""
    else:
        # No file can hold a lone surrogate; it is read as what any decoder makes of it.
        text = _surrogate_re.sub("\ufffd", html)
        data = text.encode()
    if _article_tag_re.search(data):
        steps = read_tree(data).steps()
        for step in steps:
            if isinstance(step, tuple) and step[0] == "article":
                yield from _until_closed(steps)
                return
    yield from read_fragment(text or data.removeprefix(BOM_UTF8).decode("utf-8", "replace"))


def _until_closed(steps: Iterator[Step]) -> Iterator[Step]:
    depth = 1
    for step in steps:
        if step is None:
            depth -= 1
            if not depth:
                return
        elif isinstance(step, tuple):
            depth += 1
        yield step
