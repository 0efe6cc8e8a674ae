"""What a tool is: a declaration and one function over the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.mcpserver.schema import faults, present
from memhtml.model.errors import InvalidFlag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memhtml.answers.schema import Schema
    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse

__all__ = ["Tool", "check"]


class Tool(NamedTuple):
    """One tool. What it may do to the store is told truthfully; its world is always closed."""

    name: str
    title: str
    about: str
    takes: Schema
    gives: Schema
    run: Callable[[Corpus, Mapping[str, Any], Pulse], dict[str, Any]]
    """Gets checked arguments, without those that were null."""
    reads_only: bool = False
    is_destructive: bool = False
    """It changes or moves what is there; git keeps the past, but a reader finds another present."""
    is_idempotent: bool = False
    """Doing it again with the same arguments changes nothing more."""
    needs_index: bool = True
    """It asks the index, so the first call may have to wait until there is one."""
    quotes: bool = False
    """Its answer has words of memories in it, so they are fenced."""


def check(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return *arguments* without what is null in them.

    Raises:
        InvalidFlag: Something is wrong with them; everything that is, with its name.
    """
    given: dict[str, Any] = present(arguments)
    if found := faults(tool.takes, given):
        raise InvalidFlag(f"{tool.name}: {'; '.join(found)}")
    return given
