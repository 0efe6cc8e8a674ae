"""Schemas of answers about sessions with agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.schema import STRING, choice, integer, items, maybe, record, switch, text
from memhtml.index.usage import LinkKind
from memhtml.traces.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.answers.schema import Schema

__all__ = ["TRACES"]

_SESSION_ID = text("The session.")
_AGENT = choice("The agent it was with.", LAYOUTS)
_CWD = maybe(text("The folder it was in."))
_STARTED = maybe(text("When it began."))
_FIRST = text("What was typed first.")
_TITLE = maybe(text("What the agent called it."))

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
    "trace.sessions": record(
        "The sessions that were found.",
        {
            "sessions": items(
                "The best first; the newest where nothing was asked for.",
                record(
                    "A session.",
                    {
                        "sessionId": _SESSION_ID,
                        "agent": _AGENT,
                        "slug": text("The folder that its project's transcripts are in."),
                        "cwd": _CWD,
                        "gitBranch": maybe(text("The branch that was checked out last.")),
                        "model": maybe(text("The model that answered most.")),
                        "startedAt": _STARTED,
                        "endedAt": maybe(text("When the last thing was said.")),
                        "promptCount": integer("How often somebody asked."),
                        "turnCount": integer("How often anybody said something."),
                        "agentCount": integer("Subagents that took part."),
                        "firstPrompt": _FIRST,
                        "aiTitle": _TITLE,
                        "filePath": text("Its transcript."),
                        "missing": switch("The transcript is gone from disk."),
                        "matches": items(
                            "The best places in it.",
                            record(
                                "A place.",
                                {
                                    "role": choice("Who said it.", ("user", "assistant", "title")),
                                    "filePath": text("The transcript it is in."),
                                    "line": integer("Its line there, from 1."),
                                    "at": maybe(text("When it was said.")),
                                    "agentId": maybe(text("The subagent that was part of it.")),
                                    "excerpt": text("What was said around the words."),
                                },
                            ),
                        ),
                    },
                ),
            ),
            "degraded": switch("Nothing was asked for, so these are the newest."),
            "partial": switch("None has all the words, so these have some."),
            "sessionsKnown": integer("How many sessions were searched, before any filter."),
        },
    ),
    "trace.links": record(
        "What sessions did with memories.",
        {
            "links": items(
                "Newest first.",
                record(
                    "A link.",
                    {
                        "path": text("The memory, where it is now or was then."),
                        "sessionId": _SESSION_ID,
                        "promptId": maybe(text("The prompt in it.")),
                        "turnUuid": maybe(text("The turn in it.")),
                        "linkKind": choice("What it did.", LinkKind),
                        "at": text("When."),
                    },
                ),
            ),
            "linkCount": integer("How many there are, also those not listed."),
            "sessions": items(
                "What is known of these sessions.",
                record(
                    "A session.",
                    {
                        "sessionId": _SESSION_ID,
                        "agent": _AGENT,
                        "cwd": _CWD,
                        "startedAt": _STARTED,
                        "firstPrompt": _FIRST,
                        "aiTitle": _TITLE,
                    },
                ),
            ),
        },
    ),
}
