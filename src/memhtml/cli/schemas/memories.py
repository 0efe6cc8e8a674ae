"""Schemas of answers about memories and tasks, and about what was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.batch import BATCH
from memhtml.answers.casing import camel_schema
from memhtml.answers.changed import (
    ARCHIVED,
    LINKED,
    REINFORCED,
    TASK_UPDATED,
    TASK_WRITTEN,
    WRITTEN,
)
from memhtml.answers.found import (
    DETAILED_HIT,
    INDEX_LINE,
    NO_MATCH,
    QUOTE,
    SIMILAR,
    hits_record,
)
from memhtml.answers.linked import EDGE, NODE, TRAIL
from memhtml.answers.listed import ENTITIES, FILES, TAGS, TASKS
from memhtml.answers.schema import (
    COMMIT,
    STRING,
    choice,
    either,
    integer,
    items,
    maybe,
    number,
    record,
    switch,
    text,
)
from memhtml.answers.shown import MEMORY, VERSION, WORDS
from memhtml.search.recall import Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.answers.schema import Schema

__all__ = ["MEMORIES", "NOTES"]


def _members(schema: Schema) -> dict[str, Any]:
    """Return the members of a record in camelCase."""
    found = camel_schema(schema)["properties"]
    assert isinstance(found, dict)  # noqa: S101 - it is a record
    return found


NOTES = items(
    "What of the Markdown has no place in a memory, and what became of it.",
    record(
        "A note.",
        {
            "line": integer("The line of the Markdown, from 1."),
            "code": text("What it is about, as a stable word."),
            "message": text("What became of it."),
        },
    ),
)

_METAS = record(
    "What the head states.",
    {
        "memoryType": maybe(text("Its type.")),
        "status": maybe(text("active, archived or superseded.")),
        "createdAt": maybe(text("When it was written.")),
        "updatedAt": maybe(text("When it was last changed.")),
        "confidence": maybe(number("How sure it is.", least=0, most=1)),
        "importance": maybe(integer("How much it matters.", least=1, most=10)),
        "contentHash": maybe(text("Hash of what it says.")),
        "author": maybe(text("Who says so.")),
        "sessionId": maybe(text("The session it came from.")),
        "promptId": maybe(text("The prompt it came from.")),
        "turnUuid": maybe(text("The turn it came from.")),
        "validFrom": maybe(text("From when on it is true.")),
        "validUntil": maybe(text("Until when it is true.")),
        "reprieves": maybe(integer("How often it was spared.")),
        "archivedAt": maybe(text("When it was archived.")),
        "supersededBy": maybe(text("The memory that replaced it.")),
        "needsRevision": maybe(switch("Somebody should look at it again.")),
        "taskStatus": maybe(text("Where a task stands.")),
        "dueAt": maybe(text("When a task is due.")),
    },
)

_SPENT = {
    "spentChars": integer("How much is quoted, where --unit is chars."),
    "spentTokens": integer("How much is quoted, where --unit is tokens; estimated."),
}
_TRUNCATED = switch("Something that was found is not quoted, or in part.")
_SECTION = record(
    "Memories, quoted as far as the budget reaches.",
    {
        "disclosed": items("What is quoted, best first.", camel_schema(QUOTE)),
        "indexLines": items("Found as well, and not quoted.", camel_schema(INDEX_LINE)),
        **_SPENT,
        "budget": integer("How much might be quoted here, in the unit."),
        "truncated": _TRUNCATED,
    },
    optional=_SPENT,
)
_LIMIT = integer("How many were asked for at most.")

MEMORIES: Mapping[str, Schema] = {
    "memory.written": record(
        "A memory that was written, or was there already.",
        {**_members(WRITTEN), "markdownNotes": NOTES},
        optional=("markdownNotes",),
    ),
    "memory.detail": record(
        "One memory.",
        {
            **_members(MEMORY),
            "metas": _METAS,
            "entities": items("Whom or what it is about, as type:name.", STRING),
            "tags": items("Its topics.", STRING),
            "aliases": items("Other names of the fact.", STRING),
            "body": text("What it says after the claim, as text."),
            "html": text("The article, byte for byte."),
        },
    ),
    "memory.corrected": record(
        "A memory that took another one's place.",
        {
            "path": text("Where the new memory is."),
            "archivedPath": text("Where the old one is now."),
            "commitSha": COMMIT,
            "contentHash": text("Hash of what the new memory says."),
        },
    ),
    "memory.edited": record(
        "A memory that was edited.",
        {
            "path": text("Where it is."),
            "commitSha": COMMIT,
            "contentHash": text("Hash of what it says now."),
        },
    ),
    "memory.opened": record(
        "Memories on a page for a browser.",
        {
            "page": text("The file of the page."),
            "url": text("Its address, with what it shows first."),
            "paths": items("The memories on it.", STRING),
            "opened": switch("A browser was told to show it."),
        },
    ),
    "memory.archived": either(
        "What was archived.",
        camel_schema(ARCHIVED),
        record(
            "What was chosen and archived.",
            {
                "archived": items(
                    "What went where.",
                    record(
                        "A memory.",
                        {
                            "path": text("Where it stood."),
                            "archivePath": maybe(text("Where it is now.")),
                        },
                    ),
                ),
                "commitSha": COMMIT,
            },
        ),
    ),
    "memory.archive_preview": record(
        "What --yes would archive.",
        {"paths": items("The memories.", STRING), "reason": text("Why.")},
    ),
    "memory.unarchived": camel_schema(ARCHIVED),
    "memory.linked": camel_schema(LINKED),
    "memory.history": record(
        "The versions of a memory.",
        {
            "path": text("Where it stands, or stood last."),
            "versions": items(
                "Newest first.", record("A version.", {**_members(VERSION), "words": WORDS})
            ),
        },
    ),
    "memory.blame": record(
        "Where each sentence is from.",
        {
            "sentences": items(
                "In the order in which they stand.",
                record(
                    "A sentence and the version that first said it.",
                    {"sentence": text("The sentence."), **_members(VERSION)},
                ),
            )
        },
    ),
    "memory.hits": camel_schema(hits_record(DETAILED_HIT)),
    "recall.pack": record(
        "What is known of a topic.",
        {
            "arcs": _SECTION | {"description": "How things went over time."},
            "memories": _SECTION | {"description": "What is known."},
            "unit": choice("What the budget counts.", Unit),
            **_SPENT,
            "truncated": _TRUNCATED,
            "noMatch": camel_schema(NO_MATCH),
            "degraded": switch("Words alone were searched, not meaning."),
            "degradedReason": maybe(text("Why vectors that might have taken part did not.")),
            "vectorCoverage": number(
                "0 to 1: the part of the texts that is searched by meaning too."
            ),
            "indexedCommit": maybe(text("The commit that the answer describes.")),
            "skippedCount": integer("Files that cannot be read as memories."),
        },
        optional=_SPENT,
    ),
    "memory.similar": camel_schema(SIMILAR),
    "memory.resolved": camel_schema(TRAIL),
    "memory.neighbors": record(
        "The memories near one.",
        {
            "center": text("The memory it began at."),
            "depth": integer("How many links away at most."),
            "limit": _LIMIT,
            "nodes": items("The memories, nearest first.", camel_schema(NODE)),
            "edges": items("The links between them.", camel_schema(EDGE)),
            "nodesDropped": integer("How many more there are."),
            "scanSaturated": switch("There are more links than were followed."),
        },
    ),
    "memory.route": record(
        "The fewest links that join two memories.",
        {
            "found": switch("There are such links."),
            "hops": maybe(integer("How many.")),
            "edges": items("The links, in order.", camel_schema(EDGE)),
        },
    ),
    "memory.list": camel_schema(FILES),
    "memory.reinforced": camel_schema(REINFORCED),
    "entity.activity": camel_schema(ENTITIES),
    "tag.list": camel_schema(TAGS),
    "task.list": camel_schema(TASKS),
    "task.written": camel_schema(TASK_WRITTEN),
    "task.updated": camel_schema(TASK_UPDATED),
    "batch.applied": BATCH,
}
