"""The commands, one module a group, found by name without importing the others."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from memhtml.cli.command import Call, Command
    from memhtml.cli.envelope import Success

__all__ = ["MODULES", "CommandModule", "command_named", "every_command", "run"]

MODULES = {
    "init": "store",
    "write": "memory",
    "new": "new",
    "read": "memory",
    "open": "browse",
    "search": "search",
    "recall": "search",
    "similar": "search",
    "list": "lists",
    "entities": "lists",
    "entity activity": "lists",
    "tags": "lists",
    "resolve": "graph",
    "neighbors": "graph",
    "route": "graph",
    "reinforce": "state",
    "apply": "batch",
    "correct": "changes",
    "edit": "edit",
    "archive": "changes",
    "unarchive": "changes",
    "link": "changes",
    "unlink": "changes",
    "history": "history",
    "blame": "history",
    "log": "log",
    "diff": "log",
    "sleep run": "sleep",
    "sleep resume": "sleep",
    "sleep review": "sleep",
    "sleep merge": "sleep",
    "sleep drop": "sleep",
    "sleep undo": "sleep",
    "sleep status": "sleep",
    "sleep plan": "sleep",
    "check": "check",
    "detect": "detect",
    "status": "store",
    "index rebuild": "index",
    "index update": "index",
    "index embed": "index",
    "index status": "index",
    "task add": "tasks",
    "task status": "tasks",
    "task reopen": "tasks",
    "task list": "lists",
    "model list": "models",
    "model add": "models",
    "model remove": "models",
    "model verify": "models",
    "state export": "state",
    "state import": "state",
    "trace index": "traces",
    "trace search": "traces",
    "trace links": "traces",
    "doctor": "upkeep",
    "eval": "evals",
    "eval answers": "evals",
    "publish": "upkeep",
    "import": "transfer",
    "export": "transfer",
    "sync": "history",
    "merge-driver": "history",
    "serve mcp": "serve",
    "manifest": "reference",
    "help": "reference",
    "completion": "completion",
    "complete": "complete",
}
"""The module that declares each command, in the order in which help lists them."""


class CommandModule(Protocol):
    """What every module of this package is."""

    COMMANDS: tuple[Command, ...]

    def run(self, call: Call) -> Success:
        """Do what *call* asks and return the answer."""


def command_named(name: str) -> Command:
    """Return the declaration of a command, importing its module and no other."""
    return next(command for command in _module(name).COMMANDS if command.name == name)


def every_command() -> tuple[Command, ...]:
    """Return every command, in help's order. Imports them all."""
    return tuple(map(command_named, MODULES))


def run(call: Call) -> Success:
    """Run *call* in the module that declares its command."""
    return _module(call.command.name).run(call)


def _module(name: str) -> CommandModule:
    return cast("CommandModule", import_module(f"memhtml.cli.commands.{MODULES[name]}"))
