"""Tools that look at sessions with agents, as far as ``memhtml trace index`` has read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import filled, integer, text
from memhtml.answers.traced import LINKS, MAX_LINKS, SESSIONS, links, sessions
from memhtml.mcpserver.schema import output, take
from memhtml.mcpserver.tool import Tool
from memhtml.model.errors import InvalidFlag
from memhtml.model.instants import is_instant
from memhtml.traces.search import search
from memhtml.traces.sessions import count_sessions, find_sessions, sessions_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse

__all__ = ["LINKS_OF", "SEARCH"]


def _search(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    since = arguments.get("since")
    if since is not None and not is_instant(since):
        raise InvalidFlag(
            "trace_search: 'since' must be a date such as 2026-12-01, or an instant such as "
            "2026-12-01T09:30:00Z"
        )
    with corpus.traces() as base:
        found = search(
            base,
            arguments["query"],
            cwd=arguments.get("cwd"),
            since=since,
            limit=int(arguments.get("limit", 20)),
        )
        return sessions(found, known=count_sessions(base))


SEARCH = Tool(
    name="trace_search",
    title="Search earlier sessions",
    about=(
        "Find earlier sessions with agents by what was said in them, best first: how something "
        "was done or decided when no memory tells. With sessions_known 0 nothing has been read "
        "yet; ask the user to run: memhtml trace index."
    ),
    takes=take(
        "query",
        query=text("What was said, in words.", example="why did the migration fail", most=4000),
        cwd=filled("Only sessions in exactly this folder.", example="/home/ada/checkout"),
        since=filled("Only those that began then or later.", example="2026-12-01", most=40),
        limit=integer("How many at most.", least=1, most=200, default=20),
    ),
    gives=output(SESSIONS),
    run=_search,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)


def _links(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    if ("path" in arguments) == ("session_id" in arguments):
        raise InvalidFlag("trace_links: give either 'path' or 'session_id'")
    with corpus.traces() as base:
        if "path" in arguments:
            found = corpus.links_of_path(arguments["path"])
        else:
            wanted = arguments["session_id"]
            ids = find_sessions(base, wanted)
            if wanted not in ids and len(ids) > 1:
                raise InvalidFlag(f"trace_links: several sessions begin so: {', '.join(ids)}")
            found = corpus.links_of_session(wanted if wanted in ids or not ids else ids[0])
        newest = sorted(found, key=lambda link: (link.at, link.path), reverse=True)
        shown = newest[:MAX_LINKS]
        known = sessions_of(base, (link.session_id for link in shown))
        return links(shown, count=len(newest), known=known.values())


LINKS_OF = Tool(
    name="trace_links",
    title="Sessions of a memory, memories of a session",
    about=(
        "Show which sessions wrote, read, corrected or reinforced a memory (path), or which "
        "memories a session touched (session_id), newest first."
    ),
    takes=take(
        path=filled("The memory, by any path it ever had.", example="areas/inbox/gate-hours.html"),
        session_id=filled("The session, or the beginning of its id.", most=500),
    ),
    gives=output(LINKS),
    run=_links,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)
