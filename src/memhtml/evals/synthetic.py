"""A store made up from a seed: memories of 300 days, their near-twins, and what to ask of them.

Pure: a seed and a day in, files and probes out, the same everywhere. Older readings of some facts
stand in the archive, superseded, each valid until the newer one; four people look after the
services; most live memories have been read now and then.
"""

from __future__ import annotations

import random
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from memhtml.evals.controls import Family, control_of
from memhtml.evals.phrases import HABITS, PEOPLE, SERVICES, STATEMENTS
from memhtml.evals.probes import query_of
from memhtml.format.edit import AddLink, SetMeta, apply_edits
from memhtml.format.render import render_memory
from memhtml.model.document import Link
from memhtml.model.edges import href_of
from memhtml.model.instants import stamp
from memhtml.model.memory import Draft
from memhtml.model.paths import archive_path
from memhtml.model.vocabulary import MemoryType, Rel, Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memhtml.evals.phrases import Statement

__all__ = ["DAYS", "HardProbe", "Kind", "Synthetic", "Target", "make_synthetic"]

DAYS = 300
SUPERSEDED_EVERY = 5
"""Of the numbered facts that are no target, every so many has an older reading."""
READ_SHARE = 0.6
HARD_EACH = 24
"""So many probes of each hard kind, where the store is large enough."""

_TARGET_TYPES = (MemoryType.PROCEDURAL, MemoryType.SEMANTIC)


class Kind(StrEnum):
    """What makes a question hard."""

    PARAPHRASE = "paraphrase"
    """It says the same in other words."""
    ENTITY_HOP = "entity-hop"
    """It names a service, and the answer is about the person who looks after it."""
    AS_OF = "as-of"
    """It asks what was true at a time, so the archived reading is right and today's is wrong."""
    SUPERSESSION = "supersession"
    """It quotes the old reading, and must be led to today's."""


class Target(NamedTuple):
    """A memory that must be found above its controls by the words of its claim."""

    path: str
    query: str
    controls: tuple[tuple[str, Family], ...]


class HardProbe(NamedTuple):
    """A question with the one memory that answers it."""

    kind: Kind
    query: str
    path: str
    as_of: str | None = None


class Synthetic(NamedTuple):
    """What to build, and what to ask."""

    files: dict[str, bytes]
    reads: tuple[tuple[str, str], ...]
    """Path and instant of each time a memory was opened, in order of time."""
    targets: tuple[Target, ...]
    hard: tuple[HardProbe, ...]


class _Base(NamedTuple):
    path: str
    service: str
    statement: Statement
    number: int
    at: datetime

    @property
    def claim(self) -> str:
        return self.statement.claim.format(s=self.service, n=self.number)


def make_synthetic(*, seed: int, now: datetime, size: int, probes: int) -> Synthetic:
    """Return a store of *size* base memories as of *now*, with *probes* targets at most."""
    chance = random.Random(seed)  # noqa: S311 - a store to test with
    bases = list(_bases(chance, now, size))
    targets = _strided([b for b in bases if b.statement.memory_type in _TARGET_TYPES], probes)
    chosen = {base.path for base in targets}
    files = {base.path: _render(base) for base in bases}
    older = [b for b in bases if b.path not in chosen][::SUPERSEDED_EVERY]
    readings = [_older_reading(base, chance, files) for base in older]
    owners = dict(zip(SERVICES, (PEOPLE * len(SERVICES))[: len(SERVICES)], strict=True))
    habits = _people(owners, now, files)
    live = sorted(files)
    reads = sorted(
        (stamp(now - timedelta(hours=chance.randrange(DAYS * 24))), path)
        for path in live
        if chance.random() < READ_SHARE
        for _ in range(chance.randint(1, 6))
    )
    made = tuple(_target(base, files) for base in targets)
    hard = (
        *_paraphrases(bases),
        *(
            HardProbe(Kind.ENTITY_HOP, habit.question.format(s=service), habits[owner, number])
            for number, habit in enumerate(HABITS)
            for service, owner in owners.items()
        ),
        *(probe for reading in readings for probe in reading),
    )
    return Synthetic(files, tuple((path, at) for at, path in reads), made, hard)


def _bases(chance: random.Random, now: datetime, size: int) -> Iterator[_Base]:
    for number in range(size):
        service = SERVICES[number % len(SERVICES)]
        statement = STATEMENTS[(number // len(SERVICES)) % len(STATEMENTS)]
        folder = service.replace(" ", "-")
        at = now - timedelta(days=chance.randint(2, DAYS), seconds=chance.randrange(86_400))
        value = chance.randint(statement.low, statement.high)
        yield _Base(f"areas/{folder}/note-{number:03}.html", service, statement, value, at)


def _render(base: _Base, *, claim: str | None = None, at: datetime | None = None) -> bytes:
    draft = Draft(
        title=f"Note on the {base.service}",
        memory_type=base.statement.memory_type,
        claim=claim or base.claim,
        paragraphs=(base.statement.detail,),
        tags=(base.statement.memory_type.value.replace("_", "-"),),
        entities=(f"service:{base.service}",),
    )
    return render_memory(draft, at=stamp(at or base.at))[0]


def _target(base: _Base, files: dict[str, bytes]) -> Target:
    """Add the controls of *base*, one day younger and with nobody's links or reads."""
    made: list[tuple[str, Family]] = []
    for family in Family:
        choice = int(base.path.removesuffix(".html")[-3:])
        claim = control_of(base.claim, family, anchor=base.service, choice=choice)
        if claim is not None:
            path = base.path.replace("/note-", f"/note-{len(made) + 1}-")
            files[path] = _render(base, claim=claim, at=base.at + timedelta(days=1))
            made.append((path, family))
    return Target(base.path, query_of(base.claim), tuple(made))


def _older_reading(
    base: _Base, chance: random.Random, files: dict[str, bytes]
) -> tuple[HardProbe, HardProbe]:
    """Add what was true before *base*, archived when *base* took its place."""
    statement = base.statement
    other = base.number
    while other == base.number:
        other = chance.randint(statement.low, statement.high)
    begin = base.at - timedelta(days=chance.randint(20, 90))
    was = base._replace(path=base.path.replace("/note-", "/old-note-"), number=other, at=begin)
    archived = archive_path(was.path, base.at.year)
    edits = (
        SetMeta("memhtml-status", Status.ARCHIVED),
        SetMeta("memhtml-updated", stamp(base.at)),
        SetMeta("memhtml-valid-from", stamp(begin)),
        SetMeta("memhtml-valid-until", stamp(base.at)),
        SetMeta("memhtml-archived", stamp(base.at)),
        SetMeta("memhtml-superseded-by", href_of(base.path)),
    )
    files[archived] = apply_edits(_render(was), edits)
    newer = (
        SetMeta("memhtml-valid-from", stamp(base.at)),
        AddLink(Rel.SUPERSEDES.token, href_of(archived)),
    )
    files[base.path] = apply_edits(files[base.path], newer)
    between = stamp(begin + (base.at - begin) / 2)
    question = statement.question.format(s=base.service)
    return (
        HardProbe(Kind.AS_OF, question, archived, as_of=between),
        HardProbe(Kind.SUPERSESSION, f"{question}, still {was.number}", base.path),
    )


def _people(
    owners: dict[str, str], now: datetime, files: dict[str, bytes]
) -> dict[tuple[str, int], str]:
    """Add who looks after what, and what each of them wants; return where the latter stands."""
    habits: dict[tuple[str, int], str] = {}
    at = stamp(now - timedelta(days=DAYS // 2))
    for person in PEOPLE:
        slug = person.lower().replace(" ", "-")
        for number, habit in enumerate(HABITS):
            path = habits[person, number] = f"resources/notes/{slug}-{number}.html"
            draft = Draft(
                title=person,
                memory_type=MemoryType.USER_PREFERENCE,
                claim=habit.claim.format(p=person),
                entities=(f"person:{person}",),
            )
            files[path] = render_memory(draft, at=at)[0]
    for service, person in owners.items():
        folder = service.replace(" ", "-")
        # Half of them link to what is known of the person; the other half only name them.
        linked = sorted(owners).index(service) % 2 == 0
        draft = Draft(
            title=f"Note on the {service}",
            memory_type=MemoryType.SEMANTIC,
            claim=f"{person} looks after the {service}.",
            entities=(f"service:{service}", f"person:{person}"),
            links=tuple(
                Link(Rel.RELATES_TO.token, href_of(habits[person, number]))
                for number in range(len(HABITS))
                if linked
            ),
        )
        files[f"areas/{folder}/owner.html"] = render_memory(draft, at=at)[0]
    return habits


def _paraphrases(bases: list[_Base]) -> Iterator[HardProbe]:
    once = {(base.service, base.statement.claim): base for base in bases}
    for base in _strided(list(once.values()), HARD_EACH):
        question = base.statement.question.format(s=base.service)
        yield HardProbe(Kind.PARAPHRASE, question, base.path)


def _strided(bases: list[_Base], wanted: int) -> list[_Base]:
    """Return *wanted* of them, evenly spread."""
    if len(bases) <= wanted:
        return bases
    return [bases[number * len(bases) // wanted] for number in range(wanted)]
