"""``resolve``, ``neighbors`` and ``route``: where paths and links lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.casing import in_camel
from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.scopes import FRESH, is_scanned
from memhtml.cli.stores import open_store
from memhtml.model.vocabulary import Rel

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_INDEX_STALE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE")
_RELS = Flag(
    name="rel",
    repeatable=True,
    metavar="rel",
    choices=tuple(rel.value for rel in Rel),
    summary="only over links of this relation; those between memories, tasks left out, if absent",
)

COMMANDS = (
    Command(
        name="resolve",
        summary="Tell where a path, old or new, leads today.",
        description=(
            "Followed is what supersedes a memory, and what was moved to the archive. A path that "
            "leads nowhere is an answer too: stopReason is unindexed."
        ),
        arguments=(
            Argument(name="path", noun=Noun.MEMORY, summary="a path that is or was a memory's"),
        ),
        flags=(FRESH,),
        response_types=("memory.resolved",),
        errors=_ERRORS,
        examples=("memhtml resolve areas/inbox/gate-hours.html",),
    ),
    Command(
        name="neighbors",
        summary="Show the memories one or two links away.",
        description="Links count in both directions, and so do those to what was archived since.",
        arguments=(Argument(name="path", noun=Noun.MEMORY, summary="the memory to begin at"),),
        flags=(
            Flag(
                name="depth",
                kind=Kind.INTEGER,
                default=1,
                minimum=1,
                maximum=2,
                metavar="n",
                summary="how many links away at most",
            ),
            _RELS,
            Flag(
                name="limit",
                kind=Kind.INTEGER,
                default=200,
                minimum=1,
                maximum=200,
                metavar="n",
                summary="how many memories at most; nodesDropped says how many more there are",
            ),
            FRESH,
        ),
        response_types=("memory.neighbors",),
        errors=("ERR_PATH_NOT_FOUND", *_ERRORS),
        examples=("memhtml neighbors areas/inbox/gate-hours.html --depth 2 --rel caused_by",),
    ),
    Command(
        name="route",
        summary="Show the fewest links that join two memories.",
        arguments=(
            Argument(name="start", noun=Noun.MEMORY, summary="the memory to begin at"),
            Argument(name="end", noun=Noun.MEMORY, summary="the memory to arrive at"),
        ),
        flags=(_RELS, FRESH),
        response_types=("memory.route",),
        errors=("ERR_PATH_NOT_FOUND", *_ERRORS),
        examples=("memhtml route areas/inbox/gate-hours.html areas/inbox/night-shift.html",),
    ),
)


def run(call: Call) -> Success:
    """Follow a path, or links."""
    return {"resolve": _resolve, "neighbors": _neighbors, "route": _route}[call.command.name](call)


def _resolve(call: Call) -> Success:
    from memhtml.answers.linked import TRAIL  # noqa: PLC0415 - help needs none
    from memhtml.answers.linked import trail as told  # noqa: PLC0415 - as above

    with open_store(call) as corpus:
        trail = corpus.resolve(call.text("path"), scan=is_scanned(call))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.graph import trail_lines  # noqa: PLC0415 - only for people

        return trail_lines(trail, screen)

    return Success("memory.resolved", in_camel(TRAIL, told(trail)), text)


def _neighbors(call: Call) -> Success:
    from memhtml.answers.linked import edge, node  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus:
        found = corpus.neighbors(
            call.text("path"),
            depth=call.integer("depth"),
            rels=_rels(call),
            limit=call.integer("limit"),
            scan=is_scanned(call),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.graph import neighbourhood_page  # noqa: PLC0415 - only for people

        return neighbourhood_page(found, screen)

    return Success(
        "memory.neighbors",
        {
            "center": found.center,
            "depth": found.depth,
            "limit": call.integer("limit"),
            "nodes": [node(one) for one in found.nodes],
            "edges": [edge(one) for one in found.edges],
            "nodesDropped": found.nodes_dropped,
            "scanSaturated": found.scan_saturated,
        },
        text,
    )


def _route(call: Call) -> Success:
    from memhtml.answers.linked import edge  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus:
        route = corpus.find_route(
            call.text("start"), call.text("end"), rels=_rels(call), scan=is_scanned(call)
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.graph import route_lines  # noqa: PLC0415 - only for people

        return route_lines(route, screen)

    return Success(
        "memory.route",
        {
            "found": route is not None,
            "hops": None if route is None else len(route),
            "edges": [edge(one) for one in route or ()],
        },
        text,
    )


def _rels(call: Call) -> tuple[Rel, ...]:
    return tuple(map(Rel, call.texts("rel")))
