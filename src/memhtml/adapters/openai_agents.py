"""Tools for the OpenAI Agents SDK: ``Agent(instructions=…, tools=memory_tools(corpus))``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents import function_tool

from memhtml.adapters.tools import INSTRUCTIONS, MemoryTools

if TYPE_CHECKING:
    from agents import Tool

    from memhtml.corpus import Corpus

__all__ = ["INSTRUCTIONS", "memory_tools"]


def memory_tools(
    corpus: Corpus,
    *,
    author: str | None = None,
    session_id: str | None = None,
    workspace: str | None = None,
    read_only: bool = False,
) -> list[Tool]:
    """Return the tools over *corpus*, or only those that change nothing.

    *author*, *session_id* and *workspace* are those of `MemoryTools`.
    """
    tools = MemoryTools(corpus, author=author, session_id=session_id, workspace=workspace)
    wanted = tools.reading if read_only else tools.all
    return [function_tool(tool, docstring_style="google") for tool in wanted]
