"""Tools about the store as a whole: how it is, and which files in it are no memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import (
    STRING,
    choice,
    filled,
    integer,
    items,
    mapping,
    maybe,
    number,
    record,
    switch,
    text,
)
from memhtml.format.parse import parse
from memhtml.index.lookup import Finding
from memhtml.mcpserver.schema import output, take
from memhtml.mcpserver.tool import Tool
from memhtml.model.diagnostics import Severity
from memhtml.model.errors import InvalidFlag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memhtml.corpus import Corpus, Health
    from memhtml.index.lookup import SkippedFile
    from memhtml.mcpserver.desk import Pulse
    from memhtml.model.diagnostics import Diagnostic

__all__ = ["CHECK", "STATUS", "status_of"]

_MOST_PATHS = 100


def _status(corpus: Corpus, _arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    return status_of(corpus.status())


def status_of(health: Health) -> dict[str, Any]:
    """Return *health* as callers get it."""
    return {
        "root": health.root,
        "head_sha": health.head,
        "dirty": bool(health.dirty),
        "dirty_paths": list(health.dirty[:_MOST_PATHS]),
        "counts_by_type": dict(health.counts_by_type),
        "archived_count": health.archived,
        "skipped_count": len(health.skipped),
        "index_fresh": health.index_status.is_fresh,
        "indexed_commit": health.index_status.indexed,
        "embed_model": health.coverage[0].space if health.coverage else None,
        "vector_coverage": health.coverage[0].share if health.coverage else 0.0,
    }


STATUS = Tool(
    name="memory_status",
    title="Status of the store",
    about="Tell where the store is, how many memories it has, and whether its index is current.",
    takes=take(),
    gives=output(
        record(
            "The state of a store.",
            {
                "root": text("The folder."),
                "head_sha": maybe(text("The last commit.")),
                "dirty": switch("Files have changes that are not committed."),
                "dirty_paths": items(f"Which, the first {_MOST_PATHS}.", STRING),
                "counts_by_type": mapping("Active memories by type.", {"type": "integer"}),
                "archived_count": integer("Memories in the archive."),
                "skipped_count": integer(
                    "Files that cannot be read as memories; see memory_check."
                ),
                "index_fresh": switch("The index describes the last commit."),
                "indexed_commit": maybe(text("The commit that the index describes.")),
                "embed_model": maybe(
                    text("The model that texts are encoded by; null for words alone.")
                ),
                "vector_coverage": number("0 to 1: the part of the texts that is encoded."),
            },
        )
    ),
    run=_status,
    reads_only=True,
    is_idempotent=True,
)


def _check(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    if "path" in arguments and "html" in arguments:
        raise InvalidFlag("memory_check: 'path' and 'html' exclude each other")
    if "html" in arguments:
        found = [*_found(None, parse(arguments["html"].encode("utf-8", "replace")).diagnostics)]
        checked = 1
    elif "path" in arguments:
        memory = corpus.read(arguments["path"])
        found = [*_found(memory.path, memory.document.diagnostics)]
        checked = 1
    else:
        health = corpus.status()
        found = [finding for file in health.skipped for finding in _why_skipped(file)]
        checked = sum(health.counts_by_type.values()) + health.archived + len(health.skipped)
    return {
        "ok": all(finding["severity"] != Severity.VIOLATION for finding in found),
        "checked": checked,
        "findings": found,
    }


def _found(path: str | None, diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    return [
        {
            "path": path,
            "code": found.code,
            "severity": found.severity.value,
            "message": found.message,
            "line": found.span.line,
            "column": found.span.column,
        }
        for found in diagnostics
    ]


def _why_skipped(file: SkippedFile) -> list[dict[str, Any]]:
    shared = {"path": file.path, "severity": Severity.VIOLATION.value}
    # A link or a folder has no text to find anything in.
    findings = file.findings or (Finding(file.reason, "it is not a file that is read"),)
    return [{**shared, **finding._asdict()} for finding in findings]


_FINDING = record(
    "One finding.",
    {
        "path": maybe(text("The file; null for the html that was given.")),
        "code": text("The rule, as a stable word."),
        "severity": choice("violation: no memory. warning: worth mending.", Severity),
        "message": text("What is wrong."),
        "line": integer("Where, counted from 1."),
        "column": integer("Where in the line, counted from 1."),
    },
)

CHECK = Tool(
    name="memory_check",
    title="Check memories",
    about=(
        "Check one memory of the store (path), or HTML that you mean to write (html). With "
        "neither, list every file of the store that cannot be read as a memory, and why."
    ),
    takes=take(
        path=filled("Path of a memory.", example="areas/inbox/gate-hours.html"),
        html=filled("A whole memory file.", most=8 * 1024 * 1024),
    ),
    gives=output(
        record(
            "What was found.",
            {
                "ok": switch("There is no violation."),
                "checked": integer("How many files were looked at."),
                "findings": items("What is wrong.", _FINDING),
            },
        )
    ),
    run=_check,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)
