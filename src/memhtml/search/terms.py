"""A question as terms: what is looked for, spelled as the full-text index can be asked.

Prose is the query language. The one thing with a meaning of its own is a balanced pair of double
quotes, which demands what it encloses word for word; all else is words, and any of them finds a
memory. Nothing typed is ever syntax to SQLite: every phrase handed to it is put together here from
letters, digits and the private marks of `memhtml.index.analysis`.

A term may be asked for in several spellings: ``E-1042`` as it stands, as ``E1042`` and as the
words ``e 1042``. Each script has its own idea of a word. Where none is written apart, neighbouring
characters stand in: pairs for Han and hangul, the whole run for katakana, threes for Thai and its
like, and hiragana only where it is not grammar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memhtml.index.analysis import (
    RUN_CLASS,
    analysed,
    chunks,
    cleaned,
    exact_token,
    folded,
    identify,
    is_run,
    pairs,
    segment_tokens,
)
from memhtml.scoring.stopwords import STOP_WORDS
from memhtml.search.irregular import other_forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memhtml.index.analysis import Identifier

__all__ = ["MAX_TERMS", "Term", "terms_of"]

MAX_TERMS = 64
"""A longer question is cut here. Each term costs a look at the index."""

_quoted_re = re.compile(r'"([^"]*)"')
# A string, so that a question in another script does not pay for compiling it.
_SCRIPTS = (
    "([\u3041-\u309f]+)"  # hiragana
    "|([\u30a0-\u30ff\u31f0-\u31ff]+)"  # katakana
    "|([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"  # Thai, Lao, Myanmar, Khmer
    f"|((?:(?![\u3041-\u309f\u30a0-\u30ff\u31f0-\u31ff])[{RUN_CLASS}])+)"  # Han, hangul
)
# Endings, particles and question words: in Japanese what a stop word is in English.
_GRAMMAR = frozenset(
    "です ます すか した して ては いる ある する こと もの これ それ あれ どこ いつ なに だれ どう"
    " から まで より ない たい れる られ ので のは には では とは への った って ですか ました"
    " つで とき ため など よう さん".split()
)
_PARTICLES = frozenset("はがをにでとものへやか")


class Term(NamedTuple):
    """One thing that is looked for."""

    text: str
    """As it is shown to the asker."""
    phrases: tuple[str, ...]
    """Its spellings as quoted FTS5 phrases; any of them is a match."""
    words: tuple[str, ...] = ()
    """Folded words to mark in a text, whatever their ending."""
    literals: tuple[str, ...] = ()
    """Folded strings to mark where they stand by themselves."""
    runs: tuple[str, ...] = ()
    """Folded strings to mark anywhere."""
    required: bool = False
    has_parts: bool = False
    """It is words written together, and each is a term as well."""


def terms_of(text: str) -> tuple[Term, ...]:
    """Return what *text* asks for, each thing once, at most `MAX_TERMS`.

    Stop words count only when there is nothing else. Empty when *text* has no letter or digit.

    >>> [term.text for term in terms_of('when is the "rye starter" fed in C++?')]
    ['rye starter', 'fed', 'C++']
    >>> terms_of("E-1042")[0].literals
    ('e-1042',)
    >>> terms_of('" * ('), [term.text for term in terms_of("who are you")]
    ((), ['who', 'are', 'you'])
    """
    # An argument of the command line may hold bytes that were no UTF-8.
    text = cleaned(text.encode("utf-8", "replace").decode("utf-8"))
    quoted: list[str] = []
    if '"' in text and text.count('"') % 2 == 0:
        quoted = _quoted_re.findall(text)
        text = _quoted_re.sub(" ", text)
    demanded = [term for span in quoted if (term := _phrase_term(span)) is not None]
    found = list(_distinct(_prose_terms(text)))
    content = [term for term in found if term.text.casefold() not in STOP_WORDS]
    if not content and not demanded:
        content = found
    return tuple(_distinct([*demanded, *content]))[:MAX_TERMS]


def _distinct(terms: Iterable[Term]) -> Iterator[Term]:
    return iter({term.phrases: term for term in terms}.values())


def _prose_terms(text: str) -> Iterator[Term]:
    for chunk in chunks(text):
        if is_run(chunk):
            yield from _run_terms(chunk)
        elif (identifier := identify(chunk)) is not None:
            yield from _identifier_terms(identifier)


def _phrase_term(span: str) -> Term | None:
    tokens = analysed(span.replace('"', " ")).split()
    if not any(map(str.isalnum, "".join(tokens))):
        return None
    prefix = ""
    if is_run(tokens[-1]):
        # The run may go on in the text, so its last character may begin another pair there.
        if len(tokens) > 1 and is_run(tokens[-2]) and tokens[-2].endswith(tokens[-1]):
            tokens.pop()
        else:
            prefix = " *"
    inner = [part for chunk in chunks(span) for part in _prose_terms(chunk)]
    return Term(
        " ".join(span.split()),
        (_quote(tokens) + prefix,),
        words=tuple(word for part in inner for word in part.words),
        literals=tuple(literal for part in inner for literal in part.literals),
        runs=tuple(run for part in inner for run in part.runs),
        required=True,
    )


def _identifier_terms(identifier: Identifier) -> Iterator[Term]:
    text = identifier.text
    words = [word for segment in identifier.segments for word in segment.words]
    parts = [p for segment in identifier.segments for ps in segment.parts for p in ps]
    if len(parts) == 1 and words == [text]:
        yield _word_term(text)
        return
    spellings = []
    if len(identifier.segments) > 1:
        inside = (token for segment in identifier.segments for token in segment_tokens(segment))
        spellings = [exact_token(text), " ".join(inside)]
    else:
        (segment,) = identifier.segments
        if segment.is_marked:
            spellings.append(exact_token(text))
        if segment.joined:
            spellings.append(segment.joined)
        if len(words) > 1 or len(words[0]) > 1:
            # The C of C++ alone would find every other C.
            spellings.append(" ".join(words))
    has_parts = _reads_as_words(identifier, parts)
    yield Term(
        text,
        tuple(dict.fromkeys(_quote([spelling]) for spelling in spellings)),
        literals=(folded(text)[0],),
        has_parts=has_parts,
    )
    if has_parts:
        yield from map(_word_term, parts)


def _reads_as_words(identifier: Identifier, parts: list[str]) -> bool:
    """Whether *identifier* is words written together, each worth looking for: not a code."""
    marks = set(identifier.text) & set(".@+#\\~$%=")
    return not marks and len(parts) > 1 and all(p.isalpha() and len(p) > 1 for p in parts)


def _word_term(word: str) -> Term:
    forms = (low := folded(word)[0], *other_forms(low))
    return Term(word, (_quote([word]), *(_quote([form]) for form in forms[1:])), words=forms)


def _run_terms(run: str) -> Iterator[Term]:
    terms = []
    for match in re.finditer(_SCRIPTS, run):
        hiragana, katakana, unspaced, other = match.groups(default="")
        if hiragana:
            # After a word of another script, the first character is most likely a particle.
            word = hiragana[1:] if match.start() and hiragana[0] in _PARTICLES else hiragana
            terms += [p for p in _windows(word, 2) if len(p) > 1 and p not in _GRAMMAR]
        elif katakana:
            terms.append(katakana)
        else:
            terms += _windows(unspaced or other, 3 if unspaced else 2)
    # A run that is all grammar is asked for as it is.
    yield from map(_run_term, terms or [run])


def _run_term(run: str) -> Term:
    phrase = _quote([pairs(run)[:-2]]) if len(run) > 1 else _quote([run]) + " *"
    return Term(run, (phrase,), runs=(folded(run)[0],))


def _windows(run: str, size: int) -> list[str]:
    return [run[start : start + size] for start in range(max(1, len(run) - size + 1))]


def _quote(tokens: list[str]) -> str:
    inside = " ".join(tokens).replace('"', " ").casefold()
    return f'"{inside}"'
