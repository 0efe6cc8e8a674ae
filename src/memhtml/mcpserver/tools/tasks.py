"""Tools for tasks: memories that have to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memhtml.answers.changed import (
    TASK_STATUS,
    TASK_UPDATED,
    TASK_WRITTEN,
    task_updated,
    task_written,
)
from memhtml.answers.listed import TASKS, tasks
from memhtml.answers.schema import filled, integer, items, text
from memhtml.mcpserver.schema import output, take
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


def _add(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    draft = cast("Draft", as_op(arguments, "task"))
    return task_written(corpus.write(draft), draft)


ADD = Tool(
    name="task_add",
    title="Add a task",
    about="Write down something that has to be done. The title alone is enough.",
    takes=take(
        "title",
        title=filled("What has to be done.", example="Oil the gate's latch"),
        status=TASK_STATUS | {"default": TaskStatus.TODO.value},
        due=filled("When it is due: 2026-12-01 or 2026-12-01T09:30:00Z.", most=40),
        **SAID,
        **LABELS,
        **WEIGHT,
        **PLACE,
        **PROVENANCE,
    ),
    gives=output(TASK_WRITTEN),
    run=_add,
)


def _status(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    wanted = cast("TaskStatusRequest", as_op(arguments, "task_status"))
    return task_updated(corpus.set_task_status(wanted.path, wanted.status, reason=wanted.reason))


STATUS = Tool(
    name="task_status",
    title="Set a task's status",
    about="Say where a task stands. done moves it to the archive; any other brings it back.",
    takes=take(
        "path",
        "status",
        path=filled("Path of the task.", example="areas/inbox/tasks/oil-the-latch.html"),
        status=TASK_STATUS,
        reason=text("Why, kept with the change.", example="It was done in May."),
    ),
    gives=output(TASK_UPDATED),
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
    return tasks(page)


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
            most=len(TaskStatus),
        ),
        due_before=filled("Only those due on an earlier day, such as 2026-12-24.", most=40),
        limit=integer("How many at most.", least=1, most=500, default=50),
        cursor=filled("next_cursor of the page before.", most=4000),
        **_FILTERS,
    ),
    gives=output(TASKS),
    run=_list,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)
