"""Plan files that stand at places of their own: whatever was there before, this is there now.

For a memory that is known by its path, such as an item under a key: it is changed where it stands,
keeps the time it was created at and the links it has, and git keeps what it said before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memhtml.format.edit import AddLink, SetMeta, apply_edits, read_links, read_meta
from memhtml.format.parse import parse
from memhtml.format.render import render_memory
from memhtml.model.errors import InvalidPath, WriteConflict
from memhtml.model.instants import is_instant, stamp
from memhtml.model.paths import PathRule, new_memory_path
from memhtml.store.archive import find_memory, plan_archive
from memhtml.store.gate import refuse_links, refuse_secret_words, refuse_secrets
from memhtml.store.plan import Fact, Move, Overlay, Planned, Put, subject
from memhtml.store.write import refuse_contradictions, require_free

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memhtml.format.edit import Edit
    from memhtml.model.changes import Place
    from memhtml.store.plan import File, Step, View

__all__ = ["plan_put"]


def plan_put(
    places: Sequence[Place],
    view: View,
    *,
    now: datetime,
    archive: Sequence[str] = (),
    reason: str = "",
    allow_secret: bool = False,
) -> Planned[None]:
    """Plan each of *places* in order, then the way of each of *archive* to the archive.

    A file that would say what it says already is left alone.

    Raises:
        InvalidPath: A draft names no path, or one that is not usable.
        InvalidMemory: A draft would not make a valid file, or *reason* is blank.
        PathNotFound: Nothing stands where a file is to be moved from, or at one of *archive*.
        SecretFound: A file or its path would hold a credential.
        WriteConflict: A file is not the version that is expected, or its new place is taken.
    """
    overlay = Overlay(view)
    steps: list[Step] = []
    titles: list[str] = []
    documents: dict[bytes, Any] = {}
    facts: list[Fact] = []
    for place in places:
        planned = _planned(place, overlay, now=now, allow_secret=allow_secret)
        overlay.add(planned.steps, planned.facts)
        steps += planned.steps
        facts += planned.facts
        documents.update(planned.documents)
        titles += [place.draft.title] if planned.steps else []
    for path in archive:
        archived = plan_archive(path, overlay, now=now, reason=reason)
        overlay.add(archived.steps)
        steps += archived.steps
        titles.append(path)
    told = titles[0] if len(titles) == 1 else f"{len(titles)} memories"
    return Planned(
        result=None,
        steps=tuple(steps),
        subject=subject("put", told),
        facts=tuple(facts),
        documents=documents,
    )


def _planned(place: Place, view: View, *, now: datetime, allow_secret: bool) -> Planned[None]:
    draft = place.draft
    if draft.path is None:
        raise InvalidPath("", PathRule.SEGMENT, "what is put somewhere needs a path")
    path = new_memory_path(draft.path)
    old = find_memory(place.moved_from, view)[1] if place.moved_from else view.find(path)
    if place.expect is not None and place.expect != (old.sha if old else ""):
        theirs = old.sha if old else ""
        why = "it was changed after you read it"
        raise WriteConflict(path, ours=place.expect, theirs=theirs, reason=why)
    refuse_contradictions(draft)
    data, document = render_memory(draft, at=stamp(now))
    if not allow_secret:
        refuse_secrets(data, document)
        refuse_secret_words(path, draft.workspace)
    refuse_links(path, draft.memory_type, draft.links, view)
    if old is not None:
        data = _as_before(data, old)
    if old is None or place.moved_from:
        require_free(path, view)
    elif _without_stamp(data) == _without_stamp(old.data):
        return Planned(result=None)
    step: Step
    if place.moved_from and old is not None:
        step = Move(find_memory(place.moved_from, view)[0], path, data, old.sha)
    else:
        step = Put(path, data, old.sha if old else None)
    document = replace(document, head=parse(data).head) if old is not None else document
    return Planned(
        result=None,
        steps=(step,),
        facts=(Fact.of(path, document),),
        documents={} if old is not None else {data: document},
    )


def _as_before(data: bytes, old: File) -> bytes:
    """Return the new file with what the one before it keeps: when it was created, and its links."""
    edits: list[Edit] = []
    created = read_meta(old.data, "memhtml-created")
    if created is not None and is_instant(created):
        edits.append(SetMeta("memhtml-created", created))
    edits += (AddLink(link.rel, link.href) for link in read_links(old.data))
    return apply_edits(data, edits)


def _without_stamp(data: bytes) -> bytes:
    return apply_edits(data, (SetMeta("memhtml-updated", "1970-01-01"),))
