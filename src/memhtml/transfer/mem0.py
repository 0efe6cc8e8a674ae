"""Memories of mem0, as ``get_all`` and its export give them; a relation is a fact as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.model.errors import InvalidFlag
from memhtml.transfer.drafts import instant_from, item_of, skipped
from memhtml.transfer.item import Item
from memhtml.transfer.jsonlists import elements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.transfer.item import Options
    from memhtml.transfer.source import Source

__all__ = ["has_memories", "read_mem0"]

_LISTS = ("results", "memories")


def has_memories(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether *value* looks like a memory of mem0, or like an answer that lists some."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("memory"), str):
        return True
    return any(
        isinstance(listed := value.get(name), list) and (not listed or has_memories(listed[0]))
        for name in _LISTS
    )


def read_mem0(source: Source, options: Options) -> Iterator[Item]:
    """Yield each memory and each relation of each JSON file of *source*."""
    for name in source.named(".json"):
        for element in elements(source, name):
            origin = f"{name}#{element.number}"
            if element.error is not None:
                yield Item(origin, error=element.error)
            else:
                yield from _items(element.value, name, origin, options)


def _items(value: Any, name: str, origin: str, options: Options) -> Iterator[Item]:  # noqa: ANN401
    if not isinstance(value, dict):
        yield Item(origin, error=InvalidFlag("it is no JSON object"))
        return
    listed = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
    if listed is None:
        yield _memory(value, origin, options)
        return
    for number, memory in enumerate(listed):
        yield _memory(memory, f"{name}#{number}", options)
    relations = value.get("relations")
    for number, relation in enumerate(relations if isinstance(relations, list) else ()):
        yield _relation(relation, f"{name}#relation-{number}", options)


def _memory(value: Any, origin: str, options: Options) -> Item:  # noqa: ANN401 - JSON
    if not isinstance(value, dict) or not isinstance(value.get("memory"), str):
        return Item(origin, error=InvalidFlag("it has no text in 'memory'"))
    categories = value.get("categories")
    run, agent, user = (value.get(key) for key in ("run_id", "agent_id", "user_id"))
    # Whose memory it is, where the data says so; the text itself names nobody.
    owner = f"user:{user}" if isinstance(user, str) and user.strip() else None
    return item_of(
        value["memory"],
        origin,
        options,
        tags=[c for c in categories if isinstance(c, str)] if isinstance(categories, list) else (),
        entities=[owner] if owner else (),
        author=f"agent:{agent}" if isinstance(agent, str) and agent.strip() else None,
        session_id=run if isinstance(run, str) and run.strip() else None,
        valid_from=instant_from(value.get("created_at")),
        plain=True,
    )


def _relation(value: Any, origin: str, options: Options) -> Item:  # noqa: ANN401 - JSON
    if not isinstance(value, dict):
        return Item(origin, error=InvalidFlag("it is no JSON object"))
    source, word = value.get("source"), value.get("relationship") or value.get("relation")
    target = value.get("target") or value.get("destination")
    if not (isinstance(source, str) and isinstance(word, str) and isinstance(target, str)):
        return Item(origin, error=InvalidFlag("it lacks a source, a relationship or a target"))
    if not (source.strip() and word.strip() and target.strip()):
        return skipped(origin, "it is empty")
    return item_of(
        f"{source} {word.replace('_', ' ')} {target}.",
        origin,
        options,
        entities=(f"concept:{source}", f"concept:{target}"),
        plain=True,
    )
