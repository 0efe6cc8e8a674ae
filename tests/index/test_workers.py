from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from memhtml import workers as processes
from memhtml.format.parse import parse
from memhtml.index import follow, workers
from memhtml.index.indexer import rebuild, update
from memhtml.index.project import rows_of
from tests.index.stores import NOW, Store, memory, tables

if TYPE_CHECKING:
    from memhtml.index.database import Index
    from memhtml.store.repo import Repo

BLOBS = [
    workers.Blob(f"areas/{number}.html", f"{number:040}", memory(f"fact {number}").encode())
    for number in range(50)
] + [workers.Blob("areas/bad.html", "f" * 40, b"<p>no memory")]
BATCHES = [BLOBS[start : start + 7] for start in range(0, len(BLOBS), 7)]
WANTED = [[rows_of(b.path, b.sha, parse(b.data), 1800) for b in batch] for batch in BATCHES]


@pytest.mark.parametrize("count", [1, 3])
def test_what_workers_read_is_what_we_would_have_read_in_the_same_order(count: int) -> None:
    assert list(workers.projected(BATCHES, 1800, count)) == WANTED


def test_children_that_die_cost_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_CHILD", "import sys; sys.stdin.buffer.read(10); sys.exit(3)")
    assert list(workers.projected(BATCHES, 1800, 2)) == WANTED


def test_where_no_child_can_be_started_the_work_is_done_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert list(workers.projected(BATCHES, 1800, 2)) == WANTED


def test_an_application_without_a_python_of_its_own_has_no_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    assert workers.spare_processes() == 0


def test_a_caller_that_stops_early_leaves_no_child_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    children = []
    start = subprocess.Popen

    def watched(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        children.append(start(*args, **options))
        return children[-1]

    monkeypatch.setattr(subprocess, "Popen", watched)
    found = workers.projected(BATCHES, 1800, 2)
    assert isinstance(found, Generator)
    assert next(found) == WANTED[0]
    found.close()
    assert [child.poll() is not None for child in children] == [True, True]


def test_a_parallel_rebuild_gives_what_a_serial_one_gives(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "BATCH_FILES", 4)
    for number in range(30):
        store.put(f"areas/{number}.html", memory(f"fact {number % 25}", tags=(f"t{number % 3}",)))
    store.put("areas/bad.html", "<p>no memory")
    store.commit()
    store.put("areas/1.html", memory("by hand"))
    store.put("areas/new.html", memory("untracked"))
    update(index, repo, now=NOW)
    serial = tables(index)
    monkeypatch.setattr(follow, "PARALLEL_FILES", 10)
    monkeypatch.setattr(workers, "spare_processes", lambda: 2)
    told: list[tuple[int, int]] = []
    rebuild(index, repo, now=NOW, progress=lambda done, total: told.append((done, total)))
    assert tables(index) == serial
    assert told[-1] == (32, 32)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
