"""What `doctor` looks for in a surveyed tree. Pure: a survey in, findings out."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING

from memhtml.doctor.finding import Finding
from memhtml.format.edit import AddLink, RemoveLink, SetMeta
from memhtml.model.diagnostics import Severity
from memhtml.model.edges import href_of, path_of_href, rel_for_token
from memhtml.model.entities import parse_entity
from memhtml.model.paths import original_path, path_key, writable_fault
from memhtml.model.shell import quoted
from memhtml.model.vocabulary import MemoryType, Rel, Status, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memhtml.doctor.survey import Survey, Surveyed

__all__ = ["RULES"]

INBOX_CROWD = 100
"""More memories than this in the inbox are worth a note."""

# Bytes of a name that were no UTF-8.
_lone_re = re.compile("[\ud800-\udfff]")

_FINDING_OF = {
    Severity.VIOLATION: "memory-invalid",
    Severity.WARNING: "memory-warning",
    Severity.NOTE: "value-dropped",
}


def broken_files(survey: Survey) -> Iterator[Finding]:
    """Yield everything the checker says, with line and column."""
    for file in survey.memories:
        for found in file.document.diagnostics:
            yield Finding(
                code=_FINDING_OF[found.severity],
                path=file.path,
                line=found.span.line,
                column=found.span.column,
                message=f"{found.code}: {found.message}",
                hint=f"memhtml check {quoted(f'{survey.root}/{file.path}')}",
            )
    for path in survey.unreadable:
        yield Finding(
            code="not-a-file",
            path=path,
            message="it is not a regular file that can be read; links are not followed",
            hint="replace it by the file itself, or move it out of the buckets",
        )


def names(survey: Survey) -> Iterator[Finding]:
    """Yield names that are one on some file system, and names that some cannot hold."""
    spelled: dict[str, str] = {}
    told: set[str] = set()
    for path in survey.paths:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            here = "/".join(parts[:depth])
            twin = spelled.setdefault(path_key(here), here)
            if twin != here and here not in told:
                told.add(here)
                yield Finding(
                    code="name-collision",
                    path=here,
                    message=f"{twin!r} is the same name where case or accents do not count",
                    hint=f"rename {here!r} with git mv",
                )
    for unusable in survey.unusable:
        right = _lone_re.sub("_", unusable.path[: -len(".html")]) + ".html"
        move = "git mv" if unusable.is_committed else "mv"
        yield Finding(
            code="name-unusable",
            path=unusable.path.encode("utf-8", "backslashreplace").decode(),
            message=unusable.reason,
            hint=f"{move} {quoted(unusable.path)} {quoted(right)}",
        )
    for file in survey.memories:
        here = original_path(file.path) or file.path
        while (inner := original_path(here)) is not None:
            here = inner
        fault = writable_fault(here)
        if fault is not None:
            yield Finding(code="name-not-portable", path=file.path, message=fault.reason)
        elif unicodedata.normalize("NFC", file.path) != file.path:
            yield Finding(
                code="name-not-portable",
                path=file.path,
                message="its accents are decomposed, which macOS and others spell differently",
            )


def stated_hashes(survey: Survey) -> Iterator[Finding]:
    """Yield content hashes in heads that are not those of the articles."""
    for file in survey.valid():
        stated, computed = file.document.head.content_hash, file.document.content_hash
        if stated is not None and stated != computed:
            yield Finding(
                code="hash-stale",
                path=file.path,
                message="the article was edited after its content hash was written",
                edits=(SetMeta("memhtml-content-hash", computed),),
            )


def places(survey: Survey) -> Iterator[Finding]:
    """Yield files whose status says something else than their place; the place decides."""
    for file in survey.valid():
        is_archived = original_path(file.path) is not None
        right = Status.ARCHIVED if is_archived else Status.ACTIVE
        head = file.document.head
        if head.status != right:
            yield Finding(
                code="status-misplaced",
                path=file.path,
                message=f"its status is {head.status!r}, and it stands "
                + ("in the archive" if is_archived else "outside the archive"),
                edits=(SetMeta("memhtml-status", right),),
            )
        elif head.task_status == TaskStatus.DONE and not is_archived:
            yield Finding(
                code="status-misplaced",
                path=file.path,
                message="the task is done and not archived",
                hint=f"memhtml task status {quoted(file.path)} done",
            )


def duplicates(survey: Survey) -> Iterator[Finding]:
    """Yield active memories whose content an older one has."""
    by_hash: dict[str, list[Surveyed]] = defaultdict(list)
    for file in survey.valid():
        is_task = file.document.head.memory_type == MemoryType.TASK
        if original_path(file.path) is None and not is_task:
            by_hash[file.document.content_hash].append(file)
    for files in by_hash.values():
        first, *rest = sorted(files, key=lambda f: (f.document.head.created_at or "", f.path))
        for file in rest:
            yield Finding(
                code="duplicate-content",
                path=file.path,
                message=f"it says exactly what {first.path!r} says",
                hint=f"memhtml archive {quoted(file.path)} "
                f"--reason {quoted(f'same as {first.path}')}",
            )


def links(survey: Survey) -> Iterator[Finding]:
    """Yield links to where nothing stands; one to what was archived can follow it there."""
    there = set(survey.paths)
    archived: dict[str, str] = {}
    for path in survey.paths:
        original = original_path(path)
        if original is not None:
            archived[original] = max(archived.get(original, ""), path)
    for file in survey.valid():
        for link in file.document.links:
            target = path_of_href(link.href)
            if target is None or target in there:
                continue
            moved_to = archived.get(target)
            yield Finding(
                code="link-dangling",
                path=file.path,
                message=f"{link.rel} points at {target!r}, where nothing stands"
                + (f"; it went to {moved_to!r}" if moved_to else ""),
                edits=()
                if moved_to is None
                else (RemoveLink(link.rel, link.href), AddLink(link.rel, href_of(moved_to))),
                hint=None
                if moved_to
                else f"memhtml unlink {quoted(file.path)} "
                f"{quoted(link.rel.removeprefix('memhtml-'))} {quoted(target)}",
            )


def tasks(survey: Survey) -> Iterator[Finding]:
    """Yield open tasks past their day, and those that wait for what no longer stands in the way."""
    for file in survey.valid():
        head = file.document.head
        if head.memory_type != MemoryType.TASK or original_path(file.path) is not None:
            continue
        if head.due_at is not None and head.due_at[:10] < survey.today:
            yield Finding(
                code="task-overdue", path=file.path, message=f"it was due on {head.due_at[:10]}"
            )
        for link in file.document.links:
            target = path_of_href(link.href) or ""
            is_blocker = rel_for_token(link.rel) is Rel.BLOCKS
            if is_blocker and original_path(target) is not None:
                yield Finding(
                    code="blocker-gone",
                    path=file.path,
                    message=f"it blocks {target!r}, which is finished",
                )


def upkeep(survey: Survey) -> Iterator[Finding]:
    """Yield what a person may want to tidy."""
    untyped: dict[str, str] = {}
    inbox = 0
    for file in survey.valid():
        inbox += file.path.startswith("areas/inbox/")
        for entity in file.document.head.entities:
            if parse_entity(entity.strip()) is None and entity.strip():
                untyped.setdefault(entity.strip(), file.path)
    for entity, path in sorted(untyped.items()):
        yield Finding(
            code="entity-untyped",
            path=path,
            message=f"{entity!r} has no type; write it as type:name, such as org:{entity}",
        )
    if inbox > INBOX_CROWD:
        yield Finding(code="inbox-crowded", message=f"{inbox} memories stand in areas/inbox")


def uncommitted(survey: Survey) -> Iterator[Finding]:
    """Yield the memories whose state on disk is not committed."""
    for path in survey.dirty:
        yield Finding(
            code="uncommitted",
            path=path,
            message="its state on disk is not committed",
            hint="commit it, or take it back with git restore",
        )


RULES: tuple[Callable[[Survey], Iterable[Finding]], ...] = (
    broken_files,
    names,
    stated_hashes,
    places,
    duplicates,
    links,
    tasks,
    upkeep,
    uncommitted,
)
