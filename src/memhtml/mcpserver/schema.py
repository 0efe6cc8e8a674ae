"""The schemas of what tools take and give, and plain words for what is wrong with a call.

Every schema has an object at its root and no combination of schemas there, for some clients accept
nothing else. What excludes what is said in the descriptions, and checked when the call is decoded.
"""

from __future__ import annotations

from difflib import get_close_matches
from itertools import chain
from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonschema import ValidationError

    from memhtml.answers.schema import Schema

__all__ = ["MOST_TOLD", "faults", "nearest", "output", "present", "shown", "take"]

MOST_TOLD = 20
"""Faults of one call that are told: an agent has to read them all."""

_SHOWN_CHARS = 60

_ALSO_CALLED = {
    # What the command line, operations and other tools for memories call it.
    **dict.fromkeys(("claim", "content", "text"), "body"),
    **dict.fromkeys(("cite", "sources"), "citations"),
    **dict.fromkeys(("type", "kind"), "memory_type"),
}
_KINDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


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


def output(answer: Schema) -> Schema:
    """Return the schema of what a tool answers: *answer*, a record, or a typed failure."""
    return {
        "type": "object",
        "properties": answer["properties"] | _FAILURE,
        "anyOf": [{"required": answer["required"]}, {"required": list(_FAILURE)}],
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
    """Return what is wrong with *arguments*, each naming the argument; many alike are counted.

    *where* is put before each name.

    >>> faults(take("title", title=text("…")), {"titel": "Gate hours"})
    ["there is no argument 'titel', perhaps 'title' is meant", "'title' is missing"]
    """
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - an eighth of the time to start

    found = sorted(
        Draft202012Validator(schema).iter_errors(arguments),
        key=lambda error: (error.validator != "additionalProperties", [*map(str, error.path)]),
    )
    listed: set[str] = set()
    told = [fault for error in found for fault in _faults_of(error, where, listed)]
    more = len(told) - MOST_TOLD
    return told if more <= 0 else [*told[:MOST_TOLD], f"and {more:,} more like these"]


def shown(name: str) -> str:
    """Return a name that a caller made up, in quotes, and no more of it than can be told by."""
    return repr(name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}\u2026")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return which of *known* is perhaps meant by *name*.

    >>> nearest("titel", ["title"]), nearest("type", ["title", "memory_type"])
    ('title', 'memory_type')
    """
    names = tuple(known)
    sought = _ALSO_CALLED.get(name, name)[:_SHOWN_CHARS]
    having = (one for one in names if sought in {one, *one.split("_")})
    return next(chain(having, get_close_matches(sought, names, n=1)), None)


def _faults_of(error: ValidationError, where: str, listed: set[str]) -> Iterator[str]:
    """Yield what *error* says; which arguments there are is *listed* once."""
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
                near = nearest(name, known)
                hint = f", perhaps {near!r} is meant" if near else ""
                there_are = f"; there are {', '.join(known)}"
                if not near and there_are not in listed:
                    listed.add(there_are)
                    hint = there_are
                yield f"there is no argument {shown(name)}{inside}{hint}"
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
