"""Edits of a memory's head that touch no other byte of the file.

A file that is parsed and written again changes where nobody edited it: a newline inside a ``pre``
goes, and the content hash with it (seed §4). So an edit finds its place in the tree and splices
the bytes there. What is not UTF-8, odd quoting, comments and line ends stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from memhtml.format.escape import find_unwritable
from memhtml.format.metas import META_ORDER, META_PREFIX, REPEATABLE
from memhtml.format.splice import HeadSplicer
from memhtml.model.document import Link
from memhtml.model.errors import InvalidFlag
from memhtml.model.vocabulary import Rel

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AddLink",
    "AddMeta",
    "Edit",
    "RemoveLink",
    "RemoveMeta",
    "SetMeta",
    "add_link",
    "add_meta",
    "apply_edits",
    "read_links",
    "read_meta",
    "remove_link",
    "remove_meta",
    "set_meta",
]

_RANKS = {name: rank for rank, name in enumerate(META_ORDER)}
_TOKENS = {rel.value: rel.token for rel in Rel} | {rel.token: rel.token for rel in Rel}


@dataclass(frozen=True, slots=True)
class SetMeta:
    """See `set_meta`."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class AddMeta:
    """See `add_meta`."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class RemoveMeta:
    """See `remove_meta`."""

    name: str


@dataclass(frozen=True, slots=True)
class AddLink:
    """See `add_link`."""

    rel: str
    href: str


@dataclass(frozen=True, slots=True)
class RemoveLink:
    """See `remove_link`."""

    rel: str
    href: str | None = None


Edit: TypeAlias = SetMeta | AddMeta | RemoveMeta | AddLink | RemoveLink


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return *data* after *edits*, one after the other; the same as each function in turn.

    The content hash of the result is that of *data*. Values are escaped, never judged: whoever
    edits checks the result.

    Raises:
        InvalidFlag: a name or rel that is not ours, a second value for a scalar, or a value that
            an HTML file cannot carry.
        InvalidMemory: the file has no head to put something in.
    """
    head = HeadSplicer(data)
    for edit in edits:
        match edit:
            case SetMeta(name, value):
                _set_meta(head, name, value)
            case AddMeta(name, value):
                _add_meta(head, name, value)
            case RemoveMeta(name):
                _remove_meta(head, name)
            case AddLink(rel, href):
                _add_link(head, rel, href)
            case RemoveLink(rel, href):
                _remove_link(head, rel, href)
    return head.data


def set_meta(data: bytes, name: str, value: str) -> bytes:
    """Return *data* with the meta *name* saying *value*; a new one goes to its place in the order.

    Of a name that is stated more than once, the first is set. *name* is whole, such as
    ``memhtml-status``. Raises what `apply_edits` does.

    >>> set_meta(b"<head><META NAME=memhtml-due CONTENT=soon></head>", "memhtml-due", "2026-03-04")
    b'<head><meta name="memhtml-due" content="2026-03-04"></head>'
    """
    return apply_edits(data, (SetMeta(name, value),))


def add_meta(data: bytes, name: str, value: str) -> bytes:
    """Return *data* with *value* among those of the repeatable meta *name*, after the others.

    A value that is there already is not added again. Raises what `apply_edits` does.
    """
    return apply_edits(data, (AddMeta(name, value),))


def remove_meta(data: bytes, name: str) -> bytes:
    """Return *data* without any meta *name*, which may be an unknown ``memhtml-`` name.

    Raises what `apply_edits` does.
    """
    return apply_edits(data, (RemoveMeta(name),))


def add_link(data: bytes, rel: str, href: str) -> bytes:
    """Return *data* with a link to *href*, after the other memory links, unless it has that one.

    *rel* is a `Rel` or its token. Raises what `apply_edits` does.
    """
    return apply_edits(data, (AddLink(rel, href),))


def remove_link(data: bytes, rel: str, href: str | None = None) -> bytes:
    """Return *data* without its links of *rel* to *href*, or without any of *rel*.

    *rel* is a `Rel`, its token, or an unknown ``memhtml-`` token. Raises what `apply_edits` does.
    """
    return apply_edits(data, (RemoveLink(rel, href),))


def read_meta(data: bytes, name: str) -> str | None:
    """Return the content of the first meta *name* of the head, decoded.

    None when there is none, when it has no ``content``, and for a name without our prefix. Works
    on files that are no valid memories.
    """
    return next((meta.value for meta in HeadSplicer(data).metas if meta.key == name), None)


def read_links(data: bytes) -> tuple[Link, ...]:
    """Return the memory links of the head in order, without those of unknown rel or no href."""
    return tuple(
        Link(link.key, link.value)
        for link in HeadSplicer(data).links
        if link.key in _TOKENS and link.value is not None
    )


def _set_meta(head: HeadSplicer, name: str, value: str) -> None:
    _require_meta(name)
    _require_writable(name, value)
    for meta in head.metas:
        if meta.key == name:
            head.restate(meta, value)
            return
    _insert_meta(head, name, value)


def _add_meta(head: HeadSplicer, name: str, value: str) -> None:
    _require_meta(name)
    _require_writable(name, value)
    if name not in REPEATABLE:
        raise InvalidFlag(
            f"a memory states {name} once; set it instead of adding another",
            suggestions=(f"the names that may repeat are {', '.join(sorted(REPEATABLE))}",),
        )
    last = None
    for meta in head.metas:
        if meta.key == name:
            if meta.value == value:
                return
            last = meta
    if last is None:
        _insert_meta(head, name, value)
    else:
        head.insert_meta(name, value, after=last)


def _insert_meta(head: HeadSplicer, name: str, value: str) -> None:
    """Put a meta where `META_ORDER` has it; a head that is out of order is not sorted."""
    rank = _RANKS[name]
    # Unknown names stand last.
    later = (meta for meta in head.metas if _RANKS.get(meta.key, len(_RANKS)) > rank)
    if (before := next(later, None)) is not None:
        head.insert_meta(name, value, before=before)
    else:
        head.insert_meta(name, value, after=head.metas[-1] if head.metas else None)


def _remove_meta(head: HeadSplicer, name: str) -> None:
    if not name.startswith(META_PREFIX):
        raise InvalidFlag(f"{name!r} is not a name of ours: they start with {META_PREFIX}")
    head.remove(meta for meta in head.metas if meta.key == name)


def _add_link(head: HeadSplicer, rel: str, href: str) -> None:
    if (token := _TOKENS.get(rel)) is None:
        raise InvalidFlag(
            f"{rel!r} is no relation",
            suggestions=(f"the relations are {', '.join(Rel)}",),
        )
    _require_writable("href", href)
    if any(link.key == token and link.value == href for link in head.links):
        return
    last = head.links[-1:] or head.metas[-1:]
    head.insert_link(token, href, after=last[0] if last else None)


def _remove_link(head: HeadSplicer, rel: str, href: str | None) -> None:
    token = _TOKENS.get(rel, rel)
    if not token.startswith(META_PREFIX):
        raise InvalidFlag(
            f"{rel!r} is no relation and no rel of ours",
            suggestions=(f"the relations are {', '.join(Rel)}",),
        )
    head.remove(
        link for link in head.links if link.key == token and (href is None or link.value == href)
    )


def _require_meta(name: str) -> None:
    if name not in _RANKS:
        raise InvalidFlag(
            f"{name!r} is no meta of a memory",
            suggestions=(f"the names are {', '.join(META_ORDER)}",),
        )


def _require_writable(name: str, value: str) -> None:
    if (character := find_unwritable(value)) is not None:
        raise InvalidFlag(
            f"the value of {name} holds U+{ord(character):04X}, which a UTF-8 HTML file cannot "
            "carry; remove it"
        )
