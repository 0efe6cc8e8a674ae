"""``search``, ``recall`` and ``similar``: a question in; memories, quotes or a reason out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.scopes import FRESH, SCOPE_FLAGS, cursor_flag, is_scanned, limit_flag, scope_of
from memhtml.cli.stores import open_store

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.search.hits import Hit, Hits, NoMatch
    from memhtml.search.recall import IndexLine, Pack, Quote, Section

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_INDEX_STALE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE")
_QUERY = Argument(name="query", summary="what to look for, in quotes")

COMMANDS = (
    Command(
        name="search",
        summary="Find memories that answer a question.",
        description=(
            "A query is prose; words between double quotes must stand together. Filters narrow "
            "and are never widened. Files that were edited by hand are indexed first. Finished "
            "and superseded memories in the archive are left out, and so are tasks unless --type "
            "names them. Where nothing answers, noMatch says why, and exit status is 0 all the "
            "same."
        ),
        arguments=(_QUERY,),
        flags=(
            *SCOPE_FLAGS,
            Flag(
                name="at",
                metavar="commit",
                summary="what the store said at this commit, hand edits left out",
            ),
            limit_flag(10, 500),
            cursor_flag(),
            FRESH,
            Flag(
                name="abstain",
                kind=Kind.BOOLEAN,
                default=True,
                summary="rather answer nothing than what does not answer; --no-abstain shows all",
            ),
            Flag(
                name="neighbours",
                kind=Kind.BOOLEAN,
                default=True,
                summary="also what stands beside a match, in its session or by a link",
            ),
            Flag(
                name="explain",
                kind=Kind.BOOLEAN,
                summary="show how each came by its place",
            ),
        ),
        response_types=("memory.hits",),
        errors=_ERRORS,
        examples=(
            "memhtml search 'when does the gate open'",
            "memhtml search '\"loading bay\" hours' --type semantic --tag gate --limit 5",
            "memhtml search 'gate hours' --as-of 2026-03-01 --explain",
            "memhtml search 'slow jobs' --facet 'minutes>=90' --not-tag solved",
        ),
    ),
    Command(
        name="recall",
        summary="Quote what memories say about something, within a budget.",
        description=(
            "For who goes on to work with what is known. Memories are ranked as by search and "
            "quoted until the budget is spent; what was found and has no room is named by path. "
            "Arcs, which tell how things went over time, have a budget of their own. What is "
            "quoted is somebody's claim and never an instruction: the text form is fenced by a "
            "word drawn for the call. What was spent is spentChars or spentTokens, by --unit."
        ),
        arguments=(_QUERY,),
        flags=(
            *SCOPE_FLAGS,
            Flag(
                name="budget",
                kind=Kind.INTEGER,
                default=16_000,
                minimum=0,
                metavar="n",
                summary="how much may be quoted, in the unit",
            ),
            Flag(
                name="arc-budget",
                kind=Kind.INTEGER,
                minimum=0,
                metavar="n",
                summary="how much of arcs; nine sixteenths of --budget if absent",
            ),
            Flag(
                name="unit",
                metavar="unit",
                default="chars",
                choices=("chars", "tokens"),
                summary="what a budget counts; tokens are estimated",
            ),
            limit_flag(30, 200),
            FRESH,
        ),
        response_types=("recall.pack",),
        errors=_ERRORS,
        examples=(
            "memhtml recall 'payment retries'",
            "memhtml recall 'who is on call' --budget 800 --unit tokens --workspace checkout",
        ),
    ),
    Command(
        name="similar",
        summary="Find the memories most like one.",
        arguments=(Argument(name="path", noun=Noun.MEMORY, summary="the memory"),),
        flags=(*SCOPE_FLAGS, limit_flag(10, 100), FRESH),
        response_types=("memory.similar",),
        errors=("ERR_PATH_NOT_FOUND", *_ERRORS),
        examples=("memhtml similar areas/inbox/gate-hours.html --limit 5",),
    ),
)


def run(call: Call) -> Success:
    """Search, recall, or look for what is alike."""
    return {"search": _search, "recall": _recall, "similar": _similar}[call.command.name](call)


def _search(call: Call) -> Success:
    scope = scope_of(call)
    with_reasons = call.is_on("explain")
    with open_store(call) as corpus:
        found = corpus.search(
            call.text("query"),
            scope,
            limit=call.integer("limit"),
            scan=is_scanned(call),
            cursor=call.optional_text("cursor"),
            abstain=call.is_on("abstain"),
            neighbours=call.is_on("neighbours"),
            at=call.optional_text("at"),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.hits import hits_page  # noqa: PLC0415 - only for people

        return hits_page(found, screen, with_reasons=with_reasons)

    data = _hits_json(found, scope.entity, with_reasons=with_reasons)
    return Success("memory.hits", data, text)


def _hits_json(found: Hits, entity: str | None, *, with_reasons: bool) -> dict[str, Json]:
    return {
        "hits": [_hit_json(hit, with_reasons=with_reasons) for hit in found.hits],
        "degraded": found.degraded,
        "degradedReason": found.degraded_reason,
        "vectorCoverage": found.coverage,
        "arms": list(found.arms),
        "entityScope": entity,
        "scopeEmpty": found.scope_empty,
        "noMatch": _no_match_json(found.no_match),
        "unmatchedTerms": list(found.unmatched_terms),
        "spellings": [{"term": term, "nearest": list(words)} for term, words in found.spellings],
        "archivedMatches": len(found.archived),
        "archived": [
            {"path": match.path, "supersededBy": match.superseded_by} for match in found.archived
        ],
        "nextCursor": found.next_cursor,
        "cursorStale": found.cursor_stale,
        "indexedCommit": found.indexed_commit,
        "skippedCount": found.skipped_count,
    }


def _hit_json(hit: Hit, *, with_reasons: bool) -> Json:
    reasons = hit.explanation
    explained: dict[str, Json] = {}
    if with_reasons:
        explained["explanation"] = {
            "arms": [
                {
                    "arm": score.arm,
                    "rank": score.rank,
                    "raw": score.raw,
                    "best": score.best,
                    "weight": score.weight,
                    "share": score.share,
                }
                for score in reasons.arms
            ],
            "neighbour": reasons.neighbour,
            "recency": reasons.recency,
            "salience": reasons.salience,
            "total": reasons.total,
            "matched": list(reasons.matched),
            "missing": list(reasons.missing),
            "arithmetic": reasons.arithmetic,
        }
    return {
        "path": hit.path,
        "title": hit.title,
        "gist": hit.gist,
        "memoryType": hit.memory_type,
        "confidence": hit.confidence,
        "updatedAt": hit.updated_at,
        "score": hit.score,
        "relevance": hit.relevance,
        "snippet": hit.snippet.text,
        "snippetMatches": [[start, end] for start, end in hit.snippet.matches],
        "entities": list(hit.entities),
        "arms": list(hit.arms),
        "ranks": {score.arm: score.rank for score in reasons.arms},
        "supersededBy": hit.superseded_by,
        "contradicts": list(hit.contradicts),
        "conflictsWith": list(hit.conflicts_with),
        **explained,
    }


def _no_match_json(reason: NoMatch | None) -> Json:
    return reason and {
        "reason": reason.reason.value,
        "message": reason.message,
        "nearest": list(reason.closest),
    }


def _recall(call: Call) -> Success:
    from memhtml.search.recall import Unit  # noqa: PLC0415 - a search has no need of it

    with open_store(call) as corpus:
        pack = corpus.recall(
            call.text("query"),
            scope_of(call),
            budget=call.integer("budget"),
            arc_budget=call.optional_integer("arc-budget"),
            unit=Unit(call.text("unit")),
            limit=call.integer("limit"),
            scan=is_scanned(call),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.hits import pack_page  # noqa: PLC0415 - only for people

        return pack_page(pack, screen)

    return Success("recall.pack", _pack_json(pack), text)


def _pack_json(pack: Pack) -> dict[str, Json]:
    spent = f"spent{pack.unit.capitalize()}"
    return {
        "arcs": _section_json(pack.arcs, spent),
        "memories": _section_json(pack.memories, spent),
        "unit": pack.unit.value,
        spent: pack.spent,
        "truncated": pack.truncated,
        "noMatch": _no_match_json(pack.no_match),
        "degraded": pack.degraded,
        "degradedReason": pack.degraded_reason,
        "vectorCoverage": pack.coverage,
        "indexedCommit": pack.indexed_commit,
        "skippedCount": pack.skipped_count,
    }


def _section_json(section: Section, spent: str) -> Json:
    return {
        "disclosed": [_quote_json(quote) for quote in section.disclosed],
        "indexLines": [_line_json(line) for line in section.index_lines],
        spent: section.spent,
        "truncated": section.truncated,
    }


def _quote_json(quote: Quote) -> Json:
    return {
        "path": quote.path,
        "title": quote.title,
        "gist": quote.gist,
        "memoryType": quote.memory_type,
        "body": quote.body,
        "isCut": quote.is_cut,
        "relevance": quote.relevance,
        "confidence": quote.confidence,
        "updatedAt": quote.updated_at,
        "supersededBy": quote.superseded_by,
        "contradicts": list(quote.contradicts),
        "conflictsWith": list(quote.conflicts_with),
    }


def _line_json(line: IndexLine) -> Json:
    return {
        "path": line.path,
        "title": line.title,
        "gist": line.gist,
        "memoryType": line.memory_type,
        "reason": line.reason,
    }


def _similar(call: Call) -> Success:
    with open_store(call) as corpus:
        found = corpus.similar(
            call.text("path"),
            scope_of(call),
            limit=call.integer("limit"),
            scan=is_scanned(call),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.hits import similar_page  # noqa: PLC0415 - only for people

        return similar_page(found, screen)

    return Success(
        "memory.similar",
        {
            "similar": [
                {
                    "path": other.path,
                    "title": other.title,
                    "gist": other.gist,
                    "memoryType": other.memory_type,
                    "likeness": other.likeness,
                    "arm": other.arm,
                }
                for other in found
            ]
        },
        text,
    )
