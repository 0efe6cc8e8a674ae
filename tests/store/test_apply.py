from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from memhtml.model.errors import (
    Busy,
    GitFailure,
    InvalidPath,
    NotAStore,
    RepositoryState,
    StorageFailure,
    WriteConflict,
)
from memhtml.store.plan import Move, Plan, Put, Remove
from memhtml.store.policy import FALLBACK
from memhtml.store.repo import Repo
from tests.store.sandbox import NOW, Sandbox, put, sha

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OLD = b"old\n"


@pytest.fixture
def kept(store: Sandbox) -> Sandbox:
    """Return a repository with one memory and one file of the user's."""
    store.apply(put("areas/a.html", OLD))
    store.write("notes.txt", "mine\n")
    store.git("add", "notes.txt")
    store.git("commit", "-qm", "notes")
    return store


def archive(path: str = "areas/a.html", data: bytes = b"archived\n") -> Plan:
    return Plan((Move(path, f"archive/2026/{path}", data, sha(OLD)),), f"memhtml(archive): {path}")


# What a commit is


def test_a_plan_becomes_one_commit_with_everything_in_step(kept: Sandbox) -> None:
    before = kept.commits
    plan = Plan(
        (
            Put("areas/b/c.html", b"new\n"),
            Move("areas/a.html", "archive/2026/areas/a.html", b"moved\n", sha(OLD)),
        ),
        "memhtml(write): caf\u00e9",
        (("Memhtml-Session", "s1"),),
    )
    (commit,) = kept.apply(plan)
    assert kept.commits == before + 1
    assert kept.git("rev-parse", "main", "HEAD").split() == [commit, commit]
    assert kept.files() == {
        "areas/b/c.html": "new\n",
        "archive/2026/areas/a.html": "moved\n",
        "notes.txt": "mine\n",
    }
    assert not (kept.root / "areas" / "a.html").exists()
    shown = kept.git("log", "-1", "--format=%an <%ae> %at %cn <%ce> %ct%n%B")
    assert shown == (
        f"Ada <ada@example.org> {NOW:.0f} Ada <ada@example.org> {NOW:.0f}\n"
        "memhtml(write): caf\u00e9\n\nMemhtml-Session: s1\n\n"
    )
    for log in ("main", "HEAD"):
        assert (
            kept.git("reflog", "-1", "--format=%gs", log) == "commit: memhtml(write): caf\u00e9\n"
        )
    kept.assert_sound()


def test_a_batch_becomes_one_commit_and_one_pack(kept: Sandbox) -> None:
    names = [f"areas/batch/{n}.html" for n in range(300)]
    kept.apply(Plan(tuple(Put(name, name.encode()) for name in names), "memhtml(batch): many"))
    assert kept.git("log", "-1", "--name-only", "--format=").split() == sorted(names)
    assert "packs: 1\n" in kept.git("count-objects", "-v")
    kept.assert_sound()


def test_a_plan_that_changes_nothing_makes_no_commit(kept: Sandbox) -> None:
    before = kept.git("rev-parse", "HEAD").strip()
    assert kept.apply(Plan((), "nothing"), put("areas/a.html", OLD, sha(OLD))) == [before, before]
    kept.assert_sound()


def test_a_step_that_changes_nothing_rides_along_unseen(kept: Sandbox) -> None:
    plan = Plan((Put("areas/a.html", OLD, sha(OLD)), Put("areas/new.html", b"x")), "one of two")
    kept.apply(plan)
    assert kept.git("log", "-1", "--name-only", "--format=") == "areas/new.html\n"
    kept.assert_sound()


def test_a_folder_that_a_move_empties_goes(kept: Sandbox) -> None:
    kept.apply(archive())
    assert not (kept.root / "areas").exists()


def test_a_file_keeps_its_executable_bit(kept: Sandbox) -> None:
    script = kept.write("areas/run.html", "one\n")
    script.chmod(0o755)
    kept.git("add", "areas/run.html")
    kept.git("commit", "-qm", "script")
    kept.apply(put("areas/run.html", b"two\n", sha(b"one\n")))
    assert kept.git("ls-files", "--stage", "areas/run.html").startswith("100755")
    assert script.stat().st_mode & 0o111
    kept.assert_sound()


def test_odd_names_and_bytes_arrive_unchanged(kept: Sandbox) -> None:
    kept.apply(put('areas/日本 "q" \udcff.html', bytes(range(256)).replace(b"\r", b"")))
    place = kept.root / os.fsdecode('areas/日本 "q" '.encode() + b"\xff.html")
    assert place.read_bytes() == bytes(range(256)).replace(b"\r", b"")
    kept.assert_sound()


def test_many_commits_in_one_block_bring_the_index_in_step_at_its_end(kept: Sandbox) -> None:
    with kept.open() as repo:
        with repo.writing(), repo.writing():
            repo.apply(put("areas/1.html"))
            repo.apply(put("areas/1.html", b"again\n", sha(b"text\n")))
            repo.apply(Plan((Remove("areas/1.html", sha(b"again\n")),), "gone"))
            repo.apply(put("areas/2.html"))
        kept.assert_sound()


# What a plan expects


@pytest.mark.parametrize(
    ("plan", "theirs"),
    [
        (put("areas/a.html"), sha(OLD)),
        (put("areas/a.html", b"x", sha(b"other")), sha(OLD)),
        (put("areas/none.html", b"x", sha(OLD)), ""),
        (put("areas"), None),
        (put("areas/a.html/b.html"), ""),
        (put("areas/A.html"), ""),
        (put("Areas/b.html"), ""),
        (Plan((Remove("areas/none.html", sha(OLD)),), "x"), ""),
    ],
)
def test_a_plan_that_expects_something_else_changes_nothing(
    kept: Sandbox, plan: Plan, theirs: str | None
) -> None:
    head = kept.git("rev-parse", "HEAD")
    with pytest.raises(WriteConflict) as refused:
        kept.apply(plan)
    assert theirs is None or refused.value.theirs == theirs
    assert kept.git("rev-parse", "HEAD") == head
    kept.assert_sound()


def test_one_refused_step_refuses_the_whole_plan(kept: Sandbox) -> None:
    plan = Plan((Put("areas/new.html", b"x"), Put("areas/a.html", b"x")), "memhtml(batch): two")
    with pytest.raises(WriteConflict):
        kept.apply(plan)
    assert not (kept.root / "areas" / "new.html").exists()
    kept.assert_sound()


@pytest.mark.parametrize("path", ["../x.html", ".git/config", "areas/.GIT/x", "/x", "a\\b", ""])
def test_a_path_that_no_tree_may_hold_is_refused(kept: Sandbox, path: str) -> None:
    with pytest.raises(InvalidPath):
        kept.apply(put(path))
    kept.assert_sound()


# What is the user's


def test_what_the_user_has_staged_and_edited_elsewhere_stays_exactly_so(kept: Sandbox) -> None:
    kept.write("staged.txt", "staged\n")
    kept.git("add", "staged.txt")
    kept.write("staged.txt", "and edited since\n")
    kept.write("notes.txt", "edited\n")
    kept.write("untracked.txt", "loose\n")
    before = kept.status
    kept.apply(put("areas/new.html"), archive())
    assert kept.status == before
    assert kept.git("show", "HEAD:areas/new.html") == "text\n"
    assert "staged.txt" not in kept.files()
    kept.git("commit", "-qm", "the user's own")
    assert kept.files()["staged.txt"] == "staged\n"
    assert kept.files()["areas/new.html"] == "text\n"


@pytest.mark.parametrize(
    "disturb",
    [
        lambda s: s.write("areas/a.html", "edited\n"),
        lambda s: (s.root / "areas" / "a.html").unlink(),
        lambda s: (s.write("areas/a.html", "staged\n"), s.git("add", "-A")),
        lambda s: s.git("rm", "-q", "--cached", "areas/a.html"),
        lambda s: s.git("update-index", "--chmod=+x", "areas/a.html"),
        lambda s: s.write("archive/2026/areas/a.html", "in the way\n"),
        lambda s: s.write("archive/2026", "a file where a folder must be\n"),
        lambda s: s.write("archive/2026/areas/a.html/x", "a folder in the way\n"),
        lambda s: (s.write("archive/2026/areas/a.html", "x"), s.git("add", "-A"),
                   (s.root / "archive/2026/areas/a.html").unlink()),
    ],
)  # fmt: skip
def test_a_target_the_user_has_touched_is_a_conflict_and_nothing_moves(
    kept: Sandbox, disturb: Callable[[Sandbox], object]
) -> None:
    disturb(kept)
    before = (kept.git("rev-parse", "HEAD"), kept.status)
    with pytest.raises(WriteConflict):
        kept.apply(archive())
    assert (kept.git("rev-parse", "HEAD"), kept.status) == before
    assert kept.leftovers() == []


def test_a_file_made_in_the_last_moment_is_not_covered(kept: Sandbox) -> None:
    def meddle(step: str) -> None:
        if step == "ref moved":
            kept.write("areas/new.html", "the user's\n")

    with kept.open(on_step=meddle) as repo:
        repo.apply(put("areas/new.html"))
    assert (kept.root / "areas" / "new.html").read_text() == "the user's\n"
    assert kept.status == " M areas/new.html\n"
    assert kept.leftovers() == []


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need a privilege there")
def test_nothing_is_read_or_written_through_a_symlink(kept: Sandbox, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.html").write_text("outside\n")
    (kept.root / "link").symlink_to(outside)
    (kept.root / "areas" / "link.html").symlink_to(outside / "x.html")
    with kept.open() as repo:
        assert repo.read_file("link/x.html") is None
        assert repo.read_file("areas/link.html") is None
        for path in ("link/new.html", "areas/link.html"):
            with pytest.raises(WriteConflict):
                repo.apply(put(path))
    assert [path.name for path in outside.iterdir()] == ["x.html"]


def test_a_committed_symlink_is_never_replaced(kept: Sandbox) -> None:
    (kept.root / "areas" / "link.html").symlink_to("a.html")
    kept.git("add", "-A")
    kept.git("commit", "-qm", "link")
    with pytest.raises(WriteConflict, match="symlink"):
        kept.apply(
            put("areas/link.html", b"x", kept.git("rev-parse", "HEAD:areas/link.html").strip())
        )


# The state of the repository


def test_a_detached_head_is_refused(kept: Sandbox) -> None:
    kept.git("checkout", "-q", "--detach")
    with pytest.raises(RepositoryState, match="detached"):
        kept.apply(put("areas/new.html"))
    kept.assert_sound()


def test_nothing_is_committed_into_an_unfinished_merge(kept: Sandbox) -> None:
    for branch in ("left", "right"):
        kept.git("switch", "-qc", branch, "main")
        kept.write("notes.txt", f"{branch}\n")
        kept.git("commit", "-qam", branch)
    for command, name in (("merge", "merge"), ("cherry-pick", "cherry-pick"), ("rebase", "rebase")):
        kept.git(command, "left", check=False)
        with pytest.raises(RepositoryState, match=name):
            kept.apply(put("areas/new.html"))
        kept.git(command, "--abort")
    kept.assert_sound()


def test_a_lock_that_another_git_holds_is_busy_and_left_alone(kept: Sandbox) -> None:
    lock = kept.root / ".git" / "index.lock"
    lock.touch()
    with kept.open(wait_seconds=0.05) as repo, pytest.raises(Busy, match=r"index\.lock"):
        repo.apply(put("areas/new.html"))
    assert lock.exists()
    lock.unlink()
    kept.apply(put("areas/new.html"))
    kept.assert_sound()


def test_a_branch_that_another_git_has_locked_is_busy(
    kept: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memhtml.store.commit._ATTEMPTS", 3)
    lock = kept.root / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    with pytest.raises(Busy):
        kept.apply(put("areas/new.html"))
    lock.unlink()
    kept.apply(put("areas/new.html"))
    kept.assert_sound()


def test_a_commit_made_by_other_means_in_between_is_built_upon(kept: Sandbox) -> None:
    def meddle(step: str) -> None:
        if step == "ref locked" and not meddled:
            meddled.append(step)
            tree = kept.git("rev-parse", "HEAD^{tree}").strip()
            other = kept.git("commit-tree", "-p", "HEAD", "-m", "other", tree).strip()
            (kept.root / ".git" / "refs" / "heads" / "main").write_text(f"{other}\n")

    meddled: list[str] = []
    with kept.open(on_step=meddle) as repo:
        repo.apply(put("areas/new.html"))
    assert kept.git("log", "-2", "--format=%s").split("\n")[:2] == [
        "memhtml(write): areas/new.html",
        "other",
    ]
    kept.assert_sound()


def test_packed_refs_and_packed_objects_are_read(kept: Sandbox) -> None:
    kept.git("gc", "-q")
    assert not (kept.root / ".git" / "refs" / "heads" / "main").exists()
    with kept.open() as repo:
        repo.apply(put("areas/new.html"))
        kept.git("gc", "-q", "--prune=now")
        repo.apply(archive())
    kept.assert_sound()


def test_object_folders_that_vanish_are_made_again(kept: Sandbox) -> None:
    def meddle(step: str) -> None:
        if step == "objects written":
            for folder in (kept.root / ".git" / "objects").iterdir():
                if len(folder.name) == 2 and not any(folder.iterdir()):
                    folder.rmdir()

    kept.git("repack", "-adq")
    kept.git("prune-packed")
    with kept.open(on_step=meddle) as repo:
        for n in range(5):
            repo.apply(put(f"areas/{n}.html", b"%d" % n))
            kept.git("repack", "-adq")
    kept.assert_sound()


def test_a_branch_with_a_slash_and_no_log_is_written(kept: Sandbox) -> None:
    kept.git("switch", "-qc", "topic/deep")
    kept.git("pack-refs", "--all")
    kept.git("config", "core.logAllRefUpdates", "false")
    kept.git("reflog", "expire", "--expire=all", "--all")
    (kept.root / ".git" / "logs" / "refs" / "heads" / "topic" / "deep").unlink()
    kept.apply(put("areas/new.html"))
    assert not (kept.root / ".git" / "logs" / "refs" / "heads" / "topic" / "deep").exists()
    kept.assert_sound()


def test_a_linked_working_tree_has_its_own_branch_and_index(kept: Sandbox, tmp_path: Path) -> None:
    kept.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    with Repo.open(str(tmp_path / "side")) as side:
        side.apply(put("areas/side.html"))
    kept.apply(put("areas/main.html"))
    assert "areas/side.html" in kept.files("side")
    assert "areas/side.html" not in kept.files("main")
    done = subprocess.run(
        ["git", "-C", str(tmp_path / "side"), "status", "--porcelain"],
        capture_output=True,
        check=True,
    )
    assert done.stdout == b""
    kept.assert_sound()


def test_a_root_reached_through_a_symlink_is_the_same_store(kept: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(kept.root)
    with Repo.open(str(tmp_path / "alias")) as alias, kept.open(wait_seconds=0.05) as direct:
        assert alias.root == str(kept.root)
        with alias.writing(), pytest.raises(Busy):
            direct.apply(put("areas/new.html"))


@pytest.mark.parametrize("kind", ["missing", "plain folder", "inside", "bare", "file", "broken"])
def test_a_root_that_is_no_store_is_refused_untouched(
    kept: Sandbox, tmp_path: Path, kind: str
) -> None:
    roots = {"inside": kept.root / "areas", "file": kept.root / "notes.txt"}
    root = roots.get(kind, tmp_path / kind)
    if kind in {"plain folder", "broken"}:
        root.mkdir()
    if kind == "broken":
        (root / ".git").write_text("gitdir: nowhere\n")
    if kind == "bare":
        Sandbox(root, "--bare")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(NotAStore):
        Repo.open(str(root))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_repository_whose_files_are_elsewhere_is_refused(kept: Sandbox, tmp_path: Path) -> None:
    kept.git("config", "core.worktree", str(tmp_path))
    with pytest.raises(NotAStore, match="elsewhere"):
        kept.apply(put("areas/new.html"))
    assert not (tmp_path / "areas").exists()


# Who and where


def test_without_a_configured_identity_commits_are_by_a_stand_in(
    store: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    store.apply(put("a.html"))
    assert (
        store.git("log", "-1", "--format=%an <%ae> %cn <%ce>").strip() == f"{FALLBACK} {FALLBACK}"
    )
    with store.open() as repo:
        assert repo.identity() == FALLBACK


def test_author_and_committer_come_from_git_wherever_they_are_configured(
    store: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.git("config", "author.name", "Grace")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "bot@example.org")
    store.apply(put("a.html"))
    assert store.git("log", "-1", "--format=%an <%ae> %cn <%ce>").strip() == (
        "Grace <ada@example.org> Ada <bot@example.org>"
    )


def test_an_outer_git_does_not_redirect_the_store(
    kept: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Sandbox(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git" / "index"))
    with kept.open() as repo:
        commit = repo.apply(put("areas/new.html"))
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert kept.git("rev-parse", "HEAD").strip() == commit
    kept.assert_sound()


@pytest.mark.parametrize(
    ("settings", "attributes"),
    [
        ({"core.autocrlf": "true"}, ""),
        ({"core.autocrlf": "input"}, ""),
        ({"core.eol": "crlf"}, "*.html text\n"),
        ({}, "*.html text eol=lf\n"),
    ],
)
def test_line_endings_are_stored_as_git_add_would(
    store: Sandbox, settings: dict[str, str], attributes: str
) -> None:
    for name, value in settings.items():
        store.git("config", name, value)
    if attributes:
        store.write(".gitattributes", attributes)
        store.git("add", ".gitattributes")
        store.git("commit", "-qm", "attributes")
    store.apply(put("lf.html", b"one\ntwo\n"), put("crlf.html", b"one\r\ntwo\r\n"))
    assert (store.root / "crlf.html").read_bytes() == b"one\r\ntwo\r\n"
    assert store.status == ""
    store.git("rm", "-rq", "--cached", ".")
    store.git("add", "-A")
    assert store.status == ""
    # What a checkout makes of the blobs is not an edit of the user's.
    (store.root / "lf.html").unlink()
    store.git("checkout", "lf.html")
    store.apply(put("lf.html", b"three\n", sha(b"one\ntwo\n")))
    store.assert_sound()


def test_a_clean_filter_is_applied(store: Sandbox) -> None:
    store.git("config", "filter.shout.clean", "tr a-z A-Z")
    store.git("config", "filter.shout.smudge", "tr A-Z a-z")
    store.write(".gitattributes", "*.html filter=shout\n")
    store.git("add", "-A")
    store.git("commit", "-qm", "filter")
    store.apply(put("a.html", b"quiet\n"), put("b.txt", b"quiet\n"))
    assert store.files() == {
        ".gitattributes": "*.html filter=shout\n",
        "a.html": "QUIET\n",
        "b.txt": "quiet\n",
    }
    assert (store.root / "a.html").read_bytes() == b"quiet\n"
    store.apply(put("a.html", b"still\n", sha(b"QUIET\n")))
    store.assert_sound()


# A process that lives long


def test_within_a_burst_the_index_lags_but_is_locked_and_then_follows(kept: Sandbox) -> None:
    with kept.open(index_delay=30.0) as repo:
        for n in range(5):
            repo.apply(put(f"areas/{n}.html"))
        lock = kept.root / ".git" / "index.lock"
        assert lock.read_bytes().startswith(b"memhtml ")
        done = subprocess.run(
            ["git", "-C", str(kept.root), "add", "-A"], capture_output=True, check=False
        )
        assert b"index.lock" in done.stderr
        repo.flush()
        assert not lock.exists()
        kept.assert_sound()
        repo.apply(put("areas/last.html"))
    kept.assert_sound()


def test_a_burst_ends_by_itself(kept: Sandbox) -> None:
    with kept.open(index_delay=0.05) as repo:
        repo.apply(put("areas/new.html"))
        threading.Event().wait(1.0)
        kept.assert_sound()


def test_threads_of_one_process_take_turns(kept: Sandbox) -> None:
    failures: list[BaseException] = []

    def write(repo: Repo, name: str) -> None:
        try:
            for n in range(10):
                repo.apply(put(f"areas/{name}{n}.html", f"{name}{n}"))
        except BaseException as error:  # noqa: BLE001 - reported by the assertion below
            failures.append(error)

    with kept.open(index_delay=0.02) as repo:
        threads = [threading.Thread(target=write, args=(repo, name)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    assert sum(name.startswith("areas/") for name in kept.files()) == 41
    kept.assert_sound()


def test_a_changed_configuration_is_noticed(kept: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memhtml.store.commit._POLICY_SECONDS", 0.0)
    with kept.open() as repo:
        repo.apply(put("areas/1.html"))
        kept.git("config", "user.name", "Grace")
        repo.apply(put("areas/2.html"))
    assert kept.git("log", "-2", "--format=%an").split() == ["Grace", "Ada"]


# When it cannot be written


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount program here")
    if done.returncode:
        pytest.skip("not allowed to mount a small file system here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("data", [os.urandom(600_000).replace(b"\r", b""), os.urandom(600_000)])
def test_a_full_disk_is_an_error_and_nothing_has_changed(small_disk: Path, data: bytes) -> None:
    store = Sandbox(small_disk / "store")
    store.apply(put("areas/a.html", OLD))
    head = store.git("rev-parse", "HEAD")
    with pytest.raises(StorageFailure, match="No space left"):
        store.apply(put("areas/large.html", data))
    assert store.git("rev-parse", "HEAD") == head
    store.apply(put("areas/small.html"))
    store.assert_sound()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no POSIX permissions")
def test_a_store_that_cannot_be_written_says_so(kept: Sandbox) -> None:
    # Permissions do not bind root, so root becomes somebody else for a moment.
    ours, other = os.geteuid(), os.geteuid() or 65534
    subprocess.run(["chmod", "-R", "a-w", str(kept.root)], check=True)
    with kept.open() as repo:
        try:
            os.seteuid(other)
            with pytest.raises(StorageFailure, match="cannot write in"):
                repo.apply(put("areas/new.html"))
        finally:
            os.seteuid(ours)
            subprocess.run(["chmod", "-R", "u+w", str(kept.root)], check=True)
    kept.assert_sound()


def test_a_repository_git_distrusts_is_refused_with_gits_reason(
    kept: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(GitFailure, match="dubious ownership"):
        kept.apply(put("areas/new.html"))
    monkeypatch.delenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")
    kept.assert_sound()
