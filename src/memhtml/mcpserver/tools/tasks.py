"""Tools for tasks: memories that have to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memhtml.mcpserver.schema import (
    choice,
    filled,
    integer,
    items,
    maybe,
    output,
    record,
    switch,
    take,
    text,
)
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools.record import LABELS, PLACE, PROVENANCE, SAID, WEIGHT, as_op
from memhtml.mcpserver.tools.scopes import FILTERS, scope_of
from memhtml.model.vocabulary import TaskStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse
    from memhtml.model.changes import TaskStatusRequest
    from memhtml.model.memory import Draft

__all__ = ["ADD", "LIST", "STATUS"]

_STATUS = choice("Where the task stands.", TaskStatus)


def _add(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    draft = cast("Draft", as_op(arguments, "task"))
    written = corpus.write(draft)
    return {
        "path": written.path,
        "created": written.created,
        "deduped": written.deduped,
        "existing_path": written.existing_path,
        "task_status": draft.task_status or TaskStatus.TODO,
        "due_at": draft.due_at,
        "commit_sha": written.commit,
    }


ADD = Tool(
    name="task_add",
    title="Add a task",
    about="Write down something that has to be done. The title alone is enough.",
    takes=take(
        "title",
        title=filled("What has to be done.", example="Oil the gate's latch"),
        status=_STATUS | {"default": TaskStatus.TODO.value},
        due=filled("When it is due: 2026-12-01 or 2026-12-01T09:30:00Z.", most=40),
        **SAID,
        **LABELS,
        **WEIGHT,
        **PLACE,
        **PROVENANCE,
    ),
    gives=output(
        path=text("Where the task is."),
        created=switch("This call made it."),
        deduped=switch("It was there already, and nothing was written."),
        existing_path=maybe(text("The task that says it already.")),
        task_status=_STATUS,
        due_at=maybe(text("When it is due.")),
        commit_sha=maybe(text("The commit.")),
    ),
    run=_add,
)


def _status(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    wanted = cast("TaskStatusRequest", as_op(arguments, "task_status"))
    done = corpus.set_task_status(wanted.path, wanted.status, reason=wanted.reason)
    return {
        "path": done.path,
        "task_status": done.task_status,
        "archived": done.archived,
        "archive_path": done.archive_path,
        "commit_sha": done.commit,
        "unchanged": done.unchanged,
    }


STATUS = Tool(
    name="task_status",
    title="Set a task's status",
    about="Say where a task stands. done moves it to the archive; any other brings it back.",
    takes=take(
        "path",
        "status",
        path=filled("Path of the task."),
        status=_STATUS,
        reason=text("Why, kept with the change."),
    ),
    gives=output(
        path=text("Where the task stands, or stood, among the active ones."),
        task_status=_STATUS,
        archived=switch("It is in the archive now."),
        archive_path=maybe(text("Where in the archive.")),
        commit_sha=maybe(text("The commit; null when nothing changed.")),
        unchanged=switch("It had that status already."),
    ),
    run=_status,
    is_destructive=True,
    is_idempotent=True,
)


_FILTERS = {
    name: schema
    for name, schema in FILTERS.items()
    if name not in {"memory_types", "not_types"}  # a task has one type
}


def _list(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    page = corpus.list_tasks(
        scope_of(arguments, tool="task_list"),
        statuses=tuple(map(TaskStatus, arguments.get("statuses", ()))),
        due_before=arguments.get("due_before"),
        limit=int(arguments.get("limit", 50)),
        cursor=arguments.get("cursor"),
    )
    return {
        "tasks": [
            {
                **task._asdict(),
                "blocked_by": [blocker._asdict() for blocker in task.blocked_by],
            }
            for task in page.tasks
        ],
        "next_cursor": page.next_cursor,
    }


LIST = Tool(
    name="task_list",
    title="List tasks",
    about=(
        "List tasks by path, with what stands in the way of each. Finished ones are in the "
        "archive: include_archived shows them too."
    ),
    takes=take(
        statuses=items(
            "Only with one of these.",
            {"type": "string", "enum": [status.value for status in TaskStatus]},
        ),
        due_before=filled("Only those due on an earlier day, such as 2026-12-24.", most=40),
        limit=integer("How many at most.", least=1, most=500, default=50),
        cursor=filled("next_cursor of the page before."),
        **_FILTERS,
    ),
    gives=output(
        tasks=items(
            "The tasks.",
            record(
                "A task.",
                {
                    "path": text("Where it is."),
                    "title": text("What has to be done."),
                    "gist": text("What done would mean."),
                    "task_status": _STATUS,
                    "due_at": maybe(text("When it is due.")),
                    "workspace": maybe(text("The project it belongs to.")),
                    "archived": switch("It is in the archive."),
                    "updated_at": text("When it was last changed."),
                    "blocked_by": items(
                        "Unfinished tasks that stand in its way.",
                        record(
                            "A task.",
                            {"path": text("Where it is."), "title": text("Its title.")},
                            required=("path", "title"),
                        ),
                    ),
                },
                required=("path", "title", "gist", "task_status", "archived", "blocked_by"),
            ),
        ),
        next_cursor=maybe(text("Asks for the next page; null at the end.")),
    ),
    run=_list,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)
