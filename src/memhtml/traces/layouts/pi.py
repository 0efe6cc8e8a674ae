"""Pi: ``sessions/--<folder>--/<time>_<uuid>.jsonl``, one file a session.

The first line is the header; entries form a tree, of which every branch is read, for what was said
on a branch that was left was said all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.traces.files import Found
from memhtml.traces.layouts.layout import call_text, string, text_of
from memhtml.traces.record import Entry, Record, Role, Skip, instant_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.traces.files import Walk
    from memhtml.traces.layouts.layout import Json

__all__ = ["BELOW_VARIABLE", "HOME", "HOME_VARIABLE", "NAME", "TITLE", "find", "read"]

NAME = "pi"
TITLE = "Pi"
HOME = ".pi/agent"
HOME_VARIABLE: str | None = "PI_CODING_AGENT_DIR"
BELOW_VARIABLE = ""

_FACTS = frozenset("session session_info model_change".split())
_IGNORED = frozenset(
    "thinking_level_change compaction branch_summary custom custom_message label".split()
)
_UNSAID = frozenset("custom branchSummary compactionSummary".split())


def find(walk: Walk, root: str) -> Iterator[Found]:
    """Yield the transcripts below *root*, oldest first in each project."""
    sessions = f"{root}/sessions"
    for slug in walk.children(sessions)[0]:
        if not (slug.startswith("--") and slug.endswith("--")):
            continue
        for name in walk.children(f"{sessions}/{slug}")[1]:
            if name.endswith(".jsonl"):
                session = name[:-6].rpartition("_")[2]
                path = f"{sessions}/{slug}/{name}"
                yield Found(path, NAME, root, session, slug, trusts_records=True)


def read(value: Json) -> Record | Skip:
    """Return what one line says."""
    kind, at = value.get("type"), instant_of(value.get("timestamp"))
    if kind == "message":
        return _message(value, at)
    if kind in _FACTS:
        return Record(
            string(value.get("id")) if kind == "session" else None,
            at,
            cwd=string(value.get("cwd")),
            model=string(value.get("modelId")),
            title=string(value.get("name")),
        )
    if kind in _IGNORED:
        return Skip.IGNORED
    return Skip.UNKNOWN if isinstance(kind, str) else Skip.DROPPED


def _message(value: Json, at: str | None) -> Record | Skip:
    message = value.get("message")
    if not isinstance(message, dict):
        return Skip.DROPPED
    entries = _entries(message, Entry(Role.USER, "", string(value.get("id")), at=at))
    if entries is None:
        return Skip.IGNORED if message.get("role") in _UNSAID else Skip.UNKNOWN
    is_turn = any(entry.role in {Role.USER, Role.ASSISTANT} for entry in entries)
    model = string(message.get("model"))
    return Record(at=at, model=model, is_turn=is_turn, entries=tuple(entries))


def _entries(message: Json, base: Entry) -> list[Entry] | None:
    role, content = message.get("role"), message.get("content")
    if role == "user":
        text = text_of(content).strip()
        return [base._replace(text=text)] if text else []
    if role == "toolResult":
        call_id = string(message.get("toolCallId"))
        failed = message.get("isError") is True
        return [
            base._replace(role=Role.RESULT, text=text_of(content), call_id=call_id, failed=failed)
        ]
    if role == "bashExecution":
        call = base._replace(role=Role.CALL, text=str(message.get("command") or ""), tool="bash")
        failed = message.get("exitCode") not in {0, None}
        answer = base._replace(role=Role.RESULT, text=str(message.get("output") or ""))
        return [call, answer._replace(failed=failed)]
    return list(_of_assistant(content, base)) if role == "assistant" else None


def _of_assistant(content: object, base: Entry) -> Iterator[Entry]:
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text" and (text := string(block.get("text"))):
            yield base._replace(role=Role.ASSISTANT, text=text)
        elif block.get("type") == "toolCall":
            yield base._replace(
                role=Role.CALL,
                text=call_text(block.get("arguments")),
                call_id=string(block.get("id")),
                tool=string(block.get("name")) or "",
            )
