"""Plan a write: one draft becomes one new file, or none where its content is already known.

The order of the questions is that of the store format (§6): may the path be used, is the file
valid, is anything secret in it, is it known, where is there room. Every refusal comes before
anything is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.format.render import render_memory
from memhtml.model.errors import InvalidMemory, StorageFailure, WriteConflict
from memhtml.model.instants import stamp
from memhtml.model.memory import Written
from memhtml.model.paths import (
    derived_path,
    directory_with_room,
    new_memory_path,
    path_key,
    place,
)
from memhtml.model.shell import quoted
from memhtml.model.vocabulary import MemoryType, TaskStatus
from memhtml.store.gate import refuse_links, refuse_secret_words, refuse_secrets
from memhtml.store.plan import Fact, Planned, Put, subject

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from memhtml.model.memory import Draft
    from memhtml.model.paths import MemoryPath
    from memhtml.store.plan import View

__all__ = [
    "Made",
    "free_path",
    "make",
    "near_duplicates",
    "plan_write",
    "provenance",
    "refuse_contradictions",
    "require_free",
    "respell",
]

_TRIES = 1000


class Made(NamedTuple):
    """What can be made of a draft without a view of the tree."""

    data: bytes
    document: Any
    """A `Document`, or what whoever had it made ahead wants in its place."""
    fact: Fact
    """Its path is yet to be found."""


def make(
    draft: Draft,
    *,
    at: str,
    detect: Callable[[str], str | None] | None = None,
    allow_secret: bool = False,
) -> Made:
    """Return the file of *draft*, created *at* that instant.

    Raises:
        InvalidMemory: *draft* would not make a valid file.
        SecretFound: The file, its path or the commit message would hold a credential.
    """
    data, document = render_memory(draft, at=at, detect=detect)
    if not allow_secret:
        refuse_secrets(data, document)
        refuse_secret_words(draft.path, draft.workspace)
    return Made(data, document, Fact.of("", document))


def plan_write(
    draft: Draft,
    view: View,
    *,
    now: datetime,
    detect: Callable[[str], str | None] | None = None,
    allow_secret: bool = False,
    made: Made | None = None,
) -> Planned[Written]:
    """Plan the file of *draft*, written *now*; no steps when an active memory already says it.

    *made* is what `make` returned for it, if somebody made it already. A task is never taken for a
    duplicate: two people may have the same thing to do.

    Raises:
        InvalidPath: `Draft.path` is not usable.
        InvalidMemory: *draft* would not make a valid file.
        SecretFound: The file, its path or the commit message would hold a credential.
        PathNotFound: A link of *draft* leads to where nothing stands.
        WriteConflict: `Draft.path` is occupied.
    """
    explicit = None if draft.path is None else new_memory_path(draft.path)
    refuse_contradictions(draft)
    if made is None:
        made = make(draft, at=stamp(now), detect=detect, allow_secret=allow_secret)
    content_hash = made.fact.content_hash
    is_task = draft.memory_type == MemoryType.TASK
    known = None if is_task else view.find_active(content_hash)
    if known is not None:
        return Planned(result=_written(known, content_hash, deduped=True))
    if explicit is not None:
        require_free(explicit, view)
        path = explicit
    else:
        directory = place(
            draft.memory_type,
            workspace=draft.workspace,
            entities=draft.entities,
            tags=draft.tags,
        )
        path = free_path(directory, draft.title, draft.memory_type, view, now=now)
    refuse_links(path, draft.memory_type, draft.links, view)
    fact = made.fact._replace(path=path)
    return Planned(
        result=_written(path, content_hash, near=() if is_task else near_duplicates(fact, view)),
        steps=(Put(path, made.data),),
        subject=subject("write", draft.title),
        trailers=provenance(draft.session_id, draft.prompt_id),
        facts=() if is_task else (fact,),
        documents={made.data: made.document},
    )


def near_duplicates(fact: Fact, view: View) -> tuple[str, ...]:
    """Return the paths of active memories that say what *fact* says in other words.

    It only advises: case, spacing, a final stop or the order of words may matter to somebody.
    """
    return () if fact.near_key is None else tuple(view.find_near(fact.near_key))


def refuse_contradictions(draft: Draft) -> None:
    """Let no draft pass that says two things that cannot both be.

    Raises:
        InvalidMemory: Its validity ends before it begins, or it is a task that is done already.
    """
    if draft.valid_from and draft.valid_until and draft.valid_until < draft.valid_from:
        raise InvalidMemory(
            (), reason=f"valid until {draft.valid_until} is before valid from {draft.valid_from}"
        )
    if draft.task_status == TaskStatus.DONE:
        raise InvalidMemory(
            (), reason="a task begins as todo, doing or blocked; say that it is done once it is"
        )


def provenance(session_id: str | None, prompt_id: str | None) -> tuple[tuple[str, str], ...]:
    """Return the commit trailers that say which session and prompt a memory came from."""
    named = (("Memhtml-Session", session_id), ("Memhtml-Prompt", prompt_id))
    return tuple((name, value) for name, value in named if value and value.strip())


def free_path(
    directory: str, title: str, memory_type: MemoryType, view: View, *, now: datetime
) -> MemoryPath:
    """Return the first name for *title* that nothing in *directory* bears, in any case.

    Raises:
        StorageFailure: A thousand names are taken, so something is wrong with the caller.
    """
    directory = respell(directory, view)
    directory = directory_with_room(directory, at=now, entries=lambda name: len(view.names(name)))
    taken = view.names(directory)
    for ordinal in range(1, _TRIES + 1):
        path = derived_path(directory, title, memory_type, at=now, ordinal=ordinal)
        if path_key(path.rpartition("/")[2]) not in taken:
            return path
    raise StorageFailure(f"{_TRIES} files in {directory!r} already bear the title {title!r}")


def respell(directory: str, view: View) -> str:
    """Return *directory* as the tree spells it: ``projects/Barn`` where ``barn`` would be a twin.

    On a file system that ignores case the two are one folder, and git would list its files twice.
    """
    spelled = ""
    for part in directory.split("/"):
        name = view.names(spelled).get(path_key(part), part)
        spelled = f"{spelled}/{name}" if spelled else name
    return spelled


def require_free(path: str, view: View) -> None:
    """Let *path* pass when a new file may stand exactly there.

    Raises:
        WriteConflict: Something stands there, or differs from it in case or accents only, or a file
            stands where one of its folders would be.
    """
    parts = path.split("/")
    for depth, part in enumerate(parts):
        parent = "/".join(parts[:depth])
        here = "/".join(parts[: depth + 1])
        name = view.names(parent).get(path_key(part))
        if name is None:
            return
        found = view.find(here)
        if name != part:
            theirs = f"{parent}/{name}" if parent else name
            reason = f"{theirs!r} stands there, and some file systems take the two for one"
        elif here == path:
            reason = "something stands there already"
        elif found is not None:
            reason = f"{here!r} is a file, not a folder"
        else:
            continue
        raise WriteConflict(
            path,
            theirs=found.sha if found else "",
            reason=reason,
            suggestions=(f"memhtml read {quoted(here)}", "memhtml help correct"),
        )


def _written(
    path: str, content_hash: str, *, deduped: bool = False, near: tuple[str, ...] = ()
) -> Written:
    return Written(
        path=path,
        created=not deduped,
        deduped=deduped,
        existing_path=path if deduped else None,
        commit=None,
        content_hash=content_hash,
        near_duplicates=near,
    )
