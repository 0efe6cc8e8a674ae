"""Commands that change memories that exist: correct, archive, unarchive, link, unlink."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.casing import in_camel
from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.commands.memory import DRAFT_FLAGS, article_of, labels_of
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.errors import MissingArgument
from memhtml.model.vocabulary import MemoryType, Rel, RelClass

if TYPE_CHECKING:
    from collections.abc import Callable

    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_PATH_NOT_FOUND", "ERR_INVALID_MEMORY", "ERR_WRITE_CONFLICT")
_LATE_ERRORS = ("ERR_BUSY", "ERR_GIT", "ERR_STORAGE")
_AUTHORABLE = tuple(rel.value for rel in Rel if rel.rel_class in {RelClass.MEMORY, RelClass.TASK})

COMMANDS = (
    Command(
        name="correct",
        summary="Let a new memory take the place of one that is no longer true.",
        description=(
            "The old memory goes to the archive and stays readable. The new one stands in the "
            "same folder and inherits type, tags, entities, aliases, author, importance and "
            "confidence, unless flags say otherwise. The moment from which the new one holds, "
            "--valid-from, else the first time it states, else now, is the moment until which the "
            "old one did. All of it is one commit."
        ),
        arguments=(
            Argument(name="target", noun=Noun.MEMORY, summary="the path of the memory to correct"),
        ),
        flags=(
            Flag(name="title", metavar="text", summary="a new title; the old one if absent"),
            *DRAFT_FLAGS,
            Flag(
                name="type",
                metavar="type",
                choices=tuple(kind.value for kind in MemoryType),
                summary="another type",
            ),
            Flag(name="reason", metavar="text", summary="why; kept with the commit"),
            Flag(
                name="expect",
                metavar="sha",
                summary="the sha of the version you read; another one there is a conflict",
            ),
        ),
        response_types=("memory.corrected",),
        errors=(*_ERRORS, "ERR_DUPLICATE_CONTENT", "ERR_SECRET", *_LATE_ERRORS),
        examples=(
            "memhtml correct areas/inbox/gate-hours.html --claim 'The gate opens at 07:00.'",
        ),
    ),
    Command(
        name="archive",
        summary="Move memories into the archive, where a search leaves them out.",
        description=(
            "Name one path, or choose by --tag, --entity and --older-than; what is chosen is only "
            "shown until --yes is given."
        ),
        arguments=(Argument(name="path", noun=Noun.MEMORY, summary="the memory", required=False),),
        flags=(
            Flag(name="reason", required=True, metavar="text", summary="why; kept with the commit"),
            Flag(name="tag", noun=Noun.TAG, metavar="tag", summary="every memory with this tag"),
            Flag(
                name="entity",
                noun=Noun.ENTITY,
                metavar="type:name",
                summary="every memory about this entity",
            ),
            Flag(
                name="older-than",
                kind=Kind.INTEGER,
                minimum=1,
                metavar="days",
                summary="only what was last updated more than so many days ago",
            ),
            Flag(name="yes", kind=Kind.BOOLEAN, summary="archive what was chosen"),
        ),
        response_types=("memory.archived", "memory.archive_preview"),
        errors=(*_ERRORS, *_LATE_ERRORS),
        examples=(
            "memhtml archive areas/inbox/gate-hours.html --reason 'the gate is gone'",
            "memhtml archive --tag launch-2025 --older-than 180 --reason 'over' --yes",
        ),
    ),
    Command(
        name="unarchive",
        summary="Move an archived memory back to where it stood.",
        arguments=(Argument(name="path", noun=Noun.MEMORY, summary="its path in the archive"),),
        flags=(
            Flag(
                name="force",
                kind=Kind.BOOLEAN,
                summary="also one that was superseded by a memory that is still there",
            ),
        ),
        response_types=("memory.unarchived",),
        errors=(*_ERRORS, *_LATE_ERRORS),
        examples=("memhtml unarchive archive/2026/areas/inbox/gate-hours.html",),
    ),
    Command(
        name="link",
        summary="Link one memory to another; does nothing where the link is there.",
        arguments=(
            Argument(name="src", noun=Noun.MEMORY, summary="the memory that gets the link"),
            Argument(name="rel", summary="how the two are related", choices=_AUTHORABLE),
            Argument(name="dst", noun=Noun.MEMORY, summary="the memory it points at"),
        ),
        response_types=("memory.linked",),
        errors=(*_ERRORS, *_LATE_ERRORS),
        examples=("memhtml link areas/inbox/a.html supports areas/inbox/b.html",),
    ),
    Command(
        name="unlink",
        summary="Remove a link; its target need not exist any more.",
        arguments=(
            Argument(name="src", noun=Noun.MEMORY, summary="the memory that has the link"),
            Argument(name="rel", summary="how the two are related", choices=_AUTHORABLE),
            Argument(name="dst", noun=Noun.MEMORY, summary="the path it points at"),
        ),
        response_types=("memory.linked",),
        errors=(*_ERRORS, *_LATE_ERRORS),
        examples=("memhtml unlink areas/inbox/a.html supports areas/inbox/b.html",),
    ),
)


def run(call: Call) -> Success:
    """Change a memory."""
    return _RUNS[call.command.name](call)


def _correct(call: Call) -> Success:
    from memhtml.model.changes import Correction  # noqa: PLC0415 - only here

    kind = call.optional_text("type")
    labels = labels_of(call)
    correction = Correction(
        target=call.text("target"),
        title=call.optional_text("title"),
        reason=call.optional_text("reason"),
        expect=call.optional_text("expect"),
        memory_type=MemoryType(kind) if kind else None,
        **article_of(call),
        tags=labels["tags"] or None,
        entities=labels["entities"] or None,
        aliases=labels["aliases"] or None,
    )
    with open_store(call) as corpus:
        done = corpus.correct(correction, allow_secret=call.is_on("allow-secret"))
    return _told(
        "memory.corrected",
        {
            "path": done.path,
            "archivedPath": done.archived_path,
            "commitSha": done.commit,
            "contentHash": done.content_hash,
        },
        f"corrected {done.path}",
        f"the old one is {done.archived_path}",
    )


def _archive(call: Call) -> Success:
    path, chosen_by = call.optional_text("path"), ("tag", "entity", "older-than")
    chooses = any(call.values[flag] is not None for flag in chosen_by)
    if (path is None) != chooses:
        raise MissingArgument(
            "name one path, or choose by --tag, --entity or --older-than",
            suggestions=("memhtml help archive",),
        )
    if path is not None:
        from memhtml.answers.changed import ARCHIVED, archived  # noqa: PLC0415 - as above

        with open_store(call) as corpus:
            done = corpus.archive(call.text("path"), reason=call.text("reason"))
        return _told(
            "memory.archived",
            in_camel(ARCHIVED, archived(done)),
            f"archived {done.path}",
            f"as {done.archive_path}",
        )
    return _archive_chosen(call)


def _archive_chosen(call: Call) -> Success:
    from memhtml.model.changes import ArchiveRequest  # noqa: PLC0415 - only here

    reason = call.text("reason")
    with open_store(call) as corpus:
        paths = corpus.choose(
            tag=call.optional_text("tag"),
            entity=call.optional_text("entity"),
            older_than_days=call.optional_integer("older-than"),
        )
        if not call.is_on("yes"):
            listed: list[Json] = [*paths]
            return _told(
                "memory.archive_preview",
                {"paths": listed, "reason": reason},
                *(f"would archive {path}" for path in paths),
                f"{len(paths)} chosen; --yes archives them",
            )
        requests = [ArchiveRequest(path=path, reason=reason) for path in paths]
        batch = corpus.apply(requests)
    archived: list[Json] = [
        {"path": path, "archivePath": result.archived_path}
        for path, result in zip(paths, batch.results, strict=True)
    ]
    return _told(
        "memory.archived",
        {"archived": archived, "commitSha": batch.commit},
        f"archived {len(paths)} in one commit",
    )


def _unarchive(call: Call) -> Success:
    from memhtml.answers.changed import ARCHIVED, archived  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus:
        done = corpus.unarchive(call.text("path"), force=call.is_on("force"))
    return _told(
        "memory.unarchived",
        in_camel(ARCHIVED, archived(done)),
        f"back at {done.path}",
    )


def _link(call: Call) -> Success:
    from memhtml.answers.changed import LINKED, linked  # noqa: PLC0415 - help needs none

    ends = (call.text("src"), Rel(call.text("rel")), call.text("dst"))
    with open_store(call) as corpus:
        done = corpus.link(*ends) if call.command.name == "link" else corpus.unlink(*ends)
    return _told(
        "memory.linked",
        in_camel(LINKED, linked(done)),
        f"{call.command.name}ed {done.src} {done.rel} {done.dst}"
        if done.commit
        else "it was so already",
    )


def _told(kind: str, data: dict[str, Json], *lines: str) -> Success:
    def text(screen: Screen) -> str:
        from memhtml.cli.screen import printable  # noqa: PLC0415 - only for people

        first, *rest = (printable(line) for line in lines)
        return "\n".join([screen.paint(first, "green"), *rest]) + "\n"

    return Success(kind, data, text)


_RUNS: dict[str, Callable[[Call], Success]] = {
    "correct": _correct,
    "archive": _archive,
    "unarchive": _unarchive,
    "link": _link,
    "unlink": _link,
}
