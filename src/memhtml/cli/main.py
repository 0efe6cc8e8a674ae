"""One call of the command line: words and a `World` in, one answer and an exit status out.

In a pipe, or with ``--json``, exactly one JSON document goes to stdout whatever happens. On a
terminal, or with ``--text``, people get text, and errors go to stderr.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from memhtml.cli.command import Call
from memhtml.cli.commands import MODULES, command_named, run
from memhtml.cli.envelope import Failure, Json, Success, failure_of
from memhtml.cli.parse import parse
from memhtml.cli.world import World
from memhtml.model.errors import InvalidFlag, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TextIO

    from memhtml.cli.command import Value
    from memhtml.cli.parse import Parsed
    from memhtml.cli.screen import Screen

__all__ = ["main", "process_world"]

_NO = ("false", "no", "0")
_INTERRUPTED = 130
_PIPE_CLOSED = 141


def main(argv: Sequence[str], world: World) -> int:
    """Run one call and return what the process should exit with."""
    try:
        try:
            answer = _attempt(lambda: _answer(argv, world), argv, world)
        except KeyboardInterrupt:
            world.stderr.write("\n")
            return _INTERRUPTED
        _print(answer, argv, world)
        world.stdout.flush()
        if isinstance(answer, Success) and answer.again is not None:
            return _go_on(answer, argv, world)
    except BrokenPipeError:
        # The reader went away, as `head` does; the work is done and nobody is left to tell.
        return _PIPE_CLOSED
    except OSError as error:
        world.stderr.write(f"error: the answer cannot be printed: {error.strerror}\n")
        return 1
    return answer.exit_status


def _attempt(answer: Callable[[], Success], argv: Sequence[str], world: World) -> Success | Failure:
    """Return what *answer* returns, or the failure that its exception is."""
    try:
        return answer()
    except Exception as error:  # noqa: BLE001 - the edge: whatever happens is answered
        failure = failure_of(error)
        if not world.cwd and isinstance(error, FileNotFoundError):
            failure = failure._replace(
                error="the folder this was called in is gone", suggestions=("cd",)
            )
        if failure.code == "ERR_UNKNOWN":
            import traceback  # noqa: PLC0415 - only when we are at fault

            traceback.print_exception(error, file=world.stderr)
        return failure._replace(suggestions=_about_the_store(failure.suggestions, argv))


def _go_on(answer: Success | Failure, argv: Sequence[str], world: World) -> int:
    """Answer again and again, until there is a failure or the person has seen enough."""
    try:
        while isinstance(answer, Success) and answer.again is not None:
            answer = _attempt(answer.again, argv, world)
            _print(answer, argv, world)
            world.stdout.flush()
    except KeyboardInterrupt:
        world.stderr.write("\n")
        return _INTERRUPTED
    return answer.exit_status


def process_world() -> World:
    """Return the world as this process has it; whoever uses a stream that was closed is told."""
    import os  # noqa: PLC0415 - the one place that looks at the process
    import time  # noqa: PLC0415 - as above

    stdin = None if sys.stdin is None else sys.stdin.buffer
    stdout = sys.stdout
    if stdin is None or stdout is None:
        from memhtml.cli.closed import closed_input, closed_output  # noqa: PLC0415 - hardly ever

        stdin, stdout = stdin or closed_input(), stdout or closed_output()
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        # A stream that was closed before we started is None, which libraries do not expect.
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - open to the end
            setattr(sys, name, stream)
    is_terminal = sys.stdout.isatty()
    width, height = _size(stdout, os.environ)
    for stream in (sys.stdout, sys.stderr):
        # A console of one alphabet shows "?" for the others; a crash would show nothing at all.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    return World(
        env=os.environ,
        cwd=_cwd(),
        stdin=stdin,
        stdout=stdout,
        stderr=sys.stderr,
        now=time.time,
        is_terminal=is_terminal,
        columns=width or 80,
        rows=height if is_terminal else 0,
        has_colour=_has_colour(os.environ, is_terminal=is_terminal),
        is_watched=sys.stderr.isatty(),
        stderr_has_colour=_has_colour(os.environ, is_terminal=sys.stderr.isatty()),
    )


def _cwd() -> str:
    import os  # noqa: PLC0415 - loaded by now

    try:
        return os.getcwd()
    except OSError:  # somebody removed it
        return ""


def _size(stream: TextIO, env: Mapping[str, str]) -> tuple[int, int]:
    """Return columns and lines of a terminal; 0 for what is unknown."""
    import os  # noqa: PLC0415 - loaded by now

    try:
        width, height = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        width = height = 0
    columns = env.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else width, height


def _has_colour(env: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Return whether a stream may carry colours; in the order in which Python itself decides."""
    if env.get("NO_COLOR"):
        return False
    if env.get("FORCE_COLOR"):
        return env["FORCE_COLOR"] not in {"0", "false"}
    return is_terminal and env.get("TERM") != "dumb"


def _answer(argv: Sequence[str], world: World) -> Success:
    parsed = parse(argv)
    values = parsed.values
    if values["text"] and (values["json"] or values["dense"]):
        raise InvalidFlag(
            "--text and --json contradict each other", suggestions=("leave one of them out",)
        )
    command = parsed.command
    if values["help"]:
        return _reference("help", *(command.name.split() if command else ()), world=world)
    if values["version"]:
        return _version()
    if command is None:
        return _bare(parsed, world)
    call = Call(command, values, world)
    if command.memories:
        from memhtml.cli.stores import memories_in_store  # noqa: PLC0415 - not every call has one

        call = memories_in_store(call)
    try:
        return run(call)
    except UsageError as error:
        page = f"memhtml help {command.name}"
        if page not in error.suggestions:
            error.suggestions = (*error.suggestions, page)
        raise


def _about_the_store(suggestions: Sequence[str], argv: Sequence[str]) -> tuple[str, ...]:
    """Return *suggestions* such that each command works on the store that *argv* names, if any."""
    if not any(word.startswith("--repo") for word in argv):
        return tuple(suggestions)
    from memhtml.model.errors import UsageError  # noqa: PLC0415 - only for an error with a store
    from memhtml.model.shell import quoted  # noqa: PLC0415 - as above

    try:
        repo = parse(argv).values["repo"]
    except UsageError:
        return tuple(suggestions)
    if not isinstance(repo, str) or not repo.strip():
        return tuple(suggestions)
    root = quoted(repo)

    def aimed(command: str) -> str:
        program, _, rest = command.partition(" ")
        if "--repo" in command or not rest:
            return command
        if program == "memhtml" and _is_about_store(rest):
            return f"memhtml --repo {root} {rest}"
        if program == "git" and not rest.startswith("config --global"):
            return f"git -C {root} {rest}"
        return command

    return tuple(" && ".join(map(aimed, hint.split(" && "))) for hint in suggestions)


def _is_about_store(words: str) -> bool:
    first, _, rest = words.partition(" ")
    names = (f"{first} {rest.partition(' ')[0]}", first)
    return next((command_named(n).is_about_store for n in names if n in MODULES), True)


def _reference(name: str, *words: str, world: World) -> Success:
    return run(Call(command_named(name), {"command": words}, world))


def _version() -> Success:
    from memhtml.model.version import VERSION  # noqa: PLC0415 - only here

    return Success(
        "cli.version",
        {"name": "memhtml", "version": VERSION},
        lambda _: f"memhtml {VERSION}\n",
        form="text",
    )


def _bare(parsed: Parsed, world: World) -> Success:
    """Answer ``memhtml`` alone: a person sees how the store is, all others the manifest."""
    if _is_for_people(parsed.values, world):
        from memhtml.cli.commands.home import home  # noqa: PLC0415 - only here

        return home(Call(command_named("status"), parsed.values, world))
    return _reference("manifest", world=world)


def _is_for_people(values: Mapping[str, Value], world: World) -> bool:
    if values["json"] or values["dense"]:
        return False
    return world.is_terminal or bool(values["text"])


def _print(answer: Success | Failure, argv: Sequence[str], world: World) -> None:
    """Write *answer* in the form that *argv* asks for; *argv* itself may be the thing at fault."""
    flags = argv[: argv.index("--")] if "--" in argv else argv
    is_dense = _says(flags, "--dense")
    if is_dense or _says(flags, "--json"):
        form = "json"
    elif _says(flags, "--text"):
        form = "text"
    else:
        form = (isinstance(answer, Success) and answer.form) or (
            "text" if world.is_terminal else "json"
        )
    if form == "json":
        world.stdout.write(_to_json(answer.envelope(), is_dense, world.stdout) + "\n")
    elif isinstance(answer, Success):
        screen = _screen(world)
        text = answer.text(screen)
        if answer.again is not None:
            from memhtml.cli.watch import draw  # noqa: PLC0415 - only for people

            draw(text, world, screen)
            return
        if answer.form is None and world.rows and not _denies(flags, "pager"):
            from memhtml.cli.pager import show  # noqa: PLC0415 - only for people

            show(text, world)
        else:
            world.stdout.write(text)
    else:
        world.stderr.write(_error_text(answer, world))


def _says(argv: Sequence[str], flag: str) -> bool:
    return any(word in {flag, f"{flag}=true", f"{flag}=yes", f"{flag}=1"} for word in argv)


def _denies(argv: Sequence[str], flag: str) -> bool:
    return any(word in {f"--no-{flag}", *(f"--{flag}={no}" for no in _NO)} for word in argv)


def _screen(world: World) -> Screen:
    from memhtml.cli.screen import Screen  # noqa: PLC0415 - only for people

    return Screen(world.columns, world.has_colour, world.now())


def _to_json(document: dict[str, Json], is_dense: bool, stream: TextIO) -> str:
    """Return *document* as JSON that *stream* can carry whatever its encoding."""
    layout = {"separators": (",", ":")} if is_dense else {"indent": 2}
    if is_dense:
        document = _without_nulls(document)
    # Escapes are good JSON everywhere; letters as they are need a stream that has them all.
    if (stream.encoding or "").lower().replace("-", "") == "utf8":
        text = json.dumps(document, ensure_ascii=False, **layout)
        if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
            return text
    return json.dumps(document, **layout)


def _without_nulls(document: dict[str, Json]) -> dict[str, Json]:
    return {name: _dense(value) for name, value in document.items() if value is not None}


def _dense(value: Json) -> Json:
    if isinstance(value, dict):
        return _without_nulls(value)
    if isinstance(value, list):
        return [_dense(item) for item in value]
    return value


def _error_text(failure: Failure, world: World) -> str:
    from memhtml.cli.screen import Screen, printable, wrap  # noqa: PLC0415 - only for people

    screen = Screen(world.columns, world.stderr_has_colour, world.now())
    message = failure.error
    if failure.findings:
        message = "nothing was written, because the memory breaks the format:"
    lines = []
    for text, indent in ((message, 7), *((finding, 4) for finding in failure.findings)):
        shown = printable(text)
        parts = wrap(shown, screen.width - indent)
        lines += [" " * indent + shown[start:end] for start, end in parts]
    lines[0] = f"{screen.paint('error:', 'bold', 'red')} {lines[0].lstrip()}"
    # A hint is to be copied, so it is never broken.
    lines += [
        f" {screen.paint('hint:', 'bold', 'cyan')} {printable(hint)}"
        for hint in failure.suggestions
    ]
    return "\n".join(lines) + "\n"
