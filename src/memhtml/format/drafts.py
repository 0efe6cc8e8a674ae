"""What is wrong with a draft before it is a file.

The checker judges bytes, so it sees only what rendering keeps. Four things are lost or impossible
on the way and must be found in the draft itself: text that HTML cannot carry, a blank entry, a
number out of range (read back, it would silently be dropped), and a field that has no place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from memhtml.format.escape import find_unwritable
from memhtml.format.metas import META_PREFIX, NUMBER_RANGES
from memhtml.model.diagnostics import Diagnostic, Severity, Span
from memhtml.model.vocabulary import MemoryType
from memhtml.model.whitespace import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.model.memory import Draft

__all__ = ["check_draft", "find_unrenderable"]

# A draft has no lines yet; the place of its findings is the start of the file it would become.
_NOWHERE = Span(0, 0, 1, 1, 1, 1)

_RANGED = {"confidence": "memhtml-confidence", "importance": "memhtml-importance"}


def check_draft(draft: Draft) -> tuple[Diagnostic, ...]:
    """Return every violation of *draft* that its rendered bytes would not show.

    Each names the field in ``info["field"]``. Title, claim and instants are not judged here: the
    checker does, on the rendered bytes.
    """
    return (
        *find_unrenderable(draft),
        *_blank(draft),
        *_out_of_range(draft),
        *_unused(draft),
        *_unreadable_links(draft),
    )


def find_unrenderable(draft: Draft) -> tuple[Diagnostic, ...]:
    """Return the violations of *draft* that leave no bytes to write at all."""
    return (*_unwritable(draft), *_not_numbers(draft))


def _unwritable(draft: Draft) -> Iterator[Diagnostic]:
    for field, text in _texts(draft):
        if (character := find_unwritable(text)) is not None:
            name = f"U+{ord(character):04X}"
            yield _violation(
                "draft-text-invalid",
                f"{field} holds {name}, which a UTF-8 HTML file cannot carry; remove it",
                field=field,
                value=name,
            )


def _blank(draft: Draft) -> Iterator[Diagnostic]:
    for field, text in _labels(draft):
        if is_blank(text):
            yield _violation(
                "draft-text-blank", f"{field} is blank; say something or leave it out", field=field
            )


def _not_numbers(draft: Draft) -> Iterator[Diagnostic]:
    numbers: list[tuple[str, object]] = [(field, getattr(draft, field)) for field in _RANGED]
    numbers += [("facets", facet.number) for facet in draft.facets]
    for field, value in numbers:
        if value is not None and not _is_number(value):
            yield _violation(
                "draft-number-invalid",
                f"{field} must be a number, not {value!r:.40}",
                field=field,
                value=str(value)[:40],
            )


def _out_of_range(draft: Draft) -> Iterator[Diagnostic]:
    for field, name in _RANGED.items():
        value = getattr(draft, field)
        if value is None or not _is_number(value):
            continue
        low, high, is_whole = NUMBER_RANGES[name]
        if not low <= value <= high or (is_whole and value != int(value)):
            kind = "a whole number" if is_whole else "a number"
            yield _violation(
                "draft-number-invalid",
                f"{field} must be {kind} from {low} to {high}, not {value!r:.40}",
                field=field,
                value=str(value)[:40],
            )


def _unused(draft: Draft) -> Iterator[Diagnostic]:
    if draft.article_html is not None and not is_blank(draft.article_html):
        for field in ("facets", "citations", "happened_at"):
            if getattr(draft, field):
                yield _violation(
                    "draft-field-unused",
                    f"{field} has no place beside article_html; write it in the markup",
                    field=field,
                )
    if draft.memory_type != MemoryType.TASK:
        for field in ("task_status", "due_at"):
            if getattr(draft, field) is not None:
                yield _violation(
                    "draft-field-unused",
                    f"{field} belongs to a task; leave it out, or make this a task",
                    field=field,
                )


def _unreadable_links(draft: Draft) -> Iterator[Diagnostic]:
    # A reader takes any other rel for a foreign link and passes over it.
    for link in draft.links:
        if not link.rel.startswith(META_PREFIX):
            yield _violation(
                "link-rel-unknown",
                f"links has the rel {link.rel!r:.40}; write its token, {META_PREFIX}NAME",
                field="links",
                rel=link.rel[:40],
            )


def _texts(draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield every text that a rendered *draft* holds, with the field it is in."""
    yield "title", draft.title
    yield "claim", draft.claim
    yield from (("paragraphs", paragraph) for paragraph in draft.paragraphs)
    if draft.article_html is not None:
        yield "article_html", draft.article_html
    yield from _labels(draft)
    for citation in draft.citations:
        if citation.href is not None:
            yield "citations", citation.href
    for link in draft.links:
        yield "links", link.rel
        yield "links", link.href
    for field in ("happened_at", "valid_from", "valid_until", "due_at"):
        if (value := getattr(draft, field)) is not None:
            yield field, value


def _labels(draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield the texts of *draft* that say nothing when blank."""
    for field in ("author", "session_id", "prompt_id", "turn_uuid"):
        if (value := getattr(draft, field)) is not None:
            yield field, value
    for field in ("tags", "entities", "aliases"):
        yield from ((field, value) for value in getattr(draft, field))
    for facet in draft.facets:
        yield "facets", facet.name
        yield "facets", facet.value
    yield from (("citations", citation.text) for citation in draft.citations)


def _is_number(value: Any) -> bool:  # noqa: ANN401  # a door may hand on what JSON gave it
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an int too large for a float
        return False


def _violation(code: str, message: str, **info: str) -> Diagnostic:
    return Diagnostic(code, Severity.VIOLATION, message, _NOWHERE, info)
