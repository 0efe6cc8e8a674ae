"""How git in a clone comes to merge memories with us, and whether it does.

Git calls a driver for the files that attributes name, by a command line from the clone's own
configuration. A clone therefore needs both. The attributes come with a store we made; in any other
they go to ``.git/info/attributes``, which is no tracked file. A clone without the driver, such as
one the TypeScript tool works in, merges these files as text, as it always did.
"""

from __future__ import annotations

import os
import re
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.usage import USAGE_PATH
from memhtml.store import files
from memhtml.store.git import Git
from memhtml.store.layout import MERGE_ATTRIBUTES

if TYPE_CHECKING:
    from memhtml.store.gitdir import GitDir

__all__ = ["DriverFault", "DriverState", "merge_driver_state", "register"]

_NAME = "merge.memhtml.name"
_DRIVER = "merge.memhtml.driver"
_TITLE = "memhtml: statements by their rules, claims by a person"
_ARGS = "merge-driver %O %A %B %P"
_python_re = re.compile(r"if test -x '((?:[^']|'\\'')*)'; then ")
# A memory and the usage: if git uses the driver for these, it uses it for all.
_SAMPLES = ("areas/inbox/a-memory.html", USAGE_PATH)


class DriverFault(StrEnum):
    """Why git in this clone does not merge memories with us."""

    UNREGISTERED = "unregistered"
    """The configuration names no driver."""
    OUTDATED = "outdated"
    """It names a program that is not there, or is not ours."""
    UNATTRIBUTED = "unattributed"
    """No attribute sends memories to the driver."""


class DriverState(NamedTuple):
    """How the merge driver of a clone is."""

    command: str | None
    """The command line that git would run."""
    faults: tuple[DriverFault, ...]

    @property
    def is_ready(self) -> bool:
        """Whether git merges memories with us."""
        return not self.faults


def register(where: GitDir) -> None:
    """Let git in this clone merge memories with us; nothing where it does already."""
    state = merge_driver_state(where)
    git = Git(where.root)
    # Per clone, so it cannot be committed: without it the attribute `merge=ours` is inert.
    git.set_local("merge.ours.driver", "true")
    if DriverFault.UNREGISTERED in state.faults or DriverFault.OUTDATED in state.faults:
        git.set_local(_NAME, _TITLE)
        git.set_local(_DRIVER, _command())
    if DriverFault.UNATTRIBUTED in state.faults:
        _attribute(where)


def merge_driver_state(where: GitDir) -> DriverState:
    """Return how the merge driver of a clone is; changes nothing."""
    git = Git(where.root)
    command = git.configuration().settings.get(_DRIVER)
    faults = []
    if command is None:
        faults.append(DriverFault.UNREGISTERED)
    elif not _can_run(command):
        faults.append(DriverFault.OUTDATED)
    found = git.attributes(_SAMPLES, ("merge",))
    if any(found.get(path, {}).get("merge") != "memhtml" for path in _SAMPLES):
        faults.append(DriverFault.UNATTRIBUTED)
    return DriverState(command, tuple(faults))


def _command() -> str:
    """Return the command line that git has its shell run.

    It names this interpreter, for a program that git starts from an editor may have another PATH;
    where that is gone, as after an upgrade, it is ``memhtml`` on PATH. ``-P`` keeps Python from
    importing what a store has lying about.
    """
    python = "'" + sys.executable.replace("'", "'\\''") + "'"
    python = python.replace("%", "%%")  # git fills in its own words after a percent sign
    return (
        f"if test -x {python}; then exec {python} -P -m memhtml {_ARGS}; "
        f"else exec memhtml {_ARGS}; fi"
    )


def _can_run(command: str) -> bool:
    """Tell whether *command* is ours and names an interpreter that is there."""
    found = _python_re.match(command)
    if found is None:
        # Somebody's own spelling, such as one for a container, is theirs to keep.
        return "memhtml merge-driver" in command
    python = found[1].replace("'\\''", "'").replace("%%", "%")
    return os.path.exists(python)


def _attribute(where: GitDir) -> None:
    place = os.path.join(where.common, "info", "attributes")
    before = files.content(place) or b""
    if before and not before.endswith(b"\n"):
        before += b"\n"
    os.makedirs(os.path.dirname(place), exist_ok=True)
    # Git reads this file last, so the rule for generated pages has to be said once more.
    scratch = f"{place}.memhtml"
    files.write_new(scratch, before, MERGE_ATTRIBUTES.encode())
    os.replace(scratch, place)
