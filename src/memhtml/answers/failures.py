"""What a caller is told when a call fails: a stable code, a sentence, and what to try next.

Our errors suggest commands of the command line. An agent at this door has tools instead, so
advice for it stands here, by code, and a command is passed on only as something to ask the user.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import MemhtmlError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ADVICE", "Failure", "failure_of"]

logger = logging.getLogger(__name__)

ADVICE: Mapping[str, tuple[str, ...]] = {
    "ERR_PATH_NOT_FOUND": ("memory_search with a few words of it",),
    "ERR_INVALID_FLAG": ("compare the arguments with the tool's input schema",),
    "ERR_INVALID_MEMORY": ("mend what is named and call again; nothing was written",),
    "ERR_DUPLICATE_CONTENT": (
        "memory_read the memory that says it already",
        "memory_archive the one that is outdated",
    ),
    "ERR_WRITE_CONFLICT": (
        "memory_read what stands there now",
        "memory_correct it with expect set to its sha",
    ),
    "ERR_BUSY": ("call again in a moment; nothing was changed",),
    "ERR_STORAGE": ("memory_status",),
    "ERR_GIT": ("memory_status",),
}
"""What to try, by code, where the error itself has nothing that fits a tool's caller."""

_FOR_THE_USER = frozenset({"ERR_NOT_A_STORE", "ERR_INDEX_STALE", "ERR_MODEL_UNAVAILABLE"})
"""Only a command can mend these."""


class Failure(NamedTuple):
    """A refusal or an accident."""

    code: str
    error: str
    suggestions: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """All of it in one line, for who reads text."""
        advice = f" Try: {'; '.join(self.suggestions)}" if self.suggestions else ""
        return f"{self.code}: {self.error}{advice}"


def failure_of(error: Exception) -> Failure:
    """Return how *error* is told. What is not ours on purpose is logged and told as our fault."""
    if isinstance(error, MemhtmlError):
        return Failure(error.code, error.message, _suggestions(error))
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return Failure("ERR_STORAGE", reason, ADVICE["ERR_STORAGE"])
    logger.error("a call failed", exc_info=error)
    return Failure(
        "ERR_UNKNOWN",
        f"memhtml failed ({type(error).__name__}); the server's log has the traceback",
    )


def _suggestions(error: MemhtmlError) -> tuple[str, ...]:
    if error.code in _FOR_THE_USER:
        return tuple(f"ask the user to run: {command}" for command in error.suggestions)
    fitting = tuple(
        advice for advice in error.suggestions if not advice.startswith(("memhtml ", "--", "git "))
    )
    return fitting or ADVICE.get(error.code, ())
