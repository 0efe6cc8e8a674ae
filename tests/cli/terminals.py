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
        # Whoever leads a session and opens a terminal has it for its own, so Ctrl-C reaches it.
        open_it = 'tty=$0; exec "$@" <"$tty" >"$tty" 2>&1'
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", open_it, os.ttyname(theirs), *argv],
            cwd=cwd,
            env={**base, "TERM": "xterm-256color", **(env or {})},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        # Open for as long as it lasts, or the terminal would end before the process has opened it.
        self._other_end = theirs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._other_end)
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
        """Take in what is shown next; False where nothing more comes."""
        end = time.monotonic() + seconds
        while True:
            has_ended = self.process.poll() is not None
            ready, _, _ = select.select([self._fd], [], [], 0.05)
            if ready:
                self.seen += os.read(self._fd, 65536).decode("utf-8", "replace")
                return True
            if has_ended or time.monotonic() >= end:
                return False
