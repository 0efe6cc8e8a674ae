"""Duplicates: memories that say the same in other words become one, and what each knew is kept.

Likeness, equal content, equal keys and equal frames only propose. A pair is folded when every word
of either claim is accounted for in the other (`memhtml.sleep.equivalence`), no veto speaks
(`memhtml.sleep.vetoes`), and the one that goes says nothing that the one that stays does not. The
fresher claim stays, corrections before others; the older one stays only where it alone has it all.
A model, where one is bound, proposes pairs in words that no table knows; the vetoes hold for it
too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import BudgetSpent, ModelUnavailable
from memhtml.model.plural import plural
from memhtml.model.vocabulary import Rel
from memhtml.sleep.equivalence import adds, compare, known_names
from memhtml.sleep.folding import fold
from memhtml.sleep.names import known_as
from memhtml.sleep.phase import Decision, Finding, Outcome, Proposal
from memhtml.sleep.quiet import is_pinned
from memhtml.sleep.statements import read_statement
from memhtml.sleep.vetoes import find_veto
from memhtml.store.plan import Overlay

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memhtml.sleep.phase import Context, Evidence
    from memhtml.sleep.population import Live
    from memhtml.sleep.statements import Statement
    from memhtml.sleep.vetoes import Veto
    from memhtml.store.plan import Step

__all__ = ["NAME", "NEEDS", "run"]

NAME = "dedup-merge"
NEEDS = ("preflight",)

_FLOORS = {"dense": 0.8, "sparse": 0.55, "shingles": 0.45}
"""From here on a pair is looked at; what is folded is decided by words, so these may be low."""
_TOP = 8
_PAIRS_A_MEMORY = 4
_MOST_OF_A_KEY = 24
"""A key that more memories share is a form, not a fact; its pairs are left to likeness."""

# What a model is given (sleep format §3).
_MODEL_FLOORS = {"dense": 0.86, "sparse": 0.6, "shingles": 0.35}
_MODEL_PAIRS = 800
_COMPONENT_MEMBERS = 8
_COMPONENTS = 300
_CALL_MEMBERS = 40
_CALL_CHARS = 48_000
_MEMBER_CHARS = 1200

_UNSURE = frozenset({"negation", "quantity", "mode", "quantifier", "bound", "facet"})
"""Vetoes that tell of two memories with the same words that one of them is wrong, perhaps."""


_name_re = re.compile(r"[^\W\d]|\d+[^\W\d_]")


class _Judged(NamedTuple):
    one: Statement
    other: Statement
    score: float
    basis: str
    veto: Veto | None


@dataclass
class SameFact:
    """Members that state one fact."""

    member_keys: list[str]


@dataclass
class SameFacts:
    """What a model says: groups of two or more members, each group one fact; none is an answer."""

    groups: list[SameFact] = field(default_factory=list)


@dataclass
class _Found:
    """What looking at pairs came to."""

    accepted: list[_Judged] = field(default_factory=list)
    vetoed: list[_Judged] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def run(context: Context) -> Outcome:
    """Propose one commit that folds duplicates, and tell of those that a veto keeps apart."""
    candidates = _candidates(context)
    statements = _read(context, {path for pair in candidates for path in pair})
    names = known_names(statements.values())
    found = _Found()
    found.counts["candidates"] = len(candidates)
    for (one, other), (score, basis) in candidates.items():
        judged = _judge(statements[one], statements[other], names, score, basis)
        if judged is not None:
            (found.accepted if judged.veto is None else found.vetoed).append(judged)
    detail = None if context.judge else "no model bound: wordings that no table knows stay apart"
    asked_all = True
    if context.judge is not None:
        asked_all = _ask(context, statements, names, found)
    proposal, findings = _fold_all(context, statements, names, found)
    found.counts["vetoed"] = len(found.vetoed)
    gone = {decision.path for decision in proposal.decisions} if proposal else set()
    findings += [_kept_apart(judged) for judged in found.vetoed if _is_doubtful(judged)]
    findings = [finding for finding in findings if gone.isdisjoint(finding.paths)]
    return Outcome(
        proposals=() if proposal is None else (proposal,),
        findings=tuple(findings),
        judged_all=asked_all,
        counts=dict(found.counts),
        detail=detail,
    )


# Candidates


def _candidates(context: Context) -> dict[tuple[str, str], tuple[float, str]]:
    """Return the pairs worth a look, each with its likeness and what proposed it, best first."""
    claims = context.population.claims
    basis = context.likeness.basis
    found: dict[tuple[str, str], tuple[float, str]] = {}
    for key in ("content_hash", "near_key", "frame_key"):
        for pair in _sharing(claims, key):
            found.setdefault(pair, (0.0, key))
    limit = _PAIRS_A_MEMORY * max(len(claims), 100)
    for one, other, score, _ in context.likeness.pairs(floor=_FLOORS[basis], top=_TOP, limit=limit):
        found[one, other] = (score, basis)
    ranked = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))
    return dict(ranked)


def _sharing(claims: Iterable[Live], key: str) -> Iterator[tuple[str, str]]:
    groups: dict[str, list[str]] = {}
    for memory in claims:
        value = getattr(memory, key)
        if value:
            groups.setdefault(value, []).append(memory.path)
    for paths in groups.values():
        if len(paths) <= _MOST_OF_A_KEY:
            yield from combinations(sorted(paths), 2)
        elif key == "content_hash":
            first, *others = sorted(paths)
            yield from ((first, other) for other in others)


def _read(context: Context, paths: Iterable[str]) -> dict[str, Statement]:
    leads = known_as(context.population)
    by_path = context.population.by_path
    return {path: read_statement(by_path[path], leads) for path in sorted(paths)}


def _judge(
    one: Statement, other: Statement, names: frozenset[str], score: float, basis: str
) -> _Judged | None:
    """Return the pair if its claims say the same, with the veto that keeps it apart, if any."""
    is_copy = one.memory.content_hash == other.memory.content_hash
    if not is_copy and not compare(one, other, names).same:
        return None
    return _Judged(one, other, score, basis, find_veto(one, other, names))


# Folding


def _fold_all(
    context: Context,
    statements: Mapping[str, Statement],
    names: frozenset[str],
    found: _Found,
) -> tuple[Proposal | None, list[Finding]]:
    accepted = {(j.one.memory.path, j.other.memory.path): j for j in found.accepted}
    view = Overlay(context.view)
    steps: list[Step] = []
    decisions: list[Decision] = []
    findings: list[Finding] = []
    for group in _groups(accepted):
        members = sorted((statements[path] for path in group), key=_worth, reverse=True)
        while len(members) > 1:
            survivor, dropped, left_over = _choose(members, accepted, names)
            for statement in dropped:
                if len(decisions) >= context.settings.max_merges:
                    found.counts["capped"] += 1
                    continue
                pair = _pair(survivor, statement)
                steps += fold(survivor.memory, statement.memory, view, now=context.now)
                decisions.append(_decision(survivor, statement, accepted[pair]))
            for statement in left_over:
                pair = _pair(survivor, statement)
                if pair in accepted:
                    found.counts["addsSomething"] += 1
                    findings.append(_both_add(survivor, statement))
            members = [m for m in left_over if _pair(survivor, m) not in accepted]
    found.counts["merged"] = len(decisions)
    if not decisions:
        return None, findings
    return (
        Proposal(
            subject=f"fold {plural(len(decisions), 'duplicate')}",
            steps=tuple(steps),
            decisions=tuple(decisions),
        ),
        findings,
    )


def _groups(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return what hangs together by *pairs*, each group sorted, in order of its first path."""
    leads: dict[str, str] = {}

    def lead(path: str) -> str:
        while (up := leads.setdefault(path, path)) != path:
            leads[path] = leads.setdefault(up, up)
            path = up
        return path

    for one, other in pairs:
        first, second = sorted((lead(one), lead(other)))
        leads[second] = first
    groups: dict[str, list[str]] = {}
    for path in sorted(leads):
        groups.setdefault(lead(path), []).append(path)
    return [groups[first] for first in sorted(groups)]


def _worth(statement: Statement) -> tuple[bool, bool, bool, str, float, int, int, str]:
    """Return what to sort by so that the memory which should stay comes last."""
    memory = statement.memory
    return (
        is_pinned(memory),
        any(rel == Rel.SUPERSEDES for rel, _ in memory.links),
        memory.confidence >= 0.5,
        memory.news_at,
        memory.confidence,
        memory.importance,
        len(memory.body),
        memory.path,
    )


def _choose(
    members: Sequence[Statement],
    accepted: Mapping[tuple[str, str], _Judged],
    names: frozenset[str],
) -> tuple[Statement, list[Statement], list[Statement]]:
    """Return who stays, who goes into it, and the rest, none of whom a veto keeps from another."""
    best: tuple[Statement, list[Statement]] | None = None
    for survivor in members:
        dropped: list[Statement] = []
        for statement in members:
            if (
                statement is not survivor
                and not is_pinned(statement.memory)
                and _pair(survivor, statement) in accepted
                and not adds(statement, survivor)
                and all(find_veto(statement, other, names) is None for other in dropped)
            ):
                dropped.append(statement)
        if best is None or len(dropped) > len(best[1]):
            best = survivor, dropped
        if len(dropped) == len(members) - 1:
            break
    assert best is not None  # noqa: S101 - there are members
    survivor, dropped = best
    return survivor, dropped, [m for m in members if m is not survivor and m not in dropped]


def _pair(one: Statement, other: Statement) -> tuple[str, str]:
    first, second = sorted((one.memory.path, other.memory.path))
    return first, second


def _decision(survivor: Statement, dropped: Statement, judged: _Judged) -> Decision:
    if is_pinned(survivor.memory):
        reason = "it is pinned"
    elif any(rel == Rel.SUPERSEDES for rel, _ in survivor.memory.links):
        reason = "it corrected another"
    elif survivor.memory.news_at > dropped.memory.news_at:
        reason = f"it is the fresher one ({survivor.memory.news_at[:10]})"
    elif survivor.memory.news_at < dropped.memory.news_at:
        reason = "it alone has everything that either says, though the other is fresher"
    else:
        reason = "both are equally fresh, and it is the more certain or the fuller one"
    return Decision(
        "merged",
        dropped.memory.path,
        f"Both say the same, and {survivor.memory.path} stays because {reason}.",
        survivor.memory.path,
        (*_evidence(judged), ("stays", survivor.memory.gist), ("goes", dropped.memory.gist)),
    )


def _evidence(judged: _Judged) -> Evidence:
    likeness = (("likeness", round(judged.score, 3)),) if judged.score else ()
    return (("found by", judged.basis), *likeness)


# What is for a person


def _is_doubtful(judged: _Judged) -> bool:
    """Whether the two speak of one thing, so that one of them may be wrong."""
    one, other = judged.one, judged.other
    if judged.veto is None or judged.veto.rule not in _UNSURE:
        return False
    if judged.veto.rule != "quantity":
        return True
    # Another number in a name or another version is another thing, and two values of one frame
    # are told as a contradiction by edge-typing.
    differing = set(one.claim.quantities) ^ set(other.claim.quantities)
    is_name = any(_name_re.match(value) for value in differing)
    frame = one.memory.frame_key
    return not is_name and (frame is None or frame != other.memory.frame_key)


def _kept_apart(judged: _Judged) -> Finding:
    one, other = judged.one.memory, judged.other.memory
    assert judged.veto is not None  # noqa: S101 - only vetoed pairs come here
    return Finding(
        NAME,
        f"{judged.veto.rule}: {one.path} / {other.path}",
        f"confirm: {one.path} and {other.path} use the same words, but {judged.veto.why}; "
        "which of them holds?",
        (one.path, other.path),
        ((one.path, one.gist), (other.path, other.gist)),
        (*_evidence(judged), ("veto", judged.veto.rule)),
    )


def _both_add(one: Statement, other: Statement) -> Finding:
    mine, theirs = adds(one, other), adds(other, one)
    return Finding(
        NAME,
        f"both add: {' / '.join(_pair(one, other))}",
        f"decide: {one.memory.path} and {other.memory.path} claim the same, and each adds "
        "something; fold them by hand or keep both",
        _pair(one, other),
        ((one.memory.path, one.memory.gist), (other.memory.path, other.memory.gist)),
        (("only the first", " ".join(mine[:8])), ("only the second", " ".join(theirs[:8]))),
    )


# The model


def _ask(
    context: Context,
    statements: dict[str, Statement],
    names: frozenset[str],
    found: _Found,
) -> bool:
    """Let the model propose pairs; return whether every batch was judged."""
    assert context.judge is not None  # noqa: S101 - the caller looked
    basis = context.likeness.basis
    known = {_pair(j.one, j.other) for j in (*found.accepted, *found.vetoed)}
    pairs = [
        (one, other)
        for one, other, _, _ in context.likeness.pairs(
            floor=_MODEL_FLOORS[basis], top=5, limit=_MODEL_PAIRS
        )
    ]
    pairs += _sharing(context.population.claims, "frame_key")
    groups = [g[:_COMPONENT_MEMBERS] for g in _groups(p for p in pairs if p not in known)]
    found.counts["components"] = len(groups)
    found.counts["capped"] += max(0, len(groups) - _COMPONENTS)
    whole = len(groups) <= _COMPONENTS
    for batch in _packed(groups[:_COMPONENTS], context.population.by_path):
        component_of = [n for n, group in enumerate(batch) for _ in group]
        paths = [path for group in batch for path in group]
        task = (
            "Say which members state the same fact in other words, so that one of them can go. "
            "A member that adds a condition, a number, a time, another name or a negation states "
            "another fact. Members can only be the same within one component: "
            + "; ".join(
                f"component {n + 1}: "
                + " ".join(f"m{i + 1}" for i, c in enumerate(component_of) if c == n)
                for n in range(len(batch))
            )
            + ". Leave out every member that is alone."
        )
        members = [_member(context.population.by_path[path]) for path in paths]
        try:
            value, answer = context.judge.ask(task, members, SameFacts)
        except BudgetSpent:
            found.counts["skipped"] += 1
            return False
        except ModelUnavailable:
            found.counts["skipped"] += 1
            whole = False
            continue
        for group in value.groups:
            places = [answer.find(key) for key in group.member_keys]
            found.counts["unresolved"] += places.count(None)
            within = sorted({n for n in places if n is not None})
            if len({component_of[n] for n in within}) != 1:
                continue
            found.counts["modelGroups"] += 1
            missing = [paths[n] for n in within if paths[n] not in statements]
            statements |= _read(context, missing)
            for first, second in combinations(within, 2):
                one, other = (statements[paths[n]] for n in (first, second))
                if _pair(one, other) in known:
                    continue
                known.add(_pair(one, other))
                veto = find_veto(one, other, names)
                judged = _Judged(one, other, 0.0, context.judge.name, veto)
                (found.accepted if veto is None else found.vetoed).append(judged)
    return whole


def _packed(groups: Sequence[list[str]], by_path: Mapping[str, Live]) -> Iterator[list[list[str]]]:
    """Yield groups, as many at a time as fit into one call."""
    batch: list[list[str]] = []
    members = chars = 0
    for group in groups:
        size = sum(len(_member(by_path[path])) for path in group)
        if batch and (members + len(group) > _CALL_MEMBERS or chars + size > _CALL_CHARS):
            yield batch
            batch, members, chars = [], 0, 0
        batch.append(group)
        members += len(group)
        chars += size
    if batch:
        yield batch


def _member(memory: Live) -> str:
    return f"{memory.gist}\n{memory.body}"[:_MEMBER_CHARS]
