"""The filters that every tool takes which finds or lists memories, stated once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import STRING, Schema, filled, items, switch
from memhtml.model.errors import InvalidFlag
from memhtml.model.vocabulary import MemoryType
from memhtml.search.scope import make_scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.search.scope import Scope

__all__ = ["FILTERS", "scope_of"]

_TYPES: Schema = {"type": "string", "enum": [kind.value for kind in MemoryType]}

_TIME = "a date such as 2026-12-01, or an instant such as 2026-12-01T09:30:00Z"

_MOST = 100
_MOST_TYPES = len(MemoryType)

FILTERS: Mapping[str, Schema] = {
    "memory_types": items("Only of these types.", _TYPES, most=_MOST_TYPES),
    "workspace": filled("Only of this project.", example="checkout"),
    "tags": items("Only with one of these tags.", STRING, most=_MOST),
    "all_tags": items("Only with each of these tags.", STRING, most=_MOST),
    "entity": filled("Only about this one, as type:name.", example="person:Ada"),
    "facets": items(
        "Only with these facets: name=value, or name>=number and the like.",
        STRING,
        most=_MOST,
        example=["region=eu", "minutes>=90"],
    ),
    "authors": items("Only by one of these.", STRING, most=_MOST, example=["human:Ada"]),
    "path_prefix": filled("Only below this folder.", example="projects/checkout"),
    "since": filled(f"Only what happened then or later: {_TIME}.", most=40),
    "until": filled("Only what happened until then; a date counts to its end.", most=40),
    "not_types": items("None of these types.", _TYPES, most=_MOST_TYPES),
    "not_tags": items("None with one of these tags.", STRING, most=_MOST),
    "not_entities": items("None about one of these, as type:name.", STRING, most=_MOST),
    "as_of": filled(f"Only what was true then, the archive included: {_TIME}.", most=40),
    "include_archived": switch("Also what is in the archive.", default=False),
}


def scope_of(arguments: Mapping[str, Any], *, tool: str) -> Scope:
    """Return what *arguments* narrow a call of *tool* to.

    Raises:
        InvalidFlag: A filter cannot be read.
    """
    try:
        return make_scope(
            types=arguments.get("memory_types", ()),
            workspace=arguments.get("workspace"),
            tags=arguments.get("tags", ()),
            all_tags=arguments.get("all_tags", ()),
            entity=arguments.get("entity"),
            facets=arguments.get("facets", ()),
            authors=arguments.get("authors", ()),
            path_prefix=arguments.get("path_prefix"),
            event_since=arguments.get("since"),
            event_until=arguments.get("until"),
            not_types=arguments.get("not_types", ()),
            not_tags=arguments.get("not_tags", ()),
            not_entities=arguments.get("not_entities", ()),
            as_of=arguments.get("as_of"),
            include_archived=arguments.get("include_archived", False),
        )
    except InvalidFlag as error:
        raise InvalidFlag(f"{tool}: {error.message}") from error
