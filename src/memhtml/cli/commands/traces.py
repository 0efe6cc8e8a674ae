"""``trace``: what was said in sessions with agents, and which memories they touched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memhtml.answers.casing import in_camel
from memhtml.cli.command import Argument, Command, Flag, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.scopes import limit_flag
from memhtml.cli.stores import open_store

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen
    from memhtml.traces.database import TraceBase

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_BUSY", "ERR_STORAGE")
_AGENTS = ("claude", "codex", "gemini", "pi")
_AGENT = Flag(
    name="agent", metavar="name", choices=_AGENTS, summary="only sessions with this agent"
)

COMMANDS = (
    Command(
        name="trace index",
        summary="Read what was said in sessions with agents since the last time.",
        description=(
            "Transcripts of Claude Code, Codex CLI, Gemini CLI and Pi are read where they stand; "
            "nothing is ever written there. Of each file only what is new is read. What is kept is "
            "in the store's own folder and out of git: where to look, and texts to search, with "
            "every credential cut out. Memories are not made of it; see sleep."
        ),
        flags=(
            Flag(
                name="root",
                metavar="folder",
                repeatable=True,
                noun=Noun.FILE,
                summary="look here, and not in MEMHTML_TRACE_ROOT or the agents' own folders",
            ),
            _AGENT,
        ),
        response_types=("trace.report",),
        errors=_ERRORS,
        examples=("memhtml trace index", "memhtml trace index --agent codex"),
    ),
    Command(
        name="trace search",
        summary="Find sessions by what was said in them.",
        description=(
            "Every prompt and what the agent said are searched, and titles. Sessions with all the "
            "words come instead of those with some. Without a word to look for, the newest are "
            "listed, and degraded is true. It answers from what trace index read."
        ),
        arguments=(Argument(name="query", required=False, summary="what was said, in quotes"),),
        flags=(
            Flag(
                name="cwd",
                metavar="folder",
                noun=Noun.FILE,
                summary="only sessions in exactly this folder",
            ),
            Flag(name="since", metavar="time", summary="only sessions that began then or later"),
            _AGENT,
            limit_flag(20, 200),
        ),
        response_types=("trace.sessions",),
        errors=_ERRORS,
        examples=(
            "memhtml trace search 'why did the migration fail'",
            "memhtml trace search --cwd . --since 2026-03-01",
        ),
    ),
    Command(
        name="trace links",
        summary="Show which memories a session touched, or which sessions touched a memory.",
        description=(
            "A memory may be named by any path it ever had: what was moved, corrected or archived "
            "is followed. A session may be named by the beginning of its id. Newest first."
        ),
        arguments=(
            Argument(
                name="what",
                required=False,
                noun=Noun.MEMORY,
                summary="a memory's path or a session's id",
            ),
        ),
        flags=(
            Flag(name="session-id", metavar="id", summary="the session"),
            Flag(name="path", metavar="path", summary="the memory, by its path in the store"),
        ),
        response_types=("trace.links",),
        errors=("ERR_PATH_NOT_FOUND", "ERR_INDEX_STALE", "ERR_GIT", *_ERRORS),
        examples=(
            "memhtml trace links areas/inbox/gate-hours.html",
            "memhtml trace links --session-id 0f3c2a",
        ),
    ),
)


def run(call: Call) -> Success:
    """Index, search or link transcripts."""
    doing = {"trace index": _index, "trace search": _search, "trace links": _links}
    return doing[call.command.name](call)


def _index(call: Call) -> Success:
    from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - help needs none
    from memhtml.model.instants import stamp  # noqa: PLC0415 - as above
    from memhtml.traces.roots import trace_roots  # noqa: PLC0415 - as above
    from memhtml.traces.scan import scan  # noqa: PLC0415 - as above

    env = call.world.env
    roots = tuple(os.path.join(call.world.cwd, root) for root in call.texts("root"))
    for root in roots:
        if not os.path.isdir(root):
            raise call.refuse("root", f"{root!r} is no folder")
    home = env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")
    agent = call.optional_text("agent")
    with (
        open_store(call) as corpus,
        corpus.traces() as base,
        progress_bar(call, "reading transcripts") as progress,
    ):
        done = scan(
            base,
            roots or trace_roots(env, home=home),
            now=stamp(corpus.now()),
            agents=(agent,) if agent else (),
            progress=progress,
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.traces import report_page  # noqa: PLC0415 - only for people

        return report_page(done, screen)

    return Success(
        "trace.report",
        {
            "traceRoot": done.roots[0],
            "roots": list(done.roots),
            "filesSeen": done.files_seen,
            "skipped": done.skipped,
            "tailed": done.tailed,
            "rescanned": done.rescanned,
            "filesFailed": len(done.failures),
            "filesMissing": done.missing,
            "bytesRead": done.bytes_read,
            "sessionsWritten": len(done.sessions),
            "promptsWritten": done.prompts,
            "tailsMerged": done.tailed,
            "linesDropped": done.lines_dropped,
            "linesUnknown": done.lines_unknown,
            "secretsCut": done.secrets_cut,
            "failures": [{"path": path, "reason": reason} for path, reason in done.failures],
        },
        text,
    )


def _search(call: Call) -> Success:
    from memhtml.answers.traced import SESSIONS, sessions  # noqa: PLC0415 - help needs none
    from memhtml.model.instants import is_instant  # noqa: PLC0415 - as above
    from memhtml.traces.search import search  # noqa: PLC0415 - as above
    from memhtml.traces.sessions import count_sessions  # noqa: PLC0415 - as above

    since, cwd = call.optional_text("since"), call.optional_text("cwd")
    if since is not None and not is_instant(since):
        raise call.refuse("since", "a time is a date, or a UTC instant like 2026-03-01T12:00:00Z")
    with open_store(call) as corpus, corpus.traces() as base:
        found = search(
            base,
            call.optional_text("query") or "",
            cwd=None if cwd is None else os.path.abspath(os.path.join(call.world.cwd, cwd)),
            since=since,
            agent=call.optional_text("agent"),
            limit=call.integer("limit"),
        )
        known = count_sessions(base)

    def text(screen: Screen) -> str:
        from memhtml.cli.views.traces import sessions_page  # noqa: PLC0415 - only for people

        return sessions_page(found, screen, known=known)

    return Success("trace.sessions", in_camel(SESSIONS, sessions(found, known=known)), text)


def _links(call: Call) -> Success:
    from memhtml.answers.traced import LINKS, MAX_LINKS  # noqa: PLC0415 - help needs none
    from memhtml.answers.traced import links as told_links  # noqa: PLC0415 - as above
    from memhtml.traces.sessions import sessions_of  # noqa: PLC0415 - as above

    what, session_id = call.optional_text("what"), call.optional_text("session-id")
    path = call.optional_text("path")
    if sum(one is not None for one in (what, session_id, path)) != 1:
        raise call.refuse("path", "name one memory or one session")
    if what is not None:
        # Paths of memories end so, and ids of sessions have no slash.
        if what.endswith(".html") or "/" in what:
            path = what
        else:
            session_id = what
    with open_store(call) as corpus, corpus.traces() as base:
        if path is not None:
            links = corpus.links_of_path(path)
        else:
            links = corpus.links_of_session(_whole_id(call, base, session_id or ""))
        links = sorted(links, key=lambda link: (link.at, link.path), reverse=True)
        shown = links[:MAX_LINKS]
        known = sessions_of(base, (link.session_id for link in shown))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.traces import links_page  # noqa: PLC0415 - only for people

        return links_page(shown, known, screen, more=len(links) - len(shown))

    data = in_camel(LINKS, told_links(shown, count=len(links), known=known.values()))
    return Success("trace.links", data, text)


def _whole_id(call: Call, base: TraceBase, session_id: str) -> str:
    """Return the id of the one known session that begins with *session_id*; itself if none does."""
    from memhtml.traces.sessions import find_sessions  # noqa: PLC0415 - help needs none

    found = find_sessions(base, session_id)
    if session_id in found or not found:
        return session_id
    if len(found) > 1:
        raise call.refuse("session-id", f"several begin so: {', '.join(found)}")
    return found[0]
