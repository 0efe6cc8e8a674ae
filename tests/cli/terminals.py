"""A real pseudo-terminal with a process in it: what a person sees and types."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["MEMHTML", "Terminal", "plain"]

MEMHTML = (sys.executable, "-m", "memhtml")
_escape_re = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>]|\][^\x07]*\x07|\([A-Z0-9])")


def plain(text: str) -> str:
    """Return *text* without what steers a terminal."""
    return _escape_re.sub("", text).replace("\r", "")


class Terminal:
    """*argv* in a terminal of its own, *columns* by *rows*."""

    def __init__(
        self,
        *argv: str,
        cwd: Path | str = ".",
        env: Mapping[str, str] | None = None,
        columns: int = 80,
        rows: int = 24,
    ) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        unwanted = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PAGER", "LESS", "EDITOR"}
        base = {name: value for name, value in os.environ.items() if name not in unwanted}
        self._fd = ours
        self.seen = ""
        self.process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**base, "TERM": "xterm-256color", **(env or {})},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_terminal,  # noqa: PLW1509 - it takes no lock
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._fd)

    def expect(self, text: str, *, seconds: float = 20) -> str:
        """Wait until *text* is on the terminal; return all that came up to its end."""
        end = time.monotonic() + seconds
        while text not in plain(self.seen):
            left = end - time.monotonic()
            if left <= 0 or not self._read(left):
                raise AssertionError(f"{text!r} is not among {plain(self.seen)!r}")
        return self.seen

    def shows(self, text: str, *, seconds: float) -> bool:
        """Tell whether *text* comes to be on the terminal."""
        try:
            self.expect(text, seconds=seconds)
        except AssertionError:
            return False
        return True

    def forget(self) -> None:
        """Let `expect` look only at what comes from now on."""
        self.seen = ""

    def type(self, text: str) -> None:
        """Press the keys of *text*."""
        os.write(self._fd, text.encode())

    def wait(self, *, seconds: float = 20) -> int:
        """Read to the end and return the exit status."""
        end = time.monotonic() + seconds
        while self._read(max(0.0, end - time.monotonic())):
            pass
        return self.process.wait(timeout=max(0.1, end - time.monotonic()))

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if not ready:
            return False
        try:
            chunk = os.read(self._fd, 65536)
        except OSError:  # how Linux says that the other end is closed
            return False
        self.seen += chunk.decode("utf-8", "replace")
        return bool(chunk)


def _own_terminal() -> None:
    """Let the terminal be this session's own, so that Ctrl-C in it reaches the process."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
