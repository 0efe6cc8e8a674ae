"""Placement triage: what lies in the inbox moves to where its like stand, if that is clear.

Two things vote: the memories most like it, and the placed memories that share its tags or entities.
A folder needs two thirds of a vote with three memories behind it, and the other vote must not say
otherwise. Only folders that exist are voted for; a model, on a deep run, may name one that does
not, and needs three memories for it too. Links follow, and nothing of the file itself changes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import BudgetSpent, ModelUnavailable
from memhtml.model.instants import stamp
from memhtml.model.paths import (
    directory_with_room,
    path_key,
    writable_fault,
)
from memhtml.model.plural import plural
from memhtml.search.days import days_between
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.sleep.phases.trace_consolidation import TAG
from memhtml.sleep.standing import GROUP_FLOORS
from memhtml.store.archive import repoint
from memhtml.store.plan import Move, Overlay

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memhtml.sleep.phase import Context, Evidence, Offered
    from memhtml.sleep.population import Live
    from memhtml.store.plan import Step

__all__ = ["NAME", "NEEDS", "Place", "Places", "run"]

NAME = "placement-triage"
NEEDS = ("preflight",)

INBOX = "areas/inbox"
KEEP = "keep-inbox"
MANAGED = (INBOX, "areas/arcs", "resources/people")
"""Folders that are not for topics."""

NEIGHBOURS = 8
LEAST_VOTERS = 3
CLEAR_SHARE = 2 / 3
SMALL_SHARE = 1 / 5
SETTLED_DAYS = 1.0
"""What is younger may still be worked on, or was written by this very run."""

# Sleep format §3.
BATCH = 16
MOST_ASKED = 2000
MEMBER_CHARS = 600
FLOOR = 0.7
NEW_FOLDERS = 5

_TASK = """\
Each member is a memory that lies in the inbox. Say in which folder it belongs. These exist:
{folders}
You may also name a new one under areas/ or resources/, in lower case with hyphens. Answer
"{keep}" where none is clearly right.
"""

_month_re = re.compile(r"/[0-9]{4}-[0-9]{2}(?:-[0-9]+)?$")
_folder_re = re.compile(r"(?:areas|resources)(?:/[a-z0-9]+(?:-[a-z0-9]+)*){1,3}")


@dataclass
class Place:
    """Where one member belongs."""

    member_key: str
    destination: str
    confidence: float


@dataclass
class Places:
    """Where the members belong."""

    places: list[Place] = field(default_factory=list)


class _Vote(NamedTuple):
    folder: str
    voters: int
    share: float


class _Choice(NamedTuple):
    folder: str
    why: str
    evidence: Evidence


def run(context: Context) -> Outcome:
    """Propose one commit with the moves."""
    waiting = [memory for memory in context.population.claims if _is_waiting(memory)]
    now = stamp(context.now)
    settled = [m for m in waiting if days_between(m.created_at, now) >= SETTLED_DAYS]
    homes = _homes(context)
    counts = Counter({"inbox": len(waiting), "fresh": len(waiting) - len(settled)})
    chosen = _by_votes(settled, homes, context)
    counts["byVotes"] = len(chosen)
    detail = None
    if not context.deep:
        detail = "no model was asked: the run is not deep"
    elif context.judge is None:
        detail = "no model bound: only clear votes counted"
    else:
        left = [memory for memory in settled if memory.path not in chosen][:MOST_ASKED]
        asked, detail = _by_model(left, homes, context, counts)
        counts["byModel"] = len(asked)
        chosen |= asked
    counts["unclear"] = len(settled) - len(chosen)
    steps, decisions = _moved(chosen, context, counts)
    counts["moved"] = len(decisions)
    if not decisions:
        return Outcome(counts=dict(counts), detail=detail)
    proposal = Proposal(
        subject=plural(len(decisions), "memory leaves", "memories leave") + " the inbox",
        steps=steps,
        decisions=decisions,
    )
    return Outcome(proposals=(proposal,), counts=dict(counts), detail=detail)


def _is_waiting(memory: Live) -> bool:
    return _without_month(memory.directory) == INBOX


def _without_month(folder: str) -> str:
    """Return *folder* without the subfolder of a month that a full one gets."""
    return _month_re.sub("", folder)


def _homes(context: Context) -> dict[str, str]:
    """Return the folder of each memory that stands in one for a topic."""
    found = {}
    for memory in context.population.claims:
        folder = _without_month(memory.directory)
        if _is_topical(folder):
            found[memory.path] = folder
    return found


def _is_topical(folder: str) -> bool:
    is_managed = any(folder == name or folder.startswith(f"{name}/") for name in MANAGED)
    return folder.startswith(("areas/", "resources/")) and not is_managed


# Votes


def _by_votes(
    settled: Sequence[Live], homes: Mapping[str, str], context: Context
) -> dict[str, _Choice]:
    if not settled or not homes:
        return {}
    near = _neighbours({memory.path for memory in settled}, homes, context)
    shares = _label_shares(homes, context)
    chosen = {}
    for memory in settled:
        likest = _winner((homes[path], 1, score) for path, score in near.get(memory.path, ()))
        labels = [shares[name] for name in _labels(memory) if name in shares]
        # Each label has one vote, shared out as those that bear it stand.
        labelled = _winner((vote for votes in labels for vote in votes), total=len(labels))
        choice = _choose(likest, labelled)
        if choice is not None:
            chosen[memory.path] = choice
    return chosen


def _labels(memory: Live) -> Iterator[str]:
    """Yield the tags and entities that say what *memory* is about, not how it came to be."""
    yield from (tag for tag in memory.tags if tag != TAG)
    yield from memory.entities


def _label_shares(
    homes: Mapping[str, str], context: Context
) -> dict[str, tuple[tuple[str, int, float], ...]]:
    """Return for each tag and entity the folders of those that bear it, how many, and their share.

    Folders with a small share are left out: they cannot win, and a name may be everywhere.
    """
    by_label: dict[str, Counter[str]] = defaultdict(Counter)
    for memory in context.population.claims:
        if memory.path in homes:
            for label in _labels(memory):
                by_label[label][homes[memory.path]] += 1
    found = {}
    for label, folders in by_label.items():
        total = folders.total()
        found[label] = tuple(
            (folder, count, count / total)
            for folder, count in folders.items()
            if count >= SMALL_SHARE * total
        )
    return found


def _neighbours(
    waiting: set[str], homes: Mapping[str, str], context: Context
) -> dict[str, list[tuple[str, float]]]:
    """Return the placed memories most like each of *waiting*."""
    near: dict[str, list[tuple[str, float]]] = defaultdict(list)
    floor = GROUP_FLOORS[context.likeness.basis]
    limit = NEIGHBOURS * len(context.population.claims)
    for one, other, score, _ in context.likeness.pairs(floor=floor, top=NEIGHBOURS, limit=limit):
        for here, there in ((one, other), (other, one)):
            if here in waiting and there in homes:
                near[here].append((there, score))
    return {path: found[:NEIGHBOURS] for path, found in near.items()}


def _winner(votes: Iterable[tuple[str, int, float]], total: float | None = None) -> _Vote | None:
    """Return the folder with the most weight, its share being of *total*, or of all weights.

    None where nobody voted.
    """
    weights: dict[str, float] = defaultdict(float)
    voters: Counter[str] = Counter()
    for folder, count, weight in votes:
        weights[folder] += weight
        voters[folder] += count
    if not weights:
        return None
    folder = min(weights, key=lambda name: (-weights[name], name))
    return _Vote(folder, voters[folder], weights[folder] / (total or sum(weights.values())))


def _choose(likest: _Vote | None, labelled: _Vote | None) -> _Choice | None:
    for vote, other in ((likest, labelled), (labelled, likest)):
        if vote is None or vote.voters < LEAST_VOTERS or vote.share < CLEAR_SHARE:
            continue
        if other is not None and other.folder != vote.folder:
            continue
        kind = "most like it" if vote is likest else "with its tags and entities"
        return _Choice(
            vote.folder,
            f"{vote.voters} memories {kind} stand in {vote.folder}, {vote.share:.0%} of the vote.",
            (
                ("voters", vote.voters),
                ("share", round(vote.share, 3)),
                ("likenessShare", round(likest.share, 3) if likest else 0.0),
                ("labelShare", round(labelled.share, 3) if labelled else 0.0),
            ),
        )
    return None


# A model


def _by_model(
    left: Sequence[Live], homes: Mapping[str, str], context: Context, counts: Counter[str]
) -> tuple[dict[str, _Choice], str | None]:
    judge = context.judge
    if judge is None:
        return {}, None
    sizes = Counter(homes.values())
    task = _TASK.format(folders="\n".join(f"- {name}" for name in sorted(sizes)), keep=KEEP)
    found: dict[str, _Choice] = {}
    detail = None
    for start in range(0, len(left), BATCH):
        batch = left[start : start + BATCH]
        members = [f"{m.title}\n{m.gist}\n{m.body}"[:MEMBER_CHARS] for m in batch]
        try:
            said, answer = judge.ask(task, members, Places)
        except BudgetSpent as error:
            counts["skipped"] += len(left) - start
            detail = error.message
            break
        except ModelUnavailable as error:
            counts["skipped"] += len(batch)
            detail = error.message
            continue
        found |= _admitted(said, answer, batch, judge.name, counts)
    return _supported(found, sizes, counts), detail


def _admitted(
    said: Places, answer: Offered, batch: Sequence[Live], model: str, counts: Counter[str]
) -> Iterator[tuple[str, _Choice]]:
    for place in said.places:
        member = answer.find(place.member_key)
        folder = place.destination.strip().strip("/")
        if member is None:
            counts["unresolved"] += 1
        elif folder == KEEP:
            counts["kept"] += 1
        elif place.confidence < FLOOR:
            counts["belowFloor"] += 1
        elif not _is_topical(folder) or _folder_re.fullmatch(folder) is None:
            counts["refused"] += 1
        else:
            evidence = (("model", model), ("confidence", round(place.confidence, 2)))
            yield batch[member].path, _Choice(folder, f"It belongs in {folder}.", evidence)


def _supported(
    found: Mapping[str, _Choice], sizes: Mapping[str, int], counts: Counter[str]
) -> dict[str, _Choice]:
    """Return the choices of folders that exist, or that enough memories go to."""
    wanted = Counter(choice.folder for choice in found.values() if choice.folder not in sizes)
    new = [name for name, count in wanted.most_common() if count >= LEAST_VOTERS][:NEW_FOLDERS]
    kept = {
        path: choice
        for path, choice in found.items()
        if choice.folder in sizes or choice.folder in new
    }
    counts["newFolders"] = len(new)
    counts["refused"] += len(found) - len(kept)
    return kept


# Moving


def _moved(
    chosen: Mapping[str, _Choice], context: Context, counts: Counter[str]
) -> tuple[tuple[Step, ...], tuple[Decision, ...]]:
    view = Overlay(context.view)
    steps: list[Step] = []
    decisions: list[Decision] = []
    for path in sorted(chosen):
        choice = chosen[path]
        folder = directory_with_room(
            choice.folder, at=context.now, entries=lambda name: len(view.names(name))
        )
        name = path.rpartition("/")[2]
        target = f"{folder}/{name}"
        file = view.find(path)
        if file is None or path_key(name) in view.names(folder) or writable_fault(target):
            counts["collision"] += 1
            continue
        view.add([move := Move(path, target, file.data, file.sha)])
        links = tuple(repoint(path, target, view))
        view.add(links)
        steps += (move, *links)
        evidence = (*choice.evidence, ("linksFollowed", len(links)))
        decisions.append(Decision("moved", path, choice.why, target, evidence))
    return tuple(steps), tuple(decisions)
