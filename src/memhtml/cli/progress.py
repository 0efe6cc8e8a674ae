"""A bar for work that takes a while: on stderr, only where a person watches, and not at once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import TaskID

    from memhtml.cli.command import Call
    from memhtml.cli.world import World
    from memhtml.model.ports import Progress

__all__ = ["progress_bar"]

_PATIENCE_SECONDS = 0.5
"""What is done by then needs no bar, and is spared the time to load one."""


@contextmanager
def progress_bar(call: Call, doing: str) -> Iterator[Progress | None]:
    """Yield what to tell how far the work is, shown as *doing*; None where nobody watches."""
    is_watched = call.world.is_watched and call.world.env.get("TERM") != "dumb"
    if not is_watched or call.is_on("json") or call.is_on("dense"):
        yield None
        return
    bar = _Bar(call.world, doing)
    try:
        yield bar.tell
    finally:
        bar.end()


class _Bar:
    def __init__(self, world: World, doing: str) -> None:
        self._world = world
        self._doing = doing
        self._due = world.now() + _PATIENCE_SECONDS
        self._shown: _Shown | None = None

    def tell(self, done: int, total: int) -> None:
        if self._shown is None:
            if self._world.now() < self._due:
                return
            self._shown = _Shown(self._world, self._doing, done, total)
        self._shown.update(done, total)

    def end(self) -> None:
        if self._shown is not None:
            self._shown.stop()


class _Shown:
    def __init__(self, world: World, doing: str, done: int, total: int) -> None:
        from rich.console import Console  # noqa: PLC0415 - heavy, and only for people who wait
        from rich.progress import (  # noqa: PLC0415 - as above
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        console = Console(
            file=world.stderr,
            force_terminal=True,
            no_color=not world.stderr_has_colour,
            width=world.columns,
        )
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._task: TaskID = self._progress.add_task(doing, total=total or None, completed=done)
        self._progress.start()

    def update(self, done: int, total: int) -> None:
        self._progress.update(self._task, completed=done, total=total or None)

    def stop(self) -> None:
        self._progress.stop()
