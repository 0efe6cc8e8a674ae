"""Another program in front, such as a pager or an editor: Ctrl-C is for it, and we outlive it."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["in_background"]


@contextmanager
def in_background() -> Iterator[None]:
    """Hear no interrupt inside the ``with`` block. The other program is started before it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
