"""What lists show: a memory, an entity, a tag or a task in a line or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.screen import placed, plural, printable, relative, table, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.cli.screen import Screen
    from memhtml.search.lists import EntityList, FileList, ListedTask, TagUse, TaskList

__all__ = ["entities_page", "memories_page", "tags_page", "tasks_page"]


def memories_page(page: FileList, screen: Screen) -> str:
    """Return a page of memories: path, what it says, and its type."""
    lines: list[str] = []
    for file in page.files:
        when = relative(file.updated_at, screen.now)
        note = f"{file.memory_type} · {when}" + (" · archived" if file.archived else "")
        lines.append(screen.paint(printable(file.path), "bold"))
        lines += _indented(file.gist or file.title, screen)
        lines.append(f"  {screen.paint(note, 'dim')}")
    lines.append(plural(len(page.files), "memory", "memories"))
    return _ended(lines, page.next_cursor, screen)


def tasks_page(page: TaskList, screen: Screen) -> str:
    """Return a page of tasks: where each stands, when it is due, and what blocks it."""
    lines: list[str] = []
    for task in page.tasks:
        lines.append(f"{_status(task, screen)} {screen.paint(printable(task.title), 'bold')}")
        due = (f"due {relative(task.due_at, screen.now)}",) if task.due_at else ()
        lines += placed(task.path, due, screen, 2)
        lines += [
            f"  {screen.paint(f'waits for {printable(blocker.title)}', 'yellow')}"
            for blocker in task.blocked_by
        ]
    lines.append(plural(len(page.tasks), "task"))
    return _ended(lines, page.next_cursor, screen)


def entities_page(found: EntityList, screen: Screen) -> str:
    """Return entities, each with how many memories are about it and the latest activity."""
    rows = [
        (each.entity, f"{each.file_count:,}", relative(each.last_activity_at, screen.now))
        for each in found.entities
    ]
    lines = table(("entity", "memories:", "last activity"), rows, screen) if rows else []
    listed = len(found.entities)
    rest = f", {listed:,} listed" if listed < found.entity_count else ""
    return "\n".join([*lines, plural(found.entity_count, "entity", "entities") + rest]) + "\n"


def tags_page(tags: Sequence[TagUse], screen: Screen) -> str:
    """Return tags, each with how many memories have it."""
    rows = [
        (tag.tag, f"{tag.file_count:,}", relative(tag.last_written_at, screen.now)) for tag in tags
    ]
    lines = table(("tag", "memories:", "last written"), rows, screen) if rows else []
    return "\n".join([*lines, plural(len(tags), "tag")]) + "\n"


def _status(task: ListedTask, screen: Screen) -> str:
    colours = {"done": "green", "blocked": "red", "doing": "yellow"}
    return screen.paint(f"[{task.task_status}]", colours.get(task.task_status, "cyan"))


def _indented(text: str, screen: Screen) -> list[str]:
    text = printable(text)
    return [f"  {text[a:b]}" for a, b in wrap(text, screen.width - 2)]


def _ended(lines: list[str], cursor: str | None, screen: Screen) -> str:
    if cursor is not None:
        lines.append(screen.paint(f"more with --cursor {printable(cursor)}", "dim"))
    return "\n".join(lines) + "\n"
