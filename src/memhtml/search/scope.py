"""Which memories a question looks at: one filter object for search, recall and every list.

All that rank get the same condition, so no arm can see what another must not. A filter that cannot
be read is refused, for dropping it would silently widen the search; one that nothing passes gives
an empty answer that says so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.entities import normalize_entity, normalize_entity_name, parse_entity
from memhtml.model.errors import InvalidFlag
from memhtml.model.instants import is_instant
from memhtml.model.paths import normalize_path
from memhtml.model.vocabulary import Bucket, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

__all__ = ["Condition", "FacetTest", "Labels", "Scope", "make_scope", "narrowed", "where"]

_AUTHORS = "SELECT DISTINCT author FROM files"

_COMPARISONS = ("<=", ">=", "<", ">")
# The name is as short as it can be, so the first operator counts: a value may hold others.
_facet_re = re.compile(r"(.*?)(<=|>=|=|<|>)(.*)", re.DOTALL)


class FacetTest(NamedTuple):
    """What a facet of one name has to be."""

    name: str
    operator: str
    """``=`` compares text to the letter; ``<``, ``<=``, ``>``, ``>=`` compare numbers."""
    value: str | float


class Condition(NamedTuple):
    """A condition on ``files f``, and the values it binds with ``?``."""

    sql: str
    values: tuple[str | float, ...]


class Labels(NamedTuple):
    """What can be asked of a memory either way: to have it, or not to."""

    types: tuple[MemoryType, ...] = ()
    workspaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    """Normal forms of references."""
    facets: tuple[FacetTest, ...] = ()
    authors: tuple[str, ...] = ()
    """Normal forms of names."""
    path_prefixes: tuple[str, ...] = ()
    """Folders with everything below them, or single files."""


class Scope(NamedTuple):
    """What a search is narrowed to; `make_scope` checks what people type."""

    types: tuple[MemoryType, ...] = ()
    """Any of these; every type but tasks when empty."""
    workspace: str | None = None
    tags: tuple[str, ...] = ()
    """Any of these."""
    all_tags: tuple[str, ...] = ()
    """Each of these."""
    entities: tuple[str, ...] = ()
    """Each of these, in normal form."""
    facets: tuple[FacetTest, ...] = ()
    """Any of the texts given for one name, each of the names, and every comparison."""
    authors: tuple[str, ...] = ()
    """Any of these, in normal form."""
    path_prefix: str | None = None
    """A folder with everything below it, or one file."""
    event_since: str | None = None
    event_until: str | None = None
    """When it happened, or was written where it does not say; a day counts to its end."""
    updated_since: str | None = None
    updated_until: str | None = None
    without: Labels = Labels()
    """A memory with any of these is left out."""
    as_of: str | None = None
    """Only what was true at that instant, the archive included."""
    include_archived: bool = False
    only_archived: bool = False

    @property
    def entity(self) -> str | None:
        """The first of `entities`."""
        return self.entities[0] if self.entities else None

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the archive rule was asked for."""
        return self._replace(include_archived=False, only_archived=False) != Scope()


def make_scope(
    *,
    types: Iterable[str] = (),
    workspace: str | None = None,
    tags: Iterable[str] = (),
    all_tags: Iterable[str] = (),
    entity: str | None = None,
    entities: Iterable[str] = (),
    facets: Iterable[str] = (),
    authors: Iterable[str] = (),
    path_prefix: str | None = None,
    event_since: str | None = None,
    event_until: str | None = None,
    updated_since: str | None = None,
    updated_until: str | None = None,
    not_types: Iterable[str] = (),
    not_workspaces: Iterable[str] = (),
    not_tags: Iterable[str] = (),
    not_entities: Iterable[str] = (),
    not_facets: Iterable[str] = (),
    not_authors: Iterable[str] = (),
    not_path_prefixes: Iterable[str] = (),
    as_of: str | None = None,
    include_archived: bool = False,
    only_archived: bool = False,
) -> Scope:
    """Return the scope that these filters, as people write them, describe.

    Raises:
        InvalidFlag: A type is unknown, a facet is neither ``name=value`` nor ``name>=number`` or
            the like, an entity not ``type:name``, a time not in one of the two forms, a folder
            outside the buckets, a value blank, or two filters exclude each other.

    >>> make_scope(facets=["region = eu", "minutes>=90"]).facets
    (FacetTest(name='region', operator='=', value='eu'), \
FacetTest(name='minutes', operator='>=', value=90.0))
    """
    if only_archived and as_of is not None:
        raise InvalidFlag("what was true at one time cannot be narrowed to the archive")
    wanted_entities = [*([] if entity is None else [entity]), *entities]
    return Scope(
        types=_types(types),
        workspace=None if workspace is None else _filled("workspace", workspace),
        tags=_all_filled("tag", tags),
        all_tags=_all_filled("tag", all_tags),
        entities=tuple(map(_entity, wanted_entities)),
        facets=tuple(map(_facet, facets)),
        authors=tuple(map(_author, authors)),
        path_prefix=None if path_prefix is None else _path_prefix(path_prefix),
        event_since=_time("since", event_since),
        event_until=_time("until", event_until),
        updated_since=_time("updated-since", updated_since),
        updated_until=_time("updated-until", updated_until),
        without=Labels(
            types=_types(not_types),
            workspaces=_all_filled("workspace", not_workspaces),
            tags=_all_filled("tag", not_tags),
            entities=tuple(map(_entity, not_entities)),
            facets=tuple(map(_facet, not_facets)),
            authors=tuple(map(_author, not_authors)),
            path_prefixes=tuple(map(_path_prefix, not_path_prefixes)),
        ),
        as_of=_time("as-of", as_of),
        include_archived=include_archived,
        only_archived=only_archived,
    )


def narrowed(connection: apsw.Connection, scope: Scope, *, with_tasks: bool = False) -> Condition:
    """Return what `where` returns, with the authors of *scope* as the index spells them."""
    if scope.authors or scope.without.authors:
        spelled: dict[str, list[str]] = {}
        for (author,) in connection.execute(_AUTHORS):
            spelled.setdefault(normalize_entity_name(author), []).append(author)

        def spellings(authors: Iterable[str]) -> tuple[str, ...]:
            return tuple(found for author in authors for found in spelled.get(author, [author]))

        without = scope.without._replace(authors=spellings(scope.without.authors))
        scope = scope._replace(authors=spellings(scope.authors), without=without)
    return where(scope, with_tasks=with_tasks)


def where(scope: Scope, *, with_tasks: bool = False) -> Condition:
    """Return *scope* as a condition.

    Tasks pass when *scope* names the type, or *with_tasks*.
    """
    condition = _Conditions()
    _add_times(condition, scope)
    if not scope.types and not with_tasks:
        condition.add("f.memory_type <> ?", MemoryType.TASK)
    wanted = Labels(
        types=scope.types,
        workspaces=() if scope.workspace is None else (scope.workspace,),
        tags=scope.tags,
        authors=scope.authors,
        path_prefixes=() if scope.path_prefix is None else (scope.path_prefix,),
    )
    for sql, values in _tests(wanted):
        condition.add(sql, *values)
    for tag in scope.all_tags:
        condition.add(_has("file_tags", "tag = ?"), tag)
    for entity in scope.entities:
        condition.add(_has("file_entities", "entity_key = ?"), entity)
    for sql, values in _facet_tests(scope.facets):
        condition.add(sql, *values)
    for sql, values in [*_tests(scope.without), *_excluded_facets(scope.without.facets)]:
        # A column may be NULL, and NOT NULL is NULL.
        condition.add(f"({sql}) IS NOT TRUE", *values)
    return condition.joined()


class _Conditions:
    """Conditions that must all hold, and what they bind."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.values: list[str | float] = []

    def add(self, sql: str, *values: str | float) -> None:
        self._parts.append(sql)
        self.values.extend(values)

    def joined(self) -> Condition:
        return Condition(" AND ".join(self._parts) or "1", tuple(self.values))


def _add_times(condition: _Conditions, scope: Scope) -> None:
    if scope.as_of is not None:
        # Times are compared as the strings they are (seed §5.2).
        condition.add("coalesce(f.valid_from, f.event_at, f.created_at) <= ?", scope.as_of)
        condition.add("(f.valid_until IS NULL OR f.valid_until > ?)", scope.as_of)
    elif scope.only_archived:
        condition.add("f.archived = 1")
    elif not scope.include_archived:
        condition.add("f.archived = 0")
    happened = "coalesce(f.event_at, f.created_at)"
    for column, since, until in (
        (happened, scope.event_since, scope.event_until),
        ("f.updated_at", scope.updated_since, scope.updated_until),
    ):
        if since is not None:
            condition.add(f"{column} >= ?", since)
        if until is not None:
            # A day is the beginning of each of its instants, and "~" sorts after all of them.
            condition.add(f"{column} <= ?", until if "T" in until else f"{until}~")


Test = tuple[str, list["str | float"]]


def _tests(labels: Labels) -> list[Test]:
    """Return one condition for each kind of label but facets: to have any of them."""
    tests: list[Test] = []

    def add(sql: str, values: Iterable[str]) -> None:
        if bound := list(values):
            tests.append((sql.format(_marks(len(bound))), [*bound]))

    add("f.memory_type IN ({})", labels.types)
    add("f.workspace IN ({})", labels.workspaces)
    add(_has("file_tags", "tag IN ({})"), labels.tags)
    add(_has("file_entities", "entity_key IN ({})"), labels.entities)
    add("f.author IN ({})", labels.authors)
    if labels.path_prefixes:
        # "0" is the character after "/": everything below a folder lies between the two.
        below = "(f.path = ? OR f.path > ? AND f.path < ?)"
        values = [
            bound for path in labels.path_prefixes for bound in (path, f"{path}/", f"{path}0")
        ]
        tests.append((f"({' OR '.join([below] * len(labels.path_prefixes))})", [*values]))
    return tests


def _facet_tests(facets: tuple[FacetTest, ...]) -> list[Test]:
    tests: list[Test] = []
    texts = [facet for facet in facets if facet.operator == "="]
    for name in dict.fromkeys(facet.name for facet in texts):
        wanted = [facet.value for facet in texts if facet.name == name]
        found = f"name = ? AND value IN ({_marks(len(wanted))})"
        tests.append((_has("file_facets", found), [name, *wanted]))
    tests += [_comparison(facet) for facet in facets if facet.operator != "="]
    return tests


def _excluded_facets(facets: tuple[FacetTest, ...]) -> list[Test]:
    """Return one condition for each facet: unlike wanted ones, excluded ones do not combine."""
    return [test for facet in facets for test in _facet_tests((facet,))]


def _comparison(facet: FacetTest) -> Test:
    condition = f"name = ? AND numeric_value {facet.operator} ?"
    return _has("file_facets", condition), [facet.name, facet.value]


def _has(table: str, condition: str) -> str:
    return f"f.id IN (SELECT file_id FROM {table} WHERE {condition})"  # noqa: S608 - our names


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _types(words: Iterable[str]) -> tuple[MemoryType, ...]:
    return tuple(dict.fromkeys(map(_type, words)))


def _type(word: str) -> MemoryType:
    try:
        return MemoryType(word.strip())
    except ValueError:
        known = ", ".join(MemoryType)
        raise InvalidFlag(f"there is no memory type {word!r}; the types are {known}") from None


def _entity(reference: str) -> str:
    entity = parse_entity(reference.strip())
    if entity is None or not all(map(str.strip, entity)):
        raise InvalidFlag(f"the entity {reference!r} is not of the form type:name")
    return normalize_entity(reference)


def _author(name: str) -> str:
    return normalize_entity_name(_filled("author", name))


def _facet(spec: str) -> FacetTest:
    match = _facet_re.fullmatch(spec)
    name, operator, value = map(str.strip, match.groups()) if match else ("", "", "")
    if not name or not value:
        forms = ", ".join(f"name{sign}number" for sign in _COMPARISONS)
        raise InvalidFlag(f"the facet {spec!r} is not of the form name=value, {forms}")
    if operator == "=":
        return FacetTest(name, operator, value)
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        raise InvalidFlag(f"the facet {spec!r} compares with {value!r}, which is not a number")
    return FacetTest(name, operator, number)


def _time(flag: str, value: str | None) -> str | None:
    if value is None or is_instant(value):
        return value
    raise InvalidFlag(
        f"{flag} {value!r} is neither a day (2026-03-04) nor a UTC instant (2026-03-04T05:06:07Z)"
    )


def _path_prefix(path: str) -> str:
    normal = normalize_path(path)
    parts = normal.split("/")
    if parts[0] not in frozenset(Bucket) or {".", ".."} & set(parts):
        buckets = ", ".join(f"{bucket}/" for bucket in Bucket)
        raise InvalidFlag(f"no memory can be below {path!r}; memories stand in {buckets}")
    return normal


def _all_filled(flag: str, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(_filled(flag, value) for value in values)


def _filled(flag: str, value: str) -> str:
    value = value.strip()
    if not value:
        raise InvalidFlag(f"the {flag} to search in is blank")
    return value
