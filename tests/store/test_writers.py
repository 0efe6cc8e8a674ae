"""The fast writer and the plain one must make the same commit; and what only the plain one can."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memhtml.model.errors import GitFailure
from memhtml.store import commit as engine
from memhtml.store.plan import Move, Plan, Put, Remove, Step
from tests.store.sandbox import Sandbox, put, sha

if TYPE_CHECKING:
    from memhtml.store.policy import Policy

SEGMENTS = st.sampled_from(["areas", "a.html", "b.html", "c", "é.html"])
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
TEXTS = st.sampled_from([b"", b"one\n", b"two", b"\0\xff", b"long\n" * 500])
# What a test does to one file: set it, move it, or take it away.
DEEDS = st.tuples(st.sampled_from(["put", "move", "remove"]), PATHS, PATHS, TEXTS)


def executable(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return place


def plans(rounds: list[list[tuple[str, str, str, bytes]]]) -> list[Plan]:
    """Turn *rounds* into plans that fit what the ones before them leave."""
    tree: dict[str, bytes] = {}
    made = []
    for number, deeds in enumerate(rounds):
        now, steps = dict(tree), list[Step]()
        for deed, path, other, data in deeds:
            target = other if deed == "move" else path
            clash = any(
                p.startswith(f"{target}/") or target.startswith(f"{p}/") for p in {*now, *tree}
            )
            if deed == "put" and not clash:
                expect = sha(now[path]) if path in now else None
                steps.append(Put(path, data, expect))
                now[path] = data
            elif deed == "move" and path in now and other not in now and not clash:
                steps.append(Move(path, other, data, sha(now.pop(path))))
                now[other] = data
            elif deed == "remove" and path in now:
                steps.append(Remove(path, sha(now.pop(path))))
        made.append(Plan(tuple(steps), f"memhtml(batch): round {number}", (("Key", "värde"),)))
        tree = now
    return made


def run(store: Sandbox, made: list[Plan], *, plain: bool) -> list[str | None]:
    original = engine.Committer.policy

    def policy(self: engine.Committer) -> Policy:
        return original(self)._replace(plain=plain)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.Committer, "policy", policy)
        return store.apply(*made)


# Each example runs dozens of git commands, so a failing one is shown as found: shrinking it would
# take minutes.
@settings(
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rounds=st.lists(st.lists(DEEDS, min_size=1, max_size=5), min_size=1, max_size=3))
def test_both_writers_make_the_same_commits(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[str, str, str, bytes]]]
) -> None:
    folder = tmp_path_factory.mktemp("twins")
    fast, plain = Sandbox(folder / "fast"), Sandbox(folder / "plain")
    made = [plan for plan in plans(rounds) if plan.steps]
    commits = run(fast, made, plain=False)
    assert commits == run(plain, made, plain=True)
    for twin in (fast, plain):
        twin.assert_sound()
        # The tree is also what git itself makes of the files on disk.
        twin.git("add", "-A")
        if made and commits[-1]:
            assert twin.git("write-tree") == twin.git("rev-parse", "HEAD^{tree}")


def test_both_writers_make_the_same_large_batch_and_log(tmp_path: Path) -> None:
    fast, plain = Sandbox(tmp_path / "fast"), Sandbox(tmp_path / "plain")
    batch = Plan(
        tuple(Put(f"areas/{n % 7}/{n}.html", b"%d\n" % n) for n in range(200)),
        "memhtml(batch): 200 memories",
    )
    made = [put("a.html"), batch]
    assert run(fast, made, plain=False) == run(plain, made, plain=True)
    for log in ("logs/HEAD", "logs/refs/heads/main"):
        assert (fast.root / ".git" / log).read_text() == (plain.root / ".git" / log).read_text()
    fast.assert_sound()
    plain.assert_sound()


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    store = Sandbox(tmp_path / "store", "--object-format=sha256")
    store.apply(put("areas/a.html", b"old\n"))
    with store.open() as repo:
        found = repo.find("areas/a.html")
        assert found is not None
        assert len(found.sha) == 64
        assert repo.sha_of(found.data) == found.sha
        repo.apply(Plan((Move("areas/a.html", "b.html", b"new\n", found.sha),), "move"))
        assert list(repo.read_blobs([e.sha for e in repo.list_tree("HEAD")])) == [
            (repo.sha_of(b"new\n"), b"new\n")
        ]
    assert store.files() == {"b.html": "new\n"}
    store.assert_sound()


@pytest.mark.parametrize("value", ["group", "0660"])
def test_a_shared_repository_keeps_its_permissions(tmp_path: Path, value: str) -> None:
    store = Sandbox(tmp_path / "store", f"--shared={value}")
    store.apply(put("areas/a.html"))
    objects = [p for p in (store.root / ".git" / "objects").glob("??/*") if p.is_file()]
    assert objects
    assert all(path.stat().st_mode & 0o040 for path in objects)
    store.assert_sound()


def test_commits_are_signed_when_the_user_signs(store: Sandbox, tmp_path: Path) -> None:
    program = executable(
        tmp_path / "gpg",
        "#!/bin/sh\ncat > /dev/null\n"
        "printf '[GNUPG:] SIG_CREATED D 1 8 00 0 KEY\\n' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nabc\\n-----END PGP SIGNATURE-----\\n'\n",
    )
    store.git("config", "gpg.program", str(program))
    store.git("config", "commit.gpgsign", "true")
    store.apply(put("areas/a.html"))
    assert "gpgsig -----BEGIN PGP SIGNATURE-----" in store.git("cat-file", "commit", "HEAD")
    store.assert_sound()


def test_a_signing_program_that_fails_leaves_everything_as_it_was(store: Sandbox) -> None:
    store.apply(put("areas/a.html"))
    store.git("config", "gpg.program", "false")
    store.git("config", "commit.gpgsign", "true")
    with pytest.raises(GitFailure):
        store.apply(put("areas/b.html"))
    store.assert_sound()


pytest_posix = pytest.mark.skipif(sys.platform == "win32", reason="hooks are shell scripts here")


@pytest_posix
def test_hooks_see_exactly_what_is_committed(store: Sandbox) -> None:
    hooks = store.root / ".git" / "hooks"
    told = store.root / ".git" / "told"
    store.write("staged.txt", "the user's\n")
    store.git("add", "staged.txt")
    executable(
        hooks / "pre-commit",
        f"#!/bin/sh\n(echo pre; git diff --cached --name-only --root) >> {told}\n",
    )
    executable(hooks / "commit-msg", '#!/bin/sh\nprintf "\\nChecked: yes\\n" >> "$1"\n')
    executable(
        hooks / "post-commit",
        f"#!/bin/sh\n(echo post; git log -1 --format=%s; git status --porcelain) >> {told}\n",
    )
    executable(hooks / "reference-transaction", f'#!/bin/sh\necho "ref $1" >> {told}\n')
    store.apply(put("areas/a.html"))
    said = told.read_text().splitlines()
    assert said[:2] == ["pre", "areas/a.html"]
    assert "ref committed" in said
    assert said[-3:] == ["post", "memhtml(write): areas/a.html", "A  staged.txt"]
    assert store.git("log", "-1", "--format=%B").endswith("Checked: yes\n\n")
    assert store.status == "A  staged.txt\n"


@pytest_posix
@pytest.mark.parametrize("name", ["pre-commit", "commit-msg", "reference-transaction"])
def test_a_hook_that_says_no_leaves_everything_as_it_was(store: Sandbox, name: str) -> None:
    store.apply(put("areas/a.html"))
    folder = store.root / "my hooks"
    executable(folder / name, "#!/bin/sh\necho 'not today' >&2\nexit 1\n")
    store.git("config", "core.hooksPath", "my hooks")
    store.git("add", "-A")
    store.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "hooks")
    with pytest.raises(GitFailure) as refused:
        store.apply(put("areas/b.html"))
    assert "not today" in refused.value.stderr
    assert not (store.root / "areas" / "b.html").exists()
    store.assert_sound()


@pytest_posix
def test_a_sample_hook_is_no_hook(store: Sandbox) -> None:
    sample = store.root / ".git" / "hooks" / "pre-commit.sample"
    executable(sample, "#!/bin/sh\nexit 1\n")
    (sample.parent / "commit-msg").write_text("not executable\n")
    store.apply(put("areas/a.html"))
    store.assert_sound()


def test_a_branch_that_is_another_name_for_a_branch_moves_the_right_one(store: Sandbox) -> None:
    store.apply(put("areas/a.html"))
    store.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    store.git("symbolic-ref", "HEAD", "refs/heads/alias")
    (commit,) = store.apply(put("areas/b.html"))
    assert store.git("rev-parse", "main", "alias", "HEAD").split() == [commit] * 3
    store.assert_sound()


def test_without_hard_links_the_same_is_done_by_copying(
    store: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    store.apply(put("areas/a.html", b"old\n"), put("areas/a.html", b"new\n", sha(b"old\n")))
    assert store.files() == {"areas/a.html": "new\n"}
    store.assert_sound()


def test_a_git_directory_on_another_file_system_works(tmp_path: Path) -> None:
    shared = Path("/dev/shm")  # noqa: S108 - the one place that is another file system nearly always
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("only one file system here")
    done = subprocess.run(
        ["mktemp", "-d", str(shared / "memhtml-XXXXXX")], capture_output=True, text=True, check=True
    )
    apart = Path(done.stdout.strip())
    try:
        store = Sandbox(tmp_path / "store", f"--separate-git-dir={apart / 'git'}")
        store.apply(put("areas/a.html", b"old\n"), put("areas/a.html", b"new\n", sha(b"old\n")))
        assert store.files() == {"areas/a.html": "new\n"}
        assert [p.name for p in (store.root / "areas").iterdir()] == ["a.html"]
        assert store.status == ""
    finally:
        subprocess.run(["rm", "-rf", str(apart)], check=True)
