"""What a text says, word by word, so that two wordings of one statement come out alike.

A *concept* is a word without its endings, or the name of the group of synonyms it is in; the words
that only hold a sentence together are left out. What is negated is kept with the word it negates,
for *never retries failed calls* and *retries failed calls, never the others* have the same words.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from memhtml.search.irregular import plain_form
from memhtml.sleep.quantities import read_quantities
from memhtml.sleep.synonyms import GROUPS, LIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Wording", "concept_of", "content_of", "read_wording", "stem"]

_token_re = re.compile(r"[.,;:!?](?=\s|$)|[()]|\x1f|[^\W_]+")
_SHORTENED = {
    "k8s": "kubernetes",
    "i18n": "internationalization",
    "l10n": "localization",
    "a11y": "accessibility",
    "o11y": "observability",
}
_shortened_re = re.compile(rf"\b(?:{'|'.join(_SHORTENED)})\b")
_unspaced_re = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
_name_re = re.compile(r"(?<=[\w,;)'\"-] )[A-Z][\w-]*|\b[A-Z]{2,}\b|\b[a-z]+[A-Z]\w*")
_lead_in_re = re.compile(
    r"""
    \s*(?:
        (?:please[ ])?(?:note|notice|remember|recall|beware|mind|be[ ]aware)(?:[ ]that\b|[:,])
      | (?:reminder|note|fyi|nb|n\.b\.|heads[- ]up|info|update|fact|tl;dr)\s*[:,-]
      | (?:for|just[ ]for|to)[ ](?:the[ ]record|(?:your|our)[ ]information|reference|context
          |be[ ](?:clear|precise|exact)|clarify|recap|summari[sz]e)\s*[:,]
      | (?:according[ ]to|as[ ]per|per|as[ ](?:\w+[ ])?(?:agreed|noted|discussed|decided|stated
          |documented|described|mentioned|recorded|seen|reported|confirmed))\b[^,:.;]{0,60}[,:]
      | it[ ](?:(?:is|was|has[ ]been)[ ](?:\w+[ ])?(?:known|noted|agreed|decided|confirmed|stated
          |documented|said|established)|(?:turns|turned)[ ]out|seems|appears)(?:[ ]that\b|[:,])
      | (?:as[ ]it[ ]turns[ ]out|as[ ]we[ ]know|as[ ]far[ ]as[ ][^,]{1,30}|in[ ](?:short|brief|fact
          |other[ ]words|summary)|apparently|basically|in[ ]general|as[ ]of[ ](?:now|today)
          |at[ ](?:present|the[ ]moment)|today|currently|these[ ]days|right[ ]now)\s*,
      | (?:we|i|they|everybody|everyone)[ ](?:know|agreed|noted|decided|confirmed|learned|learnt
          |found|heard|established|recorded)(?:[ ]out)?[ ]that\b
      | (?:the[ ])?(?:team|docs?|documentation|runbook|wiki|notes?|minutes|handbook|manual|user)[ ]
          (?:says?|said|states?|notes?|confirms?|confirmed|told[ ]us|mentions?|mentioned)
          (?:[ ]that\b|[:,])
    )\s*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_contractions = (
    (re.compile(r"\bcan(?:no|')t\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(?:refus(?:es?|ed)|fail(?:s|ed)?|declin(?:es?|ed)) to\b"), "not"),
    (re.compile(r"'(?:s|re|ve|ll|d|m)?\b"), " "),
)

_NEGATORS = frozenset(
    """
    not no never none neither nor nobody nothing nowhere without avoid avoids avoided
    avoiding lack lacks lacking lacked refuses refused unable non hardly
    nicht kein keine keinen keinem keiner nie niemals ohne
    pas jamais sans aucun aucune nunca sin ningún ninguna tampoco não nunca sem
    """.split()
)
"""Words that turn what follows into its opposite. Words for an outcome, such as *failed* or
*rejected*, are none: a call that failed may be retried or not (sleep format §9.14)."""

_BREAKS = frozenset(". , ; : ! ? ( ) but while unless until if when because although".split())

# No concept is written like these.
_BREAK = "."
_NEGATOR = "!"

_FLIPPED = {
    word: positive
    for pair in (
        "disable:enable disabled:enabled deactivate:enable forbid:allow prohibit:allow "
        "disallow:allow deny:allow ban:allow exclude:include offline:online "
        "optional:required invalid:valid "
        "unsupported:supported unavailable:available unencrypted:encrypted unlimited:limited "
        "unnecessary:necessary impossible:possible inactive:active incomplete:complete "
        "private:public asynchronous:synchronous async:sync unsafe:safe insecure:secure "
        "dislike:like hate:like detest:like false:true"
    ).split()
    for word, positive in (pair.split(":"),)
}

_PLURALS = (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", ""))
_NO_PLURALS = ("ss", "us", "is")
# The longest that fits goes, and what it leaves is the same for all that belong together.
_SUFFIXES = tuple(
    tuple(pair.split(":"))
    for pair in (
        "ization:iz isation:iz izing:iz ising:iz ized:iz ised:iz izer:iz ize:iz ise:iz ational:at "
        "ification:if ication:ic icating:ic icated:ic icate:ic ified:if ifying:if ifier:if ify:if "
        "ation:at ator:at ating:at ated:at ate:at ement: ment: ings: ing: ions: ion: "
        "ance: ence: ness: ity: ied:y er: or: ed: al: ly:"
    ).split()
)
_LEAST_STEM = 3


class Wording(NamedTuple):
    """A text, taken apart."""

    concepts: tuple[str, ...]
    """What it speaks of, in order and with repetitions."""
    tokens: tuple[str, ...]
    """All its words as they stand, in lower case and in order, light ones and marks too."""
    words: frozenset[str]
    """The same without order."""
    light: frozenset[str]
    """The concepts that only hold it together."""
    negated: frozenset[str]
    """The concepts it denies."""
    quantities: tuple[str, ...]
    names: frozenset[str]
    """Words written as names are, in lower case."""
    content: frozenset[str]
    """The concepts that say something."""


def read_wording(text: str) -> Wording:
    """Return *text* taken apart.

    >>> wording = read_wording("The gateway never retries failed calls.")
    >>> sorted(wording.content), sorted(wording.negated)
    (['cal', 'fail', 'gateway', 'retr'], ['retr'])
    """
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    names = frozenset(
        part for name in _name_re.findall(plain) for part in re.findall(r"[^\W_]+", name.lower())
    )
    rest, quantities = read_quantities(_expanded(_without_lead_in(plain)))
    words = list(_words(rest))
    concepts: list[str] = []
    light: set[str] = set()
    negated: set[str] = set()
    denying = False
    last_content = ""
    for concept, is_light, is_flipped in _concepts(words):
        if concept == _BREAK:
            # What was denied stands before ("retries are not done") or is still to come.
            if denying and last_content:
                negated ^= {last_content}
                denying = False
            last_content = ""
            continue
        if concept == _NEGATOR:
            denying = not denying
            continue
        concepts.append(concept)
        if is_light:
            light.add(concept)
            continue
        if denying is not is_flipped:
            negated.add(concept)
        denying = False
        last_content = concept
    if denying and last_content:
        negated ^= {last_content}
    return Wording(
        tuple(concepts),
        tuple(words),
        frozenset(words),
        frozenset(light),
        frozenset(negated),
        quantities,
        names - LIGHT,
        frozenset(concepts) - light,
    )


def content_of(text: str) -> list[str]:
    """Return the concepts and quantities of *text*, for comparing what texts are about.

    >>> content_of("The nightly backup takes 90 s")
    ['night', 'backup', '90 s']
    """
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    rest, quantities = read_quantities(_expanded(plain))
    found = [
        concept
        for concept, is_light, _ in _concepts(list(_words(rest)))
        if not is_light and concept not in {_BREAK, _NEGATOR}
    ]
    return [*found, *quantities]


@functools.lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return *word*, in lower case, without its endings.

    >>> [stem(w) for w in ("rotates", "rotation", "rotating", "policies", "policy", "calls")]
    ['rotat', 'rotat', 'rotat', 'polic', 'polic', 'cal']
    """
    if not word.isascii() or len(word) <= _LEAST_STEM or not word.isalpha():
        return word
    word = plain_form(word)
    if not word.endswith(_NO_PLURALS):
        for suffix, left in _PLURALS:
            if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
                word = word.removesuffix(suffix) + left
                break
    for suffix, left in _SUFFIXES:
        bare = word.removesuffix(suffix)
        if bare != word and len(bare) >= _LEAST_STEM and _has_vowel(bare):
            word = bare + left
            break
    if len(word) > _LEAST_STEM and (
        word[-1] == "e" or (word[-1] == "y" and word[-2] not in "aeou")
    ):
        word = word[:-1]
    if len(word) > _LEAST_STEM and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word


@functools.lru_cache(maxsize=65_536)
def concept_of(word: str) -> str:
    """Return the concept of one word, in lower case."""
    bare = stem(word)
    return _groups()[0].get((bare,), bare)


def _without_lead_in(text: str) -> str:
    """Return *text* without the words that only introduce it or say where it was heard."""
    match = _lead_in_re.match(text)
    return text[match.end() :] if match else text


def _has_vowel(text: str) -> bool:
    return any(letter in "aeiouy" for letter in text)


def _expanded(text: str) -> str:
    lowered = text.lower().replace("_", " ")
    for pattern, made in _contractions:
        lowered = pattern.sub(made, lowered)
    # The number in these is a count of letters.
    return _shortened_re.sub(lambda match: _SHORTENED[match[0]], lowered)


def _words(text: str) -> Iterator[str]:
    tokens = _token_re.findall(text)
    if text.isascii():
        yield from tokens
        return
    for token in tokens:
        if _unspaced_re.match(token):
            # A script without spaces is compared by its pairs of characters.
            yield from (token[i : i + 2] for i in range(max(1, len(token) - 1)))
        else:
            yield token


def _concepts(words: list[str]) -> Iterator[tuple[str, bool, bool]]:
    """Yield each concept of *words*, whether it is light, and whether it is an opposite's name."""
    groups, openers, longest = _groups()
    bare = [stem(word) for word in words]
    place = 0
    while place < len(words):
        word = words[place]
        if word == "\x1f":
            place += 1
            continue
        if bare[place] in openers:
            for length in range(min(longest, len(words) - place), 1, -1):
                concept = groups.get(tuple(bare[place : place + length]))
                if concept is not None:
                    positive = _flips().get(concept)
                    name = concept if positive is None else concept_of(positive)
                    yield name, name in _light_concepts(), positive is not None
                    place += length
                    break
            else:
                yield _single(word)
                place += 1
            continue
        yield _single(word)
        place += 1


@functools.lru_cache(maxsize=65_536)
def _single(word: str) -> tuple[str, bool, bool]:
    if word in _BREAKS:
        return _BREAK, False, False
    if word in _NEGATORS:
        return _NEGATOR, False, False
    positive = _flips().get(stem(word))
    if positive is not None:
        return concept_of(positive), False, True
    concept = concept_of(word)
    return concept, word in LIGHT or concept in _light_concepts(), False


@functools.cache
def _flips() -> dict[str, str]:
    return {stem(word): positive for word, positive in _FLIPPED.items()}


@functools.cache
def _light_concepts() -> frozenset[str]:
    return frozenset(
        stem(word) for word in ("use", "make", "perform", "locate", "remain", "happen")
    )


@functools.cache
def _groups() -> tuple[dict[tuple[str, ...], str], frozenset[str], int]:
    """Return the concept of each synonym by its stems, the stems that begin a phrase, its length.

    >>> _groups()[0][("sign", "off")], _groups()[0][("rol", "out")]
    ('approv', 'deploy')
    """
    groups: dict[tuple[str, ...], str] = {}
    for group in GROUPS.split("|"):
        members = [tuple(map(stem, re.split("[-_']", member))) for member in group.split()]
        for member in members:
            groups.setdefault(member, " ".join(members[0]))
    phrases = [member for member in groups if len(member) > 1]
    return groups, frozenset(member[0] for member in phrases), max(map(len, phrases))
