"""A toolset for Pydantic AI: ``Agent(…, toolsets=[memory_toolset(corpus)])``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai import FunctionToolset

from memhtml.adapters.tools import INSTRUCTIONS, MemoryTools

if TYPE_CHECKING:
    from memhtml.corpus import Corpus

__all__ = ["memory_toolset"]


def memory_toolset(
    corpus: Corpus,
    *,
    author: str | None = None,
    session_id: str | None = None,
    workspace: str | None = None,
    read_only: bool = False,
) -> FunctionToolset[object]:
    """Return the tools over *corpus*, or only those that change nothing, with their instructions.

    *author*, *session_id* and *workspace* are those of `MemoryTools`.
    """
    tools = MemoryTools(corpus, author=author, session_id=session_id, workspace=workspace)
    return FunctionToolset(
        list(tools.reading if read_only else tools.all),
        docstring_format="google",
        require_parameter_descriptions=True,
        id="memhtml",
        instructions=INSTRUCTIONS,
    )
