"""A text in the person's own editor, in a folder nobody else can read; never lost.

``VISUAL`` wins, then ``EDITOR``, then the first of a few that is installed. The command line is
the user's own and goes through a shell, as git does it, so ``code --wait`` works.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memhtml.model.errors import MissingArgument, StorageFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.cli.world import World

__all__ = ["asked", "contents", "discard", "draft_file", "edit", "editor_of", "is_asked"]

_FALLBACKS = ("sensible-editor", "nano", "vim", "vi", "notepad")


def draft_file(name: str, data: bytes) -> str:
    """Return the path of a new file called *name* that holds *data*, for this user alone."""
    import tempfile  # noqa: PLC0415 - only here

    path = os.path.join(tempfile.mkdtemp(prefix="memhtml-edit-"), name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def contents(path: str) -> bytes:
    """Return what the file at *path* says now."""
    with open(path, "rb") as file:
        return file.read()


def discard(path: str) -> None:
    """Remove a file of `draft_file` with its folder; what an editor left beside it goes too."""
    import shutil  # noqa: PLC0415 - only here

    shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def edit(path: str, world: World) -> bytes:
    """Let the person edit the file at *path*, and return what it says then.

    Raises:
        MissingArgument: There is no editor.
        StorageFailure: The editor failed, or took the file away.
    """
    import subprocess  # noqa: PLC0415 - only here

    from memhtml.cli.foreground import in_background  # noqa: PLC0415 - as above

    editor = editor_of(world.env)
    world.stdout.flush()
    is_windows = os.name == "nt"
    line = f'{editor} "{path}"' if is_windows else ["sh", "-c", f'{editor} "$@"', editor, path]
    process = subprocess.Popen(line, shell=is_windows, env=dict(world.env), cwd=world.cwd)
    with in_background():
        status = process.wait()
    if status:
        raise StorageFailure(
            f"the editor {editor!r} ended with status {status}, so nothing was written",
            suggestions=("export EDITOR=nano",),
        )
    try:
        return contents(path)
    except OSError as error:
        raise StorageFailure(
            f"what the editor left in {path!r} cannot be read: {error.strerror}"
        ) from error


def editor_of(env: Mapping[str, str]) -> str:
    """Return the command line of the editor.

    Raises:
        MissingArgument: None is named and none is installed.
    """
    import shutil  # noqa: PLC0415 - only here

    for name in ("VISUAL", "EDITOR"):
        if env.get(name, "").strip():
            return env[name]
    for program in _FALLBACKS:
        if shutil.which(program, path=env.get("PATH")):
            return program
    raise MissingArgument("there is no editor", suggestions=("export EDITOR=nano",))


def is_asked(world: World) -> bool:
    """Whether there is a person at the other end who can answer a question."""
    return world.is_terminal and world.stdin.isatty()


def asked(question: str, world: World) -> str | None:
    """Put *question* and return the line that is typed; None when the input ends."""
    world.stdout.write(question)
    world.stdout.flush()
    line = world.stdin.readline()
    if not line:
        world.stdout.write("\n")
        return None
    return line.decode("utf-8", "replace").strip()
