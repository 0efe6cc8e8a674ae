"""Tools that look around: lists, links, and where a path leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from memhtml.mcpserver.schema import (
    choice,
    filled,
    integer,
    items,
    maybe,
    number,
    output,
    record,
    switch,
    take,
    text,
)
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools.scopes import FILTERS, scope_of
from memhtml.model.vocabulary import Bucket, Rel
from memhtml.search.trail import StopReason, Via

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
    return {"files": [file._asdict() for file in page.files], "next_cursor": page.next_cursor}


LIST = Tool(
    name="memory_list",
    title="List memories",
    about="List the memories that pass the filters, tasks too, by path, page by page.",
    takes=take(
        para=choice("Only in this top folder, or archived from it.", Bucket),
        limit=integer("How many at most.", least=1, most=500, default=50),
        cursor=filled("next_cursor of the page before."),
        **FILTERS,
    ),
    gives=output(
        files=items(
            "The memories.",
            record(
                "A memory.",
                {
                    "path": text("Where it is."),
                    "title": text("Its title."),
                    "memory_type": text("Its type."),
                    "gist": text("The fact in one sentence."),
                    "workspace": maybe(text("The project it belongs to.")),
                    "para": text("The top folder."),
                    "confidence": number("How sure it is."),
                    "importance": integer("How much it matters."),
                    "archived": switch("It is in the archive."),
                    "updated_at": text("When it was last changed."),
                },
                required=("path", "title", "memory_type", "gist", "archived", "updated_at"),
            ),
        ),
        next_cursor=maybe(text("Asks for the next page; null at the end.")),
    ),
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
        "nodes": [node._asdict() for node in found.nodes],
        "edges": [
            {"src_path": edge.source, "rel": edge.rel, "dst_path": edge.target}
            for edge in found.edges
        ],
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
        ),
        limit=integer("How many memories at most.", least=1, most=200, default=200),
    ),
    gives=output(
        nodes=items(
            "The memories, nearest first.",
            record(
                "A memory.",
                {
                    "path": text("Where it is."),
                    "title": text("Its title."),
                    "archived": switch("It is in the archive."),
                    "hop": integer("How many links away."),
                    "rel": text("The relation by which it was reached."),
                },
                required=("path", "title", "archived", "hop", "rel"),
            ),
        ),
        edges=items(
            "The links between them.",
            record(
                "A link.",
                {
                    "src_path": text("From where."),
                    "rel": text("The relation."),
                    "dst_path": text("To where."),
                },
                required=("src_path", "rel", "dst_path"),
            ),
        ),
        node_limit=integer("How many were asked for at most."),
        dropped_node_count=integer("How many more there are."),
        scan_saturated=switch("There are more links than were followed."),
    ),
    run=_neighbors,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)


def _resolve(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    trail = corpus.resolve(arguments["path"])
    is_there = trail.stop_reason is not StopReason.UNINDEXED and trail.indexed_commit is not None
    return {
        "requested": trail.requested,
        "path": trail.path,
        "hops": len(trail.steps),
        "steps": [
            {"from": step.source, "to": step.target, "via": step.via.value} for step in trail.steps
        ],
        "stop_reason": trail.stop_reason.value,
        "title": trail.title,
        "indexed_commit": trail.indexed_commit,
        "pinned_uri": (
            f"memhtml://at/{trail.indexed_commit}/{quote(trail.path)}" if is_there else None
        ),
    }


RESOLVE = Tool(
    name="memory_resolve",
    title="Where a path leads today",
    about=(
        "Follow a path that is or was a memory's to what replaced it or where it was moved. One "
        "that leads nowhere has the stop_reason unindexed."
    ),
    takes=take("path", path=filled("The path, as it was once.", example="areas/inbox/gate.html")),
    gives=output(
        requested=text("The path that was asked for."),
        path=text("Where it leads."),
        hops=integer("In how many steps."),
        steps=items(
            "The steps.",
            record(
                "A step.",
                {
                    "from": text("From where."),
                    "to": text("To where."),
                    "via": choice("It was superseded, or moved to the archive.", Via),
                },
                required=("from", "to", "via"),
            ),
        ),
        stop_reason=choice("What the end is. live: it holds today.", StopReason),
        title=maybe(text("Title of the memory there.")),
        indexed_commit=maybe(text("The commit that the answer describes.")),
        pinned_uri=maybe(text("A resource that is this memory at that commit, for good.")),
    ),
    run=_resolve,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)
