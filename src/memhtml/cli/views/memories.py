"""One memory for people: what ``write`` did, and what ``read`` shows as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.screen import columns, placed, plural, printable, relative, wrap
from memhtml.cli.views.article import article_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memhtml.cli.screen import Screen
    from memhtml.format.markdown import Note
    from memhtml.model.document import Document
    from memhtml.model.memory import Memory, Written

__all__ = ["memory_page", "written_lines"]


def written_lines(written: Written, screen: Screen, notes: Sequence[Note] = ()) -> str:
    """Return what a write did, and what of its Markdown had no place."""
    path = screen.paint(printable(written.path), "bold")
    if not written.created:
        return f"known already, nothing was written: {path}\n"
    lines = [f"{screen.paint('written', 'green')} {path}"]
    if written.commit:
        lines.append(screen.paint(f"commit {written.commit[:10]}", "dim"))
    lines += [
        screen.paint(f"says nearly the same as {printable(other)}", "yellow")
        for other in written.near_duplicates
    ]
    lines += [
        screen.paint(f"Markdown line {note.line}: {printable(note.message)}", "yellow")
        for note in notes
    ]
    return "\n".join(lines) + "\n"


def memory_page(memory: Memory, screen: Screen) -> str:
    """Return a memory as a page: title, article, and what the head says about it."""
    document = memory.document
    title = printable(document.title or memory.path)
    lines = [screen.paint(title[a:b], "bold", "underline") for a, b in wrap(title, screen.width)]
    lines += placed(memory.path, _notes(memory, screen), screen)
    lines += [screen.paint(printable(str(finding)), "red") for finding in document.violations]
    lines += ["", *article_lines(document.article_html, screen), ""]
    lines += columns(_facts(document), indent=0, width=screen.width)
    if document.warnings:
        warnings = plural(len(document.warnings), "warning")
        lines += ["", screen.paint(f"{warnings}; see memhtml check", "yellow")]
    return "\n".join(lines).rstrip() + "\n"


def _notes(memory: Memory, screen: Screen) -> Iterator[str]:
    head = memory.document.head
    yield head.memory_type or "no type"
    if memory.is_archived:
        yield "archived"
    if head.updated_at:
        yield relative(head.updated_at, screen.now)


def _facts(document: Document) -> Iterator[tuple[str, str]]:
    """Yield what the head states, without what the page has said already."""
    head = document.head
    for name, value in (
        ("task", head.task_status),
        ("due", head.due_at),
        ("happened", document.happened_at),
        ("valid from", head.valid_from),
        ("valid until", head.valid_until),
        ("confidence", head.confidence),
        ("importance", head.importance),
        ("tags", ", ".join(head.tags)),
        ("entities", ", ".join(head.entities)),
        ("aliases", ", ".join(head.aliases)),
        ("author", head.author),
        ("session", head.session_id),
        ("superseded by", head.superseded_by),
        ("needs revision", "yes" if head.needs_revision else None),
        ("created", head.created_at),
        ("updated", head.updated_at),
    ):
        if value not in {None, ""}:
            yield name, printable(str(value))
    for link in document.links:
        yield link.rel.removeprefix("memhtml-").replace("-", " "), printable(link.href)
