"""One thing that is not as it should be, and the closed list of what such a thing can be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memhtml.format.edit import Edit

__all__ = ["CODES", "DoctorCode", "Finding", "Gravity"]


class Gravity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """The store is not healthy: something cannot be found, read, or written."""
    WARNING = "warning"
    """Worth mending; nothing is lost by waiting."""
    NOTE = "note"
    """Worth knowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding about one store."""

    code: str
    message: str
    path: str | None = None
    """The file it is about, relative to the root; None for the store as a whole."""
    line: int | None = None
    column: int | None = None
    edits: tuple[Edit, ...] = ()
    """Head edits of the file at *path* that mend it, content untouched."""
    other_fix: str | None = None
    """What else ``--fix`` does about it: ``recover``, ``rebuild`` or ``register``."""
    hint: str | None = None
    """What a person can do, as a command or a sentence."""

    @property
    def gravity(self) -> Gravity:
        """How much it matters, which its code decides."""
        return CODES[self.code].gravity

    @property
    def is_fixable(self) -> bool:
        """Whether ``--fix`` mends it."""
        return bool(self.edits) or self.other_fix is not None


class DoctorCode(NamedTuple):
    """One kind of finding."""

    gravity: Gravity
    summary: str


CODES: dict[str, DoctorCode] = {
    "memory-invalid": DoctorCode(
        Gravity.ERROR, "a file among the memories breaks the format, so no search finds it"
    ),
    "not-a-file": DoctorCode(
        Gravity.ERROR, "a link, a folder or an unreadable file stands where a memory may"
    ),
    "name-unusable": DoctorCode(
        Gravity.ERROR, "a file among the memories has a name that no memory can have"
    ),
    "name-collision": DoctorCode(
        Gravity.ERROR, "two paths are one on a file system that ignores case or accents' spelling"
    ),
    "index-drift": DoctorCode(
        Gravity.ERROR, "the index says something else than the files after being brought up to date"
    ),
    "crash-leftover": DoctorCode(
        Gravity.ERROR, "a process died while writing and left a lock or an unfinished commit"
    ),
    "link-dangling": DoctorCode(Gravity.ERROR, "a memory links to a path where nothing stands"),
    "repository-state": DoctorCode(
        Gravity.ERROR, "the repository is in a state in which nothing can be written"
    ),
    "name-not-portable": DoctorCode(Gravity.WARNING, "a name that some file systems cannot hold"),
    "memory-warning": DoctorCode(Gravity.WARNING, "a warning of the checker"),
    "hash-stale": DoctorCode(
        Gravity.WARNING, "the content hash that a file states is not that of its article"
    ),
    "status-misplaced": DoctorCode(
        Gravity.WARNING, "a file's status and its place, archive or not, disagree"
    ),
    "duplicate-content": DoctorCode(Gravity.WARNING, "two active memories say exactly the same"),
    "answer-not-found": DoctorCode(
        Gravity.WARNING, "a memory is not among the first hits for a question it says it answers"
    ),
    "merge-driver-missing": DoctorCode(
        Gravity.WARNING, "git does not know how to merge memories in this clone"
    ),
    "sleep-run-interrupted": DoctorCode(
        Gravity.WARNING, "a run of sleep was interrupted, or has waited for review for two weeks"
    ),
    "value-dropped": DoctorCode(
        Gravity.NOTE, "a number in a head could not be used, so the default holds"
    ),
    "answers-not-asked": DoctorCode(
        Gravity.NOTE,
        "more questions that memories say they answer than are asked without --answers",
    ),
    "identity-missing": DoctorCode(
        Gravity.NOTE, "git has no name for you, so commits bear a stand-in"
    ),
    "uncommitted": DoctorCode(Gravity.NOTE, "a change of a memory that is not committed"),
    "task-overdue": DoctorCode(Gravity.NOTE, "a task is past its day"),
    "blocker-gone": DoctorCode(Gravity.NOTE, "a task waits for another that is finished or gone"),
    "entity-untyped": DoctorCode(Gravity.NOTE, "an entity without a type before its name"),
    "inbox-crowded": DoctorCode(Gravity.NOTE, "many memories wait in the inbox for a better place"),
}
"""Every kind of finding, gravest first; `docs/doctor.md` has a section for each."""
