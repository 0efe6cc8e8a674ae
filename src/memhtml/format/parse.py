"""Bytes into a `Document`, always; what is wrong with them is in its diagnostics.

Reading and judging are two steps over one walk: `parse` takes what can be used and reports the
rest, `check_memory` is the gate that lets only a file without violations through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks import diagnose, diagnostic
from memhtml.format.extract import scan
from memhtml.format.text import canonical_text, hash_text, plain_text
from memhtml.format.tree import read_tree
from memhtml.model.diagnostics import Span
from memhtml.model.document import Document, Head, Link
from memhtml.model.errors import InvalidMemory

if TYPE_CHECKING:
    from memhtml.model.diagnostics import Diagnostic

__all__ = ["FILE_CAP", "check_document", "check_memory", "parse"]

FILE_CAP = 8 * 2**20
"""Most bytes a memory may have; a larger file is not parsed. Memories are 1 to 4 KB."""


def parse(data: bytes) -> Document:
    """Return what *data* says as a memory, and everything that is wrong with it.

    Never raises, whatever the bytes, and takes time linear in their number.

    >>> document = parse(b"<title>Dough</title><article><p><mark>It rises twice.</mark></p>")
    >>> document.claim, [finding.code for finding in document.violations][:1]
    ('It rises twice.', ['meta-required-missing'])
    """
    if len(data) > FILE_CAP:
        return _too_large(len(data))
    tree = read_tree(data)
    facts = scan(tree)
    # Without an article the hash covers all there is, as it does for bare markup.
    text = facts.text if facts.articles else canonical_text(data)
    return Document(
        title=facts.title,
        head=facts.head,
        links=tuple(Link(rel, href) for rel, href, _ in facts.links if href),
        claim=facts.gist,
        text=text,
        body_text=facts.body_text if facts.articles else plain_text(text),
        article_html=tree.inner_source(facts.articles[0]) if facts.articles else "",
        happened_at=facts.happened_at,
        facets=tuple(facts.facets),
        citations=tuple(facts.citations),
        defined_terms=facts.texts_of("dfn"),
        summaries=facts.texts_of("summary"),
        asides=facts.texts_of("aside"),
        captions=facts.texts_of("figcaption"),
        code_langs=tuple(facts.code_langs),
        abbreviations=tuple(facts.abbreviations),
        content_hash=hash_text(text),
        diagnostics=diagnose(tree, facts),
    )


def check_document(data: bytes) -> tuple[Diagnostic, ...]:
    """Return everything that is wrong with *data* as a memory, in order; () when nothing is."""
    return parse(data).diagnostics


def check_memory(data: bytes) -> Document:
    """Return what *data* says, if it is a memory: the gate before anything is written.

    Raises:
        InvalidMemory: There are violations; the error has all of them.
    """
    document = parse(data)
    if violations := document.violations:
        raise InvalidMemory(violations)
    return document


def _too_large(size: int) -> Document:
    return Document(
        title="",
        head=Head(),
        links=(),
        claim="",
        text="",
        body_text="",
        article_html="",
        happened_at=None,
        facets=(),
        citations=(),
        defined_terms=(),
        summaries=(),
        asides=(),
        captions=(),
        code_langs=(),
        abbreviations=(),
        content_hash="",
        diagnostics=(
            diagnostic("file-too-large", Span(0, 0, 1, 1, 1, 1), size=size, limit=FILE_CAP),
        ),
    )
