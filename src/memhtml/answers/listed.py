"""What lists answer: memories, tasks, entities and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.changed import TASK_STATUS
from memhtml.answers.schema import integer, items, maybe, number, record, switch, text

if TYPE_CHECKING:
    from memhtml.search.lists import EntityList, FileList, TagUse, TaskList

__all__ = ["ENTITIES", "FILES", "TAGS", "TASKS", "entities", "files", "tags", "tasks"]

_NEXT = maybe(text("Asks for the next page; null at the end."))

FILES = record(
    "A page of memories.",
    {
        "files": items(
            "The memories, by path.",
            record(
                "A memory.",
                {
                    "path": text("Where it is."),
                    "title": text("Its title."),
                    "memory_type": text("Its type."),
                    "gist": text("The fact in one sentence."),
                    "workspace": maybe(text("The project it belongs to.")),
                    "para": text("The top folder."),
                    "confidence": number("How sure it is."),
                    "importance": integer("How much it matters."),
                    "archived": switch("It is in the archive."),
                    "updated_at": text("When it was last changed."),
                },
            ),
        ),
        "next_cursor": _NEXT,
    },
)


def files(page: FileList) -> dict[str, Any]:
    """Return `FILES`."""
    return {"files": [file._asdict() for file in page.files], "next_cursor": page.next_cursor}


TASKS = record(
    "A page of tasks.",
    {
        "tasks": items(
            "The tasks, by path.",
            record(
                "A task.",
                {
                    "path": text("Where it is."),
                    "title": text("What has to be done."),
                    "gist": text("What done would mean."),
                    "task_status": TASK_STATUS,
                    "due_at": maybe(text("When it is due.")),
                    "workspace": maybe(text("The project it belongs to.")),
                    "archived": switch("It is in the archive."),
                    "updated_at": text("When it was last changed."),
                    "blocked_by": items(
                        "Unfinished tasks that stand in its way.",
                        record(
                            "A task.",
                            {"path": text("Where it is."), "title": text("Its title.")},
                        ),
                    ),
                },
            ),
        ),
        "next_cursor": _NEXT,
    },
)


def tasks(page: TaskList) -> dict[str, Any]:
    """Return `TASKS`."""
    return {
        "tasks": [
            {**task._asdict(), "blocked_by": [blocker._asdict() for blocker in task.blocked_by]}
            for task in page.tasks
        ],
        "next_cursor": page.next_cursor,
    }


ENTITIES = record(
    "What memories are about.",
    {
        "entities": items(
            "The latest activity first.",
            record(
                "An entity.",
                {
                    "entity": text("As type:name."),
                    "entity_type": text("What kind of thing it is."),
                    "entity_name": text("What it is called."),
                    "file_count": integer("How many memories are about it."),
                    "last_activity_at": text("The later of the two below."),
                    "last_event_at": maybe(text("When something last happened to it.")),
                    "last_written_at": text("When a memory about it was last changed."),
                },
            ),
        ),
        "entity_count": integer("How many there are in all."),
        "limit": integer("How many were asked for at most."),
    },
)


def entities(found: EntityList, *, limit: int) -> dict[str, Any]:
    """Return `ENTITIES`."""
    return {
        "entities": [entity._asdict() for entity in found.entities],
        "entity_count": found.entity_count,
        "limit": limit,
    }


TAGS = record(
    "The topics of memories.",
    {
        "tags": items(
            "The most used first.",
            record(
                "A tag.",
                {
                    "tag": text("The topic."),
                    "file_count": integer("How many memories have it."),
                    "last_written_at": text("When one of them was last changed."),
                },
            ),
        )
    },
)


def tags(found: tuple[TagUse, ...]) -> dict[str, Any]:
    """Return `TAGS`."""
    return {"tags": [tag._asdict() for tag in found]}
