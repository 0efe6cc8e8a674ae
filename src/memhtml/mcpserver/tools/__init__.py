"""The tools, one module a group, in the order in which clients list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.mcpserver.tools import change, look, many, record, state, tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.mcpserver.tool import Tool

__all__ = ["TOOLS", "TOOL_NAMED"]

TOOLS: tuple[Tool, ...] = (
    look.SEARCH,
    look.READ,
    look.HISTORY,
    record.WRITE,
    many.WRITE_BATCH,
    change.CORRECT,
    change.LINK,
    change.ARCHIVE,
    change.UNARCHIVE,
    change.REINFORCE,
    tasks.ADD,
    tasks.STATUS,
    state.CHECK,
    state.STATUS,
)

TOOL_NAMED: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
