"""Entity resolution: one spelling for each thing, and one name for each person with several.

Three kinds of evidence join names at once. Two spellings that differ in case, marks, accents,
spaces, a plural or the order of a person's names are one name, when they also overlap enough; an
alias that a person's page declares is that person, whatever the letters say; and what a model
finds on two run dates. Numbers, versions and words for variants keep names apart always, and each
of a group must be joined to its name directly: there are no chains of likeness, so ``svc1`` never
becomes ``svc19`` by way of eighteen others. Names that are merely alike, such as those of Anna and
Hanna Schmidt, are for a person to look at.

Only ``memhtml-entity`` metas change. A name is written as most memories write it.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import AddMeta, RemoveMeta, SetMeta, apply_edits
from memhtml.format.parse import parse
from memhtml.index.analysis import folded
from memhtml.model.entities import normalize_entity, parse_entity
from memhtml.model.errors import BudgetSpent, ModelUnavailable
from memhtml.model.instants import stamp
from memhtml.model.plural import plural
from memhtml.model.whitespace import wide_trim
from memhtml.sleep.ledger import NEEDED_DAYS, Ledger
from memhtml.sleep.names import compact, declared_groups, overlap, tells_apart
from memhtml.sleep.phase import Decision, Finding, Outcome, Proposal
from memhtml.store.archive import later
from memhtml.store.plan import Put

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memhtml.format.edit import Edit
    from memhtml.sleep.phase import Context, Evidence
    from memhtml.sleep.population import Live
    from memhtml.store.plan import Step

__all__ = ["NAME", "NEEDS", "run"]

NAME = "entity-resolution"
NEEDS = ("preflight",)

# Sleep format §3.
SURE = 0.85
DOUBTFUL = 0.75
_MODEL_FLOOR = 0.7
_SHARD = 500
_MEMBER_TITLES = 3
_MEMBER_CHARS = 600

_MOST_COMPARED = 200_000
"""Pairs of names looked at for likeness: some two seconds."""
_COMMON_WORD = 60
"""A word that more names of a type share proposes no pairs."""
_MOST_DOUBTS = 50

Name = tuple[str, str]
"""Type and name of an entity, in normal form."""


class _Join(NamedTuple):
    """Two names that are one."""

    alias: Name
    name: Name
    why: str
    evidence: Evidence


@dataclass
class SameEntity:
    """Members that name one thing; the canonical one is among them."""

    canonical_key: str
    member_keys: list[str]
    confidence: float
    evidence: str = ""


@dataclass
class SameEntities:
    """What a model says of the names of one type."""

    clusters: list[SameEntity] = field(default_factory=list)


def run(context: Context) -> Outcome:
    """Propose one commit that gives each thing one name."""
    claims = _claims(context.population.active)
    counts: Counter[str] = Counter(entities=len(claims))
    ledger = Ledger(context.view)
    joins = [*_declared(context, claims), *_spellings(claims)]
    counts["aliasMerges"] = sum(join.why.startswith("The page") for join in joins)
    counts["fuzzyMerges"] = len(joins) - counts["aliasMerges"]
    judged_all = True
    if context.judge is not None:
        found, judged_all = _ask(context, claims, joins, ledger, counts)
        counts["llmMerges"] = len(found)
        joins += found
    leads = _leads(joins, claims)
    doubts, whole = _doubts(claims, leads)
    counts["reviewCandidates"] = len(doubts)
    wanted, spelt = _wanted(claims, leads)
    steps, decisions = _rewritten(context, wanted, joins)
    counts["namesNormalized"] = spelt
    counts["filesRewritten"] = len(steps)
    steps += ledger.steps()
    many = plural(len(leads), "name")
    subject = f"{many} of others, {spelt} spelled alike" if decisions else "what the model noticed"
    proposal = Proposal(subject=subject, steps=tuple(steps), decisions=tuple(decisions))
    notes = [] if context.judge else ["no model bound: only declared and spelled names are joined"]
    if not whole:
        notes.append("too many names to compare each for likeness")
    return Outcome(
        proposals=(proposal,) if steps else (),
        findings=tuple(doubts),
        judged_all=judged_all and whole,
        counts=dict(counts),
        detail="; ".join(notes) or None,
    )


def _claims(memories: Iterable[Live]) -> dict[Name, list[Live]]:
    """Return the memories that name each entity; what stands only in their text is none of ours."""
    claims: dict[Name, list[Live]] = defaultdict(list)
    for memory in memories:
        for reference in memory.entities:
            entity = parse_entity(_normal(reference))
            if entity is not None:
                claims[entity.type, entity.name].append(memory)
    return dict(claims)


# Evidence without a model


def _declared(context: Context, claims: Mapping[Name, Sequence[Live]]) -> Iterator[_Join]:
    for declared in declared_groups(context.population):
        for alias in sorted(declared.others):
            one, name = ("person", alias), ("person", declared.name)
            if one in claims:
                yield _Join(
                    one,
                    name,
                    f"The page {declared.page} says that {alias!r} is another name of "
                    f"{declared.name!r}.",
                    (
                        ("declared in", declared.page),
                        ("overlap", round(overlap(alias, name[1]), 3)),
                    ),
                )


def _spellings(claims: Mapping[Name, Sequence[Live]]) -> Iterator[_Join]:
    groups: dict[Name, list[Name]] = defaultdict(list)
    for kind, name in claims:
        groups[kind, compact(kind, name)].append((kind, name))
    for (_, shared), names in sorted(groups.items()):
        if len(names) < 2 or not shared:
            continue
        lead = _heaviest(names, claims)
        for one in sorted(names):
            score = overlap(folded(one[1])[0], folded(lead[1])[0])
            if one != lead and score >= SURE and not tells_apart(one[1], lead[1]):
                yield _Join(
                    one,
                    lead,
                    f"{one[1]!r} and {lead[1]!r} are two spellings of one name.",
                    (("overlap", round(score, 3)),),
                )


def _heaviest(names: Iterable[Name], claims: Mapping[Name, Sequence[Live]]) -> Name:
    return min(names, key=lambda name: (-len(claims.get(name, ())), name))


def _leads(joins: Iterable[_Join], claims: Mapping[Name, Sequence[Live]]) -> dict[Name, Name]:
    """Return of each name that goes the one that stays; a circle of them ends at its heaviest."""
    direct: dict[Name, Name] = {}
    for join in joins:
        direct.setdefault(join.alias, join.name)
    leads: dict[Name, Name] = {}
    for alias in direct:
        path = [alias]
        while (further := direct.get(path[-1])) is not None and further not in path:
            path.append(further)
        last = path[-1] if further is None else _heaviest(path[path.index(further) :], claims)
        if last != alias:
            leads[alias] = last
    return leads


# What is only alike


def _doubts(
    claims: Mapping[Name, Sequence[Live]], leads: Mapping[Name, Name]
) -> tuple[list[Finding], bool]:
    """Return names that a person should look at, likest first, and whether all were compared."""
    scored: list[tuple[float, Name, Name]] = []
    compared = 0
    for one, other in _alike(claims):
        compared += 1
        if compared > _MOST_COMPARED:
            break
        ends = {leads.get(one, one), leads.get(other, other)}
        if len(ends) < 2 or tells_apart(one[1], other[1]):
            continue
        score = overlap(one[1], other[1])
        if score >= DOUBTFUL:
            scored.append((-score, *sorted((one, other))))  # type: ignore[arg-type]  # three fields
    findings = []
    for negative, one, other in sorted(set(scored))[:_MOST_DOUBTS]:
        first, second = claims[one][0], claims[other][0]
        findings.append(
            Finding(
                NAME,
                f"{':'.join(one)} / {':'.join(other)}",
                f"confirm: is the {one[0]} {one[1]!r} ({first.path}) the same as {other[1]!r} "
                f"({second.path})? If so, declare one an alias of the other",
                tuple(dict.fromkeys((first.path, second.path))),
                ((first.path, first.gist), (second.path, second.gist)),
                (("overlap", round(-negative, 3)),),
            )
        )
    return findings, compared <= _MOST_COMPARED


def _alike(claims: Mapping[Name, Sequence[Live]]) -> Iterator[tuple[Name, Name]]:
    """Yield pairs of one type that share a word, or their first or last letters; a few twice."""
    blocks: dict[tuple[str, str, str], list[Name]] = defaultdict(list)
    for kind, name in sorted(claims):
        digits = "".join(letter for letter in name if letter.isdigit())
        words = {word for word in name.replace("-", " ").split() if not word.isdigit()}
        for word in words:
            blocks[kind, digits, word].append((kind, name))
        if len(name) > 3:
            blocks[kind, digits, f"{name[:3]}…"].append((kind, name))
            blocks[kind, digits, f"…{name[-3:]}"].append((kind, name))
    seen: set[tuple[Name, Name]] = set()
    for block in blocks.values():
        if len(block) > _COMMON_WORD:
            continue
        for place, one in enumerate(block):
            for other in block[place + 1 :]:
                shorter, longer = sorted((len(one[1]), len(other[1])))
                # So much shorter a name cannot overlap enough.
                if 2 * shorter >= DOUBTFUL * (shorter + longer) and (one, other) not in seen:
                    seen.add((one, other))
                    yield one, other


# Writing


def _rewritten(
    context: Context, wanted: Mapping[str, Mapping[str, str]], joins: Sequence[_Join]
) -> tuple[list[Step], list[Decision]]:
    """Return the steps that write every reference of *wanted* as it shall be, a file once."""
    because = {":".join(join.alias): join for join in reversed(joins)}
    steps: list[Step] = []
    decisions: list[Decision] = []
    for path in sorted(wanted):
        file = context.view.find(path)
        if file is None:
            continue
        head = parse(file.data).head
        renamed = [wanted[path].get(wide_trim(r), r) for r in head.entities]
        if tuple(renamed) == head.entities:
            # The name stands in its text alone, as a defined term does.
            continue
        once: dict[str, str] = {}
        for reference in renamed:
            once.setdefault(normalize_entity(reference), reference)
        edits: list[Edit] = [RemoveMeta("memhtml-entity")]
        edits += (AddMeta("memhtml-entity", reference) for reference in once.values())
        edits.append(SetMeta("memhtml-updated", later(stamp(context.now), head.updated_at)))
        steps.append(Put(path, apply_edits(file.data, edits), file.sha))
        decisions += (
            _decision(path, before, after, because.get(normalize_entity(before)))
            for before, after in zip(head.entities, renamed, strict=True)
            if before != after
        )
    return steps, decisions


def _wanted(
    claims: Mapping[Name, Sequence[Live]], leads: Mapping[Name, Name]
) -> tuple[dict[str, dict[str, str]], int]:
    """Return of each memory the references to write otherwise, and how many are spellings only."""
    spelled = _spelled(claims)
    wanted: dict[str, dict[str, str]] = defaultdict(dict)
    respelled: set[str] = set()
    for name, memories in claims.items():
        lead = leads.get(name, name)
        target = spelled.get(lead) or ":".join(lead)
        for memory in memories:
            for reference in memory.entities:
                if reference != target and _normal(reference) == ":".join(name):
                    wanted[memory.path][reference] = target
                    if lead == name:
                        respelled.add(reference)
    return wanted, len(respelled)


def _decision(path: str, before: str, after: str, join: _Join | None) -> Decision:
    evidence: Evidence = (("before", before), ("after", after))
    if join is None or normalize_entity(before) == normalize_entity(after):
        why = f"{before!r} is spelled {after!r} as most memories spell it."
        return Decision("respelled", path, why, evidence=evidence)
    return Decision("renamed", path, join.why, evidence=(*evidence, *join.evidence))


def _spelled(claims: Mapping[Name, Sequence[Live]]) -> dict[Name, str]:
    """Return how most memories spell each name, and the first by letters of those as common."""
    spellings: dict[Name, Counter[str]] = defaultdict(Counter)
    for name, memories in claims.items():
        for memory in memories:
            for reference in memory.entities:
                if _normal(reference) == ":".join(name):
                    spellings[name][" ".join(reference.split())] += 1
    return {
        name: min(counts, key=lambda spelling: (-counts[spelling], spelling))
        for name, counts in spellings.items()
    }


_normal = functools.lru_cache(maxsize=65_536)(normalize_entity)


# The model


def _ask(
    context: Context,
    claims: Mapping[Name, Sequence[Live]],
    joins: Sequence[_Join],
    ledger: Ledger,
    counts: Counter[str],
) -> tuple[list[_Join], bool]:
    """Return what the model found on enough days, and whether every batch was judged."""
    assert context.judge is not None  # noqa: S101 - the caller looked
    known = {frozenset((join.alias, join.name)) for join in joins}
    found: list[_Join] = []
    whole = True
    for kind, shard in _shards(claims):
        task = (
            f"Each member is a name of type {kind!r}. Say which of them name one and the same "
            "thing. Names that differ in a number, a version or a variant are different things, "
            "and so are people whose names are merely alike."
        )
        members = [_member(name, claims[name]) for name in shard]
        try:
            value, answer = context.judge.ask(task, members, SameEntities)
        except BudgetSpent:
            counts["callsFailed"] += 1
            return found, False
        except ModelUnavailable:
            counts["callsFailed"] += 1
            whole = False
            continue
        for cluster in value.clusters:
            places = [answer.find(key) for key in cluster.member_keys]
            counts["unresolved"] += places.count(None)
            meant = [shard[n] for n in sorted({n for n in places if n is not None})]
            for join in _believed(cluster, meant, claims):
                if frozenset((join.alias, join.name)) in known:
                    continue
                if _noticed_enough(join, ledger, stamp(context.now)[:10]):
                    found.append(join)
                else:
                    counts["pendingCorroboration"] += 1
    return found, whole


def _noticed_enough(join: _Join, ledger: Ledger, day: str) -> bool:
    about = (":".join(join.alias), ":".join(join.name))
    if ledger.note("same-entity", about, day) < NEEDED_DAYS:
        return False
    ledger.settle("same-entity", about)
    return True


def _shards(claims: Mapping[Name, Sequence[Live]]) -> Iterator[tuple[str, list[Name]]]:
    by_kind: dict[str, list[Name]] = defaultdict(list)
    for name in sorted(claims):
        by_kind[name[0]].append(name)
    for kind, names in sorted(by_kind.items()):
        for start in range(0, len(names), _SHARD):
            if len(shard := names[start : start + _SHARD]) > 1:
                yield kind, shard


def _believed(
    cluster: SameEntity, members: Sequence[Name], claims: Mapping[Name, Sequence[Live]]
) -> Iterator[_Join]:
    if cluster.confidence < _MODEL_FLOOR or len(members) < 2:
        return
    lead = _heaviest(members, claims)
    for member in members:
        if member != lead and not tells_apart(member[1], lead[1]):
            yield _Join(
                member,
                lead,
                f"The model found on {NEEDED_DAYS} days that {member[1]!r} is {lead[1]!r}.",
                (("confidence", cluster.confidence), ("said", cluster.evidence[:200])),
            )


def _member(name: Name, memories: Sequence[Live]) -> str:
    titles = "; ".join(memory.title for memory in memories[:_MEMBER_TITLES])
    return f"{name[1]} (in {plural(len(memories), 'memory', 'memories')}: {titles})"[:_MEMBER_CHARS]
