"""An export of Claude: its memory, projects and their documents, never its transcripts.

``memories.json`` holds one text about all conversations and one a project, in Markdown; each point
of them is a fact. A project's instructions and documents are what a person put there. The archive
has had lists in one file and one file an entry, so both are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.model.errors import InvalidFlag, MemhtmlError
from memhtml.model.vocabulary import MemoryType
from memhtml.transfer.agentfile import facts
from memhtml.transfer.chats import asked_to_remember
from memhtml.transfer.drafts import instant_from, item_of, skipped
from memhtml.transfer.item import Item
from memhtml.transfer.jsonlists import elements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.transfer.item import Options
    from memhtml.transfer.source import Source

__all__ = ["MAX_DOCUMENT_CHARS", "is_claude", "read_claude"]

MAX_DOCUMENT_CHARS = 20_000
"""A longer document of a project is a source to be read, not a memory."""


def is_claude(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether *value* is a conversation, a project or a memory of Claude."""
    return isinstance(value, dict) and (
        isinstance(value.get("chat_messages"), list)
        or isinstance(value.get("conversations_memory"), str)
        or isinstance(value.get("project_memories"), dict)
        or ("name" in value and ("prompt_template" in value or "docs" in value))
    )


def read_claude(source: Source, options: Options) -> Iterator[Item]:
    """Yield the points of each memory, and each project's instructions and documents.

    With `Options.asked` also what people asked for in chats.
    """
    projects: dict[str, str] = {}
    later: list[tuple[str, dict[str, Any]]] = []
    for name in source.named(".json"):
        for element in elements(source, name):
            value, origin = element.value, f"{name}#{element.number}"
            if element.error is not None:
                yield Item(origin, error=element.error)
            elif not is_claude(value):
                continue  # users, designs and whatever else the archive has
            elif "chat_messages" in value:
                if options.asked:
                    yield from _from_chat(value, origin, options)
            elif "name" in value:
                projects[str(value.get("uuid"))] = str(value["name"])
                yield from _from_project(value, origin, options)
            else:
                later.append((origin, value))  # a memory names projects that may come after it
    for origin, value in later:
        yield from _from_memory(value, origin, projects, options)


def _from_memory(
    value: dict[str, Any], origin: str, projects: dict[str, str], options: Options
) -> Iterator[Item]:
    texts: list[tuple[str, Any, str]] = [
        ("conversations_memory", value.get("conversations_memory"), "")
    ]
    by_project = value.get("project_memories")
    for key, text in (by_project if isinstance(by_project, dict) else {}).items():
        texts.append((str(key), text, projects.get(key) or str(key)))
    for key, text, project in texts:
        place = f"{origin}/{key}"
        if not isinstance(text, str):
            continue
        try:
            tags = (project,) if project else ()
            yield from facts(text, place, options, memory_type=MemoryType.SEMANTIC, tags=tags)
        except MemhtmlError as error:
            yield Item(place, error=error)


def _from_project(value: dict[str, Any], origin: str, options: Options) -> Iterator[Item]:
    name, since = str(value["name"]), instant_from(value.get("created_at"))
    prompt = value.get("prompt_template")
    if isinstance(prompt, str) and prompt.strip():
        yield item_of(
            prompt,
            f"{origin}/prompt_template",
            options,
            title=f"Instructions for {name}",
            memory_type=MemoryType.PROCEDURAL,
            tags=(name,),
            valid_from=since,
        )
    documents = value.get("docs")
    for number, document in enumerate(documents if isinstance(documents, list) else ()):
        place = f"{origin}/docs.{number}"
        text = document.get("content") if isinstance(document, dict) else None
        if not isinstance(text, str):
            yield Item(place, error=InvalidFlag("the document has no text"))
            continue
        title = str(document.get("filename") or "")
        if len(text) > MAX_DOCUMENT_CHARS:
            reason = f"it has {len(text):,} characters; a memory is one fact, not a document"
            yield skipped(place, reason, title=title)
            continue
        yield item_of(
            text,
            place,
            options,
            title=title,
            tags=(name,),
            valid_from=instant_from(document.get("created_at")),
        )


def _from_chat(value: dict[str, Any], origin: str, options: Options) -> Iterator[Item]:
    session = value.get("uuid")
    for number, message in enumerate(value["chat_messages"]):
        if not isinstance(message, dict) or message.get("sender") != "human":
            continue
        for text in asked_to_remember(_said(message)):
            yield item_of(
                text,
                f"{origin}/{number}",
                options,
                memory_type=MemoryType.USER_PREFERENCE,
                session_id=session if isinstance(session, str) and session.strip() else None,
                valid_from=instant_from(message.get("created_at")),
                plain=True,
            )


def _said(message: dict[str, Any]) -> str:
    content = message.get("content")
    parts = [
        part["text"]
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    text = message.get("text")
    return "\n\n".join(parts) or (text if isinstance(text, str) else "")
