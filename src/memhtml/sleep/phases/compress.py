"""Compress: several quiet memories about one thing become one, and nothing they say is lost.

The deterministic core only extracts. It takes a memory with those that are directly like it or
linked to it and puts what each says, word for word, into one: the claim of the one in the middle
leads, the others follow as a list, each with a link to its original in the archive. Sentences that
repeat what stands there already, by `memhtml.scoring.nearness`, are left out; claims never are. A
model, where one is bound, may write the lead instead; the claims then stand below it all the same.

What is folded is chosen narrowly. It has to be quiet for long, plain prose, undated, unprotected,
without a term, without links that mean more than "relates to", and to share its slot with no other
member, for two values of one slot are a contradiction and for a person. Records of a day stay where
they are and become part of the new memory.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import AddLink, SetMeta, apply_edits
from memhtml.format.escape import escape_attribute, escape_text
from memhtml.model.document import Link
from memhtml.model.edges import href_of
from memhtml.model.errors import BudgetSpent, InvalidMemory, ModelUnavailable, SecretFound
from memhtml.model.instants import stamp
from memhtml.model.memory import Draft
from memhtml.model.paths import bucket_of, memory_path
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.model.whitespace import collapse, is_blank
from memhtml.scoring.nearness import near_key
from memhtml.scoring.retention import Band
from memhtml.sleep.cues import sentences
from memhtml.sleep.detections import AUTHOR
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.sleep.standing import Protections, graph_of, standings
from memhtml.store.archive import archiving, repoint
from memhtml.store.plan import Overlay, Put
from memhtml.store.write import free_path, plan_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memhtml.model.paths import MemoryPath
    from memhtml.scoring.graphs import Graph
    from memhtml.sleep.phase import Context, Evidence
    from memhtml.sleep.population import Live
    from memhtml.store.plan import File, Step

__all__ = ["NAME", "NEEDS", "Folded", "run"]

NAME = "compress"
NEEDS = ("preflight", "dedup-merge")

MOST = 8
"""Members of one new memory (sleep format §3)."""
LEAST = 3
"""Without a model; two alike are better told apart than put in one file."""
LEAST_WITH_MODEL = 2
MOST_OFFERED = 2000
MEMBER_WORDS = 150
"""What is longer is no fragment."""
MEMBER_CHARS = 1200
COMMON_ENTITY = 64
"""An entity that more memories have says little about what belongs together."""

_FOLDABLE = frozenset({MemoryType.SEMANTIC, MemoryType.EPISODIC, MemoryType.AGENT_INSIGHT})
_LOOSE = frozenset({Rel.RELATES_TO, Rel.LATERALLY_RELATED, Rel.ABOUT_PERSON, Rel.FROM_SESSION})
_DAY = "day"
_INBOX = "areas/inbox"
_ENDS = (".", "!", "?")
# What a list item could not carry word for word.
_STRUCTURE = (b"<pre", b"<table", b"<figure", b"<dl", b"<details", b"<aside", b"<ul", b"<ol")

_TASK = """\
The members are memories about one thing. Fold those that belong together into one: a title, one
sentence that is the claim, and paragraphs with what else they say. Absorb a member only if all it
says is truly carried by your text. Add nothing that no member says. When they do not belong
together, absorb none.
"""


@dataclass
class Folded:
    """Several members as one memory."""

    title: str
    claim: str
    paragraphs: list[str] = field(default_factory=list)
    absorbed_keys: list[str] = field(default_factory=list)


class _Group(NamedTuple):
    """Memories about one thing."""

    members: tuple[Live, ...]
    """The one in the middle first."""
    dated: tuple[Live, ...]
    evidence: Evidence
    lead: Folded | None = None
    """What a model wrote of the members."""


def run(context: Context) -> Outcome:
    """Propose one commit for each memory that several become."""
    graph = graph_of(context)
    candidates, dated = _candidates(context, graph)
    counts = Counter({"candidates": len(candidates), "dated": len(dated)})
    detail = None
    if context.judge is None:
        detail = "no model bound: what memories say was put together word for word"
        groups = list(_stars(candidates, dated, graph))
    else:
        offered = _offered(candidates, dated, graph, deep=context.deep)
        groups, detail = _judged(offered, context, counts)
    counts["groups"] = len(groups)
    folder = _Folder(context)
    for group in groups[: context.settings.max_compressions]:
        folder.fold(group)
    counts |= folder.counts
    counts["deferred"] += max(0, len(groups) - context.settings.max_compressions)
    return Outcome(proposals=tuple(folder.proposals), counts=dict(counts), detail=detail)


# Who


def _candidates(context: Context, graph: Graph) -> tuple[dict[str, Live], dict[str, Live]]:
    """Return the memories that may be folded, and the dated ones that may become part of one."""
    found = standings(context, graph)
    protections = Protections(context)
    contested = {
        path
        for memory in context.population.active
        for rel, target in memory.links
        if rel == Rel.CONTRADICTS
        for path in (memory.path, target)
    }
    plain: dict[str, Live] = {}
    dated: dict[str, Live] = {}
    for memory in context.population.claims:
        standing = found[memory.path]
        if (
            standing.band is not Band.COMPRESS
            or standing.quiet_days < context.settings.compress_after_days
            or memory.memory_type not in _FOLDABLE
            or memory.path in contested
            or any(rel not in _LOOSE for rel, _ in memory.links)
            or not _is_plain(memory, context)
            or protections.find(memory) is not None
        ):
            continue
        (dated if _is_dated(memory) else plain)[memory.path] = memory
    return plain, dated


def _is_dated(memory: Live) -> bool:
    return memory.event_at is not None or any(f.name.casefold() == _DAY for f in memory.facets)


def _is_plain(memory: Live, context: Context) -> bool:
    if (
        memory.valid_until is not None
        or (memory.valid_from or "") > stamp(context.now)
        or memory.word_count > MEMBER_WORDS
        or collapse(memory.gist) not in collapse(memory.body)
    ):
        return False
    if _is_dated(memory):
        return True
    file = context.view.find(memory.path)
    return file is not None and not any(tag in file.data.lower() for tag in _STRUCTURE)


def _fits(memory: Live, members: Sequence[Live]) -> bool:
    """Whether *memory* may stand in one file with *members*: one place, and no slot twice."""
    first = members[0]
    if (memory.workspace, bucket_of(memory.path)) != (first.workspace, bucket_of(first.path)):
        return False
    return memory.frame_key is None or all(memory.frame_key != m.frame_key for m in members)


def _stars(
    candidates: Mapping[str, Live], dated: Mapping[str, Live], graph: Graph
) -> Iterator[_Group]:
    """Yield groups of a memory and its own neighbours, the closest knit first.

    Within one community, and never over two steps: what is like what is like a memory need not be
    like it.
    """
    communities = graph.communities()
    near = {
        path: {
            other: weight
            for other, weight in graph.neighbours(path).items()
            if communities.get(other) == communities.get(path) is not None
        }
        for path in candidates
    }
    left = dict(candidates)
    ranked = sorted(
        candidates, key=lambda path: (-sum(near[path][o] for o in near[path] if o in left), path)
    )
    for path in ranked:
        if path not in left:
            continue
        members = [left[path]]
        around = sorted(near[path].items(), key=lambda item: (-item[1], item[0]))
        for other, _ in around:
            if other in left and len(members) < MOST and _fits(left[other], members):
                members.append(left[other])
        if len(members) < LEAST:
            continue
        for member in members:
            del left[member.path]
        beside = tuple(dated[other] for other, _ in around if other in dated)[:MOST]
        weakest = min(near[path][member.path] for member in members[1:])
        evidence = (("members", len(members)), ("weakestTie", round(weakest, 4)))
        yield _Group(tuple(members), beside, evidence)


def _offered(
    candidates: Mapping[str, Live], dated: Mapping[str, Live], graph: Graph, *, deep: bool
) -> Iterator[_Group]:
    """Yield what a model is shown: communities in batches, and on a deep run shared entities."""
    left = dict(islice(candidates.items(), MOST_OFFERED))
    by_label: dict[str, list[Live]] = defaultdict(list)
    for path, label in graph.communities().items():
        if path in left:
            by_label[label].append(left[path])
    groups: list[list[Live]] = [by_label[label] for label in sorted(by_label)]
    for group in groups:
        yield from _batches(group, dated, graph, left)
    if deep:
        by_entity: dict[str, list[Live]] = defaultdict(list)
        for memory in left.values():
            for entity in memory.entities:
                by_entity[entity].append(memory)
        for entity in sorted(by_entity):
            if len(by_entity[entity]) <= COMMON_ENTITY:
                yield from _batches(by_entity[entity], dated, graph, left)


def _batches(
    group: Iterable[Live], dated: Mapping[str, Live], graph: Graph, left: dict[str, Live]
) -> Iterator[_Group]:
    members: list[Live] = []
    waiting = [memory for memory in group if memory.path in left]
    while waiting:
        members = [waiting.pop(0)]
        for memory in tuple(waiting):
            if len(members) < MOST and _fits(memory, members):
                waiting.remove(memory)
                members.append(memory)
        if len(members) < LEAST_WITH_MODEL:
            continue
        for member in members:
            left.pop(member.path, None)
        near = set(chain.from_iterable(graph.neighbours(member.path) for member in members))
        beside = tuple(dated[path] for path in sorted(near & dated.keys()))[:MOST]
        yield _Group(tuple(members), beside, (("offered", len(members)),))


def _judged(
    offered: Iterable[_Group], context: Context, counts: Counter[str]
) -> tuple[list[_Group], str | None]:
    judge = context.judge
    if judge is None:
        return [], None
    found: list[_Group] = []
    for group in offered:
        members = [f"{m.title}\n{m.gist}\n{m.body}"[:MEMBER_CHARS] for m in group.members]
        try:
            said, answer = judge.ask(_TASK, members, Folded)
        except BudgetSpent as error:
            counts["skipped"] += 1
            return found, error.message
        except ModelUnavailable:
            counts["skipped"] += 1
            continue
        places = [answer.find(key) for key in said.absorbed_keys]
        counts["unresolved"] += places.count(None)
        absorbed = dict.fromkeys(place for place in places if place is not None)
        if len(absorbed) < LEAST_WITH_MODEL or is_blank(said.title) or is_blank(said.claim):
            counts["notFolded"] += 1
            continue
        taken = tuple(group.members[place] for place in absorbed)
        evidence = (*group.evidence, ("absorbed", len(taken)), ("model", judge.name))
        found.append(group._replace(members=taken, evidence=evidence, lead=said))
    return found, None


# How


class _Folder:
    """Folds group after group; no two touch the same file, so each commit can be dropped alone."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._view = Overlay(context.view)
        self._touched: set[str] = set()
        self.proposals: list[Proposal] = []
        self.counts: Counter[str] = Counter()

    def fold(self, group: _Group) -> None:
        """Propose the one memory that *group* becomes, unless a gate refuses it."""
        try:
            path, steps = self._steps(group)
        except (InvalidMemory, SecretFound):
            self.counts["refused"] += 1
            return
        changed = set(chain.from_iterable(map(_paths, steps)))
        if changed & self._touched:
            # The other commit has to be there first; the next night will find this group again.
            self.counts["deferred"] += 1
            return
        self._touched |= changed
        self._view.add(steps)
        self.counts["folded"] += len(group.members)
        self.counts["written"] += 1
        self.proposals.append(
            Proposal(
                subject=f"{len(group.members)} memories become {path}",
                steps=tuple(steps),
                decisions=tuple(_decisions(group, path)),
            )
        )

    def _steps(self, group: _Group) -> tuple[MemoryPath, list[Step]]:
        now = self._context.now
        files = [(memory_path(m.path), self._found(m.path)) for m in group.members]
        gone = Overlay(self._view)
        places: list[MemoryPath] = []
        for path, file in files:
            place, moved = archiving(path, file, gone, now=now)
            gone.add(moved)
            places.append(place)
        draft = _draft(group, places)
        directory = _common_directory(group.members)
        path = free_path(directory, draft.title, draft.memory_type, gone, now=now)
        written = plan_write(replace(draft, path=path), gone, now=now)
        if not written.steps:
            raise InvalidMemory((), reason="a memory says this already")

        after = Overlay(self._view)
        steps: list[Step] = []
        closing = (SetMeta("memhtml-superseded-by", href_of(path)),)
        for source, file in files:
            _, moved = archiving(source, file, after, now=now, edits=closing)
            after.add(moved)
            steps += moved
        after.add(written.steps)
        steps += written.steps
        for member in group.dated:
            file = self._found(member.path)
            part = AddLink(Rel.PART_OF, href_of(path))
            put = Put(member.path, apply_edits(file.data, (part,)), file.sha)
            after.add([put])
            steps.append(put)
        for source, _ in files:
            links = tuple(repoint(source, path, after))
            after.add(links)
            steps += links
        return path, steps

    def _found(self, path: str) -> File:
        file = self._view.find(path)
        if file is None:
            raise InvalidMemory((), reason=f"{path!r} is not there")
        return file


def _paths(step: Step) -> tuple[str, ...]:
    return (step.path,) if isinstance(step, Put) else tuple(step[:2])


def _common_directory(members: Iterable[Live]) -> str:
    parts = [member.directory.split("/") for member in members]
    common = []
    for names in zip(*parts, strict=False):
        if len(set(names)) > 1:
            break
        common.append(names[0])
    # A bucket is no folder for memories.
    return "/".join(common) if len(common) > 1 else _INBOX


def _draft(group: _Group, places: Sequence[str]) -> Draft:
    members = group.members
    links = [Link(Rel.SUPERSEDES.token, href_of(place)) for place in places]
    links += [Link(Rel.RELATES_TO.token, href_of(member.path)) for member in group.dated]
    lead = group.lead
    title = lead.title if lead else f"{members[0].title} (with {len(members) - 1} like it)"
    return Draft(
        title=collapse(title),
        memory_type=MemoryType.SEMANTIC,
        article_html=_article(group, places),
        tags=tuple(dict.fromkeys(tag for member in members for tag in member.tags)),
        entities=tuple(dict.fromkeys(name for member in members for name in member.entities)),
        links=tuple(links),
        # No surer than the least sure of them, and as important as the most important.
        confidence=min(member.confidence for member in members),
        importance=max(member.importance for member in members),
        author=AUTHOR,
    )


def _article(group: _Group, places: Sequence[str]) -> str:
    said: set[str] = set()
    if group.lead is not None:
        lines = [f"<p><mark>{escape_text(collapse(group.lead.claim))}</mark></p>"]
        lines += (f"<p>{escape_text(text)}</p>" for text in group.lead.paragraphs if text.strip())
        items = [
            f"<li>{escape_text(collapse(member.gist))} {_source(member, place)}</li>"
            for member, place in zip(group.members, places, strict=True)
        ]
        folded = ["<details>", "<summary>Folded from</summary>", "<ul>", *items, "</ul>"]
        return "\n".join((*lines, *folded, "</details>"))
    core, *others = zip(group.members, places, strict=True)
    member, place = core
    claim = collapse(member.gist)
    before, _, after = _extract(member, said).partition(claim)
    mark = f"{escape_text(before)}<mark>{escape_text(claim)}</mark>{escape_text(after)}"
    lines = [f"<p>{mark} {_source(member, place)}</p>", "<ul>"]
    for member, place in others:
        lines.append(f"<li>{escape_text(_extract(member, said))} {_source(member, place)}</li>")
    return "\n".join((*lines, "</ul>"))


def _extract(member: Live, said: set[str]) -> str:
    """Return what *member* says, without sentences that repeat what is *said*; adds to that.

    The sentence that the claim stands in is kept whatever was said, and the claim is not split.
    """
    claim = collapse(member.gist)
    before, _, after = collapse(member.body).partition(claim)
    # No file can hold a NUL, so it stands for the claim while sentences are parted.
    stand_in = "\0." if claim.endswith(_ENDS) else "\0"
    kept = []
    for text in sentences(f"{before}{stand_in}{after}"):
        is_claim = "\0" in text
        key = near_key(claim if is_claim else text)
        if is_claim or key not in said:
            kept.append(text.replace(stand_in, claim))
        if key is not None:
            said.add(key)
    return " ".join(kept)


def _source(member: Live, place: str) -> str:
    # A title that the claim repeats would only weigh its words twice in a search.
    is_said = collapse(member.gist).startswith(collapse(member.title).rstrip("…. "))
    label = "the original" if is_said else member.title
    return f'<a href="{escape_attribute(href_of(place))}">{escape_text(label)}</a>'


def _decisions(group: _Group, path: str) -> Iterator[Decision]:
    for member in group.members:
        yield Decision(
            kind="folded",
            path=member.path,
            other=path,
            why=f"It is about the same as {len(group.members) - 1} others; its claim stands there "
            "word for word, and the original is in the archive.",
            evidence=(("claim", member.gist), *group.evidence),
        )
    for member in group.dated:
        yield Decision(
            kind="linked",
            path=member.path,
            other=path,
            why="It is a record of a day, so it stays as it is, and is part of what it belongs to.",
        )
