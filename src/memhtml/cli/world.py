"""Everything outside the process that a command may touch, gathered in one value.

`main` builds it from the real process; a test builds its own. No other module of the command
line reads the environment, the clock or the terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import InvalidFlag, RepoRequired

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO, TextIO

__all__ = ["World", "store_root"]

DEFAULT_ROOT = "~/memhtml"
_OFF = frozenset({"", "0", "false", "no", "off"})


class World(NamedTuple):
    """Streams, environment, terminal and clock of one call."""

    env: Mapping[str, str]
    cwd: str
    """The working folder; "" where that was removed, so that nothing relative is found."""
    stdin: BinaryIO
    stdout: TextIO
    stderr: TextIO
    now: Callable[[], float]
    """Seconds since the epoch."""
    is_terminal: bool = False
    """Whether a person reads *stdout*."""
    columns: int = 80
    """Width of that terminal, in cells."""
    rows: int = 0
    """Its height in lines; 0 where nothing is to be shown in a pager."""
    has_colour: bool = False
    """Whether *stdout* may carry colours."""
    is_watched: bool = False
    """Whether a person sees *stderr*."""
    stderr_has_colour: bool = False


def store_root(repo: str | None, env: Mapping[str, str], cwd: str) -> str:
    """Return the absolute path of the store a call is about.

    *repo* wins, then ``MEMHTML_ROOT``, then ``~/memhtml``; relative ones count from *cwd*.

    Raises:
        InvalidFlag: *repo* is blank: an unset variable of a script, not a wish for the default.
        RepoRequired: ``MEMHTML_REFUSE_ENV_ROOT`` is on and *repo* was not given.
    """
    import os.path  # noqa: PLC0415 - already loaded by the interpreter; keeps this module's head pure

    if repo is not None and not repo.strip():
        raise InvalidFlag("--repo is blank; name a folder or leave it out")
    if repo is None and env.get("MEMHTML_REFUSE_ENV_ROOT", "").strip().lower() not in _OFF:
        raise RepoRequired(
            "no store was named, and MEMHTML_REFUSE_ENV_ROOT forbids a default one",
            suggestions=("pass --repo <folder>",),
        )
    root = repo or env.get("MEMHTML_ROOT", "").strip() or DEFAULT_ROOT
    if root == "~" or root.startswith(("~/", "~\\")):
        root = (env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")) + root[1:]
    return os.path.abspath(os.path.join(cwd, root))
