"""``memhtml apply``: a stream of operations, one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.errors import InvalidFlag, MissingArgument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen
    from memhtml.model.changes import Batch

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="apply",
        summary="Carry out a stream of operations as one commit.",
        description=(
            "The stream is JSON, one object a line: "
            '{"op": "write", "title": …, "type": …, "body": …}, and likewise task, task_status, '
            "correct, archive and link. Write takes title, type, body, tags, entities, links, "
            "facets, citations and more; docs/apply.md has every field of each. In body the first "
            "sentence is the claim, and blank lines part paragraphs. Any path may be @N: the file "
            "that operation N, counted from 0, makes or leaves behind.\n\n"
            "All operations are looked at before anything is written. If one is refused none is "
            "carried out, and every refusal is told; --continue-on-error carries out the others."
        ),
        arguments=(
            Argument(
                name="source",
                summary="- for standard input, which is also the default",
                required=False,
            ),
        ),
        flags=(
            Flag(
                name="file", metavar="file", noun=Noun.FILE, summary="read the stream from a file"
            ),
            Flag(
                name="continue-on-error",
                kind=Kind.BOOLEAN,
                summary="carry out what can be carried out",
            ),
            Flag(
                name="detect-conflicts",
                kind=Kind.BOOLEAN,
                summary="tell which claims say something else of the same thing; changes nothing",
            ),
            Flag(
                name="detect-near-duplicates",
                kind=Kind.BOOLEAN,
                summary="no effect: memories that say nearly the same are always named",
            ),
            Flag(
                name="consolidate",
                metavar="rule",
                choices=("last-wins",),
                summary="of claims about the same thing keep the last, and archive the stored one",
            ),
            Flag(
                name="allow-secret",
                kind=Kind.BOOLEAN,
                summary="write text that looks like a credential all the same",
            ),
        ),
        response_types=("batch.applied",),
        errors=("ERR_NOT_A_STORE", "ERR_WRITE_CONFLICT", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE"),
        exit_statuses=(
            (0, "every operation was carried out"),
            (1, "an operation was refused, or it could not be done"),
            (2, "the call is wrong"),
        ),
        examples=(
            "memhtml apply --file facts.jsonl",
            "memhtml apply --file facts.jsonl --continue-on-error --consolidate last-wins",
        ),
    ),
)


def run(call: Call) -> Success:
    """Apply a stream."""
    from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - help needs none
    from memhtml.ops import describe_batch, read_ops  # noqa: PLC0415 - help needs none
    from memhtml.store.batch import BatchOptions  # noqa: PLC0415 - as above

    options = BatchOptions(
        continue_on_error=call.is_on("continue-on-error"),
        detect_conflicts=call.is_on("detect-conflicts"),
        last_wins=call.values["consolidate"] is not None,
        allow_secret=call.is_on("allow-secret"),
    )
    if call.optional_text("file") is None and call.world.stdin.isatty():
        call.world.stderr.write("reading operations from the terminal; an end of file ends them\n")
    with _stream(call) as stream:
        requests = list(read_ops(stream))
    if not requests:
        raise MissingArgument("the stream has no operation", suggestions=("memhtml help apply",))
    count = len(requests)
    with open_store(call) as corpus, progress_bar(call, "planning") as tell:
        batch = corpus.apply(
            requests, options, on_progress=None if tell is None else lambda done: tell(done, count)
        )

    def text(screen: Screen) -> str:
        return "\n".join(_lines(batch, screen)) + "\n"

    return Success(
        "batch.applied", describe_batch(batch), text, exit_status=1 if batch.failed else 0
    )


def _stream(call: Call) -> AbstractContextManager[BinaryIO]:
    from contextlib import nullcontext  # noqa: PLC0415 - only here

    source, file = call.optional_text("source"), call.optional_text("file")
    if source not in {None, "-"}:
        raise InvalidFlag(
            f"a file is named with --file, not {source!r}",
            suggestions=(f"memhtml apply --file {source}",),
        )
    if source is not None and file is not None:
        raise InvalidFlag("- and --file exclude each other", suggestions=("memhtml help apply",))
    if file is None:
        return nullcontext(call.world.stdin)
    import os.path  # noqa: PLC0415 - only here

    try:
        return open(os.path.join(call.world.cwd, file), "rb")
    except OSError as error:
        raise call.refuse("file", f"{file!r} cannot be read: {error.strerror}") from None


def _lines(batch: Batch, screen: Screen) -> Iterator[str]:
    from memhtml.cli.screen import printable  # noqa: PLC0415 - only for people
    from memhtml.ops import count_outcomes  # noqa: PLC0415 - as above

    for result in batch.results:
        if result.error is not None:
            words = screen.paint("refused", "red")
            yield f"{words} {result.index}: {printable(result.error.message)}"
        for other in result.near_duplicates:
            yield f"{result.index}: says nearly the same as {printable(other)}"
        if result.conflict is not None:
            other = result.conflict.path or f"operation {result.conflict.batch_index}"
            yield f"{result.index}: says something else than {printable(other)}"
    summary = count_outcomes(batch.results)
    told = [f"{count} {name}" for name, count in summary.items() if count and name != "total"]
    yield screen.paint(", ".join(told), "bold")
    if batch.commit is None:
        yield "nothing was written"
    else:
        yield screen.paint(f"commit {batch.commit[:10]}", "dim")
