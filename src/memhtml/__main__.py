"""``python -m memhtml``, and the ``memhtml`` command.

``--version`` is answered before anything is imported: scripts ask for it often and wait.
"""

from __future__ import annotations

import sys

__all__ = ["run"]


def run() -> int:
    """Run the command line of this process and return its exit status."""
    if sys.argv[1:] == ["--version"] and sys.stdout is not None:
        from memhtml.model.version import VERSION  # noqa: PLC0415 - see above

        sys.stdout.write(f"memhtml {VERSION}\n")
        return 0
    _collect_rarely()
    try:
        from memhtml.cli.main import main, process_world  # noqa: PLC0415 - see above

        status = main(sys.argv[1:], process_world())
    except KeyboardInterrupt:
        return 130
    try:
        sys.stdout.flush()
    except OSError:
        _discard_stdout()
    _leave(status)
    return status


def _collect_rarely() -> None:
    """Look for garbage less often: importing makes thousands of objects, and none of them is any.

    A command that works long still collects; a short one ends before the first time.
    """
    import gc  # noqa: PLC0415 - nothing else needs it

    gc.set_threshold(50_000, 20, 20)


def _leave(status: int) -> None:
    """End the process without taking it apart object by object, if this thread is the only one."""
    import os  # noqa: PLC0415 - only on the way out

    if "threading" not in sys.modules:
        sys.stderr.flush()
        os._exit(status)


def _discard_stdout() -> None:
    """Point stdout at nothing, or the interpreter complains once more of what it cannot print."""
    import os  # noqa: PLC0415 - only on the way out of a closed pipe or a full disk

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(run())
