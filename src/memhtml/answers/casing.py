"""An answer in camelCase: names are read off its schema, so words of a caller stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memhtml.answers.schema import Schema

__all__ = ["camel", "camel_schema", "in_camel"]


def camel(name: str) -> str:
    """Return a name of snake_case in camelCase.

    >>> camel("existing_path")
    'existingPath'
    """
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def camel_schema(schema: Schema) -> Schema:
    """Return *schema* with the names of every record in camelCase."""
    told = {name: _inner(name, value) for name, value in schema.items()}
    if "properties" in schema:
        told["properties"] = {
            camel(name): camel_schema(member) for name, member in schema["properties"].items()
        }
        told["required"] = [camel(name) for name in schema["required"]]
    return told


def _inner(word: str, value: Any) -> Any:  # noqa: ANN401 - any part of a schema
    if word in {"items", "additionalProperties"} and isinstance(value, dict):
        return camel_schema(value)
    if word in {"anyOf", "oneOf"}:
        return [camel_schema(branch) for branch in value]
    return value


def in_camel(schema: Schema, value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return *value*, which *schema* describes, with the names of every record in camelCase."""
    if value is None:
        return None
    if "anyOf" in schema:  # a `maybe` that says something
        return in_camel(schema["anyOf"][0], value)
    if isinstance(value, dict):
        properties, rest = schema.get("properties"), schema.get("additionalProperties")
        if properties is not None:
            return {camel(name): in_camel(properties[name], part) for name, part in value.items()}
        return {name: in_camel(rest or {}, part) for name, part in value.items()}
    if isinstance(value, list):
        return [in_camel(schema.get("items", {}), part) for part in value]
    return value
