"""Other processes that work for this one.

They are plain children with a pipe each way. What the standard library offers starts a child by
importing the caller's main module again where it cannot fork, and a library has no say in how that
was written. A child that fails costs nothing but time: whoever asked does the work himself.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import subprocess
import sys
from importlib import import_module
from typing import Any

__all__ = ["Worker", "serve", "spare_processes"]

MOST_WORKERS = 4
"""What so many make, one process just takes in."""

_CHILD = "import sys; sys.path[:] = sys.argv[2:]; from memhtml.workers import serve; serve()"


def spare_processes() -> int:
    """Return how many processes may work beside this one; 0 on one core or without a Python."""
    if not sys.executable or getattr(sys, "frozen", False):
        return 0
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # Windows and macOS have no such call
        cores = os.cpu_count() or 1
    return min(cores - 1, MOST_WORKERS)


def serve() -> None:
    """Answer each message on stdin on stdout, until there is no more."""
    home, _, name = sys.argv[1].partition(":")
    answer = getattr(import_module(home), name)
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            message = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own parent
            pickle.dump(answer(message), sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
            sys.stdout.buffer.flush()


class Worker:
    """One child. What goes wrong with it is no error: it has no answer then.

    Nothing may be sent to a child whose answer nobody took, or both would wait for ever.
    """

    def __init__(self, task: str) -> None:
        """*task* is the function that answers, as ``module:name``."""
        self._child: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):
            self._child = subprocess.Popen(
                (sys.executable, "-c", _CHILD, task, *sys.path),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    def send(self, message: object) -> None:
        """Ask for an answer to *message*."""
        if self._child is None or self._child.stdin is None:
            return
        try:
            raw = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
            self._child.stdin.write(raw)
            self._child.stdin.flush()
        except Exception:  # noqa: BLE001 - it may be gone, or not know what this is made of
            self.close()

    @property
    def is_ready(self) -> bool:
        """Whether `receive` need not wait long; always so where that cannot be told."""
        if self._child is None or self._child.stdout is None or sys.platform == "win32":
            return True
        return bool(select.select([self._child.stdout], [], [], 0)[0])

    def receive(self) -> Any | None:  # noqa: ANN401 - what the task answers
        """Return the answer to the last message, or None."""
        if self._child is None or self._child.stdout is None:
            return None
        try:
            return pickle.load(self._child.stdout)  # noqa: S301 - as above
        except Exception:  # noqa: BLE001 - it may be gone, or say what is no answer
            self.close()
            return None

    def close(self) -> None:
        """End the child. Closing twice is harmless."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        with contextlib.suppress(OSError):
            child.communicate()
