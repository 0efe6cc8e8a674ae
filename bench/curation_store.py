"""A store with known duplicates, near-twins, aliases and look-alikes, made from a seed.

Pure: a seed and a size in, drafts and the truth about them out. Most facts are said once, some two
to four times: copied (case, spacing, another body), reworded lightly (synonyms, short forms, a
lead-in, numbers in words), or said in another wording altogether. Near-twins say something else in
nearly the same words: denied, renumbered, in another unit, on another day, of another version,
reversed, or about somebody whose name looks alike.
"""

from __future__ import annotations

import random
import re
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.curation_phrases import (
    ABBREVIATIONS,
    ALIASES,
    BODIES,
    DENIALS,
    LEAD_INS,
    LOOK_ALIKES,
    PEOPLE,
    PLACES,
    SCHEMAS,
    SPELLINGS,
    SYNONYMS,
    SYSTEMS,
    TEAMS,
    THINGS,
    UNITS,
)

from memhtml.model.entities import normalize_entity
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.curation_phrases import Schema

__all__ = ["Curated", "Item", "Twin", "Wording", "make_curated"]

NOW = datetime(2026, 8, 2, 12, 0, tzinfo=UTC)
DAYS = 25
"""Younger than anything a run would let go for its age."""

NUMBERED = 200

T = TypeVar("T")


class Wording(StrEnum):
    """How a memory says its fact, seen from the first memory that says it."""

    FIRST = "first"
    COPIED = "copied"
    LIGHT = "light"
    DEEP = "deep"


class Twin(StrEnum):
    """What sets a near-twin apart."""

    DENIED = "denied"
    RENUMBERED = "renumbered"
    UNIT = "unit"
    DATE = "date"
    VERSION = "version"
    VARIANT = "variant"
    OPPOSITE = "opposite"
    PERSON = "person"
    VALUE = "value"
    """Another place, team or thing in the same slot: the two contradict each other."""


class Item(NamedTuple):
    """One memory and the truth about it."""

    draft: Draft
    at: datetime
    fact: str
    wording: Wording

    @property
    def path(self) -> str:
        """Where it stands."""
        assert self.draft.path is not None
        return self.draft.path


class Curated(NamedTuple):
    """The store."""

    items: tuple[Item, ...]
    twins: Mapping[str, tuple[str, Twin]]
    """Of a fact that is a near-twin: the fact it is the twin of, and how they differ."""
    identities: Mapping[str, str]
    """Of an entity in normal form: who or what it is. Equal ones may be merged, others never."""
    numbered: frozenset[str]
    """Entities in normal form that differ in a number alone."""


class _Filling(NamedTuple):
    """The slots of one fact."""

    texts: dict[str, str]
    number: int
    unit: tuple[str, str]
    day: datetime
    version: tuple[int, int]


def make_curated(seed: int, *, facts: int = 400, numbered: int = NUMBERED) -> Curated:
    """Return a store with *facts* facts, their repetitions and near-twins, and *numbered* names."""
    return _Maker(random.Random(seed)).make(facts, numbered)


class _Maker:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._items: list[Item] = []
        self._twins: dict[str, tuple[str, Twin]] = {}
        self._identities: dict[str, str] = {}
        self._taken: set[tuple[str, ...]] = set()

    def make(self, facts: int, numbered: int) -> Curated:
        for number in range(facts):
            schema = SCHEMAS[number % len(SCHEMAS)]
            self._add_fact(f"f{number}", schema)
        self._add_people()
        self._add_spellings()
        names = frozenset(self._add_numbered(numbered))
        self._chance.shuffle(self._items)
        return Curated(tuple(self._items), self._twins, self._identities, names)

    # Facts, repetitions, near-twins

    def _add_fact(self, fact: str, schema: Schema) -> None:
        filling = self._fill(schema)
        first = self._chance.randrange(len(schema.wordings))
        self._add(fact, schema, filling, Wording.FIRST, schema.wordings[first])
        if self._chance.random() < 0.5:
            for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
                self._repeat(fact, schema, filling, first)
        if self._chance.random() < 0.7:
            self._add_twin(fact, schema, filling, first)

    def _repeat(self, fact: str, schema: Schema, filling: _Filling, first: int) -> None:
        wording = self._chance.choices(
            (Wording.COPIED, Wording.LIGHT, Wording.DEEP), weights=(40, 33, 27)
        )[0]
        which = first
        if wording is Wording.DEEP:
            which = self._chance.choice([n for n in range(len(schema.wordings)) if n != first])
        self._add(fact, schema, filling, wording, schema.wordings[which])

    def _add_twin(self, fact: str, schema: Schema, filling: _Filling, first: int) -> None:
        kind = self._chance.choice(list(self._kinds(schema)))
        twin, template = f"{fact}/{kind.value}", schema.wordings[first]
        if self._chance.random() < 0.4:
            template = self._chance.choice(schema.wordings)
        other = filling
        if kind is Twin.DENIED:
            told = f"{self._chance.choice(DENIALS)}{{lower}}{template}"
            template = self._chance.choice((*schema.denied, told))
        elif kind is Twin.OPPOSITE:
            template = self._chance.choice(schema.opposite)
            # What is reversed must not be what another fact says.
            if not self._is_new(schema, filling._replace(texts=_reversed(filling.texts))):
                return
        else:
            other = self._varied(kind, schema, filling)
            if other.texts != filling.texts and not self._is_new(schema, other):
                return
        self._twins[twin] = (fact, kind)
        self._add(twin, schema, other, Wording.FIRST, template)

    def _kinds(self, schema: Schema) -> Iterator[Twin]:
        if set("sx") & set(schema.slots):
            yield Twin.VARIANT
        yield Twin.DENIED
        if schema.opposite:
            yield Twin.OPPOSITE
        if set("nq") & set(schema.slots):
            yield from (Twin.RENUMBERED, Twin.RENUMBERED)
        for slot, kind in (
            ("q", Twin.UNIT),
            ("d", Twin.DATE),
            ("v", Twin.VERSION),
            ("p", Twin.PERSON),
            ("l", Twin.VALUE),
            ("t", Twin.VALUE),
        ):
            if slot in schema.slots:
                yield kind

    def _varied(self, kind: Twin, schema: Schema, filling: _Filling) -> _Filling:
        chance, texts = self._chance, dict(filling.texts)
        if kind is Twin.RENUMBERED:
            return filling._replace(number=filling.number + chance.choice((1, 2, 5, 10, 100)))
        if kind is Twin.UNIT:
            return filling._replace(unit=_other(chance, UNITS[schema.units], filling.unit))
        if kind is Twin.DATE:
            days = chance.choice((1, 7, 30, 365))
            return filling._replace(day=filling.day + timedelta(days=days))
        if kind is Twin.VERSION:
            major, minor = filling.version
            version = chance.choice(((major, minor + 1), (major + 1, minor), (minor + 2, major)))
            return filling._replace(version=version)
        if kind is Twin.VARIANT:
            variant = chance.choice(("beta", "legacy", "experimental", "preview", "v2"))
            slot = "s" if "s" in texts else "x"
            texts[slot] = _after_the(texts[slot], variant)
        elif kind is Twin.PERSON:
            pair = chance.choice(LOOK_ALIKES)
            texts["p"] = pair[1] if texts["p"] == pair[0] else _look_alike(chance, texts["p"])
        else:
            slot = "l" if "l" in texts else "t"
            texts[slot] = _other(chance, PLACES if slot == "l" else TEAMS, texts[slot])
        return filling._replace(texts=texts)

    def _fill(self, schema: Schema) -> _Filling:
        chance = self._chance
        while True:
            system, other = chance.sample(SYSTEMS, 2)
            people = (*PEOPLE, *(name for pair in LOOK_ALIKES for name in pair))
            texts = {
                "s": system,
                "o": other,
                "t": chance.choice(TEAMS),
                "p": chance.choice(people),
                "l": chance.choice(PLACES),
                "x": chance.choice(THINGS),
            }
            texts = {slot: text for slot, text in texts.items() if slot in schema.slots}
            filling = self._valued(schema, texts)
            # Two facts differ in more than a value, or they would be twins nobody knows of.
            if self._is_new(schema, filling):
                return filling

    def _valued(self, schema: Schema, texts: dict[str, str]) -> _Filling:
        chance = self._chance
        return _Filling(
            texts=texts,
            number=chance.choice((2, 3, 4, 5, 8, 10, 12, 15, 20, 24, 30, 40, 45, 60, 90, 120)),
            unit=chance.choice(UNITS[schema.units]),
            day=NOW + timedelta(days=chance.randrange(-200, 200)),
            version=(chance.randint(1, 9), chance.randint(0, 12)),
        )

    def _is_new(self, schema: Schema, filling: _Filling) -> bool:
        """Take these slots for one fact, if no other has them."""
        key = (schema.name, *filling.texts.values())
        if key in self._taken:
            return False
        self._taken.add(key)
        return True

    def _add(
        self, fact: str, schema: Schema, filling: _Filling, wording: Wording, template: str
    ) -> None:
        chance = self._chance
        is_fresh = wording in {Wording.LIGHT, Wording.DEEP}
        claim = _said(chance, template, filling, varied=is_fresh)
        if wording is Wording.LIGHT or (wording is Wording.DEEP and chance.random() < 0.3):
            claim = _lightly(chance, claim)
        elif wording is Wording.COPIED:
            claim = chance.choice((claim, claim.removesuffix("."), claim.replace(" ", "  ", 1)))
        entities = [
            f"service:{filling.texts[slot].removeprefix('the ')}"
            for slot in "so"
            if slot in filling.texts and chance.random() < 0.6
        ]
        if "p" in filling.texts:
            entities.append(f"person:{filling.texts['p']}")
        body = chance.sample(BODIES, chance.choice((0, 0, 1, 1, 2)))
        if wording is Wording.COPIED and not body:
            body = [chance.choice(BODIES)]  # or the store would not take it twice
        title = _title(chance, schema, filling, claim)
        self._put(fact, wording, claim, title, body=body, entities=entities)

    def _put(
        self,
        fact: str,
        wording: Wording,
        claim: str,
        title: str,
        *,
        body: Sequence[str] = (),
        entities: Sequence[str] = (),
        aliases: tuple[str, ...] = (),
    ) -> None:
        for entity in entities:
            self._identities.setdefault(normalize_entity(entity), normalize_entity(entity))
        number = len(self._items)
        draft = Draft(
            title=title,
            memory_type=MemoryType.SEMANTIC,
            claim=claim,
            paragraphs=tuple(body),
            entities=tuple(dict.fromkeys(entities)),
            aliases=aliases,
            path=f"areas/notes/{number // 400:02}/m{number:05}.html",
        )
        at = NOW - timedelta(minutes=self._chance.randrange(60, DAYS * 24 * 60))
        self._items.append(Item(draft, at, fact, wording))

    # Names

    def _add_people(self) -> None:
        """Add people who declare their other names, and memories that use them."""
        for number, (name, aliases) in enumerate(ALIASES):
            here = f"p{number}"
            self._put(
                here,
                Wording.FIRST,
                f"{name} works with the {self._chance.choice(TEAMS)} team.",
                name,
                entities=[f"person:{name}"],
                aliases=aliases,
            )
            # Where people's own pages stand, so that what they declare counts.
            page = self._items[-1]
            slug = name.lower().replace(" ", "-")
            here_draft = replace(page.draft, path=f"resources/people/{slug}.html")
            self._items[-1] = page._replace(draft=here_draft)
            for other, alias in enumerate((name, *aliases)):
                self._identities[normalize_entity(f"person:{alias}")] = f"person {number}"
                thing = THINGS[(number + other) % len(THINGS)]
                claim = f"{alias} asked for a review of {thing} in {PLACES[other]}."
                entities = [f"person:{alias}"]
                self._put(f"{here}/{other}", Wording.FIRST, claim, claim[:40], entities=entities)

    def _add_spellings(self) -> None:
        for number, spellings in enumerate(SPELLINGS):
            for other, spelling in enumerate(spellings):
                self._identities[normalize_entity(f"project:{spelling}")] = f"project {number}"
                claim = (
                    f"The {spellings[0]} uses {THINGS[other + 3 * number]} from {PLACES[other]}."
                )
                self._put(
                    f"n{number}/{other}",
                    Wording.FIRST,
                    claim,
                    claim[:40],
                    entities=[f"project:{spelling}"],
                )

    def _add_numbered(self, count: int) -> Iterator[str]:
        for number in range(count):
            entity = normalize_entity(f"service:svc{number}")
            place = PLACES[number % len(PLACES)]
            claim = f"svc{number} runs behind the load balancer in {place}."
            self._put(f"svc{number}", Wording.FIRST, claim, f"svc{number}", entities=[entity])
            yield entity


def _said(chance: random.Random, template: str, filling: _Filling, *, varied: bool) -> str:
    """Return *template*, its slots filled; *varied*: numbers, units and days spelt otherwise."""
    number = str(filling.number)
    spelt, short = filling.unit
    if varied and filling.number in _WORDS and chance.random() < 0.4:
        number = _WORDS[filling.number]
    quantity = f"{number} {spelt}"
    if varied and chance.random() < 0.5:
        quantity = f"{filling.number} {short}"
    day = filling.day
    days = (f"{day.day} {day:%B %Y}", f"{day:%Y-%m-%d}", f"{day:%B} {day.day}, {day.year}")
    told, _, template = template.rpartition("{lower}")
    said = template.format(
        **filling.texts,
        n=number,
        q=quantity,
        d=chance.choice(days) if varied else days[0],
        v=".".join(map(str, filling.version)),
    )
    said = re.sub(r"\b(an?) the ", r"\1 ", said)
    said = re.sub(r"\b(broken|its) the ", r"\1 ", said)
    return f"{told}{_lowered(said)}" if told else said[:1].upper() + said[1:]


_WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 8: "eight", 10: "ten", 12: "twelve"}


def _lightly(chance: random.Random, claim: str) -> str:
    """Return *claim* with two or three small changes of wording."""
    changed = claim
    swaps = [
        (one, other)
        for one, other in (*SYNONYMS, *ABBREVIATIONS)
        if re.search(rf"\b{re.escape(one)}\b", claim)
    ]
    for one, other in chance.sample(swaps, min(len(swaps), chance.choice((1, 2)))):
        changed = re.sub(rf"\b{re.escape(one)}\b", other, changed, count=1)
    changed = chance.choice((changed, changed.replace("does not", "doesn't")))
    if changed == claim or chance.random() < 0.4:
        lead = chance.choice(LEAD_INS)
        changed = lead + _lowered(changed)
    return changed


def _lowered(sentence: str) -> str:
    """Return *sentence* as it stands after a colon: a name keeps its capital."""
    if sentence.startswith((*PLACES, *_all_people())):
        return sentence
    return sentence[:1].lower() + sentence[1:]


def _title(chance: random.Random, schema: Schema, filling: _Filling, claim: str) -> str:
    about = next(iter(filling.texts.values())).removeprefix("the ")
    return chance.choice(
        (claim[:48].rstrip(" ."), f"{about}: {schema.name}", f"Note on {about}", about.capitalize())
    )


def _reversed(texts: dict[str, str]) -> dict[str, str]:
    if "o" not in texts:
        return {**texts, "opposite": "yes"}
    return {**texts, "s": texts["o"], "o": texts["s"]}


def _after_the(text: str, variant: str) -> str:
    if variant == "v2":
        return f"{text} v2"
    return f"the {variant} {text.removeprefix('the ')}"


def _look_alike(chance: random.Random, name: str) -> str:
    pairs = {one: other for pair in LOOK_ALIKES for one, other in (pair, pair[::-1])}
    return pairs.get(name) or chance.choice([person for person in PEOPLE if person != name])


def _all_people() -> tuple[str, ...]:
    return (*PEOPLE, *(name for pair in LOOK_ALIKES for name in pair))


def _other(chance: random.Random, choices: Sequence[T], not_this: T) -> T:
    return chance.choice([choice for choice in choices if choice != not_this])
