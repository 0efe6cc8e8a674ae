from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from memhtml.format.usage import USAGE_PATH
from memhtml.store.gitdir import locate
from memhtml.store.layout import scaffold
from memhtml.store.mergedriver import DriverFault, merge_driver_state, register
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from tests.store.sandbox import Sandbox


def test_init_registers_the_driver_and_sends_memories_to_it(store: Sandbox) -> None:
    Repo.init(str(store.root))
    state = merge_driver_state(locate(str(store.root)))
    assert (state.faults, state.is_ready) == ((), True)
    assert state.command
    assert sys.executable in state.command
    assert not (store.root / ".git/info/attributes").exists()
    asked = "areas/x.html projects/a/b.html README.html index.html areas/index.html sitemap.xml"
    found = store.git("check-attr", "merge", "--", *asked.split(), "browse/tags/a.html", USAGE_PATH)
    assert [line.rpartition(" ")[2] for line in found.splitlines()] == [
        *["memhtml"] * 3,
        *["ours"] * 4,
        "memhtml",
    ]
    assert Repo.init(str(store.root)).wrote == ()
    assert store.status == ""


def test_a_store_of_the_other_tool_keeps_its_files_and_gets_local_attributes(
    store: Sandbox,
) -> None:
    theirs = "index.html merge=ours\nsitemap.xml merge=ours\n*.html diff=html\n"
    store.write(".gitattributes", theirs)
    for path, data in scaffold("2026-01-01T00:00:00Z").items():
        if path != ".gitattributes":
            store.write(path, data)
    store.write(".git/info/attributes", "*.png binary")
    store.git("add", "-A")
    store.git("commit", "-q", "-m", "theirs")
    where = locate(str(store.root))
    assert merge_driver_state(where).faults == (
        DriverFault.UNREGISTERED,
        DriverFault.UNATTRIBUTED,
    )
    Repo.init(str(store.root))
    Repo.init(str(store.root))
    assert (store.root / ".gitattributes").read_text() == theirs
    assert store.status == ""
    assert merge_driver_state(where).is_ready
    local = (store.root / ".git/info/attributes").read_text()
    assert local.startswith("*.png binary\n*.html merge=memhtml\n")
    assert local.count("merge=memhtml") == 2
    assert "ours" in store.git("check-attr", "merge", "areas/index.html")


@pytest.mark.parametrize(
    ("command", "is_outdated"),
    [
        ("if test -x '/no/such/python'; then exec it; fi", True),
        ("cat %A", True),
        ("docker run memhtml memhtml merge-driver %O %A %B %P", False),
    ],
)
def test_a_program_that_is_gone_is_told_and_put_right(
    store: Sandbox, command: str, *, is_outdated: bool
) -> None:
    Repo.init(str(store.root))
    where = locate(str(store.root))
    store.git("config", "merge.memhtml.driver", command)
    assert merge_driver_state(where).faults == ((DriverFault.OUTDATED,) if is_outdated else ())
    register(where)
    kept = store.git("config", "merge.memhtml.driver").strip() == command
    assert kept is not is_outdated
    assert merge_driver_state(where).is_ready


def test_an_interpreter_with_an_odd_path_is_quoted(
    store: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = store.root.parent / "it's 100% odd"
    odd.mkdir()
    (odd / "python").write_text('#!/bin/sh\necho theirs > "$6"\n')
    (odd / "python").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(odd / "python"))
    Repo.init(str(store.root))
    assert merge_driver_state(locate(str(store.root))).is_ready
    for branch, word in (("main", "base"), ("other", "theirs"), ("main", "ours")):
        store.git("switch", "-q", *(["-c"] if branch == "other" else []), branch)
        store.write("areas/x.html", f"{word}\n")
        store.git("add", "-A")
        store.git("commit", "-q", "-m", word)
    store.git("merge", "-q", "other", "-m", "both")
    assert store.files()["areas/x.html"] == "theirs\n"
