from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.store.workers import start

if TYPE_CHECKING:
    from tests.store.sandbox import Sandbox

WRITERS = 8
WRITES = 20


@pytest.mark.parametrize("delay", [0.0, 0.02])
def test_no_write_of_many_processes_is_lost(store: Sandbox, delay: float) -> None:
    store.write("notes.txt", "the user's\n")
    store.git("add", "-A")
    store.git("commit", "-qm", "notes")
    children = [start(store, "write", f"w{n}", WRITES, delay) for n in range(WRITERS)]
    acknowledged = []
    for child in children:
        out, complaint = child.communicate()
        assert child.returncode == 0, complaint
        acknowledged += out.split()
    assert len(set(acknowledged)) == WRITERS * WRITES
    history = store.git("rev-list", "HEAD").split()
    assert set(acknowledged) == set(history[:-1])
    files = store.files()
    del files["notes.txt"]
    assert files == {
        f"areas/w{w}/{n}.html": f"w{w} {n}\n" for w in range(WRITERS) for n in range(WRITES)
    }
    # Each commit has the one file it was made for.
    touched = store.git("log", "--format=", "--name-only", "--first-parent").split()
    assert len(touched) == WRITERS * WRITES + 1
    store.assert_sound()


def test_a_users_own_commits_and_ours_both_survive(store: Sandbox) -> None:
    store.write("notes.txt", "0\n")
    store.git("add", "-A")
    store.git("commit", "-qm", "0")
    child = start(store, "write", "w", 40, 0.0)
    done = 0
    for n in range(1, 200):
        store.write("notes.txt", f"{n}\n")
        tried = subprocess.run(
            ["git", "-C", str(store.root), "commit", "-qam", f"user {n}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if tried.returncode == 0:
            done += 1
        else:  # git's ordinary words for "try again"
            assert "lock" in tried.stderr, tried.stderr
        if child.poll() is not None:
            break
    _, complaint = child.communicate()
    assert child.returncode == 0, complaint
    store.git("commit", "-qam", "last", check=False)
    subjects = store.git("log", "--format=%s").splitlines()
    assert sum(s.startswith("memhtml(write)") for s in subjects) == 40
    assert sum(s.startswith("user") for s in subjects) == done
    assert sum(name.startswith("areas/") for name in store.files()) == 40
    store.assert_sound()
