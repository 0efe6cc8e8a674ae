"""An answer that is given again whenever the store has changed, until Ctrl-C.

What is compared is HEAD and how the files on disk differ from it, so a commit, a sync and a file
saved in an editor are all seen. Looking costs what ``git status`` costs, and is done so seldom that
it takes no more than a twentieth of one core.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from memhtml.cli.stores import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Success
    from memhtml.cli.screen import Screen
    from memhtml.cli.world import World
    from memhtml.corpus import Corpus

__all__ = ["draw", "watched"]

_LEAST_SECONDS = 0.5
_SHARE = 20
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"

State = tuple[object, ...]


def watched(call: Call, answer: Callable[[], Success]) -> Success:
    """Return *answer*'s answer, with how to get the next one.

    Raises:
        InvalidFlag: Nobody reads it as text.
    """
    if (
        call.is_on("json")
        or call.is_on("dense")
        or not (call.world.is_terminal or call.is_on("text"))
    ):
        raise call.refuse("watch", "it is for people: on a terminal, or with --text")
    with open_store(call) as corpus:
        seen = _state(corpus)
    # What changes from here on is either in the answer or differs from what was seen.
    return answer()._replace(again=lambda: _next(call, answer, seen))


def draw(text: str, world: World, screen: Screen) -> None:
    """Put *text* in place of what the screen shows, as much as fits; append it elsewhere.

    The last line sums up, so it stays.
    """
    if not world.is_terminal or world.env.get("TERM") == "dumb":
        world.stdout.write(f"{text}{'-' * 20}\n")
        return
    lines = text.rstrip("\n").split("\n")
    room = max(3, world.rows - 2) if world.rows else len(lines)
    if len(lines) > room:
        rest = f"… and {len(lines) - room + 1:,} more lines"
        lines = [*lines[: room - 2], screen.paint(rest, "dim"), lines[-1]]
    end = screen.paint("shown again when the store changes; Ctrl-C ends", "dim")
    world.stdout.write("\n".join([_CLEAR + lines[0], *lines[1:], end]) + "\n")


def _next(call: Call, answer: Callable[[], Success], seen: State) -> Success:
    with open_store(call) as corpus:
        while True:
            began = time.perf_counter()
            if _state(corpus) != seen:
                break
            took = time.perf_counter() - began
            time.sleep(max(_LEAST_SECONDS, _SHARE * took))
    return watched(call, answer)


def _state(corpus: Corpus) -> State:
    """Return something that differs once the store says something else."""
    files = []
    for change in corpus.worktree_changes():
        try:
            stat = os.stat(os.path.join(corpus.root, change.path))
            files.append((change.path, stat.st_mtime_ns, stat.st_size))
        except OSError:
            files.append((change.path, 0, -1))
    return (corpus.repo.head(), tuple(files))
