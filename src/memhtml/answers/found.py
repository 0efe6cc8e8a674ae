"""What a search, a recall and a look for what is alike answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import (
    STRING,
    choice,
    integer,
    items,
    mapping,
    maybe,
    number,
    record,
    switch,
    text,
)
from memhtml.search.hits import NoMatchReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.answers.schema import Schema
    from memhtml.search.hits import Explanation, Hit, Hits, NoMatch
    from memhtml.search.recall import IndexLine, Quote
    from memhtml.search.similar import Similar

__all__ = [
    "DETAILED_HIT",
    "HIT",
    "INDEX_LINE",
    "NO_MATCH",
    "QUOTE",
    "SIMILAR",
    "detailed_hit",
    "hit",
    "hits",
    "hits_record",
    "index_line",
    "no_match",
    "quote",
    "similar",
]

_NAMED: Mapping[str, Schema] = {
    "path": text("Where it is."),
    "title": text("Its title."),
    "gist": text("The fact in one sentence."),
    "memory_type": text("Its type."),
}
_STANDING: Mapping[str, Schema] = {
    "superseded_by": maybe(text("The memory that replaced it.")),
    "contradicts": items("Memories that contradict it.", STRING),
    "conflicts_with": items("Memories that say otherwise of the same thing.", STRING),
}
_HIT: Mapping[str, Schema] = {
    **_NAMED,
    "confidence": number("How sure it is."),
    "updated_at": text("When it was last changed."),
    "score": number("0 to 1: compares hits of one answer."),
    "relevance": number("0 to 1: how much of the question it covers."),
    "snippet": text("The piece that fits best."),
    "entities": items("Whom or what it is about.", STRING),
    "arms": items("What found it.", STRING),
    **_STANDING,
}

HIT = record("A memory.", _HIT)


def hit(found: Hit) -> dict[str, Any]:
    """Return `HIT`."""
    return {
        "path": found.path,
        "title": found.title,
        "gist": found.gist,
        "memory_type": found.memory_type,
        "confidence": found.confidence,
        "updated_at": found.updated_at,
        "score": found.score,
        "relevance": found.relevance,
        "snippet": found.snippet.text,
        "entities": list(found.entities),
        "arms": list(found.arms),
        "superseded_by": found.superseded_by,
        "contradicts": list(found.contradicts),
        "conflicts_with": list(found.conflicts_with),
    }


_ARM = record(
    "What one arm says of it.",
    {
        "arm": text("The arm: fts is words, sparse and dense are meaning."),
        "rank": integer("Its place among what the arm found, from 1."),
        "raw": number("The arm's score in its own unit."),
        "best": number("The highest score that the arm gave."),
        "weight": number("How much the arm counts."),
        "share": number("What the arm adds to the sum."),
    },
)
_EXPLANATION = record(
    "How it came by its place.",
    {
        "arms": items("What each arm says of it.", _ARM),
        "neighbour": number("What a memory beside it adds."),
        "recency": number("By what part being recent raises the sum."),
        "salience": number("By what part its use and weight raise the sum."),
        "total": number("What memories are ordered by."),
        "matched": items("Words of the question that it has.", STRING),
        "missing": items("Words of the question that it has not.", STRING),
        "arithmetic": text("The same in one line."),
    },
)

DETAILED_HIT = record(
    "A memory.",
    {
        **_HIT,
        "snippet_matches": items(
            "Where the question's words stand in the snippet, each from and to.",
            {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        ),
        "ranks": mapping("Its place in each arm, from 1.", {"type": "integer"}),
        "explanation": _EXPLANATION,
    },
    optional=("explanation",),
)


def detailed_hit(found: Hit, *, with_reasons: bool) -> dict[str, Any]:
    """Return `DETAILED_HIT`, *with_reasons* for its place."""
    reasons = found.explanation
    return {
        **hit(found),
        "snippet_matches": [[start, end] for start, end in found.snippet.matches],
        "ranks": {score.arm: score.rank for score in reasons.arms},
        **({"explanation": _explanation(reasons)} if with_reasons else {}),
    }


def _explanation(reasons: Explanation) -> dict[str, Any]:
    return {
        "arms": [
            {
                "arm": score.arm,
                "rank": score.rank,
                "raw": score.raw,
                "best": score.best,
                "weight": score.weight,
                "share": score.share,
            }
            for score in reasons.arms
        ],
        "neighbour": reasons.neighbour,
        "recency": reasons.recency,
        "salience": reasons.salience,
        "total": reasons.total,
        "matched": list(reasons.matched),
        "missing": list(reasons.missing),
        "arithmetic": reasons.arithmetic,
    }


_NEAR = record(
    "A memory.",
    {
        "path": text("Where it is."),
        "gist": text("The fact in one sentence."),
        "relevance": number("0 to 1: how much of the question it covers."),
    },
)

NO_MATCH = maybe(
    record(
        "Why nothing was found.",
        {
            "reason": choice("As a stable word.", NoMatchReason),
            "message": text("As a sentence."),
            "nearest": items("What came nearest, best first; none of it clearly answers.", _NEAR),
        },
    )
)


def no_match(reason: NoMatch | None) -> dict[str, Any] | None:
    """Return `NO_MATCH`."""
    return reason and {
        "reason": reason.reason.value,
        "message": reason.message,
        "nearest": [
            {"path": near.path, "gist": near.gist, "relevance": near.relevance}
            for near in reason.closest
        ],
    }


_SPELLING = record(
    "One word.",
    {
        "term": text("The word that no memory has."),
        "nearest": items("Words most like it.", STRING),
    },
)
_ARCHIVED = record(
    "A memory.",
    {
        "path": text("Where it is."),
        "superseded_by": maybe(text("The memory that replaced it.")),
    },
)


def hits_record(one: Schema) -> Schema:
    """Return the schema of `hits` whose hits are each *one*."""
    return record(
        "What a search found.",
        {
            "hits": items("What was found, best first.", one),
            "degraded": switch("Words alone were searched, not meaning."),
            "degraded_reason": maybe(text("Which arm took no part that might have, and why.")),
            "vector_coverage": number(
                "0 to 1: the part of the texts that is searched by meaning too."
            ),
            "arms": items("What ranked.", STRING),
            "entity_scope": maybe(text("The entity searched in, in its normal form.")),
            "scope_empty": switch("The filters leave no memory to look at."),
            "no_match": NO_MATCH,
            "unmatched_terms": items("Words that no memory has.", STRING),
            "spellings": items("Words that memories have in place of those.", _SPELLING),
            "archived_matches": integer("How many of the archive match where no active one does."),
            "archived": items("Which.", _ARCHIVED),
            "next_cursor": maybe(text("Asks for the next page; null at the end.")),
            "cursor_stale": switch("Memories changed since the first page."),
            "indexed_commit": maybe(text("The commit that the answer describes.")),
            "skipped_count": integer("Files that cannot be read as memories."),
        },
    )


def hits(found: Hits, told: list[dict[str, Any]], *, entity: str | None) -> dict[str, Any]:
    """Return *found*, whose hits are *told*; *entity* is the one that was searched in."""
    return {
        "hits": told,
        "degraded": found.degraded,
        "degraded_reason": found.degraded_reason,
        "vector_coverage": found.coverage,
        "arms": list(found.arms),
        "entity_scope": entity,
        "scope_empty": found.scope_empty,
        "no_match": no_match(found.no_match),
        "unmatched_terms": list(found.unmatched_terms),
        "spellings": [{"term": term, "nearest": list(words)} for term, words in found.spellings],
        "archived_matches": len(found.archived),
        "archived": [
            {"path": match.path, "superseded_by": match.superseded_by} for match in found.archived
        ],
        "next_cursor": found.next_cursor,
        "cursor_stale": found.cursor_stale,
        "indexed_commit": found.indexed_commit,
        "skipped_count": found.skipped_count,
    }


QUOTE = record(
    "A memory that is quoted.",
    {
        **_NAMED,
        "body": text("What is quoted of it."),
        "is_cut": switch("It says more than is quoted."),
        "relevance": number("0 to 1: how much of the question it covers."),
        "confidence": number("How sure it is."),
        "updated_at": text("When it was last changed."),
        **_STANDING,
    },
)


def quote(found: Quote) -> dict[str, Any]:
    """Return `QUOTE`."""
    return {
        "path": found.path,
        "title": found.title,
        "gist": found.gist,
        "memory_type": found.memory_type,
        "body": found.body,
        "is_cut": found.is_cut,
        "relevance": found.relevance,
        "confidence": found.confidence,
        "updated_at": found.updated_at,
        "superseded_by": found.superseded_by,
        "contradicts": list(found.contradicts),
        "conflicts_with": list(found.conflicts_with),
    }


INDEX_LINE = record(
    "A memory that was found and is not quoted.",
    {
        **_NAMED,
        "reason": text("budget: no room. entity: two quotes are about the same already."),
    },
)


def index_line(found: IndexLine) -> dict[str, Any]:
    """Return `INDEX_LINE`."""
    return {
        "path": found.path,
        "title": found.title,
        "gist": found.gist,
        "memory_type": found.memory_type,
        "reason": found.reason,
    }


SIMILAR = record(
    "Memories like one.",
    {
        "similar": items(
            "The others, the most alike first.",
            record(
                "A memory.",
                {
                    **_NAMED,
                    "likeness": number("0 to 1."),
                    "arm": text("What measured it: sparse is meaning, fts is words."),
                },
            ),
        )
    },
)


def similar(found: tuple[Similar, ...]) -> dict[str, Any]:
    """Return `SIMILAR`."""
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
