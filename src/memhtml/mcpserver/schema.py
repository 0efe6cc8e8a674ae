"""JSON Schema for what tools take and give, and plain words for what is wrong with a call.

Every schema has an object at its root and no combination of schemas there, for some clients accept
nothing else. What excludes what is said in the descriptions, and checked when the call is decoded.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonschema import ValidationError

__all__ = [
    "Schema",
    "choice",
    "faults",
    "filled",
    "integer",
    "items",
    "mapping",
    "maybe",
    "number",
    "output",
    "present",
    "record",
    "switch",
    "take",
    "text",
]

Schema = dict[str, Any]

_KINDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def text(about: str, *, example: str | None = None) -> Schema:
    """Return a string."""
    schema: Schema = {"type": "string", "description": about}
    return schema | ({"examples": [example]} if example is not None else {})


def filled(about: str, *, example: str | None = None, most: int | None = None) -> Schema:
    """Return a string that is not empty, of at most *most* characters."""
    schema = text(about, example=example) | {"minLength": 1}
    return schema | ({"maxLength": most} if most is not None else {})


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


def record(about: str, properties: Mapping[str, Schema], *, required: Iterable[str]) -> Schema:
    """Return an object inside another one, with these members and no others."""
    return {
        "type": "object",
        "description": about,
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def maybe(schema: Schema) -> Schema:
    """Return *schema* or null: a member that is always there and may say nothing."""
    # Branches of one type each: some clients cannot read a list of types.
    rest = {name: value for name, value in schema.items() if name != "description"}
    return {"description": schema["description"], "anyOf": [rest, {"type": "null"}]}


def take(*required: str, **properties: Schema) -> Schema:
    """Return the schema of a tool's arguments; *required* names those that must be there."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_FAILURE = {
    "code": text("What went wrong, as a stable word to branch on.", example="ERR_PATH_NOT_FOUND"),
    "error": text("The same in a sentence."),
    "suggestions": {
        "type": "array",
        "description": "What to try next, best first.",
        "items": {"type": "string"},
    },
}


def output(**properties: Schema) -> Schema:
    """Return the schema of a tool's answer: all of *properties*, or a typed failure."""
    return {
        "type": "object",
        "properties": properties | _FAILURE,
        "anyOf": [{"required": list(properties)}, {"required": list(_FAILURE)}],
        "additionalProperties": False,
    }


def present(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return *value* without the members of objects that are null.

    Null says the same as absence: many clients send every argument they know.
    """
    if isinstance(value, dict):
        return {name: present(member) for name, member in value.items() if member is not None}
    return [present(member) for member in value] if isinstance(value, list) else value


def faults(schema: Schema, arguments: Mapping[str, Any], *, where: str = "") -> list[str]:
    """Return everything that is wrong with *arguments*, each naming the argument.

    *where* is put before each name.

    >>> faults(take("title", title=text("…")), {"titel": "Gate hours"})
    ["there is no argument 'titel', perhaps 'title' is meant", "'title' is missing"]
    """
    found = sorted(
        Draft202012Validator(schema).iter_errors(arguments),
        key=lambda error: (error.validator != "additionalProperties", [*map(str, error.path)]),
    )
    return [fault for error in found for fault in _faults_of(error, where)]


def _faults_of(error: ValidationError, where: str) -> Iterator[str]:
    place = where + "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" if n or where else str(part)
        for n, part in enumerate(error.absolute_path)
    )
    inside = f" in {place}" if place else ""
    if error.validator == "additionalProperties":
        within: Any = error.schema
        given: Any = error.instance
        known = within["properties"]
        for name in given:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = (
                    f", perhaps {near[0]!r} is meant" if near else f"; there are {', '.join(known)}"
                )
                yield f"there is no argument {name!r}{inside}{hint}"
    elif error.validator == "required":
        # The validator reports each missing name by itself and says which only in its message.
        yield f"{error.message.split(' is a required')[0]} is missing{inside}"
    else:
        rule = _RULES.get(str(error.validator))
        must = rule(error.validator_value) if rule else error.message
        yield f"{place!r} must be {must}"


_RULES: Mapping[str, Callable[[Any], str]] = {
    "type": _KINDS.__getitem__,
    "anyOf": lambda branches: " or ".join(_KINDS[branch["type"]] for branch in branches),
    "enum": lambda words: f"one of {', '.join(map(str, words))}",
    "minimum": lambda least: f"{least} or more",
    "maximum": lambda most: f"{most} or less",
    "minLength": lambda _: "not empty",
    "maxLength": lambda most: f"at most {most:,} characters long",
    "minItems": lambda least: f"a list of {least} or more",
    "maxItems": lambda most: f"a list of at most {most:,}",
}


def _bounded(kind: str, about: str, least: float | None, most: float | None) -> Schema:
    schema: Schema = {"type": kind, "description": about}
    schema |= {"minimum": least} if least is not None else {}
    return schema | ({"maximum": most} if most is not None else {})


def _default(value: float | None) -> Schema:
    return {} if value is None else {"default": value}
