"""Whether two memories say the same: every word of either claim is accounted for in the other.

A cosine cannot tell a fact in other words from another fact in nearly the same words, so this is
no score. The claims are laid side by side, concept by concept; what is left on either side is
explained by spelling (an ending, a slip of the pen, words written together), by what the other
memory is about, or by being a word that only names a kind of thing (*the checkout service* for
*checkout*). Two claims are the same when nothing is left, and a veto may still keep them apart.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from memhtml.sleep.wording import concept_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from memhtml.sleep.statements import Statement

__all__ = ["Comparison", "adds", "compare", "known_names"]

_LEAST_SHARED = 2
"""Concepts and quantities that two claims must share at least; one word is no statement."""
_MOST_LEFT = 4
"""With more concepts on both sides that the other lacks, no spelling explains them all."""
_LEAST_PREFIX = 5
_MOST_ENDING = 3
_LEAST_SLIP = 8
_MOST_ADDED = 10
"""Concepts of an article beside its claim that may stand nowhere in the other: a remark such as
*the runbook has the details*. A paragraph is more, and so is any number and any name."""

_PLACING = frozenset(map(concept_of, "run host deploy live locate install serve".split()))
"""To run somewhere, be hosted, deployed or live there are one, where all else is the same."""
_LEAST_PLACED = 3

_KINDS = frozenset(
    map(
        concept_of,
        """
        service system application app tool server cluster project platform process component module
        library package job office city company department site instance environment account file
        page endpoint api feature setting option field table person user member employee item entry
        policy rule practice habit standard convention decision requirement
        """.split(),
    )
)


class Comparison(NamedTuple):
    """Two claims side by side."""

    same: bool
    shared: int
    """Concepts and quantities they have in common."""
    mine: tuple[str, ...]
    """Concepts of the first that nothing in the second accounts for."""
    theirs: tuple[str, ...]


def compare(one: Statement, other: Statement, names: Collection[str] = ()) -> Comparison:
    """Return how far the claims of *one* and *other* say the same.

    *names* are words that are names somewhere in the store: one letter more is another name.
    """
    mine, theirs = one.claim.content, other.claim.content
    shared = len(mine & theirs) + len(set(one.claim.quantities) & set(other.claim.quantities))
    left, right = set(mine - theirs), set(theirs - mine)
    if min(len(left), len(right)) > _MOST_LEFT:
        return Comparison(False, shared, tuple(sorted(left)), tuple(sorted(right)))
    fixed = {concept_of(name) for name in (*one.claim.names, *other.claim.names)}
    fixed |= (
        one.entity_words | other.entity_words | {concept_of(n) for n in (left | right) & set(names)}
    )
    for concept in sorted(left):
        match = next((c for c in sorted(right) if _same_word(concept, c, fixed)), None)
        if match is not None:
            left.discard(concept)
            right.discard(match)
            shared += 1
    left, right = (
        {c for c in rest if not _spelt_in(c, told, about)}
        for rest, told, about in ((left, other, one), (right, one, other))
    )
    if not (left & _KINDS and right & _KINDS):
        left, right = left - _KINDS, right - _KINDS
    if shared >= _LEAST_PLACED:
        left, right = left - _PLACING, right - _PLACING
    # A word that holds a sentence together here may be what the other says.
    left -= other.claim.light
    right -= one.claim.light
    return Comparison(
        not left and not right and shared >= _LEAST_SHARED,
        shared,
        tuple(sorted(left)),
        tuple(sorted(right)),
    )


def adds(one: Statement, other: Statement) -> tuple[str, ...]:
    """Return what the article of *one* says that stands nowhere in *other*: words for people.

    Empty when *other* has it all, but for a remark.
    """
    if not one.is_whole:
        return ("more than was compared",)
    numbers = set(one.rest.quantities) - {*other.claim.quantities, *other.rest.quantities}
    numbers -= set(one.claim.quantities)
    names = one.rest.names - other.claim.words - other.rest.words - one.claim.words
    if numbers or names:
        return tuple(sorted(numbers | names))
    said = one.rest.content - one.claim.content
    missing = said - other.claim.content - other.rest.content
    if len(missing) <= _MOST_ADDED:
        return ()
    return tuple(sorted(missing))


def known_names(statements: Iterable[Statement]) -> frozenset[str]:
    """Return the words that are written as names more often than as plain words."""
    named: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    for statement in statements:
        names = statement.claim.names | statement.rest.names
        named.update(names)
        plain.update((statement.claim.words | statement.rest.words) - names)
    return frozenset(name for name, count in named.items() if count > plain[name])


def _same_word(one: str, other: str, fixed: Collection[str]) -> bool:
    """Whether two concepts are one word: an ending that the stemmer left, or a slip of a letter."""
    if one in fixed or other in fixed:
        return False
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and len(short) >= _LEAST_PREFIX:
        return len(long) - len(short) <= _MOST_ENDING
    return (
        len(short) >= _LEAST_SLIP and one.isalpha() and other.isalpha() and _one_slip(short, long)
    )


def _one_slip(short: str, long: str) -> bool:
    """Whether a letter more, or two that changed places, tell two long words apart.

    One letter for another is no slip: it tells *marker* from *market*.
    """
    start = 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    if len(short) < len(long):
        return len(long) - len(short) == 1 and short[start:] == long[start + 1 :]
    swapped = short[start : start + 2][::-1] == long[start : start + 2]
    return swapped and short[start + 2 :] == long[start + 2 :]


def _spelt_in(concept: str, told: Statement, about: Statement) -> bool:
    """Whether *told* says *concept* in another spelling, or is about it without saying so."""
    if concept in told.entity_words and concept in about.entity_words:
        return True
    if concept in told.joined:
        return True
    return not about.joined.isdisjoint(told.claim.content) and any(
        concept in {first, second} and first + second in told.claim.content
        for first, second in pairwise(about.claim.concepts)
    )
