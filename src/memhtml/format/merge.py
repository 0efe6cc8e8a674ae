"""Two versions of a memory into one, given the version both came from. Pure.

A memory is one claim, so its article is one unit: where both sides changed it, a person decides.
What stands around the article is a set of separate statements, each with its own rule, so two
sides that tag, link or stamp the same memory never meet in a conflict.

Of a statement that only one side changed, the change holds; this also goes for a removal, so a tag
that one side took away does not come back. Where both changed it:

- ``tag``, ``entity``, ``alias`` and links: what either side added is there, what either side
  removed is gone;
- ``created``, ``archived``, ``due``: the earlier; ``updated``: the later;
- ``valid-from``, ``valid-until``: the span that lies in both;
- ``confidence``: the lower, for nobody is surer than the less sure side; ``importance`` and
  ``reprieves``: the higher;
- ``status``: archived; ``needs-revision``: yes; ``task-status``: the one nearer to done;
- ``author``, ``session``, ``prompt``, ``turn``: those of the side that was created first;
- ``content-hash``: that of the article that results;
- ``type``, ``superseded-by``, the article, and anything else such as the title: a conflict.

The rules do not ask which side is ours, so both sides of a merge come to the same statements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from memhtml.format.edit import (
    AddLink,
    AddMeta,
    RemoveLink,
    RemoveMeta,
    SetMeta,
    apply_edits,
)
from memhtml.format.extract import scan
from memhtml.format.metas import META_ORDER, REPEATABLE, read_flag, read_ranged
from memhtml.format.parse import FILE_CAP
from memhtml.format.splice import HeadSplicer
from memhtml.format.text import content_hash
from memhtml.format.tree import read_tree
from memhtml.model.errors import InvalidFlag, InvalidMemory
from memhtml.model.instants import is_instant
from memhtml.model.vocabulary import Rel, Status, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memhtml.format.edit import Edit

__all__ = ["Merged", "mark_conflict", "merge_memory"]

T = TypeVar("T")

_SCALARS = tuple(name for name in META_ORDER if name not in REPEATABLE)
_NAMES = frozenset(META_ORDER)
_RELS = frozenset(rel.token for rel in Rel)
_HASH = "memhtml-content-hash"
_PROVENANCE = tuple(f"memhtml-{name}" for name in ("author", "session", "prompt", "turn"))
# A stamp a clock set wrongly must not win because only one side has it.
_ALWAYS_RULED = frozenset({"memhtml-created", "memhtml-updated"})
# Comparing every line with every other takes long beyond this, and nobody reads so many hunks.
_MOST_LINES = 5000


class Merged(NamedTuple):
    """What a merge came to."""

    data: bytes
    """The merged file; with git's conflict markers in it where there are conflicts."""
    conflicts: tuple[str, ...] = ()
    """What both sides changed and no rule decides: ``article``, ``head``, or names of metas."""


def merge_memory(base: bytes | None, ours: bytes, theirs: bytes) -> Merged:
    """Return *ours* and *theirs* as one; *base* is what both came from, None if there is none.

    Bytes that no statement is about are those of the side that changed them, else ours.
    """
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    if max(len(ours), len(theirs), len(base or b"")) > FILE_CAP:
        return Merged(mark_conflict(ours, theirs), ("article",))
    sides = (_Side(ours), _Side(theirs))
    was = None if base is None else _Side(base)
    try:
        return _merge(was, *sides)
    except (InvalidFlag, InvalidMemory):
        # A value that cannot be written, or no head to write it to: the file is no memory.
        return Merged(mark_conflict(ours, theirs), ("head",))


def mark_conflict(ours: bytes, theirs: bytes) -> bytes:
    r"""Return both versions as one text, with git's markers around what differs.

    >>> mark_conflict(b"a\nb\n", b"a\nc\n")
    b'a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n'
    """
    left, right = ours.splitlines(keepends=True), theirs.splitlines(keepends=True)
    marked: list[bytes] = []
    for same, first, second in _hunks(left, right):
        if same:
            marked += first
            continue
        for mark, lines in ((b"<<<<<<< ours\n", first), (b"=======\n", second)):
            marked += (mark, *lines)
            if not marked[-1].endswith((b"\n", b"\r")):
                marked.append(b"\n")
        marked.append(b">>>>>>> theirs\n")
    return b"".join(marked)


class _Side:
    """One version: its statements, and the parts of the file around them."""

    def __init__(self, data: bytes) -> None:
        head = HeadSplicer(data)
        self.metas: dict[str, list[str]] = {}
        for meta in head.metas:
            if meta.key in _NAMES and meta.value is not None:
                self.metas.setdefault(meta.key, []).append(meta.value)
        self.links = [
            (link.key, link.value)
            for link in head.links
            if link.key in _RELS and link.value is not None
        ]
        self.parts = _parts(data)
        head.remove([meta for meta in head.metas if meta.key in _NAMES])
        head.remove([link for link in head.links if link.key in _RELS])
        bare = _parts(head.data)
        self.bare = (bare.before, bare.article, bare.after)

    def scalar(self, name: str) -> str | None:
        """Return the first value of a meta, None without one."""
        values = self.metas.get(name)
        return values[0] if values else None


class _Parts(NamedTuple):
    """A file, cut at its first article."""

    before: bytes
    article: bytes
    after: bytes


def _parts(data: bytes) -> _Parts:
    tree = read_tree(data)
    articles = scan(tree).articles
    location = tree.locate(articles[0]) if articles else None
    if location is None:
        return _Parts(data, b"", b"")
    start = location.start_tag.start
    end = location.end_tag.end if location.end_tag is not None else len(data)
    return _Parts(data[:start], data[start:end], data[end:])


def _merge(base: _Side | None, ours: _Side, theirs: _Side) -> Merged:
    picks = [
        _pick(base.bare[n] if base else None, ours.bare[n], theirs.bare[n], (ours, theirs))
        for n in range(3)
    ]
    statements = _Statements(base, ours, theirs)
    parted = [
        name for name, pick in zip(("head", "article", "end"), picks, strict=True) if not pick
    ]
    conflicts = (*parted, *statements.conflicts)
    versions = [
        statements.applied(
            b"".join((pick or side).parts[n] for n, pick in enumerate(picks)), host=side
        )
        for side in ((ours, theirs) if conflicts else (ours,))
    ]
    return Merged(versions[0] if not conflicts else mark_conflict(*versions), conflicts)


def _pick(
    base: bytes | None, ours: bytes, theirs: bytes, sides: tuple[_Side, _Side]
) -> _Side | None:
    """Return the side whose part holds, None when both changed it."""
    if theirs in (base, ours):
        return sides[0]
    return sides[1] if ours == base else None


class _Statements:
    """What the head says once both sides are heard."""

    def __init__(self, base: _Side | None, ours: _Side, theirs: _Side) -> None:
        self.conflicts: list[str] = []
        self._scalars: dict[str, str | None] = {}
        self._is_hash_stated = bool(ours.scalar(_HASH) or theirs.scalar(_HASH))
        self._is_hash_same = ours.scalar(_HASH) == theirs.scalar(_HASH)
        first = min(ours, theirs, key=_seniority)
        for name in _SCALARS:
            was = base and base.scalar(name)
            left, right = ours.scalar(name), theirs.scalar(name)
            if left == right:
                self._scalars[name] = left
            elif base and name not in _ALWAYS_RULED and was in (left, right):
                self._scalars[name] = right if was == left else left
            elif left is None or right is None:
                self._scalars[name] = left or right
            elif name in _PROVENANCE:
                self._scalars[name] = first.scalar(name)
            elif (ruled := _ruled(name, left, right)) is not None:
                self._scalars[name] = ruled
            elif name != _HASH:
                self.conflicts.append(name)
        self._refuse_an_empty_span(ours, theirs)
        self._repeated = {
            name: _united(
                (base.metas.get(name, []) if base else []),
                ours.metas.get(name, []),
                theirs.metas.get(name, []),
            )
            for name in META_ORDER
            if name in REPEATABLE
        }
        self._links = _united(base.links if base else [], ours.links, theirs.links)

    def _refuse_an_empty_span(self, ours: _Side, theirs: _Side) -> None:
        """Leave a span to a person where nothing lies in both."""
        names = ("memhtml-valid-from", "memhtml-valid-until")
        start, end = (self._scalars.get(name) for name in names)
        if not (start and end and is_instant(start) and is_instant(end)) or start <= end:
            return
        for side in (ours, theirs):
            if (side.scalar(names[0]), side.scalar(names[1])) == (start, end):
                return  # one side says so itself
        for name in names:
            if ours.scalar(name) != theirs.scalar(name):
                self.conflicts.append(name)

    def applied(self, data: bytes, *, host: _Side) -> bytes:
        """Return *data* with all that is decided; what is not is as *host* has it."""
        head = HeadSplicer(data)
        found: dict[str, list[str]] = {}
        for meta in head.metas:
            found.setdefault(meta.key, []).append(meta.value or "")
        return apply_edits(data, (*self._meta_edits(data, found, host), *self._link_edits(head)))

    def _meta_edits(
        self, data: bytes, found: Mapping[str, Sequence[str]], host: _Side
    ) -> Iterator[Edit]:
        for name in _SCALARS:
            wanted = host.scalar(name) if name in self.conflicts else self._scalars.get(name)
            if name == _HASH and self._is_hash_stated and not self._is_hash_same:
                wanted = content_hash(data)
            if wanted is None and name in found:
                yield RemoveMeta(name)
            elif wanted is not None and found.get(name, [None])[0] != wanted:
                yield SetMeta(name, wanted)
        for name, values in self._repeated.items():
            here = found.get(name, ())
            if not set(here) <= set(values):
                yield RemoveMeta(name)
                here = ()
            yield from (AddMeta(name, value) for value in values if value not in here)

    def _link_edits(self, head: HeadSplicer) -> Iterator[Edit]:
        here = {(link.key, link.value) for link in head.links if link.key in _RELS}
        wanted = set(self._links)
        yield from (
            RemoveLink(rel, href)
            for rel, href in sorted((rel, href) for rel, href in here if href is not None)
            if (rel, href) not in wanted
        )
        yield from (AddLink(rel, href) for rel, href in self._links if (rel, href) not in here)


def _seniority(side: _Side) -> tuple[str, ...]:
    created = side.scalar("memhtml-created") or ""
    known = created if is_instant(created) else "~"  # after every instant
    return (known, *(side.scalar(name) or "" for name in _PROVENANCE))


def _ruled(name: str, ours: str, theirs: str) -> str | None:
    """Return which of two values the rule of *name* takes, None when none decides."""
    rule = _RULES.get(name)
    if rule is None:
        return None
    choose, is_usable, rank = rule
    usable = [value for value in (ours, theirs) if is_usable(name, value)]
    # Equal in rank and not in spelling, such as 0.5 and .5: the order of characters decides.
    return choose(usable, key=lambda value: (rank(name, value), value)) if usable else None


def _is_time(_name: str, text: str) -> bool:
    return is_instant(text)


def _time(_name: str, text: str) -> str:
    return text


def _is_number(name: str, text: str) -> bool:
    return read_ranged(name, text) is not None


def _number(name: str, text: str) -> float:
    return read_ranged(name, text) or 0.0


def _is_word(name: str, text: str) -> bool:
    return text in _PROGRESS[name]


def _progress(name: str, text: str) -> int:
    return _PROGRESS[name].index(text)


def _is_any(_name: str, _text: str) -> bool:
    return True


def _says_yes(_name: str, text: str) -> bool:
    return read_flag(text)


_PROGRESS: Mapping[str, tuple[str, ...]] = {
    "memhtml-status": (Status.ACTIVE, Status.ARCHIVED),
    "memhtml-task-status": (
        TaskStatus.TODO,
        TaskStatus.DOING,
        TaskStatus.BLOCKED,
        TaskStatus.DONE,
    ),
}
_RULES: Mapping[str, tuple[Any, Callable[[str, str], bool], Callable[[str, str], Any]]] = {
    "memhtml-created": (min, _is_time, _time),
    "memhtml-updated": (max, _is_time, _time),
    "memhtml-archived": (min, _is_time, _time),
    "memhtml-due": (min, _is_time, _time),
    "memhtml-valid-from": (max, _is_time, _time),
    "memhtml-valid-until": (min, _is_time, _time),
    "memhtml-confidence": (min, _is_number, _number),
    "memhtml-importance": (max, _is_number, _number),
    "memhtml-reprieves": (max, _is_number, _number),
    "memhtml-status": (max, _is_word, _progress),
    "memhtml-task-status": (max, _is_word, _progress),
    "memhtml-needs-revision": (max, _is_any, _says_yes),
}
"""For each name that has a rule: which end is taken, of which values, in which order."""


def _united(base: Sequence[T], ours: Sequence[T], theirs: Sequence[T]) -> list[T]:
    """Return what both kept and either added, each once, in the order of ours, then theirs."""
    gone = {each for each in base if each not in ours or each not in theirs}
    return [each for each in dict.fromkeys((*ours, *theirs)) if each not in gone]


def _hunks(
    left: Sequence[bytes], right: Sequence[bytes]
) -> Iterator[tuple[bool, Sequence[bytes], Sequence[bytes]]]:
    """Yield runs of lines in order: whether both sides have them, and each side's."""
    if max(len(left), len(right)) > _MOST_LINES:
        start = 0
        while start < min(len(left), len(right)) and left[start] == right[start]:
            start += 1
        yield True, left[:start], right[:start]
        yield False, left[start:], right[start:]
        return
    from difflib import SequenceMatcher  # noqa: PLC0415 - only a conflict needs it

    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        yield tag == "equal", left[a:b], right[c:d]
