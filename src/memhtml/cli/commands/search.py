"""``memhtml search``: a question in, ranked memories out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.search.search import Hit, Hits

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="search",
        summary="Find memories by their words.",
        description=(
            "A query is prose; words between double quotes must stand together. Filters narrow "
            "and are never widened. Files that were edited by hand are indexed first. Finished "
            "and superseded memories in the archive are left out, and so are tasks unless --type "
            "names them."
        ),
        arguments=(Argument(name="query", summary="what to look for, in quotes"),),
        flags=(
            Flag(
                name="type",
                repeatable=True,
                metavar="type",
                choices=tuple(kind.value for kind in MemoryType if kind is not MemoryType.ARC),
                summary="only memories of this type",
            ),
            Flag(name="workspace", metavar="name", summary="only memories of this project"),
            Flag(name="tag", repeatable=True, metavar="tag", summary="only with one of these tags"),
            Flag(name="entity", metavar="type:name", summary="only about this entity"),
            Flag(
                name="facet",
                repeatable=True,
                metavar="name=value",
                summary="only with this facet; one of several values of a name will do",
            ),
            Flag(
                name="include-archived",
                kind=Kind.BOOLEAN,
                summary="also what is in the archive",
            ),
            Flag(
                name="limit",
                kind=Kind.INTEGER,
                default=10,
                minimum=1,
                maximum=200,
                metavar="n",
                summary="how many memories at most",
            ),
        ),
        response_types=("memory.hits",),
        errors=("ERR_NOT_A_STORE", "ERR_INDEX_STALE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE"),
        examples=(
            "memhtml search 'when does the gate open'",
            "memhtml search '\"loading bay\" hours' --type semantic --tag gate --limit 5",
        ),
    ),
)


def run(call: Call) -> Success:
    """Search."""
    from memhtml.search.scope import make_scope  # noqa: PLC0415 - help needs none

    scope = make_scope(
        types=call.texts("type"),
        workspace=call.optional_text("workspace"),
        tags=call.texts("tag"),
        entity=call.optional_text("entity"),
        facets=call.texts("facet"),
        include_archived=call.is_on("include-archived"),
    )
    with open_store(call) as corpus:
        found = corpus.search(call.text("query"), scope, limit=call.integer("limit"))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.hits import hits_page  # noqa: PLC0415 - only for people

        return hits_page(found, screen)

    return Success("memory.hits", _hits_json(found, scope.entity), text)


def _hits_json(found: Hits, entity: str | None) -> dict[str, Json]:
    reason = found.no_match
    return {
        "hits": [_hit_json(hit) for hit in found.hits],
        "degraded": found.degraded,
        "arms": list(found.arms),
        "entityScope": entity,
        "scopeEmpty": found.scope_empty,
        "noMatch": None
        if reason is None
        else {"reason": reason.reason.value, "message": reason.message},
        "unmatchedTerms": list(found.unmatched_terms),
        "indexedCommit": found.indexed_commit,
        "skippedCount": found.skipped_count,
    }


def _hit_json(hit: Hit) -> Json:
    return {
        "path": hit.path,
        "title": hit.title,
        "gist": hit.gist,
        "memoryType": hit.memory_type,
        "confidence": hit.confidence,
        "updatedAt": hit.updated_at,
        "score": hit.score,
        "snippet": hit.snippet.text,
        "snippetMatches": [[start, end] for start, end in hit.snippet.matches],
        "entities": list(hit.entities),
        "arms": list(hit.arms),
        "supersededBy": hit.superseded_by,
    }
