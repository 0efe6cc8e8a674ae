from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memhtml.index import snapshot as snapshot_module
from memhtml.index.database import open_index
from memhtml.index.embed import coverage, embed
from memhtml.index.indexer import update
from memhtml.index.snapshot import open_snapshot
from memhtml.model.errors import GitFailure
from memhtml.search.search import search
from memhtml.store.repo import Repo
from tests.index.encoders import WordEncoder
from tests.index.stores import NOW, Store, memory, tables

if TYPE_CHECKING:
    from pathlib import Path

    from memhtml.index.database import Index

A, B = "areas/a.html", "areas/b.html"


def at(store: Store, repo: Repo, index: Index, commit: str) -> Index:
    return open_snapshot(index, repo, str(store.root), commit, now=NOW)


def test_a_snapshot_equals_a_fresh_index_of_that_checkout(
    store: Store, repo: Repo, index: Index, tmp_path: Path
) -> None:
    store.put(A, memory("Owls hunt at night", tags=("bird",)))
    store.put(B, "<p>no memory")
    then = store.commit()
    store.put(A, memory("Owls hunt by day"))
    store.put(B, memory("Bats too"))
    store.commit()
    store.put("areas/c.html", memory("by hand"))
    update(index, repo, now=NOW)
    other = Store(tmp_path / "then")
    for path in (A, B):
        other.put(path, store.git("show", f"{then}:{path}"))
    other.commit()
    with at(store, repo, index, then) as past:
        assert [hit.gist for hit in search(past, "owls").hits] == ["Owls hunt at night"]
        assert search(past, "bats").hits == ()
        with Repo.open(str(other.root)) as checkout, open_index(str(other.root)) as fresh:
            update(fresh, checkout, now=NOW)
            wanted = tables(fresh)
        found = tables(past)
        assert found.pop("index_state")[0][2] == then
        wanted.pop("index_state")
        assert found == wanted


def test_a_snapshot_is_built_once_and_borrows_what_is_encoded(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(A, memory("Owls hunt at night"))
    then = store.commit()
    store.put(B, memory("Bats too"))
    store.commit()
    update(index, repo, now=NOW)
    embed(index, WordEncoder())
    with at(store, repo, index, then) as past:
        assert [(one.covered, one.texts) for one in coverage(past)] == [(1, 1)]

    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(snapshot_module, "rebuild", fail)
    with at(store, repo, index, then) as past:
        assert search(past, "owls").hits


def test_only_the_snapshots_used_last_are_kept(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_module, "SNAPSHOTS_KEPT", 2)
    folder = store.root / ".memhtml/cache/at"
    commits = []
    for number in range(4):
        store.put(A, memory(f"number {number}"))
        commits.append(store.commit())
        at(store, repo, index, commits[-1]).close()
        if number == 2:
            assert {file.stem for file in folder.glob("*.db")} == set(commits[1:3])
            at(store, repo, index, commits[1]).close()
    assert {file.stem for file in folder.glob("*.db*")} == {commits[1], commits[3]}
    assert store.git("status", "--porcelain") == ""


def test_an_unknown_commit_is_told(store: Store, repo: Repo, index: Index) -> None:
    store.commit()
    with pytest.raises(GitFailure):
        at(store, repo, index, "0" * 40)


def test_where_nothing_can_be_written_a_snapshot_is_private(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("Owls hunt at night"))
    then = store.commit()
    update(index, repo, now=NOW)
    store.put(".memhtml/cache/at", "in the way")
    with at(store, repo, index, then) as past:
        assert past.is_private
        assert search(past, "owls").hits


def test_a_snapshot_leaves_usage_alone(store: Store, repo: Repo, index: Index) -> None:
    store.put(A, memory("Owls hunt at night"))
    then = store.commit()
    with at(store, repo, index, then) as past:
        assert past.root is None
