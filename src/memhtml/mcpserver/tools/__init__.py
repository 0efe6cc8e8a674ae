"""The tools, one module a group, in the order in which clients list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.mcpserver.tools import (
    change,
    look,
    many,
    recall,
    record,
    state,
    survey,
    tasks,
    traces,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.mcpserver.tool import Tool

__all__ = ["TOOLS", "TOOL_NAMED"]

TOOLS: tuple[Tool, ...] = (
    look.SEARCH,
    recall.RECALL,
    look.READ,
    look.HISTORY,
    recall.SIMILAR,
    survey.LIST,
    survey.NEIGHBORS,
    survey.RESOLVE,
    record.WRITE,
    many.WRITE_BATCH,
    change.CORRECT,
    change.LINK,
    change.ARCHIVE,
    change.UNARCHIVE,
    change.REINFORCE,
    tasks.ADD,
    tasks.STATUS,
    tasks.LIST,
    traces.SEARCH,
    traces.LINKS_OF,
    state.CHECK,
    state.STATUS,
)

TOOL_NAMED: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
