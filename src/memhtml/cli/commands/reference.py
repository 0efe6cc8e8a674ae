"""``memhtml help`` and ``memhtml manifest``: what there is to call, for people and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind
from memhtml.cli.commands import MODULES, command_named
from memhtml.cli.envelope import Success
from memhtml.cli.nearest import nearest
from memhtml.model.errors import UnexpectedArgument, UnknownCommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.cli.command import Call

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="manifest",
        summary="Describe every command, type, code and variable; needs no store.",
        description=(
            "With --schemas, the answer is a JSON Schema (2020-12) for the whole document of each "
            "response type, and for a failure, which is called error. Name types to have only "
            "theirs; as text, the schema of one type is printed as it is, ready for a file."
        ),
        arguments=(
            Argument(
                name="type",
                summary="with --schemas: a response type, or error",
                required=False,
                repeatable=True,
            ),
        ),
        flags=(
            Flag(
                name="brief",
                kind=Kind.BOOLEAN,
                summary="only how each command is called and what for: fit for an agent's context",
            ),
            Flag(name="schemas", kind=Kind.BOOLEAN, summary="answer with JSON Schemas"),
        ),
        is_about_store=False,
        response_types=("cli.manifest", "cli.brief", "cli.schemas"),
        examples=(
            "memhtml manifest --json",
            "memhtml manifest --brief --text",
            "memhtml manifest --schemas",
            "memhtml manifest --schemas memory.hits --text",
        ),
    ),
    Command(
        name="help",
        summary="Explain one command, or list them all; needs no store.",
        arguments=(
            Argument(name="command", summary="the command's name", required=False, repeatable=True),
        ),
        is_about_store=False,
        response_types=("cli.help", "cli.manifest"),
        errors=("ERR_UNKNOWN_COMMAND", "ERR_UNEXPECTED_ARGUMENT"),
        examples=("memhtml help", "memhtml help index rebuild"),
    ),
)


def run(call: Call) -> Success:
    """Answer with the whole contract, with that of one command, or with schemas."""
    if call.values.get("brief"):
        if call.values.get("schemas"):
            raise call.refuse("brief", "not with --schemas")
        return _brief()
    if call.values.get("schemas"):
        return _schemas(call.texts("type"))
    if call.values.get("type"):
        raise UnexpectedArgument(
            "a response type goes with --schemas", suggestions=("memhtml manifest --schemas",)
        )
    words = call.values.get("command")
    if not words:
        return _manifest()
    assert isinstance(words, tuple)  # noqa: S101 - the argument is repeatable
    return _help(words)


def _manifest() -> Success:
    from memhtml.cli.guide import manifest_json  # noqa: PLC0415 - imports every command
    from memhtml.cli.views.helppages import overview  # noqa: PLC0415 - as above

    return Success("cli.manifest", manifest_json(), overview)


def _brief() -> Success:
    from memhtml.cli.guide import brief_json, brief_text  # noqa: PLC0415 - imports every command

    return Success("cli.brief", brief_json(), lambda _: brief_text())


def _schemas(names: Sequence[str]) -> Success:
    import json  # noqa: PLC0415 - only here

    from memhtml.cli.schemas import DATA, ERROR, all_schemas  # noqa: PLC0415 - loads everything

    known = (*DATA, ERROR)
    for name in names:
        if name not in known:
            near = nearest(name, known)
            raise UnexpectedArgument(
                f"there is no response type {name!r}",
                suggestions=tuple(f"memhtml manifest --schemas {other}" for other in near)
                or ("memhtml manifest --schemas",),
            )
    schemas = all_schemas(names)
    shown = next(iter(schemas.values())) if len(names) == 1 else schemas
    return Success(
        "cli.schemas", {"schemas": {**schemas}}, lambda _: json.dumps(shown, indent=2) + "\n"
    )


def _help(words: Sequence[str]) -> Success:
    from memhtml.cli.guide import help_json  # noqa: PLC0415 - imports every command
    from memhtml.cli.views.helppages import command_page  # noqa: PLC0415 - as above

    command = _find(words)
    return Success("cli.help", help_json(command), lambda screen: command_page(command, screen))


def _find(words: Sequence[str]) -> Command:
    """Return the command that *words* name, all of them.

    Raises:
        UnknownCommand: there is none; a family's name alone suggests its members.
        UnexpectedArgument: there is one, with words left over.
    """
    for count in (2, 1):
        name = " ".join(words[:count])
        if name in MODULES:
            if len(words) > len(name.split()):
                raise UnexpectedArgument(
                    f"{words[len(name.split())]!r} is one word more than the command {name!r} has",
                    suggestions=(f"memhtml help {name}",),
                )
            return command_named(name)
    wanted = " ".join(words)
    members = [name for name in MODULES if name.split()[0] == words[0]]
    meant = members or nearest(wanted, MODULES)
    raise UnknownCommand(
        f"there is no command {wanted!r}",
        suggestions=(*(f"memhtml help {name}" for name in meant), "memhtml help"),
    )
