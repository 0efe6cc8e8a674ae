"""Tools that look around: lists, links, and where a path leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from memhtml.answers.linked import EDGE, NODE, TRAIL, edge, node, trail
from memhtml.answers.listed import FILES, files
from memhtml.answers.schema import choice, filled, integer, items, maybe, record, switch, text
from memhtml.mcpserver.schema import output, take
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools.scopes import FILTERS, scope_of
from memhtml.model.vocabulary import Bucket, Rel
from memhtml.search.trail import StopReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse

__all__ = ["LIST", "NEIGHBORS", "RESOLVE"]


def _list(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    page = corpus.list_memories(
        scope_of(arguments, tool="memory_list"),
        para=Bucket(arguments["para"]) if "para" in arguments else None,
        limit=int(arguments.get("limit", 50)),
        cursor=arguments.get("cursor"),
    )
    return files(page)


LIST = Tool(
    name="memory_list",
    title="List memories",
    about="List the memories that pass the filters, tasks too, by path, page by page.",
    takes=take(
        para=choice("Only in this top folder, or archived from it.", Bucket),
        limit=integer("How many at most.", least=1, most=500, default=50),
        cursor=filled("next_cursor of the page before.", most=4000),
        **FILTERS,
    ),
    gives=output(FILES),
    run=_list,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)


def _neighbors(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    limit = int(arguments.get("limit", 200))
    found = corpus.neighbors(
        arguments["path"],
        depth=int(arguments.get("depth", 1)),
        rels=tuple(map(Rel, arguments.get("rels", ()))),
        limit=limit,
    )
    return {
        "nodes": [node(one) for one in found.nodes],
        "edges": [edge(one) for one in found.edges],
        "node_limit": limit,
        "dropped_node_count": found.nodes_dropped,
        "scan_saturated": found.scan_saturated,
    }


NEIGHBORS = Tool(
    name="memory_neighbors",
    title="Neighbours of a memory",
    about="Show the memories one or two links away, whatever way the links point.",
    takes=take(
        "path",
        path=filled("The memory to begin at.", example="areas/inbox/gate-hours.html"),
        depth=integer("How many links away at most.", least=1, most=2, default=1),
        rels=items(
            "Only over links of these relations.",
            {"type": "string", "enum": [rel.value for rel in Rel]},
            most=len(Rel),
        ),
        limit=integer("How many memories at most.", least=1, most=200, default=200),
    ),
    gives=output(
        record(
            "The memories near one.",
            {
                "nodes": items("The memories, nearest first.", NODE),
                "edges": items("The links between them.", EDGE),
                "node_limit": integer("How many were asked for at most."),
                "dropped_node_count": integer("How many more there are."),
                "scan_saturated": switch("There are more links than were followed."),
            },
        )
    ),
    run=_neighbors,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)


def _resolve(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    found = corpus.resolve(arguments["path"])
    is_there = found.stop_reason is not StopReason.UNINDEXED and found.indexed_commit is not None
    pinned = f"memhtml://at/{found.indexed_commit}/{quote(found.path)}"
    return {**trail(found), "pinned_uri": pinned if is_there else None}


RESOLVE = Tool(
    name="memory_resolve",
    title="Where a path leads today",
    about=(
        "Follow a path that is or was a memory's to what replaced it or where it was moved. One "
        "that leads nowhere has the stop_reason unindexed."
    ),
    takes=take("path", path=filled("The path, as it was once.", example="areas/inbox/gate.html")),
    gives=output(
        record(
            "Where a path leads today.",
            {
                **TRAIL["properties"],
                "pinned_uri": maybe(
                    text("A resource that is this memory at that commit, for good.")
                ),
            },
        )
    ),
    run=_resolve,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)
