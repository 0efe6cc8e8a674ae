"""``reinforce`` and ``state``: how memories are used, which no memory file says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.casing import in_camel
from memhtml.cli.command import Argument, Command, Flag, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_INDEX_STALE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE")

COMMANDS = (
    Command(
        name="reinforce",
        summary="Say whether memories helped, so that good ones are found more easily.",
        description=(
            "Nothing is changed in any file. A verdict is always recorded; the same one given "
            "many times in a row stops moving the score, and those paths are named in capped. "
            "Opening a memory again within a quarter of an hour is no news (cooledDown)."
        ),
        arguments=(
            Argument(name="path", noun=Noun.MEMORY, repeatable=True, summary="the memories"),
        ),
        flags=(
            Flag(
                name="signal",
                metavar="signal",
                default="neutral",
                choices=("positive", "negative", "neutral"),
                summary="it helped, it misled, or it was only opened",
            ),
            Flag(name="session-id", metavar="id", summary="the session that says so"),
            Flag(name="prompt-id", metavar="id", summary="the prompt in it"),
            Flag(name="turn-uuid", metavar="id", summary="the turn in it"),
        ),
        response_types=("memory.reinforced",),
        errors=("ERR_PATH_NOT_FOUND", *_ERRORS),
        examples=("memhtml reinforce areas/inbox/gate-hours.html --signal positive",),
    ),
    Command(
        name="state export",
        summary="Commit the copy of usage that travels with the store.",
        description="No commit is made when the copy says so already.",
        response_types=("state.export",),
        errors=("ERR_WRITE_CONFLICT", *_ERRORS),
        examples=("memhtml state export",),
    ),
    Command(
        name="state import",
        summary="Take in the committed copy of usage, from other clones.",
        description="The two are merged; doing it twice changes nothing more.",
        response_types=("state.import",),
        errors=_ERRORS,
        examples=("memhtml state import",),
    ),
)


def run(call: Call) -> Success:
    """Record a signal, or carry usage between clones."""
    if call.command.name == "reinforce":
        return _reinforce(call)
    return _export(call) if call.command.name == "state export" else _import(call)


def _reinforce(call: Call) -> Success:
    from memhtml.answers.changed import REINFORCED, reinforced  # noqa: PLC0415 - help needs none
    from memhtml.index.usage import Moment, Signal  # noqa: PLC0415 - help needs none

    session = call.optional_text("session-id")
    if session is None and (call.values["prompt-id"] or call.values["turn-uuid"]):
        raise call.refuse("session-id", "a prompt or turn needs the session it belongs to")
    moment = session and Moment(
        session, call.optional_text("prompt-id"), call.optional_text("turn-uuid")
    )
    with open_store(call) as corpus:
        done = corpus.reinforce(
            call.texts("path"), Signal(call.text("signal")), moment=moment or None
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.screen import printable  # noqa: PLC0415 - only for people

        groups = (
            ("counted", done.bumped, "green"),
            ("recorded, too often in a row to count", done.capped, "yellow"),
            ("opened a moment ago, so no news", done.cooled_down, "dim"),
        )
        lines = [
            f"{screen.paint(word, style)}: {printable(path)}"
            for word, paths, style in groups
            for path in paths
        ]
        return "\n".join(lines) + "\n"

    return Success("memory.reinforced", in_camel(REINFORCED, reinforced(done)), text)


def _export(call: Call) -> Success:
    with open_store(call) as corpus:
        done = corpus.export_usage()

    def text(screen: Screen) -> str:
        from memhtml.cli.screen import plural  # noqa: PLC0415 - only for people

        rows = plural(done.rows, "memory", "memories")
        if done.commit is None:
            return f"{done.path} has the usage of {rows} already\n"
        commit = screen.paint(f"commit {done.commit[:10]}", "dim")
        return f"usage of {rows} written to {done.path}\n{commit}\n"

    return Success(
        "state.export",
        {
            "path": done.path,
            "rows": done.rows,
            "written": done.commit is not None,
            "commitSha": done.commit,
        },
        text,
    )


def _import(call: Call) -> Success:
    from memhtml.format.usage import USAGE_PATH  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus:
        restored = corpus.import_usage()

    def text(_: Screen) -> str:
        from memhtml.cli.screen import plural  # noqa: PLC0415 - only for people

        return f"usage of {plural(restored, 'memory', 'memories')} changed\n"

    return Success("state.import", {"path": USAGE_PATH, "restored": restored}, text)
