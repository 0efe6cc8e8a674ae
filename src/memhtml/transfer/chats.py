"""What a person asked to be remembered, in words, in a chat.

A chat is no memory, and most of what is said in one is about the moment. Taken is only the
sentence that asks, and only where it begins with the asking: "Remember that …" and its like, in a
few languages. A question whether something is remembered asks for nothing.
"""

from __future__ import annotations

import re

from memhtml.model.whitespace import collapse

__all__ = ["MAX_ASKED_CHARS", "asked_to_remember"]

MAX_ASKED_CHARS = 2000
"""A longer paragraph is a paste, not a wish."""

_asking_re = re.compile(
    r"""
    (?: (?:hey|ok|okay|also|and|so|bitte|por\ favor|s'il\ (?:te|vous)\ pla[iî]t)\b[,!]?\s+ )*
    (?: (?:please|pls|kindly)\s+ | (?:can|could|would|will)\s+you\s+(?:please\s+)? )?
    (?:
        (?:always\s+)?remember(?:\s+this)?\s*:
      | (?:always\s+)?remember\s+(?:that|this[,.:]|i\b|i'm\b|my\b|we\b|our\b|to\b)
      | (?:keep|bear)\s+in\s+mind\s*(?:that\b|:)
      | (?:don't|do\s+not|never)\s+forget\s*(?:that\b|:|my\b|i\b|to\b)
      | (?:save|add|store|commit|put)\s+(?:this|that|it|the\s+following)\s+(?:to|in|into)\s+
        (?:your\s+|the\s+)?memory\b
      | make\s+a\s+(?:mental\s+)?note\s*(?:that\b|:)
      | (?:merke?|merken\s+sie)\s+(?:dir|sich)\b
      | recuerda\s+(?:que\b|:)
      | (?:souviens-toi|retiens|souvenez-vous)\s+(?:que\b|qu')
      | ricorda(?:ti)?\s+che\b
      | lembre-se\s+(?:de\s+)?que\b
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_polite_re = re.compile(r"\s*(?:can|could|would|will)\s+you\b|.*\b(?:please|pls)\b", re.IGNORECASE)


def asked_to_remember(text: str) -> list[str]:
    r"""Return what *text* asks to be remembered, each wish with the words that ask.

    >>> asked_to_remember("Fix the loop.\n\nPlease remember that I deploy on Fridays. Thanks!")
    ['Please remember that I deploy on Fridays. Thanks!']
    >>> asked_to_remember("Do you remember that film? Remember that film?")
    []
    """
    found = []
    for paragraph in re.split(r"\n\s*\n", text):
        if len(paragraph) > MAX_ASKED_CHARS:
            continue
        sentences = re.split(r"(?<=[.!?])\s+", collapse(paragraph))
        for number, sentence in enumerate(sentences):
            if not _asking_re.match(sentence.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")):
                continue
            if sentence.endswith("?") and not _polite_re.match(sentence):
                continue
            # What follows in the paragraph says what is meant.
            found.append(" ".join(sentences[number:]))
            break
    return found
