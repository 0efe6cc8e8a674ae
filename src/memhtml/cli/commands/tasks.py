"""Commands for tasks: a memory of what is to be done, with a status of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.casing import in_camel
from memhtml.cli.command import Argument, Command, Flag, Noun
from memhtml.cli.commands.memory import DRAFT_FLAGS, article_of, instant_of, labels_of
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.vocabulary import MemoryType, TaskStatus

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen

__all__ = ["COMMANDS", "run"]

_STATUSES = tuple(status.value for status in TaskStatus)
_ERRORS = (
    "ERR_NOT_A_STORE",
    "ERR_PATH_NOT_FOUND",
    "ERR_INVALID_MEMORY",
    "ERR_WRITE_CONFLICT",
    "ERR_BUSY",
    "ERR_GIT",
    "ERR_STORAGE",
)

COMMANDS = (
    Command(
        name="task add",
        summary="Note something to be done.",
        description=(
            "The claim says what done would mean; without it the title does. A task is never taken "
            "for a duplicate of another."
        ),
        flags=(
            Flag(name="title", required=True, metavar="text", summary="a short name of the task"),
            *DRAFT_FLAGS,
            Flag(
                name="status",
                metavar="status",
                default="todo",
                choices=_STATUSES[:-1],
                summary="where it stands",
            ),
            Flag(name="due", metavar="time", summary="when it is due"),
            Flag(
                name="workspace",
                noun=Noun.WORKSPACE,
                metavar="name",
                summary="the project it belongs to",
            ),
        ),
        response_types=("task.written",),
        errors=(*_ERRORS, "ERR_SECRET"),
        examples=("memhtml task add --title 'Fix the latch' --due 2026-12-01 --tag gate",),
    ),
    Command(
        name="task status",
        summary="Say where a task stands; a done one goes to the archive.",
        description="Any other status for an archived task brings it back to where it stood.",
        arguments=(
            Argument(name="path", noun=Noun.MEMORY, summary="the task"),
            Argument(name="status", summary="where it stands now", choices=_STATUSES),
        ),
        flags=(Flag(name="reason", metavar="text", summary="why; kept with the commit"),),
        response_types=("task.updated",),
        errors=_ERRORS,
        examples=("memhtml task status areas/inbox/tasks/fix-the-latch.html done",),
    ),
    Command(
        name="task reopen",
        summary="Bring a finished task back from the archive.",
        arguments=(Argument(name="path", noun=Noun.MEMORY, summary="the task in the archive"),),
        flags=(
            Flag(
                name="status",
                metavar="status",
                default="todo",
                choices=_STATUSES[:-1],
                summary="where it stands again",
            ),
            Flag(name="reason", metavar="text", summary="why; kept with the commit"),
        ),
        response_types=("task.updated",),
        errors=_ERRORS,
        examples=("memhtml task reopen archive/2026/areas/inbox/tasks/fix-the-latch.html",),
    ),
)


def run(call: Call) -> Success:
    """Add a task or say where one stands."""
    return _add(call) if call.command.name == "task add" else _set_status(call)


def _add(call: Call) -> Success:
    from memhtml.answers.changed import TASK_WRITTEN, task_written  # noqa: PLC0415 - help needs none
    from memhtml.model.memory import Draft  # noqa: PLC0415 - help needs none

    title = call.text("title")
    stated = article_of(call, claim=title)
    draft = Draft(
        title=title,
        memory_type=MemoryType.TASK,
        workspace=call.optional_text("workspace"),
        task_status=TaskStatus(call.text("status")),
        due_at=instant_of(call, "due"),
        **stated,
        **labels_of(call),
    )
    with open_store(call) as corpus:
        written = corpus.write(draft, allow_secret=call.is_on("allow-secret"))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.memories import written_lines  # noqa: PLC0415 - only for people

        return written_lines(written, screen)

    return Success("task.written", in_camel(TASK_WRITTEN, task_written(written, draft)), text)


def _set_status(call: Call) -> Success:
    from memhtml.answers.changed import TASK_UPDATED, task_updated  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus:
        done = corpus.set_task_status(
            call.text("path"),
            TaskStatus(call.text("status")),
            reason=call.optional_text("reason"),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.screen import printable  # noqa: PLC0415 - only for people

        if done.unchanged:
            return f"{printable(done.path)} is {done.task_status} already\n"
        lines = [f"{screen.paint(done.task_status, 'green')} {printable(done.path)}"]
        if done.archive_path:
            lines.append(f"archived as {printable(done.archive_path)}")
        return "\n".join(lines) + "\n"

    return Success("task.updated", in_camel(TASK_UPDATED, task_updated(done)), text)
