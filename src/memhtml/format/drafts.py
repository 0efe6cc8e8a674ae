"""What is wrong with a draft before it is a file.

The checker judges bytes, so it sees only what rendering keeps. Four things are lost or impossible
on the way and must be found in the draft itself: text that HTML cannot carry, a blank entry, a
number out of range (read back, it would silently be dropped), and a field that has no place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from memhtml.format.checks.codes import diagnostic
from memhtml.format.escape import find_unwritable
from memhtml.format.metas import META_PREFIX, NUMBER_RANGES
from memhtml.model.diagnostics import Span
from memhtml.model.vocabulary import MemoryType
from memhtml.model.whitespace import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.model.diagnostics import Diagnostic
    from memhtml.model.memory import Draft

__all__ = ["check_draft", "find_unrenderable"]

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
    if find_unwritable("".join([text for _, text in _texts(draft)])) is None:
        return
    for field, text in _texts(draft):
        if (character := find_unwritable(text)) is not None:
            yield _violation("draft-text-invalid", field=field, value=f"U+{ord(character):04X}")


def _blank(draft: Draft) -> Iterator[Diagnostic]:
    for field, text in _labels(draft):
        if is_blank(text):
            yield _violation("draft-text-blank", field=field)


def _not_numbers(draft: Draft) -> Iterator[Diagnostic]:
    numbers: list[tuple[str, object]] = [(field, getattr(draft, field)) for field in _RANGED]
    numbers += [("facets", facet.number) for facet in draft.facets]
    for field, value in numbers:
        if value is not None and not _is_number(value):
            yield _bad_number(field, value, "a finite number")


def _out_of_range(draft: Draft) -> Iterator[Diagnostic]:
    for field, name in _RANGED.items():
        value = getattr(draft, field)
        if value is None or not _is_number(value):
            continue
        low, high, is_whole = NUMBER_RANGES[name]
        if not low <= value <= high or (is_whole and value != int(value)):
            kind = "a whole number" if is_whole else "a number"
            yield _bad_number(field, value, f"{kind} from {low} to {high}")


def _bad_number(field: str, value: object, wanted: str) -> Diagnostic:
    # Python refuses to spell out an int of thousands of digits.
    is_huge = isinstance(value, int) and value.bit_length() > 128
    shown = "too large" if is_huge else str(value)[:40]
    return _violation("draft-number-invalid", field=field, value=shown, range=wanted)


def _unused(draft: Draft) -> Iterator[Diagnostic]:
    if not is_blank(draft.article_html or ""):
        for field in ("facets", "citations", "happened_at"):
            if getattr(draft, field):
                why = "article_html is the whole article"
                yield _violation("draft-field-unused", field=field, why=why)
    if draft.memory_type != MemoryType.TASK:
        for field in ("task_status", "due_at"):
            if getattr(draft, field) is not None:
                yield _violation("draft-field-unused", field=field, why="the memory is no task")


def _unreadable_links(draft: Draft) -> Iterator[Diagnostic]:
    # A reader takes a rel without our prefix for a foreign link and passes over it.
    for link in draft.links:
        if not link.rel.startswith(META_PREFIX):
            yield _violation("link-rel-unknown", field="links", rel=link.rel)


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


def _violation(code: str, **info: str) -> Diagnostic:
    # A draft has no lines yet; its findings stand at the start of the file it would become.
    return diagnostic(code, Span(0, 0, 1, 1, 1, 1), **info)
