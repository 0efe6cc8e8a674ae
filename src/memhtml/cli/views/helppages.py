"""Help on a terminal: all commands on one page, or one command on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import GLOBAL_FLAGS
from memhtml.cli.commands import every_command
from memhtml.cli.guide import SUMMARY, flag_notes, see_also, spelling
from memhtml.cli.screen import columns, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.cli.command import Command, Flag
    from memhtml.cli.screen import Screen

__all__ = ["command_page", "overview"]


def overview(screen: Screen) -> str:
    """Return the page that ``memhtml help`` shows."""
    lines = [
        f"{screen.paint('memhtml', 'bold')}  {SUMMARY}",
        "",
        _heading("Usage", screen),
        "  memhtml <command> [flags]",
        "",
        _heading("Commands", screen),
        *_pairs(((c.name, c.summary) for c in every_command()), screen),
        "",
        _heading("Flags of every command", screen),
        *_flags(GLOBAL_FLAGS, screen),
        "",
        _heading("First steps", screen),
        "  memhtml init",
        "  memhtml write --title 'Gate hours' --type semantic --claim 'The gate opens at 06:30.'",
        "  memhtml search 'when does the gate open'",
        "",
        "memhtml help <command> explains one command.",
    ]
    return "\n".join(lines) + "\n"


def command_page(command: Command, screen: Screen) -> str:
    """Return the page that ``memhtml help <command>`` shows."""
    lines = [
        screen.paint(f"memhtml {command.name}", "bold"),
        *_prose(command.summary, screen),
        "",
        _heading("Usage", screen),
        *_prose(command.usage, screen, indent=2),
    ]
    for paragraph in command.description.split("\n\n") if command.description else ():
        lines += ["", *_prose(paragraph, screen)]
    if command.arguments:
        rows = ((f"<{a.name}>", a.summary) for a in command.arguments)
        lines += ["", _heading("Arguments", screen), *_pairs(rows, screen)]
    if command.flags:
        lines += ["", _heading("Flags", screen), *_flags(command.flags, screen)]
    lines += ["", _heading("Flags of every command", screen), *_flags(GLOBAL_FLAGS, screen)]
    statuses = ((str(status), meaning) for status, meaning in command.exit_statuses)
    lines += ["", _heading("Exit status", screen), *_pairs(statuses, screen)]
    lines += ["", _heading("Examples", screen), *(f"  {example}" for example in command.examples)]
    if others := see_also(command):
        lines += ["", _heading("See also", screen), *_prose(", ".join(others), screen, indent=2)]
    return "\n".join(lines) + "\n"


def _heading(text: str, screen: Screen) -> str:
    return screen.paint(text, "bold", "cyan")


def _prose(text: str, screen: Screen, *, indent: int = 0) -> list[str]:
    return [" " * indent + text[a:b] for a, b in wrap(text, screen.width - indent)]


def _pairs(rows: Iterable[tuple[str, str]], screen: Screen) -> list[str]:
    return columns(rows, indent=2, width=screen.width)


def _flags(flags: Iterable[Flag], screen: Screen) -> list[str]:
    return _pairs(((spelling(flag), flag_notes(flag)) for flag in flags), screen)
