"""Edge typing: claims that contradict each other, and relations that a model can name.

Without a model: two live claims with one frame key and different values, both true at the same
time, cannot both hold, so a person is asked. Frames propose by form alone, so memories about
different things (another workspace, another entity, another file of the same kind in a list) are
left alone, and so is a slot that holds many values. Nothing is linked on that evidence.

With a model, pairs that are alike or share an entity are judged. A relation with a direction
becomes a link at once. That two contradict each other is linked, in both, when it was noticed on
two run dates; until then a person is asked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from memhtml.format.edit import AddLink, SetMeta, apply_edits, read_meta
from memhtml.model.edges import href_of
from memhtml.model.entities import normalize_entity
from memhtml.model.errors import BudgetSpent, ModelUnavailable
from memhtml.model.instants import stamp
from memhtml.model.plural import plural
from memhtml.model.vocabulary import Rel
from memhtml.sleep.equivalence import compare
from memhtml.sleep.folding import start_of
from memhtml.sleep.ledger import NEEDED_DAYS, Ledger
from memhtml.sleep.names import known_as
from memhtml.sleep.phase import Decision, Finding, Outcome, Proposal
from memhtml.sleep.statements import read_statement
from memhtml.store.archive import later
from memhtml.store.plan import Overlay, Put

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.sleep.phase import Context
    from memhtml.sleep.population import Live
    from memhtml.sleep.statements import Statement
    from memhtml.store.plan import Step

__all__ = ["NAME", "NEEDS", "run"]

NAME = "edge-typing"
NEEDS = ("preflight",)

_MOST_OF_A_FRAME = 6
"""A slot that more live claims fill is one that holds several values."""

# Sleep format §3.
_FLOORS = {"dense": 0.8, "sparse": 0.5, "shingles": 0.4}
_TOP = 5
_MOST_PAIRS = 200
_BATCH = 30
_MODEL_FLOOR = 0.7
_MOST_LINKS = 50
_MEMBER_CHARS = 1200
_DIRECTIONAL = {
    rel.value: rel
    for rel in (Rel.CAUSED_BY, Rel.LEADS_TO, Rel.EXAMPLE_OF, Rel.SUPPORTS, Rel.PART_OF)
}


@dataclass
class PairVerdict:
    """What a model says of one pair."""

    pair_key: str
    relation: str
    """One of caused_by, leads_to, example_of, supports, part_of, contradicts, none."""
    direction: str
    """``a_to_b`` when the first memory of the pair is the subject, else ``b_to_a``."""
    confidence: float
    rationale: str = ""


@dataclass
class PairVerdicts:
    """One verdict a pair; pairs without any relation may be left out."""

    verdicts: list[PairVerdict] = field(default_factory=list)


def run(context: Context) -> Outcome:
    """Propose links that a model is sure of, and tell of contradictions."""
    contradictions = list(_by_frame(context))
    counts: Counter[str] = Counter(frameContradictions=len(contradictions))
    findings = [_finding(context, *pair, rule="frame") for pair in contradictions]
    if context.judge is None:
        detail = "no model bound: contradictions are told from frames alone"
        return Outcome(findings=tuple(findings), counts=counts, detail=detail)
    typed = _Typed(context, counts, {frozenset(pair[:2]) for pair in contradictions})
    whole = typed.ask()
    typed.write_ledger()
    proposal = Proposal(
        subject=plural(counts["typed"] + counts["promoted"], "relation") + " between memories",
        steps=tuple(typed.steps),
        decisions=tuple(typed.decisions),
    )
    return Outcome(
        proposals=(proposal,) if typed.steps else (),
        findings=(*findings, *typed.findings),
        judged_all=whole,
        counts=counts,
    )


# From frames


def _by_frame(context: Context) -> Iterator[tuple[str, str]]:
    frames: dict[str, list[Live]] = defaultdict(list)
    for memory in context.population.claims:
        if memory.frame_key:
            frames[memory.frame_key].append(memory)
    leads = known_as(context.population)
    for memories in frames.values():
        if not 2 <= len(memories) <= _MOST_OF_A_FRAME:
            continue
        statements = [read_statement(memory, leads) for memory in memories]
        for one, other in combinations(statements, 2):
            if _may_contradict(one, other):
                yield one.memory.path, other.memory.path


def _may_contradict(one: Statement, other: Statement) -> bool:
    mine, theirs = one.memory, other.memory
    if mine.workspace != theirs.workspace or one.entities != other.entities:
        return False
    if mine.event_at and theirs.event_at and mine.event_at[:10] != theirs.event_at[:10]:
        # Two things that happened, on two days.
        return False
    if not _overlap(mine, theirs) or _are_related(mine, theirs):
        return False
    if one.claim.negated != other.claim.negated:
        return True
    same = compare(one, other).same
    return not same or set(one.claim.quantities) != set(other.claim.quantities)


def _overlap(one: Live, other: Live) -> bool:
    """Whether there is a time at which both are true."""
    return all(
        early.valid_until is None or early.valid_until > start_of(late)
        for early, late in ((one, other), (other, one))
    )


def _are_related(one: Live, other: Live) -> bool:
    """Whether somebody has linked the two already, so that it was noticed that they differ."""
    return any(
        path == target.path and rel != Rel.RELATES_TO
        for source, target in ((one, other), (other, one))
        for rel, path in source.links
    )


def _finding(context: Context, one: str, other: str, *, rule: str) -> Finding:
    by_path = context.population.by_path
    first, second = sorted((by_path[one], by_path[other]), key=lambda memory: memory.path)
    return Finding(
        NAME,
        f"contradiction: {first.path} / {second.path}",
        f"resolve: {first.path} and {second.path} cannot both hold; correct or archive one, or "
        "say until when it held",
        (first.path, second.path),
        ((first.path, first.gist), (second.path, second.gist)),
        (("found by", rule), ("frame", first.frame_key or "")),
    )


# From a model


class _Typed:
    """What a model's verdicts come to."""

    def __init__(self, context: Context, counts: Counter[str], known: set[frozenset[str]]) -> None:
        self._context = context
        self._counts = counts
        self._known = known
        self._view = Overlay(context.view)
        self._ledger = Ledger(context.view)
        self.steps: list[Step] = []
        self.decisions: list[Decision] = []
        self.findings: list[Finding] = []

    def ask(self) -> bool:
        """Have all candidates judged; return whether every batch was."""
        judge = self._context.judge
        assert judge is not None  # noqa: S101 - the caller looked
        pairs = _candidates(self._context)
        self._counts["candidates"] = len(pairs)
        whole = True
        for start in range(0, len(pairs), _BATCH):
            batch = pairs[start : start + _BATCH]
            members = [_member(one, other) for one, other in batch]
            try:
                value, answer = judge.ask(_TASK, members, PairVerdicts)
            except BudgetSpent:
                self._counts["skipped"] += 1
                return False
            except ModelUnavailable:
                self._counts["skipped"] += 1
                whole = False
                continue
            for verdict in value.verdicts:
                place = answer.find(verdict.pair_key)
                if place is None:
                    self._counts["unresolved"] += 1
                else:
                    self._take(verdict, *batch[place])
        return whole

    def write_ledger(self) -> None:
        """Add the step that keeps what was noticed once."""
        self.steps += self._ledger.steps()

    def _take(self, verdict: PairVerdict, one: Live, other: Live) -> None:
        if verdict.confidence < _MODEL_FLOOR:
            self._counts["belowFloor"] += 1
        elif verdict.relation == Rel.CONTRADICTS:
            self._contradict(verdict, *sorted((one, other), key=lambda memory: memory.path))
        elif (rel := _DIRECTIONAL.get(verdict.relation)) is not None:
            src, dst = (one, other) if verdict.direction == "a_to_b" else (other, one)
            if self._link(src, rel, dst, verdict):
                self._counts["typed"] += 1

    def _contradict(self, verdict: PairVerdict, one: Live, other: Live) -> None:
        pair = (one.path, other.path)
        day = stamp(self._context.now)[:10]
        if self._ledger.note("contradicts", pair, day) < NEEDED_DAYS:
            self._counts["pendingCorroboration"] += 1
            if frozenset(pair) not in self._known:
                self.findings.append(_finding(self._context, *pair, rule="model"))
            return
        if self._link(one, Rel.CONTRADICTS, other, verdict):
            self._link(other, Rel.CONTRADICTS, one, verdict, counted=False)
            self._ledger.settle("contradicts", pair)
            self._counts["promoted"] += 1

    def _link(
        self, src: Live, rel: Rel, dst: Live, verdict: PairVerdict, *, counted: bool = True
    ) -> bool:
        if counted and self._counts["typed"] + self._counts["promoted"] >= _MOST_LINKS:
            self._counts["capped"] += 1
            return False
        file = self._view.find(src.path)
        if file is None:
            return False
        stamped = later(stamp(self._context.now), read_meta(file.data, "memhtml-updated"))
        edits = (AddLink(rel, href_of(dst.path)), SetMeta("memhtml-updated", stamped))
        put = Put(src.path, apply_edits(file.data, edits), file.sha)
        self._view.add((put,))
        self.steps.append(put)
        evidence = (("confidence", verdict.confidence), ("said", verdict.rationale[:200]))
        why = f"The model reads {src.gist!r} as {rel.value} {dst.gist!r}."
        self.decisions.append(Decision("linked", src.path, why, dst.path, evidence))
        return True


_TASK = """\
Each member is a pair of memories, A and B. For each pair in which one plainly stands in a relation
to the other give one verdict, and leave the others out. Relations: caused_by (the subject happened
because of the object), leads_to, example_of, supports (the subject is evidence for the object),
part_of, contradicts (both cannot be true at the same time), none. The direction is a_to_b when A is
the subject, else b_to_a. Facts about different things, versions or times do not contradict."""


def _candidates(context: Context) -> list[tuple[Live, Live]]:
    """Return the likest pairs that no one has linked, those in one folder together."""
    by_path = context.population.by_path
    floor = _FLOORS[context.likeness.basis]
    found: dict[tuple[str, str], float] = {}
    pairs = context.likeness.pairs(floor=floor, top=_TOP, limit=_MOST_PAIRS * 5)
    for pair in pairs:
        found[pair.one, pair.other] = pair.score + _shares_entity(
            by_path[pair.one], by_path[pair.other]
        )
    ranked = sorted(found, key=lambda pair: (-found[pair], pair))
    loose = (
        (by_path[one], by_path[other])
        for one, other in ranked
        if not _are_linked(by_path[one], by_path[other])
    )
    best = [pair for pair, _ in zip(loose, range(_MOST_PAIRS), strict=False)]
    return sorted(best, key=lambda pair: (pair[0].directory, pair[0].path, pair[1].path))


def _shares_entity(one: Live, other: Live) -> float:
    mine, theirs = (set(map(normalize_entity, memory.entities)) for memory in (one, other))
    return 0.1 if mine & theirs else 0.0


def _are_linked(one: Live, other: Live) -> bool:
    return any(
        path == target.path
        for source, target in ((one, other), (other, one))
        for _, path in source.links
    )


def _member(one: Live, other: Live) -> str:
    return f"A: {_text(one)}\n\nB: {_text(other)}"


def _text(memory: Live) -> str:
    return f"{memory.gist}\n{memory.body}"[:_MEMBER_CHARS]
