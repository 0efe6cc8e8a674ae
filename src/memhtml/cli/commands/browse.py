"""``memhtml open``: memories in the browser, on a page that works offline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.pagefiles import browse
from memhtml.cli.stores import open_store
from memhtml.model.errors import PathNotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.corpus import Corpus

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="open",
        summary="Show a memory, or what a search finds, in your browser.",
        description=(
            "A path opens that memory, with those its links lead to; any other words are searched. "
            "The page needs no network and no server, and runs nothing that a memory says. It is "
            "written below the store, where git ignores it, and removed when it is a day old and "
            "another one is opened."
        ),
        arguments=(
            Argument(
                name="what", noun=Noun.MEMORY, summary="a memory's path, or words to search for"
            ),
        ),
        flags=(
            Flag(
                name="browser",
                kind=Kind.BOOLEAN,
                default=True,
                summary="open it; --no-browser only writes the page and says where",
            ),
        ),
        response_types=("memory.opened",),
        errors=(
            "ERR_NOT_A_STORE",
            "ERR_PATH_NOT_FOUND",
            "ERR_INDEX_STALE",
            "ERR_BUSY",
            "ERR_GIT",
            "ERR_STORAGE",
        ),
        examples=(
            "memhtml open areas/inbox/gate-hours.html",
            "memhtml open 'when does the gate open'",
        ),
    ),
)

_MOST = 50
_KEPT_SECONDS = 86_400


def run(call: Call) -> Success:
    """Write the page, and open it."""
    from urllib.parse import quote  # noqa: PLC0415 - help needs none

    from memhtml.transfer.exporting import export  # noqa: PLC0415 - as above

    what = call.text("what")
    with open_store(call) as corpus:
        is_memory = corpus.read_file(what) is not None
        paths = _around(corpus, what) if is_memory else _found(corpus, what)
        page = _place(call, corpus.root, what)
        export(corpus, page, format_="html", force=True, only=paths)
    # The page reads what to show from the address, as its own links have it.
    url = _file_url(page) + (f"#/{quote(what, safe='')}" if is_memory else "")
    is_open = call.is_on("browser") and browse(url, call.world)

    def text(screen: Screen) -> str:
        from memhtml.cli.screen import plural, printable  # noqa: PLC0415 - only for people

        told = "opened" if is_open else "written; open it in a browser:"
        count = plural(len(paths), "memory", "memories")
        return f"{screen.paint(told, 'green')} {printable(page)} ({count})\n"

    listed: list[Json] = [*paths]
    return Success(
        "memory.opened", {"page": page, "url": url, "paths": listed, "opened": is_open}, text
    )


def _around(corpus: Corpus, path: str) -> Sequence[str]:
    """Return *path*, and the memories one link away."""
    try:
        near = corpus.neighbors(path, limit=_MOST)
    except PathNotFound:  # a file that is no memory
        corpus.read(path)
        raise
    return [*dict.fromkeys((path, *(node.path for node in near.nodes)))]


def _found(corpus: Corpus, words: str) -> Sequence[str]:
    """Return what a search for *words* finds.

    Raises:
        PathNotFound: Nothing, or *words* look like a path.
    """
    from memhtml.model.paths import bucket_of  # noqa: PLC0415 - only here
    from memhtml.model.shell import quoted  # noqa: PLC0415 - as above

    if words.endswith(".html") or bucket_of(words) is not None:
        raise PathNotFound(words, suggestions=(f"memhtml resolve {quoted(words)}", "memhtml list"))
    found = corpus.search(words, limit=_MOST)
    if not found.hits:
        raise PathNotFound(words, suggestions=(f"memhtml search {quoted(words)}",))
    return [hit.path for hit in found.hits]


def _place(call: Call, root: str, what: str) -> str:
    """Return where the page goes; the old ones beside it are removed."""
    from contextlib import suppress  # noqa: PLC0415 - only here
    from hashlib import sha256  # noqa: PLC0415 - as above

    from memhtml.index.database import cache_folder, make_ignored_folder  # noqa: PLC0415 - as above

    cache = cache_folder(root)
    make_ignored_folder(cache)
    folder = os.path.join(cache, "pages")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        place = os.path.join(folder, name)
        with suppress(OSError):
            if os.path.getmtime(place) < call.world.now() - _KEPT_SECONDS:
                os.remove(place)
    name = sha256(what.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return os.path.join(folder, f"{name}.html")


def _file_url(path: str) -> str:
    from pathlib import Path  # noqa: PLC0415 - only here

    return Path(path).as_uri()
