"""The knowledge graph that the reference MCP memory server keeps, as lines of JSON.

An observation is one fact about one entity, so it is one memory; a relation is a fact about two.
Nothing is merged, for the graph's own tools delete observations one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.model.errors import InvalidFlag, MemhtmlError
from memhtml.transfer.drafts import item_of, skipped
from memhtml.transfer.item import Item
from memhtml.transfer.jsonlists import lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.transfer.item import Options
    from memhtml.transfer.source import Source

__all__ = ["is_graph_line", "read_mcp_memory"]


def is_graph_line(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether *value* is a line of such a graph."""
    return isinstance(value, dict) and (
        (value.get("type") == "entity" and "name" in value)
        or (value.get("type") == "relation" and "relationType" in value)
    )


def read_mcp_memory(source: Source, options: Options) -> Iterator[Item]:
    """Yield a fact for each observation and each relation of *source*.

    Entities are read first, wherever they stand, so that a relation can say what its ends are.
    """
    for name in source.named(".jsonl", ".json", ".ndjson"):
        kinds: dict[str, str] = {}
        try:
            for element in lines(source, name):
                if is_graph_line(element.value) and element.value["type"] == "entity":
                    kinds[str(element.value["name"])] = str(element.value.get("entityType") or "")
            for element in lines(source, name):
                yield from _items(
                    element.value, element.error, f"{name}:{element.number}", kinds, options
                )
        except MemhtmlError as error:
            yield Item(name, error=error)


def _items(
    value: Any,  # noqa: ANN401 - JSON
    error: MemhtmlError | None,
    origin: str,
    kinds: dict[str, str],
    options: Options,
) -> Iterator[Item]:
    if error is not None:
        yield Item(origin, error=error)
    elif not is_graph_line(value):
        yield Item(origin, error=InvalidFlag("it is neither an entity nor a relation"))
    elif value["type"] == "entity":
        yield from _observations(value, origin, kinds, options)
    else:
        yield _relation(value, origin, kinds, options)


def _observations(
    value: dict[str, Any], origin: str, kinds: dict[str, str], options: Options
) -> Iterator[Item]:
    name, observations = str(value["name"]), value.get("observations")
    if not isinstance(observations, list):
        yield Item(origin, name, error=InvalidFlag("its observations are no list"))
        return
    if not observations:
        yield skipped(origin, "the entity has no observation", title=name)
    for number, text in enumerate(observations):
        place = f"{origin}#{number}"
        if not isinstance(text, str):
            yield Item(place, name, error=InvalidFlag("the observation is no text"))
            continue
        # An observation says "likes tea" of its entity; alone it must say who does.
        said = text if name.casefold() in text.casefold() else f"{_spoken(name)}: {text}"
        yield item_of(said, place, options, entities=(_entity(name, kinds),), plain=True)


def _relation(value: dict[str, Any], origin: str, kinds: dict[str, str], options: Options) -> Item:
    ends = value.get("from"), value.get("to")
    word = value["relationType"]
    if not all(isinstance(end, str) and end.strip() for end in (*ends, word)):
        return Item(origin, error=InvalidFlag("it lacks one of from, to and relationType"))
    src, dst = (str(end) for end in ends)
    return item_of(
        f"{_spoken(src)} {_spoken(word)} {_spoken(dst)}.",
        origin,
        options,
        entities=(_entity(src, kinds), _entity(dst, kinds)),
        plain=True,
    )


def _entity(name: str, kinds: dict[str, str]) -> str:
    kind = kinds.get(name, "").strip().casefold() or "concept"
    return f"{kind.replace(':', ' ')}:{name}"


def _spoken(name: str) -> str:
    return name.replace("_", " ").strip()
