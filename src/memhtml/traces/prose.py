"""What a person wrote themselves in a prompt, sentence by sentence.

A prompt holds code, logs, mails and pages that were pasted. What stands in a fence, a quotation or
an indented block is somebody else's word, and a cue inside it asks for nothing.
"""

from __future__ import annotations

import re

__all__ = ["sentences"]

MAX_PROMPT_CHARS = 8000
"""A longer prompt is mostly something that was pasted, and is left alone."""

MAX_SENTENCE_CHARS = 400

_fence_re = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)", re.DOTALL)
# Whole elements, and from a tag at the head of a line that is never closed, all the rest: the
# pasted thing was cut. A tag inside a line may be a type, as in List<String>.
_markup_re = re.compile(
    r"<([A-Za-z][\w-]*)[^<>]*>.{0,4000}?</\1>|^[ \t]*<[A-Za-z][\w-]*[^<>]*>.*\Z",
    re.DOTALL | re.MULTILINE,
)
_foreign_re = re.compile(r"\s*(?:>|\||[+-]{3} |@@|\$ |#!|\d{4}-\d\d-\d\d[T ]\d\d:)|(?: {4}|\t)\S")
_bullet_re = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_end_re = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[^a-z\s])|(?<=[。\uff01\uff1f])")
_QUOTES = str.maketrans("„“”«»「」『』", '"""""""""')


def sentences(text: str) -> list[str]:
    r"""Return the sentences in *text* that are the writer's own, whitespace collapsed.

    >>> sentences("Fix it.\n> Keep this!\n```\nrun\n```\nUse `a.b`. He said \"Stop. Go.\"")
    ['Fix it.', 'Use `a.b`.', 'He said "Stop.']
    """
    if len(text) > MAX_PROMPT_CHARS:
        return []
    text = _markup_re.sub("\n", _fence_re.sub("\n", text))
    found = []
    for block in re.split(r"\n\s*\n", text):
        quotes = 0
        for line in block.split("\n"):
            if _foreign_re.match(line):
                continue
            for one in _end_re.split(_bullet_re.sub("", line, count=1)):
                flat = " ".join(one.split())
                is_quoted = quotes % 2 == 1
                quotes += flat.translate(_QUOTES).count('"')
                if flat and not is_quoted and len(flat) <= MAX_SENTENCE_CHARS:
                    found.append(flat)
    return found
