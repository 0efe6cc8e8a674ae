"""``memhtml index``: the search index, which can always be made anew from the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.cli.command import Command, Flag, Kind
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store, skipped_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.corpus import Corpus, IndexStatus
    from memhtml.index.embed import Coverage
    from memhtml.index.indexer import Report
    from memhtml.model.ports import DenseEncoder, SparseEncoder

__all__ = ["COMMANDS", "Encoding", "coverage_json", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE")
_MODEL = Flag(
    name="model",
    metavar="name",
    summary="the model to encode with; the one the index has vectors of, or splade-tiny",
)

COMMANDS = (
    Command(
        name="index rebuild",
        summary="Make the index anew from the files.",
        description=(
            "Vectors of texts that are still there are kept, and those that are missing are made, "
            "if the model is there; vectors of another model are replaced. Without a model the "
            "index holds words alone, and embedReason says why. Others may search and write "
            "meanwhile."
        ),
        flags=(
            Flag(
                name="embed",
                kind=Kind.BOOLEAN,
                default=True,
                summary="make missing vectors too; --no-embed leaves that to index embed",
            ),
            _MODEL,
        ),
        response_types=("index.report",),
        errors=(*_ERRORS, "ERR_MODEL_UNAVAILABLE"),
        examples=("memhtml index rebuild", "memhtml index rebuild --no-embed"),
    ),
    Command(
        name="index update",
        summary="Bring the index up to date with HEAD and the files on disk.",
        response_types=("index.report",),
        errors=(*_ERRORS, "ERR_INDEX_STALE"),
        examples=("memhtml index update",),
    ),
    Command(
        name="index embed",
        summary="Make vectors for the texts that have none yet.",
        description=(
            "It may be interrupted and goes on where it was. Others may search and write meanwhile."
        ),
        flags=(
            _MODEL,
            Flag(
                name="migrate",
                kind=Kind.BOOLEAN,
                summary="replace vectors of another model, or another version of this one",
            ),
            Flag(
                name="limit",
                kind=Kind.INTEGER,
                minimum=1,
                metavar="n",
                summary="how many texts at most",
            ),
            Flag(name="dry-run", kind=Kind.BOOLEAN, summary="only say how many are missing"),
        ),
        response_types=("index.report",),
        errors=(
            *_ERRORS,
            "ERR_INDEX_STALE",
            "ERR_EMBED_MODEL_MISMATCH",
            "ERR_MODEL_UNAVAILABLE",
        ),
        examples=("memhtml index embed", "memhtml index embed --dry-run"),
    ),
    Command(
        name="index status",
        summary="Show what the index holds.",
        response_types=("index.report",),
        errors=(*_ERRORS, "ERR_INDEX_STALE"),
        examples=("memhtml index status",),
    ),
)


class Encoding(NamedTuple):
    """How many texts of an index have vectors, and how many a call made."""

    texts: int
    covered: int
    written: int
    space: str | None
    """None where there are no vectors."""
    reason: str | None = None
    """Why none could be made."""

    @property
    def json(self) -> dict[str, Json]:
        """The same as a machine reads it."""
        return {
            "embedModel": self.space,
            "embeddings": self.covered,
            "embeddingsWritten": self.written,
            "embeddingsPreserved": self.covered - self.written,
            "embeddingsRemaining": self.texts - self.covered,
            "embedReason": self.reason,
        }


def run(call: Call) -> Success:
    """Rebuild, update, encode or describe the index."""
    mode = call.command.name.removeprefix("index ")
    if mode == "embed":
        return _embed(call)
    encoding = None
    with open_store(call) as corpus:
        if mode == "status":
            return _status(corpus)
        if mode == "rebuild":
            from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - help needs none

            with progress_bar(call, "indexing") as progress:
                report = corpus.rebuild(progress=progress)
            encoding = _encoded_anew(call, corpus)
        else:
            report = corpus.update()
        status = corpus.index_status()
    return _reported(mode, report, status, encoding)


def coverage_json(spaces: Iterable[Coverage]) -> Json:
    """Return how much of an index has vectors, as a machine reads it."""
    return [
        {
            "kind": one.kind,
            "space": one.space,
            "covered": one.covered,
            "texts": one.texts,
            "share": one.share,
        }
        for one in spaces
    ]


def _reported(mode: str, report: Report, status: IndexStatus, encoding: Encoding | None) -> Success:
    from memhtml.index.lookup import SkippedFile  # noqa: PLC0415 - help needs none

    skipped = [SkippedFile.of(row) for row in report.skipped]

    def text(screen: Screen) -> str:
        from memhtml.cli.views.health import encoding_lines, report_lines  # noqa: PLC0415 - for people

        lines = report_lines(report, skipped, screen)
        return lines if encoding is None else lines + encoding_lines(encoding, screen)

    counts: dict[str, Json] = {
        "unchanged": report.unchanged,
        "added": report.added,
        "modified": report.modified,
        "removed": report.removed,
        "renamed": report.renamed,
    }
    if report.rebuilt:
        counts = {"filesIndexed": report.added, "chunksIndexed": status.chunks}
    return Success(
        "index.report",
        {
            "mode": "rebuild" if report.rebuilt else mode,
            "headSha": report.head_sha,
            **counts,
            "dirty": report.dirty,
            "skipped": [skipped_json(file) for file in skipped],
            **(encoding.json if encoding else {}),
        },
        text,
    )


def _encoded_anew(call: Call, corpus: Corpus) -> Encoding:
    """Encode what has no vector after a rebuild, if that is wanted and can be done."""
    from memhtml.cli.encoders import chosen_model, open_encoder  # noqa: PLC0415 - help needs none
    from memhtml.model.errors import ModelUnavailable  # noqa: PLC0415 - as above

    if not call.is_on("embed"):
        return _covered(corpus)
    try:
        encoder = open_encoder(call, chosen_model(call, corpus))
    except ModelUnavailable as error:
        if call.values["model"] is not None:
            raise
        return _covered(corpus)._replace(reason=error.message)
    return _encode(call, corpus, encoder, migrate=True)


def _embed(call: Call) -> Success:
    from memhtml.cli.encoders import (  # noqa: PLC0415 - help needs none
        chosen_model,
        find_installed,
        open_encoder,
    )

    with open_store(call) as corpus:
        corpus.update()
        name = chosen_model(call, corpus)
        if call.is_on("dry-run"):
            model = find_installed(call, name)
            encoding = _covered(corpus, model.space_id if model else name)
        else:
            encoder = open_encoder(call, name)
            encoding = _encode(
                call,
                corpus,
                encoder,
                migrate=call.is_on("migrate"),
                limit=call.optional_integer("limit"),
            )
        status = corpus.index_status()

    def text(screen: Screen) -> str:
        from memhtml.cli.views.health import encoding_lines  # noqa: PLC0415 - only for people

        return encoding_lines(encoding, screen)

    return Success(
        "index.report",
        {
            "mode": "embed",
            "headSha": status.head,
            "dryRun": call.is_on("dry-run"),
            "chunks": status.chunks,
            "texts": status.texts,
            **encoding.json,
        },
        text,
    )


def _encode(
    call: Call,
    corpus: Corpus,
    encoder: SparseEncoder | DenseEncoder,
    *,
    migrate: bool,
    limit: int | None = None,
) -> Encoding:
    import os  # noqa: PLC0415 - only here

    from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - only here

    with progress_bar(call, "encoding") as progress:
        done = corpus.embed(
            encoder,
            migrate=migrate,
            workers=os.cpu_count() or 1,
            limit=limit,
            progress=progress,
        )
    covered = done.coverage
    return Encoding(covered.texts, covered.covered, done.written, covered.space)


def _covered(corpus: Corpus, space: str | None = None) -> Encoding:
    """Return how much has vectors of *space*, by default of the one that the index has."""
    for one in corpus.coverage():
        if space in {None, one.space}:
            return Encoding(one.texts, one.covered, 0, one.space)
    return Encoding(corpus.index_status().texts, 0, 0, space)


def _status(corpus: Corpus) -> Success:
    status, coverage = corpus.index_status(), corpus.coverage()

    def text(screen: Screen) -> str:
        from memhtml.cli.views.health import index_lines  # noqa: PLC0415 - only for people

        return index_lines(status, coverage, screen)

    return Success(
        "index.report",
        {
            "mode": "status",
            "headSha": status.head,
            "indexHeadSha": status.indexed,
            "indexFresh": status.is_fresh,
            "files": status.files,
            "skippedCount": status.skipped,
            "chunks": status.chunks,
            "texts": status.texts,
            "coverage": coverage_json(coverage),
            "rebuiltAt": status.rebuilt_at,
            "updatedAt": status.updated_at,
        },
        text,
    )
