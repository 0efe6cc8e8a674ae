"""English words that only hold a sentence together, dropped from questions by every content arm.

The words of a question are joined by OR, so without this list "what is the …" matches every memory.
It is short on purpose: what says when, where, why, how much or whether ("after", "under", "since",
"most", "not", "must") tells questions apart, and dropping such words as longer lists do cost 0.011
nDCG with bm25 alone and 0.009 with the sparse arm (`bench/retrieval.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["STOP_WORDS", "content_words"]

# As tokens: lower case, and with what an apostrophe leaves behind ("s", "ll").
STOP_WORDS = frozenset(
    """
    a an the this that these those such
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose which what when where why how
    am is are was were be been being do does did doing done has have had having
    can could will would
    and or but nor if then else than as so
    of at by for with about to from in on
    s t d ll m re ve
    """.split()
)


def content_words(words: Iterable[str]) -> list[str]:
    """Return *words* (lower case) without stop words, each once, in order.

    A text of nothing but stop words keeps them all: "who are you" must still ask something.

    >>> content_words(["what", "is", "a", "plan", "plan"])
    ['plan']
    >>> content_words(["who", "am", "i"])
    ['who', 'am', 'i']
    """
    once = list(dict.fromkeys(words))
    return [word for word in once if word not in STOP_WORDS] or once
