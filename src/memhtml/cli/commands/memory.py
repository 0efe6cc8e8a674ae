"""``memhtml write`` and ``memhtml read``: one memory in, one memory out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict

from memhtml.answers.casing import in_camel
from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.errors import MissingArgument
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.format.markdown import Converted
    from memhtml.model.document import Citation, Facet, Link
    from memhtml.model.memory import Draft, Memory

__all__ = ["COMMANDS", "DRAFT_FLAGS", "article_of", "instant_of", "labels_of", "run"]

DRAFT_FLAGS = (
    Flag(name="claim", metavar="text", summary="the fact in one sentence"),
    Flag(
        name="body",
        repeatable=True,
        metavar="text",
        summary="a paragraph after the claim, - or @FILE",
    ),
    Flag(
        name="article-html",
        metavar="html",
        summary="the whole article as HTML instead of claim and body, - or @FILE",
    ),
    Flag(
        name="tag",
        noun=Noun.TAG,
        repeatable=True,
        metavar="tag",
        summary="a topic; commas separate several",
    ),
    Flag(
        name="entity",
        noun=Noun.ENTITY,
        repeatable=True,
        metavar="type:name",
        summary="whom or what it is about, such as person:Ada",
    ),
    Flag(name="alias", repeatable=True, metavar="text", summary="another name of the fact"),
    Flag(
        name="facet",
        repeatable=True,
        metavar="name=value",
        summary="a named value; name:3.5='3.5 metres' states the number too",
    ),
    Flag(
        name="cite",
        repeatable=True,
        metavar="source",
        summary="where the fact is from; 'words <https://…>' quotes an address",
    ),
    Flag(name="happened-at", metavar="time", summary="when the fact happened"),
    Flag(name="valid-from", metavar="time", summary="from when on it is true"),
    Flag(name="valid-until", metavar="time", summary="until when it is true"),
    Flag(
        name="importance",
        kind=Kind.INTEGER,
        minimum=1,
        maximum=10,
        metavar="n",
        summary="how much it matters",
    ),
    Flag(
        name="confidence",
        kind=Kind.FLOAT,
        minimum=0,
        maximum=1,
        metavar="n",
        summary="how sure it is",
    ),
    Flag(name="author", metavar="who", summary="who says so, such as human:Ada"),
    Flag(name="session-id", metavar="id", summary="the session it came from"),
    Flag(name="prompt-id", metavar="id", summary="the prompt it came from"),
    Flag(name="turn-uuid", metavar="id", summary="the turn it came from"),
    Flag(
        name="allow-secret",
        kind=Kind.BOOLEAN,
        summary="write text that looks like a credential all the same",
    ),
)
"""What every command that states a memory takes."""

COMMANDS = (
    Command(
        name="write",
        summary="Write one memory, as one file and one commit.",
        description=(
            "Give either --claim, with --body for what follows it, or --article-html. A memory "
            "whose article says the same as one that is there is not written again: the answer "
            "names the older one. Text is text: markup in it is shown and never obeyed, only "
            "fenced code blocks become code.\n\n"
            "A value of - reads standard input, and @FILE reads a file, for --body and "
            "--article-html. Text that is read so is split into paragraphs at blank lines.\n\n"
            "With --markdown the body is Markdown: lists, tables, links, code, quotes and emphasis "
            "become the format's own elements, and its first sentence is the claim unless --claim "
            "states one. What has no place in a memory, such as an image, is told in the answer."
        ),
        flags=(
            Flag(name="title", required=True, metavar="text", summary="a short name of the fact"),
            Flag(
                name="type",
                required=True,
                metavar="type",
                choices=tuple(kind.value for kind in MemoryType),
                summary="what kind of memory it is",
            ),
            *DRAFT_FLAGS,
            Flag(name="markdown", kind=Kind.BOOLEAN, summary="read --body as Markdown"),
            Flag(name="path", metavar="path", summary="the exact place in the store"),
            Flag(
                name="strict-path",
                kind=Kind.BOOLEAN,
                summary="no effect: a path that cannot be used is always refused",
            ),
            Flag(
                name="workspace",
                noun=Noun.WORKSPACE,
                metavar="name",
                summary="the project it belongs to",
            ),
            Flag(
                name="link",
                repeatable=True,
                metavar="rel=path",
                summary=f"an edge to another memory; rel is one of {', '.join(Rel)}",
            ),
            Flag(
                name="status",
                metavar="status",
                choices=tuple(status.value for status in TaskStatus),
                summary="where a task stands; todo if absent; only with --type task",
            ),
            Flag(name="due", metavar="time", summary="when a task is due; only with --type task"),
        ),
        response_types=("memory.written",),
        errors=(
            "ERR_NOT_A_STORE",
            "ERR_INVALID_MEMORY",
            "ERR_SECRET",
            "ERR_WRITE_CONFLICT",
            "ERR_BUSY",
            "ERR_GIT",
            "ERR_STORAGE",
        ),
        examples=(
            "memhtml write --title 'Gate hours' --type semantic --claim 'The gate opens at 06:30.'",
            (
                "memhtml write --title 'Fix the latch' --type task --claim 'The latch sticks.' "
                "--due 2026-12-01 --tag 'gate, repairs'"
            ),
            (
                "memhtml write --title 'Deploy' --type procedural --claim 'Deploys run from main.' "
                "--body @notes.md --facet minutes:12='about 12 minutes'"
            ),
            "memhtml write --title 'Oven notes' --type semantic --markdown --body @oven.md",
        ),
    ),
    Command(
        name="read",
        summary="Show one memory whole.",
        arguments=(Argument(name="path", noun=Noun.MEMORY, summary="its path in the store"),),
        response_types=("memory.detail",),
        errors=("ERR_NOT_A_STORE", "ERR_PATH_NOT_FOUND", "ERR_INVALID_MEMORY", "ERR_STORAGE"),
        examples=("memhtml read areas/inbox/gate-hours.html",),
    ),
)


class Article(TypedDict):
    """What the flags say of an article, as the fields of a draft or a correction."""

    claim: str
    paragraphs: tuple[str, ...]
    article_html: str | None
    facets: tuple[Facet, ...]
    citations: tuple[Citation, ...]
    happened_at: str | None
    confidence: float | None
    importance: int | None
    author: str | None
    session_id: str | None
    prompt_id: str | None
    turn_uuid: str | None
    valid_from: str | None
    valid_until: str | None


class Labels(TypedDict):
    """The repeatable labels, as the fields of a draft."""

    tags: tuple[str, ...]
    entities: tuple[str, ...]
    aliases: tuple[str, ...]


_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_number_re = re.compile(_NUMBER)
_numbered_re = re.compile(rf"(.*\S)\s*:\s*({_NUMBER})", re.DOTALL)
_quoted_re = re.compile(r"(.*\S)\s*<([^<>\s]+)>\s*", re.DOTALL)


def run(call: Call) -> Success:
    """Write or read."""
    return _write(call) if call.command.name == "write" else _read(call)


def _write(call: Call) -> Success:
    from memhtml.answers.changed import WRITTEN  # noqa: PLC0415 - help needs none
    from memhtml.answers.changed import written as told_written  # noqa: PLC0415 - as above

    converted = _markdown(call) if call.is_on("markdown") else None
    draft = _draft(call, converted)
    with open_store(call) as corpus:
        written = corpus.write(draft, allow_secret=call.is_on("allow-secret"))
    notes = () if converted is None else converted.notes

    def text(screen: Screen) -> str:
        from memhtml.cli.views.memories import written_lines  # noqa: PLC0415 - only for people

        return written_lines(written, screen, notes)

    told: dict[str, Json] = {}
    if converted is not None:
        told["markdownNotes"] = [
            {"line": note.line, "code": note.code, "message": note.message} for note in notes
        ]
    data = {**in_camel(WRITTEN, told_written(written)), **told}
    return Success("memory.written", data, text)


def _markdown(call: Call) -> Converted:
    """Return the body read as Markdown.

    Raises:
        UsageError: there is no body, or an article in HTML beside it.
    """
    from memhtml.format.markdown import from_markdown  # noqa: PLC0415 - only Markdown needs it
    from memhtml.providers.languages import detector  # noqa: PLC0415 - as above

    if call.values["article-html"] is not None:
        raise call.refuse("markdown", "not with --article-html, which is HTML")
    bodies = [_from_outside(call, "body", value) or value for value in call.texts("body")]
    if not bodies:
        raise MissingArgument(
            "--markdown needs a --body", suggestions=(f"memhtml help {call.command.name}",)
        )
    return from_markdown(
        "\n\n".join(bodies),
        claim=call.optional_text("claim") or "",
        fallback_claim=call.text("title"),
        detect=detector(),
    )


def _draft(call: Call, converted: Converted | None) -> Draft:
    """Return the draft that the flags state.

    Raises:
        UsageError: flags that exclude each other, or a value that cannot be read.
    """
    from memhtml.model.memory import Draft  # noqa: PLC0415 - reading needs none

    memory_type = MemoryType(call.text("type"))
    if memory_type is not MemoryType.TASK:
        for flag in ("status", "due"):
            if call.values[flag] is not None:
                raise call.refuse(flag, "only a task has it; say --type task")
    status = call.optional_text("status")
    article = article_of(call) if converted is None else _article_from(call, converted)
    return Draft(
        title=call.text("title"),
        memory_type=memory_type,
        path=call.optional_text("path"),
        workspace=call.optional_text("workspace"),
        links=tuple(_link(call, text) for text in call.texts("link")),
        task_status=TaskStatus(status) if status else None,
        due_at=instant_of(call, "due"),
        **article,
        **labels_of(call),
    )


def _article_from(call: Call, converted: Converted) -> Article:
    """Return *converted*, and after it what the flags state beside the body."""
    from memhtml.format.render import render_extras  # noqa: PLC0415 - only Markdown needs it

    article = article_of(call, claim="", paragraphs=())
    extras = render_extras(article["happened_at"], article["facets"], article["citations"])
    html = "\n".join((converted.article_html, *extras))
    return {
        **article,
        "claim": "",
        "article_html": html,
        "facets": (),
        "citations": (),
        "happened_at": None,
    }


def article_of(
    call: Call, *, claim: str | None = None, paragraphs: tuple[str, ...] | None = None
) -> Article:
    """Return what the flags say of the article and of where it came from.

    *claim* stands in for one where neither claim nor article is given, *paragraphs* for the body.

    Raises:
        UsageError: neither claim nor article, both, or a value that cannot be read.
    """
    article = _contents(call, "article-html")
    if article is None:
        stated = call.optional_text("claim")
        claim = claim if stated is None else stated
        if claim is None:
            raise MissingArgument(
                "give --claim or --article-html",
                suggestions=(f"memhtml help {call.command.name}",),
            )
    else:
        claim = ""
        for flag in ("claim", "body", "facet", "cite", "happened-at"):
            if call.values[flag]:
                raise call.refuse(flag, "not with --article-html, which is the whole article")
    return {
        "claim": claim,
        "paragraphs": _paragraphs(call) if paragraphs is None else paragraphs,
        "article_html": article,
        "facets": tuple(_facet(call, text) for text in call.texts("facet")),
        "citations": tuple(_citation(text) for text in call.texts("cite")),
        "happened_at": instant_of(call, "happened-at"),
        "confidence": call.optional_float("confidence"),
        "importance": call.optional_integer("importance"),
        "author": call.optional_text("author"),
        "session_id": call.optional_text("session-id"),
        "prompt_id": call.optional_text("prompt-id"),
        "turn_uuid": call.optional_text("turn-uuid"),
        "valid_from": instant_of(call, "valid-from"),
        "valid_until": instant_of(call, "valid-until"),
    }


def labels_of(call: Call) -> Labels:
    """Return the tags, entities and aliases that the flags state, each empty where none is."""
    return {
        "tags": tuple(
            tag.strip() for text in call.texts("tag") for tag in text.split(",") if tag.strip()
        ),
        "entities": call.texts("entity"),
        "aliases": call.texts("alias"),
    }


def _contents(call: Call, flag: str) -> str | None:
    value = call.optional_text(flag)
    return value if value is None else _from_outside(call, flag, value) or value


def _from_outside(call: Call, flag: str, value: str) -> str | None:
    """Return what ``-`` or ``@FILE`` stands for; None for a value that stands for itself."""
    import os.path  # noqa: PLC0415 - only here

    try:
        if value == "-":
            data = call.world.stdin.read()
        elif value.startswith("@") and len(value) > 1:
            with open(os.path.join(call.world.cwd, value[1:]), "rb") as file:
                data = file.read()
        else:
            return None
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise call.refuse(flag, f"{value!r} is not UTF-8 text") from None
    except OSError as error:
        raise call.refuse(flag, f"{value[1:]!r} cannot be read: {error.strerror}") from None


def _paragraphs(call: Call) -> tuple[str, ...]:
    paragraphs: list[str] = []
    for value in call.texts("body"):
        outside = _from_outside(call, "body", value)
        if outside is None:
            paragraphs.append(value)
        else:
            from memhtml.format.prose import split_paragraphs  # noqa: PLC0415 - only here

            paragraphs += split_paragraphs(outside)
    return tuple(paragraphs)


def _facet(call: Call, text: str) -> Facet:
    from memhtml.model.document import Facet  # noqa: PLC0415 - only a write with facets

    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise call.refuse("facet", f"write name=value, not {text!r}")
    numbered = _numbered_re.fullmatch(name)
    if numbered:
        return Facet(numbered[1], value, float(numbered[2]))
    return Facet(name, value, float(value) if _number_re.fullmatch(value) else None)


def _citation(text: str) -> Citation:
    from memhtml.model.document import Citation  # noqa: PLC0415 - only a write with sources

    quoted = _quoted_re.fullmatch(text)
    return Citation(quoted[1], quoted[2]) if quoted else Citation(text)


def _link(call: Call, text: str) -> Link:
    from memhtml.model.document import Link  # noqa: PLC0415 - only a write with links
    from memhtml.model.edges import href_of  # noqa: PLC0415 - as above

    name, equals, path = (part.strip() for part in text.partition("="))
    rel = next((rel for rel in Rel if rel.value == name.replace("-", "_")), None)
    if rel is None or not equals or not path:
        raise call.refuse("link", f"write rel=path, with a rel of {', '.join(Rel)}, not {text!r}")
    return Link(rel.token, href_of(path))


def instant_of(call: Call, flag: str) -> str | None:
    """Return a time in the format's spelling; one with an offset is turned into UTC."""
    text = call.optional_text(flag)
    if text is None:
        return None
    from memhtml.model.instants import is_instant  # noqa: PLC0415 - only a write with times

    if is_instant(text):
        return text
    from memhtml.model.zoned import utc_instant  # noqa: PLC0415 - only a time with an offset

    instant = utc_instant(text)
    if instant is None:
        raise call.refuse(
            flag,
            f"write a date such as 2026-12-01, or an instant such as 2026-12-01T09:30:00Z or "
            f"2026-12-01T10:30+01:00, not {text!r}",
        )
    return instant


def _read(call: Call) -> Success:
    with open_store(call) as corpus:
        memory = corpus.read(call.text("path"))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.memories import memory_page  # noqa: PLC0415 - only for people

        return memory_page(memory, screen)

    return Success("memory.detail", _memory_json(memory), text)


def _memory_json(memory: Memory) -> dict[str, Json]:
    from memhtml.answers.shown import MEMORY  # noqa: PLC0415 - help needs none
    from memhtml.answers.shown import memory as told  # noqa: PLC0415 - as above

    document = memory.document
    head = document.head
    return {
        **in_camel(MEMORY, told(memory)),
        "metas": {
            "memoryType": head.memory_type,
            "status": head.status,
            "createdAt": head.created_at,
            "updatedAt": head.updated_at,
            "confidence": head.confidence,
            "importance": head.importance,
            "contentHash": head.content_hash,
            "author": head.author,
            "sessionId": head.session_id,
            "promptId": head.prompt_id,
            "turnUuid": head.turn_uuid,
            "validFrom": head.valid_from,
            "validUntil": head.valid_until,
            "reprieves": head.reprieves,
            "archivedAt": head.archived_at,
            "supersededBy": head.superseded_by,
            "needsRevision": head.needs_revision,
            "taskStatus": head.task_status,
            "dueAt": head.due_at,
        },
        "entities": list(head.entities),
        "tags": list(head.tags),
        "aliases": list(head.aliases),
        "body": document.body_text,
        "html": document.article_html,
    }
