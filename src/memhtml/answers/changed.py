"""What a change to the store answers: written, corrected, archived, linked, tasks, signals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import COMMIT, STRING, choice, items, maybe, record, switch, text
from memhtml.model.vocabulary import TaskStatus

if TYPE_CHECKING:
    from memhtml.index.usage import Reinforced
    from memhtml.model.changes import Archived, Linked, TaskUpdated, Unarchived
    from memhtml.model.memory import Draft, Written

__all__ = [
    "ARCHIVED",
    "LINKED",
    "REINFORCED",
    "TASK_STATUS",
    "TASK_UPDATED",
    "TASK_WRITTEN",
    "WRITTEN",
    "archived",
    "linked",
    "reinforced",
    "task_updated",
    "task_written",
    "written",
]

TASK_STATUS = choice("Where the task stands.", TaskStatus)

WRITTEN = record(
    "A memory that was written, or was there already.",
    {
        "path": text("Where the memory is."),
        "created": switch("This call made it."),
        "deduped": switch("It was there already, and nothing was written."),
        "existing_path": maybe(text("The memory that says it already.")),
        "commit_sha": COMMIT,
        "content_hash": text("Hash of what the memory says."),
        "near_duplicates": items("Memories that say nearly the same.", STRING),
    },
)


def written(done: Written) -> dict[str, Any]:
    """Return `WRITTEN`."""
    return {
        "path": done.path,
        "created": done.created,
        "deduped": done.deduped,
        "existing_path": done.existing_path,
        "commit_sha": done.commit,
        "content_hash": done.content_hash,
        "near_duplicates": list(done.near_duplicates),
    }


TASK_WRITTEN = record(
    "A task that was added, or was there already.",
    {
        "path": text("Where the task is."),
        "created": switch("This call made it."),
        "deduped": switch("It was there already, and nothing was written."),
        "existing_path": maybe(text("The task that says it already.")),
        "task_status": TASK_STATUS,
        "due_at": maybe(text("When it is due.")),
        "commit_sha": COMMIT,
    },
)


def task_written(done: Written, draft: Draft) -> dict[str, Any]:
    """Return `TASK_WRITTEN`."""
    return {
        "path": done.path,
        "created": done.created,
        "deduped": done.deduped,
        "existing_path": done.existing_path,
        "task_status": draft.task_status or TaskStatus.TODO,
        "due_at": draft.due_at,
        "commit_sha": done.commit,
    }


TASK_UPDATED = record(
    "A task whose status was set.",
    {
        "path": text("Where the task stands, or stood, among the active ones."),
        "task_status": TASK_STATUS,
        "archived": switch("It is in the archive now."),
        "archive_path": maybe(text("Where in the archive.")),
        "commit_sha": COMMIT,
        "unchanged": switch("It had that status already."),
    },
)


def task_updated(done: TaskUpdated) -> dict[str, Any]:
    """Return `TASK_UPDATED`."""
    return {
        "path": done.path,
        "task_status": done.task_status,
        "archived": done.archived,
        "archive_path": done.archive_path,
        "commit_sha": done.commit,
        "unchanged": done.unchanged,
    }


ARCHIVED = record(
    "A memory that moved to the archive or back.",
    {
        "path": text("Where it stands, or stood, among the active ones."),
        "archive_path": text("Where it is, or was, in the archive."),
        "commit_sha": COMMIT,
    },
)


def archived(done: Archived | Unarchived) -> dict[str, Any]:
    """Return `ARCHIVED`."""
    return {"path": done.path, "archive_path": done.archive_path, "commit_sha": done.commit}


LINKED = record(
    "An edge that is there now, or is gone.",
    {
        "src_path": text("Where it starts."),
        "rel": text("The relation."),
        "dst_path": text("Where it ends."),
        "commit_sha": maybe(text("The commit; null when it was so already.")),
    },
)


def linked(done: Linked) -> dict[str, Any]:
    """Return `LINKED`."""
    return {
        "src_path": done.src,
        "rel": done.rel,
        "dst_path": done.dst,
        "commit_sha": done.commit,
    }


REINFORCED = record(
    "For which memories a signal counted.",
    {
        "bumped": items("Those for which it counted in full.", STRING),
        "capped": items("Those praised or blamed too often in a row to count.", STRING),
        "cooled_down": items("Those opened again so soon that it is no news.", STRING),
        "signal": choice("What was said of them.", ("positive", "negative", "neutral")),
    },
)


def reinforced(done: Reinforced) -> dict[str, Any]:
    """Return `REINFORCED`."""
    return {
        "bumped": list(done.bumped),
        "capped": list(done.capped),
        "cooled_down": list(done.cooled_down),
        "signal": done.signal.value,
    }
