"""Tools that find and show memories."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memhtml.index.usage import Moment
from memhtml.mcpserver.schema import (
    choice,
    filled,
    integer,
    items,
    mapping,
    maybe,
    number,
    output,
    record,
    switch,
    take,
    text,
)
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools.scopes import FILTERS, STRINGS, scope_of
from memhtml.model.errors import MemhtmlError
from memhtml.model.history import DiffKind
from memhtml.search.hits import NoMatchReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse
    from memhtml.model.document import Head
    from memhtml.model.history import Version
    from memhtml.search.hits import Hit, NoMatch

__all__ = ["HISTORY", "NO_MATCH", "READ", "SEARCH", "meta_of", "no_match_of", "record_read"]


def _search(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    scope = scope_of(arguments, tool="memory_search")
    found = corpus.search(
        arguments["query"],
        scope,
        limit=int(arguments.get("limit", 10)),
        cursor=arguments.get("cursor"),
        at=arguments.get("at"),
    )
    return {
        "hits": [_hit(hit) for hit in found.hits],
        "degraded": found.degraded,
        "degraded_reason": found.degraded_reason,
        "vector_coverage": found.coverage,
        "arms": list(found.arms),
        "entity_scope": scope.entity,
        "scope_empty": found.scope_empty,
        "no_match": no_match_of(found.no_match),
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


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "path": hit.path,
        "title": hit.title,
        "gist": hit.gist,
        "memory_type": hit.memory_type,
        "confidence": hit.confidence,
        "updated_at": hit.updated_at,
        "score": hit.score,
        "relevance": hit.relevance,
        "snippet": hit.snippet.text,
        "entities": list(hit.entities),
        "arms": list(hit.arms),
        "superseded_by": hit.superseded_by,
        "contradicts": list(hit.contradicts),
        "conflicts_with": list(hit.conflicts_with),
    }


def no_match_of(reason: NoMatch | None) -> dict[str, Any] | None:
    """Return why nothing was found, as callers get it."""
    return reason and {
        "reason": reason.reason.value,
        "message": reason.message,
        "nearest": list(reason.closest),
    }


NO_MATCH = maybe(
    record(
        "Why nothing was found.",
        {
            "reason": choice("As a stable word.", NoMatchReason),
            "message": text("As a sentence."),
            "nearest": items("Paths of what came nearest, and is no answer.", STRINGS),
        },
        required=("reason", "message", "nearest"),
    )
)
"""The schema of `no_match_of`."""

SEARCH = Tool(
    name="memory_search",
    title="Search the memories",
    about=(
        "Find memories that answer a question, best first. An empty answer says why in no_match. "
        "superseded_by names what replaced a hit: rely on that one. contradicts and "
        "conflicts_with name memories that say otherwise: read them too. Tasks are left out unless "
        "memory_types names them."
    ),
    takes=take(
        "query",
        query=filled(
            "What to look for, as prose; words between double quotes must stand together.",
            example="when does the loading bay open",
            most=4000,
        ),
        limit=integer("How many at most.", least=1, most=200, default=10),
        cursor=filled("next_cursor of the answer before, for its next page."),
        at=filled("A commit: what the store would have said then.", most=200),
        **FILTERS,
    ),
    gives=output(
        hits=items(
            "What was found, best first.",
            record(
                "A memory.",
                {
                    "path": text("Where it is; memory_read shows it whole."),
                    "title": text("Its title."),
                    "gist": text("The fact in one sentence."),
                    "memory_type": text("Its type."),
                    "confidence": number("How sure it is."),
                    "updated_at": text("When it was last changed."),
                    "score": number("0 to 1: compares hits of one answer."),
                    "relevance": number("0 to 1: how much of the question it covers."),
                    "snippet": text("The piece that fits best."),
                    "entities": items("Whom or what it is about.", STRINGS),
                    "arms": items("What found it.", STRINGS),
                    "superseded_by": maybe(text("The memory that replaced it.")),
                    "contradicts": items("Memories that contradict it.", STRINGS),
                    "conflicts_with": items(
                        "Memories that say otherwise of the same thing.", STRINGS
                    ),
                },
                required=("path", "title", "gist", "memory_type", "score", "relevance", "snippet"),
            ),
        ),
        degraded=switch("Words alone were searched, not meaning."),
        degraded_reason=maybe(text("Why.")),
        vector_coverage=number("0 to 1: the part of the texts that is searched by meaning too."),
        arms=items("What ranked.", STRINGS),
        entity_scope=maybe(text("The entity searched in, in its normal form.")),
        scope_empty=switch("The filters leave no memory to look at."),
        no_match=NO_MATCH,
        unmatched_terms=items("Words that no memory has.", STRINGS),
        spellings=items(
            "Words that memories have in place of those.",
            record(
                "One word.",
                {
                    "term": text("The word that no memory has."),
                    "nearest": items("Words most like it.", STRINGS),
                },
                required=("term", "nearest"),
            ),
        ),
        archived_matches=integer("How many of the archive match where no active one does."),
        archived=items(
            "Which.",
            record(
                "A memory.",
                {
                    "path": text("Where it is."),
                    "superseded_by": maybe(text("The memory that replaced it.")),
                },
                required=("path", "superseded_by"),
            ),
        ),
        next_cursor=maybe(text("Asks for the next page; null at the end.")),
        cursor_stale=switch("Memories changed since the first page."),
        indexed_commit=maybe(text("The commit that the answer describes.")),
        skipped_count=integer("Files that cannot be read as memories; see memory_check."),
    ),
    run=_search,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)


def _read(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    memory = corpus.read(arguments["path"])
    record_read(corpus, memory.path, arguments.get("session_id"))
    document = memory.document
    return {
        "path": memory.path,
        "sha": memory.sha,
        "title": document.title,
        "gist": document.claim,
        "body": document.text,
        "memory_type": document.head.memory_type,
        "meta": meta_of(document.head),
        "links": [{"rel": link.rel, "href": link.href} for link in document.links],
        "facets": [{"name": facet.name, "value": facet.value} for facet in document.facets],
        "citations": [{"text": cited.text, "href": cited.href} for cited in document.citations],
        "happened_at": document.happened_at,
        "archived": memory.is_archived,
        "violations": [str(finding) for finding in document.violations],
        "warnings": [str(finding) for finding in document.warnings],
    }


def record_read(corpus: Corpus, path: str, session_id: str | None = None) -> None:
    """Count that *path* was opened. A store that cannot be written to is read all the same."""
    moment = None if session_id is None else Moment(session_id)
    with suppress(MemhtmlError):
        corpus.record_read(path, moment=moment)


def meta_of(head: Head) -> dict[str, str]:
    """Return what the head states, flat; a tag is ``tag:x`` and an entity ``entity:y``."""
    stated = {name: getattr(head, name) for name in _META}
    meta = {name: str(value) for name, value in stated.items() if value is not None}
    if head.needs_revision is not None:
        meta["needs_revision"] = "true" if head.needs_revision else "false"
    labels = (
        *(f"tag:{tag}" for tag in head.tags),
        *(f"entity:{entity}" for entity in head.entities),
        *(f"alias:{alias}" for alias in head.aliases),
    )
    return meta | dict.fromkeys(labels, "true")


_META = (
    *("status", "created_at", "updated_at", "confidence", "importance", "content_hash"),
    *("author", "session_id", "prompt_id", "turn_uuid", "valid_from", "valid_until"),
    *("reprieves", "archived_at", "superseded_by", "task_status", "due_at"),
)

READ = Tool(
    name="memory_read",
    title="Read a memory",
    about="Show one memory whole, as it is on disk now.",
    takes=take(
        "path",
        path=filled("Its path, as search gives it.", example="areas/inbox/gate-hours.html"),
        session_id=text("The session that reads it, to be counted as one that did."),
    ),
    gives=output(
        path=text("Where it is."),
        sha=text("Names this version; hand it to memory_correct as expect."),
        title=text("Its title."),
        gist=text("The fact in one sentence."),
        body=text("All it says."),
        memory_type=maybe(text("Its type.")),
        meta=mapping("What its head states, and tag:x, entity:y, alias:z for its labels.", STRINGS),
        links=items(
            "Its edges.",
            record(
                "One edge.",
                {"rel": text("The relation."), "href": text("The target, from the root.")},
                required=("rel", "href"),
            ),
        ),
        facets=items(
            "Its named values.",
            record(
                "One value.",
                {"name": text("The name."), "value": text("The value.")},
                required=("name", "value"),
            ),
        ),
        citations=items(
            "Where it is from.",
            record(
                "One source.",
                {"text": text("In words."), "href": maybe(text("As a URL."))},
                required=("text", "href"),
            ),
        ),
        happened_at=maybe(text("When it happened.")),
        archived=switch("It is in the archive: no longer true, or done."),
        violations=items("What makes the file no valid memory.", STRINGS),
        warnings=items("What else is wrong with the file.", STRINGS),
    ),
    run=_read,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)


def _history(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    versions = corpus.history(arguments["path"])
    shown = versions[: int(arguments.get("limit", 20))]
    told = [_version(version) for version in shown]
    if arguments.get("with_changes", False):
        # One more than is shown: the oldest one shown is compared with the one before it.
        compared = corpus.compare_versions(versions[: len(shown) + 1])
        for version, pieces in zip(told, compared, strict=False):
            version["changes"] = [{"kind": piece.kind, "text": piece.text} for piece in pieces]
    return {"versions": told, "total": len(versions)}


def _version(version: Version) -> dict[str, Any]:
    return {
        "commit": version.commit,
        "at": version.at,
        "author": version.author,
        "operation": version.operation,
        "summary": version.summary,
        "session": version.session,
        "prompt": version.prompt,
        "reason": version.reason,
        "path": version.path,
        "moved_from": version.moved_from,
        "sha": version.sha,
    }


HISTORY = Tool(
    name="memory_history",
    title="History of a memory",
    about=(
        "Tell how a memory came to say what it says: its versions, newest first, through every "
        "move and correction."
    ),
    takes=take(
        "path",
        path=filled("Its path, now or earlier."),
        limit=integer("How many versions at most.", least=1, most=200, default=20),
        with_changes=switch("Also what each version changed, word by word.", default=False),
    ),
    gives=output(
        versions=items(
            "The versions, newest first.",
            record(
                "A version.",
                {
                    "commit": text("The commit that made it."),
                    "at": text("When."),
                    "author": text("Who committed it."),
                    "operation": maybe(text("What made it; null for a commit of other hands.")),
                    "summary": text("What the commit says."),
                    "session": maybe(text("The session it came from.")),
                    "prompt": maybe(text("The prompt it came from.")),
                    "reason": maybe(text("Why.")),
                    "path": text("Where it stood then."),
                    "moved_from": maybe(text("Where it stood before.")),
                    "sha": maybe(text("The version's sha; null where it was removed.")),
                    "changes": items(
                        "Its words against the version before.",
                        record(
                            "A run of words.",
                            {
                                "kind": choice("Whether they stayed.", DiffKind),
                                "text": text("The words."),
                            },
                            required=("kind", "text"),
                        ),
                    ),
                },
                required=("commit", "at", "author", "summary", "path"),
            ),
        ),
        total=integer("How many versions there are."),
    ),
    run=_history,
    reads_only=True,
    is_idempotent=True,
    quotes=True,
)
