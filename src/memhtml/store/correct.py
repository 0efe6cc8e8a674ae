"""Plan a correction: a new memory takes the place of one that is no longer true.

What the old one said about itself besides the fact, its tags, entities, aliases, author and
weights, holds for the new one unless the caller says otherwise. The old file moves to the archive
in the same commit, so its name is free for the new one, and the moment from which the new one holds
is the moment until which the old one did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.edit import AddLink, SetMeta, apply_edits, read_meta
from memhtml.format.parse import parse
from memhtml.format.render import render_memory
from memhtml.model.changes import Corrected
from memhtml.model.edges import href_of
from memhtml.model.errors import DuplicateContent, InvalidMemory, WriteConflict
from memhtml.model.instants import is_instant, stamp
from memhtml.model.memory import Draft
from memhtml.model.shell import quoted
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus
from memhtml.model.whitespace import is_blank
from memhtml.store.archive import archiving, find_memory, reason_trailer
from memhtml.store.gate import refuse_secret_words, refuse_secrets
from memhtml.store.plan import Fact, Overlay, Planned, Put, subject
from memhtml.store.write import free_path, provenance, refuse_contradictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from memhtml.format.edit import Edit
    from memhtml.model.changes import Correction
    from memhtml.model.document import Document
    from memhtml.model.paths import MemoryPath
    from memhtml.store.plan import File, Step, View

__all__ = ["plan_correct", "superseding"]


def plan_correct(
    correction: Correction,
    view: View,
    *,
    now: datetime,
    detect: Callable[[str], str | None] | None = None,
    allow_secret: bool = False,
) -> Planned[Corrected]:
    """Plan the successor of a memory, in the same folder, and the old one's way to the archive.

    Raises:
        PathNotFound: No memory stands at the target.
        WriteConflict: The target is not the version the caller read.
        InvalidMemory: The target is archived already, or the successor would not be valid.
        DuplicateContent: Another active memory says already what the successor would say.
        SecretFound: The successor would hold a credential.
    """
    target, file = find_memory(correction.target, view)
    if correction.expect is not None and correction.expect != file.sha:
        raise WriteConflict(
            target,
            ours=correction.expect,
            theirs=file.sha,
            reason="it was changed after you read it",
            suggestions=(f"memhtml read {quoted(target)}", f"memhtml history {quoted(target)}"),
        )
    old = parse(file.data)
    draft = _successor(correction, old)
    if correction.valid_from or correction.valid_until:
        refuse_contradictions(draft)
    data, document = render_memory(draft, at=stamp(now), detect=detect)
    holds_from = draft.valid_from or document.happened_at or stamp(now)
    if old.head.valid_from is not None and holds_from < old.head.valid_from:
        raise InvalidMemory(
            (),
            reason=f"it would hold from {holds_from}, before {target!r} began to hold at "
            f"{old.head.valid_from}",
        )
    data = apply_edits(data, (SetMeta("memhtml-valid-from", holds_from),))
    if not allow_secret:
        refuse_secrets(data, document)
        refuse_secret_words(correction.reason)
    is_task = draft.memory_type is MemoryType.TASK
    known = None if is_task else view.find_active(document.content_hash)
    if known not in {None, target}:
        raise DuplicateContent(str(known), correcting=target)

    archived_path, moved = archiving(target, file, view, now=now)
    vacated = Overlay(view)
    vacated.add(moved)
    directory = target.rpartition("/")[0]
    path = free_path(directory, draft.title, draft.memory_type, vacated, now=now)
    # The stamps that name the successor need its path, which needs the target out of the way.
    closing = _closing(file, path, holds_from)
    archived_path, moved = archiving(target, file, view, now=now, edits=closing)
    link = AddLink(Rel.SUPERSEDES, href_of(archived_path))
    return Planned(
        result=Corrected(
            path=path,
            archived_path=archived_path,
            commit=None,
            content_hash=document.content_hash,
        ),
        steps=(*moved, Put(path, apply_edits(data, (link,)))),
        subject=subject("correct", draft.title),
        trailers=(
            *provenance(draft.session_id, draft.prompt_id),
            *reason_trailer(correction.reason),
        ),
        facts=() if is_task else (Fact.of(path, document),),
        documents={data: document},
    )


def superseding(
    winner: str, loser: str, view: View, *, now: datetime
) -> tuple[MemoryPath, tuple[Step, ...]]:
    """Return where *loser* goes in the archive, and the steps that let *winner* take its place.

    Both exist in *view*; *winner* gets the link and the moment from which it holds, unless it says.

    Raises:
        PathNotFound: Either is missing.
        InvalidMemory: *loser* is archived already.
    """
    winning, file = find_memory(winner, view)
    losing, old = find_memory(loser, view)
    holds_from = (
        read_meta(file.data, "memhtml-valid-from") or parse(file.data).happened_at or stamp(now)
    )
    closing = _closing(old, winning, holds_from)
    archived_path, moved = archiving(losing, old, view, now=now, edits=closing)
    edits = (
        SetMeta("memhtml-valid-from", holds_from),
        AddLink(Rel.SUPERSEDES, href_of(archived_path)),
    )
    return archived_path, (*moved, Put(winning, apply_edits(file.data, edits), file.sha))


def _closing(old: File, successor: str, holds_from: str) -> tuple[Edit, ...]:
    """Return the stamps that end *old*; a window that ended earlier keeps its end."""
    until = read_meta(old.data, "memhtml-valid-until")
    superseded = SetMeta("memhtml-superseded-by", href_of(successor))
    if until is not None and is_instant(until) and until <= holds_from:
        return (superseded,)
    return (superseded, SetMeta("memhtml-valid-until", holds_from))


def _successor(correction: Correction, old: Document) -> Draft:
    head = old.head
    memory_type = correction.memory_type or MemoryType(head.memory_type or MemoryType.SEMANTIC)
    is_task = memory_type is MemoryType.TASK
    return Draft(
        title=old.title if correction.title is None else correction.title,
        memory_type=memory_type,
        claim=correction.claim,
        paragraphs=correction.paragraphs,
        article_html=correction.article_html,
        facets=correction.facets,
        citations=correction.citations,
        happened_at=correction.happened_at,
        tags=_filled(head.tags) if correction.tags is None else correction.tags,
        entities=_filled(head.entities) if correction.entities is None else correction.entities,
        aliases=_filled(head.aliases) if correction.aliases is None else correction.aliases,
        confidence=head.confidence if correction.confidence is None else correction.confidence,
        importance=head.importance if correction.importance is None else correction.importance,
        author=correction.author or next(iter(_filled((head.author or "",))), None),
        session_id=correction.session_id,
        prompt_id=correction.prompt_id,
        turn_uuid=correction.turn_uuid,
        valid_from=correction.valid_from,
        valid_until=correction.valid_until,
        task_status=TaskStatus(head.task_status) if is_task and head.task_status else None,
        due_at=head.due_at if is_task else None,
    )


def _filled(texts: Iterable[str]) -> tuple[str, ...]:
    # A file written by hand may state blank values; a new one may not.
    return tuple(text for text in texts if not is_blank(text))
