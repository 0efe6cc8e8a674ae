"""Tools that gather: quotes about a topic, and memories like one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.mcpserver.schema import (
    Schema,
    filled,
    integer,
    items,
    maybe,
    number,
    output,
    record,
    switch,
    take,
    text,
)
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools.look import NO_MATCH, no_match_of
from memhtml.mcpserver.tools.scopes import FILTERS, STRINGS, scope_of
from memhtml.model.errors import InvalidFlag
from memhtml.search.recall import BUDGET_CHARS, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse
    from memhtml.search.recall import IndexLine, Quote

__all__ = ["RECALL", "SIMILAR"]


def _recall(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    tokens = arguments.get("budget_tokens")
    if tokens is not None and "budget_chars" in arguments:
        raise InvalidFlag("memory_recall: 'budget_chars' and 'budget_tokens' exclude each other")
    unit = Unit.CHARS if tokens is None else Unit.TOKENS
    budget = arguments.get("budget_chars", BUDGET_CHARS) if tokens is None else tokens
    pack = corpus.recall(
        arguments["query"],
        scope_of(arguments, tool="memory_recall"),
        budget=int(budget),
        unit=unit,
        limit=int(arguments.get("limit", 30)),
    )
    sections = (pack.arcs, pack.memories)
    return {
        "sections": {
            "arcs": [_quote(quote) for quote in pack.arcs.disclosed],
            "memories": [_quote(quote) for quote in pack.memories.disclosed],
            "lateral": [_line(line) for section in sections for line in section.index_lines],
        },
        "spent_chars": pack.spent if unit is Unit.CHARS else None,
        "spent_tokens": pack.spent if unit is Unit.TOKENS else None,
        "truncated": pack.truncated,
        "no_match": no_match_of(pack.no_match),
        "degraded": pack.degraded,
        "vector_coverage": pack.coverage,
        "indexed_commit": pack.indexed_commit,
        "skipped_count": pack.skipped_count,
    }


def _quote(quote: Quote) -> dict[str, Any]:
    return {
        "path": quote.path,
        "title": quote.title,
        "gist": quote.gist,
        "memory_type": quote.memory_type,
        "body": quote.body,
        "is_cut": quote.is_cut,
        "confidence": quote.confidence,
        "updated_at": quote.updated_at,
        "superseded_by": quote.superseded_by,
        "contradicts": list(quote.contradicts),
        "conflicts_with": list(quote.conflicts_with),
    }


def _line(line: IndexLine) -> dict[str, Any]:
    return {
        "path": line.path,
        "title": line.title,
        "gist": line.gist,
        "memory_type": line.memory_type,
        "reason": line.reason,
    }


_NAMED: Mapping[str, Schema] = {
    "path": text("Where it is; memory_read shows it whole."),
    "title": text("Its title."),
    "gist": text("The fact in one sentence."),
    "memory_type": text("Its type."),
}
_QUOTE = record(
    "A memory.",
    {
        **_NAMED,
        "body": text("What is quoted of it."),
        "is_cut": switch("It says more than is quoted."),
        "confidence": number("How sure it is."),
        "updated_at": text("When it was last changed."),
        "superseded_by": maybe(text("The memory that replaced it.")),
        "contradicts": items("Memories that contradict it.", STRINGS),
        "conflicts_with": items("Memories that say otherwise of the same thing.", STRINGS),
    },
    required=("path", "title", "gist", "memory_type", "body", "is_cut"),
)

RECALL = Tool(
    name="memory_recall",
    title="Recall what is known",
    about=(
        "Quote what memories say about a topic, within a budget: the way to begin a task. What "
        "was found and has no room is named in lateral. For one question, memory_search is shorter."
    ),
    takes=take(
        "query",
        query=filled(
            "The topic or task, as prose.", example="retries of the checkout service", most=4000
        ),
        budget_chars=integer(
            "How many characters may be quoted, arcs apart.",
            least=0,
            most=200_000,
            default=BUDGET_CHARS,
        ),
        budget_tokens=integer("The same in tokens, estimated; not both.", least=0, most=50_000),
        limit=integer("How many memories are looked at.", least=1, most=200, default=30),
        **FILTERS,
    ),
    gives=output(
        sections=record(
            "What was found.",
            {
                "arcs": items("How things went over time.", _QUOTE),
                "memories": items("What is known, best first.", _QUOTE),
                "lateral": items(
                    "Found as well, and not quoted.",
                    record(
                        "A memory.",
                        {
                            **_NAMED,
                            "reason": text(
                                "budget: no room. entity: two quotes are about the same already."
                            ),
                        },
                        required=(*_NAMED, "reason"),
                    ),
                ),
            },
            required=("arcs", "memories", "lateral"),
        ),
        spent_chars=maybe(integer("How many characters are quoted, if those are counted.")),
        spent_tokens=maybe(integer("How many tokens are quoted, if those are counted.")),
        truncated=switch("Something that was found is not quoted, or in part."),
        no_match=NO_MATCH,
        degraded=switch("Words alone were searched, not meaning."),
        vector_coverage=number("0 to 1: the part of the texts that is searched by meaning too."),
        indexed_commit=maybe(text("The commit that the answer describes.")),
        skipped_count=integer("Files that cannot be read as memories; see memory_check."),
    ),
    run=_recall,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)


def _similar(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    found = corpus.similar(
        arguments["path"],
        scope_of(arguments, tool="memory_similar"),
        limit=int(arguments.get("limit", 10)),
    )
    return {
        "similar": [
            {
                "path": other.path,
                "title": other.title,
                "gist": other.gist,
                "memory_type": other.memory_type,
                "likeness": other.likeness,
                "arm": other.arm,
            }
            for other in found
        ]
    }


SIMILAR = Tool(
    name="memory_similar",
    title="Memories like one",
    about="Find the memories most like one: what may repeat, extend or contradict it.",
    takes=take(
        "path",
        path=filled("The memory.", example="areas/inbox/gate-hours.html"),
        limit=integer("How many at most.", least=1, most=100, default=10),
        **FILTERS,
    ),
    gives=output(
        similar=items(
            "The others, the most alike first.",
            record(
                "A memory.",
                {
                    **_NAMED,
                    "likeness": number("0 to 1."),
                    "arm": text("What measured it: sparse is meaning, fts is words."),
                },
                required=(*_NAMED, "likeness", "arm"),
            ),
        ),
    ),
    run=_similar,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)
