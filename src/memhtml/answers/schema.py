"""Words to write JSON Schema (2020-12) with: each returns a schema that says what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "COMMIT",
    "STRING",
    "Schema",
    "choice",
    "either",
    "filled",
    "integer",
    "items",
    "mapping",
    "maybe",
    "number",
    "record",
    "switch",
    "text",
]

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}


def text(about: str, *, example: str | None = None, most: int | None = None) -> Schema:
    """Return a string, of at most *most* characters."""
    schema: Schema = {"type": "string", "description": about}
    schema |= {"maxLength": most} if most is not None else {}
    return schema | ({"examples": [example]} if example is not None else {})


def filled(about: str, *, example: str | None = None, most: int | None = None) -> Schema:
    """Return a string that is not empty, of at most *most* characters."""
    return text(about, example=example, most=most) | {"minLength": 1}


def choice(about: str, words: Iterable[str]) -> Schema:
    """Return a string that is one of *words*."""
    return {"type": "string", "description": about, "enum": [str(word) for word in words]}


def integer(
    about: str, *, least: int | None = None, most: int | None = None, default: int | None = None
) -> Schema:
    """Return a whole number; *default* is what its absence means."""
    return _bounded("integer", about, least, most) | _default(default)


def number(about: str, *, least: float | None = None, most: float | None = None) -> Schema:
    """Return a number."""
    return _bounded("number", about, least, most)


def switch(about: str, *, default: bool | None = None) -> Schema:
    """Return a boolean; *default* is what its absence means."""
    return {"type": "boolean", "description": about} | _default(default)


def items(
    about: str,
    item: Schema,
    *,
    least: int | None = None,
    most: int | None = None,
    example: list[Any] | None = None,
) -> Schema:
    """Return a list."""
    schema: Schema = {"type": "array", "description": about, "items": item}
    schema |= {"minItems": least} if least is not None else {}
    schema |= {"maxItems": most} if most is not None else {}
    return schema | ({"examples": [example]} if example is not None else {})


def mapping(about: str, value: Schema, *, example: dict[str, Any] | None = None) -> Schema:
    """Return an object with any names, whose values are *value*."""
    schema: Schema = {"type": "object", "description": about, "additionalProperties": value}
    return schema | ({"examples": [example]} if example is not None else {})


def record(about: str, properties: Mapping[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """Return an object with these members and no others, all there but for the *optional*."""
    absent = {*optional}
    return {
        "type": "object",
        "description": about,
        "properties": dict(properties),
        "required": [name for name in properties if name not in absent],
        "additionalProperties": False,
    }


def maybe(schema: Schema) -> Schema:
    """Return *schema* or null: a member that is always there and may say nothing."""
    # Branches of one type each: some clients cannot read a list of types.
    rest = {name: value for name, value in schema.items() if name != "description"}
    return {"description": schema["description"], "anyOf": [rest, {"type": "null"}]}


def either(about: str, *forms: Schema) -> Schema:
    """Return an object that has one of several forms, each a `record`."""
    return {"description": about, "oneOf": list(forms)}


def _bounded(kind: str, about: str, least: float | None, most: float | None) -> Schema:
    schema: Schema = {"type": kind, "description": about}
    schema |= {"minimum": least} if least is not None else {}
    return schema | ({"maximum": most} if most is not None else {})


def _default(value: float | None) -> Schema:
    return {} if value is None else {"default": value}


COMMIT = maybe(text("The commit; null when nothing was written."))
