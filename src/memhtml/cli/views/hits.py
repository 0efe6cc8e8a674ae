"""What ``search``, ``recall`` and ``similar`` show: memories, with the words looked for lit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.screen import placed, plural, printable, relative, wrap
from memhtml.search.hits import NoMatchReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memhtml.cli.screen import Screen
    from memhtml.search.hits import Hit, Hits, NoMatch
    from memhtml.search.recall import Pack
    from memhtml.search.similar import Similar

__all__ = ["hits_page", "pack_page", "similar_page"]


def hits_page(
    found: Hits, screen: Screen, *, with_reasons: bool = False, with_arms: bool = False
) -> str:
    """Return the answer for people, or why there is none; *with_reasons*, how hits were placed.

    With either, also which arm took no part.
    """
    lines: list[str] = []
    for number, hit in enumerate(found.hits, 1):
        lines += [*_hit(number, len(str(len(found.hits))), hit, screen, with_reasons), ""]
    if found.no_match is None:
        lines.append(plural(len(found.hits), "memory", "memories"))
    else:
        lines += _nothing(found.no_match, screen)
    lines += [
        screen.paint(line, style)
        for text, style in _notes(found, with_arms=with_arms or with_reasons)
        for line in _flowing(text, screen)
    ]
    return "\n".join(lines) + "\n"


def pack_page(pack: Pack, screen: Screen, *, with_arms: bool = False) -> str:
    """Return what was recalled, fenced; or why nothing was; *with_arms*, which took no part."""
    if pack.no_match is None:
        lines = _pack(pack, screen)
    else:
        lines = _nothing(pack.no_match, screen, with_claims=False)  # no fence, no quotes
    if with_arms and pack.degraded_reason:
        lines += _flowing(_left_out(pack), screen)
    return "\n".join(lines) + "\n"


def similar_page(found: Iterable[Similar], screen: Screen) -> str:
    """Return the memories that are like one, the most alike first."""
    lines: list[str] = []
    for other in found:
        score = screen.paint(f"{other.likeness:.2f}", "dim")
        lines.append(f"{score} {screen.paint(printable(other.path), 'bold')}")
        lines += [f"     {line}" for line in _flowing(other.gist or other.title, screen, 5)]
    return "\n".join(lines or ["nothing is like it"]) + "\n"


def _pack(pack: Pack, screen: Screen) -> list[str]:
    from secrets import token_hex  # noqa: PLC0415 - only here

    word = token_hex(8)
    # One line at a time, or there would be one line only.
    lines = [part for line in pack.text(word).split("\n") for part in _flowing(line, screen)]
    return lines + _flowing(pack.spending + ("; there is more" if pack.truncated else ""), screen)


def _left_out(found: Hits | Pack) -> str:
    return ("by words alone: " if found.degraded else "") + (found.degraded_reason or "")


def _hit(number: int, digits: int, hit: Hit, screen: Screen, with_reasons: bool) -> list[str]:
    indent = " " * (digits + 2)
    first, *rest = _flowing(hit.title, screen, len(indent))
    lines = [
        f"{screen.paint(str(number).rjust(digits) + '.', 'dim')} {screen.paint(first, 'bold')}",
        *(indent + screen.paint(line, "bold") for line in rest),
        *placed(
            hit.path, (hit.memory_type, relative(hit.updated_at, screen.now)), screen, len(indent)
        ),
    ]
    # One character for one, so the places of the matches stay true.
    text = printable(hit.snippet.text)
    lines += [
        indent + screen.mark(text, hit.snippet.matches, start, end)
        for start, end in wrap(text, screen.width - len(indent))
    ]
    lines += [indent + screen.paint(printable(note), "yellow") for note in _warnings(hit)]
    if with_reasons:
        lines += [
            indent + screen.paint(line, "cyan")
            for reason in _reasons(hit)
            for line in _flowing(reason, screen, len(indent))
        ]
    return lines


def _nothing(why: NoMatch, screen: Screen, *, with_claims: bool = True) -> list[str]:
    """Return why there is no answer, and what comes nearest to one."""
    lines = _flowing(f"nothing found: {why.message}", screen)
    how = "nearest by meaning" if why.reason is NoMatchReason.NOT_SAID else "nearest"
    for near in why.closest:
        if not with_claims:
            lines.append(f"  {how}: {printable(near.path)}")
            continue
        lines += [f"  {line}" for line in _flowing(f"{how}: {near.gist}", screen, 2)]
        lines += placed(near.path, (), screen, 4)
    return lines


def _warnings(hit: Hit) -> Iterator[str]:
    if hit.superseded_by is not None:
        yield f"superseded by {hit.superseded_by}"
    for path in hit.contradicts:
        yield f"contradicts {path}"
    for path in hit.conflicts_with:
        yield f"at odds with {path}"


def _reasons(hit: Hit) -> Iterator[str]:
    why = hit.explanation
    yield why.arithmetic
    ranks = ", ".join(f"{score.arm} rank {score.rank}" for score in why.arms)
    yield f"score {hit.score:.3f}, relevance {hit.relevance:.2f}" + (f"; {ranks}" if ranks else "")
    if why.missing:
        yield f"without: {', '.join(why.missing)}"


def _notes(found: Hits, *, with_arms: bool) -> Iterator[tuple[str, str]]:
    """Yield what else there is to know of an answer, with the style it is shown in."""
    if found.unmatched_terms:
        yield f"in no memory: {', '.join(found.unmatched_terms)}", "dim"
    for term, words in found.spellings:
        yield f"instead of {term}, memories have: {', '.join(words)}", "dim"
    for match in found.archived:
        yield f"in the archive: {match.path}", "dim"
    if found.next_cursor is not None:
        yield f"more with --cursor {found.next_cursor}", "dim"
    if found.cursor_stale:
        yield "the index changed since the first page: some may come twice or be missing", "yellow"
    if with_arms and found.degraded_reason:
        yield _left_out(found), "dim"
    elif with_arms or 0.0 < found.coverage < 1.0:
        yield f"{found.coverage:.0%} of the texts are searched by meaning too", "dim"
    if found.skipped_count:
        broken = plural(found.skipped_count, "file")
        yield f"{broken} cannot be read as memories; see memhtml status", "yellow"


def _flowing(text: str, screen: Screen, indent: int = 0) -> list[str]:
    text = printable(text)
    return [text[a:b] for a, b in wrap(text, screen.width - indent)]
