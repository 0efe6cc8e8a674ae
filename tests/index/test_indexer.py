from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhtml.index.database import open_index
from memhtml.index.embed import embed
from memhtml.index.indexer import rebuild, update
from memhtml.index.lookup import find_active, find_file, skipped_files
from memhtml.index.overlay import NOT_A_FILE
from memhtml.store.repo import Repo
from tests.index.encoders import WordEncoder
from tests.index.stores import NOW, Store, memory, tables

if TYPE_CHECKING:
    from memhtml.index.database import Index

A, B, C = "areas/a.html", "areas/b.html", "projects/barn/c.html"


def titles(index: Index) -> dict[str, str]:
    return dict(index.connection.execute("SELECT path, title FROM files ORDER BY path"))


def file_id(index: Index, path: str) -> int:
    ((found,),) = index.connection.execute("SELECT id FROM files WHERE path = ?", (path,))
    assert isinstance(found, int)
    return found


def test_the_first_update_builds_the_index(store: Store, repo: Repo, index: Index) -> None:
    store.put(A, memory("Owls hunt at night"))
    head = store.commit()
    assert index.state() is None
    report = update(index, repo, now=NOW)
    assert (report.rebuilt, report.head_sha, report.added) == (True, head, 1)
    state = index.state()
    assert state is not None
    assert (state.head_sha, state.files, state.skipped) == (head, 1, 0)


def test_an_unchanged_tree_is_told_and_nothing_is_written(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("Owls hunt at night"))
    store.commit()
    update(index, repo, now=NOW)
    before = index.connection.total_changes()
    assert update(index, repo, now="2026-03-02T00:00:00Z").unchanged
    assert index.connection.total_changes() == before
    state = index.state()
    assert state is not None
    assert state.updated_at == NOW


def test_commits_since_the_watermark_are_followed(store: Store, repo: Repo, index: Index) -> None:
    store.put(A, memory("one"))
    store.put(B, memory("two"))
    store.commit()
    update(index, repo, now=NOW)
    store.put(A, memory("one changed"))
    store.delete(B)
    store.put(C, memory("three"))
    store.commit()
    report = update(index, repo, now=NOW)
    assert (report.modified, report.removed, report.added, report.rebuilt) == (1, 1, 1, False)
    assert titles(index) == {A: "one changed", C: "three"}


def test_a_store_without_commits_is_indexed_from_disk(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("one"))
    assert update(index, repo, now=NOW).head_sha is None
    assert titles(index) == {A: "one"}
    store.commit()
    update(index, repo, now=NOW)
    assert titles(index) == {A: "one"}


def test_an_archived_memory_keeps_its_id(store: Store, repo: Repo, index: Index) -> None:
    store.put(A, memory("one"))
    store.put(B, memory("two"))
    store.commit()
    update(index, repo, now=NOW)
    before = file_id(index, A)
    store.move(A, f"archive/2026/{A}")
    store.put(f"archive/2026/{A}", memory("one, put away"))
    store.commit()
    report = update(index, repo, now=NOW)
    assert (report.renamed, report.added, report.removed) == (1, 0, 0)
    assert file_id(index, f"archive/2026/{A}") == before
    row = find_file(index, f"archive/2026/{A}")
    assert row is not None
    assert (row.archived, row.origin_path, row.para, row.title) == (
        True,
        A,
        "archive",
        "one, put away",
    )
    store.move(f"archive/2026/{A}", A)
    store.commit()
    assert update(index, repo, now=NOW).renamed == 1
    assert file_id(index, A) == before


def test_an_undone_hand_edit_gives_the_committed_row_back(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("one"))
    store.commit()
    update(index, repo, now=NOW)
    store.put(A, memory("edited"))
    assert update(index, repo, now=NOW).dirty == 1
    assert titles(index) == {A: "edited"}
    assert update(index, repo, now=NOW).unchanged
    store.git("checkout", "-q", A)
    assert update(index, repo, now=NOW).modified == 1
    assert titles(index) == {A: "one"}


def test_a_file_deleted_and_restored_by_hand_is_followed(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("one"))
    store.commit()
    update(index, repo, now=NOW)
    store.delete(A)
    update(index, repo, now=NOW)
    assert titles(index) == {}
    store.git("checkout", "-q", A)
    update(index, repo, now=NOW)
    assert titles(index) == {A: "one"}


def test_an_untracked_file_in_a_new_folder_is_found_and_later_forgotten(
    store: Store, repo: Repo, index: Index
) -> None:
    store.commit()
    update(index, repo, now=NOW)
    store.put("projects/new/deep/x.html", memory("fresh"))
    update(index, repo, now=NOW)
    assert titles(index) == {"projects/new/deep/x.html": "fresh"}
    store.delete("projects/new/deep/x.html")
    assert update(index, repo, now=NOW).removed == 1
    assert titles(index) == {}


def test_a_hand_edit_that_is_edited_again_is_indexed_again(
    store: Store, repo: Repo, index: Index
) -> None:
    store.commit()
    store.put(A, memory("first"))
    update(index, repo, now=NOW)
    store.put(A, memory("later"))
    update(index, repo, now=NOW)
    assert titles(index) == {A: "later"}


def test_a_rewritten_history_is_indexed_anew(store: Store, repo: Repo, index: Index) -> None:
    store.put(A, memory("one"))
    store.commit()
    update(index, repo, now=NOW)
    store.git("checkout", "-q", "--orphan", "other")
    store.put(A, memory("two"))
    store.commit()
    store.git("branch", "-q", "-D", "main")
    store.git("reflog", "expire", "--expire=now", "--all")
    store.git("gc", "-q", "--prune=now")
    assert update(index, repo, now=NOW).rebuilt
    assert titles(index) == {A: "two"}


def test_only_memories_of_the_buckets_are_indexed(store: Store, repo: Repo, index: Index) -> None:
    for path in ("README.html", "areas/index.html", "areas/x.txt", ".memhtml/sleep/r.html"):
        store.put(path, memory("not a memory"))
    store.put(A, memory("one"))
    store.commit()
    update(index, repo, now=NOW)
    assert titles(index) == {A: "one"}
    assert skipped_files(index) == ()


def test_equal_content_in_two_files_indexes_both_and_the_older_one_answers(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("same", title="newer", created="2026-01-02T00:00:00Z"))
    store.put(B, memory("same", title="older", created="2026-01-01T00:00:00Z"))
    store.put(C, memory("same", title="as old", created="2026-01-01T00:00:00Z"))
    store.put("areas/t.html", memory("same", memory_type="task", created="2025-01-01T00:00:00Z"))
    store.commit()
    assert update(index, repo, now=NOW).added == 4
    row = find_file(index, A)
    assert row is not None
    assert find_active(index, row.content_hash) == B
    store.move(B, f"archive/2026/{B}")
    store.commit()
    update(index, repo, now=NOW)
    assert find_active(index, row.content_hash) == C
    assert find_active(index, "sha256:" + "0" * 64) is None


def test_broken_files_are_rows_with_their_reasons_until_mended(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put("areas/inbox/bytes.html", b"\xff\xfe\x00")
    store.put("areas/inbox/empty.html", b"")
    store.put("areas/inbox/good.html", memory("good"))
    bad = memory("x").replace("mark>", "b>")
    store.put("areas/inbox/unmarked.html", bad)
    store.put(
        "areas/inbox/crlf.html", b"\xef\xbb\xbf" + memory("crlf").replace("\n", "\r\n").encode()
    )
    (store.root / "areas/inbox/link.html").symlink_to("/etc/hostname")
    report = update(index, repo, now=NOW)
    listed = skipped_files(index)
    assert [file.path.rpartition("/")[2] for file in listed] == [
        "bytes.html",
        "empty.html",
        "link.html",
        "unmarked.html",
    ]
    assert {row.path for row in report.skipped} == {file.path for file in listed}
    assert listed[2].reason == NOT_A_FILE
    assert all(file.findings and file.findings[0].message for file in listed)
    assert listed[3].findings[0].line > 1
    assert set(titles(index).values()) == {"good", "crlf"}
    # What is skipped on disk is skipped as a commit, and a later pass still knows.
    store.commit()
    update(index, repo, now=NOW)
    assert skipped_files(index) == listed
    store.put("areas/inbox/unmarked.html", memory("mended"))
    store.put("areas/inbox/good.html", bad)
    update(index, repo, now=NOW)
    assert "areas/inbox/unmarked.html" not in {file.path for file in skipped_files(index)}
    assert set(titles(index).values()) == {"mended", "crlf"}


def test_a_name_that_is_not_utf8_is_skipped_by_name(store: Store, repo: Repo, index: Index) -> None:
    store.put(A, memory("one"))
    try:
        store.put(os.fsdecode(b"areas/caf\xe9.html"), memory("two"))
    except OSError:
        pytest.skip("this file system holds UTF-8 names only")
    for _ in range(2):
        update(index, repo, now=NOW)
        assert [(f.path, f.reason) for f in skipped_files(index)] == [
            ("areas/caf\\udce9.html", "path-encoding")
        ]
        store.commit()


def test_a_symlink_in_a_commit_is_never_followed(store: Store, repo: Repo, index: Index) -> None:
    store.put("notes.html", memory("outside of the buckets"))
    (store.root / "areas").mkdir()
    (store.root / A).symlink_to("../notes.html")
    store.commit()
    update(index, repo, now=NOW)
    assert titles(index) == {}
    assert [file.path for file in skipped_files(index)] == [A]


def test_opening_a_store_changes_no_file_that_git_sees(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("one"))
    store.commit()
    update(index, repo, now=NOW)
    assert (store.root / ".memhtml/cache/index.db").exists()
    assert store.git("status", "--porcelain", "-uall") == ""


# A history is a list of steps over a few paths, so that paths meet each other often.
PATHS = [
    A,
    B,
    "projects/barn/c.html",
    f"archive/2026/{A}",
    f"archive/2025/{A}",
    "areas/deep/d.html",
]
TEXTS = [
    memory("one", tags=("t1", "t2"), entities=("org:DGX",), facets=(("region", "eu"),)),
    memory("two", body="C++ and 東京都", links=(("supersedes", A),), aliases=("deux",)),
    memory("three", memory_type="task"),
    "<p>no memory at all",
]
STEP = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(PATHS), st.sampled_from(TEXTS)),
    st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("archive"), st.sampled_from([A, B]), st.sampled_from(["2025", "2026"])),
    st.tuples(st.just("link"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("revert"), st.just(""), st.just("")),
    st.tuples(st.just("commit"), st.just(""), st.just("")),
    st.tuples(st.just("reset"), st.just(""), st.just("")),
    st.tuples(st.just("update"), st.just(""), st.just("")),
    st.tuples(st.just("embed"), st.just(""), st.just("")),
)


def take(store: Store, step: tuple[str, str, str]) -> None:
    verb, path, text = step
    file = store.root / path
    if verb == "put":
        if file.is_symlink():
            file.unlink()
        store.put(path, text)
    elif verb == "delete" and (file.exists() or file.is_symlink()):
        file.unlink()
    elif verb == "archive" and (file.exists() or file.is_symlink()):
        store.move(path, f"archive/{text}/{path}")
    elif verb == "link" and not file.is_symlink():
        file.unlink(missing_ok=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to("/etc/hostname")
    elif verb == "revert":
        store.git("reset", "-q", "--hard")
    elif verb == "commit":
        store.commit()
    elif verb == "reset":
        store.git("reset", "-q", "--hard", "HEAD~1")


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEP, min_size=1, max_size=14))
def test_following_a_history_gives_what_a_rebuild_gives(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    store = Store(tmp_path_factory.mktemp("history"))
    store.commit()
    store.put(A, TEXTS[0])
    store.commit()
    root = str(store.root)
    with Repo.open(root) as repo, open_index(root) as index:
        update(index, repo, now=NOW)
        for step in steps:
            if step[0] == "reset" and int(store.git("rev-list", "--count", "HEAD")) < 3:
                continue
            take(store, step)
            if step[0] in {"update", "embed"}:
                update(index, repo, now=NOW)
            if step[0] == "embed":
                embed(index, WordEncoder())
        update(index, repo, now=NOW)
        followed = tables(index)
        assert update(index, repo, now=NOW).unchanged
        rebuild(index, repo, now=NOW)
        assert followed == tables(index)


def test_many_changes_at_once_are_indexed_aside(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memhtml.index.indexer.MAX_CHANGES", 3)
    store.commit()
    update(index, repo, now=NOW)
    for number in range(5):
        store.put(f"areas/{number}.html", memory(f"number {number}"))
    store.commit()
    assert update(index, repo, now=NOW).rebuilt
    assert len(titles(index)) == 5


def test_many_changes_of_a_larger_index_are_followed_in_place(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memhtml.index.indexer.MAX_CHANGES", 1)
    for number in range(20):
        store.put(f"areas/{number}.html", memory(f"number {number}"))
    store.commit()
    update(index, repo, now=NOW)
    for number in range(5):
        store.put(f"areas/{number}.html", memory(f"another {number}"))
    store.commit()
    assert not update(index, repo, now=NOW).rebuilt
    for number in range(6):
        store.put(f"areas/{number}.html", memory(f"yet another {number}"))
    store.commit()
    assert update(index, repo, now=NOW).rebuilt


def test_a_rebuild_that_fails_leaves_the_old_index(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(A, memory("one"))
    store.commit()
    update(index, repo, now=NOW)
    before = tables(index)
    store.put(B, memory("two"))
    store.commit()

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("memhtml.index.writer.write_state", fail)
    monkeypatch.setattr("memhtml.index.writer.seal", fail)
    with pytest.raises(KeyboardInterrupt):
        rebuild(index, repo, now=NOW)
    with pytest.raises(KeyboardInterrupt):
        update(index, repo, now=NOW)
    monkeypatch.undo()
    assert tables(index) == before
    update(index, repo, now=NOW)
    assert titles(index) == {A: "one", B: "two"}


def test_without_a_scan_commits_are_followed_and_known_hand_edits_stay(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("one"))
    store.commit()
    store.put(B, memory("by hand"))
    update(index, repo, now=NOW)
    store.put(C, memory("three"))
    store.git("add", C)
    store.git("commit", "-q", "-m", "change")
    store.put(B, memory("by hand, later"))
    report = update(index, repo, now=NOW, scan=False)
    assert (report.added, report.dirty) == (1, 1)
    assert titles(index) == {A: "one", B: "by hand", C: "three"}
    assert update(index, repo, now=NOW, scan=False).unchanged
    update(index, repo, now=NOW)
    assert titles(index)[B] == "by hand, later"
