"""What is read of a repository without git is what git says."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from memhtml.corpus import Corpus
from memhtml.store.gitdir import list_refs, locate

if TYPE_CHECKING:
    from pathlib import Path


def git(root: Path, *argv: str) -> str:
    done = subprocess.run(("git", *argv), cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def test_refs_are_listed_as_git_lists_them_loose_and_packed(tmp_path: Path) -> None:
    root = tmp_path / "store"
    Corpus.init(root)
    where = locate(str(root))
    assert list_refs(where, "refs/heads/sleep") == []
    for name in ("sleep/2026-08-02", "sleep/2026-08-03", "sleepy", "mine/sleep/2026-08-04"):
        git(root, "branch", name)
    git(root, "pack-refs", "--all")
    git(root, "branch", "--delete", "sleep/2026-08-03")
    git(root, "branch", "sleep/2026-08-05")
    (root / ".git/refs/heads/sleep/2026-08-06.lock").touch()
    listed = git(root, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/sleep/")
    assert list_refs(where, "refs/heads/sleep") == listed.split() == ["2026-08-02", "2026-08-05"]


def test_where_refs_are_not_files_only_git_can_tell(tmp_path: Path) -> None:
    root = tmp_path / "store"
    Corpus.init(root)
    # What a repository with reftables shows to whoever reads files.
    (root / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    assert list_refs(locate(str(root)), "refs/heads/sleep") is None
