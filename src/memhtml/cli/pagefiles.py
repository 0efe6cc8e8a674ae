"""Pages that a command writes: never over a file that is none of them, and shown where asked."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.cli.command import Call
    from memhtml.cli.world import World

__all__ = ["browse", "show_page", "write_page"]

_HEAD_BYTES = 4096


def write_page(call: Call, text: str, *, mark: str) -> str | None:
    """Write *text* to the file that ``--html`` names; return where it is, None without the flag.

    Raises:
        InvalidFlag: A file without *mark* near its top stands there.
        OSError: The file cannot be written.
    """
    name = call.optional_text("html")
    if name is None:
        return None
    place = os.path.join(call.world.cwd, name)
    if os.path.lexists(place) and not _has(place, mark):
        raise call.refuse("html", f"{name!r} is there already and is no such page")
    _write(place, text)
    return place


def show_page(call: Call, place: str | None, text: str, *, prefix: str) -> str:
    """Show the page at *place* in a browser, or one in a temporary file; return where it is."""
    from pathlib import Path  # noqa: PLC0415 - only here

    if place is None:
        import tempfile  # noqa: PLC0415 - as above

        handle, place = tempfile.mkstemp(prefix=prefix, suffix=".html")
        os.close(handle)
        _write(place, text)
    # Where no browser can be started, whoever called is told the place all the same.
    browse(Path(place).as_uri(), call.world)
    return place


def browse(url: str, world: World) -> bool:
    """Open *url* in the person's browser; False where none can be started."""
    import webbrowser  # noqa: PLC0415 - only here

    try:
        with _elsewhere() if not world.is_terminal else nullcontext():
            return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False


def _write(place: str, text: str) -> None:
    with open(place, "w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.write(text)


def _has(place: str, mark: str) -> bool:
    try:
        with open(place, "rb") as file:
            return mark.encode() in file.read(_HEAD_BYTES)
    except OSError:
        return False


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Let what a browser prints go to standard error: our own output is the answer alone."""
    try:
        kept = os.dup(1)
    except OSError:  # closed
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
