"""A store where something is unusual around it: it works, or says clearly why not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.corpus import Corpus
from memhtml.doctor.doctor import examine
from memhtml.model.errors import MemhtmlError, StorageFailure
from tests.safety.store import Store, draft

if TYPE_CHECKING:
    from collections.abc import Iterator

DOORS = ("corpus", "command")
CLAIM = "The sluice opens at noon."
OTHER = "The weir was mended in May."

by_every_door = pytest.mark.parametrize("door", DOORS)
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions and scripts")


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def assert_works(store: Store, door: str) -> None:
    path = store.write(door, CLAIM)
    assert path.endswith(".html"), path
    assert store.found(door, "sluice") == [path]
    store.assert_whole()
    with Corpus.open(store.root) as corpus:
        assert examine(corpus).is_healthy


def assert_refused(store: Store, door: str, code: str) -> None:
    """Assert that a write is refused with *code*, and that all is as it was and can be read."""
    before = store.git("rev-parse", "HEAD"), store.status
    known = store.found(door, "weir")
    assert store.write(door, CLAIM) == code
    assert (store.git("rev-parse", "HEAD"), store.status) == before
    assert store.found(door, "sluice") == []
    assert store.found(door, "weir") == known


@by_every_door
def test_what_the_user_has_staged_and_edited_is_left_exactly_so(store: Store, door: str) -> None:
    """Store weakness 10."""
    edited = store.write(door, OTHER)
    (store.root / "notes.txt").write_text("mine")
    store.git("add", "notes.txt")
    (store.root / "notes.txt").write_text("mine, and more")
    file = store.root / edited
    file.write_text(file.read_text().replace("May", "June"))
    path = store.write(door, CLAIM)
    assert store.git("show", "--name-only", "--format=", "HEAD").split() == [path]
    assert store.status.splitlines() == [f" M {edited}", "AM notes.txt"]
    assert store.git("show", ":notes.txt") == "mine"
    assert store.found(door, "sluice") == [path]
    assert store.found(door, "June") == [edited]
    assert store.found(door, "May") == []


@posix
@by_every_door
def test_hooks_that_agree_run_and_hooks_that_refuse_are_heard(store: Store, door: str) -> None:
    store.write(door, OTHER)
    hook = executable(store.root / ".git" / "hooks" / "pre-commit", "#!/bin/sh\ntouch .git/ran\n")
    assert_works(store, door)
    assert (store.root / ".git" / "ran").exists()
    executable(hook, "#!/bin/sh\necho 'not today' >&2\nexit 1\n")
    before = store.git("rev-parse", "HEAD")
    assert store.write(door, "A third fact.") == "ERR_GIT"
    assert store.git("rev-parse", "HEAD") == before
    assert store.found(door, "third") == []
    store.assert_whole()


@posix
@by_every_door
def test_commits_are_signed_where_the_user_signs(store: Store, door: str, tmp_path: Path) -> None:
    program = executable(
        tmp_path / "gpg",
        "#!/bin/sh\ncat > /dev/null\n"
        "printf '[GNUPG:] SIG_CREATED D 1 8 00 0 KEY\\n' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nabc\\n-----END PGP SIGNATURE-----\\n'\n",
    )
    store.git("config", "gpg.program", str(program))
    store.git("config", "commit.gpgsign", "true")
    assert_works(store, door)
    assert "gpgsig" in store.git("cat-file", "commit", "HEAD")
    store.git("config", "gpg.program", "false")
    assert store.write(door, OTHER) == "ERR_GIT"
    assert store.found(door, "weir") == []
    store.assert_whole()


@by_every_door
def test_line_endings_that_git_converts_lose_nothing(store: Store, door: str) -> None:
    store.git("config", "core.autocrlf", "true")
    (store.root / ".gitattributes").write_text("*.html text\n")
    path = store.write(door, CLAIM)
    assert store.found(door, "sluice") == [path]
    assert "\r" not in store.git("cat-file", "blob", f"HEAD:{path}")
    # As git would check it out, and as an editor on that system may leave it.
    (store.root / path).unlink()
    store.git("checkout", "--", path)
    assert b"\r\n" in (store.root / path).read_bytes()
    assert store.found(door, "sluice") == [path]
    with Corpus.open(store.root, durability="none") as corpus:
        assert [f for f in examine(corpus).findings if f.code == "index-drift"] == []
        archived = corpus.archive(path, reason="past").archive_path
    assert store.found(door, "sluice") == []
    assert archived in store.git("ls-tree", "-r", "--name-only", "HEAD")


@by_every_door
def test_a_linked_working_tree_is_a_store_of_its_own(
    store: Store, door: str, tmp_path: Path
) -> None:
    shared = store.write(door, OTHER)
    store.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Store(tmp_path / "side")
    path = side.write(door, CLAIM)
    assert side.found(door, "sluice") == [path]
    assert side.found(door, "weir") == [shared]
    assert side.status == ""
    assert store.found(door, "sluice") == []
    store.assert_whole()


@by_every_door
def test_a_detached_head_is_read_and_not_written(store: Store, door: str) -> None:
    store.write(door, OTHER)
    store.git("checkout", "-q", "--detach")
    assert_refused(store, door, "ERR_GIT")


@by_every_door
def test_a_bare_repository_is_no_store(tmp_path: Path, door: str) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    before = sorted((tmp_path / "bare").rglob("*"))
    assert Store(tmp_path / "bare").write(door, CLAIM) == "ERR_NOT_A_STORE"
    assert sorted((tmp_path / "bare").rglob("*")) == before


@by_every_door
def test_a_store_reached_through_a_symlink_is_the_same_store(
    store: Store, door: str, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(store.root, target_is_directory=True)
    assert_works(Store(tmp_path / "link"), door)
    assert len(store.found(door, "sluice")) == 1


@by_every_door
def test_a_name_that_differs_in_case_alone_is_a_conflict(store: Store, door: str) -> None:
    store.write(door, OTHER, path="areas/inbox/weir.html")
    for twin in ("areas/inbox/Weir.html", "areas/Inbox/other.html"):
        assert store.write(door, CLAIM, path=twin) == "ERR_WRITE_CONFLICT"
    store.assert_whole()


# When it cannot be written


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no POSIX users")
def test_a_checkout_nobody_may_write_is_searched_and_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Permissions do not bind root, so root becomes somebody else for a moment; and that somebody
    # must be able to come as far as the store, and takes git's word for whose it is.
    ours, other = os.geteuid(), os.geteuid() or 65534
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "*")
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    monkeypatch.setenv("HOME", str(folder))
    store = Store.init(folder / "store")
    path = store.write("corpus", OTHER)
    assert store.found("corpus", "weir") == [path]
    subprocess.run(["chmod", "-R", "a-w,a+rX", str(store.root)], check=True)
    try:
        os.seteuid(other)
        with Corpus.open(store.root) as corpus:
            assert [hit.path for hit in corpus.search("weir").hits] == [path]
            with pytest.raises(StorageFailure):
                corpus.write(draft("A fact", CLAIM))
            assert corpus.search("sluice").hits == ()
    finally:
        os.seteuid(ours)
        subprocess.run(["chmod", "-R", "u+w", str(store.root)], check=True)
    store.assert_whole()
    shutil.rmtree(folder)


class Disk:
    """A file system of a few megabytes."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def fill(self, spare: int) -> None:
        """Leave no more than about *spare* bytes."""
        ballast = self.place / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 4096):
                pass
        os.truncate(ballast, max(0, ballast.stat().st_size - spare))

    def empty(self) -> None:
        (self.place / "ballast").unlink(missing_ok=True)


def mounted(place: Path, size: str) -> Iterator[Disk]:
    place.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:  # noqa: PLW1510
        pytest.skip("not allowed to mount a small file system here")
    try:
        yield Disk(place)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    yield from mounted(tmp_path / "disk", "8m")


@by_every_door
def test_on_a_disk_that_fills_up_a_write_is_whole_or_refused(disk: Disk, door: str) -> None:
    store = Store.init(disk.place / "store")
    kept = {store.write(door, OTHER)}
    outcomes = set()
    for n, spare in enumerate((0, 4096, 8192, 12288, 24576, 49152, 131072, 1 << 20)):
        disk.fill(spare)
        answer = store.write(door, f"The lock number {n} is shut.")
        disk.empty()
        outcomes.add(answer if answer.startswith("ERR") else "written")
        if answer.endswith(".html"):
            kept.add(answer)
        with Corpus.open(store.root) as corpus:
            assert set(corpus.choose()) == kept
        assert set(store.committed()) == kept
    assert outcomes == {"ERR_STORAGE", "written"}
    assert store.write(door, CLAIM).endswith(".html")
    store.assert_whole()


@by_every_door
def test_a_full_disk_under_the_index_alone_is_no_failure_of_a_write(
    store: Store, door: str
) -> None:
    """What is committed is safe, so it is acknowledged; the index follows when it can."""
    store.write(door, OTHER)
    cache = store.root / ".memhtml" / "cache"
    shutil.rmtree(cache)
    for disk in mounted(cache, "1m"):
        with Corpus.open(store.root) as corpus:
            corpus.update()
        disk.fill(10 * 4096)  # enough to open the index, too little to write to it
        if door == "command":
            answer = store.run("write", "--title", "A fact", "--type", "semantic", "--claim", CLAIM)
            assert answer.status == 0, answer
            assert answer.data["commitSha"]
            told = answer.err
        else:
            heard: list[str] = []
            with Corpus.open(store.root, on_lag=heard.append) as corpus:
                assert corpus.write(draft("A fact", CLAIM)).commit
            told = "".join(heard)
        assert "search index could not follow" in told
        disk.empty()
        assert len(store.found(door, "sluice")) == 1
    assert len(store.found(door, "sluice")) == 1
    assert store.status == ""


def test_a_read_only_file_system_is_searched_and_not_written(disk: Disk) -> None:
    store = Store.init(disk.place / "store")
    path = store.write("corpus", OTHER)
    if subprocess.run(["mount", "-o", "remount,ro", str(disk.place)], check=False).returncode:
        pytest.skip("not allowed to remount here")
    for door in DOORS:
        assert store.found(door, "weir") == [path]
        assert_refused(store, door, "ERR_STORAGE")


# After the commit


def test_an_index_that_cannot_follow_does_not_undo_a_write(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StorageFailure("the disk under the index is full")

    heard: list[str] = []
    with Corpus.open(store.root, on_lag=heard.append) as corpus:
        corpus.update()
        with monkeypatch.context() as patch:
            patch.setattr("memhtml.index.writer.write_state", fail)
            written = corpus.write(draft("A fact", CLAIM))
        assert written.commit == store.git("rev-parse", "HEAD").strip()
        assert len(heard) == 1
        assert "the next call does it" in heard[0]
        assert [hit.path for hit in corpus.search("sluice").hits] == [written.path]
        again = corpus.write(draft("A fact", CLAIM))
    assert again.deduped
    store.assert_whole()


def test_a_file_that_cannot_follow_does_not_undo_a_write(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    heard: list[str] = []
    with Corpus.open(store.root, on_lag=heard.append) as corpus:
        with monkeypatch.context() as patch:
            patch.setattr("memhtml.store.commit.Committer._place", fail)
            written = corpus.write(draft("A fact", CLAIM))
        assert written.commit == store.git("rev-parse", "HEAD").strip()
        assert "could not follow" in heard[0]
        assert store.found("corpus", "sluice") == [written.path] or store.status != ""
        corpus.write(draft("A fact", OTHER))
        assert [hit.path for hit in corpus.search("sluice").hits] == [written.path]
    store.assert_whole()


# What vanished


@by_every_door
def test_most_memories_vanishing_at_once_stops_reading_and_empties_nothing(
    store: Store, door: str
) -> None:
    with Corpus.open(store.root, durability="none") as corpus:
        corpus.apply([draft("Weir", f"The weir number {n} holds.") for n in range(30)])
        corpus.update()
    (store.root / "areas").rename(store.root / "elsewhere")
    if door == "command":
        for argv in (
            ("search", "weir"), ("index", "update"), ("index", "rebuild"), ("doctor",), ("status",),
        ):  # fmt: skip
            answer = store.run(*argv)
            assert (answer.status, answer.json["code"]) == (1, "ERR_STORAGE"), argv
            assert "30 of 30 memories are missing" in answer.json["error"]
            assert f"git -C {store.root} restore ." in answer.json["suggestions"]
    else:
        with Corpus.open(store.root) as corpus:
            for act in (corpus.update, corpus.rebuild, lambda: examine(corpus)):
                with pytest.raises(MemhtmlError, match="30 of 30 memories are missing"):
                    act()
            assert corpus.index_status().files == 30
    (store.root / "elsewhere").rename(store.root / "areas")
    assert len(store.found(door, "weir")) == 10
    store.assert_whole()


def test_what_commits_remove_is_gone_however_much_it_is(store: Store) -> None:
    with Corpus.open(store.root, durability="none") as corpus:
        corpus.apply([draft("Weir", f"The weir number {n} holds.") for n in range(30)])
        corpus.update()
        for path in corpus.choose()[:15]:
            corpus.archive(path, reason="gone")
        assert len(corpus.choose()) == 15
        store.git("rm", "-qr", "areas")
        store.git("commit", "-qm", "by hand")
        assert corpus.search("weir").hits == ()
        assert corpus.index_status().files == 15


def test_a_few_files_deleted_by_hand_are_an_edit_like_any_other(store: Store) -> None:
    with Corpus.open(store.root, durability="none") as corpus:
        corpus.apply([draft("Weir", f"The weir number {n} holds.") for n in range(12)])
        for path in corpus.choose()[:9]:
            (store.root / path).unlink()
        assert len(corpus.search("weir", limit=50).hits) == 3


@posix
def test_in_a_folder_that_is_gone_a_store_is_reached_by_its_whole_path_alone(
    store: Store, tmp_path: Path
) -> None:
    """It was a traceback; and a word like "." must not come to mean another folder."""
    path = store.write("corpus", CLAIM)
    gone = tmp_path / "gone"

    def ask(*argv: str) -> dict[str, Any]:
        gone.mkdir()
        program = [sys.executable, "-m", "memhtml", *argv, "--json"]
        script = ["sh", "-c", f'rmdir "{gone}"; exec "$@"', "sh", *program]
        ran = subprocess.run(script, cwd=gone, capture_output=True, check=False)
        assert b"Traceback" not in ran.stderr
        document = json.loads(ran.stdout)
        assert isinstance(document, dict)
        return document

    found = ask("search", "sluice", "--repo", str(store.root))
    assert [hit["path"] for hit in found["data"]["hits"]] == [path]
    for words in (("init", "--repo", "x"), ("check", "."), ("status", "--repo", "x")):
        assert ask(*words)["error"] == "the folder this was called in is gone"
