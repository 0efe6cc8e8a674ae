"""What ``memhtml search`` shows: each memory with the words that were looked for lit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.screen import plural, printable, relative, wrap

if TYPE_CHECKING:
    from memhtml.cli.screen import Screen
    from memhtml.search.search import Hit, Hits

__all__ = ["hits_page"]


def hits_page(found: Hits, screen: Screen) -> str:
    """Return the answer for people, or why there is none."""
    lines: list[str] = []
    for number, hit in enumerate(found.hits, 1):
        lines += [*_hit(number, len(str(len(found.hits))), hit, screen), ""]
    if found.no_match is None:
        lines.append(plural(len(found.hits), "memory", "memories"))
    else:
        lines.append(f"nothing found: {found.no_match.message}")
    if found.unmatched_terms:
        words = ", ".join(map(printable, found.unmatched_terms))
        lines.append(screen.paint(f"in no memory: {words}", "dim"))
    if found.skipped_count:
        broken = plural(found.skipped_count, "file")
        lines.append(
            screen.paint(f"{broken} cannot be read as memories; see memhtml status", "yellow")
        )
    return "\n".join(lines) + "\n"


def _hit(number: int, digits: int, hit: Hit, screen: Screen) -> list[str]:
    indent = " " * (digits + 2)
    title = printable(hit.title)
    first, *rest = (title[a:b] for a, b in wrap(title, screen.width - len(indent)))
    place = f"{printable(hit.path)} · {hit.memory_type} · {relative(hit.updated_at, screen.now)}"
    lines = [
        f"{screen.paint(str(number).rjust(digits) + '.', 'dim')} {screen.paint(first, 'bold')}",
        *(indent + screen.paint(line, "bold") for line in rest),
        indent + screen.paint(place, "dim"),
    ]
    # One character for one, so the places of the matches stay true.
    text = printable(hit.snippet.text)
    lines += [
        indent + screen.mark(text, hit.snippet.matches, start, end)
        for start, end in wrap(text, screen.width - len(indent))
    ]
    if hit.superseded_by is not None:
        lines.append(
            indent + screen.paint(f"superseded by {printable(hit.superseded_by)}", "yellow")
        )
    return lines
