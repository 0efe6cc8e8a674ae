"""Child processes: run one to its end, stream its output, or talk to it.

Importing `subprocess` costs as much CPU as starting the interpreter, so on systems with
``posix_spawn`` the pipes are laid here by hand; elsewhere `subprocess` does it. Both ways give
the same three functions.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from typing import BinaryIO

__all__ = ["Conversation", "Finished", "converse", "run", "stream"]

_CHUNK = 1 << 16
# Python ignores SIGPIPE and a child would inherit that. The numbers are the same on every POSIX
# system; importing `signal` for their names costs more than the spawn.
_SIGPIPE = 13
_SIGTERM = 15


class Finished(NamedTuple):
    """What a child left behind."""

    status: int
    """Exit status, or minus the number of the signal that ended it."""
    stdout: bytes
    stderr: bytes


class Conversation(Protocol):
    """A child that answers as long as it is asked. Its standard error is not kept."""

    answers: BinaryIO
    """What the child says, as a buffered stream."""

    def write(self, data: bytes) -> None:
        """Send *data*; raises `BrokenPipeError` when the child is gone."""

    def close(self) -> None:
        """Close its input and wait for its end; may be called again."""


def run(argv: Sequence[str], *, env: Mapping[str, str], stdin: bytes = b"") -> Finished:
    """Run *argv* to its end. *env* is the whole environment of the child."""
    chunks: list[bytes] = []
    outputs = stream(argv, env=env, stdin=stdin)
    while True:
        try:
            chunks.append(next(outputs))
        except StopIteration as end:
            status, stderr = end.value
            return Finished(status, b"".join(chunks), stderr)


def stream(
    argv: Sequence[str], *, env: Mapping[str, str], stdin: bytes = b""
) -> Generator[bytes, None, tuple[int, bytes]]:
    """Yield the standard output of *argv* in chunks; return its status and standard error.

    Leaving early ends the child.
    """
    if _HAS_SPAWN:
        return (yield from _stream_spawned(argv, env, stdin))
    return (yield from _stream_portable(argv, env, stdin))


def converse(argv: Sequence[str], *, env: Mapping[str, str]) -> Conversation:
    """Start *argv* and keep talking to it."""
    return _Spawned(argv, env) if _HAS_SPAWN else _Portable(argv, env)


_HAS_SPAWN = hasattr(os, "posix_spawnp")

if sys.platform != "win32":
    import select

    def _spawn(
        argv: Sequence[str], env: Mapping[str, str], fds: tuple[int | None, int, int | None]
    ) -> int:
        """Start *argv* with *fds* as its standard streams; None is the null device."""
        actions: list[tuple[int, int, int] | tuple[int, int, str, int, int]] = []
        for target, fd in enumerate(fds):
            if fd is None:
                actions.append((os.POSIX_SPAWN_OPEN, target, os.devnull, os.O_RDWR, 0))
            else:
                actions.append((os.POSIX_SPAWN_DUP2, fd, target))
        return os.posix_spawnp(argv[0], list(argv), env, file_actions=actions, setsigdef=[_SIGPIPE])

    def _stream_spawned(
        argv: Sequence[str], env: Mapping[str, str], stdin: bytes
    ) -> Generator[bytes, None, tuple[int, bytes]]:
        ours: set[int] = set()
        pid = 0
        try:
            out, out_end = _pipe(ours)
            _, err_end = _pipe(ours)
            feed_end, feed = _pipe(ours) if stdin else (None, None)
            pid = _spawn(argv, env, (feed_end, out_end, err_end))
            for fd in (out_end, err_end, feed_end):
                _close(fd, ours)
            complaints: list[bytes] = []
            for fd, chunk in _pump(ours, feed, memoryview(stdin)):
                if fd == out:
                    yield chunk
                else:
                    complaints.append(chunk)
            status, pid = _wait(pid), 0
            return status, b"".join(complaints)
        except GeneratorExit:
            # A closed pipe ends only a child that writes; one that searches would go on for long.
            if pid:
                os.kill(pid, _SIGTERM)
            raise
        finally:
            for fd in tuple(ours):
                _close(fd, ours)
            if pid:
                _wait(pid)

    def _pump(
        ours: set[int], feed: int | None, rest: memoryview
    ) -> Generator[tuple[int, bytes], None, None]:
        """Write *rest* to *feed* and yield what the other pipes say until all are closed."""
        poll = select.poll()
        for fd in ours:
            poll.register(fd, select.POLLOUT if fd == feed else select.POLLIN)
        if feed is not None:
            os.set_blocking(feed, False)
        while ours:
            for fd, _ in poll.poll():
                if fd == feed:
                    rest = rest[_send(fd, rest) :]
                    ended = not rest
                else:
                    chunk = os.read(fd, _CHUNK)
                    ended = not chunk
                    if chunk:
                        yield fd, chunk
                if ended:
                    poll.unregister(fd)
                    _close(fd, ours)

    def _pipe(ours: set[int]) -> tuple[int, int]:
        ends = os.pipe()
        ours.update(ends)
        return ends

    def _close(fd: int | None, ours: set[int]) -> None:
        if fd is not None:
            ours.discard(fd)
            os.close(fd)

    def _send(fd: int, data: memoryview) -> int:
        try:
            return os.write(fd, data[:_CHUNK])
        except BrokenPipeError:
            # The child stopped reading; its status and standard error say why.
            return len(data)

    def _wait(pid: int) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    class _Spawned:
        """A conversation over two pipes."""

        def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
            ours: set[int] = set()
            self._pid = 0
            try:
                feed_end, self._feed = _pipe(ours)
                out, out_end = _pipe(ours)
                self._pid = _spawn(argv, env, (feed_end, out_end, None))
            except BaseException:
                for fd in tuple(ours):
                    _close(fd, ours)
                raise
            _close(feed_end, ours)
            _close(out_end, ours)
            self.answers: BinaryIO = open(out, "rb", buffering=_CHUNK)  # noqa: SIM115 - close() closes it

        def write(self, data: bytes) -> None:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._feed, rest) :]

        def close(self) -> None:
            pid, self._pid = self._pid, 0
            if pid:
                os.close(self._feed)
                self.answers.close()
                _wait(pid)


def _stream_portable(
    argv: Sequence[str], env: Mapping[str, str], stdin: bytes
) -> Generator[bytes, None, tuple[int, bytes]]:
    import subprocess  # noqa: PLC0415 - see the module's docstring

    done = subprocess.run(argv, env=dict(env), input=stdin, capture_output=True, check=False)
    if done.stdout:
        yield done.stdout
    return done.returncode, done.stderr


class _Portable:
    """A conversation through `subprocess`."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        import subprocess  # noqa: PLC0415 - see the module's docstring
        from typing import cast  # noqa: PLC0415 - likewise

        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            argv, env=dict(env), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )
        self._feed = cast("BinaryIO", self._child.stdin)
        self.answers = cast("BinaryIO", self._child.stdout)

    def write(self, data: bytes) -> None:
        self._feed.write(data)
        self._feed.flush()

    def close(self) -> None:
        self._feed.close()
        self.answers.close()
        self._child.wait()
