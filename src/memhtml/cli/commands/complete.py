"""``memhtml complete``: what there is of a kind of word in a store, for completion scripts."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.errors import IndexStale

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.corpus import Corpus

__all__ = ["COMMANDS", "next_parts", "run"]

COMMANDS = (
    Command(
        name="complete",
        summary="List the words of a store that begin so; completion scripts call it.",
        description=(
            "Of paths the next part is listed, as a shell does with folders. Words are printed as "
            "they are, one a line, in a pipe too, unless --json is given."
        ),
        arguments=(
            Argument(
                name="kind",
                summary="what kind of word",
                choices=tuple(noun.value for noun in Noun if noun is not Noun.FILE),
            ),
            Argument(name="beginning", summary="how they begin", required=False),
        ),
        response_types=("cli.words",),
        errors=("ERR_NOT_A_STORE", "ERR_INDEX_STALE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE"),
        examples=("memhtml complete tag", "memhtml complete memory areas/"),
    ),
)

_MOST = 500
_MOST_READ = 500
"""Nobody waits for a Tab longer than it takes to read so many memories."""


def run(call: Call) -> Success:
    """List the words."""
    noun, beginning = Noun(call.text("kind")), call.optional_text("beginning") or ""
    with open_store(call) as corpus:
        if noun is Noun.MEMORY:
            words = _paths(corpus, beginning)
        else:
            words = [word for word in _words(corpus, noun) if word.startswith(beginning)]
    # A word with a line break would be two.
    words = [word for word in words if word.isprintable()][:_MOST]
    listed: list[Json] = [*words]
    return Success(
        "cli.words",
        {"kind": noun.value, "words": listed},
        lambda _: "".join(f"{word}\n" for word in words),
        form="text",
    )


def next_parts(paths: Iterable[str], beginning: str) -> list[str]:
    """Return how *beginning* may go on: a file, or a folder with its slash.

    >>> next_parts(["areas/a.html", "areas/b/c.html", "areas/b/d.html"], "ar")
    ['areas/a.html', 'areas/b/']
    """
    paths = [path for path in paths if path.startswith(beginning)]
    while True:
        found: dict[str, None] = {}
        for path in paths:
            slash = path.find("/", len(beginning))
            found[path[: slash + 1] if slash >= 0 else path] = None
        only = next(iter(found), "")
        if len(found) != 1 or not only.endswith("/") or only == beginning:
            return list(found)
        beginning = only


def _paths(corpus: Corpus, beginning: str) -> list[str]:
    """Return the next parts, in the spelling of *beginning*: from here, or from the root on."""
    spelled = next(
        (lead for lead in ("./", f"{corpus.root}{os.sep}") if beginning.startswith(lead)), ""
    )
    parts = next_parts(_every_path(corpus), beginning[len(spelled) :])
    return [spelled + part for part in parts]


def _words(corpus: Corpus, noun: Noun) -> list[str]:
    if noun is Noun.WORKSPACE:
        from memhtml.model.paths import workspace_of  # noqa: PLC0415 - only here

        return [*dict.fromkeys(filter(None, map(workspace_of, _every_path(corpus))))]
    _update(corpus)
    if noun is Noun.TAG:
        return [use.tag for use in corpus.list_tags(scan=False)]
    return [e.entity for e in corpus.list_entities(limit=_MOST, scan=False).entities]


def _every_path(corpus: Corpus) -> list[str]:
    """Return the paths of all memories, as the last commit has them where no index knows."""
    from memhtml.index.lookup import list_paths  # noqa: PLC0415 - only here
    from memhtml.model.paths import path_fault  # noqa: PLC0415 - as above

    try:
        _update(corpus)
    except IndexStale:
        paths = (entry.path for entry in corpus.committed_files())
        return [path for path in paths if path_fault(path) is None]
    return list_paths(corpus.index, include_archived=True)


def _update(corpus: Corpus) -> None:
    """Bring the index up to the last commit, if that is soon done.

    Raises:
        IndexStale: It would have to be built anew from many memories.
    """

    def stop_early(_: int, total: int) -> None:
        if total > _MOST_READ:
            raise IndexStale("the index has to be built first, for which a Tab is not the moment")

    corpus.update(scan=False, progress=stop_early)
