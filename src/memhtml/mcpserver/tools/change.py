"""Tools that change what is there: correct, link, archive, unarchive, reinforce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memhtml.answers.changed import ARCHIVED, LINKED, REINFORCED, archived, linked, reinforced
from memhtml.answers.schema import (
    COMMIT,
    STRING,
    choice,
    filled,
    items,
    number,
    record,
    switch,
    text,
)
from memhtml.index.usage import Signal
from memhtml.mcpserver.schema import output, take
from memhtml.mcpserver.tool import Tool
from memhtml.mcpserver.tools.record import LABELS, PROVENANCE, SAID, WEIGHT, as_op
from memhtml.model.vocabulary import TASK_RELS, MemoryType, Rel, RelClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.corpus import Corpus
    from memhtml.mcpserver.desk import Pulse
    from memhtml.model.changes import ArchiveRequest, Correction, LinkRequest

__all__ = ["ARCHIVE", "CORRECT", "LINK", "REINFORCE", "UNARCHIVE"]

_PATH = "Path of the memory, as search and read give it."
_EXAMPLE = "areas/inbox/gate-hours.html"


def _correct(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    done = corpus.correct(cast("Correction", as_op(arguments, "correct")))
    return {
        "path": done.path,
        "superseded": [done.archived_path],
        "archived": [done.archived_path],
        "commit_sha": done.commit,
        "content_hash": done.content_hash,
    }


CORRECT = Tool(
    name="memory_correct",
    title="Correct a memory",
    about=(
        "Let a new memory take the place of one that is no longer true, in one commit. The old "
        "one goes to the archive, linked. Give body or article_html; title, type, tags, entities "
        "and aliases stay as they are unless given."
    ),
    takes=take(
        "target_path",
        "reason",
        target_path=filled(_PATH, example=_EXAMPLE),
        title=filled("A new title.", example="Gate hours in winter"),
        reason=filled("Why the old one is wrong.", example="The timetable changed in March."),
        memory_type=choice("Another type.", MemoryType),
        expect=filled(
            "The sha that memory_read gave: if the memory was changed since, nothing is done.",
            most=64,
        ),
        **SAID,
        **LABELS,
        **WEIGHT,
        **PROVENANCE,
    ),
    gives=output(
        record(
            "A memory that took another one's place.",
            {
                "path": text("Where the new memory is."),
                "superseded": items("Where the old one is now.", STRING),
                "archived": items("What was archived by this.", STRING),
                "commit_sha": COMMIT,
                "content_hash": text("Hash of what the new memory says."),
            },
        )
    ),
    run=_correct,
    is_destructive=True,
    is_idempotent=True,
)


def _link(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    stated = {name: value for name, value in arguments.items() if name != "strength"}
    wanted = cast("LinkRequest", as_op(stated, "link"))
    return {"ok": True, **linked(corpus.link(wanted.src, wanted.rel, wanted.dst))}


LINK = Tool(
    name="memory_link",
    title="Link two memories",
    about="Add an edge from one memory to another; nothing happens when it is there already.",
    takes=take(
        "src_path",
        "rel",
        "dst_path",
        src_path=filled(_PATH, example=_EXAMPLE),
        rel=choice(
            "How the first relates to the second; blocks and subtask_of are between tasks.",
            (rel for rel in Rel if rel.rel_class is RelClass.MEMORY or rel in TASK_RELS),
        ),
        dst_path=filled("Path of the other memory.", example="areas/inbox/night-shift.html"),
        strength=number("No effect: an edge has no weight.", least=0, most=1),
    ),
    gives=output(record("The edge.", {"ok": switch("The edge is there."), **LINKED["properties"]})),
    run=_link,
    is_idempotent=True,
)


def _archive(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    wanted = cast("ArchiveRequest", as_op(arguments, "archive"))
    return archived(corpus.archive(wanted.path, reason=wanted.reason))


ARCHIVE = Tool(
    name="memory_archive",
    title="Archive a memory",
    about=(
        "Move a memory out of sight into the archive. For what is outdated and has no successor; "
        "when there is one, use memory_correct. Nothing is lost: memory_unarchive undoes it."
    ),
    takes=take(
        "path",
        "reason",
        path=filled(_PATH, example=_EXAMPLE),
        reason=filled("Why it is put away.", example="The gate is gone."),
    ),
    gives=output(ARCHIVED),
    run=_archive,
    is_destructive=True,
    is_idempotent=True,
)


def _reinforce(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    return reinforced(corpus.reinforce(arguments["paths"], Signal(arguments["signal"])))


REINFORCE = Tool(
    name="memory_reinforce",
    title="Say what memories were worth",
    about=(
        "After you relied on memories, say whether they helped: those that do are found more "
        "easily. This changes no file."
    ),
    takes=take(
        "paths",
        "signal",
        paths=items("Paths of the memories.", STRING, least=1, most=500),
        signal=choice("positive: it helped. negative: it misled. neutral: it was opened.", Signal),
    ),
    gives=output(REINFORCED),
    run=_reinforce,
)


def _unarchive(corpus: Corpus, arguments: Mapping[str, Any], _: Pulse) -> dict[str, Any]:
    return archived(corpus.unarchive(arguments["path"], force=arguments.get("force", False)))


UNARCHIVE = Tool(
    name="memory_unarchive",
    title="Bring a memory back",
    about="Move an archived memory back to where it stood.",
    takes=take(
        "path",
        path=filled("Path in the archive.", example=f"archive/2026/{_EXAMPLE}"),
        force=switch("Also when another memory superseded it.", default=False),
    ),
    gives=output(ARCHIVED),
    run=_unarchive,
    is_idempotent=True,
)
