"""What a batch of operations answers. Its names are in snake_case at every door."""

from __future__ import annotations

from memhtml.answers.schema import STRING, integer, items, maybe, record, switch, text
from memhtml.ops import OUTCOMES

__all__ = ["BATCH"]

_CONFLICT = record(
    "Another claim about the same thing.",
    {
        "path": maybe(text("The memory that has it.")),
        "batch_index": maybe(integer("The operation that has it.")),
        "claim": text("What it says."),
    },
)
_RESULT = record(
    "One outcome.",
    {
        "index": integer("Its place among the operations, from 0."),
        "op": maybe(text("Its kind; null when it could not be read.")),
        "ok": switch("It had its effect."),
        "path": maybe(text("Where its memory now stands.")),
        "deduped": switch("It was there already."),
        "existing_path": maybe(text("The memory that says it already.")),
        "archived_path": maybe(text("Where the archived memory went.")),
        "code": maybe(text("Code of the refusal.")),
        "error": maybe(text("The refusal.")),
        "skipped": switch("Nothing is wrong with it, but the batch was refused."),
        "conflict": maybe(_CONFLICT),
        "near_duplicates": items("Memories that say nearly the same.", STRING),
        "consolidated_into": maybe(integer("The operation that took its place.")),
        "superseded_path": maybe(text("The stored memory whose place it took.")),
    },
)

BATCH = record(
    "What became of many operations.",
    {
        "results": items("What became of each operation, in order.", _RESULT),
        "summary": record(
            "How many came to what; the parts add up to the total.",
            {name: integer(f"How many: {name}.") for name in ("total", *OUTCOMES)},
        ),
        "commit_sha": maybe(text("The commit; null when nothing was written.")),
        "near_duplicates_degraded": switch("Near duplicates were looked for by wording alone."),
    },
)
"""The schema of `memhtml.ops.describe_batch`."""
