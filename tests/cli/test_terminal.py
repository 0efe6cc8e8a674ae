from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memhtml.cli.parse import parse
from tests.cli.test_check import WITHOUT_CLAIM

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a thing of POSIX", allow_module_level=True)

import pty

ROOT = Path(__file__).parents[2]


def on_terminal(*argv: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Return what a person at a terminal of 60 columns sees of a real process."""
    ours, theirs = pty.openpty()
    base = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "memhtml", *argv],
        cwd=cwd,
        env={**base, "COLUMNS": "60", "TERM": "xterm", **(env or {})},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not chunk:
            break
        seen += chunk
    process.wait(timeout=30)
    os.close(ours)
    return seen.decode().replace("\r\n", "\n")


def test_a_real_terminal_gets_text_in_colour_and_in_its_width(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(WITHOUT_CLAIM)
    seen = on_terminal("check", cwd=tmp_path)
    assert "\x1b[1;31mviolation\x1b[0m" in seen
    assert "\n\x1b[1;31m1 violation\x1b[0m in 1 of 1 file\n" in seen
    overview = on_terminal("help", cwd=tmp_path, env={"NO_COLOR": "1"})
    prose = [line for line in overview.split("First steps")[0].splitlines()[3:] if line]
    assert max(map(len, prose)) <= 60


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colour_gets_none(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "a.html").write_bytes(WITHOUT_CLAIM)
    seen = on_terminal("check", cwd=tmp_path, env=env)
    assert "mark-missing violation" in seen
    assert "\x1b" not in seen
    assert "\x1b" not in on_terminal("serach", cwd=tmp_path, env=env)


def test_errors_are_coloured_by_the_stream_they_go_to(tmp_path: Path) -> None:
    assert "\x1b[1;31merror:\x1b[0m" in on_terminal("serach", cwd=tmp_path)


def test_every_hook_for_other_repositories_is_a_command_that_exists() -> None:
    lines = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8").splitlines()
    entries = [line.partition("entry: ")[2] for line in lines if "entry: " in line]
    assert len(entries) == 2
    for entry in entries:
        program, *words = entry.split()
        assert program == "memhtml"
        command = parse([*words, "some.html"]).command
        assert command is not None
        assert command.name == "check"


@pytest.mark.parametrize(
    ("command", "status", "told"),
    [
        ("search owls >&-", 1, "standard output is closed"),
        ("search owls --json >&-", 1, "standard output is closed"),
        ("--version >&-", 1, "standard output is closed"),
        ("write --title T --type semantic --claim 'A b.' --body - --text <&-", 2, "is closed"),
        ("apply - --text <&-", 2, "standard input is closed"),
        ("check - --text <&-", 2, "standard input is closed"),
        ("search owls --text <&-", 0, ""),
    ],
)
def test_a_closed_stream_is_told_by_who_needs_it(
    tmp_path: Path, command: str, status: int, told: str
) -> None:
    store = {**os.environ, "MEMHTML_ROOT": str(tmp_path / "store")}
    program = f"'{sys.executable}' -m memhtml"
    subprocess.run(f"{program} init", shell=True, check=True, env=store, capture_output=True)  # noqa: S602 - only a shell closes a stream
    head = ["git", "-C", str(tmp_path / "store"), "rev-parse", "HEAD"]
    before = subprocess.check_output(head)

    ran = subprocess.run(  # noqa: S602 - as above
        f"{program} {command}",
        shell=True,
        check=False,
        env=store,
        capture_output=True,
        text=True,
    )

    assert ran.returncode == status, ran
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr
    assert subprocess.check_output(head) == before
