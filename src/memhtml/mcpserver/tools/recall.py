"""Tools that gather: quotes about a topic, and memories like one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.found import INDEX_LINE, NO_MATCH, QUOTE, index_line, no_match, quote, similar
from memhtml.answers.found import SIMILAR as ALIKE
from memhtml.answers.schema import filled, integer, items, maybe, number, record, switch, text
from memhtml.mcpserver.schema import output, take
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools.scopes import FILTERS, scope_of
from memhtml.model.errors import InvalidFlag
from memhtml.search.recall import BUDGET_CHARS, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse

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
            "arcs": [quote(one) for one in pack.arcs.disclosed],
            "memories": [quote(one) for one in pack.memories.disclosed],
            "lateral": [index_line(line) for section in sections for line in section.index_lines],
        },
        "spent_chars": pack.spent if unit is Unit.CHARS else None,
        "spent_tokens": pack.spent if unit is Unit.TOKENS else None,
        "truncated": pack.truncated,
        "no_match": no_match(pack.no_match),
        "degraded": pack.degraded,
        "vector_coverage": pack.coverage,
        "indexed_commit": pack.indexed_commit,
        "skipped_count": pack.skipped_count,
    }


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
        record(
            "What is known of a topic.",
            {
                "sections": record(
                    "What was found.",
                    {
                        "arcs": items("How things went over time.", QUOTE),
                        "memories": items("What is known, best first.", QUOTE),
                        "lateral": items("Found as well, and not quoted.", INDEX_LINE),
                    },
                ),
                "spent_chars": maybe(
                    integer("How many characters are quoted, arcs and all, if those are counted.")
                ),
                "spent_tokens": maybe(
                    integer("How many tokens are quoted, arcs and all, if those are counted.")
                ),
                "truncated": switch("Something that was found is not quoted, or in part."),
                "no_match": NO_MATCH,
                "degraded": switch("Words alone were searched, not meaning."),
                "vector_coverage": number(
                    "0 to 1: the part of the texts that is searched by meaning too."
                ),
                "indexed_commit": maybe(text("The commit that the answer describes.")),
                "skipped_count": integer("Files that cannot be read as memories."),
            },
        )
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
    return similar(found)


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
    gives=output(ALIKE),
    run=_similar,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)
