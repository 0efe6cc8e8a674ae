"""Arc synthesis: what has a course over time is told in one place, with its evidence.

The deterministic core finds stories: memories that hang together, share a name, happened on several
days and are not quiet yet. Such an arc says in whose words what happened when, in order of time,
and adds nothing. It grows with its story and is the same file on every night; where nothing came
in, nothing is written. A model, where one is bound, plans and writes arcs in its own words instead.

An arc that somebody else wrote, or edited by hand, is theirs: it is never written over, and what is
part of it is not told a second time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import AddLink, SetMeta, apply_edits, read_links, read_meta
from memhtml.format.escape import escape_attribute, escape_text
from memhtml.format.parse import parse
from memhtml.format.render import render_memory
from memhtml.model.edges import href_of
from memhtml.model.errors import (
    InvalidMemory,
    ModelUnavailable,
    SecretFound,
    WriteConflict,
)
from memhtml.model.instants import stamp
from memhtml.model.memory import Draft
from memhtml.model.paths import derived_path
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.model.whitespace import collapse, is_blank
from memhtml.sleep.detections import AUTHOR
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.sleep.quiet import quiet_days
from memhtml.sleep.standing import graph_of, standings
from memhtml.store.archive import later
from memhtml.store.gate import refuse_secrets
from memhtml.store.plan import Overlay, Put
from memhtml.store.write import plan_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memhtml.format.edit import Edit
    from memhtml.scoring.graphs import Graph
    from memhtml.sleep.phase import Context, Evidence, Judge
    from memhtml.sleep.population import Live
    from memhtml.store.plan import Step

__all__ = ["NAME", "NEEDS", "ArcEntry", "ArcPlan", "ArcText", "run"]

NAME = "arc-synthesis"
NEEDS = ("preflight",)

LEAST_MEMBERS = 5
LEAST_DAYS = 3
"""What happened on one day or two is no story yet."""
MOST_TOLD = 40
EXTRACT = "told-in-order"
"""Tag of an arc that was put together without a model."""

# Sleep format §3.
EVIDENCE = 40
EVIDENCE_CHARS = 240
ARC_CHARS = 3000
LEAST_EVIDENCE = 2

_details_re = re.compile(r"<details\b.*?</details\s*>", re.DOTALL | re.IGNORECASE)

_PLAN_TASK = """\
The first {count} members are memories, the ones after them are arcs that exist. An arc tells how
something developed over time: a project, a decision, a problem and its end. Say which arcs are
worth writing: "create" for a new one, "update" with arc_key for one that exists, "skip" where
nothing new came in. Name for each the members that are its evidence.
"""
_WRITE_TASK = """\
Write one arc called {title}. The members are its evidence; the last one is what it says so far, if
it says anything. One sentence is the claim, a summary stands on the fold, and paragraphs tell the
course of events. Say only what the evidence says.
"""


@dataclass
class ArcEntry:
    """One arc that is worth writing."""

    slug: str
    title: str
    action: str
    rationale: str
    evidence_keys: list[str] = field(default_factory=list)
    arc_key: str = ""


@dataclass
class ArcPlan:
    """The arcs that are worth writing."""

    entries: list[ArcEntry] = field(default_factory=list)


@dataclass
class ArcText:
    """What an arc says."""

    title: str
    claim: str
    summary: str = ""
    paragraphs: list[str] = field(default_factory=list)


class _Story(NamedTuple):
    """An arc as it shall be."""

    title: str
    article: str
    members: tuple[Live, ...]
    arc: Live | None
    """The one there is; None for a new one."""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    evidence: Evidence = ()


def run(context: Context) -> Outcome:
    """Propose one commit for each arc that begins or grows."""
    graph = graph_of(context)
    counts: Counter[str] = Counter({"arcs": len(context.population.arcs)})
    teller = _Teller(context, counts)
    if context.judge is None:
        detail: str | None = "no model bound: arcs tell in their memories' own words"
        for story in _found(context, graph, counts):
            teller.tell(story)
    else:
        author = _Author(context.judge, context, counts)
        for story in author.stories(graph):
            teller.tell(story)
        detail = author.detail
    return Outcome(proposals=tuple(teller.proposals), counts=dict(counts), detail=detail)


# Stories without a model


class _Arcs:
    """The arcs there are, and what is part of them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.by_path = {arc.path: arc for arc in context.population.arcs}
        self.members: dict[str, list[Live]] = defaultdict(list)
        self.arc_of: dict[str, str] = {}
        for memory in context.population.claims:
            for rel, target in memory.links:
                if rel == Rel.PART_OF and target in self.by_path:
                    self.members[target].append(memory)
                    self.arc_of.setdefault(memory.path, target)

    def is_ours(self, arc: Live) -> bool:
        """Whether sleep wrote *arc* and nobody has edited it since."""
        file = self._context.view.find(arc.path)
        stated = read_meta(file.data, "memhtml-content-hash") if file else None
        return arc.author == AUTHOR and stated == arc.content_hash

    def is_extract(self, arc: Live) -> bool:
        """Whether *arc* was put together without a model and may be put together again."""
        return EXTRACT in arc.tags and self.is_ours(arc)


def _found(context: Context, graph: Graph, counts: Counter[str]) -> Iterator[_Story]:
    arcs = _Arcs(context)
    by_arc: dict[str, dict[str, Live]] = defaultdict(dict)
    for label, group in _groups(context, graph):
        in_arc = Counter(arcs.arc_of[m.path] for m in group if m.path in arcs.arc_of)
        title = _title(label)
        same = (arc.path for arc in context.population.arcs if arc.title == title)
        known = next(iter(dict(in_arc.most_common(1))), None) or next(same, None)
        free = [memory for memory in group if memory.path not in arcs.arc_of]
        if known is not None and arcs.is_extract(arcs.by_path[known]):
            by_arc[known] |= {memory.path: memory for memory in free}
        elif known is not None:
            counts["othersArcs"] += 1
        elif _is_story(free, context):
            counts["stories"] += 1
            yield _told(label, free, None)
    for path, fresh in sorted(by_arc.items()):
        arc = arcs.by_path[path]
        members = [*arcs.members[path], *fresh.values()]
        names = (*arc.entities, *(tag for tag in arc.tags if tag != EXTRACT))
        if fresh and names:
            counts["grown"] += 1
            yield _told(names[0], members, arc)


def _groups(context: Context, graph: Graph) -> Iterator[tuple[str, list[Live]]]:
    """Yield memories that hang together and share a name, the most of them first.

    The name is an entity or else a tag; each memory is in one group at most.
    """
    communities = graph.communities()
    by_group: dict[tuple[str, str], list[Live]] = defaultdict(list)
    for memory in context.population.claims:
        label = communities.get(memory.path)
        if label is not None and memory.memory_type != MemoryType.USER_PREFERENCE:
            by_group[label, memory.workspace or ""].append(memory)
    for key in sorted(by_group):
        left = {memory.path: memory for memory in by_group[key]}
        while len(left) >= LEAST_MEMBERS:
            names = Counter(entity for memory in left.values() for entity in memory.entities)
            tags = Counter(tag for memory in left.values() for tag in memory.tags)
            found = _most_common(names) or _most_common(tags)
            if found is None:
                break
            group = [m for m in left.values() if found in m.entities or found in m.tags]
            for memory in group:
                del left[memory.path]
            yield found, group


def _most_common(names: Counter[str]) -> str | None:
    best = min(names.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    return best[0] if best[1] >= LEAST_MEMBERS else None


def _is_story(members: Sequence[Live], context: Context) -> bool:
    days = {memory.news_at[:10] for memory in members}
    if len(members) < LEAST_MEMBERS or len(days) < LEAST_DAYS:
        return False
    quietest = min(quiet_days(memory, context.usage, context.now) for memory in members)
    return quietest < context.settings.compress_after_days


def _title(label: str) -> str:
    return f"{label.partition(':')[2] or label} over time"


def _told(label: str, members: Iterable[Live], arc: Live | None) -> _Story:
    ordered = sorted(members, key=lambda memory: (memory.news_at, memory.path))
    shown = ordered[-MOST_TOLD:]
    first, last = ordered[0].news_at[:10], ordered[-1].news_at[:10]
    name = escape_text(label.partition(":")[2] or label)
    # The first time of an article is when its fact happened: that of the latest member.
    latest = f'<time datetime="{last}">{last}</time>'
    claim = f"What {len(ordered)} memories tell of {name}, from {first} to {latest}"
    lines = [
        f"<p><mark>{claim}</mark></p>",
        f"<p>The latest: {escape_text(collapse(ordered[-1].gist))}</p>",
        "<details>",
        "<summary>In order of time</summary>",
        "<ol>",
    ]
    if len(shown) < len(ordered):
        lines.append(f"<li>{len(ordered) - len(shown)} earlier ones are part of this too.</li>")
    for memory in shown:
        day = memory.news_at[:10]
        href = escape_attribute(href_of(memory.path))
        lines.append(
            f'<li><time datetime="{day}">{day}</time> {escape_text(collapse(memory.gist))} '
            f'<a href="{href}">{escape_text(memory.title)}</a></li>'
        )
    lines += ["</ol>", "</details>"]
    is_entity = ":" in label and any(label in memory.entities for memory in ordered)
    return _Story(
        title=_title(label),
        article="\n".join(lines),
        members=tuple(ordered),
        arc=arc,
        tags=(EXTRACT,) if is_entity else (EXTRACT, label),
        entities=(label,) if is_entity else (),
        evidence=(("sharedName", label), ("members", len(ordered)), ("from", first), ("to", last)),
    )


# Stories by a model


class _Author:
    """A model plans arcs and writes them."""

    def __init__(self, judge: Judge, context: Context, counts: Counter[str]) -> None:
        self._judge = judge
        self._context = context
        self._counts = counts
        self._arcs = _Arcs(context)
        self.detail: str | None = None

    def stories(self, graph: Graph) -> Iterator[_Story]:
        """Yield what it wrote, until it is done or may spend no more."""
        worth = standings(self._context, graph)
        best = sorted(
            self._context.population.claims, key=lambda m: (-worth[m.path].score, m.path)
        )[:EVIDENCE]
        arcs = self._context.population.arcs
        members = [f"{m.title}\n{m.gist}\n{m.body}"[:EVIDENCE_CHARS] for m in best]
        members += [f"arc: {arc.title}\n{arc.gist}" for arc in arcs]
        try:
            plan, answer = self._judge.ask(_PLAN_TASK.format(count=len(best)), members, ArcPlan)
            for entry in plan.entries:
                places = [answer.find(key) for key in entry.evidence_keys]
                self._counts["unresolved"] += places.count(None)
                known = dict.fromkeys(n for n in places if n is not None and n < len(best))
                evidence = [best[n] for n in known]
                arc = _arc_of(entry, answer.find(entry.arc_key), len(best), arcs)
                refusal = self._refusal(entry, evidence, arc)
                if refusal is not None:
                    self._counts[refusal] += 1
                elif (story := self._write(entry, evidence, arc)) is not None:
                    yield story
        except ModelUnavailable as error:
            self._counts["skipped"] += 1
            self.detail = error.message

    def _refusal(self, entry: ArcEntry, evidence: Sequence[Live], arc: Live | None) -> str | None:
        """Return under which count *entry* is left out; None when it may be written."""
        if entry.action not in {"create", "update"}:
            return "skippedByModel"
        if len(evidence) < LEAST_EVIDENCE or (entry.action == "update" and arc is None):
            return "refused"
        if arc is None:
            return None
        if not self._arcs.is_ours(arc):
            return "othersArcs"
        has_news = any(self._arcs.arc_of.get(memory.path) != arc.path for memory in evidence)
        return None if has_news else "nothingNew"

    def _write(self, entry: ArcEntry, evidence: Sequence[Live], arc: Live | None) -> _Story | None:
        file = self._context.view.find(arc.path) if arc else None
        old = parse(file.data) if file else None
        folds = _folds(old.article_html) if old else ()
        offered = [f"{m.news_at[:10]}\n{m.title}\n{m.body}"[:EVIDENCE_CHARS] for m in evidence]
        if old is not None:
            offered.append(old.body_text[:ARC_CHARS])
        task = _WRITE_TASK.format(title=entry.title)
        said = self._judge.ask(task, offered, ArcText)[0] if folds is not None else None
        if said is None or folds is None or is_blank(said.claim) or is_blank(said.title):
            self._counts["refused"] += 1
            return None
        return _Story(
            title=collapse(said.title),
            article=_article(said, folds),
            members=tuple(evidence),
            arc=arc,
            tags=arc.tags if arc else (),
            entities=arc.entities if arc else (),
            evidence=(
                ("model", self._judge.name),
                ("rationale", entry.rationale),
                ("members", len(evidence)),
            ),
        )


def _arc_of(entry: ArcEntry, place: int | None, first: int, arcs: Sequence[Live]) -> Live | None:
    """Return the arc that *entry* is about: the one it names, or the one of that name."""
    if place is not None and place >= first:
        return arcs[place - first]
    return next((arc for arc in arcs if _stem(arc.path) == entry.slug), None)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".html")


def _folds(article: str) -> tuple[str, ...] | None:
    """Return the folds of *article* as they stand; None when they cannot be told apart."""
    found = tuple(_details_re.findall(article))
    is_plain = all(fold.lower().count("<details") == 1 for fold in found)
    return found if is_plain and article.lower().count("<details") == len(found) else None


def _article(said: ArcText, folds: Iterable[str]) -> str:
    lines = [f"<p><mark>{escape_text(collapse(said.claim))}</mark></p>"]
    paragraphs = [f"<p>{escape_text(text)}</p>" for text in said.paragraphs if text.strip()]
    if paragraphs:
        summary = escape_text(said.summary.strip() or "How it went")
        lines += ["<details>", f"<summary>{summary}</summary>", *paragraphs, "</details>"]
    return "\n".join((*lines, *folds))


# Telling


class _Teller:
    """Makes a proposal of each story; no two touch the same file."""

    def __init__(self, context: Context, counts: Counter[str]) -> None:
        self._context = context
        self._counts = counts
        self._view = Overlay(context.view)
        self._touched: set[str] = set()
        self.proposals: list[Proposal] = []

    def tell(self, story: _Story) -> None:
        """Propose *story*, unless it says what its arc says already or a gate refuses it."""
        if story.arc is None and self._counts["created"] >= self._context.settings.max_arcs:
            self._counts["deferred"] += 1
            return
        if self._touched & {memory.path for memory in story.members}:
            self._counts["deferred"] += 1
            return
        try:
            path, steps = self._begun(story) if story.arc is None else self._grown(story, story.arc)
        except (InvalidMemory, SecretFound, WriteConflict):
            self._counts["refused"] += 1
            return
        if not steps:
            return
        links = list(self._links(story, path))
        steps += links
        self._view.add(steps)
        self._touched |= {step.path for step in steps if isinstance(step, Put)}
        self._counts["created" if story.arc is None else "updated"] += 1
        self._counts["linked"] += len(links)
        self.proposals.append(
            Proposal(
                subject=story.title,
                steps=tuple(steps),
                decisions=tuple(self._decisions(story, path, links)),
            )
        )

    def _begun(self, story: _Story) -> tuple[str, list[Step]]:
        draft = _draft(story)
        at = self._context.now
        twin = derived_path("areas/arcs", draft.title, MemoryType.ARC, at=at)
        if self._view.find(twin) is not None:
            raise InvalidMemory((), reason=f"{twin!r} is an arc of that name already")
        planned = plan_write(draft, self._view, now=at)
        return planned.result.path, list(planned.steps)

    def _grown(self, story: _Story, arc: Live) -> tuple[str, list[Step]]:
        file = self._view.find(arc.path)
        now = stamp(self._context.now)
        data, document = render_memory(_draft(story), at=now)
        refuse_secrets(data, document)
        if file is None or document.content_hash == arc.content_hash:
            return arc.path, []
        edits: list[Edit] = [
            SetMeta("memhtml-created", arc.created_at),
            SetMeta("memhtml-updated", later(now, arc.updated_at)),
            *(AddLink(link.rel, link.href) for link in read_links(file.data)),
        ]
        for name in ("memhtml-importance", "memhtml-confidence"):
            value = read_meta(file.data, name)
            if value is not None:
                edits.append(SetMeta(name, value))
        return arc.path, [Put(arc.path, apply_edits(data, edits), file.sha)]

    def _links(self, story: _Story, path: str) -> Iterator[Step]:
        link = AddLink(Rel.PART_OF, href_of(path))
        for memory in story.members:
            file = self._view.find(memory.path)
            if file is not None and (Rel.PART_OF, path) not in memory.links:
                yield Put(memory.path, apply_edits(file.data, (link,)), file.sha)

    def _decisions(self, story: _Story, path: str, links: Sequence[Step]) -> Iterator[Decision]:
        verb = "begins" if story.arc is None else "grows"
        yield Decision(
            kind=f"arc {verb}",
            path=path,
            why=f"{len(story.members)} memories tell one course of events, so an arc {verb}.",
            evidence=story.evidence,
        )
        for step in links:
            if isinstance(step, Put):
                yield Decision("linked", step.path, "It is evidence of the arc.", path)


def _draft(story: _Story) -> Draft:
    return Draft(
        title=story.title,
        memory_type=MemoryType.ARC,
        article_html=story.article,
        tags=story.tags,
        entities=story.entities,
        author=AUTHOR,
    )
