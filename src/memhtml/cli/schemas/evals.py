"""Schemas of what the eval commands answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.schema import choice, integer, items, maybe, number, record, switch, text
from memhtml.evals.controls import Family
from memhtml.evals.synthetic import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.answers.schema import Schema

__all__ = ["EVALS"]

_RANK = maybe(integer("Its place among all hits, from 1; null when it is not among 40."))
_CONTROL = record(
    "A near-twin.",
    {
        "path": text("Where it stands in the store that was made."),
        "family": choice("How it differs.", Family),
        "rank": _RANK,
    },
)
_RESULT = record(
    "One memory, looked up by the words of its claim.",
    {
        "query": text("What was asked."),
        "targetPath": text("The memory."),
        "targetRank": _RANK,
        "discriminationRank": integer("1 and one more for each near-twin that is not below it."),
        "controlRanks": items("Its near-twins.", _CONTROL),
        "discriminated": switch("All of them are below it."),
        "reciprocalRank": number("1 by the discrimination rank."),
        "corpusReciprocalRank": number("1 by its place among all hits; 0 when it is not there."),
        "degraded": switch("No vectors took part."),
    },
)
_HARD = record(
    "The hard questions of one kind.",
    {
        "family": choice("The kind.", Kind),
        "probes": integer("How many were asked."),
        "recallAt1": number("The share answered by the first hit."),
        "recallAt5": number("The share answered among the first five."),
        "recallAt10": number("The share answered among the first ten."),
        "mrr": number("The mean of 1 by the place of the answer."),
        "recallAt5Floor": number("The least recallAt5 that passes."),
        "missed": items("Questions not answered among the first five.", text("A question.")),
    },
)

EVALS: Mapping[str, Schema] = {
    "eval.discrimination": record(
        "Whether memories are found above their near-twins, and how hard questions fare.",
        {
            "mode": choice("live: with a model.", ("fake", "live")),
            "space": text("The vector space that took part; empty when the run was skipped."),
            "skipped": switch("Nothing was judged, which is no pass."),
            "skippedReason": maybe(text("Why not.")),
            "passed": switch("The gate lets pass."),
            "faults": items("Why it does not.", text("A sentence.")),
            "requested": integer("Memories that were to have near-twins."),
            "probes": integer("Memories that had them."),
            "discriminated": integer("Those above all their near-twins."),
            "inversions": integer("Those that are not."),
            "mrr": number("The mean of 1 by the discrimination rank."),
            "corpusMrr": number("The mean of 1 by the place among all hits."),
            "mrrFloor": number("The least mrr that passes."),
            "degradedProbes": integer("Answers without vectors."),
            "hard": items("The hard questions, by kind.", _HARD),
            "latencyMs": record(
                "How long searches took, in milliseconds.",
                {
                    "searches": integer("How many there were."),
                    "median": number("Half took longer."),
                    "p95": number("One in twenty took longer."),
                },
            ),
            "seed": integer("What the store was made from."),
            "now": text("The day it was made for, as an instant."),
            "corpusSize": integer("Files in it."),
            "results": items("Each memory that has near-twins.", _RESULT),
        },
    ),
    "eval.answers": record(
        "The questions that memories say they answer, all asked.",
        {
            "questions": integer("How many there are."),
            "answered": integer("How many led to their memory."),
            "within": integer("So many of the first hits counted."),
            "passed": switch("All did."),
            "missed": items(
                "Those that did not.",
                record(
                    "A question.",
                    {
                        "question": text("As the memory says it."),
                        "path": text("The memory that has to answer it."),
                        "askedBy": text("The memory that says so: that one, or one it replaced."),
                        "rank": _RANK,
                    },
                ),
            ),
        },
    ),
}
