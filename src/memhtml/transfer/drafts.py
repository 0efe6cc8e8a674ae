"""A found text as a draft: what every reader does alike."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memhtml.format.markdown import from_markdown
from memhtml.format.prose import claim_from_prose, prose_tail
from memhtml.format.render import render_extras
from memhtml.model.instants import is_instant, stamp
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.model.whitespace import collapse, is_blank
from memhtml.transfer.item import Item

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.model.document import Facet
    from memhtml.transfer.item import Options

__all__ = ["MAX_TITLE_CHARS", "instant_from", "item_of", "skipped", "title_from"]

MAX_TITLE_CHARS = 80

_markup_re = re.compile(r"[*_`#>\[\]]+|\]\([^)]*\)")


def item_of(
    text: str,
    origin: str,
    options: Options,
    *,
    title: str = "",
    memory_type: MemoryType = MemoryType.SEMANTIC,
    tags: Iterable[str] = (),
    entities: Iterable[str] = (),
    facets: Iterable[Facet] = (),
    author: str | None = None,
    session_id: str | None = None,
    valid_from: str | None = None,
    line: int = 1,
    plain: bool = False,
) -> Item:
    """Return the Markdown *text* as an item; *line* is where it stood in its file.

    A *plain* text is prose, in which nothing is markup. *facets* go with Markdown only.

    What a source says of itself wins over *options*; *memory_type* is what the reader takes a text
    for that says nothing.
    """
    if is_blank(text):
        return skipped(origin, "it is empty", title=title)
    title = collapse(title) or title_from(text)
    draft = Draft(
        title=title,
        memory_type=options.memory_type or memory_type,
        tags=tuple(dict.fromkeys((*filter(None, map(collapse, tags)), *options.tags))),
        entities=tuple(dict.fromkeys(filter(None, map(collapse, entities)))),
        author=author,
        session_id=session_id,
        valid_from=valid_from,
        workspace=options.workspace,
    )
    if plain:
        prose = replace(draft, claim=claim_from_prose(text), paragraphs=prose_tail(text))
        return Item(origin, title, prose)
    converted = from_markdown(text, fallback_claim=title, detect=options.detect)
    html = "\n".join((converted.article_html, *render_extras(None, facets, ())))
    notes = tuple(note._replace(line=note.line + line - 1) for note in converted.notes)
    return Item(origin, title, replace(draft, article_html=html), notes=notes)


def skipped(origin: str, reason: str, *, title: str = "") -> Item:
    """Return an item that is no memory, and why."""
    return Item(origin, title, skipped=reason)


def title_from(text: str) -> str:
    """Return a short name for *text*: its first sentence without markup, cut between words.

    >>> title_from("**Ada** likes [tea](https://tea.example). Always.")
    'Ada likes tea'
    """
    # A title is short, and so is what it is made from: the pattern below looks far ahead.
    first = re.split(r"\n[ \t]*\n", text.strip()[:2000], maxsplit=1)[0]
    plain = re.sub(r"\]\([^)]*\)", "", first)
    plain = collapse(_markup_re.sub("", plain))
    sentence = claim_from_prose(plain).rstrip(".!?:") or plain
    if len(sentence) <= MAX_TITLE_CHARS:
        return sentence
    cut = sentence[: MAX_TITLE_CHARS - 1]
    return (cut.rpartition(" ")[0] or cut) + "…"


def instant_from(value: object) -> str | None:
    """Return the time that another program wrote, in the format's spelling; None for no time.

    A number counts seconds of the epoch. What is finer than a second is cut off, and a time without
    a zone is only a day.

    >>> instant_from("2024-07-20T01:30:36.275141-07:00"), instant_from(0), instant_from("soon")
    ('2024-07-20T08:30:36Z', '1970-01-01T00:00:00Z', None)
    >>> instant_from("2024-07-20 01:30")
    '2024-07-20'
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return stamp(datetime.fromtimestamp(value, UTC))
        if not isinstance(value, str):
            return None
        moment = datetime.fromisoformat(value.strip())
        instant = stamp(moment) if moment.tzinfo is not None else moment.date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None
    is_day = len(value.strip()) == len("2024-07-20")
    instant = value.strip() if is_day else instant
    return instant if is_instant(instant) else None
