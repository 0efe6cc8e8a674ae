"""Corrections that held: a person said which of two things to use, and from then on that was used.

Three things must be seen: the agent was at it with the one, the person named the other instead, and
what the agent did next has the other. What was about one place in the code, or was taken back or
turned round later, is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memhtml.traces.asked import is_taken_back
from memhtml.traces.prose import sentences
from memhtml.traces.record import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memhtml.traces.candidates import Conversation
    from memhtml.traces.record import Entry

__all__ = ["Correction", "corrections"]

MAX_WORDS = 4
MAX_NAME_CHARS = 40

_NAME = r"[^,;.!?\n]{1,60}?(?:\.[\w-]+)*"
_USE, _DROP = f"(?P<use>{_NAME})", f"(?P<drop>{_NAME})"
_OPENING = (
    r"^(?:(?:no|nope|wrong|actually|wait|stop|sorry|hmm?|oh|please|but|and|ok|okay|i said|i meant"
    r"|that's (?:wrong|not right|not it))\b[\s,.:;!-]*)*(?:you should |we should |let's )?"
)
_END = r"(?: please)?[.!]*$"
_DO = r"(?:use|try|take|pick|choose|prefer|run|go with|stick with|write|call)"
_DOING = r"(?:using |running )?"
_DONT = r"(?:don't|do not|never|stop) (?:use|using|run|running|call|calling)"
_WE = (
    r"(?:we|our \w+|the project|this (?:project|repo)|i) (?:only |always )?(?:uses?|runs?|prefers?)"
)
_NOT = r"(?:,? instead of|,? rather than|, not|,? and not)"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_OPENING}{_DO} {_USE}{_NOT} {_DOING}{_DROP}{_END}",
        rf"{_OPENING}{_DONT} {_DROP}[,;:.-]+ ?(?:but |please )?{_DO} {_USE}(?: instead)?{_END}",
        rf"{_OPENING}instead of {_DOING}{_DROP},? (?:please )?{_DO} {_USE}{_END}",
        rf"{_OPENING}{_WE} {_USE},? (?:and )?not {_DROP}{_END}",
        rf"^(?:nein[,.! ]*)?(?:bitte )?(?:nimm|verwende|nutze) {_USE},? (?:an)?statt {_DROP}{_END}",
        rf"^(?:non[,.! ]*)?(?:utilise|prends) {_USE} (?:au lieu de|à la place de) {_DROP}{_END}",
        rf"^(?:no[,.! ]*)?(?:usa|utiliza) {_USE} en (?:lugar|vez) de {_DROP}{_END}",
        r"^(?P<drop>[^、。\s]{1,30})(?:ではなく|じゃなくて?)、?(?P<use>[^、。\s]{1,30}?)を使って",
        r"^(?:不,)?(?:不要|别)用(?P<drop>[^,。\s]{1,30}),\s*(?:要|请)?用(?P<use>[^,。\s]{1,30})。?$",
    )
)
_FULL_COMMA = {0xFF0C: ",", 0x2019: "'"}
_local_re = re.compile(
    r"\b(?:here|there|line \d+|for now|just this once|this time|above|below|for (?:this|that|the)"
    r"|in (?:this|that|the)|on (?:this|that|the)|this (?:one|line|function|file|test|case|method"
    r"|class|variable|loop|block))\b",
    re.IGNORECASE,
)
_VAGUE = frozenset(
    "it that this them those these one ones something anything everything what which both the a an"
    " my your mine yours other another more less".split()
)
_article_re = re.compile(
    r"^(?:the|a|an|just|only|der|die|das|le|la|les|el|los|las) ", re.IGNORECASE
)
_back_re = re.compile(
    r"\b(?:go|switch|change|revert|move|roll)(?:ing)? (?:it )?back\b|\bundo (?:that|it)\b"
    r"|\brevert (?:that|it|to)\b",
    re.IGNORECASE,
)


class Correction(NamedTuple):
    """What a person had used instead of what, and the words that show it."""

    use: str
    drop: str
    at: str
    """When it was said, empty if unknown."""
    session_id: str
    path: str
    said: tuple[str, int]
    """The person's sentence and its line."""
    done: tuple[str, int]
    """What the agent did or said next, and its line."""

    @property
    def pair(self) -> frozenset[str]:
        """Both, whichever way round."""
        return frozenset({self.use.casefold(), self.drop.casefold()})


def corrections(conversation: Conversation) -> Iterator[Correction]:
    """Yield the corrections in *conversation* that held to its end."""
    if conversation.agent_id is not None:
        return
    entries = [one for one in conversation.entries if one.agent_id is None]
    prompts = [place for place, one in enumerate(entries) if one.role is Role.USER]
    for number, place in enumerate(prompts):
        before = entries[(prompts[number - 1] if number else 0) : place]
        rest = entries[place + 1 :]
        length = prompts[number + 1] - place - 1 if number + 1 < len(prompts) else len(rest)
        for sentence in sentences(entries[place].text):
            pair = _pair_in(sentence)
            if pair is None or not _does(before, pair[1]):
                continue
            shown = _following(rest[:length], *pair)
            if shown is None or _is_undone(rest, length, *pair):
                continue
            yield Correction(
                *pair,
                entries[place].at or "",
                conversation.session_id,
                conversation.path,
                (sentence, entries[place].line),
                shown,
            )


def _pair_in(sentence: str) -> tuple[str, str] | None:
    """Return what *sentence* says to use, and what it says that is instead of."""
    if sentence.rstrip().endswith(("?", "\uff1f")) or _local_re.search(sentence):
        return None
    plain = sentence.translate(_FULL_COMMA)
    for pattern in _PATTERNS:
        match = pattern.match(plain)
        if match is not None:
            use, drop = _name(match["use"]), _name(match["drop"])
            if use and drop and use.casefold() != drop.casefold():
                return use, drop
    return None


def _name(text: str) -> str | None:
    name = _article_re.sub("", text.strip(" \"'`*“”")).strip(" \"'`*“”")
    words = name.split()
    if not words or len(words) > MAX_WORDS or len(name) > MAX_NAME_CHARS:
        return None
    return None if words[0].casefold() in _VAGUE else name


def _named(name: str) -> re.Pattern[str]:
    edge = r"[A-Za-z0-9_-]" if name.isascii() else r"(?!)"
    return re.compile(rf"(?<!{edge}){re.escape(name)}(?!{edge})", re.IGNORECASE)


def _does(entries: Sequence[Entry], name: str) -> bool:
    """Tell whether the agent said or did something with *name*."""
    named = _named(name)
    return any(
        one.role in {Role.ASSISTANT, Role.CALL} and named.search(one.text) for one in entries
    )


def _following(entries: Sequence[Entry], use: str, drop: str) -> tuple[str, int] | None:
    """Return the words that show the agent doing as it was told, and their line."""
    used, dropped = _named(use), _named(drop)
    calls = [one for one in entries if one.role is Role.CALL]
    if any(dropped.search(one.text) and not used.search(one.text) for one in calls):
        return None
    for one in calls:
        if used.search(one.text):
            return _around(one.text, used), one.line
    for one in entries:
        if one.role is Role.ASSISTANT:
            for sentence in sentences(one.text):
                if used.search(sentence):
                    return sentence, one.line
    return None


def _around(text: str, named: re.Pattern[str]) -> str:
    """Return the line of *text* with what was looked for."""
    lines = (line.strip() for line in text.splitlines())
    return next((line[:300] for line in lines if named.search(line)), text.strip()[:300])


def _is_undone(rest: Sequence[Entry], length: int, use: str, drop: str) -> bool:
    """Tell whether what follows takes it back: in words, or by what the agent goes on to do."""
    used, dropped = _named(use), _named(drop)
    turned_re = re.compile(
        rf"{dropped.pattern} (?:instead of|rather than|, not|and not) {used.pattern}", re.IGNORECASE
    )
    for place, one in enumerate(rest):
        if one.role is Role.USER:
            for sentence in sentences(one.text):
                turned = _pair_in(sentence)
                if turned is not None and turned[0].casefold() == drop.casefold():
                    return True
                if turned_re.search(sentence):
                    return True
                is_next = place == length
                if is_next and (is_taken_back(sentence) or _back_re.search(sentence)):
                    return True
                if _back_re.search(sentence) and dropped.search(sentence):
                    return True
        elif one.role is Role.CALL and dropped.search(one.text) and not used.search(one.text):
            return True
    return False
