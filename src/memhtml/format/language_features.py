r"""A fence as the set of patterns a language model weighs.

Everything is a set of short strings, so that word order across lines, repetition and length
hardly matter and a sum over it is the same on every machine. A leading control character keeps
the kinds apart: ``\x01`` for how lines are indented, ``\x02`` for how many lines look a certain
way, ``\x03`` for size; ``^`` and ``>`` open a line (flush, indented) and ``$`` closes one.

Only ASCII classes are used, because what a regular expression or `str` method takes for a letter
elsewhere in Unicode changes from one Python to the next.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["code_lines", "features"]

_ASCII_BLANK = " \t\r\f\v"

_MAX_WORD = 20
_MAX_MARKS = 6
_MAX_TOKENS = 120
"""Tokens read of one line. Past this a line is generated or data, and says nothing new."""

_token_re = re.compile(
    r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[\x80-\U0010ffff]+|[!-/:-@\[-^`{-~]+", re.ASCII
)

_LINE_LOOKS = tuple(
    (name, re.compile(pattern, re.ASCII).match)
    for name, pattern in (
        ("key", r"[\w.$/-]+:(?:\s|$)"),
        ("assign", r'["\w.-]+\s*=\s*\S'),
        ("quoted-key", r'"[^"\n]*"\s*:'),
        ("item", r"- \S"),
        ("prompt", r"[$%>] \S"),
        ("tag", r"</?[a-zA-Z!]"),
        ("hash", r"#"),
        ("slashes", r"//|/\*|\*"),
        ("section", r"\[\[?[\w.\"' -]+\]?\]\s*(?:#.*)?$"),
        ("sentence", r"[A-Z]?[a-z']+,?(?: [A-Za-z'-]+[,;:]?){4,}[.!?:]?$"),
        ("bracket", r"[\[\]{}()]+[,;]?$"),
        ("declaration", r"[a-z-]+\s*:\s*[^;{}]+;"),
        ("call", r"[\w.]+\("),
        ("capitals", r"[A-Z]{2,}\b"),
        ("dashes", r"--"),
        ("command", r"[a-z][\w.-]*(?: +[\w./@:~$<>\"'*=+%^-]+)+ ?\\?$"),
        ("option", r"[a-z$][^\n]*? --?[a-z][\w-]*(?:[ =]|$)|-{1,2}[a-z][\w-]*[ =][^\n]*?\\?$"),
    )
)
_LINE_ENDS = frozenset(";{},:)>\\.([\"'")


def code_lines(code: str) -> list[str]:
    """Return the lines of *code* that are not blank, as they stand."""
    return [line for line in code.split("\n") if line.strip(_ASCII_BLANK)]


def features(code: str) -> set[str]:
    """Return the patterns found in *code*: some 100 to 300 for a usual fence.

    >>> sorted(features("import os") & {"^import os", "^import a", "os$", ">import"})
    ['^import a', '^import os', 'os$']
    """
    found: set[str] = set()
    add = found.add
    shares: dict[str, int] = {}
    total = tokens_seen = 0
    # A repeated line adds no pattern, only weight to a share, so each is read once.
    for line, times in Counter(code.split("\n")).items():
        text = line.strip(_ASCII_BLANK)
        if not text:
            continue
        total += times
        is_indented = line[0] in _ASCII_BLANK
        if line[0] == "\t":
            add("\x01tab")
        for name in _looks(text, indented=is_indented):
            shares[name] = shares.get(name, 0) + times
        tokens = _token_re.findall(text)[:_MAX_TOKENS]
        if tokens:
            tokens_seen += len(tokens) * times
            _add_line(add, tokens, ">" if is_indented else "^")
    if total:
        for name, count in shares.items():
            _add_share(add, name, count, total)
        add(f"\x03width{_step(tokens_seen / total, (3, 6, 10, 16))}")
        add(f"\x03lines{_step(total, (2, 4, 8, 16))}")
    return found


def _looks(text: str, *, indented: bool) -> Iterator[str]:
    if indented:
        yield "indented"
    if text[-1] in _LINE_ENDS:
        yield "ends" + text[-1]
    for name, looks_so in _LINE_LOOKS:
        if looks_so(text):
            yield name


def _add_line(add: Callable[[str], None], raw: list[str], edge: str) -> None:
    words = [_word(token) for token in raw]
    shapes = [_shape(word) for word in words]
    first, shape = words[0], shapes[0]
    count = len(words)
    add(edge + first)
    add(edge + shape)
    if count > 1:
        add(f"{edge}{first} {words[1]}")
        add(f"{edge}{first} {shapes[1]}")
        add(f"{edge}{shape} {words[1]}")
        add(f"{shapes[-2]} {shapes[-1]}$")
    if count > 2:
        add(f"{edge}{shape} {shapes[1]} {shapes[2]}")
        add(f"{edge}{first} {shapes[1]} {words[2]}")
    add(words[-1] + "$")
    add(shapes[-1] + "$")
    add(first)
    before = first
    for place in range(1, count):
        word = words[place]
        add(word)
        add(f"{before} {word}")
        add(f"{shapes[place - 1]} {word}")
        add(f"{before} {shapes[place]}")
        if place > 1:
            add(f"{shapes[place - 2]} {shapes[place - 1]} {shapes[place]}")
        before = word


def _word(token: str) -> str:
    first = token[0]
    if "0" <= first <= "9":
        return "0"
    if first > "\x7f":
        return "~u"
    if first == "_" or first.isalpha():
        return token if len(token) <= _MAX_WORD else "~W"
    return token if len(token) <= _MAX_MARKS else token[:3] + "~"


def _shape(word: str) -> str:
    first = word[0]
    if not (first == "_" or first.isalpha()):
        return word
    if word.isupper() and len(word) > 1:
        return "A"
    if first.isupper():
        return "Aa"
    if "_" in word:
        return "a_a"
    return "a" if word.islower() else "aA"


def _add_share(add: Callable[[str], None], name: str, count: int, lines: int) -> None:
    add("\x02" + name)
    if 4 * count >= lines:
        add(f"\x02{name}1")
    if 2 * count >= lines:
        add(f"\x02{name}2")
    if 5 * count >= 4 * lines:
        add(f"\x02{name}3")
    if count == lines:
        add(f"\x02{name}4")


def _step(value: float, steps: tuple[int, ...]) -> int:
    return sum(value >= step for step in steps)
