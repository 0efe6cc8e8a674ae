from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import apsw
import pytest

from memhtml.index import database
from memhtml.index.database import open_index
from memhtml.index.indexer import rebuild, update
from memhtml.index.schema import SCHEMA_VERSION
from memhtml.model.errors import Busy, IndexStale, StorageFailure
from memhtml.search.search import search
from tests.index.stores import NOW, Store, memory, tables

if TYPE_CHECKING:
    from pathlib import Path

    from memhtml.index.database import Index
    from memhtml.store.repo import Repo

A = "areas/a.html"


@pytest.fixture
def db(store: Store) -> Path:
    return store.root / ".memhtml/cache/index.db"


def one_memory(store: Store) -> None:
    store.put(A, memory("Owls hunt at night"))
    store.commit()


def test_a_file_that_is_no_database_is_replaced(store: Store, repo: Repo, db: Path) -> None:
    one_memory(store)
    db.parent.mkdir(parents=True)
    db.write_bytes(b"no database at all " * 1000)
    with open_index(str(store.root)) as index:
        with pytest.raises(IndexStale):
            search(index, "owls")
        assert update(index, repo, now=NOW).rebuilt
        assert search(index, "owls").hits


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
@pytest.mark.parametrize("page_bytes", [1024, 4096])
def test_a_foreign_database_is_replaced(
    store: Store, repo: Repo, db: Path, journal: str, page_bytes: int
) -> None:
    one_memory(store)
    db.parent.mkdir(parents=True)
    foreign = sqlite3.connect(db)
    foreign.executescript(
        f"PRAGMA page_size = {page_bytes}; PRAGMA journal_mode = {journal};"  # noqa: S608 - ours
        "CREATE TABLE files (x); INSERT INTO files VALUES (1)"
    )
    foreign.close()
    with open_index(str(store.root)) as index:
        assert update(index, repo, now=NOW).rebuilt
        assert search(index, "owls").hits


def test_an_index_of_another_version_is_replaced(store: Store, repo: Repo) -> None:
    one_memory(store)
    with open_index(str(store.root)) as index:
        update(index, repo, now=NOW)
        with index.writing("pretend") as connection:
            connection.execute("UPDATE index_state SET schema_version = ?", (SCHEMA_VERSION + 1,))
        with pytest.raises(IndexStale, match="no usable index"):
            search(index, "owls")
        assert update(index, repo, now=NOW).rebuilt


@pytest.mark.parametrize("page", [1, 2, 5, 20])
def test_damage_inside_is_an_error_or_mended_never_an_empty_answer(
    store: Store, repo: Repo, db: Path, page: int
) -> None:
    for number in range(40):
        store.put(f"areas/{number}.html", memory(f"Owls hunt at night {number}", body="w " * 500))
    store.commit()
    with open_index(str(store.root)) as index:
        update(index, repo, now=NOW)
    data = bytearray(db.read_bytes())
    start = (page - 1) * 4096 + (100 if page == 1 else 0)
    data[start : start + 2000] = b"\xa5" * 2000
    db.write_bytes(data)
    with open_index(str(store.root)) as index:
        try:
            assert search(index, "owls hunt", limit=40).hits
        except IndexStale:
            rebuild(index, repo, now=NOW)
            assert len(search(index, "owls hunt", limit=40).hits) == 40


def test_a_database_cut_short_is_replaced(store: Store, repo: Repo, db: Path) -> None:
    one_memory(store)
    with open_index(str(store.root)) as index:
        update(index, repo, now=NOW)
    db.write_bytes(db.read_bytes()[:5000])
    with open_index(str(store.root)) as index:
        with pytest.raises(IndexStale):
            search(index, "owls")
        update(index, repo, now=NOW)
        assert search(index, "owls").hits


def test_an_open_index_notices_that_its_file_was_deleted(
    store: Store, repo: Repo, db: Path
) -> None:
    one_memory(store)
    with open_index(str(store.root)) as index, open_index(str(store.root)) as other:
        update(index, repo, now=NOW)
        assert search(other, "owls").hits
        shutil.rmtree(db.parent)
        assert update(index, repo, now=NOW).rebuilt
        assert db.exists()
        assert update(other, repo, now=NOW).unchanged
        assert search(other, "owls").hits
        assert (db.parent / ".gitignore").read_text() == "*\n"


def test_a_store_that_cannot_be_written_is_searched_privately(store: Store, repo: Repo) -> None:
    one_memory(store)
    # A file where the folder should be refuses everybody, even the superuser.
    store.put(".memhtml/cache", "in the way")
    with open_index(str(store.root)) as index:
        assert index.is_private
        assert update(index, repo, now=NOW).rebuilt
        assert search(index, "owls").hits
        assert update(index, repo, now=NOW).unchanged
    assert (store.root / ".memhtml/cache").read_text() == "in the way"


def test_a_private_index_starts_from_the_stored_one(
    store: Store, repo: Repo, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_memory(store)
    with open_index(str(store.root)) as index:
        update(index, repo, now=NOW)
    stored = db.read_bytes()

    def refuse(path: str) -> apsw.Connection:
        raise apsw.CantOpenError(path)

    monkeypatch.setattr(database, "_connect", refuse)
    store.put("areas/b.html", memory("Bats too"))
    store.commit()
    with open_index(str(store.root)) as index:
        report = update(index, repo, now=NOW)
        assert (report.rebuilt, report.added) == (False, 1)
        assert search(index, "bats").hits
    assert db.read_bytes() == stored


def test_a_writer_that_does_not_let_go_is_busy(store: Store, repo: Repo) -> None:
    one_memory(store)
    with open_index(str(store.root)) as index, open_index(str(store.root)) as other:
        update(index, repo, now=NOW)
        other.connection.set_busy_timeout(50)
        store.put("areas/b.html", memory("Bats too"))
        with index.writing("hold the lock"):
            # Readers are not kept waiting, and a tree without changes needs no lock.
            assert search(other, "owls").hits
            with pytest.raises(Busy):
                update(other, repo, now=NOW)
        assert update(other, repo, now=NOW).added == 1


def test_a_failed_write_is_undone_whole(store: Store, repo: Repo, index: Index) -> None:
    one_memory(store)
    update(index, repo, now=NOW)
    before = tables(index)
    with pytest.raises(apsw.ConstraintError), index.writing("fail") as connection:  # noqa: PT012
        # Both statements belong to the transaction that has to be undone.
        connection.execute("DELETE FROM files")
        connection.execute("INSERT INTO skipped (path) VALUES ('x')")
    assert tables(index) == before


def test_our_own_wrong_sql_is_not_called_damage(store: Store, repo: Repo, index: Index) -> None:
    one_memory(store)
    update(index, repo, now=NOW)
    with pytest.raises(apsw.SQLError), index.reading("ask") as connection:
        connection.execute("SELECT nothing FROM nowhere")


def test_readers_during_rebuilds_and_updates_see_a_whole_index(store: Store, repo: Repo) -> None:
    number_of_files = 60
    for number in range(number_of_files):
        store.put(f"areas/{number}.html", memory(f"Owls hunt at night {number}"))
    store.commit()
    root = str(store.root)
    with open_index(root) as index:
        update(index, repo, now=NOW)
    seen: list[int] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            with open_index(root) as reader:
                while not done.is_set():
                    answer = search(reader, "owls", limit=500)
                    seen.append(len(answer.hits))
                    with open_index(root) as fresh:
                        seen.append(len(search(fresh, "owls", limit=500).hits))
        except BaseException as error:  # noqa: BLE001 - reported by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        with open_index(root) as index:
            for turn in range(6):
                store.put("areas/0.html", memory(f"Owls hunt by day {turn}"))
                update(index, repo, now=NOW)
                rebuild(index, repo, now=NOW)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert set(seen) == {number_of_files}


_UPDATER = """
import sys
from memhtml.index.database import open_index
from memhtml.index.indexer import rebuild, update
from memhtml.store.repo import Repo
with Repo.open(sys.argv[1]) as repo, open_index(sys.argv[1]) as index:
    for turn in range(int(sys.argv[2])):
        (rebuild if turn % 3 == 2 else update)(index, repo, now=f"{turn:020}")
"""


def test_processes_that_update_and_rebuild_at_once_all_succeed(store: Store, repo: Repo) -> None:
    one_memory(store)
    children = [
        subprocess.Popen(
            (sys.executable, "-c", _UPDATER, str(store.root), "6"), stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    for number in range(12):
        store.put(f"areas/n{number}.html", memory(f"Owls number {number}"))
        if number % 4 == 3:
            store.commit()
        time.sleep(0.05)
    for child in children:
        _, stderr = child.communicate(timeout=120)
        assert (child.returncode, stderr) == (0, b"")
    with open_index(str(store.root)) as index:
        update(index, repo, now=NOW)
        followed = tables(index)
        rebuild(index, repo, now=NOW)
        assert followed == tables(index)
        assert len(search(index, "owls", limit=50).hits) == 13


@pytest.mark.parametrize("place", ["index.db", "index.db-wal", "state.db", ".gitignore"])
def test_nothing_is_written_through_a_link_that_a_store_brought_along(
    store: Store, tmp_path: Path, place: str
) -> None:
    one_memory(store)
    victim = tmp_path / "victim.rc"
    victim.write_text("mine")
    link = store.root / ".memhtml/cache" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(victim)
    with pytest.raises(StorageFailure, match="is a link"):
        open_index(str(store.root))
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("folder", [".memhtml", ".memhtml/cache"])
def test_a_folder_of_ours_that_is_a_link_is_refused(
    store: Store, tmp_path: Path, folder: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = store.root / folder
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside, target_is_directory=True)
    with pytest.raises(StorageFailure, match="is a link"):
        open_index(str(store.root))
    assert list(outside.iterdir()) == []
