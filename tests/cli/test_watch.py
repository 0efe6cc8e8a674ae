from __future__ import annotations

import os
import resource
import sys
import time
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a thing of POSIX", allow_module_level=True)

from tests.cli.calls import call
from tests.cli.terminals import MEMHTML, Terminal, plain

if TYPE_CHECKING:
    from pathlib import Path

GATE = "areas/inbox/gate.html"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "store"
    monkeypatch.setenv("MEMHTML_ROOT", str(root))
    assert call("init").status == 0
    write("Gate", "The gate opens at 06:30.", GATE)
    return root


def write(title: str, claim: str, path: str) -> None:
    stated = ("--type=semantic", f"--title={title}", f"--claim={claim}", f"--path={path}")
    assert call("write", *stated).status == 0


def test_a_search_is_shown_again_when_something_is_written_or_edited_by_hand(store: Path) -> None:
    with Terminal(*MEMHTML, "search", "gate", "--watch", rows=12) as seen:
        seen.expect("1 memory\n")
        seen.expect("Ctrl-C ends")
        seen.forget()
        write("Gate keeper", "The gate is kept by Ada.", "areas/inbox/keeper.html")
        seen.expect("2 memories\n")
        assert "\x1b[2J" in seen.seen
        seen.expect("Ctrl-C ends")
        seen.forget()
        place = store / GATE
        place.write_text(place.read_text("utf-8").replace("06:30", "07:45"), "utf-8")
        seen.expect("opens at 07:45")
        seen.expect("Ctrl-C ends")
        seen.type("\x03")
        assert seen.wait() == 130
        assert "Traceback" not in seen.seen


def test_a_doctor_that_watches_sees_what_breaks_and_what_is_mended(store: Path) -> None:
    with Terminal(*MEMHTML, "doctor", "--watch", rows=12) as seen:
        seen.expect("healthy: 1 file examined")
        seen.forget()
        (store / "areas/inbox/broken.html").write_text("broken", "utf-8")
        seen.expect("not healthy: 2 files examined")
        assert "more lines" in plain(seen.seen)
        seen.forget()
        (store / "areas/inbox/broken.html").unlink()
        seen.expect("healthy: 1 file examined")


def test_waiting_costs_next_to_nothing(store: Path) -> None:
    assert store.exists()
    with Terminal(*MEMHTML, "search", "gate", "--watch") as seen:
        seen.expect("Ctrl-C ends")
        before = cpu_seconds(seen.process.pid)
        time.sleep(2)
        assert cpu_seconds(seen.process.pid) - before < 0.3


def cpu_seconds(pid: int) -> float:
    """Return what a process and the children it waited for have used; 0 where nobody tells."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123 - no real file
            fields = file.read().rpartition(")")[2].split()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def test_who_is_no_person_cannot_watch(store: Path) -> None:
    assert store.exists()
    for argv in (
        ("search", "gate", "--watch"),
        ("search", "gate", "--watch", "--json"),
        ("doctor", "--watch", "--fix", "--text"),
    ):
        assert call(*argv).status == 2, argv


def test_what_stops_a_watch_is_told(store: Path) -> None:
    with Terminal(*MEMHTML, "search", "gate", "--watch") as seen:
        seen.expect("Ctrl-C ends")
        (store / ".git" / "HEAD").unlink()
        seen.expect("error:")
        assert seen.wait() == 1
        assert "Traceback" not in plain(seen.seen)
