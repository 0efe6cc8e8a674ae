"""``log`` and ``diff``: what a store learned and forgot, commit by commit or on the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.digest.digest import Digest, LogEntry
    from memhtml.digest.happening import Happening

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_GIT", "ERR_STORAGE")
_MOMENT = "a day, an instant, how long ago (3d, 2 weeks), or a commit"

COMMANDS = (
    Command(
        name="log",
        summary="Tell what happened to memories, commit by commit, newest first.",
        description=(
            "Each commit is told in plain words: what was learned, corrected, contradicted or "
            "forgotten in it, and why. Edits that are not committed are not told. Of a commit with "
            "thousands of files the first 50 are told and the others counted."
        ),
        flags=(
            Flag(
                name="limit",
                kind=Kind.INTEGER,
                default=20,
                minimum=1,
                maximum=1000,
                metavar="n",
                summary="how many commits at most",
            ),
            Flag(name="session", metavar="id", summary="only what this session did"),
            Flag(
                name="author",
                metavar="name",
                summary="only by this one, of the commit or the memory; a part of the name will do",
            ),
            Flag(name="since", metavar="when", summary=f"only after it: {_MOMENT}"),
            Flag(name="until", metavar="when", summary="only up to it; a day to its end"),
        ),
        response_types=("store.log",),
        errors=_ERRORS,
        examples=("memhtml log", "memhtml log --since yesterday --author agent:scribe"),
    ),
    Command(
        name="diff",
        summary="Tell what was learned, corrected, contradicted and forgotten since a moment.",
        description=(
            "Two states of the whole store are compared, so what was corrected twice is told once, "
            "with what it said at first. Days are those of UTC. What came in by a sync counts from "
            "when it was merged here. Edits that are not committed are not told."
        ),
        flags=(
            Flag(name="since", required=True, metavar="when", summary=_MOMENT),
            Flag(name="until", metavar="when", summary="the same; now if absent"),
            Flag(
                name="html",
                noun=Noun.FILE,
                metavar="file",
                summary="also write it as one page; only a page of this kind is written over",
            ),
        ),
        response_types=("store.diff",),
        errors=_ERRORS,
        examples=(
            "memhtml diff --since yesterday",
            "memhtml diff --since 2026-11-01 --until 2026-11-30 --html november.html",
        ),
    ),
)


def run(call: Call) -> Success:
    """Tell what happened."""
    return _log(call) if call.command.name == "log" else _diff(call)


def _log(call: Call) -> Success:
    from memhtml.digest.digest import read_log  # noqa: PLC0415 - help needs none

    limit = call.integer("limit")
    with open_store(call) as corpus:
        found = list(
            read_log(
                corpus,
                limit=limit + 1,
                since=call.optional_text("since"),
                until=call.optional_text("until"),
                session=call.optional_text("session"),
                author=call.optional_text("author"),
            )
        )
    entries, has_more = found[:limit], len(found) > limit

    def text(screen: Screen) -> str:
        from memhtml.cli.views.digest import log_page  # noqa: PLC0415 - only for people

        return log_page(entries, screen, has_more=has_more)

    return Success(
        "store.log", {"entries": [_entry_json(entry) for entry in entries], "more": has_more}, text
    )


def _entry_json(entry: LogEntry) -> Json:
    commit = entry.commit
    return {
        "commitSha": commit.sha,
        "at": commit.at,
        "author": commit.author,
        "operation": commit.operation,
        "summary": commit.summary,
        "sessionId": commit.session,
        "promptId": commit.prompt,
        "reason": commit.reason,
        "happenings": [_happening_json(each) for each in entry.happenings],
        "untold": entry.untold,
    }


def _happening_json(each: Happening) -> Json:
    return {
        "what": each.what.value,
        "sentence": each.sentence,
        "path": each.path,
        "title": each.title,
        "claim": each.claim,
        "memoryType": each.memory_type,
        "before": each.before,
        "beforePath": each.before_path,
        "against": each.other,
        "againstPath": each.other_path,
        "notes": list(each.notes),
        "author": each.author,
        "sessionId": each.session,
        "reason": each.reason,
        "commitSha": each.commit,
        "at": each.at,
    }


def _diff(call: Call) -> Success:
    from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - help needs none
    from memhtml.digest.digest import digest  # noqa: PLC0415 - as above

    with open_store(call) as corpus, progress_bar(call, "reading") as progress:
        found = digest(corpus, call.text("since"), call.optional_text("until"), progress=progress)
        root = corpus.root
    page = _write_page(call, found, root)

    def text(screen: Screen) -> str:
        from memhtml.cli.views.digest import diff_page  # noqa: PLC0415 - only for people

        has_end = call.optional_text("until") is not None
        return diff_page(found, screen, has_end=has_end, page=page)

    return Success(
        "store.diff",
        {
            "since": {"commitSha": found.since, "at": found.since_at},
            "until": {"commitSha": found.until, "at": found.until_at},
            "commits": found.commits,
            "counts": {what.value: count for what, count in found.counts.items()},
            "happenings": [_happening_json(each) for each in found.happenings],
            "page": page,
        },
        text,
    )


def _write_page(call: Call, found: Digest, root: str) -> str | None:
    """Write the page that *call* asks for and return where it is."""
    from pathlib import PurePath  # noqa: PLC0415 - only here

    from memhtml.cli.pagefiles import write_page  # noqa: PLC0415 - as above
    from memhtml.digest.page import PAGE_MARK, digest_page  # noqa: PLC0415 - as above

    if call.optional_text("html") is None:
        return None
    return write_page(call, digest_page(found, title=PurePath(root).name), mark=PAGE_MARK)
