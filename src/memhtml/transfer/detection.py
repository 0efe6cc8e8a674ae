"""What a source is, with the reason, so that a person can object before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.model.errors import InvalidFlag, MemhtmlError
from memhtml.transfer.agentfile import is_agent_file
from memhtml.transfer.chatgpt import is_chat
from memhtml.transfer.claude import is_claude
from memhtml.transfer.item import Detected, ImportFormat
from memhtml.transfer.jsonlists import elements, first_bytes, lines
from memhtml.transfer.mcpmemory import is_graph_line
from memhtml.transfer.mem0 import has_memories
from memhtml.transfer.notes import MAX_NOTE_BYTES, has_observations
from memhtml.transfer.records import PAGE_MARK, is_first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memhtml.transfer.source import Source

__all__ = ["detect"]

_LOOKS = 200
"""How many notes are looked into; a project of basic-memory shows itself sooner."""


_SIGNS: tuple[tuple[Callable[[Any], bool], ImportFormat, str], ...] = (
    (is_first_line, ImportFormat.JSONL, "begins as an export of memhtml does"),
    (is_graph_line, ImportFormat.MCP_MEMORY, "has entities and relations"),
    (is_chat, ImportFormat.CHATGPT, "has conversations with a 'mapping'"),
    (is_claude, ImportFormat.CLAUDE, "has chats, projects or memories of Claude"),
    (has_memories, ImportFormat.MEM0, "lists objects with a 'memory'"),
)
"""What the first value of a file may look like."""


def detect(source: Source) -> Detected:
    """Return the format of *source*.

    Raises:
        InvalidFlag: it is none that we know.
    """
    if ".obsidian" in source.hidden:
        return Detected(ImportFormat.OBSIDIAN, "it has a folder .obsidian")
    found = next(_by_data(source), None) or _by_notes(source)
    if found is None:
        raise InvalidFlag(
            f"cannot tell what {source.root.name!r} is: it has no file of a format that is read; "
            "say --format if it is one of them",
            suggestions=("memhtml help import",),
        )
    return found


def _by_data(source: Source) -> Iterator[Detected]:
    """Yield what the JSON, HTML and lines in *source* look like, the clearest names first."""
    names = sorted(source.named(".json", ".jsonl", ".ndjson", ".html", ".htm"), key=_rank)
    for name in names[:_LOOKS]:
        try:
            found = _of_file(source, name)
        except MemhtmlError:
            continue  # the reader will say so, once it is known whose file it is
        if found is not None:
            yield found


def _rank(name: str) -> tuple[bool, str]:
    base = name.rpartition("/")[2].casefold()
    return not base.startswith(("conversations", "memor", "projects")), name


def _of_file(source: Source, name: str) -> Detected | None:
    if name.casefold().endswith((".html", ".htm")):
        is_ours = PAGE_MARK in first_bytes(source, name)
        return (
            Detected(ImportFormat.HTML, f"{name} is a page of memhtml export") if is_ours else None
        )
    is_lines = name.casefold().endswith((".jsonl", ".ndjson"))
    value: Any = None
    for element in lines(source, name) if is_lines else elements(source, name):
        value = element.value
        if value is not None:
            break
    for looks_so, format_, because in _SIGNS:
        if looks_so(value):
            return Detected(format_, f"{name} {because}")
    return None


def _by_notes(source: Source) -> Detected | None:
    names = list(source.named(".md", ".markdown"))
    files = [name for name in names if is_agent_file(name)]
    if files and len(files) == len(names):
        return Detected(ImportFormat.AGENT_FILE, f"{files[0]} is a file that coding agents read")
    for name in names[:_LOOKS]:
        try:
            if has_observations(source.text(name, MAX_NOTE_BYTES)):
                return Detected(
                    ImportFormat.BASIC_MEMORY, f"{name} has a permalink and observations"
                )
        except MemhtmlError:
            continue
    if names:
        return Detected(ImportFormat.MARKDOWN, f"it has {len(names)} Markdown files")
    return None
