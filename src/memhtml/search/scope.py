"""Which memories a search looks at: one condition, the same for whoever ranks them.

A filter that cannot be read is refused, for dropping it would silently widen the search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.entities import normalize_entity, parse_entity
from memhtml.model.errors import InvalidFlag
from memhtml.model.paths import normalize_path
from memhtml.model.vocabulary import Bucket, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Scope", "make_scope", "where"]


class Scope(NamedTuple):
    """What a search is narrowed to; `make_scope` checks what people type."""

    types: tuple[MemoryType, ...] = ()
    """Any of these; every type but tasks when empty."""
    workspace: str | None = None
    tags: tuple[str, ...] = ()
    """Any of these."""
    entity: str | None = None
    """Normal form of one reference."""
    facets: tuple[tuple[str, str], ...] = ()
    """Name and value: any of the values of one name, and each of the names."""
    path_prefix: str | None = None
    """A folder with everything below it, or one file."""
    include_archived: bool = False

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the archive rule was asked for."""
        return self._replace(include_archived=False) != Scope()


def make_scope(
    *,
    types: Iterable[str] = (),
    workspace: str | None = None,
    tags: Iterable[str] = (),
    entity: str | None = None,
    facets: Iterable[str] = (),
    path_prefix: str | None = None,
    include_archived: bool = False,
) -> Scope:
    """Return the scope that these filters, as people write them, describe.

    Raises:
        InvalidFlag: A type is unknown, a facet is not ``name=value``, an entity not ``type:name``,
            a folder outside the buckets, or a value blank.

    >>> make_scope(facets=["region = eu"]).facets
    (('region', 'eu'),)
    """
    return Scope(
        types=tuple(dict.fromkeys(map(_type, types))),
        workspace=None if workspace is None else _filled("workspace", workspace),
        tags=tuple(_filled("tag", tag) for tag in tags),
        entity=None if entity is None else _entity(entity),
        facets=tuple(map(_facet, facets)),
        path_prefix=None if path_prefix is None else _path_prefix(path_prefix),
        include_archived=include_archived,
    )


def where(scope: Scope) -> tuple[str, tuple[str, ...]]:
    """Return *scope* as a condition on ``files f``, and the values it binds with ``?``."""
    conditions: list[str] = []
    values: list[str] = []

    def add(condition: str, *bound: str) -> None:
        conditions.append(condition)
        values.extend(bound)

    if not scope.include_archived:
        add("f.archived = 0")
    if scope.types:
        add(f"f.memory_type IN ({_marks(scope.types)})", *scope.types)
    else:
        add("f.memory_type <> ?", MemoryType.TASK)
    if scope.workspace is not None:
        add("f.workspace = ?", scope.workspace)
    if scope.tags:
        add(_has("file_tags", f"tag IN ({_marks(scope.tags)})"), *scope.tags)
    if scope.entity is not None:
        add(_has("file_entities", "entity_key = ?"), scope.entity)
    for name in dict.fromkeys(name for name, _ in scope.facets):
        wanted = [value for other, value in scope.facets if other == name]
        add(_has("file_facets", f"name = ? AND value IN ({_marks(wanted)})"), name, *wanted)
    if scope.path_prefix is not None:
        # "0" is the character after "/": everything below a folder lies between the two.
        add(
            "(f.path = ? OR f.path > ? AND f.path < ?)",
            scope.path_prefix,
            f"{scope.path_prefix}/",
            f"{scope.path_prefix}0",
        )
    return " AND ".join(conditions), tuple(values)


def _has(table: str, condition: str) -> str:
    return f"f.id IN (SELECT file_id FROM {table} WHERE {condition})"  # noqa: S608 - our names


def _marks(values: Iterable[str]) -> str:
    return ", ".join("?" for _ in values)


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


def _facet(spec: str) -> tuple[str, str]:
    name, _, value = map(str.strip, spec.partition("="))
    if not name or not value:
        raise InvalidFlag(f"the facet {spec!r} is not of the form name=value")
    return name, value


def _path_prefix(path: str) -> str:
    normal = normalize_path(path)
    parts = normal.split("/")
    if parts[0] not in frozenset(Bucket) or {".", ".."} & set(parts):
        buckets = ", ".join(f"{bucket}/" for bucket in Bucket)
        raise InvalidFlag(f"no memory can be below {path!r}; memories stand in {buckets}")
    return normal


def _filled(flag: str, value: str) -> str:
    value = value.strip()
    if not value:
        raise InvalidFlag(f"the {flag} to search in is blank")
    return value
