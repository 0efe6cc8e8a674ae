from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import Result, call

if TYPE_CHECKING:
    from pathlib import Path

GATE = "areas/inbox/gate-hours.html"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    root = tmp_path / "store"
    assert call("init", "--repo", str(root)).status == 0
    write(root, "The gate opens at 06:30.", "--session-id", "s-1")
    return root


def run(store: Path, *argv: str, is_terminal: bool = False) -> Result:
    return call(*argv, "--repo", str(store), is_terminal=is_terminal)


def write(store: Path, claim: str, *more: str, title: str = "Gate hours") -> None:
    said = ("--title", title, "--type", "semantic", "--claim", claim, *more)
    assert run(store, "write", *said).status == 0


def git(root: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *args], capture_output=True, text=True, check=True
    )
    return done.stdout


def archived(store: Path) -> str:
    done = run(store, "archive", GATE, "--reason", "torn down")
    assert done.status == 0, done.out
    return f"archive/{git(store, 'ls-files', 'archive/2*').split('/')[1]}/{GATE}"


def test_history_tells_versions_with_their_words(store: Path) -> None:
    old = archived(store)
    data = run(store, "history", GATE).data
    assert data["path"] == old
    newest, first = data["versions"]
    assert (newest["operation"], newest["movedFrom"], newest["path"]) == ("archive", GATE, old)
    assert newest["reason"] == "torn down"
    assert newest["words"] == [{"kind": "same", "text": "The gate opens at 06:30."}]
    assert (first["operation"], first["sessionId"], first["movedFrom"]) == ("write", "s-1", None)
    assert first["author"] == "Ada <ada@example.org>"
    assert first["words"] == [{"kind": "added", "text": "The gate opens at 06:30."}]
    assert first["sha"] == git(store, "rev-parse", f"{first['commitSha']}:{GATE}").strip()


def test_history_on_a_terminal_shows_the_words_that_changed(store: Path) -> None:
    place = store / GATE
    place.write_bytes(place.read_bytes().replace(b"06:30", b"07:00 on a \x1b[31mSunday"))
    git(store, "commit", "-q", "-a", "-m", "new hours")
    old = archived(store)
    text = run(store, "history", old, is_terminal=True).out
    assert "\x1b" not in text
    assert f"{GATE} -> {old}" in text
    assert "  reason torn down\n" in text
    assert "  The gate opens at [-06:30.-] {+07:00 on a \ufffd[31mSunday.+}\n" in text
    assert "  session s-1\n" in text
    assert " edit new hours\n" in text


def test_blame_names_commit_and_session_of_each_sentence(store: Path) -> None:
    place = store / GATE
    place.write_bytes(place.read_bytes().replace(b"</mark>", b"</mark> Ada has the key."))
    git(store, "commit", "-q", "-a", "-m", "the key")
    rows = run(store, "blame", GATE).data["sentences"]
    assert [(row["sentence"], row["sessionId"], row["summary"]) for row in rows] == [
        ("The gate opens at 06:30.", "s-1", "Gate hours"),
        ("Ada has the key.", None, "the key"),
    ]
    text = run(store, "blame", GATE, is_terminal=True).out
    assert "write Gate hours\n  session s-1\n  The gate opens at 06:30.\n" in text
    assert text.endswith("edit the key\n  Ada has the key.\n")


@pytest.mark.parametrize("command", ["history", "blame"])
def test_a_memory_that_never_was_is_not_found(store: Path, command: str) -> None:
    result = run(store, command, "areas/inbox/nothing.html")
    assert (result.status, result.json["code"]) == (1, "ERR_PATH_NOT_FOUND")


def test_sync_tells_its_states_and_publishes_before_it_pushes(store: Path, tmp_path: Path) -> None:
    assert run(store, "sync").data["state"] == "no-remote"
    assert "no remote" in run(store, "sync", is_terminal=True).out
    hub, other = tmp_path / "hub", tmp_path / "other"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(hub))
    git(store, "remote", "add", "origin", str(hub))
    assert run(store, "publish").status == 0
    assert run(store, "sync", is_terminal=True).out.endswith("pushed to origin/main\n")
    git(tmp_path, "clone", "-q", str(hub), str(other))
    write(other, "The barn is dry.", title="Barn")
    assert run(other, "sync").data["ahead"] == 1
    write(store, "The owls are grey.", title="Owls")
    done = run(store, "sync").data
    assert (done["state"], done["pushed"]) == ("merged", True)
    assert done["after"] == git(hub, "rev-parse", "main").strip()
    page = git(hub, "show", "main:areas/inbox/index.html")
    assert "barn.html" in page
    assert "owls.html" in page


def test_a_conflict_is_told_with_both_blobs_and_exit_status_1(store: Path, tmp_path: Path) -> None:
    hub, other = tmp_path / "hub", tmp_path / "other"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(hub))
    git(store, "remote", "add", "origin", str(hub))
    assert run(store, "sync").status == 0
    git(tmp_path, "clone", "-q", str(hub), str(other))
    for root, hour in ((store, b"07:00"), (other, b"08:00")):
        place = root / GATE
        place.write_bytes(place.read_bytes().replace(b"06:30", hour))
        git(root, "commit", "-q", "-a", "-m", "hours")
    assert run(other, "sync").status == 0
    result = run(store, "sync")
    assert result.status == 1
    assert result.data["state"] == "conflict"
    assert result.data["mergeOpen"] is False
    assert result.data["conflicts"] == [
        {
            "path": GATE,
            "ourSha": git(store, "rev-parse", f"HEAD:{GATE}").strip(),
            "theirSha": git(other, "rev-parse", f"HEAD:{GATE}").strip(),
            "reason": "both sides changed the article",
        }
    ]
    text = run(store, "sync", is_terminal=True).out
    assert f"  conflict {GATE}\n    both sides changed the article: " in text
    kept = run(store, "sync", "--keep-conflicts", is_terminal=True)
    assert kept.status == 1
    assert "git merge --abort takes it back" in kept.out
    assert "<<<<<<< ours" in (store / GATE).read_text()


def test_a_remote_that_is_gone_is_an_error_of_its_own(store: Path) -> None:
    git(store, "remote", "add", "origin", str(store / "gone"))
    result = run(store, "sync")
    assert (result.status, result.json["code"]) == (1, "ERR_REMOTE")


def test_the_driver_merges_into_the_second_file_and_says_nothing(
    store: Path, tmp_path: Path
) -> None:
    memory = (store / GATE).read_bytes()
    tagged = memory.replace(b"</head>", b'<meta name="memhtml-tag" content="a">\n</head>')
    names = [tmp_path / name for name in ("base", "ours", "theirs")]
    for name, data in zip(names, (memory, tagged, memory.replace(b"06:30", b"07:00")), strict=True):
        name.write_bytes(data)
    result = call("merge-driver", *map(str, names), GATE)
    assert (result.status, result.out) == (0, "")
    assert names[1].read_bytes() == tagged.replace(b"06:30", b"07:00")
    names[2].write_bytes(memory.replace(b"06:30", b"08:00"))
    result = call("merge-driver", *map(str, names), GATE, "--json")
    assert (result.status, result.data) == (1, {"path": GATE, "conflicts": ["article"]})
    assert b"08:00" in names[1].read_bytes()
    assert call("merge-driver", *map(str, names), "notes.txt").status == 1
    assert call("merge-driver", "nowhere", *map(str, names[1:]), GATE).status == 1
