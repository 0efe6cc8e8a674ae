"""``memory_write_batch``: many operations, one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.batch import BATCH
from memhtml.answers.schema import Schema, choice, items, record, switch
from memhtml.mcpserver.schema import faults, output, take
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools import change, tasks
from memhtml.mcpserver.tools.record import PROVENANCE, WRITE, as_op
from memhtml.model.errors import InvalidFlag, MemhtmlError
from memhtml.ops import describe_batch
from memhtml.store.batch import BatchOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse
    from memhtml.model.changes import Request

__all__ = ["WRITE_BATCH"]

_MOST_OPS = 10_000

_KINDS: Mapping[str, Tool] = {
    "write": WRITE,
    "task": tasks.ADD,
    "task_status": tasks.STATUS,
    "correct": change.CORRECT,
    "link": change.LINK,
    "archive": change.ARCHIVE,
}
"""The operations, each with the tool that does the same alone and takes the same arguments."""

_STATED_BY = frozenset({"write", "task", "correct"})
_ORIGIN = ("session_id", "prompt_id", "turn_uuid")


def _run(corpus: Corpus, arguments: Mapping[str, Any], pulse: Pulse) -> dict[str, Any]:
    shared = {name: arguments[name] for name in _ORIGIN if name in arguments}
    requests = [_request(op, index, shared) for index, op in enumerate(arguments["ops"])]
    options = BatchOptions(
        continue_on_error=arguments.get("continue_on_error", False),
        detect_conflicts=arguments.get("detect_conflicts", False),
        last_wins="consolidate" in arguments,
    )
    batch = corpus.apply(
        requests, options, on_progress=lambda done: pulse.tell(done, len(requests))
    )
    return describe_batch(batch)


def _request(
    stated: Mapping[str, Any], index: int, shared: Mapping[str, Any]
) -> Request | MemhtmlError:
    """Return the request of one operation, or in its place what is wrong with it."""
    fields = dict(stated)
    op = fields.pop("op", "write")
    where = f"ops[{index}]"
    if found := faults(_KINDS[op].takes, fields, where=where):
        return InvalidFlag(f"{op}: {'; '.join(found)}")
    if op in _STATED_BY:
        fields = {**shared, **fields}
    try:
        return as_op(fields, op)
    except MemhtmlError as error:
        return error


def _any_op() -> Schema:
    """Return an operation of any kind; what each argument means is said once, at its own tool."""
    properties = {
        name: _bare(schema)
        for tool in _KINDS.values()
        for name, schema in tool.takes["properties"].items()
    }
    kind = choice("What to do; write if absent.", _KINDS) | {"default": "write"}
    # memory_type is not among what is required, nor is anything else, for each kind has its own.
    properties = {"op": kind, **properties}
    return record("One operation.", properties, optional=properties)


def _bare(schema: Any) -> Any:  # noqa: ANN401 - any part of a schema
    if not isinstance(schema, dict):
        return schema
    left_out = {"description", "examples", "default"}
    return {
        name: {n: _bare(part) for n, part in value.items()}
        if name == "properties"
        else _bare(value)
        for name, value in schema.items()
        if name not in left_out
    }


WRITE_BATCH = Tool(
    name="memory_write_batch",
    title="Write many memories",
    about=(
        "Carry out many operations as one commit: all or, if one is refused, none, and every "
        "refusal is told. Each takes the arguments of its own tool (memory_write, task_add, "
        "task_status, memory_correct, memory_link, memory_archive). A path may be @N: the file "
        "that operation N, counted from 0, makes or leaves behind."
    ),
    takes=take(
        "ops",
        ops=items(
            "The operations, in order.",
            _any_op(),
            least=1,
            most=_MOST_OPS,
            example=[
                {
                    "title": "Gate hours",
                    "memory_type": "semantic",
                    "body": "The gate opens at 06:30.",
                },
                {"op": "archive", "path": "areas/inbox/old-hours.html", "reason": "outdated"},
            ],
        ),
        continue_on_error=switch("Carry out what can be carried out.", default=False),
        detect_conflicts=switch(
            "Tell which claims say something else of the same thing; changes nothing.",
            default=False,
        ),
        detect_near_duplicates=switch("No effect: near duplicates are always named."),
        consolidate=choice(
            "last-wins: of claims about the same thing keep the last, and archive the stored one.",
            ("last-wins",),
        ),
        **{name: PROVENANCE[name] for name in _ORIGIN},
    ),
    gives=output(BATCH),
    run=_run,
    is_destructive=True,
    quotes=True,
)
