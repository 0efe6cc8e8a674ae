"""Plan archiving, and its undoing: a move by the archive's path algebra, with stamps in the head.

The article's bytes never change, so neither does the content hash. A stamp never goes back in time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memhtml.format.edit import (
    AddLink,
    RemoveLink,
    RemoveMeta,
    SetMeta,
    apply_edits,
    read_links,
    read_meta,
)
from memhtml.model.changes import Archived, Unarchived
from memhtml.model.edges import href_of
from memhtml.model.errors import InvalidMemory, NotCommitted, PathNotFound, StorageFailure
from memhtml.model.instants import is_instant, stamp
from memhtml.model.paths import archive_path, memory_path, original_path, path_key
from memhtml.model.shell import quoted
from memhtml.model.slugs import with_ordinal
from memhtml.model.vocabulary import MemoryType, Status, TaskStatus
from memhtml.model.whitespace import is_blank
from memhtml.store.gate import refuse_secret_words
from memhtml.store.plan import Move, Planned, Put, subject
from memhtml.store.write import require_free

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from memhtml.format.edit import Edit
    from memhtml.model.paths import MemoryPath
    from memhtml.store.plan import File, Step, View

__all__ = [
    "archiving",
    "find_memory",
    "free_archive_path",
    "later",
    "plan_archive",
    "plan_unarchive",
    "reason_trailer",
    "repoint",
]

_TRIES = 1000
_ordinal_re = re.compile(r"-[0-9]+\.html$")


def plan_archive(path: str, view: View, *, now: datetime, reason: str) -> Planned[Archived]:
    """Plan moving the memory at *path* into the archive; links that tasks have to it follow.

    Raises:
        PathNotFound: No memory stands there.
        InvalidMemory: It is archived already, or *reason* is blank.
        SecretFound: *reason* holds a credential.
    """
    if is_blank(reason):
        raise InvalidMemory((), reason="say why it is archived; the commit keeps the reason")
    refuse_secret_words(reason)
    here, file = find_memory(path, view)
    dst, steps = archiving(here, file, view, now=now)
    return Planned(
        result=Archived(path=here, archive_path=dst, commit=None),
        steps=tuple(steps),
        subject=subject("archive", f"{here} — {reason}"),
        trailers=reason_trailer(reason),
    )


def archiving(
    path: MemoryPath,
    file: File,
    view: View,
    *,
    now: datetime,
    edits: Iterable[Edit] = (),
) -> tuple[MemoryPath, list[Step]]:
    """Return where *path* goes, and the steps: the move with its stamps, and links that follow.

    *edits* are made to the moved file beside the stamps.

    Raises:
        InvalidMemory: It is archived already.
    """
    if original_path(path) is not None:
        raise InvalidMemory((), reason=f"{path!r} is archived already")
    at = stamp(now)
    dst = free_archive_path(path, view, now=now)
    data = apply_edits(
        file.data,
        (
            SetMeta("memhtml-status", Status.ARCHIVED),
            SetMeta("memhtml-updated", later(at, read_meta(file.data, "memhtml-updated"))),
            SetMeta("memhtml-archived", later(at, read_meta(file.data, "memhtml-created"))),
            *edits,
        ),
    )
    move = Move(path, dst, data, file.sha)
    is_task = read_meta(file.data, "memhtml-type") == MemoryType.TASK
    return dst, [move, *(repoint(path, dst, view) if is_task else ())]


def plan_unarchive(
    path: str, view: View, *, now: datetime, force: bool = False
) -> Planned[Unarchived]:
    """Plan moving an archived memory back to where it stood; a finished task is to do again.

    Raises:
        PathNotFound: Nothing stands at *path*.
        InvalidMemory: It is not archived, or something active superseded it and *force* is not
            given: two memories would say different things.
        WriteConflict: Something stands at its old place.
    """
    here, file = find_memory(path, view)
    original = original_path(here)
    if original is None:
        raise InvalidMemory((), reason=f"{here!r} is not archived")
    successor = (read_meta(file.data, "memhtml-superseded-by") or "").lstrip("/")
    if successor and not force and view.find(successor) is not None:
        raise InvalidMemory(
            (),
            reason=f"{here!r} was superseded by {successor!r}, which is still there",
            suggestions=(f"memhtml unarchive {quoted(here)} --force",),
        )
    dst = memory_path(_with_own_name(here, original, view))
    require_free(dst, view)
    is_task = read_meta(file.data, "memhtml-type") == MemoryType.TASK
    edits: list[Edit] = [
        SetMeta("memhtml-status", Status.ACTIVE),
        SetMeta("memhtml-updated", later(stamp(now), read_meta(file.data, "memhtml-updated"))),
        RemoveMeta("memhtml-archived"),
        RemoveMeta("memhtml-superseded-by"),
    ]
    if successor:
        # The correction closed the window; brought back, the fact holds again without an end.
        edits.append(RemoveMeta("memhtml-valid-until"))
    if is_task and read_meta(file.data, "memhtml-task-status") == TaskStatus.DONE:
        edits.append(SetMeta("memhtml-task-status", TaskStatus.TODO))
    move = Move(here, dst, apply_edits(file.data, edits), file.sha)
    links = repoint(here, dst, view) if is_task else ()
    return Planned(
        result=Unarchived(path=dst, archive_path=here, commit=None),
        steps=(move, *links),
        subject=subject("unarchive", dst),
    )


def find_memory(path: str, view: View) -> tuple[MemoryPath, File]:
    """Return the memory at *path*, its path normalised.

    Raises:
        NotCommitted: The file there was dropped in by hand.
        PathNotFound: No memory can stand there, or none does.
    """
    try:
        here = memory_path(path)
    except InvalidMemory:
        raise PathNotFound(path) from None
    file = view.find(here)
    if file is None:
        folder, _, name = here.rpartition("/")
        if view.names(folder).get(path_key(name)) == name:
            raise NotCommitted(here)
        raise PathNotFound(here, suggestions=(f"memhtml resolve {quoted(here)}", "memhtml list"))
    return here, file


def free_archive_path(path: str, view: View, *, now: datetime) -> MemoryPath:
    """Return where *path* goes in the archive: a second one of that name gets ``-2``, and so on.

    Raises:
        StorageFailure: A thousand were archived from there this year.
    """
    target = archive_path(path, now.year)
    directory, _, name = target.rpartition("/")
    stem = name.removesuffix(".html")
    taken = view.names(directory)
    for ordinal in range(1, _TRIES + 1):
        candidate = f"{with_ordinal(stem, ordinal)}.html"
        if path_key(candidate) not in taken:
            return memory_path(f"{directory}/{candidate}")
    raise StorageFailure(f"{_TRIES} files from {path!r} stand in the archive of this year")


def _with_own_name(here: str, original: str, view: View) -> str:
    # "x-2.html" may be a memory of that name, or the second "x.html" that was archived this year;
    # only the commit that moved it knows.
    return (view.origin(here) or original) if _ordinal_re.search(here) else original


def repoint(old: str, new: str, view: View) -> Iterator[Step]:
    """Yield the steps that make every link of an active memory to *old* one to *new*."""
    href, successor = href_of(old), href_of(new)
    for source in view.linking(old):
        file = view.find(source)
        if file is None:
            continue
        rels = [link.rel for link in read_links(file.data) if link.href == href]
        edits: list[Edit] = []
        for rel in rels:
            edits += (RemoveLink(rel, href), AddLink(rel, successor))
        if edits:
            yield Put(source, apply_edits(file.data, edits), file.sha)


def later(stamped: str, before: str | None) -> str:
    """Return the later of the two; a *before* that is no instant does not count.

    >>> later("2026-08-02T00:00:00Z", "2027-01-01"), later("2026-08-02T00:00:00Z", "noon")
    ('2027-01-01', '2026-08-02T00:00:00Z')
    """
    return max(stamped, before) if before and is_instant(before) else stamped


def reason_trailer(reason: str | None) -> tuple[tuple[str, str], ...]:
    """Return the trailer that keeps *reason* whole; a subject is cut at 72 characters."""
    return (("Memhtml-Reason", reason),) if reason and reason.strip() else ()
