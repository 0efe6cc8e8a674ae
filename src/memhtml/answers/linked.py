"""What links answer: what is near a memory, and where a path leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import choice, integer, items, maybe, record, switch, text
from memhtml.search.trail import StopReason, Via

if TYPE_CHECKING:
    from memhtml.search.graph import GraphEdge, Node
    from memhtml.search.trail import Trail

__all__ = ["EDGE", "NODE", "TRAIL", "edge", "node", "trail"]

NODE = record(
    "A memory.",
    {
        "path": text("Where it is."),
        "title": text("Its title."),
        "archived": switch("It is in the archive."),
        "hop": integer("How many links away."),
        "rel": text("The relation by which it was reached."),
    },
)


def node(found: Node) -> dict[str, Any]:
    """Return `NODE`."""
    return found._asdict()


EDGE = record(
    "A link.",
    {"from": text("From where."), "rel": text("The relation."), "to": text("To where.")},
)


def edge(found: GraphEdge) -> dict[str, Any]:
    """Return `EDGE`."""
    return {"from": found.source, "rel": found.rel, "to": found.target}


TRAIL = record(
    "Where a path leads today.",
    {
        "requested": text("The path that was asked for."),
        "path": text("Where it leads."),
        "hops": integer("In how many steps."),
        "steps": items(
            "The steps.",
            record(
                "A step.",
                {
                    "from": text("From where."),
                    "to": text("To where."),
                    "via": choice("It was superseded, or moved to the archive.", Via),
                },
            ),
        ),
        "stop_reason": choice("What the end is. live: it holds today.", StopReason),
        "title": maybe(text("Title of the memory there.")),
        "indexed_commit": maybe(text("The commit that the answer describes.")),
    },
)


def trail(found: Trail) -> dict[str, Any]:
    """Return `TRAIL`."""
    return {
        "requested": found.requested,
        "path": found.path,
        "hops": len(found.steps),
        "steps": [
            {"from": step.source, "to": step.target, "via": step.via.value} for step in found.steps
        ],
        "stop_reason": found.stop_reason.value,
        "title": found.title,
        "indexed_commit": found.indexed_commit,
    }
