"""The command table's words: `Command`, `Argument` and `Flag`, as frozen values.

Everything that speaks about commands is derived from these values: the parser, the help, the
manifest, the shell completions, the reference in ``docs/cli.md`` and the suggestions for a
misspelt name. A command module declares its `Command` values and a ``run(call)``; nothing about
a command is stated twice. They are named tuples because the module `dataclasses` alone costs more
than starting Python.
"""

# No postponed annotations here: a named tuple compiles each that it gets as a string, which takes
# longer than all the rest of this module.
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import InvalidFlag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.cli.world import World

__all__ = ["GLOBAL_FLAGS", "Argument", "Call", "Command", "Flag", "Kind", "Noun", "Value"]

Value = str | int | float | bool | tuple[str, ...] | None
"""What a flag may hold once it has been read."""


class Kind(StrEnum):
    """How the text after a flag is read."""

    STRING = "string"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"


class Noun(StrEnum):
    """What a word names; a shell may offer what there is of it."""

    FILE = "file"
    """A file or folder on this machine."""
    MEMORY = "memory"
    """A memory. A call has its path within the store, however a shell spelled it."""
    TAG = "tag"
    ENTITY = "entity"
    WORKSPACE = "workspace"


class Argument(NamedTuple):
    """A word that stands by its place."""

    name: str
    summary: str
    required: bool = True
    repeatable: bool = False
    choices: tuple[str, ...] = ()
    noun: Noun | None = None


class Flag(NamedTuple):
    """A named option, without its dashes."""

    name: str
    summary: str
    kind: Kind = Kind.STRING
    metavar: str = ""
    """What help shows for the value, such as ``N`` or ``PATH``."""
    default: str | int | float | bool | None = None
    """The value when the flag is absent; None for none."""
    required: bool = False
    repeatable: bool = False
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    short: str = ""
    """A one-letter spelling, without its dash."""
    noun: Noun | None = None


class Command(NamedTuple):
    """One command: what it is called, takes, answers and is good for."""

    name: str
    """One or two words, such as ``search`` or ``index rebuild``."""
    summary: str
    response_types: tuple[str, ...]
    examples: tuple[str, ...]
    """Whole command lines that can be run as they stand."""
    description: str = ""
    """Further paragraphs for the help page; plain text."""
    arguments: tuple[Argument, ...] = ()
    flags: tuple[Flag, ...] = ()
    errors: tuple[str, ...] = ()
    """Codes this command answers with beyond the usage codes."""
    is_about_store: bool = True
    """Whether a hint to call it names the store that a failed call was about."""
    exit_statuses: tuple[tuple[int, str], ...] = (
        (0, "success"),
        (1, "it could not be done"),
        (2, "the call is wrong"),
    )

    @property
    def memories(self) -> tuple[str, ...]:
        """The arguments and flags that name memories."""
        return (
            *(argument.name for argument in self.arguments if argument.noun is Noun.MEMORY),
            *(flag.name for flag in self.flags if flag.noun is Noun.MEMORY),
        )

    @property
    def usage(self) -> str:
        """The call in one line, such as ``memhtml read <path> [flags]``."""
        words = ["memhtml", self.name]
        for argument in self.arguments:
            word = f"<{argument.name}>" if argument.required else f"[{argument.name}]"
            words.append(word + "…" if argument.repeatable else word)
        words += [f"--{f.name} <{f.metavar or f.kind}>" for f in self.flags if f.required]
        if any(not flag.required for flag in self.flags):
            words.append("[flags]")
        return " ".join(words)


class Call(NamedTuple):
    """A command line that has been read and found good, with the world it runs in."""

    command: Command
    values: "Mapping[str, Value]"
    """By argument and flag name, every one present, defaults included."""
    world: "World"

    def text(self, name: str) -> str:
        """Return a string that must be there: a required argument or flag, or one with a default.

        Raises:
            TypeError: the table says otherwise, which is a mistake in the table.
        """
        value = self.values[name]
        if not isinstance(value, str):
            raise TypeError(f"{name!r} holds {value!r}, not a string")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a string, or None when the flag was not given."""
        return None if self.values[name] is None else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return every value of a repeatable, in order."""
        value = self.values[name]
        if not isinstance(value, tuple):
            raise TypeError(f"{name!r} holds {value!r}, not a list")
        return value

    def is_on(self, name: str) -> bool:
        """Return a boolean flag."""
        return self.values[name] is True

    def integer(self, name: str) -> int:
        """Return an integer that must be there."""
        value = self.values[name]
        if not isinstance(value, int):
            raise TypeError(f"{name!r} holds {value!r}, not an integer")
        return value

    def optional_integer(self, name: str) -> int | None:
        """Return an integer, or None when the flag was not given."""
        return None if self.values[name] is None else self.integer(name)

    def optional_float(self, name: str) -> float | None:
        """Return a number, or None when the flag was not given."""
        value = self.values[name]
        if value is not None and not isinstance(value, (int, float)):
            raise TypeError(f"{name!r} holds {value!r}, not a number")
        return value

    def refuse(self, flag: str, reason: str) -> InvalidFlag:
        """Return the error that refuses the value of *flag*, with where to read on."""
        return InvalidFlag(
            f"--{flag}: {reason}", suggestions=(f"memhtml help {self.command.name}",)
        )


GLOBAL_FLAGS = (
    Flag(
        name="repo",
        metavar="folder",
        noun=Noun.FILE,
        summary="the store to work on; wins over MEMHTML_ROOT",
    ),
    Flag(name="json", kind=Kind.BOOLEAN, summary="answer with JSON, also on a terminal"),
    Flag(name="text", kind=Kind.BOOLEAN, summary="answer with text for people, also into a pipe"),
    Flag(
        name="dense",
        kind=Kind.BOOLEAN,
        summary="JSON on one line, without members that are null",
    ),
    Flag(
        name="pager",
        kind=Kind.BOOLEAN,
        default=True,
        summary="show a long answer in a pager on a terminal; --no-pager prints it",
    ),
    Flag(name="help", short="h", kind=Kind.BOOLEAN, summary="explain the command and stop"),
    Flag(name="version", kind=Kind.BOOLEAN, summary="print the version and stop"),
)
"""Flags that every command takes."""
