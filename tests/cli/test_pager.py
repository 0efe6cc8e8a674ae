from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a thing of POSIX", allow_module_level=True)

from memhtml.cli.pager import pager_of
from tests.cli.terminals import MEMHTML, Terminal, plain

if TYPE_CHECKING:
    from pathlib import Path

needs_less = pytest.mark.skipif(shutil.which("less") is None, reason="there is no less here")


@needs_less
def test_a_long_answer_is_paged_in_colour_and_left_without_a_word() -> None:
    with Terminal(*MEMHTML, "help", rows=20) as seen:
        seen.expect("memhtml  Long-term memory")
        assert "\x1b[1;36mUsage\x1b[0m" in seen.expect("Usage")
        assert "memhtml help <command> explains" not in plain(seen.seen)
        seen.type("q")
        assert seen.wait() == 0
        assert "Traceback" not in seen.seen
        assert "error" not in plain(seen.seen).rpartition(":")[2]


@needs_less
def test_an_interrupt_while_paging_is_the_pagers() -> None:
    with Terminal(*MEMHTML, "help", rows=20) as seen:
        seen.expect("memhtml  Long-term memory")
        seen.expect("\n:")
        seen.forget()
        seen.type("\x03")
        seen.expect("\x07")
        # An interrupt throws away what was typed ahead, so a key may have to be pressed again.
        for _ in range(20):
            seen.type("G")
            if seen.shows("memhtml help <command> explains", seconds=1):
                break
        else:
            pytest.fail(plain(seen.seen))
        seen.type("q")
        assert seen.wait() == 0
        assert "Traceback" not in seen.seen


def test_a_pager_that_reads_nothing_and_ends_is_no_error() -> None:
    with Terminal(*MEMHTML, "help", rows=20, env={"PAGER": "true"}) as seen:
        assert seen.wait() == 0
        assert plain(seen.seen) == ""


def test_without_a_pager_everything_is_printed() -> None:
    for flags, env in (
        (["--no-pager"], {}),
        ([], {"PAGER": "cat"}),
        ([], {"MEMHTML_PAGER": "", "PAGER": "less"}),
        ([], {"TERM": "dumb"}),
        ([], {"PAGER": "/no/such/pager"}),
    ):
        with Terminal(*MEMHTML, "help", *flags, rows=20, env=env) as seen:
            assert seen.wait() == 0
            assert "memhtml help <command> explains" in plain(seen.seen), (flags, env)


def test_what_fits_the_screen_and_what_is_no_answer_for_people_is_not_paged(
    tmp_path: Path,
) -> None:
    loud = {"PAGER": "echo PAGED; cat"}
    for argv in (["--version"], ["completion", "bash"], ["help", "--json"], ["read", "x"]):
        store = {"MEMHTML_ROOT": str(tmp_path / "none")}
        with Terminal(*MEMHTML, *argv, rows=20, env={**loud, **store}) as seen:
            seen.wait()
            assert "PAGED" not in seen.seen, argv
    with Terminal(*MEMHTML, "help", rows=20, env=loud) as seen:
        seen.wait()
        assert "PAGED" in seen.seen


def test_the_users_choice_of_a_pager_is_asked_in_order() -> None:
    assert pager_of({"MEMHTML_PAGER": "most", "PAGER": "more"}) == "most"
    assert pager_of({"PAGER": "more -d"}) == "more -d"
    assert pager_of({"PAGER": " "}) is None
    assert pager_of({"PATH": "/nowhere"}) is None
