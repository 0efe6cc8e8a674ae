"""Plan a change of a task's status; finishing archives in the same commit (seed §8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.edit import SetMeta, apply_edits, read_meta
from memhtml.model.changes import TaskUpdated
from memhtml.model.errors import InvalidMemory
from memhtml.model.instants import stamp
from memhtml.model.paths import original_path
from memhtml.model.vocabulary import MemoryType, TaskStatus
from memhtml.store.archive import archiving, find_memory, later, plan_unarchive, reason_trailer
from memhtml.store.gate import refuse_secret_words
from memhtml.store.plan import Move, Planned, Put, subject

if TYPE_CHECKING:
    from datetime import datetime

    from memhtml.store.plan import View

__all__ = ["plan_task_status"]


def plan_task_status(
    path: str, status: TaskStatus, view: View, *, now: datetime, reason: str | None = None
) -> Planned[TaskUpdated]:
    """Plan *status* for the task at *path*; no steps when it has it.

    A finished task goes to the archive. Any other status for an archived one brings it back to
    where it stood, so that the two axes never disagree.

    Raises:
        PathNotFound: Nothing stands at *path*.
        InvalidMemory: It is not a task.
        SecretFound: *reason* holds a credential.
        WriteConflict: The task would come back to a place that is taken.
    """
    refuse_secret_words(reason)
    here, file = find_memory(path, view)
    if read_meta(file.data, "memhtml-type") != MemoryType.TASK:
        raise InvalidMemory((), reason=f"{here!r} is not a task")
    is_archived = original_path(here) is not None
    if read_meta(file.data, "memhtml-task-status") == status and is_archived == (
        status is TaskStatus.DONE
    ):
        return Planned(result=_updated(here, status, here if is_archived else None, unchanged=True))
    stamps = (
        SetMeta("memhtml-task-status", status),
        SetMeta("memhtml-updated", later(stamp(now), read_meta(file.data, "memhtml-updated"))),
    )
    trailers = reason_trailer(reason)
    title = subject("task", f"{status.value} {here}")
    if is_archived and status is not TaskStatus.DONE:
        back = plan_unarchive(here, view, now=now)
        steps = tuple(
            step._replace(data=apply_edits(step.data, stamps)) if isinstance(step, Move) else step
            for step in back.steps
        )
        result = _updated(back.result.path, status, None)
        return Planned(result=result, steps=steps, subject=title, trailers=trailers)
    if status is TaskStatus.DONE and not is_archived:
        dst, moved = archiving(here, file, view, now=now, edits=stamps)
        return Planned(
            result=_updated(here, status, dst),
            steps=tuple(moved),
            subject=subject("archive", f"{here} — {reason or 'task done'}"),
            trailers=trailers,
        )
    put = Put(here, apply_edits(file.data, stamps), file.sha)
    return Planned(
        result=_updated(here, status, here if is_archived else None),
        steps=(put,),
        subject=title,
        trailers=trailers,
    )


def _updated(
    path: str, status: TaskStatus, archive_path: str | None, *, unchanged: bool = False
) -> TaskUpdated:
    return TaskUpdated(
        path=path,
        task_status=status,
        archived=archive_path is not None,
        archive_path=archive_path,
        commit=None,
        unchanged=unchanged,
    )
