from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memhtml.format.parse import check_document
from memhtml.model.errors import GitFailure, NotAStore, PathNotFound
from memhtml.model.paths import archive_path, path_key
from memhtml.model.slugs import with_ordinal
from memhtml.model.tree import ChangeKind, TreeEntry, WorktreeChange
from memhtml.store.plan import Move, Plan
from memhtml.store.repo import Repo
from tests.store.sandbox import NOW, Sandbox, put, sha

if TYPE_CHECKING:
    from pathlib import Path

OLD = b"old\n"


@pytest.fixture
def kept(store: Sandbox) -> Sandbox:
    store.apply(put('areas/naïve "q".html', OLD))
    return store


# Reading


def test_an_empty_repository_has_no_head_and_nothing_in_it(store: Sandbox) -> None:
    with store.open() as repo:
        assert repo.head() is None
        assert repo.worktree_changes() == []
        assert repo.find("a.html") is None
        assert repo.names("areas") == {}


def test_a_commit_is_read_back_as_it_was_written(kept: Sandbox) -> None:
    with kept.open() as repo:
        head = repo.head()
        assert head == kept.git("rev-parse", "HEAD").strip()
        assert list(repo.list_tree(head)) == [TreeEntry('areas/naïve "q".html', sha(OLD), "100644")]
        assert repo.read_at(head, 'areas/naïve "q".html') == OLD
        for missing in ("areas/none.html", "areas", "a\nb"):
            with pytest.raises(PathNotFound):
                repo.read_at(head, missing)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("count", [1, 16, 500])
def test_blobs_come_in_the_order_asked_for(kept: Sandbox, count: int, packed: bool) -> None:
    texts = [b"x" * n for n in range(count)]
    for n, text in enumerate(texts):
        kept.write(f"areas/{n}.html", text)
    kept.git("add", "-A")
    kept.git("commit", "-qm", "many")
    if packed:
        kept.git("gc", "-q")
    with kept.open() as repo:
        shas = [sha(b"x" * n) if n < 3 else repo.sha_of(b"x" * n) for n in reversed(range(count))]
        assert list(repo.read_blobs(iter(shas))) == list(zip(shas, reversed(texts), strict=True))


@pytest.mark.parametrize("count", [0, 40])
def test_a_missing_blob_is_an_error_that_names_it(kept: Sandbox, count: int) -> None:
    with kept.open() as repo, pytest.raises(GitFailure, match="0000"):
        list(repo.read_blobs([sha(OLD)] * count + ["0" * 40]))


def test_changes_are_what_differs_and_unknown_beginnings_are_none(kept: Sandbox) -> None:
    with kept.open() as repo:
        first = repo.head() or ""
        repo.apply(put("areas/new.html", b"new\n"))
        repo.apply(
            Plan((Move('areas/naïve "q".html', "archive/2026/x.html", OLD, sha(OLD)),), "move")
        )
        last = repo.head() or ""
        found = {(c.kind, c.path, c.sha) for c in repo.changes(first, last) or ()}
        assert found == {
            (ChangeKind.ADDED, "areas/new.html", sha(b"new\n")),
            (ChangeKind.ADDED, "archive/2026/x.html", sha(OLD)),
            (ChangeKind.REMOVED, 'areas/naïve "q".html', sha(OLD)),
        }
        assert repo.changes(last, last) == []
        for unknown in ("0" * 40, "", "--all", "HEAD"):
            assert repo.changes(unknown, last) is None
        assert repo.is_ancestor(first, last)
        assert not repo.is_ancestor(last, first)
        assert not repo.is_ancestor("0" * 40, last)


def test_a_rewritten_history_still_has_its_old_commit_as_a_beginning(kept: Sandbox) -> None:
    with kept.open() as repo:
        first = repo.head() or ""
        kept.git("commit", "-q", "--amend", "-m", "another")
        assert repo.changes(first, repo.head() or "") == []
        kept.git("reflog", "expire", "--expire=now", "--all")
        kept.git("gc", "-q", "--prune=now")
        assert repo.changes(first, repo.head() or "") is None


def test_edits_on_disk_are_seen_each_by_itself(kept: Sandbox) -> None:
    kept.write("new/folder/x.html", "x")
    kept.write("new/folder/y.html", "y")
    (kept.root / "areas" / 'naïve "q".html').unlink()
    kept.git("config", "status.showUntrackedFiles", "no")
    with kept.open() as repo:
        assert sorted(repo.worktree_changes(), key=lambda change: change.path) == [
            WorktreeChange(ChangeKind.REMOVED, 'areas/naïve "q".html'),
            WorktreeChange(ChangeKind.ADDED, "new/folder/x.html"),
            WorktreeChange(ChangeKind.ADDED, "new/folder/y.html"),
        ]


def test_a_file_is_read_from_disk_and_from_nowhere_else(kept: Sandbox) -> None:
    (kept.root.parent / "outside.html").write_text("secret")
    with kept.open() as repo:
        assert repo.read_file('areas/naïve "q".html') == OLD
        for path in ("areas", "areas/x/y", "none/x", "../outside.html", ".git/HEAD", "", "a/../b"):
            assert repo.read_file(path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_a_pipe_in_the_tree_keeps_nobody_waiting(kept: Sandbox) -> None:
    os.mkfifo(kept.root / "areas" / "pipe.html")
    with kept.open() as repo:
        assert repo.read_file("areas/pipe.html") is None


@pytest.mark.skipif(not hasattr(os, "posix_spawnp"), reason="needs the child's number")
def test_a_reader_that_somebody_killed_is_started_again(kept: Sandbox) -> None:
    kept.git("gc", "-q")
    with kept.open() as repo:
        assert list(repo.read_blobs([sha(OLD)]))
        os.kill(vars(repo._git._reader)["_pid"], 9)
        assert list(repo.read_blobs([sha(OLD)])) == [(sha(OLD), OLD)]


def test_opening_and_asking_for_the_head_imports_nothing_heavy(kept: Sandbox) -> None:
    code = (
        "import sys; from memhtml.store.repo import Repo; r = Repo.open(sys.argv[1])\n"
        "assert r.head(); r.worktree_changes(); r.read_file('x')\n"
        "heavy = {'subprocess', 'dataclasses', 'json', 'pathlib', 'threading', 'ctypes', 'apsw',\n"
        "         'turbohtml', 'memhtml.store.commit', 'memhtml.store.plan'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(kept.root)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == "[]\n"


# For planners


def test_a_planner_sees_head_and_the_names_on_disk(kept: Sandbox) -> None:
    kept.write("areas/loose.html", "x")
    kept.write('areas/naïve "q".html', "edited")
    (kept.root / "link").symlink_to("areas")
    with kept.open() as repo:
        found = repo.find('areas/naïve "q".html')
        assert found == (sha(OLD), OLD)
        assert repo.find("areas") is None
        assert repo.find("areas/loose.html") is None
        assert repo.names("areas") == {
            path_key(name): name for name in ('naïve "q".html', "loose.html")
        }
        assert repo.names("link") == {}
        assert repo.names("../") == {}


@pytest.mark.parametrize("ordinal", [1, 2, 10])
def test_where_an_archived_file_came_from_is_told_by_its_commit(
    store: Sandbox, ordinal: int
) -> None:
    stem = "long-" * 15 + "name"
    path = f"areas/{stem}.html"
    archived = archive_path(f"areas/{with_ordinal(stem, ordinal)}.html", 2026)
    store.apply(
        put(path, OLD),
        put("areas/other.html", "other\n"),
        Plan(
            (
                Move(path, archived, OLD, sha(OLD)),
                Move("areas/other.html", "archive/2026/areas/other.html", b"x", sha(b"other\n")),
            ),
            "archive",
        ),
        put(archived, "edited since\n", sha(OLD)),
    )
    with store.open() as repo:
        assert repo.origin(archived) == path
        assert repo.origin("archive/2026/areas/never.html") is None
        assert repo.origin("areas/other.html") is None


# Making a store


def test_init_makes_a_store_and_then_finds_nothing_to_do(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "store"
    first = Repo.init(str(root), clock=lambda: NOW)
    second = Repo.init(str(root), clock=lambda: NOW + 99)
    assert (first.created, second.created) == (True, False)
    assert (second.head, second.wrote, second.kept) == (first.head, (), ())
    assert set(first.wrote) == {
        *(
            f"{folder}/.gitkeep"
            for folder in (
                "projects", "areas", "resources", "archive", "areas/arcs", "areas/inbox",
                "resources/people", ".memhtml/state", ".memhtml/sleep",
            )
        ),
        ".gitignore",
        ".gitattributes",
        "README.html",
    }  # fmt: skip
    twin = Sandbox(root)
    twin.assert_sound()
    assert twin.commits == 1
    assert twin.git("log", "-1", "--format=%s") == (
        "memhtml(init): scaffold the memory repository\n"
    )
    assert twin.git("symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert twin.git("config", "--local", "merge.ours.driver") == "true\n"
    assert twin.git("check-attr", "text", "eol", "diff", "--", "areas/x.html").split()[2::3] == [
        "set",
        "lf",
        "html",
    ]
    twin.write(".memhtml/cache/index.db", "x")
    twin.write(".memhtml/state.db-wal", "x")
    assert twin.status == ""
    assert check_document((root / "README.html").read_bytes()) == ()


def test_init_inside_another_repository_makes_one_of_its_own(kept: Sandbox) -> None:
    report = Repo.init(str(kept.root / "memory"))
    assert report.created
    assert kept.commits == 1
    assert Sandbox(kept.root / "memory").commits == 1


def test_init_completes_a_store_and_keeps_what_is_there(store: Sandbox) -> None:
    store.write("README.html", "mine\n")
    store.write(".gitignore", "*.tmp\n")
    store.git("add", ".gitignore")
    store.git("commit", "-qm", "mine")
    store.write("staged.txt", "staged\n")
    store.git("add", "staged.txt")
    report = Repo.init(str(store.root))
    assert (report.created, report.kept) == (False, ("README.html",))
    assert (store.root / "README.html").read_text() == "mine\n"
    assert store.files()[".gitignore"] == "*.tmp\n"
    assert store.status == "A  staged.txt\n?? README.html\n"
    store.write(".memhtml/cache/index.db", "x")
    assert store.status == "A  staged.txt\n?? README.html\n"
    assert Repo.init(str(store.root)).wrote == ()
    excluded = (store.root / ".git" / "info" / "exclude").read_text()
    assert excluded.count(".memhtml/cache/\n") == 1


def test_init_without_an_identity_says_whose_the_commits_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    report = Repo.init(str(tmp_path / "store"))
    assert (report.has_own_identity, report.author) == (False, "memhtml <memhtml@localhost>")


def test_init_refuses_a_bare_repository(tmp_path: Path) -> None:
    bare = Sandbox(tmp_path / "bare", "--bare")
    with pytest.raises(NotAStore, match="bare"):
        Repo.init(str(bare.root))
