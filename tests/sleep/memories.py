"""Memories as phases see them, without a store."""

from __future__ import annotations

import hashlib
from itertools import count
from typing import TYPE_CHECKING, Any

from memhtml.model.entities import parse_entity
from memhtml.model.paths import original_path
from memhtml.scoring.frames import frame_key
from memhtml.scoring.nearness import near_key
from memhtml.sleep.population import Live, Population

if TYPE_CHECKING:
    from collections.abc import Iterable

_numbers = count(1)

CREATED = "2026-01-01T00:00:00Z"


def live(claim: str, path: str | None = None, *, body: str = "", **said: Any) -> Live:
    """One memory; what is not said is as a plain new semantic memory has it."""
    number = next(_numbers)
    path = path or f"areas/n{number:05}.html"
    text = f"{claim} {body}".strip()
    created = said.pop("created_at", CREATED)
    entities = said.pop("entities", ())
    assert all(map(parse_entity, entities))
    values: dict[str, Any] = {
        "id": number,
        "path": path,
        "archived": original_path(path) is not None,
        "memory_type": "semantic",
        "title": claim[:60],
        "gist": claim,
        "body": text,
        "content_hash": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
        "frame_key": frame_key(claim),
        "near_key": near_key(text),
        "workspace": None,
        "origin_path": original_path(path),
        "confidence": 1.0,
        "importance": 5,
        "word_count": len(text.split()),
        "created_at": created,
        "updated_at": created,
        "event_at": None,
        "news_at": said.get("event_at") or created,
        "valid_from": None,
        "valid_until": None,
        "reprieves": 0,
        "author": "agent:test",
        "session_id": None,
        "task_status": None,
        "due_at": None,
        "tags": (),
        "entities": entities,
        "aliases": (),
        "facets": (),
        "links": (),
    }
    return Live(**(values | said))


def population(memories: Iterable[Live]) -> Population:
    """These, in order of path."""
    return Population(sorted(memories, key=lambda memory: memory.path))
