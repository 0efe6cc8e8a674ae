"""Schemas of answers about sessions with agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.casing import camel_schema
from memhtml.answers.schema import STRING, integer, items, record, text
from memhtml.answers.traced import LINKS, SESSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.answers.schema import Schema

__all__ = ["TRACES"]

TRACES: Mapping[str, Schema] = {
    "trace.report": record(
        "What was read.",
        {
            "traceRoot": text("The first folder that was looked in."),
            "roots": items("Every folder that was looked in, there or not.", STRING),
            "filesSeen": integer("Transcripts there are."),
            "skipped": integer("Those that are as they were."),
            "tailed": integer("Those of which only the end was new."),
            "rescanned": integer("Those read from the start."),
            "filesFailed": integer("Those that could not be read."),
            "filesMissing": integer("Those known before that are gone."),
            "bytesRead": integer("How much was read."),
            "sessionsWritten": integer("Sessions of which something was new."),
            "promptsWritten": integer("Prompts that were new."),
            "tailsMerged": integer("The same as tailed."),
            "linesDropped": integer("Lines that are nothing an agent writes, or too long."),
            "linesUnknown": integer("Lines of a kind that is not known."),
            "secretsCut": integer("Credentials that were cut out."),
            "failures": items(
                "What could not be read.",
                record("A file.", {"path": text("Where it is."), "reason": text("Why not.")}),
            ),
        },
    ),
    "trace.sessions": camel_schema(SESSIONS),
    "trace.links": camel_schema(LINKS),
}
