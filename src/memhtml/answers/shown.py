"""One memory, whole, and its versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.answers.schema import STRING, choice, items, maybe, number, record, switch, text
from memhtml.model.history import DiffKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.model.history import Piece, Version
    from memhtml.model.memory import Memory

__all__ = ["MEMORY", "VERSION", "WORDS", "memory", "version", "words"]

MEMORY = record(
    "What every door gives of a memory.",
    {
        "path": text("Where it is."),
        "sha": text("Names this version: a correction that expects it replaces no other."),
        "title": text("Its title."),
        "gist": text("The fact in one sentence."),
        "links": items(
            "Its edges.",
            record(
                "One edge.",
                {"rel": text("The relation."), "href": text("The target, from the root.")},
            ),
        ),
        "facets": items(
            "Its named values.",
            record(
                "One value.",
                {
                    "name": text("The name."),
                    "value": text("The value, in words."),
                    "number": maybe(number("The value as a number.")),
                },
            ),
        ),
        "citations": items(
            "Where it is from.",
            record("One source.", {"text": text("In words."), "href": maybe(text("As a URL."))}),
        ),
        "happened_at": maybe(text("When it happened.")),
        "archived": switch("It is in the archive: no longer true, or done."),
        "violations": items("What makes the file no valid memory.", STRING),
        "warnings": items("What else is wrong with the file.", STRING),
    },
)


def memory(found: Memory) -> dict[str, Any]:
    """Return `MEMORY`."""
    document = found.document
    return {
        "path": found.path,
        "sha": found.sha,
        "title": document.title,
        "gist": document.claim,
        "links": [{"rel": link.rel, "href": link.href} for link in document.links],
        "facets": [facet._asdict() for facet in document.facets],
        "citations": [cited._asdict() for cited in document.citations],
        "happened_at": document.happened_at,
        "archived": found.is_archived,
        "violations": [str(finding) for finding in document.violations],
        "warnings": [str(finding) for finding in document.warnings],
    }


VERSION = record(
    "A memory as one commit left it.",
    {
        "commit_sha": text("The commit that made it."),
        "at": text("When."),
        "author": text("Who committed it."),
        "operation": maybe(text("What made it; null for a commit of other hands.")),
        "summary": text("What the commit says."),
        "session_id": maybe(text("The session it came from.")),
        "prompt_id": maybe(text("The prompt it came from.")),
        "reason": maybe(text("Why.")),
        "path": text("Where it stood then."),
        "moved_from": maybe(text("Where it stood before.")),
        "sha": maybe(text("The version's sha; null where it was removed.")),
    },
)


def version(found: Version) -> dict[str, Any]:
    """Return `VERSION`."""
    return {
        "commit_sha": found.commit,
        "at": found.at,
        "author": found.author,
        "operation": found.operation,
        "summary": found.summary,
        "session_id": found.session,
        "prompt_id": found.prompt,
        "reason": found.reason,
        "path": found.path,
        "moved_from": found.moved_from,
        "sha": found.sha,
    }


WORDS = items(
    "Its words against the version before.",
    record(
        "A run of words.",
        {"kind": choice("Whether they stayed.", DiffKind), "text": text("The words.")},
    ),
)


def words(pieces: Iterable[Piece]) -> list[Any]:
    """Return `WORDS`."""
    return [{"kind": piece.kind.value, "text": piece.text} for piece in pieces]
