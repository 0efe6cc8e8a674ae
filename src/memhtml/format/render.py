"""A draft into a file: the template, and the gate that no bad file gets through.

The template places the claim itself, so prose always renders to a memory whose claim leads.
`Draft.article_html` is the other way in: markup is placed as it is, and nothing is repaired. So
the gate reads the rendered bytes back and refuses what a reader would not accept, or would not
find where the template put it.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from memhtml.format.containment import check_containment
from memhtml.format.drafts import check_draft, find_unrenderable
from memhtml.format.escape import escape_attribute, escape_text, meta_tag
from memhtml.format.fences import fence_block
from memhtml.format.parse import parse
from memhtml.format.serialize import serialize
from memhtml.format.text import content_hash
from memhtml.model.document import Head
from memhtml.model.errors import InvalidMemory
from memhtml.model.vocabulary import MemoryType, Status, TaskStatus
from memhtml.model.whitespace import is_blank, wide_trim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memhtml.model.document import Citation, Document, Facet
    from memhtml.model.memory import Draft

__all__ = ["render_extras", "render_figure", "render_memory", "render_template"]

_NO_HASH = "0" * 64
_UNSEALED = meta_tag("memhtml-content-hash", _NO_HASH).encode()
_line_break_re = re.compile(r"[\t\f ]*[\r\n][\t\n\f\r ]*")


def render_memory(
    draft: Draft, *, at: str, detect: Callable[[str], str | None] | None = None
) -> tuple[bytes, Document]:
    """Return the file of *draft* and what it says, having read it back.

    The arguments are those of `render_template`.

    Raises:
        InvalidMemory: *draft* or the rendered file has violations; it carries all of them.
    """
    found = list(check_draft(draft))
    if found and find_unrenderable(draft):
        raise InvalidMemory(found)
    article = _article(draft, detect)
    # A hash of zeros leaves every place where it is, and what the article says does not depend on
    # it, so one reading is hash and gate at once.
    unsealed = _file(draft, at, article, _NO_HASH)
    document = parse(unsealed)
    data = _sealed(unsealed, document.content_hash)
    # Nobody has seen this head yet, and making a second one would take longer than the rendering.
    object.__setattr__(document.head, "content_hash", document.content_hash)
    found += document.violations
    if _markup(draft) and (escape := check_containment(data)):
        found.append(escape)
    if found:
        raise InvalidMemory(found)
    return data, document


def render_template(
    draft: Draft, *, at: str, detect: Callable[[str], str | None] | None = None
) -> bytes:
    """Return the file of *draft* (format-behaviour §12), created and updated *at* that instant.

    *detect* names the language of a fence that states none, or returns None; without it such a
    fence has no ``data-lang``. Nothing is validated: `render_memory` is the gate.

    Raises:
        InvalidMemory: a text or a number of *draft* has no spelling in the file at all.
    """
    if found := find_unrenderable(draft):
        raise InvalidMemory(found)
    unsealed = _file(draft, at, _article(draft, detect), _NO_HASH)
    return _sealed(unsealed, content_hash(unsealed))


def render_figure(code: str, lang: str | None) -> str:
    """Return *code* as a figure, labelled with its language where that is known."""
    label = f' data-lang="{escape_attribute(lang)}"' if lang else ""
    return f"<figure><pre><code{label}>{escape_text(code)}</code></pre></figure>"


def render_extras(
    happened_at: str | None, facets: Iterable[Facet], citations: Iterable[Citation]
) -> Iterator[str]:
    """Yield what a draft states beside its prose, to stand after it: the claim comes first."""
    if happened_at is not None:
        when = happened_at
        yield f'<p><time datetime="{escape_attribute(when)}">{_text(when)}</time></p>'
    # One name may govern several values in a row, and stands once above them.
    groups = [(name, list(group)) for name, group in groupby(facets, key=lambda facet: facet.name)]
    if groups:
        yield "<dl>"
        for name, group in groups:
            yield f"<dt>{_text(name)}</dt>"
            yield from (f"<dd>{_value(facet)}</dd>" for facet in group)
        yield "</dl>"
    yield from (f"<p>{_source(citation)}</p>" for citation in citations)


def _file(draft: Draft, at: str, article: str, hash_: str) -> bytes:
    title = _line_break_re.sub(" ", wide_trim(draft.title))
    head = _head(draft, at, hash_)
    return serialize(title=title, head=head, links=draft.links, article_html=article)


def _sealed(unsealed: bytes, hash_: str) -> bytes:
    """Return a file with *hash_* in place of the zeros it was rendered with."""
    # No value before it can look like this tag, for quotes or angle brackets in it are escaped.
    return unsealed.replace(_UNSEALED, _UNSEALED.replace(_NO_HASH.encode(), hash_.encode()), 1)


def _head(draft: Draft, at: str, hash_: str) -> Head:
    is_task = draft.memory_type == MemoryType.TASK
    return Head(
        memory_type=draft.memory_type,
        status=Status.ACTIVE,
        created_at=at,
        updated_at=at,
        confidence=draft.confidence,
        importance=draft.importance,
        content_hash=hash_,
        author=draft.author,
        session_id=draft.session_id,
        prompt_id=draft.prompt_id,
        turn_uuid=draft.turn_uuid,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        task_status=(draft.task_status or TaskStatus.TODO) if is_task else None,
        due_at=draft.due_at if is_task else None,
        entities=draft.entities,
        tags=draft.tags,
        aliases=draft.aliases,
    )


def _article(draft: Draft, detect: Callable[[str], str | None] | None) -> str:
    markup = _markup(draft)
    if markup is not None:
        return markup
    extras = render_extras(draft.happened_at, draft.facets, draft.citations)
    return "\n".join((*_prose(draft, detect), *extras))


def _markup(draft: Draft) -> str | None:
    # A blank one is what a caller sends who has none.
    return None if is_blank(draft.article_html or "") else draft.article_html


def _prose(draft: Draft, detect: Callable[[str], str | None] | None) -> Iterator[str]:
    lead = f"<mark>{_text(draft.claim)}</mark>"
    for paragraph in draft.paragraphs:
        if is_blank(paragraph):
            continue
        fence = fence_block(paragraph)
        if fence is None and lead:
            yield f"<p>{lead} {_text(paragraph)}</p>"
        elif fence is None:
            yield f"<p>{_text(paragraph)}</p>"
        else:
            if lead:
                yield f"<p>{lead}</p>"
            yield render_figure(fence.code, fence.lang or (detect(fence.code) if detect else None))
        lead = ""
    if lead:
        yield f"<p>{lead}</p>"


def _value(facet: Facet) -> str:
    if facet.number is None:
        return _text(facet.value)
    number = float(facet.number)
    digits = str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)
    return f'<data value="{digits}">{_text(facet.value)}</data>'


def _source(citation: Citation) -> str:
    if citation.href is None:
        return f"<cite>{_text(citation.text)}</cite>"
    return f'<q cite="{escape_attribute(citation.href)}">{_text(citation.text)}</q>'


def _text(text: str) -> str:
    return escape_text(wide_trim(_lf(text)))


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
