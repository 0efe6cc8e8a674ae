"""``memhtml import`` and ``memhtml export``: memories from elsewhere, and to elsewhere."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.transfer.exporting import ExportReport
    from memhtml.transfer.item import ImportReport, ItemResult

__all__ = ["COMMANDS", "run"]

IMPORT_FORMATS = (
    "markdown obsidian basic-memory agent-file chatgpt claude mem0 mcp-memory jsonl html"
).split()
"""`ImportFormat`, stated again so that help loads nothing of it; a test compares the two."""
EXPORT_FORMATS = ("md", "jsonl", "html")

COMMANDS = (
    Command(
        name="import",
        summary="Bring in memories from notes, chat exports and other memory tools.",
        description=(
            "The source is a file, a folder or a zip archive. What it is is detected and said, "
            "unless --format states it: Markdown notes, an Obsidian vault, a basic-memory "
            "project, files such as CLAUDE.md or AGENTS.md, an export of ChatGPT or Claude, the "
            "JSON of mem0, the lines of the reference MCP memory server, or an export of "
            "memhtml.\n\n"
            "Everything that is found is accounted for: written, known already, skipped or "
            "failed. One bad item fails alone; all others are one commit. --dry-run tells what "
            "would happen and writes nothing. Of chats only saved memories are taken, and with "
            "--asked what people asked to be remembered; never a transcript.\n\n"
            "An export of memhtml is restored byte for byte, at the same paths."
        ),
        arguments=(
            Argument(name="source", noun=Noun.FILE, summary="a file, folder or zip archive"),
        ),
        flags=(
            Flag(
                name="format",
                metavar="format",
                choices=tuple(IMPORT_FORMATS),
                summary="what the source is; detected when absent",
            ),
            Flag(name="dry-run", kind=Kind.BOOLEAN, summary="only tell what would be done"),
            Flag(
                name="type",
                metavar="type",
                choices=tuple(kind.value for kind in MemoryType),
                summary="type of what does not state its own",
            ),
            Flag(name="tag", repeatable=True, metavar="tag", summary="a tag for every memory"),
            Flag(name="workspace", metavar="name", summary="the project they belong to"),
            Flag(
                name="asked",
                kind=Kind.BOOLEAN,
                summary="of chats, take also what a person asked to be remembered",
            ),
            Flag(
                name="allow-secret",
                kind=Kind.BOOLEAN,
                summary="write text that looks like a credential all the same",
            ),
        ),
        response_types=("import.report",),
        errors=("ERR_NOT_A_STORE", "ERR_WRITE_CONFLICT", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE"),
        exit_statuses=(
            (0, "everything was written, known already, or rightly skipped"),
            (1, "an item failed, or it could not be done"),
            (2, "the call is wrong"),
        ),
        examples=(
            "memhtml import notes --dry-run",
            "memhtml import chatgpt-export.zip --asked --tag chatgpt",
            "memhtml import memory.jsonl --format mcp-memory",
        ),
    ),
    Command(
        name="export",
        summary="Write all memories as Markdown, as lines of JSON, or as one page.",
        description=(
            "jsonl carries every byte of every memory, and so does html: one page for any "
            "browser, with search, that needs no network and no other file. Both come back with "
            "memhtml import as they were. md is a folder of notes with front matter, for other "
            "programs."
        ),
        flags=(
            Flag(
                name="format",
                required=True,
                metavar="format",
                choices=EXPORT_FORMATS,
                summary="md for a folder, jsonl or html for a file",
            ),
            Flag(
                name="out",
                required=True,
                noun=Noun.FILE,
                metavar="path",
                summary="the folder or file to write",
            ),
            Flag(name="active-only", kind=Kind.BOOLEAN, summary="leave the archive out"),
            Flag(name="force", kind=Kind.BOOLEAN, summary="write over what is there"),
        ),
        response_types=("export.report",),
        errors=("ERR_NOT_A_STORE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE"),
        examples=(
            "memhtml export --format jsonl --out memories.jsonl",
            "memhtml export --format html --out memories.html --active-only",
        ),
    ),
)

_SHOWN = 20
"""How many items of a kind a person is shown; the machine's answer has all of them."""


def run(call: Call) -> Success:
    """Import or export."""
    return _import(call) if call.command.name == "import" else _export(call)


def _import(call: Call) -> Success:
    from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - help needs none
    from memhtml.model.memory import split_tags  # noqa: PLC0415 - help needs none
    from memhtml.transfer.importing import import_source  # noqa: PLC0415 - as above
    from memhtml.transfer.item import ImportFormat, Options  # noqa: PLC0415 - as above

    kind, stated = call.optional_text("type"), call.optional_text("format")
    source = os.path.join(call.world.cwd, call.text("source"))
    options = Options(
        memory_type=MemoryType(kind) if kind else None,
        tags=split_tags(call.texts("tag")),
        workspace=call.optional_text("workspace"),
        asked=call.is_on("asked"),
    )
    with open_store(call) as corpus, progress_bar(call, "importing") as tell:
        report = import_source(
            corpus,
            source,
            format_=ImportFormat(stated) if stated else None,
            options=options,
            dry_run=call.is_on("dry-run"),
            allow_secret=call.is_on("allow-secret"),
            on_progress=tell,
        )
    counts = _counts(report)
    return Success(
        "import.report",
        {
            "source": call.text("source"),
            "format": report.detected.format.value,
            "because": report.detected.because,
            "dryRun": report.dry_run,
            "counts": {**counts},
            "links": {**report.links._asdict()},
            "items": [_item_json(result) for result in report.results],
            "commitSha": report.commit,
        },
        lambda screen: "\n".join(_import_lines(report, screen)) + "\n",
        exit_status=1 if counts["failed"] else 0,
    )


def _counts(report: ImportReport) -> dict[str, int]:
    from memhtml.transfer.item import Outcome  # noqa: PLC0415 - help needs none

    return {
        "found": len(report.results),
        **{outcome.value: report.count(outcome) for outcome in Outcome},
    }


def _item_json(result: ItemResult) -> dict[str, Json]:
    return {
        "origin": result.origin,
        "title": result.title,
        "outcome": result.outcome.value,
        "path": result.path,
        "code": result.code,
        "reason": result.reason or None,
        "notes": [
            {"line": note.line, "code": note.code, "message": note.message} for note in result.notes
        ],
        "nearDuplicates": [*result.near_duplicates],
    }


def _import_lines(report: ImportReport, screen: Screen) -> Iterator[str]:
    from memhtml.cli.screen import plural, printable  # noqa: PLC0415 - only for people
    from memhtml.transfer.item import Outcome  # noqa: PLC0415 - as above

    detected = report.detected
    yield f"{screen.paint(detected.format, 'bold')}: {printable(detected.because)}"
    for outcome, colour in ((Outcome.FAILED, "red"), (Outcome.SKIPPED, "yellow")):
        told = [result for result in report.results if result.outcome is outcome]
        yield from _some(
            [
                f"{screen.paint(outcome, colour)} {printable(one.origin)}: {printable(one.reason)}"
                for one in told
            ]
        )
    if report.dry_run:
        verb = screen.paint("would write", "green")
        yield from _some(
            [
                f"{verb} {printable(one.path or '')}: {printable(one.title)}"
                for one in report.results
                if one.outcome is Outcome.WRITTEN
            ]
        )
    yield from _some(
        [
            screen.paint(
                f"{printable(one.origin)}, line {note.line}: {printable(note.message)}", "dim"
            )
            for one in report.results
            for note in one.notes
        ]
    )
    counts = _counts(report)
    found = counts.pop("found")
    told_counts = ", ".join(f"{count} {name}" for name, count in counts.items())
    yield screen.paint(f"{plural(found, 'item')} found: {told_counts}", "bold")
    links = report.links
    if links.found:
        yield (
            f"{plural(links.found, 'link')} between them: {links.made} made, "
            f"{links.unresolved} lead nowhere, {links.failed} refused"
        )
    if report.dry_run:
        yield "nothing was written: this was a dry run"
    elif report.commit:
        yield screen.paint(f"commit {report.commit[:10]}", "dim")


def _some(lines: list[str]) -> Iterator[str]:
    """Yield the first of *lines*, and how many more there are."""
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"… and {len(lines) - _SHOWN} more; --json has them all"


def _export(call: Call) -> Success:
    from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - help needs none
    from memhtml.transfer.exporting import export  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus, progress_bar(call, "exporting") as progress:
        report = export(
            corpus,
            os.path.join(call.world.cwd, call.text("out")),
            format_=call.text("format"),
            active_only=call.is_on("active-only"),
            force=call.is_on("force"),
            progress=progress,
        )
    return Success(
        "export.report",
        {
            "format": call.text("format"),
            "out": report.out,
            "memories": report.memories,
            "archived": report.archived,
            "bytes": report.size,
            "leftOut": [{"path": path, "reason": why} for path, why in report.left_out],
        },
        lambda screen: "\n".join(_export_lines(report, screen)) + "\n",
    )


def _export_lines(report: ExportReport, screen: Screen) -> Iterator[str]:
    from memhtml.cli.screen import plural, printable  # noqa: PLC0415 - only for people

    verb = screen.paint("left out", "yellow")
    yield from _some([f"{verb} {printable(path)}: {why}" for path, why in report.left_out])
    memories = plural(report.memories, "memory", "memories")
    archived = f", {report.archived} of them archived" if report.archived else ""
    told = screen.paint(f"{memories}{archived}, {report.size:,} bytes", "green")
    yield f"{told} in {printable(report.out)}"
