"""What became of memories between two states of some files. Pure: documents in, happenings out.

A commit and a whole month are told by the same rules, for both are a state before and one after.
What was archived is told by where it went and what took its place, never by likeness; so a
correction is one happening and not a removal, an addition and a move.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.edges import path_of_href
from memhtml.model.paths import original_path
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus
from memhtml.store.lineage import sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memhtml.model.document import Document

__all__ = ["HEADINGS", "Happening", "Shift", "What", "find_happenings"]


class What(StrEnum):
    """What can become of a memory, in the order in which it is told."""

    LEARNED = "learned"
    CORRECTED = "corrected"
    CONTRADICTED = "contradicted"
    FORGOTTEN = "forgotten"
    RESTORED = "restored"
    EDITED = "edited"
    TASK_ADDED = "task-added"
    TASK_CHANGED = "task-changed"
    TASK_DONE = "task-done"
    RELABELLED = "relabelled"
    MOVED = "moved"
    DELETED = "deleted"
    """The file went without being archived."""
    BROKEN = "broken"
    """The file cannot be read as a memory any more, or never could."""


HEADINGS: Mapping[What, str] = {
    What.LEARNED: "Learned",
    What.CORRECTED: "Corrected",
    What.CONTRADICTED: "Contradicted",
    What.FORGOTTEN: "Forgotten",
    What.RESTORED: "Brought back",
    What.EDITED: "Edited",
    What.TASK_ADDED: "New tasks",
    What.TASK_CHANGED: "Tasks under way",
    What.TASK_DONE: "Tasks done",
    What.RELABELLED: "Labelled anew",
    What.MOVED: "Moved",
    What.DELETED: "Deleted",
    What.BROKEN: "Not readable",
}


class Shift(NamedTuple):
    """One file before and after; None where there was or is none."""

    path: str
    before: Document | None
    after: Document | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One thing that became of one memory."""

    what: What
    path: str
    """Where the memory stands; where it stood, if it was deleted."""
    claim: str
    """What it says; its title where it has no claim."""
    title: str
    memory_type: str | None
    author: str | None
    session: str | None
    before: str | None = None
    """What it said before, or what the memory said that it took the place of."""
    before_path: str | None = None
    """Where that stood."""
    other: str | None = None
    """Of a contradiction: what the other memory says, or its path where that is unknown."""
    other_path: str | None = None
    notes: tuple[str, ...] = ()
    """What changed of the labels, and where a task stands now."""
    reason: str | None = None
    commit: str | None = None
    at: str | None = None
    """When the commit was made that it is told of."""

    @property
    def sentence(self) -> str:
        """The whole of it in plain words; text of memories, which is never an instruction."""
        # What came and went within the time that is told of was nowhere before it.
        template = _BRIEF.get(self.what) if self.before is None else None
        words = (template or _SENTENCES[self.what]).format(
            claim=_ended(self.claim), path=self.path, before_path=self.before_path
        )
        if self.what is What.CONTRADICTED:
            words = f"Contradicted: {_ended(self.claim)} Against it: {_ended(self.other or '')}"
        if self.before and self.before != self.claim:
            words += f" Before: {_ended(self.before)}"
        if self.notes:
            words += f" Now {', '.join(self.notes)}."
        if self.reason:
            words += f" Reason: {_ended(self.reason)}"
        return words


_ENDS = ".!?\u2026\u3002\uff01\uff1f"
"""What a sentence ends with, in the scripts that have an end of their own."""

_SENTENCES: Mapping[What, str] = {
    What.LEARNED: "Learned: {claim}",
    What.CORRECTED: "Corrected: {claim}",
    What.CONTRADICTED: "",
    What.FORGOTTEN: "Forgot: {claim}",
    What.RESTORED: "Brought back: {claim}",
    What.EDITED: "Edited: {claim}",
    What.TASK_ADDED: "New task: {claim}",
    What.TASK_CHANGED: "Task: {claim}",
    What.TASK_DONE: "Task done: {claim}",
    What.RELABELLED: "Labelled anew: {claim}",
    What.MOVED: "Moved from {before_path} to {path}: {claim}",
    What.DELETED: "Deleted {path}: {claim}",
    What.BROKEN: "Not readable as a memory: {path}.",
}


_BRIEF: Mapping[What, str] = {
    What.FORGOTTEN: "Learned and forgot again: {claim}",
    What.TASK_DONE: "New task, and done: {claim}",
}


def find_happenings(
    shifts: Iterable[Shift], look: Callable[[str], Document | None] = lambda _: None
) -> tuple[Happening, ...]:
    """Return what *shifts* amount to, by kind and path.

    *look* gives the document of a path that did not change, for the other side of a contradiction.
    """
    told = _Telling(shifts, look)
    order = list(What)
    return tuple(sorted(told.happenings(), key=lambda each: (order.index(each.what), each.path)))


class _Telling:
    """The shifts of one telling, by where things went."""

    def __init__(self, shifts: Iterable[Shift], look: Callable[[str], Document | None]) -> None:
        self._shifts = {shift.path: shift for shift in shifts}
        self._look = look
        self._source = self._sources()
        """Where each file that came stood before, if it was moved."""
        self._by_hand()
        self._moved = frozenset(self._source.values())
        self._olds: dict[str, list[str]] = defaultdict(list)
        """The archived files that each file took the place of."""
        for path, shift in self._shifts.items():
            new = _links(shift.after, Rel.SUPERSEDES) - _links(shift.before, Rel.SUPERSEDES)
            self._olds[path] += sorted(new)
        self._with_heir = frozenset(old for olds in self._olds.values() for old in olds)

    def happenings(self) -> Iterator[Happening]:
        """Yield everything, in no order."""
        for path, shift in self._shifts.items():
            if shift.after is None:
                if path not in self._moved and shift.before is not None:
                    yield _happening(What.DELETED, path, shift.before)
                continue
            yield from self._about(path, shift.after)
            for other in sorted(self._contradicted(path, shift.after)):
                yield self._contradiction(path, shift.after, other)

    def _sources(self) -> dict[str, str]:
        found = sources(
            came=[path for path, shift in self._shifts.items() if shift.before is None],
            gone=[path for path, shift in self._shifts.items() if shift.after is None],
            replaced=[p for p, shift in self._shifts.items() if shift.before and shift.after],
        )
        # Over a longer time several may have left one place; a move changes no word.
        rivals: dict[str, list[str]] = defaultdict(list)
        for path, source in found.items():
            rivals[source].append(path)
        return {
            min(paths, key=lambda path: (not self._says_the_same(path, source), path)): source
            for source, paths in rivals.items()
        }

    def _says_the_same(self, path: str, source: str) -> bool:
        after, before = self._shifts[path].after, self._shifts[source].before
        return bool(after and before and after.content_hash == before.content_hash)

    def _by_hand(self) -> None:
        """Find what was renamed and says the same as before."""
        taken = set(self._source.values())
        by_hash: dict[str, str] = {}
        for path, shift in self._shifts.items():
            if shift.after is None and shift.before is not None and path not in taken:
                by_hash.setdefault(shift.before.content_hash, path)
        for path, shift in self._shifts.items():
            if shift.before is None and shift.after is not None and path not in self._source:
                source = by_hash.pop(shift.after.content_hash, None)
                if source is not None:
                    self._source[path] = source

    def _was(self, path: str) -> Document | None:
        """Return the memory at *path* as it was before, wherever it stood; None if it is new."""
        source = self._source.get(path)
        if source is not None:
            return self._shifts[source].before
        # Where the memory of before went elsewhere, another one stands here now.
        return None if path in self._moved else self._shifts[path].before

    def _about(self, path: str, after: Document) -> Iterator[Happening]:
        if not after.is_valid:
            yield _happening(What.BROKEN, path, after)
            return
        source, was = self._source.get(path), self._was(path)
        if original_path(path) is not None and self._shifts[path].before is None:
            if path not in self._with_heir:
                yield self._archived(path, after, was)
            return
        corrected = tuple(self._corrected(path))
        for old_path, old in corrected:
            yield _happening(What.CORRECTED, path, after, before=_said(old), before_path=old_path)
        if corrected:
            return
        is_task = after.head.memory_type == MemoryType.TASK
        if was is None:
            yield _happening(What.TASK_ADDED if is_task else What.LEARNED, path, after)
        elif source is not None:
            what = What.MOVED if original_path(source) is None else What.RESTORED
            yield _happening(what, path, after, before_path=source)
        else:
            yield from _changed(path, was, after)

    def _archived(self, path: str, after: Document, was: Document | None) -> Happening:
        """Tell of a file that came into the archive and that nothing took the place of."""
        is_task = after.head.memory_type == MemoryType.TASK
        done = is_task and after.head.task_status == TaskStatus.DONE
        return _happening(
            What.TASK_DONE if done else What.FORGOTTEN,
            path,
            after,
            before=None if was is None else _said(was),
            before_path=self._source.get(path),
        )

    def _corrected(self, path: str) -> Iterator[tuple[str, Document]]:
        """Yield each memory of before that the one at *path* took the place of, however often."""
        pending = list(self._olds.get(path, ()))
        seen: set[str] = set()
        while pending:
            old = pending.pop()
            if old in seen:
                continue
            seen.add(old)
            pending += self._olds.get(old, ())
            source = self._source.get(old)
            was = None if source is None else self._shifts[source].before
            if source is not None and was is not None:
                yield source, was

    def _contradicted(self, path: str, after: Document) -> set[str]:
        return _links(after, Rel.CONTRADICTS) - _links(self._was(path), Rel.CONTRADICTS)

    def _contradiction(self, path: str, after: Document, other: str) -> Happening:
        there = self._shifts.get(other)
        document = self._look(other) if there is None else there.after or there.before
        return _happening(
            What.CONTRADICTED,
            path,
            after,
            other=other if document is None else _said(document),
            other_path=other,
        )


def _changed(path: str, was: Document, after: Document) -> Iterator[Happening]:
    """Tell of a file that stayed where it is."""
    notes = tuple(_labels(was, after))
    if not was.is_valid or was.body_text != after.body_text or was.title != after.title:
        yield _happening(What.EDITED, path, after, before=_said(was), notes=notes)
    elif was.head.task_status != after.head.task_status:
        yield _happening(What.TASK_CHANGED, path, after, notes=notes)
    elif notes:
        yield _happening(What.RELABELLED, path, after, notes=notes)


def _labels(was: Document, after: Document) -> Iterator[str]:
    """Yield what differs of two heads, stamps left out."""
    old, new = was.head, after.head
    for name, before, now in (
        ("type", old.memory_type, new.memory_type),
        ("", old.task_status, new.task_status),
        ("due", old.due_at, new.due_at),
        ("importance", old.importance, new.importance),
        ("confidence", old.confidence, new.confidence),
        ("valid from", old.valid_from, new.valid_from),
        ("valid until", old.valid_until, new.valid_until),
        ("by", old.author, new.author),
    ):
        if before != now:
            yield f"{name} {'unknown' if now is None else now}".strip()
    for name, left, right in (
        ("tag", old.tags, new.tags),
        ("entity", old.entities, new.entities),
        ("alias", old.aliases, new.aliases),
    ):
        yield from (f"with {name} {each}" for each in right if each not in left)
        yield from (f"without {name} {each}" for each in left if each not in right)
    # A contradiction is a happening of its own.
    links, linked = (
        {(link.rel, link.href) for link in each.links if link.rel != Rel.CONTRADICTS.token}
        for each in (was, after)
    )
    for rel, href in sorted(linked - links):
        yield f"linked to {href.removeprefix('/')} ({rel.removeprefix('memhtml-')})"
    for rel, href in sorted(links - linked):
        yield f"no longer linked to {href.removeprefix('/')} ({rel.removeprefix('memhtml-')})"


def _happening(
    what: What,
    path: str,
    document: Document,
    *,
    before: str | None = None,
    before_path: str | None = None,
    other: str | None = None,
    other_path: str | None = None,
    notes: tuple[str, ...] = (),
) -> Happening:
    return Happening(
        what=what,
        path=path,
        claim=_said(document),
        title=document.title,
        memory_type=document.head.memory_type,
        author=document.head.author,
        session=document.head.session_id,
        before=before,
        before_path=before_path,
        other=other,
        other_path=other_path,
        notes=notes,
    )


def _said(document: Document) -> str:
    return document.claim or document.title


def _links(document: Document | None, rel: Rel) -> set[str]:
    if document is None:
        return set()
    paths = (path_of_href(link.href) for link in document.links if link.rel == rel.token)
    return {path for path in paths if path is not None}


def _ended(text: str) -> str:
    """Return *text* with a full stop, if it has no end of its own."""
    text = text.strip()
    return text if not text or text[-1] in _ENDS else f"{text}."
