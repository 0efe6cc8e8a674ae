"""Memories as resources: what a URI stands for, which there are, and how a half-typed one goes on.

``memhtml://file/PATH`` is a memory as it is, ``memhtml://at/COMMIT/PATH`` as it was,
``memhtml://entity/TYPE:NAME`` everything about one entity, ``memhtml://index`` the state of the
store, ``memhtml://sleep/RUN`` what a run of sleep did. PATH, NAME and RUN may be percent-encoded.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from memhtml.format.parse import parse
from memhtml.mcpserver.tools.look import record_read
from memhtml.mcpserver.tools.state import status_of
from memhtml.model.entities import normalize_entity, parse_entity
from memhtml.model.errors import InvalidFlag, InvalidMemory, PathNotFound
from memhtml.model.paths import memory_path, original_path
from memhtml.sleep.runs import RECORDS, report_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memhtml.corpus import Corpus
    from memhtml.index.lookup import ListedFile
    from memhtml.model.document import Document

__all__ = [
    "INDEX_URI",
    "TEMPLATES",
    "Content",
    "Page",
    "Template",
    "can_change",
    "complete",
    "list_reports",
    "list_resources",
    "read_resource",
    "uri_of",
]

INDEX_URI = "memhtml://index"

PAGE_SIZE = 500
MOST_COMPLETIONS = 100

_uri_re = re.compile(
    r"memhtml://(?:(index)/?|(file)/(.+)|(entity)/(.+)|(at)/([^/]+)/(.+)|(sleep)/(.+))", re.DOTALL
)
_commit_re = re.compile(r"[0-9a-f]{7,64}")
_RUN = "[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[1-9][0-9]*)?"
_run_re = re.compile(_RUN)
_report_re = re.compile(rf"sleep-({_RUN})\.html")


class Template(NamedTuple):
    """A family of resources."""

    name: str
    uri: str
    title: str
    about: str
    mime_type: str = "text/plain"


TEMPLATES = (
    Template(
        "file",
        "memhtml://file/{path}",
        "A memory",
        "A memory as it is on disk now: title, claim and text.",
    ),
    Template(
        "at",
        "memhtml://at/{commit}/{path}",
        "A memory as it was",
        "A memory as a commit has it; the commit by 7 or more hex digits of its name.",
    ),
    Template(
        "entity",
        "memhtml://entity/{name}",
        "All about an entity",
        "The active memories about an entity, which is named type:name or by its name alone.",
    ),
    Template(
        "sleep",
        "memhtml://sleep/{run}",
        "A report of sleep",
        "What a run of sleep decided and did, and why; the run by its day, such as 2026-11-30.",
        "text/html",
    ),
)


class Content(NamedTuple):
    """What a resource holds."""

    text: str
    mime_type: str = "text/plain"


class Page(NamedTuple):
    """Some of the memories, in order of path."""

    files: tuple[ListedFile, ...]
    next_cursor: str | None


def uri_of(path: str) -> str:
    """Return the URI of the memory at *path*."""
    return f"memhtml://file/{quote(path)}"


def can_change(uri: str) -> bool:
    """Tell whether *uri* names something that may be another tomorrow."""
    match = _uri_re.fullmatch(uri)
    return match is not None and match[6] is None


def read_resource(corpus: Corpus, uri: str, *, counts: bool = True) -> Content:
    """Return what *uri* stands for; it *counts* as opening the memory.

    Raises:
        PathNotFound: It stands for nothing.
    """
    match = _uri_re.fullmatch(uri)
    if match is None:
        raise PathNotFound(uri)
    index, file, path, entity, name, _, commit, path_then, sleep, run = match.groups()
    if index:
        return Content(json.dumps(status_of(corpus.status()), indent=2), "application/json")
    if file:
        memory = corpus.read(unquote(path))
        if counts:
            record_read(corpus, memory.path)
        return Content(_page(memory.document))
    if entity:
        return Content(_about(corpus, unquote(name)))
    if sleep:
        return Content(_report_of(corpus, unquote(run)), "text/html")
    return Content(_page(_document_at(corpus, commit, unquote(path_then))))


def list_resources(corpus: Corpus, cursor: str | None) -> Page:
    """Return the next page of active memories.

    Raises:
        InvalidFlag: *cursor* is not one that a page before gave.
    """
    after = "" if cursor is None else _decode_cursor(cursor)
    rest = (file for file in _active(corpus) if file.path > after)
    files = (*islice(rest, PAGE_SIZE),)
    is_more = next(rest, None) is not None
    return Page(files, _encode_cursor(files[-1].path) if is_more else None)


def list_reports(corpus: Corpus) -> list[str]:
    """Return the URI of each report of sleep, the newest first."""
    return [f"memhtml://sleep/{quote(run)}" for run in _runs(corpus)]


def complete(corpus: Corpus, argument: str, typed: str) -> list[str]:
    """Return every value that *argument* may go on to, those that begin so before the others.

    *argument* is one of a template or a prompt: ``path``, ``commit``, ``name`` or ``entity``,
    ``tag``, ``run``. For any other there is nothing to offer.
    """
    values: Iterable[str]
    if argument == "path":
        corpus.update()
        values = corpus.indexed_files()
    elif argument == "commit":
        head = corpus.index_status().head
        values = () if head is None else (head,)
    elif argument in {"name", "entity"}:
        values = {entity for file in _active(corpus) for entity in file.entities}
    elif argument == "tag":
        values = {tag for file in _active(corpus) for tag in file.tags}
    elif argument == "run":
        values = _runs(corpus)
    else:
        return []
    wanted = typed.casefold()
    fitting = [value for value in values if wanted in value.casefold()]
    return sorted(fitting, key=lambda value: (not value.casefold().startswith(wanted), value))


def _page(document: Document) -> str:
    parts = [f"# {document.title}"]
    if document.claim and not document.body_text.startswith(document.claim):
        parts.append(document.claim)
    return "\n\n".join([*parts, document.text])


def _document_at(corpus: Corpus, commit: str, path: str) -> Document:
    # A branch's name is refused: what is pinned must not move.
    if not _commit_re.fullmatch(commit):
        raise PathNotFound(f"{commit}:{path}")
    try:
        return parse(corpus.repo.read_at(commit, memory_path(path)))
    except InvalidMemory:
        raise PathNotFound(path) from None


def _report_of(corpus: Corpus, run: str) -> str:
    # Runs are called sleep/2026-11-30; the word before the day says nothing here.
    name = run.removeprefix("sleep/").removeprefix("sleep-")
    data = corpus.read_file(report_path(f"sleep/{name}")) if _run_re.fullmatch(name) else None
    if data is None:
        raise PathNotFound(f"memhtml://sleep/{run}")
    return data.decode("utf-8", "replace")


def _runs(corpus: Corpus) -> list[str]:
    """Return the days of the runs that left a report, the newest first."""
    try:
        files = Path(corpus.root, RECORDS).iterdir()
        names = [file.name for file in files if not file.is_symlink()]
    except OSError:
        return []
    days = [match[1] for match in map(_report_re.fullmatch, names) if match]
    return sorted(days, key=_in_order, reverse=True)


def _in_order(day: str) -> tuple[str, int]:
    """Return what orders runs: the tenth of a day comes after the ninth."""
    return day[:10], int(day[11:] or 1)


def _about(corpus: Corpus, name: str) -> str:
    wanted = normalize_entity(name) if parse_entity(name) else name.strip().casefold()
    found = [f for f in _active(corpus) if any(_is(entity, wanted) for entity in f.entities)]
    if not found:
        raise PathNotFound(name)
    lines = [f"# {name}", "", *(f"- {file.title} ({file.path}): {file.claim}" for file in found)]
    return "\n".join(lines)


def _is(entity: str, wanted: str) -> bool:
    parts = parse_entity(entity)
    return normalize_entity(entity) == wanted or (
        parts is not None and parts[1].strip().casefold() == wanted
    )


def _active(corpus: Corpus) -> Iterator[ListedFile]:
    corpus.update()
    return (file for file in corpus.listing() if original_path(file.path) is None)


def _encode_cursor(path: str) -> str:
    return base64.urlsafe_b64encode(path.encode()).decode()


def _decode_cursor(cursor: str) -> str:
    try:
        return base64.urlsafe_b64decode(cursor).decode()
    except (binascii.Error, UnicodeError, ValueError):
        raise InvalidFlag(f"{cursor!r} is no cursor of a page before") from None
