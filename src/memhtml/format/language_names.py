"""The twelve names a detector may stamp, and the arithmetic of the seed's own detector.

A detector speaks in whatever names its grammars have; only a name that normalises to one of the
twelve is ever written. The scoring here needs no highlighter: it takes the two best relevances,
whoever computed them (seed §7, format-behaviour §14).
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from memhtml.model.whitespace import wide_trim

__all__ = [
    "DETECT_MAX_CHARS",
    "SEED_THRESHOLD",
    "VOCABULARY",
    "Score",
    "detect_score",
    "is_too_long",
    "named_interpreter",
    "normalize_lang",
]

DETECT_MAX_CHARS = 4096
"""Longest fence that any detector looks at, in UTF-16 code units (seed §7)."""

VOCABULARY = (
    "typescript",
    "javascript",
    "python",
    "bash",
    "json",
    "sql",
    "yaml",
    "html",
    "toml",
    "css",
    "go",
    "rust",
)
"""The closed vocabulary, in the seed's order. The order is also that of a model's weights."""

SEED_THRESHOLD = 0.30
"""Least confidence at which the seed's detector stamps: 0.2869 measured, rounded up (seed §7)."""

_ALIASES = {
    alias: name
    for name, aliases in {
        "typescript": ("ts", "tsx"),
        "javascript": ("js", "jsx", "mjs", "cjs", "node"),
        "python": ("py", "python3"),
        "bash": ("sh", "shell", "zsh", "shellsession", "console"),
        "sql": ("pgsql", "plpgsql", "mysql", "sqlite", "tsql", "n1ql"),
        "yaml": ("yml",),
        "html": ("xml", "xhtml"),
        "toml": ("ini",),
        "go": ("golang",),
        "rust": ("rs",),
    }.items()
    for alias in aliases
} | {name: name for name in VOCABULARY}


_shebang_re = re.compile(
    r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?(?:\S*/)?([a-z]+)[\d.]*(?:\s|$)", re.ASCII
)
_INTERPRETERS = {
    "bash": "bash",
    "dash": "bash",
    "ksh": "bash",
    "node": "javascript",
    "python": "python",
    "sh": "bash",
    "zsh": "bash",
}


class Score(NamedTuple):
    """What the seed's formula says about one fence."""

    language: str | None
    """The winner as one of the twelve, or None where it is none of them."""
    confidence: float
    """In ``[0, 1)``, of the winning grammar, even where that grammar is none of the twelve."""
    stamp: str | None
    """*language*, where *confidence* is enough to write it."""


def is_too_long(code: str) -> bool:
    r"""Whether *code* has more than `DETECT_MAX_CHARS` UTF-16 code units.

    >>> is_too_long("x" * 4096), is_too_long("\U0001f989" * 2049)
    (False, True)
    """
    # Code points are never more than code units, so a very long text is not encoded to see it.
    if len(code) > DETECT_MAX_CHARS:
        return True
    return len(code) + sum(char > "\uffff" for char in code) > DETECT_MAX_CHARS


def normalize_lang(name: str) -> str | None:
    """Return the one of the twelve that a grammar *name* stands for, or None.

    >>> normalize_lang(" PgSQL"), normalize_lang("smali")
    ('sql', None)
    """
    return _ALIASES.get(wide_trim(name).lower())


def named_interpreter(code: str) -> str | None:
    r"""Return the language that the first line's ``#!`` names, or None.

    >>> named_interpreter("#!/usr/bin/env python3\n"), named_interpreter("# !/bin/sh")
    ('python', None)
    """
    match = _shebang_re.match(code.lstrip("\n"))
    return _INTERPRETERS.get(match[1]) if match else None


def detect_score(
    top: str | None,
    top_relevance: float,
    second: str | None,
    second_relevance: float,
    *,
    code: str,
) -> Score:
    """Score the winning grammar by its margin per line over its closest real competitor.

    *top* and *second* are grammar names, None where there is none. A runner-up that is the
    winner's language under another grammar name is no competitor, so it counts as 0.

    >>> detect_score("pgsql", 9, "n1ql", 8, code="x").stamp
    'sql'
    """
    if not top or top_relevance <= 0 or is_too_long(code):
        return Score(None, 0.0, None)
    language = normalize_lang(top)
    same = language is not None and second is not None and normalize_lang(second) == language
    runner_up = 0.0 if same or second is None else second_relevance
    lines = code.count("\n") + 1
    confidence = 1 - math.exp(-max(0.0, top_relevance - runner_up) / lines)
    return Score(language, confidence, language if confidence >= SEED_THRESHOLD else None)
