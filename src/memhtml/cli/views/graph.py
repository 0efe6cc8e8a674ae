"""What ``resolve``, ``neighbors`` and ``route`` show: paths, and the links between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.screen import plural, printable
from memhtml.search.trail import StopReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.cli.screen import Screen
    from memhtml.search.graph import GraphEdge, Neighbourhood
    from memhtml.search.trail import Trail

__all__ = ["neighbourhood_page", "route_lines", "trail_lines"]

_ENDS = {
    StopReason.LIVE: "it is what holds today",
    StopReason.ARCHIVED: "it is in the archive, and nothing replaces it",
    StopReason.UNINDEXED: "no memory stands there",
    StopReason.CYCLE: "memories supersede each other in a circle",
    StopReason.HOP_LIMIT: "the trail goes on for longer than it is followed",
}


def trail_lines(trail: Trail, screen: Screen) -> str:
    """Return the stations of a path, and what the last one is."""
    lines = [printable(trail.requested)]
    lines += [f"  {_words(step.via)} → {printable(step.target)}" for step in trail.steps]
    if trail.title is not None:
        lines.append(screen.paint(printable(trail.title), "bold"))
    lines.append(_ENDS[trail.stop_reason])
    return "\n".join(lines) + "\n"


def neighbourhood_page(found: Neighbourhood, screen: Screen) -> str:
    """Return what stands near a memory, the nearest first."""
    lines = [screen.paint(printable(found.center), "bold")]
    for node in found.nodes:
        what = f"{_words(node.rel)}, " if node.hop == 1 else ""
        note = f"{what}{plural(node.hop, 'link')} away" + (", archived" if node.archived else "")
        lines.append(f"  {printable(node.title)} {screen.paint(f'({note})', 'dim')}")
        lines.append(f"    {printable(node.path)}")
    lines.append(plural(len(found.nodes), "memory", "memories"))
    if found.nodes_dropped:
        lines.append(screen.paint(f"{found.nodes_dropped:,} more were left out", "yellow"))
    if found.scan_saturated:
        lines.append(screen.paint("not all links were followed: there are too many", "yellow"))
    return "\n".join(lines) + "\n"


def route_lines(route: Sequence[GraphEdge] | None, screen: Screen) -> str:
    """Return the links of a route, a line each."""
    if route is None:
        return "no links join the two\n"
    lines = [
        f"{printable(edge.source)}\n  {screen.paint(_words(edge.rel), 'dim')} → "
        f"{printable(edge.target)}"
        for edge in route
    ]
    return "\n".join([*lines, plural(len(route), "link")]) + "\n"


def _words(rel: str) -> str:
    return rel.replace("_", " ")
