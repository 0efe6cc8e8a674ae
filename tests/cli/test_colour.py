from __future__ import annotations

import os
import subprocess
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a thing of POSIX", allow_module_level=True)

from tests.cli.terminals import MEMHTML, Terminal


@pytest.mark.parametrize(
    ("env", "is_coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_a_terminal_is_coloured_as_its_owner_wants(env: dict[str, str], is_coloured: bool) -> None:
    for argv in (["help", "search", "--no-pager"], ["serach"]):
        with Terminal(*MEMHTML, *argv, env=env) as seen:
            seen.wait()
            assert ("\x1b[" in seen.seen) is is_coloured, (argv, seen.seen)


def test_a_pipe_is_coloured_only_when_forced() -> None:
    argv = [*MEMHTML, "help", "search", "--text"]
    base = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    base.pop("FORCE_COLOR", None)
    assert b"\x1b" not in subprocess.check_output(argv, env=base)
    assert b"\x1b[1m" in subprocess.check_output(argv, env={**base, "FORCE_COLOR": "1"})
    forced_json = [*argv[:-1], "--json"]
    assert b"\x1b" not in subprocess.check_output(forced_json, env={**base, "FORCE_COLOR": "1"})
