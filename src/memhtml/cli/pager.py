"""A long answer in the reader's own pager, as git shows its own.

``MEMHTML_PAGER`` wins, then ``PAGER``, then ``less -FRX`` where it is installed; a blank one or
``cat`` means none. Whoever leaves the pager early has seen enough, and nothing is said about it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.cli.world import World

__all__ = ["pager_of", "show"]

_DEFAULT = "less"
_CANNOT_RUN = frozenset({126, 127})
"""What a shell answers where there is no such program, or it is none."""


def pager_of(env: Mapping[str, str]) -> str | None:
    """Return the command line of the pager to use, None for none."""
    import shutil  # noqa: PLC0415 - only for a long answer

    if env.get("TERM") == "dumb":
        return None
    for name in ("MEMHTML_PAGER", "PAGER"):
        chosen = env.get(name)
        if chosen is not None:
            return None if chosen.strip() in {"", "cat"} else chosen
    return _DEFAULT if shutil.which(_DEFAULT, path=env.get("PATH")) else None


def show(text: str, world: World) -> None:
    """Write *text* to a terminal: through a pager if it is higher than the screen."""
    pager = None
    if 0 < world.rows <= text.count("\n"):
        pager = pager_of(world.env)
    if pager is None or not _paged(text, pager, world):
        world.stdout.write(text)


def _paged(text: str, pager: str, world: World) -> bool:
    """Show *text* in *pager*; return False where that cannot be run."""
    import subprocess  # noqa: PLC0415 - only for a long answer

    from memhtml.cli.foreground import in_background  # noqa: PLC0415 - as above

    world.stdout.flush()
    # Quit if it fits, keep colours, leave the text on the screen: as git has it.
    env = {"LESS": "FRX", "LV": "-c", **world.env}
    process = subprocess.Popen(pager, shell=True, stdin=subprocess.PIPE, env=env)  # noqa: S602 - the user's own command line, as git runs it
    with in_background():
        # Whoever leaves early has seen enough.
        with suppress(BrokenPipeError):
            process.communicate(text.encode("utf-8", "replace"))
        return process.wait() not in _CANNOT_RUN
