"""``python -m memhtml``, and the ``memhtml`` command.

``--version`` is answered before anything is imported: scripts ask for it often and wait.
"""

from __future__ import annotations

import sys

__all__ = ["run"]


def run() -> int:
    """Run the command line of this process and return its exit status."""
    if sys.argv[1:] == ["--version"]:
        from memhtml.model.version import VERSION  # noqa: PLC0415 - see above

        sys.stdout.write(f"memhtml {VERSION}\n")
        return 0
    try:
        from memhtml.cli.main import main, process_world  # noqa: PLC0415 - see above

        status = main(sys.argv[1:], process_world())
    except KeyboardInterrupt:
        return 130
    try:
        sys.stdout.flush()
    except OSError:
        _discard_stdout()
    return status


def _discard_stdout() -> None:
    """Point stdout at nothing, or the interpreter complains once more of what it cannot print."""
    import os  # noqa: PLC0415 - only on the way out of a closed pipe or a full disk

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(run())
