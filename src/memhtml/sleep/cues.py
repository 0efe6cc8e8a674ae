"""Words by which a sentence says that something is still to be done, in several languages.

Made for precision: a sentence has to have a cue, and nothing that takes it back. Most sentences
with "need to" are advice, conditions, or history, and a task that nobody owes to anybody is worse
than one that is missed, for a model or a person may still find that one.
"""

# ruff: noqa: RUF001 - signs of other scripts are what is read here

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

from memhtml.model.whitespace import collapse

__all__ = ["Cue", "due_of", "find_cue", "sentences"]

MIN_CHARS, MAX_CHARS = 8, 300

_WEEKDAYS = (
    ("monday", "montag", "lundi", "lunes"),
    ("tuesday", "dienstag", "mardi", "martes"),
    ("wednesday", "mittwoch", "mercredi", "miércoles"),
    ("thursday", "donnerstag", "jeudi", "jueves"),
    ("friday", "freitag", "vendredi", "viernes"),
    ("saturday", "samstag", "samedi", "sábado"),
    ("sunday", "sonntag", "dimanche", "domingo"),
)
_DAY_OF = {name: day for day, names in enumerate(_WEEKDAYS) for name in names}
_TOMORROW = ("tomorrow", "morgen", "demain", "mañana")
_DAYS = "|".join((*_DAY_OF, *_TOMORROW))
_ISO = r"\d{4}-\d{2}-\d{2}"

_WHEN_EN = (
    rf"(?:{_ISO}|{_DAYS}|next (?:week|month|{_DAYS})|(?:the )?end of (?:the |this |next )?"
    r"(?:day|week|month|quarter|year)|eod|eow|(?:january|february|march|april|may|june|july|august|"
    r"september|october|november|december)\b)"
)
_OBLIGED_EN = r"(?:need(?:s)? to|must|ha(?:ve|s) to|should|will|'ll|shall|please)"


class Cue(NamedTuple):
    """What made a sentence a commitment."""

    name: str
    words: str
    """As they stand in it."""


class _Tongue(NamedTuple):
    """One language: what says that something is to do, and what takes it back."""

    cues: tuple[tuple[str, re.Pattern[str]], ...]
    vetoes: re.Pattern[str]


def _tongue(vetoes: str, **cues: str) -> _Tongue:
    named = ((name.replace("_", " "), cue) for name, cue in cues.items())
    return _Tongue(
        tuple((name, re.compile(cue, re.IGNORECASE)) for name, cue in named),
        re.compile(vetoes, re.IGNORECASE),
    )


# Upper case alone marks it: a "todo list" is a thing, and so are TODO comments.
_MARKER = re.compile(
    r"(?:^|[\s(\[])(?:TODO|FIXME|TO[- ]DO)(?:\]|\s*[:\-])?\s*(?!(?:lists?|comments?|items?|apps?|"
    r"files?|entr(?:y|ies)|markers?|tags?|is|are|was|were|in|from|and|or|for)\b)"
    r"(?<=[\s:\-\]])\w"
)

_ENGLISH = _tongue(
    r"\?\s*$|\b(?:if|when|whenever|unless|once|in case|every ?time|each time|always|never|usually|"
    r"generally|typically|normally|in general|anyone|everyone|everybody|nobody|users?|callers?|"
    r"clients|you|your|done|finished|completed|resolved|closed|cancell?ed|no longer|obsolete|"
    r"already|dropped|anymore|any more|followed|needed|had to|would|could|might|used to|said|says|"
    r"told|wrote|claims?|asked whether|prefers?|instead of|not need|n't need|no need|need not|"
    r"don't have to|do not have to|not have to|every (?:day|week|month|release|morning|night)|"
    r"daily|weekly|monthly)\b",
    we_need_to=r"\b(?:we|i)(?:'ve| have)?(?: still| also| really)? "
    r"(?:need to|have to|must|got to)\b",
    we_will=rf"\b(?:we|i)(?:'ll| will| shall)\b.*\b(?:by|before|on|until) {_WHEN_EN}",
    going_to=rf"\b(?:i'm|i am|we're|we are) going to\b.*\b(?:by|before|on|until) {_WHEN_EN}",
    follow_up=r"(?:^|\b(?:to|must|should|will|'ll|please) )follow[ -]?up (?:with|on|about)\b",
    remember_to=r"(?:^|\bplease |\bmust |\bneed to )"
    r"(?:remember to|do(?:n't| not) forget to|remind (?:me|us) to)\b",
    action_item=r"^(?:action(?: item| point)?s?|next steps?|follow[ -]?ups?|"
    r"open (?:point|item)s?)\s*:\s*\w",
    still_to_do=r"\bstill (?:needs?|has|have) to\b|\bremains? to be \w+|"
    r"\bstill (?:outstanding|to be done)\b",
    due=rf"\b(?:is|are) due (?:on |by |before )?{_WHEN_EN}",
    deadline=rf"\b{_OBLIGED_EN}\b.*\b(?:by|before|no later than) {_WHEN_EN}",
    promised=r"\b(?:i|we) (?:owe|promised)\b",
    waiting=r"\b(?:we are|we're|i am|i'm|still) waiting (?:for|on)\b",
)
_GERMAN = _tongue(
    r"\?\s*$|\b(?:wenn|falls|sobald|immer|nie|niemals|meist|meistens|normalerweise|üblicherweise|"
    r"jedes mal|jeder|erledigt|fertig|abgeschlossen|gelöst|musste|mussten|hätte|hätten|würde|"
    r"würden|könnte|könnten|nicht mehr|bereits|nicht nötig|man|sagte|sagt|täglich|wöchentlich)\b",
    we_must=r"\b(?:wir müssen|ich muss|müssen wir|muss ich)\b.*"
    rf"\b(?:noch|bis (?:{_DAYS}|zum|ende|{_ISO}))",
    not_to_forget=r"\bnicht vergessen\b",
    deadline=r"\b(?:muss|müssen|soll|sollen|bitte)\b.*\bbis (?:spätestens )?(?:zum )?"
    rf"(?:{_DAYS}|{_ISO}|ende (?:der woche|des monats))",
    outstanding=r"\b(?:steht|stehen) noch aus\b|\bist noch offen\b|\bsind noch offen\b",
    follow_up=r"\b(?:muss|müssen|bitte|noch)\b.*\b(?:nachfassen|nachhaken|nachfragen)\b",
)
_FRENCH = _tongue(
    r"\?\s*$|\b(?:si|quand|lorsque|lorsqu|toujours|jamais|généralement|d'habitude|chaque|"
    r"terminée?|faite?s?|déjà|devait|devions|faudrait|pourrait|plus besoin|inutile|a dit|vous)\b",
    we_must=r"\b(?:il (?:nous )?faut|nous devons|on doit|je dois)\b.*"
    rf"\b(?:encore|avant (?:{_DAYS}|le|la fin|{_ISO})|d'ici)",
    not_to_forget=r"\b(?:ne pas oublier|n'oublions pas|n'oubliez pas) (?:de |d')",
    outstanding=r"\bil (?:nous )?reste (?:encore )?à \w+er\b|^à faire\s*:",
    follow_up=r"\b(?:il faut|je dois|nous devons|penser à)\b.*\brelancer\b",
)
_SPANISH = _tongue(
    r"[?¿]|\b(?:si|cuando|siempre|nunca|normalmente|generalmente|cada|hecho|hecha|terminad[oa]|"
    r"resuelt[oa]|ya|tenía|teníamos|habría|debería|podría|no hace falta|dijo|usted)\b",
    we_must=r"\b(?:tenemos que|tengo que|hay que|debemos)\b.*"
    rf"\b(?:aún|todavía|antes d|para el|hasta el|{_ISO})",
    not_to_forget=r"\bno olvid(?:ar|es|emos)\b",
    outstanding=r"\b(?:queda|quedan|está|sigue) pendientes?\b|^pendientes?\s*:",
    missing=r"\btodavía falta(?:n)?\b|\baún falta(?:n)?\b",
)
_JAPANESE = _tongue(
    r"[?？]|場合|もし|いつも|常に|完了|済み|済んだ|不要|でした",
    deadline=r"(?:日|曜|週|月|末)[^。]{0,8}までに"
    r"[^。]*(?:必要がある|しなければ|する予定|送る|提出|対応)",
    not_to_forget=r"忘れずに|忘れないように",
    to_do=r"要対応|要確認|要フォロー",
)
_CHINESE = _tongue(
    r"[?？]|如果|的话|总是|从不|已经|完成了|不需要|不用|通常|每次|每天",
    deadline=r"(?:需要|必须|要)在[^。]{1,20}之?前",
    not_to_forget=r"别忘了|不要忘记|记得要",
    to_do=r"待办[:：]|还需要|有待",
)
TONGUES = (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _JAPANESE, _CHINESE)

# Every cue holds one of these words, or stands in a script without spaces: most sentences have
# neither, and looking for that takes a tenth of the time.
_TRIGGERS = frozenset(
    """
    need needs must have has got will ll shall should please going follow followup followups
    remember forget remind action actions next steps open still remain remains due owe promised
    waiting müssen muss soll sollen bitte vergessen aus offen faut devons doit dois oublier oublions
    oubliez reste faire penser tenemos tengo hay debemos olvidar olvides olvidemos queda quedan está
    sigue pendiente pendientes falta faltan
    """.split()
)
_word_re = re.compile(r"\w+")
_unspaced_re = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")

_DONE = re.compile(r"\b(?:done|erledigt|fait|hecho)\b|✅|☑|\[x\]", re.IGNORECASE)
_end_re = re.compile(r"(?<=[.!?])\s+(?=[^\s\d])|(?<=[。！？])\s*")
_quoted_re = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|`[^`]*`")
_due_re = re.compile(
    r"\b(?:by|before|due(?: on)?|until|on|no later than|bis(?: zum| spätestens)?|avant(?: le)?|"
    rf"d'ici|antes del?|para el|hasta el) (?P<iso>{_ISO}|(?P<day>{_DAYS})\b)",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """Return the sentences of *text*, verbatim but for runs of whitespace.

    >>> sentences("We met v2.1 at 3 p.m. today. TODO: send it! 明日です。 済み。")
    ['We met v2.1 at 3 p.m.', 'today.', 'TODO: send it!', '明日です。', '済み。']
    """
    return [part for part in map(str.strip, _end_re.split(collapse(text))) if part]


def find_cue(sentence: str) -> Cue | None:
    """Return what in *sentence* says that something is to do; None when nothing certainly does.

    >>> find_cue("We need to rotate the key.").name
    'we need to'
    >>> find_cue("When it fails we need to rotate the key.")
    """
    if not MIN_CHARS <= len(sentence) <= MAX_CHARS:
        return None
    # What stands in quotation marks is somebody else's, or an example.
    plain = _quoted_re.sub(" ", sentence).replace("’", "'")
    marker = _MARKER.search(plain)
    if marker is not None:
        return None if _DONE.search(plain) else Cue("TODO", marker[0].strip())
    if _TRIGGERS.isdisjoint(_word_re.findall(plain.lower())) and not _unspaced_re.search(plain):
        return None
    for tongue in TONGUES:
        for name, pattern in tongue.cues:
            found = pattern.search(plain)
            if found is not None:
                return None if tongue.vetoes.search(plain) else Cue(name, found[0].strip())
    return None


def due_of(sentence: str, said_on: str) -> str | None:
    """Return the day that *sentence*, said on the day *said_on*, names as its deadline.

    >>> due_of("We need to ship by Friday.", "2026-08-03")
    '2026-08-07'
    >>> due_of("It is due 2026-09-01.", "2026-08-03")
    '2026-09-01'
    """
    match = _due_re.search(sentence)
    if match is None:
        return None
    if match["day"] is None:
        return match["iso"]
    today = date.fromisoformat(said_on[:10])
    name = match["day"].lower()
    ahead = 1 if name in _TOMORROW else (_DAY_OF[name] - today.weekday() - 1) % 7 + 1
    return (today + timedelta(days=ahead)).isoformat()
