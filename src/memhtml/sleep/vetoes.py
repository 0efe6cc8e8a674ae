"""What keeps two memories apart, however alike they are.

Every veto is symmetric and looks at the claim and at the rest of the article. It asks whether the
two could say different things, not whether they do: two memories kept apart cost a line in a list,
two folded by mistake cost a fact. In the order of `RULES`, the first that speaks is told.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from memhtml.sleep.quantities import shown
from memhtml.sleep.wording import concept_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from memhtml.sleep.statements import Statement
    from memhtml.sleep.wording import Wording

__all__ = ["RULES", "Veto", "find_veto"]


class Veto(NamedTuple):
    """Why two memories may not be folded into one."""

    rule: str
    """One of `RULES`."""
    why: str
    """The end of a sentence: what the one says and the other does not."""


_VARIANTS = frozenset(
    """
    alpha beta rc preview legacy deprecated experimental canary lts pro lite mini ultra premium
    enterprise unstable prototype
    """.split()
)

# In each line the words exclude each other: who says one denies the rest.
_EXCLUSIVE = """
before after during
minimum maximum
increase decrease
read write
client server
input output
inbound outbound
import export
upload download
source target destination
push pull
enable disable
start stop
first last
left right
upper lower
above below
up down
more less
early late
buy sell
morning afternoon evening
summer winter spring autumn
monday tuesday wednesday thursday friday saturday sunday weekend weekday
january february march april june july august september october november december
hourly daily weekly monthly quarterly yearly
production staging development sandbox qa
primary secondary replica standby
main fallback
master slave
leader follower
internal external
public private
local remote
manual automatic
red green blue yellow orange purple black white brown grey pink
north south east west
low medium high
success failure
pass fail
accept reject
encrypt decrypt
lock unlock
open close
add remove
create delete
grow shrink
rise fall
win lose
hot cold
warm cool
wet dry
long short
wide narrow
big small
fast slow
cheap expensive
new old
old young
strong weak
hard easy
light dark
like dislike
love hate
always sometimes never rarely
hire fire
join leave
arrive depart
mother father sister brother son daughter uncle aunt wife husband
male female
coffee tea
cat dog
vegetarian vegan
horizontal vertical
synchronous asynchronous
frontend backend
ios android
windows linux macos
postgres postgresql mysql sqlite mariadb mongodb cassandra dynamodb oracle
redis memcached
kafka rabbitmq nats sqs
aws gcp azure
json yaml toml xml csv parquet
http grpc graphql
tcp udp
python java javascript typescript golang rust ruby php scala kotlin swift
tabs spaces
english german french spanish italian portuguese dutch japanese chinese
utc cet est pst gmt cest edt pdt
usd eur gbp
seconds minutes hours days weeks months years
vor nach
mit ohne
immer nie
avant après
antes después
"""

_MODES = {
    "a duty": "must shall mandatory obligatory obliged compulsory muss müssen doit debe",
    "an advice": "should ought recommended advisable supposed soll sollte devrait debería",
    "a possibility": "may might could possibly perhaps maybe darf peut puede",
    "a plan": "plan plans planned planning intend intends intended propose proposes proposed "
    "proposal consider considers considering hope hopes aims tentative tentatively",
}
_MODE_OF = {word: mode for mode, words in _MODES.items() for word in words.split()}
_ENDED = frozenset("formerly previously".split())
_QUANTIFIERS = {
    "all": "all every each any always entire whole alle jeder tous todos",
    "some": "some several sometimes occasionally partly partially einige quelques algunos",
    "most": "most mostly majority",
    "few": "few rarely seldom barely",
    "half": "half",
    "both": "both",
}
_QUANTIFIER_OF = {word: kind for kind, words in _QUANTIFIERS.items() for word in words.split()}
_ONLY = frozenset("only solely exclusively merely nur uniquement solamente".split())
_EXCEPT = frozenset("except excluding besides unless außer sauf excepto".split())
_BOUNDS = (
    ("at least", re.compile(r"\b(?:at least|no (?:fewer|less) than|or more|minimum of)\b")),
    ("at most", re.compile(r"\b(?:at most|no more than|up to|or (?:fewer|less)|maximum of)\b")),
    ("more than", re.compile(r"\b(?:more than|greater than|exceed\w*|in excess of)\b")),
    ("less than", re.compile(r"\b(?:less than|fewer than|below|under)\b")),
)
_most_re = dict(_BOUNDS)["at most"]
_used_to_re = re.compile(r"(?<!is )(?<!are )(?<!be )(?<!was )(?<!were )(?<!been )\bused to\b")
_PREPOSITIONS = frozenset(
    """
    in on at for of with within after before from to by during under over per via until since
    between into onto through across near inside behind against about than
    """.split()
)
_CONVERSE = frozenset(
    "get gets got receive receives received has have had own owns owned belong belongs".split()
)
"""What is given *to* somebody is what they get, so these change places and say the same."""
_SYMMETRIC = frozenset(
    """
    is are was were equals equal and or between both meet meets met marry married matches differs
    """.split()
)
_gets_from_re = re.compile(
    r"\b(?:gets?|got|gotten|receive[sd]?|receiving|obtain(?:s|ed)?|takes?|took|has|have|had)\b"
    r"[^.;]*\bfrom\b"
)
_PARTICLES = frozenset({"up", "down"})
"""They tell claims apart; elsewhere things come up and are written down."""
_SAME_MATTER = 3
"""Two articles that share so many concepts beside their claims speak of one thing there too."""
_RELATED = frozenset(
    "contradicts caused_by leads_to part_of example_of supports supersedes".split()
)


def find_veto(one: Statement, other: Statement, names: Collection[str] = ()) -> Veto | None:
    """Return why *one* and *other* may not be folded, None when nothing stands against it.

    *names* are words that are names somewhere in the store.
    """
    for rule, judge in RULES.items():
        why = judge(one, other, names)
        if why is not None:
            return Veto(rule, why)
    return None


def _negation(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    mine, theirs = one.claim.negated, other.claim.negated
    if mine != theirs:
        return f"only one of them denies {_listed(mine ^ theirs)}"
    whole = ((_whole(one), _denied(one)), (_whole(other), _denied(other)))
    for (_, denied), (said, denied_too) in (whole, whole[::-1]):
        opposed = (denied - denied_too) & said
        if opposed:
            return f"only one of them denies {_listed(opposed)}"
    return None


def _quantity(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    mine, theirs = one.claim.quantities, other.claim.quantities
    if set(mine) != set(theirs):
        return f"they give {_amounts(mine) or 'no number'} and {_amounts(theirs) or 'no number'}"
    for unit in {_unit(value) for value in mine}:
        if [v for v in mine if _unit(v) == unit] != [v for v in theirs if _unit(v) == unit]:
            return f"they give {_amounts(mine)} in another order"
    mine_too, theirs_too = (set(s.rest.quantities) - set(s.claim.quantities) for s in (one, other))
    if mine_too - theirs_too and theirs_too - mine_too:
        return f"they give {_amounts(mine_too)} and {_amounts(theirs_too)}"
    return None


def _variant(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    mine, theirs = ((s.claim.words | s.rest.words) & _VARIANTS for s in (one, other))
    return f"only one of them is about {_listed(mine ^ theirs)}" if mine != theirs else None


def _opposite(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    if ("off" in one.claim.words) != ("off" in other.claim.words) and not any(
        "approv" in s.claim.concepts for s in (one, other)
    ):
        return "only one of them says 'off'"
    pairs = [(one.claim, other.claim)]
    if len(one.rest.content & other.rest.content) >= _SAME_MATTER:
        pairs.append((one.rest, other.rest))
    for pair in pairs:
        said, said_too = ({*w.concepts, *map(concept_of, w.words)} for w in pair)
        for concept in sorted(said - said_too):
            excluded = _excluded_by(concept) & (said_too - said)
            if pair is not pairs[0]:
                excluded -= _PARTICLES
            if excluded:
                return f"one says {concept!r} and the other {min(excluded)!r}"
    return None


def _mode(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    mine, theirs = _modes(one.claim, one.memory.gist), _modes(other.claim, other.memory.gist)
    differing = mine ^ theirs
    tenses = {_tense(one.claim), _tense(other.claim)}
    if {"the past", "the present"} <= tenses:
        return "one speaks of the past and the other of the present"
    # What must be done and what is done differ for a lawyer only, unless both are said otherwise.
    if differing and (differing != {"a duty"} or (mine - theirs and theirs - mine)):
        return f"only one of them states {_listed(differing)}"
    return None


def _quantifier(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    for words, told in ((_ONLY, "only"), (_EXCEPT, "an exception")):
        if bool(one.claim.words & words) != bool(other.claim.words & words):
            return f"one of them says {told}"
    mine, theirs = (_quantifiers(s.claim, s.memory.gist) for s in (one, other))
    differing = mine ^ theirs
    if differing - {"all"} or ("all" in differing and mine and theirs):
        return f"one speaks of {_listed(mine) or 'it'} and the other of {_listed(theirs) or 'it'}"
    return None


def _bound(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    mine, theirs = (
        {told for told, pattern in _BOUNDS if pattern.search(s.memory.gist.lower())}
        for s in (one, other)
    )
    if mine and theirs and mine != theirs:
        return f"one says {_listed(mine)} and the other {_listed(theirs)}"
    return None


def _name(one: Statement, other: Statement, names: Collection[str]) -> str | None:
    mine, theirs = (
        {
            word
            for word in s.claim.words
            # A day of the week is written as a name is, and the rule of opposites looks at it.
            if (word in s.claim.names or word in names) and not _excluded_by(concept_of(word))
        }
        for s in (one, other)
    )
    mine_only = mine - other.claim.words - _spelt(other)
    theirs_only = theirs - one.claim.words - _spelt(one)
    if mine_only and theirs_only:
        return f"one names {_listed(mine_only)} and the other {_listed(theirs_only)}"
    return None


def _entity(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    """Entities count that the other neither states nor speaks of: a tag may be missing."""
    mine_only = {e for e in one.entities - other.entities if not _speaks_of(other, e)}
    theirs_only = {e for e in other.entities - one.entities if not _speaks_of(one, e)}
    kinds = {e.partition(":")[0] for e in mine_only} & {e.partition(":")[0] for e in theirs_only}
    if kinds:
        return f"one is about {_listed(mine_only)} and the other about {_listed(theirs_only)}"
    for only, about, told in ((mine_only, one, other), (theirs_only, other, one)):
        # "The timeout is 30 s" of one service says nothing about a memory that names no service.
        said = set(told.claim.concepts) | set(about.claim.concepts)
        for entity in sorted(only):
            words = {concept_of(w) for w in re.findall(r"[^\W_]+", entity.partition(":")[2])}
            if words and not words & said:
                return f"only one of them is about {entity!r}"
    return None


def _order(one: Statement, other: Statement, names: Collection[str]) -> str | None:
    """Who does it to whom: the same words may say another thing in another order."""
    mine, theirs = _Roles(one, names), _Roles(other, names)
    return _turned(mine, theirs) or _moved(mine, theirs) or _swapped(one, other, mine, theirs)


def _turned(mine: _Roles, theirs: _Roles) -> str | None:
    """Tell of a way that leads back."""
    for doer, done in ((mine, theirs), (theirs, mine)):
        turned = (doer.after["from"] & done.targets) - doer.targets - done.after["from"]
        if turned:
            return f"one goes from {min(turned)!r} and the other there"
        giver = doer.doer_behind_place
        if giver in done.targets and giver not in doer.targets:
            return f"one comes from {giver!r} and the other goes there"
    return None


def _moved(mine: _Roles, theirs: _Roles) -> str | None:
    """Tell of a thing that the one has where the other has another thing."""
    for preposition, concepts in mine.after.items():
        concepts_too = theirs.after[preposition]
        if (
            mine.subject != theirs.subject
            and theirs.subject in concepts
            and mine.subject in concepts_too
        ):
            return f"{mine.subject!r} and {theirs.subject!r} have changed places"
        named, named_too = (concepts - concepts_too) & mine.names, concepts_too - concepts
        if named & theirs.said and named_too & theirs.names & mine.said:
            return f"{min(named)!r} stands in another place"
    return None


def _swapped(one: Statement, other: Statement, mine: _Roles, theirs: _Roles) -> str | None:
    """Tell of one who does it in the one claim and has it done in the other."""
    if mine.is_turned != theirs.is_turned:
        agent, said = (mine.agent, theirs.said) if mine.is_turned else (theirs.agent, mine.said)
        if mine.subject and mine.subject == theirs.subject and agent in said:
            return f"{mine.subject!r} does it in the one, and has it done in the other"
        return None
    if mine.agent != theirs.agent and mine.agent in theirs.said and theirs.agent in mine.said:
        return f"one is done by {mine.agent!r} and the other by {theirs.agent!r}"
    # "The contact is Ann" and "Ann is the contact" are one; so are "Ann and Ben" and "Ben and Ann".
    # A word that only stands elsewhere, such as "weekly", changes places with no other.
    words, words_too = one.claim.words, other.claim.words
    may_swap = words & words_too & _SYMMETRIC or (words ^ words_too) & _CONVERSE
    if not may_swap and mine.stands_before(theirs) and theirs.stands_before(mine):
        return f"{mine.subject!r} and {theirs.subject!r} have changed places"
    return None


class _Roles:
    """Who does what to whom in a claim, as far as its prepositions tell."""

    def __init__(self, statement: Statement, names: Collection[str]) -> None:
        claim = statement.claim
        self.said = claim.content
        self.names = {concept_of(word) for word in claim.words & (claim.names | set(names))}
        self.after: dict[str, set[str]] = defaultdict(set)
        """What each preposition stands before."""
        self.subject: str | None = None
        self.agent: str | None = None
        self.doer_behind_place: str | None = None
        bare: dict[str, None] = {}
        gets_from = _gets_from_re.search(statement.memory.gist.lower()) is not None
        preposition = ""
        is_next = is_doer_next = False
        for token in claim.tokens:
            if token in _PREPOSITIONS:
                preposition, is_next = token, True
                continue
            if token in {"where", "whom"} and self.subject is not None:
                # "The archive is where the report goes": who does it comes now.
                preposition, is_next, is_doer_next = "", False, True
                continue
            concept = concept_of(token)
            if concept not in claim.content:
                if not token.isalnum():
                    preposition = ""
                continue
            if is_next:
                self.after[preposition].add(concept)
                if self.agent is None and preposition == ("from" if gets_from else "by"):
                    self.agent = concept
            if is_doer_next:
                self.agent = self.agent or concept
                self.doer_behind_place, is_doer_next = concept, False
            if not preposition:
                self.subject = self.subject or concept
                bare.setdefault(concept)
            is_next = False
        self.bare = tuple(bare)
        self.is_turned = self.agent is not None
        """Whether the one who does it stands behind *by*."""
        self.targets = self.after["to"] | self.after["into"] | self.after["onto"]

    def stands_before(self, other: _Roles) -> bool:
        """Whether the other's subject follows this one, with something in between."""
        if self.subject is None or other.subject is None or self.subject == other.subject:
            return False
        if other.subject in self.bare:
            return self.bare.index(other.subject) > self.bare.index(self.subject) + 1
        return other.subject in self.after["to"]


def _place(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    mine, theirs = one.memory.workspace, other.memory.workspace
    if mine and theirs and mine != theirs:
        return f"they belong to the workspaces {mine!r} and {theirs!r}"
    return None


def _time(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    mine, theirs = one.memory, other.memory
    if mine.event_at and theirs.event_at and mine.event_at[:10] != theirs.event_at[:10]:
        return f"they happened on {mine.event_at[:10]} and {theirs.event_at[:10]}"
    for early, late in ((mine, theirs), (theirs, mine)):
        if early.valid_until and late.valid_from and early.valid_until <= late.valid_from:
            return f"one held until {early.valid_until}, the other from {late.valid_from}"
    if mine.valid_until != theirs.valid_until and (mine.valid_until or theirs.valid_until):
        return "they hold until different times"
    return None


def _facet(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    mine, theirs = _facets(one), _facets(other)
    for name in sorted(mine.keys() & theirs.keys()):
        if mine[name] != theirs[name]:
            return f"they give {_listed(mine[name])} and {_listed(theirs[name])} as {name!r}"
    return None


def _relation(one: Statement, other: Statement, _names: Collection[str]) -> str | None:
    for source, target in ((one.memory, other.memory), (other.memory, one.memory)):
        for rel, path in source.links:
            if path == target.path and rel in _RELATED:
                return f"one has a {rel!r} link to the other"
    return None


RULES: dict[str, Callable[[Statement, Statement, Collection[str]], str | None]] = {
    "negation": _negation,
    "quantity": _quantity,
    "variant": _variant,
    "opposite": _opposite,
    "mode": _mode,
    "quantifier": _quantifier,
    "bound": _bound,
    "name": _name,
    "entity": _entity,
    "order": _order,
    "workspace": _place,
    "time": _time,
    "facet": _facet,
    "relation": _relation,
}
"""What is looked at, in this order."""


def _whole(statement: Statement) -> frozenset[str]:
    return frozenset(statement.claim.concepts) | frozenset(statement.rest.concepts)


def _denied(statement: Statement) -> frozenset[str]:
    return statement.claim.negated | statement.rest.negated


def _spelt(statement: Statement) -> set[str]:
    """Return the words of what *statement* is about, which its claim may leave unsaid."""
    return {
        word
        for entity in statement.entities
        for word in re.findall(r"[^\W_]+", entity.partition(":")[2])
    }


def _speaks_of(statement: Statement, entity: str) -> bool:
    words = set(re.findall(r"[^\W_]+", entity.partition(":")[2]))
    return bool(words) and words <= statement.claim.words


def _unit(value: str) -> str:
    return value.partition(" ")[2] or re.sub(r"\d", "", value)


def _modes(wording: Wording, text: str) -> set[str]:
    modes = {_MODE_OF[word] for word in wording.words if word in _MODE_OF}
    if wording.words & _ENDED or _used_to_re.search(text.lower()):
        modes.add("what was once")
    if _most_re.search(text.lower()):
        # "may be 5 MB at most" is a limit and no guess.
        modes.discard("a possibility")
    return modes


def _quantifiers(wording: Wording, text: str) -> set[str]:
    found = {_QUANTIFIER_OF[word] for word in wording.words if word in _QUANTIFIER_OF}
    return found - {"most"} if "at most" in text.lower() else found


def _tense(wording: Wording) -> str | None:
    past, present = wording.words & {"was", "were"}, wording.words & {"is", "are"}
    if bool(past) == bool(present):
        return None
    return "the past" if past else "the present"


def _facets(statement: Statement) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for facet in statement.memory.facets:
        value = f"{facet.number:g}" if facet.number is not None else facet.value
        found.setdefault(facet.name.lower(), set()).add(" ".join(value.lower().split()))
    return found


_excluding: dict[str, frozenset[str]] = {}


def _excluded_by(concept: str) -> frozenset[str]:
    if not _excluding:
        for line in _EXCLUSIVE.split("\n"):
            concepts = frozenset(concept_of(word) for word in line.split())
            for member in concepts:
                _excluding[member] = _excluding.get(member, frozenset()) | (concepts - {member})
    return _excluding.get(concept, frozenset())


def _amounts(values: Iterable[str]) -> str:
    return _listed(map(shown, values))


def _listed(values: Iterable[str]) -> str:
    return ", ".join(sorted(values))
