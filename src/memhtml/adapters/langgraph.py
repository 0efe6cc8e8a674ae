"""A LangGraph store (``BaseStore``) whose items are memories.

An item is a text under a key: its value as JSON, which comes back equal or is refused. A namespace
is a folder, and each of its prefixes a tag, so a search stays inside the prefix it asks for. What
is deleted goes to the archive, and what is replaced stays in the history. Items have no time to
live, and `index` decides what the claim of an item quotes, or with False that searches pass over
it; the words of a whole value are searched otherwise.
"""

from __future__ import annotations

import asyncio
import json
import operator
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    get_text_at_path,
)

from memhtml.adapters.shelf import Key, Note, Shelf
from memhtml.model.errors import InvalidFlag, InvalidMemory
from memhtml.search.scope import Labels, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from langgraph.store.base import MatchCondition, Op, Result

    from memhtml.adapters.shelf import Entry
    from memhtml.corpus import Corpus

__all__ = ["MemhtmlStore"]

_UNINDEXED = "langgraph:unindexed"
_PAGE = 100

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class MemhtmlStore(BaseStore):
    """The items below *folder* of a corpus. The corpus is the caller's, and closed by the caller.

    >>> import tempfile, memhtml
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = memhtml.init(folder.name)
    >>> with memhtml.open(folder.name) as corpus:
    ...     store = MemhtmlStore(corpus)
    ...     store.put(("users", "ada"), "food", {"likes": "rye bread"})
    ...     store.get(("users", "ada"), "food").value
    {'likes': 'rye bread'}
    >>> folder.cleanup()
    """

    supports_ttl = False

    def __init__(self, corpus: Corpus, *, folder: str = "areas/langgraph") -> None:
        self._corpus = corpus
        self._shelf = Shelf(corpus, folder)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer *ops* in order. Reading sees the store as it was; all writes are one commit.

        Raises:
            InvalidFlag: A value is not one that JSON gives back equal, or a filter is unknown.
            MemhtmlError: The store refuses, or cannot be read.
        """
        results: list[Result] = []
        puts: dict[Key, PutOp] = {}
        for op in ops:
            if isinstance(op, GetOp):
                entry = self._shelf.find(Key(op.namespace, op.key))
                results.append(None if entry is None else Item(**_fields(entry)))
            elif isinstance(op, SearchOp):
                found = self._asked(op) if op.query else self._listed(op)
                results.append(list(islice(found, op.offset, op.offset + op.limit)))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            elif isinstance(op, PutOp):
                puts[Key(op.namespace, op.key)] = op
                results.append(None)
            else:
                raise InvalidFlag(f"a store has no operation {type(op).__name__}")
        self._put(puts)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what `batch` does, in a worker thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _put(self, puts: Mapping[Key, PutOp]) -> None:
        notes = [_note(key, op) for key, op in puts.items() if op.value is not None]
        gone = (self._shelf.find(key) for key, op in puts.items() if op.value is None)
        self._shelf.change(
            notes, drop=[entry for entry in gone if entry], reason="deleted by LangGraph"
        )

    def _asked(self, op: SearchOp) -> Iterator[SearchItem]:
        """Yield the items that match the query, best first."""
        scope = _scope(op.namespace_prefix)._replace(
            path_prefix=self._shelf.folder, without=Labels(tags=(_UNINDEXED,))
        )
        cursor = None
        while True:
            page = self._corpus.search(
                op.query or "", scope, limit=_PAGE, cursor=cursor, abstain=False, neighbours=False
            )
            for hit in page.hits:
                entry = self._shelf.read(hit.path)
                if entry is not None and _passes(fields := _fields(entry), op.filter):
                    yield SearchItem(**fields, score=hit.score)
            cursor = page.next_cursor
            if cursor is None:
                return

    def _listed(self, op: SearchOp) -> Iterator[SearchItem]:
        """Yield the items under the prefix, the last changed first."""
        entries = sorted(self._shelf.entries(_scope(op.namespace_prefix)), key=lambda e: e.path)
        entries.sort(key=lambda entry: entry.updated_at, reverse=True)
        for fields in map(_fields, entries):
            if _passes(fields, op.filter):
                yield SearchItem(**fields)

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        known = {entry.key.folder for entry in self._shelf.entries()}
        fitting = (
            namespace
            for namespace in known
            if all(_matches(namespace, condition) for condition in op.match_conditions or ())
        )
        found = sorted({namespace[: op.max_depth] for namespace in fitting})
        return found[op.offset : op.offset + op.limit]


def _note(key: Key, op: PutOp) -> Note:
    value = dict(op.value or {})
    tags = [_tag(key.folder[: depth + 1]) for depth in range(len(key.folder))]
    title = " / ".join([*key.folder, key.name])
    return Note(
        key,
        _encoded(value),
        title=title,
        claim=f"{title}: {_claim(value, op.index or None)}",
        tags=(*tags, *([_UNINDEXED] if op.index is False else [])),
    )


def _encoded(value: dict[str, Any]) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidFlag(f"the value is not JSON: {error}") from error
    if json.loads(text) != value:
        raise InvalidFlag(
            "the value would come back as another: JSON has text for keys, and lists for tuples"
        )
    return text


def _claim(value: dict[str, Any], fields: list[str] | None) -> str:
    """Return what an item says, as one line: what is to be searched, or its plain values."""
    if fields:
        return "; ".join(text for field in fields for text in get_text_at_path(value, field))
    plain = ((name, item) for name, item in value.items() if isinstance(item, str | int | float))
    return "; ".join(f"{name}: {item}" for name, item in plain)


def _fields(entry: Entry) -> dict[str, Any]:
    try:
        value = json.loads(entry.text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InvalidMemory((), reason=f"{entry.path!r} does not hold a JSON object any more")
    return {
        "namespace": entry.key.folder,
        "key": entry.key.name,
        "value": value,
        "created_at": _moment(entry.created_at),
        "updated_at": _moment(entry.updated_at),
    }


def _moment(instant: str) -> datetime:
    found = datetime.fromisoformat(instant)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _scope(prefix: tuple[str, ...]) -> Scope:
    return Scope(all_tags=(_tag(prefix),)) if prefix else Scope()


def _tag(prefix: tuple[str, ...]) -> str:
    return f"langgraph:{json.dumps(prefix)}"


def _passes(fields: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    value = fields["value"]
    return all(_compares(value.get(name), test) for name, test in (wanted or {}).items())


def _compares(value: Any, test: Any) -> bool:  # noqa: ANN401 - JSON
    if not isinstance(test, dict):
        return bool(value == test)
    if not any(name.startswith("$") for name in test):
        inner = value if isinstance(value, dict) else None
        return inner is not None and all(_compares(inner.get(n), t) for n, t in test.items())
    unknown = [name for name in test if name not in _COMPARISONS]
    if unknown:
        raise InvalidFlag(f"a filter compares by {', '.join(_COMPARISONS)}, not {unknown[0]!r}")
    return all(_holds(name, value, other) for name, other in test.items())


def _holds(name: str, value: Any, other: Any) -> bool:  # noqa: ANN401 - JSON
    try:
        return bool(_COMPARISONS[name](value, other))
    except TypeError:
        return False  # a text is neither more nor less than a number


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    return all(want in {"*", label} for want, label in zip(path, part, strict=True))
