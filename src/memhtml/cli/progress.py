"""A bar for work that takes a while: on stderr, and only where a person watches."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.cli.command import Call
    from memhtml.model.ports import Progress

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(call: Call, doing: str) -> Iterator[Progress | None]:
    """Yield what to tell how far the work is, shown as *doing*; None where nobody watches."""
    if not call.world.is_terminal or call.is_on("json") or call.is_on("dense"):
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - heavy, and only for people
    from rich.progress import Progress as Bar  # noqa: PLC0415 - as above

    with Bar(console=Console(file=call.world.stderr), transient=True) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
