from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memhtml.store import children

if TYPE_CHECKING:
    from collections.abc import Iterator

ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture(params=["spawned", "portable"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param == "portable":
        monkeypatch.setattr(children, "_HAS_SPAWN", False)
    elif not hasattr(os, "posix_spawnp"):
        pytest.skip("no posix_spawn here")
    before = _open_descriptors()
    yield
    assert _open_descriptors() == before


def _open_descriptors() -> int:
    descriptors = Path("/proc/self/fd")
    return len(list(descriptors.iterdir())) if descriptors.is_dir() else 0


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


pytestmark = pytest.mark.usefixtures("_way")


def test_a_child_gives_back_its_status_and_both_streams() -> None:
    code = "import sys; sys.stdout.write('out'); sys.stderr.write('err'); sys.exit(7)"
    assert children.run(python(code), env=ENV) == (7, b"out", b"err")


def test_megabytes_flow_both_ways_without_a_standstill() -> None:
    code = (
        "import sys\n"
        "for line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stderr.write('.' * 40)"
    )
    lines = b"".join(b"%060d\n" % n for n in range(40_000))
    done = children.run(python(code), env=ENV, stdin=lines)
    assert (done.status, done.stdout == lines, len(done.stderr)) == (0, True, 1_600_000)


def test_a_child_that_does_not_read_its_input_is_no_error() -> None:
    assert children.run(python("pass"), env=ENV, stdin=b"x" * 1_000_000).status == 0


def test_leaving_a_stream_early_ends_the_child() -> None:
    outputs = children.stream(python("while True: print('x' * 1000)"), env=ENV)
    if children._HAS_SPAWN:  # the portable way reads everything first, so it would never end
        assert next(outputs).startswith(b"xxx")
    outputs.close()


def test_a_conversation_answers_each_question() -> None:
    code = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
    talk = children.converse(python(code), env=ENV)
    for word in (b"one\n", b"two\n"):
        talk.write(word)
        assert talk.answers.readline() == word.upper()
    talk.close()
    talk.close()


def test_a_program_that_is_not_there_is_file_not_found() -> None:
    with pytest.raises(FileNotFoundError):
        children.run(("memhtml-no-such-program",), env=ENV)
    with pytest.raises(FileNotFoundError):
        children.converse(("memhtml-no-such-program",), env=ENV)
