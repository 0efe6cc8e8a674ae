"""What a person asked to be remembered, in a few languages.

Precision comes first: a memory that nobody asked for is worse than one that was missed, since the
transcript is still there. So a cue counts only at the head of a sentence the person wrote (in
Japanese at its end), with something beside it that stands by itself. A question whether something
is remembered, a reminder for the task at hand and a reminiscence ask for nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memhtml.model.vocabulary import MemoryType

__all__ = ["Wish", "is_taken_back", "wish_in"]

_PLAIN = {
    0x2013: "-",
    0x2014: "-",
    0x2019: "'",
    0xFF01: "!",
    0xFF0C: ",",
    0xFF1A: ":",
    0xFF1F: "?",
}
"""Other spellings of a mark, each for one character, so that places stay what they are."""
_ENDS = " .!?。\uff01\uff1f"

MIN_WORDS = 3
MIN_UNSPACED_CHARS = 5
MAX_CLAIM_CHARS = 300


class Wish(NamedTuple):
    """Something to remember."""

    kind: str
    claim: str


class _Cue(NamedTuple):
    pattern: re.Pattern[str]
    needs: re.Pattern[str] | None = None
    """What must be somewhere in the content."""
    keeps_sentence: bool = False
    """The content alone would be no sentence, so the claim is all of it."""
    may_ask: bool = False
    """A polite request may end in a question mark."""


def _cue(
    pattern: str, needs: str | None = None, *, keeps_sentence: bool = False, may_ask: bool = False
) -> _Cue:
    flags = re.IGNORECASE
    needed = None if needs is None else re.compile(needs, flags)
    return _Cue(re.compile(pattern, flags), needed, keeps_sentence, may_ask)


_OPENING = (
    r"^(?:(?:please|pls|ok|okay|also|and|so|but|hey|thanks|thank you|great|perfect|good|yes|no|btw"
    r"|by the way|one more thing|important|fyi)\b[\s,.:;!-]*)*"
)
_ASKING = r"(?:i (?:want|need) you to |i'd like you to |you (?:should|must|need to) )?(?:please )?"
_POLITE = r"(?:can|could|would|will) you (?:please )?"
_REST = r"(?P<content>.+)$"
_LASTING = (
    r"\b(?:always|never|every|each|whenever|any ?time|from now on|in (?:the )?future|by default)\b"
)
_STANDING = (
    r"(?=(?:please |you |we |let's |i want you to |i'd like you to )?(?:always|never|don't|do not"
    r"|only|use|run|write|put|keep|add|make|ask|check|commit|prefer|avoid|name|format|call|stop|explain|answer|reply"
    r"|respond|test|skip|include|should|must)\b)"
)
# After "that" comes a clause, and not a thing that is pointed at.
_CLAUSE = (
    r"^(?:the|an?|we|our|my|i|all|every\w*|each|no|nobody|any|this|there|in|on|for|when|if|after"
    r"|before|only|always|never|you|your)\b|^(?-i:[`\"A-Z0-9])"
    r"|^(?:\S+ ){1,3}(?:is|are|has|have|must|should|can|cannot|can't|will|won't|does|do|don't"
    r"|needs?|uses?|lives?|runs?|goes|go|belongs?|comes?|gets?|expires?|takes?|requires?)\b"
)
_LASTS = r"(?:from now on|going forward|from here on|henceforth|in (?:all )?future sessions)"

_CUES = (
    # English
    _cue(_OPENING + _ASKING + r"remember(?: this| the following)?\s*:\s*" + _REST),
    _cue(_OPENING + _ASKING + r"(?:always )?remember,? that " + _REST, _CLAUSE),
    _cue(_OPENING + _POLITE + r"(?:always )?remember,? that " + _REST, _CLAUSE, may_ask=True),
    _cue(_OPENING + _ASKING + r"remember,? to " + _REST, _LASTING),
    _cue(
        _OPENING + _ASKING + r"remember,? (?P<content>(?:we|our|my|i) .+)$",
        r"^(?:(?:we|i) (?:always |never |only |don't |do not )?(?:use|deploy|run|prefer|keep|write"
        r"|like|hate|avoid|work|live)\b|(?:our|my) .{1,60}?\b(?:is|are|uses|runs"
        r"|lives|has|must|needs)\b)",
    ),
    _cue(
        _OPENING + _ASKING + r"(?:memori[sz]e|commit to memory|(?:save|store|add|put|write)"
        r"(?: this| that| it| the following)? (?:to|in|into) (?:your |the )?memory)"
        r"(?: that (?=(?:the|we|our|my|i|an?|all|every|each|no|this)\b)|\s*:\s*)" + _REST
    ),
    _cue(_OPENING + _ASKING + r"make a (?:mental )?note(?: that |\s*:\s*)" + _REST),
    _cue(_OPENING + r"for (?:future reference|next time|future sessions)\s*[,:]\s*" + _REST),
    _cue(_OPENING + _LASTS + r"\s*[,:]?\s*" + _STANDING + _REST),
    # German: after "dass" the verb comes last, so only the whole is a sentence.
    _cue(
        r"^(?:bitte )?(?:merk(?:e)?(?: dir)?(?: bitte)?|merken sie sich(?: bitte)?"
        r"|behalt(?:e)? im kopf),? dass (?P<content>.+)$",
        keeps_sentence=True,
    ),
    _cue(
        r"^(?:bitte )?(?:merk(?:e)?(?: dir)?(?: bitte)?|merken sie sich|bitte merken)\s*:\s*"
        + _REST
    ),
    _cue(
        r"^(?:ab jetzt|von jetzt an|ab sofort|künftig|in zukunft),?\s*"
        r"(?=(?:bitte|immer|nie|niemals|nur|keine?n?|verwende|benutze?|nutze|schreib|nimm|mach)\b)"
        + _REST
    ),
    # French
    _cue(
        r"^(?:s'il te pla[iî]t,? )?(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens"
        r"|retenez|m[eé]morisez?|notez? bien)(?: que |\s+qu'|\s*:\s*)" + _REST
    ),
    _cue(
        r"^(?:d[eé]sormais|dor[eé]navant|à partir de maintenant|à l'avenir),?\s*"
        r"(?=(?:utilise|n'|ne |toujours|jamais|fais|faites|[eé]cri|mets|mettez|[eé]vite))" + _REST
    ),
    # Spanish
    _cue(
        r"^(?:por favor,? )?(?:recuerd(?:a|e|en)|acu[eé]rdate de|memoriza|ten presente|anota)"
        r"(?: que |\s*:\s*)" + _REST
    ),
    _cue(
        r"^(?:a partir de ahora|de ahora en adelante|en adelante),?\s*"
        r"(?=(?:usa|use|no |nunca|siempre|escrib|pon|haz|evita|ejecuta))" + _REST
    ),
    # Japanese: the request comes last.
    _cue(
        r"^(?P<content>.+?)(?:という?ことを|ことを|って|と)、?覚え(?:て|といて)(?:おいて)?"
        r"(?:ください|下さい|ほしい|欲しい|くれ)?ね?[。!]?$"
    ),
    _cue(
        r"^(?:今後|これから)は?、?(?P<content>.+(?:ください|下さい|ないで|すること|しないこと))[。!]?$"
    ),
    # Chinese
    _cue(r"^(?:请|請|麻烦)?你?(?:记住|記住|牢记|记一下|記一下)[,:]\s*" + _REST),
    _cue(
        r"^(?:请|請|麻烦)?你?(?:记住|記住|牢记)(?!了|吗|嗎|没)" + _REST,
        "是|必须|必須|不能|不要|只能|总是|總是|一律",
    ),
    _cue(
        r"^(?:请|請)?(?:以后|以後|从现在起|从现在开始|從現在起|從現在開始|今后),?\s*"
        r"(?=(?:请|請|都|不要|别|別|一律|总是|總是|必须|必須|用|使用|每次))" + _REST
    ),
)

# A noun after "remember that" makes it a reminiscence: "remember that bug".
_POINTED_AT = (
    "bug issue error time thing function file one conversation day problem pr test commit feature"
    " discussion idea script code class method page project guy person meeting change ticket story"
).split()
_reminiscing_re = re.compile(
    rf"^(?:{'|'.join(_POINTED_AT)})s?\b"
    r"|^the (?:last|previous|first|current|latest)\b"
    r"|^you (?!must\b|should\b|never\b|always\b|need to\b)"
    r"|\bi (?:just |already )?(?:told|said|asked|mentioned)\b"
    r"|\b(?:yesterday|earlier|last (?:time|week|month|night)|the other day|a while ago|back when"
    r"|we (?:just )?(?:did|talked|discussed|saw|had)|you (?:just )?(?:did|said|told|made|wrote))\b",
    re.IGNORECASE,
)
# What points at something outside the sentence says nothing by itself.
_pointing_re = re.compile(
    r"^(?:it|they|them|he|she|this|that|these|those|here|there)"
    r"(?:'s|'re)?(?: (?:is|are|was|were|will|has|have|can|must|should|does|needs?|one|way)\b|$)"
    r"|^(?:here|this|that|it|das|dies|ça|cela|esto|eso|这个?|那个?|これ|それ)[.!。]?$",
    re.IGNORECASE,
)
_once_re = re.compile(
    r"\b(?:for now|just this once|this time|today|tomorrow|tonight|for this (?:task|change|pr|one)"
    r"|in this (?:file|function|task|change|pr|commit)|when you(?:'re| are) done|at the end)\b",
    re.IGNORECASE,
)
_question_re = re.compile(r"[?]\W*$|(?:吗|嗎|ますか|ましたか|るか|てる)[。\s]*$")
_taken_back_re = re.compile(
    r"^(?:no,? |actually,? |wait,? |oh,? )*(?:never ?mind|forget (?:it|that|what i (?:just )?said)"
    r"|scratch that|ignore (?:that|my last|what i)|(?:don't|do not|no need to) remember)",
    re.IGNORECASE,
)
_first_person_re = re.compile(
    r"^(?:i|i'm|i'd|my|me|ich|mein|je|j'|mon|yo|mi|我|私|僕)\b", re.IGNORECASE
)
_imperative_re = re.compile(
    r"^(?:please |bitte |always |immer |toujours |siempre )*(?:always|never|don't|do not|only|use"
    r"|run|write|put|keep|add|make|ask|check|commit|prefer|avoid|name|format|call|stop|explain|answer"
    r"|reply|respond|test|skip|include|immer|nie|niemals|verwende|benutze?|nutze|utilise|ne |n'"
    r"|usa|no uses|nunca)\b|(?:ください|ないで|すること)[。]?$|^(?:请|都|不要|别|一律|用|每次)",
    re.IGNORECASE,
)
_unspaced_re = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
_courtesy_re = re.compile(
    r"^(?:please|bitte) |(?:,? (?:please|ok|okay|thanks|thank you|bitte|merci|gracias))+$",
    re.IGNORECASE,
)


def wish_in(sentence: str) -> Wish | None:
    """Return what *sentence* asks to be remembered, None if it asks for nothing of the kind.

    >>> wish_in("Please remember that we deploy from the release branch.").claim
    'We deploy from the release branch.'
    >>> wish_in("Do you remember that we deploy from the release branch?")
    """
    plain = sentence.translate(_PLAIN)
    for cue in _CUES:
        match = cue.pattern.match(plain)
        if match is None:
            continue
        content = sentence[slice(*match.span("content"))].strip(" \"'“”").rstrip(_ENDS)
        content = _courtesy_re.sub("", content)
        if _question_re.search(plain) and not cue.may_ask:
            return None
        if cue.needs is not None and not cue.needs.search(content):
            continue
        if not _stands_alone(content):
            return None
        claim = _as_sentence(sentence if cue.keeps_sentence else content)
        return Wish(_kind_of(content), claim) if len(claim) <= MAX_CLAIM_CHARS else None
    return None


def is_taken_back(sentence: str) -> bool:
    """Tell whether *sentence* takes back what was said before it."""
    return _taken_back_re.match(sentence) is not None


def _stands_alone(content: str) -> bool:
    if any(pattern.search(content) for pattern in (_reminiscing_re, _pointing_re, _once_re)):
        return False
    if _unspaced_re.search(content):
        return len(content) >= MIN_UNSPACED_CHARS
    return len(content.split()) >= MIN_WORDS


def _kind_of(content: str) -> str:
    if _first_person_re.match(content):
        return MemoryType.USER_PREFERENCE
    return MemoryType.PROCEDURAL if _imperative_re.search(content) else MemoryType.SEMANTIC


def _as_sentence(text: str) -> str:
    text = text.rstrip(_ENDS)
    end = "。" if _unspaced_re.search(text[-1:]) else "."
    return text[:1].upper() + text[1:] + end
