"""Start `worker` in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.store import worker

if TYPE_CHECKING:
    from tests.store.sandbox import Sandbox

__all__ = ["crash", "start"]


def start(store: Sandbox, job: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.worker", job, str(store.root), *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def crash(store: Sandbox, plan: str, at: int) -> None:
    """Let a process apply *plan* and be killed at its step number *at*."""
    if hasattr(os, "fork"):  # a few times faster than a new interpreter
        pid = os.fork()
        if pid == 0:
            try:
                worker.crash(str(store.root), plan, at)
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    else:
        status = start(store, "crash", plan, at).wait()
    assert status in {-9, 9}, "it came to its end before that step"
