"""``list``, ``entities``, ``tags`` and ``task list``: everything that passes a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.casing import in_camel
from memhtml.cli.command import Command, Flag
from memhtml.cli.envelope import Success
from memhtml.cli.scopes import FRESH, SCOPE_FLAGS, cursor_flag, is_scanned, limit_flag, scope_of
from memhtml.cli.stores import open_store
from memhtml.model.vocabulary import Bucket, TaskStatus

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_INDEX_STALE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE")
_MOST = 500

# A list of tasks has one type, and that of entities names one of those.
_OTHER_FLAGS = tuple(flag for flag in SCOPE_FLAGS if flag.name not in {"type", "not-type"})
_ENTITY_FLAGS = (
    Flag(name="type", metavar="type", summary="only entities of this type, such as person"),
    *_OTHER_FLAGS,
    limit_flag(50, _MOST),
    FRESH,
)

COMMANDS = (
    Command(
        name="list",
        summary="List memories by path, tasks too.",
        flags=(
            *SCOPE_FLAGS,
            Flag(
                name="para",
                metavar="folder",
                choices=tuple(bucket.value for bucket in Bucket),
                summary="only in this one of the four top folders, or archived from it",
            ),
            limit_flag(50, _MOST),
            cursor_flag(),
            FRESH,
        ),
        response_types=("memory.list",),
        errors=_ERRORS,
        examples=("memhtml list --tag gate", "memhtml list --type verdict --since 2026-01-01"),
    ),
    Command(
        name="entities",
        summary="List what memories are about, the latest activity first.",
        flags=_ENTITY_FLAGS,
        response_types=("entity.activity",),
        errors=_ERRORS,
        examples=("memhtml entities --type person --limit 20",),
    ),
    Command(
        name="entity activity",
        summary="The same as entities.",
        flags=_ENTITY_FLAGS,
        response_types=("entity.activity",),
        errors=_ERRORS,
        examples=("memhtml entity activity --workspace checkout",),
    ),
    Command(
        name="tags",
        summary="List tags, the most used first.",
        flags=(*SCOPE_FLAGS, FRESH),
        response_types=("tag.list",),
        errors=_ERRORS,
        examples=("memhtml tags", "memhtml tags --type procedural"),
    ),
    Command(
        name="task list",
        summary="List tasks by path, with what stands in their way.",
        description="Finished tasks are in the archive: --include-archived shows them too.",
        flags=(
            Flag(
                name="status",
                repeatable=True,
                metavar="status",
                choices=tuple(status.value for status in TaskStatus),
                summary="only with this status",
            ),
            Flag(name="due-before", metavar="day", summary="only those due on an earlier day"),
            *_OTHER_FLAGS,
            limit_flag(50, _MOST),
            cursor_flag(),
            FRESH,
        ),
        response_types=("task.list",),
        errors=_ERRORS,
        examples=("memhtml task list --status todo --due-before 2026-12-24",),
    ),
)


def run(call: Call) -> Success:
    """List memories, entities, tags or tasks."""
    kinds = {"list": _memories, "tags": _tags, "task list": _tasks}
    return kinds.get(call.command.name, _entities)(call)


def _memories(call: Call) -> Success:
    from memhtml.answers.listed import FILES, files  # noqa: PLC0415 - help needs none

    para = call.optional_text("para")
    with open_store(call) as corpus:
        page = corpus.list_memories(
            scope_of(call),
            para=None if para is None else Bucket(para),
            limit=call.integer("limit"),
            cursor=call.optional_text("cursor"),
            scan=is_scanned(call),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.lists import memories_page  # noqa: PLC0415 - only for people

        return memories_page(page, screen)

    return Success("memory.list", in_camel(FILES, files(page)), text)


def _entities(call: Call) -> Success:
    from memhtml.answers.listed import ENTITIES, entities  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus:
        found = corpus.list_entities(
            scope_of(call, has_types=False),
            entity_type=call.optional_text("type"),
            limit=call.integer("limit"),
            scan=is_scanned(call),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.lists import entities_page  # noqa: PLC0415 - only for people

        return entities_page(found, screen)

    return Success(
        "entity.activity", in_camel(ENTITIES, entities(found, limit=call.integer("limit"))), text
    )


def _tags(call: Call) -> Success:
    from memhtml.answers.listed import TAGS  # noqa: PLC0415 - help needs none
    from memhtml.answers.listed import tags as told  # noqa: PLC0415 - as above

    with open_store(call) as corpus:
        tags = corpus.list_tags(scope_of(call), scan=is_scanned(call))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.lists import tags_page  # noqa: PLC0415 - only for people

        return tags_page(tags, screen)

    return Success("tag.list", in_camel(TAGS, told(tags)), text)


def _tasks(call: Call) -> Success:
    from memhtml.answers.listed import TASKS, tasks  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus:
        page = corpus.list_tasks(
            scope_of(call, has_types=False),
            statuses=tuple(map(TaskStatus, call.texts("status"))),
            due_before=call.optional_text("due-before"),
            limit=call.integer("limit"),
            cursor=call.optional_text("cursor"),
            scan=is_scanned(call),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.lists import tasks_page  # noqa: PLC0415 - only for people

        return tasks_page(page, screen)

    return Success("task.list", in_camel(TASKS, tasks(page)), text)
