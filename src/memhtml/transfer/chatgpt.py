"""An export of ChatGPT: its saved memories and custom instructions, never its transcripts.

The archive has no list of memories. They are where they were made: a message to the tool ``bio``
saves one, ``model_editable_context`` shows the model all that are saved, and
``user_editable_context`` has what the person wrote in the settings. The last two stand in every
chat again, so each text is taken once. A list that a person copied out of the settings, as JSON
beside the chats, is read too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from memhtml.model.errors import InvalidFlag
from memhtml.model.vocabulary import MemoryType
from memhtml.transfer.chats import asked_to_remember
from memhtml.transfer.drafts import instant_from, item_of
from memhtml.transfer.item import Item
from memhtml.transfer.jsonlists import elements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.transfer.item import Options
    from memhtml.transfer.source import Source

__all__ = ["is_chat", "read_chatgpt"]

_chats_re = re.compile(
    r"(?:.*/)?(?:conversations[-_0-9a-z]*|conversations/[^/]+)\.json", re.IGNORECASE
)
_memories_re = re.compile(r"(?:.*/)?(?:saved[-_])?memor(?:y|ies)[^/]*\.json", re.IGNORECASE)
_listed_re = re.compile(
    r"^[ \t]*[0-9]+\.[ \t]*\[(?P<day>[0-9-]{10})\]\.?[ \t]*(?P<text>.+?)"
    r"(?=^[ \t]*[0-9]+\.[ \t]*\[|\Z)",
    re.MULTILINE | re.DOTALL,
)
_fenced_re = re.compile(r"```\s*(.*?)\s*```", re.DOTALL)


def is_chat(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether *value* is a conversation of ChatGPT."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def read_chatgpt(source: Source, options: Options) -> Iterator[Item]:
    """Yield each saved memory of the archive; with `Options.asked` what chats ask to remember."""
    seen: set[str] = set()
    for name in source.named(".json"):
        reads_chats = _chats_re.fullmatch(name) is not None or len(source.names) == 1
        if not reads_chats and _memories_re.fullmatch(name) is None:
            continue
        for element in elements(source, name):
            origin = f"{name}#{element.number}"
            if element.error is not None:
                yield Item(origin, error=element.error)
            elif is_chat(element.value):
                yield from _fresh(_from_chat(element.value, origin, options), seen)
            elif reads_chats and len(source.names) > 1:
                yield Item(origin, error=InvalidFlag("it is no conversation"))
            else:
                yield from _fresh(_listed(element.value, origin, options), seen)


def _fresh(items: Iterator[Item], seen: set[str]) -> Iterator[Item]:
    """Pass on each item whose text is new; every chat repeats what all of them know."""
    for item in items:
        key = repr((item.draft.claim, item.draft.paragraphs)) if item.draft else item.origin
        if key not in seen:
            seen.add(key)
            yield item


def _listed(value: Any, origin: str, options: Options) -> Iterator[Item]:  # noqa: ANN401 - JSON
    """Yield the memories of a list of texts or of objects with a text."""
    if isinstance(value, dict) and isinstance(value.get("memories"), list):
        for number, one in enumerate(value["memories"]):
            yield from _listed(one, f"{origin}.{number}", options)
        return
    text, when = value, None
    if isinstance(value, dict):
        text = next((value[k] for k in ("content", "memory", "text") if k in value), None)
        when = instant_from(value.get("created_at") or value.get("created_timestamp"))
    if not isinstance(text, str):
        yield Item(origin, error=InvalidFlag("it is neither a conversation nor a memory"))
        return
    yield item_of(text, origin, options, valid_from=when, plain=True)


def _from_chat(chat: dict[str, Any], origin: str, options: Options) -> Iterator[Item]:
    session = chat.get("conversation_id") or chat.get("id")
    for node in chat["mapping"].values():
        message = node.get("message") if isinstance(node, dict) else None
        if not isinstance(message, dict) or not isinstance(message.get("content"), dict):
            continue
        for number, (text, kind, day) in enumerate(_memories(message, asked=options.asked)):
            yield item_of(
                text,
                f"{origin}/{str(message.get('id'))[:36]}" + (f".{number}" if number else ""),
                options,
                memory_type=kind,
                session_id=session if isinstance(session, str) and session.strip() else None,
                valid_from=day or instant_from(message.get("create_time")),
                plain=True,
            )


def _memories(
    message: dict[str, Any], *, asked: bool
) -> Iterator[tuple[str, MemoryType, str | None]]:
    content = message["content"]
    match content.get("content_type"):
        case "model_editable_context":
            listed = content.get("model_set_context")
            for found in _listed_re.finditer(listed if isinstance(listed, str) else ""):
                yield found["text"].strip(), MemoryType.SEMANTIC, instant_from(found["day"])
        case "user_editable_context":
            for text in _instructions(message):
                yield text, MemoryType.USER_PREFERENCE, None
        case "text" | "code" | "multimodal_text":
            said = _said(content)
            role = (message.get("author") or {}).get("role")
            if message.get("recipient") == "bio" and role == "assistant":
                if said.strip():
                    yield said, MemoryType.SEMANTIC, None
            elif asked and role == "user":
                for text in asked_to_remember(said):
                    yield text, MemoryType.USER_PREFERENCE, None
        case _:
            pass  # thoughts, searches, pictures


def _instructions(message: dict[str, Any]) -> Iterator[str]:
    """Yield what the person wrote in the settings, without what is wrapped around it."""
    stated = (message.get("metadata") or {}).get("user_context_message_data")
    if isinstance(stated, dict):
        texts = [stated.get(key) for key in ("about_user_message", "about_model_message")]
    else:
        content = message["content"]
        wrapped = [content.get(key) for key in ("user_profile", "user_instructions")]
        texts = [
            found[1] if isinstance(text, str) and (found := _fenced_re.search(text)) else text
            for text in wrapped
        ]
    yield from (text for text in texts if isinstance(text, str) and text.strip())


def _said(content: dict[str, Any]) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n".join(part for part in parts if isinstance(part, str))
    text = content.get("text")
    return text if isinstance(text, str) else ""
