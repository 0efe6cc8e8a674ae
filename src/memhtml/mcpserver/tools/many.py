"""``memory_write_batch``: many operations, one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.mcpserver.schema import (
    Schema,
    choice,
    faults,
    integer,
    items,
    maybe,
    output,
    record,
    switch,
    take,
    text,
)
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools import change, tasks
from memhtml.mcpserver.tools.record import PROVENANCE, WRITE, as_op
from memhtml.model.errors import InvalidFlag, MemhtmlError
from memhtml.ops import OUTCOMES, describe_batch
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
    return record("One operation.", {"op": kind, **properties}, required=())


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
    gives=output(
        results=items(
            "What became of each operation, in order.",
            record(
                "One outcome.",
                {
                    "index": integer("Its place among ops, from 0."),
                    "op": maybe(text("Its kind; null when it could not be read.")),
                    "ok": switch("It had its effect."),
                    "path": maybe(text("Where its memory now stands.")),
                    "deduped": switch("It was there already."),
                    "existing_path": maybe(text("The memory that says it already.")),
                    "archived_path": maybe(text("Where the archived memory went.")),
                    "code": maybe(text("Code of the refusal.")),
                    "error": maybe(text("The refusal.")),
                    "skipped": switch("Nothing is wrong with it, but the batch was refused."),
                    "conflict": maybe(
                        record(
                            "Another claim about the same thing.",
                            {
                                "path": maybe(text("The memory that has it.")),
                                "batch_index": maybe(integer("The operation that has it.")),
                                "claim": text("What it says."),
                            },
                            required=("path", "batch_index", "claim"),
                        )
                    ),
                    "near_duplicates": items(
                        "Memories that say nearly the same.", {"type": "string"}
                    ),
                    "consolidated_into": maybe(integer("The operation that took its place.")),
                    "superseded_path": maybe(text("The stored memory whose place it took.")),
                },
                required=("index", "ok"),
            ),
        ),
        summary=record(
            "How many came to what; the parts add up to the total.",
            {name: integer(f"How many: {name}.") for name in ("total", *OUTCOMES)},
            required=("total", *OUTCOMES),
        ),
        commit_sha=maybe(text("The commit; null when nothing was written.")),
        near_duplicates_degraded=switch("Near duplicates were looked for by wording alone."),
    ),
    run=_run,
    is_destructive=True,
    quotes=True,
)
