"""``search``, ``recall`` and ``similar``: a question in; memories, quotes or a reason out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.casing import in_camel
from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.scopes import FRESH, SCOPE_FLAGS, cursor_flag, is_scanned, limit_flag, scope_of
from memhtml.cli.stores import open_store

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.search.recall import Pack, Section

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_INDEX_STALE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE")
_QUERY = Argument(name="query", summary="what to look for, in quotes")
_DENSE = Flag(
    name="dense-model",
    kind=Kind.BOOLEAN,
    summary="ask the dense model too, if the index has vectors of one: a quarter of a second more",
)

COMMANDS = (
    Command(
        name="search",
        summary="Find memories that answer a question.",
        description=(
            "A query is prose; words between double quotes must stand together. Filters narrow "
            "and are never widened. Files that were edited by hand are indexed first. Finished "
            "and superseded memories in the archive are left out, and so are tasks unless --type "
            "names them. Where nothing answers, noMatch says why and what is nearest, and exit "
            "status is 0 all the same."
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
            _DENSE,
            Flag(
                name="explain",
                kind=Kind.BOOLEAN,
                summary="show how each came by its place",
            ),
            Flag(
                name="watch",
                kind=Kind.BOOLEAN,
                summary="search again whenever the store changes, until Ctrl-C",
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
            "word drawn for the call. What was spent is spentChars or spentTokens, by --unit; "
            "arcs and the others say so each, beside their budget."
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
                summary="how much may be quoted, arcs apart, in the unit",
            ),
            Flag(
                name="arc-budget",
                kind=Kind.INTEGER,
                minimum=0,
                metavar="n",
                summary="how much of arcs on top; nine sixteenths of --budget if absent",
            ),
            Flag(
                name="unit",
                metavar="unit",
                default="chars",
                choices=("chars", "tokens"),
                summary="what a budget counts; tokens are estimated",
            ),
            limit_flag(30, 200),
            _DENSE,
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
    if call.is_on("watch"):
        from memhtml.cli.watch import watched  # noqa: PLC0415 - only here

        return watched(call, lambda: _search_once(call))
    return _search_once(call)


def _search_once(call: Call) -> Success:
    from memhtml.answers.found import (  # noqa: PLC0415 - help needs none
        DETAILED_HIT,
        detailed_hit,
        hits,
        hits_record,
    )

    scope = scope_of(call)
    with_reasons, with_arms = call.is_on("explain"), call.is_on("dense-model")
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
            dense=call.is_on("dense-model"),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.hits import hits_page  # noqa: PLC0415 - only for people

        return hits_page(found, screen, with_reasons=with_reasons, with_arms=with_arms)

    told = [detailed_hit(hit, with_reasons=with_reasons) for hit in found.hits]
    data = in_camel(hits_record(DETAILED_HIT), hits(found, told, entity=scope.entity))
    return Success("memory.hits", data, text)


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
            dense=call.is_on("dense-model"),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.hits import pack_page  # noqa: PLC0415 - only for people

        return pack_page(pack, screen, with_arms=call.is_on("dense-model"))

    return Success("recall.pack", _pack_json(pack), text)


def _pack_json(pack: Pack) -> dict[str, Json]:
    from memhtml.answers.found import NO_MATCH, no_match  # noqa: PLC0415 - help needs none

    spent = f"spent{pack.unit.capitalize()}"
    return {
        "arcs": _section_json(pack.arcs, spent),
        "memories": _section_json(pack.memories, spent),
        "unit": pack.unit.value,
        spent: pack.spent,
        "truncated": pack.truncated,
        "noMatch": in_camel(NO_MATCH, no_match(pack.no_match)),
        "degraded": pack.degraded,
        "degradedReason": pack.degraded_reason,
        "vectorCoverage": pack.coverage,
        "indexedCommit": pack.indexed_commit,
        "skippedCount": pack.skipped_count,
    }


def _section_json(section: Section, spent: str) -> Json:
    from memhtml.answers.found import (  # noqa: PLC0415 - help needs none
        INDEX_LINE,
        QUOTE,
        index_line,
        quote,
    )

    return {
        "disclosed": [in_camel(QUOTE, quote(one)) for one in section.disclosed],
        "indexLines": [in_camel(INDEX_LINE, index_line(one)) for one in section.index_lines],
        spent: section.spent,
        "budget": section.budget,
        "truncated": section.truncated,
    }


def _similar(call: Call) -> Success:
    from memhtml.answers.found import SIMILAR, similar  # noqa: PLC0415 - help needs none

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

    return Success("memory.similar", in_camel(SIMILAR, similar(found)), text)
