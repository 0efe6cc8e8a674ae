"""Folding one memory into another that says the same: steps, and what the other takes over.

Only heads change, so no content hash moves. The memory that goes stands in the archive with a link
to its successor, whose ``supersedes`` link is the way by which its usage follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.edit import AddLink, AddMeta, RemoveLink, SetMeta, apply_edits
from memhtml.format.parse import parse
from memhtml.index.project import DEFAULT_IMPORTANCE
from memhtml.model.edges import href_of
from memhtml.model.entities import normalize_entity, normalize_entity_name
from memhtml.model.instants import stamp
from memhtml.model.vocabulary import Rel
from memhtml.store.archive import archiving, find_memory, later, repoint
from memhtml.store.plan import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from memhtml.format.edit import Edit
    from memhtml.model.document import Document
    from memhtml.sleep.population import Live
    from memhtml.store.plan import Overlay, Step

__all__ = ["fold", "start_of"]


def fold(survivor: Live, dropped: Live, view: Overlay, *, now: datetime) -> tuple[Step, ...]:
    """Return the steps that archive *dropped* in favour of *survivor*, and add them to *view*.

    Raises:
        PathNotFound: Either is missing.
    """
    here, file = find_memory(survivor.path, view)
    there, old_file = find_memory(dropped.path, view)
    kept, old = parse(file.data), parse(old_file.data)
    closing: list[Edit] = [SetMeta("memhtml-superseded-by", href_of(here))]
    # Whoever asks what was true at some time finds one of the two, never both.
    until = max(start_of(survivor), start_of(dropped))
    if old.head.valid_until is None or old.head.valid_until > until:
        closing.append(SetMeta("memhtml-valid-until", until))
    archived, moved = archiving(there, old_file, view, now=now, edits=closing)
    edits = (
        *(RemoveLink(link.rel, link.href) for link in kept.links if link.href == href_of(there)),
        *_taken_over(kept, old),
        *(
            AddLink(link.rel, link.href)
            for link in old.links
            if link.href not in {href_of(here), href_of(there)} and link.rel != Rel.SUPERSEDES.token
        ),
        AddLink(Rel.SUPERSEDES, href_of(archived)),
        SetMeta("memhtml-updated", later(stamp(now), kept.head.updated_at)),
    )
    put = Put(here, apply_edits(file.data, edits), file.sha)
    view.add((*moved, put))
    followed = tuple(repoint(there, here, view))
    view.add(followed)
    return (*moved, put, *followed)


def start_of(memory: Live) -> str:
    """Return from when on *memory* answers what was true at a time."""
    return memory.valid_from or memory.event_at or memory.created_at


def _taken_over(kept: Document, old: Document) -> Iterator[Edit]:
    """Yield what makes *kept* say of itself all that *old* said of itself."""
    labels: tuple[tuple[str, Sequence[str], Sequence[str], Callable[[str], str]], ...] = (
        ("memhtml-tag", kept.head.tags, old.head.tags, str),
        ("memhtml-entity", kept.head.entities, old.head.entities, normalize_entity),
        ("memhtml-alias", kept.head.aliases, old.head.aliases, normalize_entity_name),
    )
    for name, ours, theirs, normal in labels:
        known = set(map(normal, ours))
        for value in theirs:
            if value.strip() and normal(value) not in known:
                known.add(normal(value))
                yield AddMeta(name, value)
    confidence, importance = old.head.confidence, old.head.importance
    # Two memories that agree are no weaker than the stronger of them; 1 is what unsaid means.
    if kept.head.confidence is not None and (
        confidence is None or confidence > kept.head.confidence
    ):
        yield SetMeta("memhtml-confidence", f"{1.0 if confidence is None else confidence:g}")
    if importance is not None and importance > (kept.head.importance or DEFAULT_IMPORTANCE):
        yield SetMeta("memhtml-importance", str(importance))
