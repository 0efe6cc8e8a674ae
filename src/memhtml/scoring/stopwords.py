"""English words that carry no topic, dropped from questions by every content arm.

The words of a question are joined by OR, so without this list "what is the …" matches every memory.
They stand here as tokens do: lower case, with what an apostrophe leaves behind (``don``, ``ll``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["STOP_WORDS", "content_words"]

STOP_WORDS = frozenset(
    """
    a an the this that these those such
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose which what when where why how
    am is are was were be been being do does did doing done has have had having
    can could shall should will would may might must ought
    and or but nor if then else than because so as until while though although
    of at by for with about against between into through during before after to from in out on off
    over under up down upon within without toward towards
    here there again once also too very just only even ever still yet
    no not any all both each few more most other some own same
    s t d ll m re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn shouldn couldn
    ain mustn needn
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
