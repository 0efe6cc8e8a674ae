"""A JSON Schema for every document that the command line answers with.

What other doors answer as well is declared in `memhtml.answers`, in snake_case, and read off from
there; the rest is declared here as it goes out. A test holds every command to its schemas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.schema import STRING, choice, items, text
from memhtml.cli.envelope import API_VERSION, ERROR_CODES, RESPONSE_TYPES
from memhtml.cli.schemas.memories import MEMORIES
from memhtml.cli.schemas.nights import NIGHTS
from memhtml.cli.schemas.others import OTHERS
from memhtml.cli.schemas.stores import STORES
from memhtml.cli.schemas.traces import TRACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memhtml.answers.schema import Schema

__all__ = ["DATA", "ERROR", "all_schemas"]

ERROR = "error"
"""The name of the schema of a failure."""

DATA: Mapping[str, Schema] = {**MEMORIES, **STORES, **TRACES, **NIGHTS, **OTHERS}
"""The schema of ``data``, by type. Every member is there, unless ``--dense`` leaves out nulls."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def all_schemas(names: Iterable[str] = ()) -> dict[str, Schema]:
    """Return the schema of the whole document of each type, and of a failure, or of *names* only.

    A member that may be null is not required in them, for ``--dense`` leaves it out.
    """
    return {name: _document(name) for name in names or (*DATA, ERROR)}


def _document(name: str) -> Schema:
    head = {
        "$schema": _DIALECT,
        "$id": f"urn:memhtml:schema:{API_VERSION}:{name}",
        "title": name,
    }
    version = {"const": API_VERSION, "description": "The version of all these documents."}
    if name == ERROR:
        return {
            **head,
            "description": "A refusal or an accident, and what to try next.",
            **_object(
                apiVersion=version,
                error=text("What went wrong, in a sentence; never branch on it."),
                code=choice("The same as a stable word.", ERROR_CODES),
                suggestions=items("What to try, best first: a command, or words.", STRING),
            ),
        }
    meaning = RESPONSE_TYPES[name]
    return {
        **head,
        "description": f"{meaning[:1].upper()}{meaning[1:]}.",
        **_object(
            apiVersion=version,
            type={"const": name, "description": "What the data is."},
            data=_dense(DATA[name]),
        ),
    }


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _dense(schema: Schema) -> Schema:
    """Return *schema* such that it describes the document without its nulls too."""
    told = {
        word: _dense(value)
        if word in {"items", "additionalProperties"} and isinstance(value, dict)
        else [_dense(branch) for branch in value]
        if word in {"anyOf", "oneOf"}
        else value
        for word, value in schema.items()
    }
    if "properties" in schema:
        members = schema["properties"]
        told["properties"] = {name: _dense(member) for name, member in members.items()}
        told["required"] = [n for n in schema["required"] if not _may_be_null(members[n])]
    return told


def _may_be_null(schema: Schema) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())
