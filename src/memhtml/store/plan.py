"""A change to the tree, as data.

A planner is a pure function: it asks a `View` what stands where and returns steps. `Repo.apply`
is the only place that carries a `Plan` out, as one commit, after comparing what every step expects
with what is there. An `Overlay` shows the tree as it will be after some steps, so a batch is a fold
of planners and needs no rules of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from memhtml.format.edit import read_links
from memhtml.model.edges import href_of
from memhtml.model.paths import original_path, path_key
from memhtml.scoring.frames import frame_key
from memhtml.scoring.nearness import near_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memhtml.model.document import Document

__all__ = [
    "NEAR_SHOWN",
    "Fact",
    "File",
    "Move",
    "Outcome",
    "Overlay",
    "Plan",
    "Planned",
    "Put",
    "Remove",
    "Step",
    "View",
    "outcomes",
    "subject",
]

T = TypeVar("T")

NEAR_SHOWN = 3
"""How many memories that say nearly the same are named at most (store format §9)."""

SUBJECT_CHARS = 72
"""Where a commit subject's text is cut (store format §2)."""


class File(NamedTuple):
    """What stands at a path: git's blob sha in hex, and the bytes."""

    sha: str
    data: bytes


class Put(NamedTuple):
    """A file as it shall be."""

    path: str
    data: bytes
    expect: str | None = None
    """Blob that must be there now; None: nothing may be."""


class Move(NamedTuple):
    """A file elsewhere, perhaps with other bytes; nothing may stand at *dst*."""

    src: str
    dst: str
    data: bytes
    expect: str


class Remove(NamedTuple):
    """A file gone. Only generated files are ever removed; a memory is archived."""

    path: str
    expect: str


Step = Put | Move | Remove


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps that become one commit, all or none."""

    steps: tuple[Step, ...]
    subject: str
    trailers: tuple[tuple[str, str], ...] = ()
    body: str = ""

    @property
    def message(self) -> str:
        """The whole commit message, with trailers as its last paragraph."""
        lines = [_one_line(f"{name}: {value}") for name, value in self.trailers if value.strip()]
        parts = [self.subject, self.body.strip("\n"), "\n".join(lines)]
        return "\n\n".join(part for part in parts if part) + "\n"


class Fact(NamedTuple):
    """What an active memory says, by the keys under which another may say the same."""

    path: str
    claim: str
    content_hash: str
    near_key: str | None
    """See `memhtml.scoring.nearness`."""
    frame_key: str | None
    """See `memhtml.scoring.frames`."""

    @classmethod
    def of(cls, path: str, document: Document) -> Fact:
        """Return the fact that *document* states."""
        return cls(
            path,
            document.claim,
            document.content_hash,
            near_key(document.body_text),
            frame_key(document.claim),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Generic[T]):
    """What one request comes to: steps (none when the tree is already so) and what to tell."""

    result: T
    steps: tuple[Step, ...] = ()
    subject: str = ""
    trailers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    """Further lines of the commit's message."""
    facts: tuple[Fact, ...] = ()
    """The new memories among the steps, for an `Overlay`."""
    documents: Mapping[bytes, Any] = field(default_factory=dict)
    """What files among the steps say, for who would otherwise read them again: each a `Document`,
    or what they asked to have made of it; see `memhtml.store.ahead`."""

    @property
    def plan(self) -> Plan | None:
        """The request as a commit of its own; None when nothing is to be done."""
        if not self.steps:
            return None
        return Plan(self.steps, self.subject, self.trailers, self.body)


class View(Protocol):
    """What a planner may ask of a tree."""

    def find(self, path: str) -> File | None:
        """Return what is committed at *path*, None when nothing is."""
        ...

    def find_active(self, content_hash: str) -> str | None:
        """Return the path of the oldest active memory with that content; tasks do not count."""
        ...

    def find_near(self, near_key: str) -> Sequence[str]:
        """Return the oldest active memories with that key, a few at most; tasks do not count."""
        ...

    def find_frame(self, frame_key: str) -> tuple[str, str] | None:
        """Return path and claim of the first active memory by path with that key; no tasks."""
        ...

    def names(self, directory: str) -> Mapping[str, str]:
        """Return the entries of *directory*, folders included, each under its `path_key`.

        What the disk holds beside the commit counts too: a file nobody committed still occupies
        its name.
        """
        ...

    def linking(self, path: str) -> Sequence[str]:
        """Return the paths of the active memories that have a head link to *path*, sorted."""
        ...

    def origin(self, archived: str) -> str | None:
        """Return where the file at *archived* stood before its move, None when no commit tells."""
        ...


def subject(op: str, text: str) -> str:
    r"""Return a commit subject: ``memhtml(op): text``, *text* on one line of at most 72 characters.

    >>> subject("write", " Owl\n boxes "), subject("write", "")
    ('memhtml(write): Owl boxes', 'memhtml(write): (untitled)')
    """
    line = _one_line(text)
    if len(line) > SUBJECT_CHARS:
        line = line[: SUBJECT_CHARS - 1] + "…"
    return f"memhtml({op}): {line or '(untitled)'}"


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


class Outcome(NamedTuple):
    """What a plan makes of one path."""

    expect: str | None
    """Blob that must be there before; None: nothing may be."""
    data: bytes | None
    """Bytes there after; None: nothing."""


def outcomes(steps: Iterable[Step]) -> dict[str, Outcome]:
    """Fold *steps* to one outcome a path, in order of first mention.

    Where a path is touched twice its first expectation counts, for the later ones are about a state
    that no commit ever has. A path that was not there and will not be is left out.

    >>> outcomes([Put("a", b"1"), Move("a", "b", b"2", expect="")])
    {'b': Outcome(expect=None, data=b'2')}
    """
    folded: dict[str, Outcome] = {}

    def touch(path: str, expect: str | None, data: bytes | None) -> None:
        known = folded.get(path)
        folded[path] = Outcome(known.expect if known else expect, data)

    for step in steps:
        match step:
            case Put(path, data, expect):
                touch(path, expect, data)
            case Move(src, dst, data, expect):
                touch(src, expect, None)
                touch(dst, None, data)
            case Remove(path, expect):
                touch(path, expect, None)
    return {path: o for path, o in folded.items() if o != Outcome(None, None)}


class Overlay:
    """A view after some steps: what a later request of a batch sees."""

    def __init__(self, base: View) -> None:
        self._base = base
        self._files: dict[str, File | None] = {}
        # What the new memories say, and the same by each key; a fact counts while it is the one
        # at its path.
        self._facts: dict[str, Fact] = {}
        self._active: dict[str, list[Fact]] = {}
        self._near: dict[str, list[Fact]] = {}
        self._frames: dict[str, list[Fact]] = {}
        # Where the memory of the base has left, whatever stands there since.
        self._replaced: set[str] = set()
        self._names: dict[str, dict[str, str]] = {}
        self._origins: dict[str, str] = {}
        self._unread: set[str] = set()
        self._sources: dict[str, set[str]] = {}

    def add(self, steps: Iterable[Step], facts: Iterable[Fact] = ()) -> None:
        """Let *steps* have happened; *facts* are what the new memories among them say."""
        for step in steps:
            match step:
                case Put(path, data):
                    self._set(path, data)
                case Move(src, dst, data):
                    self._unset(src)
                    self._set(dst, data)
                    self._origins[dst] = src
                case Remove(path):
                    self._unset(path)
        for fact in facts:
            self._facts[fact.path] = fact
            self._active.setdefault(fact.content_hash, []).append(fact)
            if fact.near_key is not None:
                self._near.setdefault(fact.near_key, []).append(fact)
            if fact.frame_key is not None:
                self._frames.setdefault(fact.frame_key, []).append(fact)

    def find(self, path: str) -> File | None:
        """Return what will stand at *path*."""
        if path in self._files:
            return self._files[path]
        return self._base.find(path)

    def find_active(self, content_hash: str) -> str | None:
        """Return the path of the memory that will be active with that content."""
        return self._first(self._base.find_active(content_hash), self._active.get(content_hash))

    def find_near(self, near_key: str) -> Sequence[str]:
        """Return memories that will be active with that key, stored ones first."""
        stored = [p for p in self._base.find_near(near_key) if p not in self._replaced]
        made = [f.path for f in self._near.get(near_key, ()) if self._facts.get(f.path) is f]
        return [*stored, *made][:NEAR_SHOWN]

    def find_frame(self, frame_key: str) -> tuple[str, str] | None:
        """Return path and claim of a memory that will be active with that key."""
        stored = self._base.find_frame(frame_key)
        if stored is not None and stored[0] not in self._replaced:
            return stored
        made = (f for f in self._frames.get(frame_key, ()) if self._facts.get(f.path) is f)
        return next(((fact.path, fact.claim) for fact in made), None)

    def names(self, directory: str) -> Mapping[str, str]:
        """Return the entries that *directory* will have, each under its `path_key`."""
        return self._mutable_names(directory)

    def linking(self, path: str) -> Sequence[str]:
        """Return the memories that will link to *path*; those the steps wrote are read again."""
        for source in self._unread:
            file = self._files[source]
            if file is not None and original_path(source) is None:
                for link in read_links(file.data):
                    self._sources.setdefault(link.href, set()).add(source)
        self._unread.clear()
        href = href_of(path)
        # A file may have lost the link since it was read; what is read is what counts.
        ours = {
            source
            for source in self._sources.get(href, ())
            if (file := self._files[source]) is not None
            and any(link.href == href for link in read_links(file.data))
        }
        theirs = {source for source in self._base.linking(path) if source not in self._files}
        return sorted(ours | theirs)

    def origin(self, archived: str) -> str | None:
        """Return where the file at *archived* stood before its move."""
        return self._origins.get(archived) or self._base.origin(archived)

    def _first(self, stored: str | None, made: Sequence[Fact] | None) -> str | None:
        if stored is not None and stored not in self._replaced:
            return stored
        return next((f.path for f in made or () if self._facts.get(f.path) is f), None)

    def _mutable_names(self, directory: str) -> dict[str, str]:
        names = self._names.get(directory)
        if names is None:
            names = self._names[directory] = dict(self._base.names(directory))
        return names

    def _set(self, path: str, data: bytes) -> None:
        # No commit has this state, so no sha names it; `outcomes` keeps the first expectation.
        self._files[path] = File("", data)
        self._unread.add(path)
        parent = path
        while "/" in parent:
            parent, _, name = parent.rpartition("/")
            self._mutable_names(parent)[path_key(name)] = name

    def _unset(self, path: str) -> None:
        self._files[path] = None
        self._replaced.add(path)
        self._facts.pop(path, None)
        directory, _, name = path.rpartition("/")
        self._mutable_names(directory).pop(path_key(name), None)
