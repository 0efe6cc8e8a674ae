"""Tools that find and show memories."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memhtml.answers.found import HIT, hit, hits, hits_record
from memhtml.answers.schema import (
    STRING,
    filled,
    integer,
    items,
    mapping,
    maybe,
    record,
    switch,
    text,
)
from memhtml.answers.shown import MEMORY, VERSION, WORDS, version, words
from memhtml.answers.shown import memory as described
from memhtml.index.usage import Moment
from memhtml.mcpserver.schema import output, take
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools.scopes import FILTERS, scope_of
from memhtml.model.errors import MemhtmlError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse
    from memhtml.model.document import Head

__all__ = ["HISTORY", "READ", "SEARCH", "meta_of", "record_read"]


def _search(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    scope = scope_of(arguments, tool="memory_search")
    found = corpus.search(
        arguments["query"],
        scope,
        limit=int(arguments.get("limit", 10)),
        cursor=arguments.get("cursor"),
        at=arguments.get("at"),
    )
    return hits(found, [hit(one) for one in found.hits], entity=scope.entity)


SEARCH = Tool(
    name="memory_search",
    title="Search the memories",
    about=(
        "Find memories that answer a question, best first. An empty answer says why in no_match. "
        "superseded_by names what replaced a hit: rely on that one. contradicts and "
        "conflicts_with name memories that say otherwise: read them too. Tasks are left out unless "
        "memory_types names them."
    ),
    takes=take(
        "query",
        query=filled(
            "What to look for, as prose; words between double quotes must stand together.",
            example="when does the loading bay open",
            most=4000,
        ),
        limit=integer("How many at most.", least=1, most=200, default=10),
        cursor=filled("next_cursor of the answer before, for its next page.", most=4000),
        at=filled("A commit: what the store would have said then.", most=200),
        **FILTERS,
    ),
    gives=output(hits_record(HIT)),
    run=_search,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)


def _read(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    memory = corpus.read(arguments["path"])
    record_read(corpus, memory.path, arguments.get("session_id"))
    return {
        **described(memory),
        "body": memory.document.text,
        "memory_type": memory.document.head.memory_type,
        "meta": meta_of(memory.document.head),
    }


def record_read(corpus: Corpus, path: str, session_id: str | None = None) -> None:
    """Count that *path* was opened. A store that cannot be written to is read all the same."""
    moment = None if session_id is None else Moment(session_id)
    with suppress(MemhtmlError):
        corpus.record_read(path, moment=moment)


def meta_of(head: Head) -> dict[str, str]:
    """Return what the head states, flat; a tag is ``tag:x`` and an entity ``entity:y``."""
    stated = {name: getattr(head, name) for name in _META}
    meta = {name: str(value) for name, value in stated.items() if value is not None}
    if head.needs_revision is not None:
        meta["needs_revision"] = "true" if head.needs_revision else "false"
    labels = (
        *(f"tag:{tag}" for tag in head.tags),
        *(f"entity:{entity}" for entity in head.entities),
        *(f"alias:{alias}" for alias in head.aliases),
    )
    return meta | dict.fromkeys(labels, "true")


_META = (
    *("status", "created_at", "updated_at", "confidence", "importance", "content_hash"),
    *("author", "session_id", "prompt_id", "turn_uuid", "valid_from", "valid_until"),
    *("reprieves", "archived_at", "superseded_by", "task_status", "due_at"),
)

READ = Tool(
    name="memory_read",
    title="Read a memory",
    about="Show one memory whole, as it is on disk now.",
    takes=take(
        "path",
        path=filled("Its path, as search gives it.", example="areas/inbox/gate-hours.html"),
        session_id=text("The session that reads it, to be counted as one that did.", most=500),
    ),
    gives=output(
        record(
            "A memory.",
            {
                **MEMORY["properties"],
                "body": text("All it says."),
                "memory_type": maybe(text("Its type.")),
                "meta": mapping(
                    "What its head states, and tag:x, entity:y, alias:z for its labels.", STRING
                ),
            },
        )
    ),
    run=_read,
    reads_only=True,
    is_idempotent=True,
    needs_index=False,
    quotes=True,
)


def _history(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    versions = corpus.history(arguments["path"])
    shown = versions[: int(arguments.get("limit", 20))]
    told = [version(one) for one in shown]
    if arguments.get("with_changes", False):
        # One more than is shown: the oldest one shown is compared with the one before it.
        compared = corpus.compare_versions(versions[: len(shown) + 1])
        for one, pieces in zip(told, compared, strict=False):
            one["words"] = words(pieces)
    return {"versions": told, "total": len(versions)}


HISTORY = Tool(
    name="memory_history",
    title="History of a memory",
    about=(
        "Tell how a memory came to say what it says: its versions, newest first, through every "
        "move and correction."
    ),
    takes=take(
        "path",
        path=filled("Its path, now or earlier.", example="areas/inbox/gate-hours.html"),
        limit=integer("How many versions at most.", least=1, most=200, default=20),
        with_changes=switch("Also what each version changed, word by word.", default=False),
    ),
    gives=output(
        record(
            "The versions of a memory.",
            {
                "versions": items(
                    "Newest first.",
                    record(
                        "A version.", {**VERSION["properties"], "words": WORDS}, optional=("words",)
                    ),
                ),
                "total": integer("How many versions there are."),
            },
        )
    ),
    run=_history,
    reads_only=True,
    is_idempotent=True,
    needs_index=False,
    quotes=True,
)
