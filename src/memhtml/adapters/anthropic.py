"""The memory tool of Anthropic's SDK, whose files are memories.

Give it to the SDK's tool runner. Claude sees text files under ``/memories``; each is a memory below
one folder of the store, which search, history and every other door find like any other. What is
replaced stays in the history, and what is deleted in the archive. The answers are worded as the
tool's documentation words them, line numbers included, so they have no fence of ours.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)
from pydantic import ValidationError

from memhtml.adapters.textfiles import Refused, TextFiles, answer_of
from memhtml.model.errors import MemhtmlError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anthropic.lib.tools import BetaFunctionToolResultType
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818Command,
    )

    from memhtml.corpus import Corpus

__all__ = ["FOLDER", "AsyncMemoryTool", "MemoryTool"]

FOLDER = "areas/claude"
"""Where the files stand in the store, if no other folder is named."""

T = TypeVar("T")

_COMMANDS: Mapping[str, type[BetaMemoryTool20250818Command]] = {
    "view": BetaMemoryTool20250818ViewCommand,
    "create": BetaMemoryTool20250818CreateCommand,
    "str_replace": BetaMemoryTool20250818StrReplaceCommand,
    "insert": BetaMemoryTool20250818InsertCommand,
    "delete": BetaMemoryTool20250818DeleteCommand,
    "rename": BetaMemoryTool20250818RenameCommand,
}


class MemoryTool(BetaAbstractMemoryTool):
    """The tool for ``client.beta.messages.tool_runner``; the corpus is closed by the caller."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        folder: str = FOLDER,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = TextFiles(corpus, folder)

    def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002 - the SDK's name
        """Carry out a command as the model states it.

        Raises:
            ToolError: It is none, or was refused; the model is told why.
        """
        return self.execute(_command(input))

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or a folder."""
        return _told(lambda: self._files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return _told(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once."""
        return _told(
            lambda: self._files.str_replace(command.path, command.old_str, command.new_str)
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines."""
        return _told(
            lambda: self._files.insert(command.path, command.insert_line, command.insert_text)
        )

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Archive a file or a folder."""
        return _told(lambda: self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return _told(lambda: self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Archive every file."""
        return _told(self._files.clear)


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for the runner of an ``AsyncAnthropic`` client; a worker thread does the work."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        folder: str = FOLDER,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = MemoryTool(corpus, folder=folder)

    async def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002 - as above
        """Carry out a command as the model states it.

        Raises:
            ToolError: It is none, or was refused; the model is told why.
        """
        return await self.execute(_command(input))

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or a folder."""
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once."""
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines."""
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Archive a file or a folder."""
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Archive every file."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _command(stated: object) -> BetaMemoryTool20250818Command:
    name = stated.get("command") if isinstance(stated, dict) else None
    kind = _COMMANDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ToolError(f"Error: `command` is one of {', '.join(_COMMANDS)}, not {name!r}")
    try:
        return kind.model_validate(stated)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False)
        told = "; ".join(f"`{'.'.join(map(str, f['loc']))}`: {f['msg']}" for f in faults)
        raise ToolError(f"Error: Invalid {name} command: {told}") from error


def _told(do: Callable[[], T]) -> T:
    """Return what *do* returns, or tell the model why not.

    Raises:
        ToolError: What the model is told.
    """
    try:
        return do()
    except Refused as refusal:
        raise ToolError(str(refusal)) from refusal
    except MemhtmlError as error:
        raise ToolError(answer_of(error)) from error
