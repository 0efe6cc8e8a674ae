"""Task detection: what a memory says is still to do, proposed as a task with its words.

Cues find what certainly is a commitment (`memhtml.sleep.cues`); a model, where one is bound, reads
the newest memories too, and its quotes are looked up before anything else is done with them. A
memory has to be young for its words to open a task. An open one stays as long as the words still
stand in a live memory, whoever found them, and closes when they do not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memhtml.format.parse import parse
from memhtml.model.edges import path_of_href
from memhtml.model.errors import BudgetSpent, ModelUnavailable
from memhtml.model.instants import is_instant, stamp
from memhtml.model.vocabulary import MemoryType
from memhtml.model.whitespace import collapse
from memhtml.scoring.nearness import near_key
from memhtml.search.days import days_between
from memhtml.sleep.cues import due_of, find_cue, sentences
from memhtml.sleep.detections import AUTHOR, DETECTED
from memhtml.sleep.phase import Finding, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memhtml.sleep.phase import Context, Evidence, Judge, Offered
    from memhtml.sleep.population import Live

__all__ = ["NAME", "NEEDS", "Commitment", "Commitments", "run"]

NAME = "task-detection"
NEEDS = ("preflight",)

# Sleep format §3.
MODEL_MEMORIES = 200
BATCH = 20
MEMBER_CHARS = 1200
FLOOR = 0.7

_TASK = """\
Find what somebody still has to do: commitments ("I will send it by Friday") and follow-ups ("we
need to ask them again"). Not advice, not rules, not conditions, not what is done already. At most
one for each member. Give the sentence letter by letter as it stands there.
"""
# What says how things are done, or what somebody likes, is full of "must" and owes nothing.
_RULES = frozenset(
    {
        MemoryType.PROCEDURAL,
        MemoryType.PRECEDENT,
        MemoryType.USER_PREFERENCE,
        MemoryType.ARC,
        MemoryType.TASK,
    }
)


@dataclass
class Commitment:
    """Something somebody still has to do."""

    member_key: str
    sentence: str
    kind: str
    """``commitment`` or ``followup``."""
    confidence: float


@dataclass
class Commitments:
    """What the members say is still to do."""

    findings: list[Commitment] = field(default_factory=list)


def run(context: Context) -> Outcome:
    """Return a finding for each commitment; open tasks whose words still stand come first."""
    young = _young(context)
    known = _known(context)
    counts = {"memories": len(young), "standing": 0, "cues": 0, "model": 0, "known": 0}
    findings: dict[str, Finding] = {}
    for memory, sentence in _standing(context):
        findings.setdefault(_key(memory, sentence), _finding(memory, sentence, ()))
        counts["standing"] += 1
    taken = {finding.paths[0] for finding in findings.values()}
    for memory in young:
        found = _first_cue(memory)
        if found is None or memory.path in taken:
            continue
        sentence, evidence = found
        taken.add(memory.path)
        if near_key(sentence) in known:
            counts["known"] += 1
            continue
        findings.setdefault(_key(memory, sentence), _finding(memory, sentence, evidence))
        counts["cues"] += 1
    detail = None
    if context.judge is None:
        detail = "no model bound: only sentences with a clear cue were found"
    else:
        left = [memory for memory in young if memory.path not in taken]
        reading = _Reading(context.judge)
        for memory, sentence, evidence in reading.read(left[:MODEL_MEMORIES]):
            findings.setdefault(_key(memory, sentence), _finding(memory, sentence, evidence))
            counts["model"] += 1
        counts |= reading.counts
        detail = reading.detail
    return Outcome(findings=tuple(findings.values()), counts=counts, detail=detail)


def _young(context: Context) -> list[Live]:
    """Return the memories whose words may open a task, the newest first."""
    now = stamp(context.now)
    found = [
        memory
        for memory in context.population.active
        if memory.memory_type not in _RULES
        and days_between(_said_on(memory), now) <= context.settings.detection_days
    ]
    return sorted(found, key=lambda memory: (_said_on(memory), memory.path), reverse=True)


def _said_on(memory: Live) -> str:
    return max(memory.created_at, memory.news_at)


def _known(context: Context) -> set[str | None]:
    """Return what the tasks that people wrote say, so that none is proposed again."""
    tasks = (task for task in context.population.tasks if DETECTED not in task.tags)
    return {near_key(task.gist) for task in tasks} - {None}


def _standing(context: Context) -> Iterator[tuple[Live, str]]:
    """Yield the words that opened each open task of ours, where they still stand."""
    for task in context.population.tasks:
        if task.archived or task.author != AUTHOR or not {DETECTED, NAME} <= set(task.tags):
            continue
        file = context.view.find(task.path)
        for citation in parse(file.data).citations if file else ():
            sentence = collapse(citation.text)
            memory = _where(sentence, path_of_href(citation.href or ""), context)
            if memory is not None:
                yield memory, sentence


def _where(sentence: str, path: str | None, context: Context) -> Live | None:
    """Return the live memory that has *sentence*: the one at *path*, or where that moved to."""
    here = context.population.by_path.get(path or "")
    if here is not None and not here.archived:
        return here if sentence in here.body else None
    return next((memory for memory in context.population.active if sentence in memory.body), None)


def _first_cue(memory: Live) -> tuple[str, Evidence] | None:
    for sentence in sentences(memory.body):
        cue = find_cue(sentence)
        if cue is not None:
            return sentence, (("cue", cue.name), ("words", cue.words))
    return None


def _key(memory: Live, sentence: str) -> str:
    # The day tells two like commitments apart, and neither moves nor edits change it.
    return f"{sentence}\n{memory.created_at[:10]}"


def _finding(memory: Live, sentence: str, evidence: Evidence) -> Finding:
    due = due_of(sentence, _said_on(memory))
    return Finding(
        detector=NAME,
        key=_key(memory, sentence),
        claim=f"Confirm whether this is still to do: {sentence}",
        paths=(memory.path,),
        quotes=((memory.path, sentence),),
        measured=evidence,
        due=due if due and is_instant(due) else None,
    )


class _Reading:
    """A model reads memories, batch by batch."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.counts = {"unverified": 0, "unresolved": 0, "belowFloor": 0, "skipped": 0}
        self.detail: str | None = None

    def read(self, memories: list[Live]) -> Iterator[tuple[Live, str, Evidence]]:
        """Yield what it found and what of it stands there verbatim."""
        for start in range(0, len(memories), BATCH):
            batch = memories[start : start + BATCH]
            members = [f"{m.title}\n{m.gist}\n{m.body}"[:MEMBER_CHARS] for m in batch]
            try:
                found, answer = self._judge.ask(_TASK, members, Commitments)
            except BudgetSpent as error:
                self.detail = error.message
                self.counts["skipped"] += len(memories) - start
                return
            except ModelUnavailable as error:
                self.detail = error.message
                self.counts["skipped"] += len(batch)
                continue
            yield from self._verified(found.findings, batch, answer)

    def _verified(
        self, found: Iterable[Commitment], batch: list[Live], answer: Offered
    ) -> Iterator[tuple[Live, str, Evidence]]:
        seen: set[int] = set()
        for commitment in found:
            place = answer.find(commitment.member_key)
            sentence = collapse(commitment.sentence)
            if place is None:
                self.counts["unresolved"] += 1
            elif commitment.confidence < FLOOR:
                self.counts["belowFloor"] += 1
            elif not sentence or sentence not in batch[place].body:
                self.counts["unverified"] += 1
            elif place not in seen:
                seen.add(place)
                yield (
                    batch[place],
                    sentence,
                    (
                        ("model", self._judge.name),
                        ("kind", commitment.kind),
                        ("confidence", round(commitment.confidence, 2)),
                    ),
                )
