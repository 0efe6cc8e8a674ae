"""The closed sets of the format, each stated once.

SQL checks, command-line choices, documentation and the checker are all derived from these
enumerations, so a word that is not here does not exist anywhere in memhtml.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "PERSON_RELS",
    "PROVENANCE_RELS",
    "TASK_RELS",
    "Bucket",
    "MemoryType",
    "Rel",
    "RelClass",
    "Status",
    "TaskStatus",
]


class MemoryType(StrEnum):
    """What kind of thing a memory is (seed §8, format-behaviour §2), in vocabulary order."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    AGENT_INSIGHT = "agent_insight"
    USER_PREFERENCE = "user_preference"
    ERROR_PATTERN = "error_pattern"
    VERDICT = "verdict"
    PRECEDENT = "precedent"
    ARC = "arc"
    TASK = "task"


class Status(StrEnum):
    """The life of a memory. A finished task is archived too; see `TaskStatus`."""

    ACTIVE = "active"
    ARCHIVED = "archived"


class TaskStatus(StrEnum):
    """Where a task stands: an axis of its own, beside `Status` (seed §8)."""

    TODO = "todo"
    DOING = "doing"
    BLOCKED = "blocked"
    DONE = "done"


class Bucket(StrEnum):
    """The four top folders that may hold memories; everything outside them is not a memory."""

    PROJECTS = "projects"
    AREAS = "areas"
    RESOURCES = "resources"
    ARCHIVE = "archive"


class RelClass(StrEnum):
    """The family of a relation, which decides what it may connect."""

    MEMORY = "memory"
    PERSON = "person"
    PROVENANCE = "provenance"
    TASK = "task"


class Rel(StrEnum):
    """A relation between two memories, in vocabulary order (format-behaviour §18)."""

    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    CAUSED_BY = "caused_by"
    LEADS_TO = "leads_to"
    PART_OF = "part_of"
    RELATES_TO = "relates_to"
    EXAMPLE_OF = "example_of"
    SUPPORTS = "supports"
    LATERALLY_RELATED = "laterally_related"
    ABOUT_PERSON = "about_person"
    AUTHORED_BY = "authored_by"
    FROM_SESSION = "from_session"
    BLOCKS = "blocks"
    SUBTASK_OF = "subtask_of"

    @property
    def rel_class(self) -> RelClass:
        """The family this relation belongs to."""
        if self in PERSON_RELS:
            return RelClass.PERSON
        if self in PROVENANCE_RELS:
            return RelClass.PROVENANCE
        if self in TASK_RELS:
            return RelClass.TASK
        return RelClass.MEMORY

    @property
    def token(self) -> str:
        """The ``rel`` token in HTML, such as ``memhtml-caused-by``."""
        return "memhtml-" + self.value.replace("_", "-")


PERSON_RELS = frozenset({Rel.ABOUT_PERSON, Rel.AUTHORED_BY})
PROVENANCE_RELS = frozenset({Rel.FROM_SESSION})
TASK_RELS = frozenset({Rel.BLOCKS, Rel.SUBTASK_OF})
