"""A process of its own, for tests that end one or start many: ``worker.py JOB ROOT ARGS``."""

from __future__ import annotations

import os
import signal
import sys

from memhtml.store.plan import Move, Plan, Put
from memhtml.store.repo import Repo
from tests.store.sandbox import NOW, put, sha

PLANS = {
    "write": put("areas/new.html", b"new\n"),
    "change": put("areas/a.html", b"changed\n", sha(b"old\n")),
    "archive": Plan(
        (
            Move("areas/a.html", "archive/2026/areas/a.html", b"archived\n", sha(b"old\n")),
            Put("areas/b.html", b"links\n", sha(b"other\n")),
            Put("projects/x/new.html", b"new\n"),
        ),
        "memhtml(archive): areas/a.html",
    ),
    "batch": Plan(
        tuple(Put(f"areas/batch/{n}.html", b"%d\n" % n) for n in range(70)), "memhtml(batch): 70"
    ),
}
"""Plans for a tree that has ``areas/a.html`` ("old") and ``areas/b.html`` ("other")."""

BURST = (
    PLANS["archive"],
    put("areas/a.html", b"another\n"),
    put("areas/a.html", b"changed again\n", sha(b"another\n")),
)
"""Plans of one block, of which the index hears at its end."""


def crash(root: str, plan: str, at: int) -> None:
    """Apply a plan and die, as by ``kill -9``, at its step number *at*."""
    left = at

    def die(_step: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            if sys.platform != "win32":
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(9)

    plans = BURST if plan == "burst" else (PLANS[plan],)
    with (
        Repo.open(root, clock=lambda: NOW, durability="none", on_step=die) as repo,
        repo.writing(),
    ):
        for each in plans:
            repo.apply(each)


def write(root: str, name: str, count: int, delay: float) -> None:
    """Make *count* commits and print each one's sha once it is acknowledged."""
    with Repo.open(root, wait_seconds=60.0, index_delay=delay, durability="none") as repo:
        for n in range(count):
            commit = repo.apply(put(f"areas/{name}/{n}.html", f"{name} {n}\n"))
            sys.stdout.write(f"{commit}\n")


if __name__ == "__main__":
    job, root, *args = sys.argv[1:]
    if job == "crash":
        crash(root, args[0], int(args[1]))
    else:
        write(root, args[0], int(args[1]), float(args[2]))
