"""``memhtml index``: the search index, which can always be made anew from the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Command
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store, skipped_json

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.corpus import IndexStatus

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE")

COMMANDS = (
    Command(
        name="index rebuild",
        summary="Make the index anew from the files.",
        response_types=("index.report",),
        errors=_ERRORS,
        examples=("memhtml index rebuild",),
    ),
    Command(
        name="index update",
        summary="Bring the index up to date with HEAD and the files on disk.",
        response_types=("index.report",),
        errors=(*_ERRORS, "ERR_INDEX_STALE"),
        examples=("memhtml index update",),
    ),
    Command(
        name="index status",
        summary="Show what the index holds.",
        response_types=("index.report",),
        errors=(*_ERRORS, "ERR_INDEX_STALE"),
        examples=("memhtml index status",),
    ),
)


def run(call: Call) -> Success:
    """Rebuild, update or describe the index."""
    mode = call.command.name.removeprefix("index ")
    with open_store(call) as corpus:
        if mode == "status":
            return _status(corpus.index_status())
        report = corpus.rebuild() if mode == "rebuild" else corpus.update()
    from memhtml.index.lookup import SkippedFile  # noqa: PLC0415 - help needs none

    skipped = [SkippedFile.of(row) for row in report.skipped]

    def text(screen: Screen) -> str:
        from memhtml.cli.views.health import report_lines  # noqa: PLC0415 - only for people

        return report_lines(report, skipped, screen)

    counts: dict[str, Json] = {
        "unchanged": report.unchanged,
        "added": report.added,
        "modified": report.modified,
        "removed": report.removed,
        "renamed": report.renamed,
    }
    if report.rebuilt:
        counts = {"filesIndexed": report.added}
    return Success(
        "index.report",
        {
            "mode": "rebuild" if report.rebuilt else mode,
            "headSha": report.head_sha,
            **counts,
            "dirty": report.dirty,
            "skipped": [skipped_json(file) for file in skipped],
        },
        text,
    )


def _status(status: IndexStatus) -> Success:
    def text(screen: Screen) -> str:
        from memhtml.cli.views.health import index_lines  # noqa: PLC0415 - only for people

        return index_lines(status, screen)

    return Success(
        "index.report",
        {
            "mode": "status",
            "headSha": status.head,
            "indexHeadSha": status.indexed,
            "indexFresh": status.is_fresh,
            "files": status.files,
            "skippedCount": status.skipped,
            "rebuiltAt": status.rebuilt_at,
            "updatedAt": status.updated_at,
        },
        text,
    )
