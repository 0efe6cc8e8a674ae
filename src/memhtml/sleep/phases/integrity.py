"""Integrity: links that lead nowhere, and the pages of a store that is published.

A link whose target went to the archive follows it there. One whose target is nowhere is dropped,
and the decision says which it was, so that a review can keep it.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import AddLink, RemoveLink, apply_edits, read_links
from memhtml.model.edges import href_of, path_of_href
from memhtml.model.errors import WriteConflict
from memhtml.model.paths import archive_year, path_fault, path_key
from memhtml.model.plural import plural
from memhtml.sleep.phase import Decision, Outcome, Proposal
from memhtml.store.listings import Entry, is_generated, is_our_work, plan_publish
from memhtml.store.objects import object_sha
from memhtml.store.plan import Put

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memhtml.format.edit import Edit
    from memhtml.sleep.phase import Context
    from memhtml.sleep.population import Live
    from memhtml.store.plan import File, Step, View

__all__ = ["NAME", "NEEDS", "run"]

NAME = "integrity"
NEEDS = ("preflight",)

ARCHIVE_YEARS = 10
"""How far back a link follows its target into the archive (sleep format §3)."""

_FRONT_PAGE = "index.html"
_SHA256_DIGITS = 64


class _Mended(NamedTuple):
    """A link that led nowhere."""

    source: str
    rel: str
    target: str
    heir: str | None
    """Where the target stands now; None: the link is dropped."""


def run(context: Context) -> Outcome:
    """Propose one commit for the links and one for the pages."""
    mended = _dangling(context)
    steps, decisions = _mend(mended, context)
    pages, detail = _pages(mended, context)
    counts = {
        "linksFollowed": sum(link.heir is not None for link in mended),
        "linksDropped": sum(link.heir is None for link in mended),
        "pages": len(pages.steps) if pages else 0,
    }
    proposals = []
    if steps:
        subject = (
            f"{plural(counts['linksFollowed'], 'link')} followed, {counts['linksDropped']} dropped"
        )
        proposals.append(Proposal(subject=subject, steps=steps, decisions=decisions))
    if pages:
        proposals.append(pages)
    return Outcome(proposals=tuple(proposals), counts=counts, detail=detail)


def _dangling(context: Context) -> list[_Mended]:
    by_path = context.population.by_path
    heirs = _archived(context)
    found = []
    for memory in context.population:
        if memory.archived:
            continue
        for rel, target in memory.links:
            if target in by_path or path_fault(target) or _stands(target, context.view):
                continue
            heir = heirs.get(target)
            found.append(_Mended(memory.path, rel, target, None if heir == memory.path else heir))
    return found


def _archived(context: Context) -> dict[str, str]:
    """Return where what stood at each path went, the newest where it was several times."""
    found: dict[str, tuple[int, str]] = {}
    for memory in context.population:
        year = archive_year(memory.path)
        if memory.origin_path is None or year is None:
            continue
        if context.now.year - year <= ARCHIVE_YEARS:
            known = found.get(memory.origin_path, (0, ""))
            found[memory.origin_path] = max(known, (year, memory.path))
    return {origin: path for origin, (_, path) in found.items()}


def _stands(path: str, view: View) -> bool:
    # What is no memory, or not committed yet, still stands there.
    directory, _, name = path.rpartition("/")
    return view.names(directory).get(path_key(name)) == name


def _mend(
    mended: Iterable[_Mended], context: Context
) -> tuple[tuple[Step, ...], tuple[Decision, ...]]:
    steps: list[Step] = []
    decisions: list[Decision] = []
    by_source: dict[str, list[_Mended]] = defaultdict(list)
    for link in mended:
        by_source[link.source].append(link)
    for source, links in by_source.items():
        file = context.view.find(source)
        if file is None:
            continue
        edits = [edit for link in links for edit in _edits(link, file)]
        steps.append(Put(source, apply_edits(file.data, edits), file.sha))
        decisions += map(_decision, links)
    return tuple(steps), tuple(decisions)


def _edits(mended: _Mended, file: File) -> Iterator[Edit]:
    token = f"memhtml-{mended.rel.replace('_', '-')}"
    for link in read_links(file.data):
        if link.rel == token and path_of_href(link.href) == mended.target:
            yield RemoveLink(token, link.href)
    if mended.heir is not None:
        yield AddLink(token, href_of(mended.heir))


def _decision(mended: _Mended) -> Decision:
    rel = mended.rel.replace("_", " ")
    if mended.heir is None:
        kind, why = "link dropped", f"It said {rel} {mended.target}, and nothing stands there."
    else:
        kind, why = "link followed", f"It said {rel} {mended.target}, which was archived."
    return Decision(
        kind=kind,
        path=mended.source,
        other=mended.heir,
        why=why,
        evidence=(("rel", mended.rel), ("target", mended.target)),
    )


# Pages


def _pages(mended: Iterable[_Mended], context: Context) -> tuple[Proposal | None, str | None]:
    """Return the pages that are stale, if the store is published, or what stands in their way."""
    front = context.view.find(_FRONT_PAGE)
    if front is None or not is_our_work(_FRONT_PAGE, front.data):
        return None, None
    existing: dict[str, str] = {}
    foreign: list[str] = []
    for path in _generated(context):
        file = context.view.find(path)
        if file is not None and is_our_work(path, file.data):
            existing[path] = file.sha
        elif file is not None:
            foreign.append(path)
    algorithm = "sha256" if len(front.sha) == _SHA256_DIGITS else "sha1"
    style = resources.files("memhtml").joinpath("data/browse.css").read_bytes()
    try:
        planned = plan_publish(
            _entries(mended, context),
            existing,
            foreign,
            style=style,
            sha_of=lambda data: object_sha("blob", data, algorithm=algorithm),
        )
    except WriteConflict as error:
        return None, f"the pages were left as they are: {error.message}"
    if not planned.steps:
        return None, None
    done = planned.result
    decision = Decision(
        kind="published",
        path=_FRONT_PAGE,
        why=f"The store is published, and {plural(len(planned.steps), 'page')} no longer said what "
        "its memories say.",
        evidence=(("written", len(done.written)), ("removed", len(done.removed))),
    )
    subject = f"{plural(len(done.written), 'page')} written, {len(done.removed)} removed"
    return Proposal(subject=subject, steps=planned.steps, decisions=(decision,)), None


def _generated(context: Context) -> Iterator[str]:
    """Yield the paths at which a generated file may stand."""
    folders = {""}
    for memory in context.population:
        for path in filter(None, (memory.path, memory.origin_path)):
            folder = posixpath.dirname(path)
            while folder not in folders:
                folders.add(folder)
                folder = posixpath.dirname(folder)
    for folder in sorted(folders):
        names = context.view.names(folder).values()
        yield from (path for name in names if is_generated(path := posixpath.join(folder, name)))
    for folder in ("browse", "browse/tags", "browse/entities"):
        yield from (f"{folder}/{name}" for name in context.view.names(folder).values())


def _entries(mended: Iterable[_Mended], context: Context) -> Iterator[Entry]:
    heirs: Mapping[tuple[str, str, str], str | None] = {
        (link.source, link.rel, link.target): link.heir for link in mended
    }
    for memory in context.population:
        yield Entry(
            path=memory.path,
            title=memory.title,
            claim=memory.gist,
            memory_type=memory.memory_type,
            updated_at=memory.updated_at,
            tags=memory.tags,
            entities=memory.entities,
            links=tuple(sorted(set(_links(memory, heirs)))),
        )


def _links(
    memory: Live, heirs: Mapping[tuple[str, str, str], str | None]
) -> Iterator[tuple[str, str]]:
    for rel, target in memory.links:
        heir = heirs.get((memory.path, rel, target), target)
        if heir is not None:
            yield rel, heir
