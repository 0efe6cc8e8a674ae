"""Words of a command line in, one checked `Call` out, or the first thing that is wrong with them.

The grammar is small and is the table's: flags stand anywhere, ``--flag value`` and
``--flag=value`` are the same, a value may start with one dash, ``--no-flag`` and
``--flag=false`` switch a boolean off, and ``--`` ends the flags. ``argparse`` is not used: it
takes a value that starts with a dash for a flag, has no such booleans, and reports mistakes in
an order and a form that callers cannot branch on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memhtml.cli.command import GLOBAL_FLAGS, Kind
from memhtml.cli.commands import MODULES, command_named, every_command
from memhtml.model.errors import (
    InvalidFlag,
    MissingArgument,
    UnexpectedArgument,
    UnknownCommand,
    UsageError,
)
from memhtml.model.shell import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memhtml.cli.command import Command, Flag, Value

__all__ = ["Parsed", "parse"]

_TRUE = frozenset({"true", "1", "yes"})
_FALSE = frozenset({"false", "0", "no"})
_INTEGER_RE = re.compile(r"[+-]?[0-9]{1,18}")
_FLOAT_RE = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_SHORT_RE = re.compile(r"-[A-Za-z]+")
_LONGEST_ECHO = 160


class Parsed(NamedTuple):
    """What the words said."""

    command: Command | None
    """None when no command was named."""
    values: Mapping[str, Value]


class _Given(NamedTuple):
    """One flag as it was written."""

    flag: Flag | None
    """None when nobody knows it."""
    spelling: str
    value: str | None
    is_negated: bool
    stray: str | None
    """A word after a boolean that looks like a value for it."""


def parse(argv: Sequence[str]) -> Parsed:
    """Read *argv*, without the program's name.

    With ``--help`` nothing but the command's name is checked, so that help is always to be had.

    Raises:
        UsageError: the first mistake, in the order unknown flag, stray boolean value, surplus
            words, missing words, missing flags, unreadable values.
    """
    name, surplus = _find_command(argv)
    if name is None:
        given, positionals = _split(argv, GLOBAL_FLAGS)
        if positionals and not surplus:
            raise _unknown_command(positionals, argv)
        command = None
    else:
        command = command_named(name)
        given, positionals = _split(argv, (*command.flags, *GLOBAL_FLAGS))
        positionals = positionals[len(name.split()) :]
    try:
        return Parsed(command, _values(command, given, positionals, argv))
    except UsageError as error:
        error.suggestions = (*error.suggestions, f"memhtml help {name}" if name else "memhtml help")
        raise


def _find_command(argv: Sequence[str]) -> tuple[str | None, bool]:
    """Return the command's name, or None and whether the line has no words at all."""
    flags: Iterable[Flag] = GLOBAL_FLAGS
    first = next((word for word in argv if not word.startswith("-")), None)
    lead = argv[: argv.index(first)] if first is not None else argv
    if any(_lookup(word, GLOBAL_FLAGS).flag is None for word in lead if word.startswith("--")):
        # Whether the word after it is its value depends on whose flag it is: ask them all.
        flags = (*GLOBAL_FLAGS, *(flag for command in every_command() for flag in command.flags))
    _, words = _split(argv, flags)
    for count in (2, 1):
        name = " ".join(words[:count])
        if len(words) >= count and name in MODULES:
            return name, False
    return None, not words


def _split(argv: Sequence[str], flags: Iterable[Flag]) -> tuple[list[_Given], list[str]]:
    """Sort *argv* into flags with their values, and the other words."""
    given: list[_Given] = []
    words: list[str] = []
    flags = tuple(flags)
    place = 0
    while place < len(argv):
        word = argv[place]
        place += 1
        if word == "--":
            words += argv[place:]
            break
        if not word.startswith("--") and not _SHORT_RE.fullmatch(word):
            words.append(word)
            continue
        found = _lookup(word, flags)
        following = argv[place] if place < len(argv) else None
        if found.flag is not None and found.value is None and following is not None:
            if found.flag.kind is Kind.BOOLEAN:
                if following.lower() in _TRUE | _FALSE:
                    found = found._replace(stray=following)
                    place += 1
            elif not following.startswith("--") and not found.is_negated:
                found = found._replace(value=following)
                place += 1
        given.append(found)
    return given, words


def _lookup(word: str, flags: Iterable[Flag]) -> _Given:
    """Return which of *flags* a written ``--word`` or ``-w`` is, with a value after ``=``."""
    spelling, equals, value = word.partition("=")
    name = spelling.removeprefix("--")
    for flag in flags:
        if spelling == f"--{flag.name}" or (flag.short and spelling == f"-{flag.short}"):
            return _Given(flag, spelling, value if equals else None, False, None)
        if flag.kind is Kind.BOOLEAN and name == f"no-{flag.name}":
            return _Given(flag, spelling, value if equals else None, True, None)
    return _Given(None, spelling, value if equals else None, False, None)


def _values(
    command: Command | None, given: list[_Given], positionals: list[str], argv: Sequence[str]
) -> dict[str, Value]:
    """Check everything in the order callers rely on, and return the values with defaults."""
    flags = (*(command.flags if command else ()), *GLOBAL_FLAGS)
    if any(g.flag is not None and g.flag.name == "help" for g in given):
        return {**_defaults(flags), "help": True}
    for item in given:
        if item.flag is None:
            raise _unknown_flag(item, command, flags, argv)
    for item in given:
        if item.stray is not None:
            raise InvalidFlag(
                f"{item.spelling} is a switch and takes no separate value: "
                f"write {item.spelling}={item.stray}, or leave {item.stray!r} out"
            )
    if command and len(positionals) > _most_words(command):
        raise _surplus(command, given, positionals[len(command.arguments) :], argv)
    arguments = _place(command, positionals) if command else {}
    if command:
        for flag in command.flags:
            if flag.required and not any(g.flag is flag for g in given):
                raise MissingArgument(f"--{flag.name} is missing: {flag.summary}")
    return {**_defaults(flags), **arguments, **_read(given)}


def _most_words(command: Command) -> float:
    takes_rest = any(argument.repeatable for argument in command.arguments)
    return float("inf") if takes_rest else len(command.arguments)


def _place(command: Command, positionals: list[str]) -> dict[str, Value]:
    """Give each positional word to the argument it stands for."""
    values: dict[str, Value] = {}
    rest = list(positionals)
    for argument in command.arguments:
        taken = rest if argument.repeatable else rest[:1]
        rest = rest[len(taken) :]
        if argument.required and not taken:
            raise MissingArgument(f"<{argument.name}> is missing: {argument.summary}")
        for word in taken:
            if argument.choices and word not in argument.choices:
                raise _not_a_choice(f"<{argument.name}>", word, argument.choices)
        if argument.repeatable:
            values[argument.name] = tuple(taken)
        else:
            values[argument.name] = taken[0] if taken else None
    return values


def _defaults(flags: Iterable[Flag]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for flag in flags:
        if flag.repeatable:
            values[flag.name] = ()
        else:
            values[flag.name] = False if flag.kind is Kind.BOOLEAN else None
            if flag.default is not None:
                values[flag.name] = flag.default
    return values


def _read(given: Iterable[_Given]) -> dict[str, Value]:
    """Read the values: the last of a single flag wins, a repeatable collects what is not blank."""
    values: dict[str, Value] = {}
    for item in given:
        flag = item.flag
        if flag is None:
            continue
        if flag.kind is Kind.BOOLEAN:
            values[flag.name] = _boolean(item)
        elif item.value is None:
            raise MissingArgument(
                f"{item.spelling} needs a value"
                f"; one that starts with two dashes is written {item.spelling}=--value"
            )
        elif flag.repeatable:
            before = values.get(flag.name, ())
            assert isinstance(before, tuple)  # noqa: S101 - only this branch fills a repeatable
            if item.value.strip():
                _check_choice(flag, item.value)
                values[flag.name] = (*before, item.value)
        else:
            values[flag.name] = _single(flag, item.value)
    return values


def _boolean(item: _Given) -> bool:
    word = "true" if item.value is None else item.value.lower()
    if word not in _TRUE | _FALSE or (item.is_negated and item.value is not None):
        raise InvalidFlag(f"{item.spelling} takes only =true or =false, not {item.value!r}")
    return (word in _TRUE) is not item.is_negated


def _single(flag: Flag, text: str) -> Value:
    if flag.kind is Kind.STRING:
        _check_choice(flag, text)
        return text
    pattern = _INTEGER_RE if flag.kind is Kind.INTEGER else _FLOAT_RE
    number = text.strip()
    value = (
        (int if flag.kind is Kind.INTEGER else float)(number) if pattern.fullmatch(number) else None
    )
    if (
        value is None
        or (flag.minimum is not None and value < flag.minimum)
        or (flag.maximum is not None and value > flag.maximum)
    ):
        raise InvalidFlag(f"--{flag.name} takes {_expected(flag)}, not {text!r}")
    return value


def _expected(flag: Flag) -> str:
    what = "a whole number" if flag.kind is Kind.INTEGER else "a number"
    if flag.minimum is not None and flag.maximum is not None:
        return f"{what} from {flag.minimum:g} to {flag.maximum:g}"
    if flag.minimum is not None:
        return f"{what} of at least {flag.minimum:g}"
    return what


def _check_choice(flag: Flag, text: str) -> None:
    if flag.choices and text not in flag.choices:
        raise _not_a_choice(f"--{flag.name}", text, flag.choices)


def _not_a_choice(where: str, text: str, choices: Sequence[str]) -> InvalidFlag:
    from memhtml.cli.nearest import nearest  # noqa: PLC0415 - only on the way to a message

    meant = nearest(text, choices, most=1)
    return InvalidFlag(
        f"{where} takes one of {', '.join(choices)}, not {text!r}"
        + (f"; did you mean {meant[0]}?" if meant else "")
    )


def _unknown_flag(
    item: _Given, command: Command | None, flags: Sequence[Flag], argv: Sequence[str]
) -> InvalidFlag:
    from memhtml.cli.nearest import nearest  # noqa: PLC0415 - only on the way to a message

    name = item.spelling.lstrip("-")
    whose = f"memhtml {command.name}" if command else "memhtml"
    having = [c.name for c in every_command() if any(f.name == name for f in c.flags)]
    if not item.spelling.startswith("--"):
        return InvalidFlag(
            f"{whose} has no flag {item.spelling}; a word that starts with a dash goes after --"
        )
    if having:
        return InvalidFlag(f"{whose} has no flag --{name}; it belongs to {', '.join(having)}")
    meant = nearest(name, [flag.name for flag in flags])
    return InvalidFlag(
        f"{whose} has no flag --{name}"
        + (f"; did you mean {' or '.join('--' + m for m in meant)}?" if meant else ""),
        suggestions=_corrected(argv, item.spelling, ["--" + m for m in meant]),
    )


def _surplus(
    command: Command, given: list[_Given], extra: Sequence[str], argv: Sequence[str]
) -> UnexpectedArgument:
    """Say which word is too many, and which flag that is missing it was perhaps meant for."""
    text = " ".join(extra)
    lacking = (f for f in command.flags if f.required and not any(g.flag is f for g in given))
    meant = next((f for f in lacking if not f.choices or text in f.choices), None)
    told = f"{extra[0]!r} is one word more than {command.name!r} takes"
    if meant is None or len(text) > _LONGEST_ECHO or text.startswith("--"):
        hint = "; put words with spaces between quotes" if command.arguments else ""
        return UnexpectedArgument(told + hint)
    line = _line([*_without(argv, extra), f"--{meant.name}", text])
    return UnexpectedArgument(
        f"{told}; did you mean --{meant.name} {quoted(text)}?",
        suggestions=(line,) if line else (),
    )


def _without(argv: Sequence[str], extra: Sequence[str]) -> list[str]:
    """Return *argv* without the words *extra*, each taken away where it stands last."""
    words = list(argv)
    for word in extra:
        del words[len(words) - 1 - words[::-1].index(word)]
    return words


def _unknown_command(words: Sequence[str], argv: Sequence[str]) -> UnknownCommand:
    from memhtml.cli.nearest import nearest  # noqa: PLC0415 - only on the way to a message

    family = [name for name in MODULES if name.startswith(words[0] + " ")]
    if family:
        rest = [name.split()[1] for name in family]
        if len(words) == 1:
            return UnknownCommand(
                f"{words[0]!r} needs a second word: {', '.join(rest)}",
                suggestions=[f"memhtml {name}" for name in family],
            )
        meant = nearest(words[1], rest) or tuple(rest)
        return UnknownCommand(
            f"there is no command {' '.join(words[:2])!r}",
            suggestions=[f"memhtml {words[0]} {word}" for word in meant],
        )
    meant = nearest(words[0], dict.fromkeys(name.split()[0] for name in MODULES))
    pairs = nearest(" ".join(words[:2]), [name for name in MODULES if " " in name], most=1)
    return UnknownCommand(
        f"there is no command {words[0]!r}"
        + (f"; did you mean {' or '.join(meant)}?" if meant else ""),
        suggestions=(
            *_corrected(argv, words[0], [word for word in meant if word in MODULES]),
            *(f"memhtml {name}" for name in pairs if not any(m in MODULES for m in meant)),
            "memhtml help",
        ),
    )


def _corrected(argv: Sequence[str], wrong: str, right: Iterable[str]) -> tuple[str, ...]:
    """Return the command line again for each better spelling, if it is short and can be run."""
    lines = []
    for word in right:
        words = [
            word + given.removeprefix(wrong) if given.partition("=")[0] == wrong else given
            for given in argv
        ]
        lines.append(_line(words) or f"use {word} in place of {wrong}")
    return tuple(lines)


def _line(words: Sequence[str]) -> str | None:
    """Return a command line to paste; None where it is long, or has another mistake in it."""
    try:
        parse(words)
    except UsageError:
        return None  # one mistake seldom comes alone
    line = " ".join(map(quoted, ("memhtml", *words)))
    return line if len(line) <= _LONGEST_ECHO else None
