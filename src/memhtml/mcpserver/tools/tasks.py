"""Tools for tasks: memories that have to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memhtml.mcpserver.schema import choice, filled, maybe, output, switch, take, text
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools.record import LABELS, PLACE, PROVENANCE, SAID, WEIGHT, as_op
from memhtml.model.vocabulary import TaskStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse
    from memhtml.model.changes import TaskStatusRequest
    from memhtml.model.memory import Draft

__all__ = ["ADD", "STATUS"]

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
