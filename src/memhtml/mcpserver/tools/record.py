"""``memory_write``, and the arguments that every tool shares which states a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memhtml.answers.changed import WRITTEN, written
from memhtml.answers.schema import (
    STRING,
    Schema,
    choice,
    filled,
    integer,
    items,
    mapping,
    number,
    record,
    switch,
    text,
)
from memhtml.mcpserver.schema import output, take
from memhtml.mcpserver.tool import Tool
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.ops import decode_op

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse
    from memhtml.model.changes import Request
    from memhtml.model.memory import Draft

__all__ = ["LABELS", "OP_NAMES", "PLACE", "PROVENANCE", "SAID", "WEIGHT", "WRITE", "as_op"]

OP_NAMES: Mapping[str, str] = {
    "memory_type": "type",
    "target_path": "target",
    "src_path": "src",
    "dst_path": "dst",
}
"""What the tools' arguments are called in operations, where the two differ."""

_ABOUT_TIME = "A date such as 2026-12-01, or an instant such as 2026-12-01T09:30:00Z."

_MOST = 100
_MOST_ID = 500

_VALUES = [STRING, {"type": "number"}]

SAID: Mapping[str, Schema] = {
    "body": filled(
        "The memory as prose, plain text. Its first sentence is the claim, so make it say the "
        "fact and nothing else; paragraphs are separated by blank lines. Markup is shown, not "
        "obeyed; only fenced code blocks become code.",
        example="The loading bay gate opens at 06:30. On Sundays it stays shut.",
    ),
    "article_html": filled(
        "Instead of body: the whole article as HTML, with the claim in one <mark>.",
        example="<p><mark>The gate opens at 06:30.</mark></p>",
    ),
    "happened_at": filled(f"When it happened. {_ABOUT_TIME} Only with body.", most=40),
    "facets": mapping(
        "Named values, to filter by later; a list gives a name several. Only with body.",
        {"anyOf": [*_VALUES, {"type": "array", "items": {"anyOf": _VALUES}}]},
        example={"region": "eu", "minutes": 12},
    ),
    "citations": items(
        "Where the fact is from, in words or as a URL. Only with body.", STRING, most=_MOST
    ),
}
"""What a memory says."""

LABELS: Mapping[str, Schema] = {
    "tags": items("Topics.", STRING, most=_MOST, example=["gate", "opening-hours"]),
    "entities": items(
        "Whom or what it is about, each as type:name.",
        STRING,
        most=_MOST,
        example=["place:Loading bay"],
    ),
    "aliases": items("Other names that people use for the fact.", STRING, most=_MOST),
}

WEIGHT: Mapping[str, Schema] = {
    "importance": integer("How much it matters.", least=1, most=10),
    "confidence": number("How sure it is.", least=0, most=1),
    "valid_from": filled(f"From when on it is true. {_ABOUT_TIME}", most=40),
    "valid_until": filled(f"Until when it is true. {_ABOUT_TIME}", most=40),
}

PLACE: Mapping[str, Schema] = {
    "workspace": text(
        "The project it belongs to; absent for what holds everywhere.", example="checkout"
    ),
    "path": text(
        "The exact place in the store. Leave it out: a good one is derived from the title.",
        example="projects/checkout/retries.html",
    ),
    "strict_path": switch("No effect: a path that cannot be used is always refused."),
    "links": items(
        "Edges to memories that exist.",
        record(
            "One edge.",
            {
                "rel": choice("How it relates to the other one.", Rel),
                "dst": filled("Path of the other one."),
            },
        ),
        most=_MOST,
    ),
}

PROVENANCE: Mapping[str, Schema] = {
    "author": text("Who says so.", example="human:Ada"),
    "session_id": text("The session it came from.", most=_MOST_ID),
    "prompt_id": text("The prompt it came from.", most=_MOST_ID),
    "turn_uuid": text("The turn it came from.", most=_MOST_ID),
}

_TITLE = filled("A short name of the fact.", example="Loading bay hours")


def as_op(arguments: Mapping[str, Any], op: str) -> Request:
    """Return the request that *arguments* of a tool state.

    Raises:
        InvalidFlag: They contradict each other, or a value cannot be read.
    """
    renamed = {OP_NAMES.get(name, name): value for name, value in arguments.items()}
    return decode_op(renamed, op=op)


def _write(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    return written(corpus.write(cast("Draft", as_op(arguments, "write"))))


WRITE = Tool(
    name="memory_write",
    title="Write a memory",
    about=(
        "Write one fact as one memory, one commit. Give body or article_html. What is there "
        "already is not written again: deduped is true and existing_path names it. "
        "near_duplicates names memories that say nearly the same: read them, and correct the "
        "outdated one."
    ),
    takes=take(
        "title",
        "memory_type",
        title=_TITLE,
        memory_type=choice(
            "episodic: an event. semantic: a fact. procedural: how something is done. "
            "agent_insight: something you worked out. user_preference: what the user wants. "
            "error_pattern: a failure and its cure. verdict: a decision and its reason. "
            "precedent: an earlier case to follow. task: better through task_add.",
            (kind for kind in MemoryType if kind is not MemoryType.ARC),
        ),
        **SAID,
        **LABELS,
        **WEIGHT,
        **PLACE,
        **PROVENANCE,
    ),
    gives=output(WRITTEN),
    run=_write,
)
