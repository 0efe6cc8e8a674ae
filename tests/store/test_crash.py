"""``kill -9`` at every step of a commit, and what the next writer makes of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.store.sandbox import Sandbox, put
from tests.store.worker import BURST, PLANS
from tests.store.workers import crash

if TYPE_CHECKING:
    from pathlib import Path

STEPS = (
    "objects written",
    "journal written",
    "ref locked",
    "ref moved",
    "file placed",
    "files placed",
    "index written",
    "index unlocked",
)
BEFORE = {"areas/a.html": "old\n", "areas/b.html": "other\n"}


@pytest.fixture
def store(tmp_path: Path) -> Sandbox:
    store = Sandbox(tmp_path / "store")
    store.apply(put("areas/a.html", "old\n"), put("areas/b.html", "other\n"))
    return store


def steps_of(store: Sandbox, plan: str) -> list[str]:
    """Return the steps that *plan* takes, tried on a copy."""
    copy = store.root.parent / "copy"
    shutil.copytree(store.root, copy)
    heard: list[str] = []
    twin = Sandbox(copy)
    with twin.open(on_step=heard.append) as repo:
        repo.apply(PLANS[plan])
    return heard


def recover(store: Sandbox) -> None:
    with store.open() as repo, repo.writing():
        pass


@pytest.mark.parametrize("plan", PLANS)
def test_after_a_kill_at_any_step_all_or_nothing_of_a_plan_is_there(
    store: Sandbox, plan: str, tmp_path: Path
) -> None:
    steps = steps_of(store, plan)
    assert set(steps) == set(STEPS)
    after = Sandbox(tmp_path / "copy").files()
    # A batch places many files; dying after the first, a middle and the last of them will do.
    placed = [n for n, step in enumerate(steps) if step == "file placed"]
    skipped = set(placed) - {placed[0], placed[len(placed) // 2], placed[-1]}
    pristine = tmp_path / "pristine"
    store.root.rename(pristine)
    for at in range(len(steps)):
        if at in skipped:
            continue
        shutil.copytree(pristine, store.root)
        crash(store, plan, at)
        recover(store)
        landed = at >= steps.index("ref moved")
        assert store.files() == (after if landed else BEFORE), steps[at]
        store.assert_sound()
        shutil.rmtree(store.root)


@pytest.mark.parametrize("at", range(8))
def test_the_next_write_comes_through_after_a_crash_at_any_step(store: Sandbox, at: int) -> None:
    crash(store, "write", at)
    store.apply(put("areas/next.html"))
    assert "areas/next.html" in store.files()
    store.assert_sound()


def test_a_crash_before_the_branch_moved_leaves_only_a_lock_that_says_whose_it_is(
    store: Sandbox,
) -> None:
    crash(store, "write", STEPS.index("ref locked"))
    lock = store.root / ".git" / "index.lock"
    assert lock.read_text().startswith("memhtml ")
    assert store.status == ""
    assert store.files() == BEFORE


def test_what_the_user_wrote_after_a_crash_is_kept(store: Sandbox) -> None:
    crash(store, "archive", STEPS.index("ref moved"))
    store.write("areas/a.html", "edited by the user\n")
    store.write("projects/x/new.html", "made by the user\n")
    recover(store)
    assert (store.root / "areas" / "a.html").read_text() == "edited by the user\n"
    assert (store.root / "projects" / "x" / "new.html").read_text() == "made by the user\n"
    assert (store.root / "areas" / "b.html").read_text() == "links\n"
    assert (store.root / "archive" / "2026" / "areas" / "a.html").read_text() == "archived\n"
    assert store.status == " M projects/x/new.html\n?? areas/a.html\n"
    assert store.leftovers() == []


def test_what_others_committed_after_a_crash_is_kept(store: Sandbox) -> None:
    crash(store, "change", STEPS.index("ref moved"))
    (store.root / ".git" / "index.lock").unlink()
    store.git("checkout", "-q", "HEAD", "--", ".")
    store.write("areas/a.html", "changed once more\n")
    store.git("commit", "-qam", "the user's")
    recover(store)
    assert store.files()["areas/a.html"] == "changed once more\n"
    store.assert_sound()


def test_after_a_crash_and_another_branch_nothing_is_carried_over(store: Sandbox) -> None:
    crash(store, "change", STEPS.index("ref moved"))
    (store.root / ".git" / "index.lock").unlink()
    store.git("switch", "-q", "--discard-changes", "-c", "other", "HEAD~1")
    recover(store)
    assert (store.root / "areas" / "a.html").read_text() == "old\n"
    store.assert_sound()


def test_another_programs_lock_is_never_taken_for_ours(store: Sandbox) -> None:
    crash(store, "write", STEPS.index("objects written"))
    lock = store.root / ".git" / "index.lock"
    lock.write_bytes(b"")
    with store.open(wait_seconds=0.05) as repo, repo.writing():
        assert lock.exists()
    lock.unlink()
    store.assert_sound()


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("at", range(5))
def test_a_crash_while_recovering_is_recovered_from(store: Sandbox, at: int, times: int) -> None:
    crash(store, "archive", STEPS.index("ref moved"))
    for _ in range(times):
        # The first steps this takes are those of the recovery.
        crash(store, "write", at)
    recover(store)
    files = store.files()
    assert files.pop("areas/new.html", "new\n") == "new\n"
    assert files == {
        "archive/2026/areas/a.html": "archived\n",
        "areas/b.html": "links\n",
        "projects/x/new.html": "new\n",
    }
    store.assert_sound()


def test_a_name_used_again_within_a_burst_follows_after_a_kill_at_any_step(
    store: Sandbox, tmp_path: Path
) -> None:
    pristine = tmp_path / "pristine"
    shutil.copytree(store.root, pristine)
    heard: list[str] = []
    states = [BEFORE]
    with store.open(on_step=heard.append) as repo, repo.writing():
        for plan in BURST:
            repo.apply(plan)
            states.append(store.files())
    for at in range(len(heard)):
        shutil.rmtree(store.root)
        shutil.copytree(pristine, store.root)
        crash(store, "burst", at)
        recover(store)
        assert store.files() == states[heard[: at + 1].count("ref moved")], (at, heard[at])
        store.assert_sound()


def test_a_record_of_which_nothing_is_left_is_dropped(store: Sandbox) -> None:
    journal = store.root / ".git" / "memhtml" / "journal"
    (journal / "000000.json").write_bytes(b"\0" * 100)
    (journal / "000001.json.part").write_bytes(b"{")
    recover(store)
    store.assert_sound()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for git")
def test_a_git_killed_with_us_over_the_index_locks_nobody_out(
    store: Sandbox, tmp_path: Path
) -> None:
    """A kill of the whole process group leaves git's own lock on the copy it was writing."""
    armed = tmp_path / "armed"
    armed.touch()
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(
        "#!/bin/sh\n"
        f'for a in "$@"; do [ "$a" = update-index ] && [ -e {armed} ] && {{ rm {armed}; '
        ': > "$GIT_INDEX_FILE.lock"; kill -9 $PPID; exit 1; }; done\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    fake.chmod(0o755)
    code = (
        "import sys; from memhtml.corpus import Corpus; from memhtml.model.memory import Draft;"
        "from memhtml.model.vocabulary import MemoryType\n"
        "with Corpus.open(sys.argv[1]) as c:\n"
        "    c.write(Draft(title='B', claim='B c.', memory_type=MemoryType.SEMANTIC))\n"
    )
    path = f"{fake.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", code, str(store.root)],
        env={**os.environ, "PATH": path, "PYTHONPATH": "src"},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    store.apply(put("areas/next.html"))
    store.assert_sound()
    assert {"areas/inbox/b.html", "areas/next.html"} <= store.files().keys()
