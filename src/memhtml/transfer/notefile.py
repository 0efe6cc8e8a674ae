"""A memory as a Markdown note with front matter, the way note-taking programs keep them.

Every value is a quoted string, for YAML takes bare words for numbers, dates and truths. What a head
says comes first under the names that notes use; what only our store means begins with ``memhtml``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memhtml.format.to_markdown import to_markdown
from memhtml.model.edges import path_of_href, rel_for_token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.model.document import Document
    from memhtml.model.memory import Memory

__all__ = ["note_file"]


def note_file(memory: Memory) -> str:
    """Return *memory* as the text of a note."""
    lines = ["---", *_front_matter(memory), "---", ""]
    return "\n".join(lines) + "\n" + to_markdown(memory.document.article_html)


def _front_matter(memory: Memory) -> Iterator[str]:
    document = memory.document
    head = document.head
    for key, value in (
        ("title", document.title),
        ("type", head.memory_type),
        ("created", head.created_at),
        ("valid_from", head.valid_from),
        ("valid_until", head.valid_until),
        ("importance", head.importance),
        ("confidence", head.confidence),
        ("author", head.author),
        ("task_status", head.task_status),
        ("due", head.due_at),
    ):
        if value is not None and value != "":
            yield f"{key}: {_quoted(str(value))}"
    for key, values in (
        ("tags", head.tags),
        ("aliases", head.aliases),
        ("entities", head.entities),
        ("links", tuple(_links(document))),
    ):
        if values:
            yield f"{key}:"
            yield from (f"  - {_quoted(value)}" for value in values)
    yield f"memhtml_path: {_quoted(memory.path)}"
    yield f"memhtml_status: {_quoted('archived' if memory.is_archived else 'active')}"
    if head.updated_at:
        yield f"memhtml_updated: {_quoted(head.updated_at)}"


def _links(document: Document) -> Iterator[str]:
    for link in document.links:
        rel, path = rel_for_token(link.rel), path_of_href(link.href)
        if rel is not None and path is not None:
            yield f"{rel.value} [[{path.removesuffix('.html')}]]"


def _quoted(text: str) -> str:
    # A JSON string is a YAML one, but for the characters that YAML wants escaped.
    return json.dumps(text)
