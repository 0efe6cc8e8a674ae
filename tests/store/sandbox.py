"""A throw-away repository for tests, with git at hand to say what is really there."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from memhtml.store.plan import Plan, Put
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["NOW", "Sandbox", "put", "sha"]

NOW = 1_790_000_000.0


def put(path: str, data: bytes | str = b"text\n", expect: str | None = None) -> Plan:
    content = data.encode() if isinstance(data, str) else data
    return Plan((Put(path, content, expect),), f"memhtml(write): {path}")


def sha(data: bytes) -> str:
    done = subprocess.run(
        ["git", "hash-object", "--stdin"], input=data, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


class Sandbox:
    """One repository."""

    def __init__(self, root: Path, *init: str) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "--template=", "-b", "main", *init)

    def git(self, *args: str, stdin: str = "", check: bool = True, **env: str) -> str:
        """Run git and return its standard output, which is often all a test wants to compare."""
        done = subprocess.run(
            ["git", "-C", str(self.root), *args],
            input=stdin,
            capture_output=True,
            text=True,
            env={**os.environ, **env},
            check=False,
        )
        assert not check or done.returncode == 0, (args, done.stderr)
        return done.stdout

    def open(
        self,
        *,
        durability: str = "none",
        wait_seconds: float = 5.0,
        index_delay: float = 0.0,
        on_step: Callable[[str], None] | None = None,
    ) -> Repo:
        return Repo.open(
            str(self.root),
            clock=lambda: NOW,
            durability=durability,
            wait_seconds=wait_seconds,
            index_delay=index_delay,
            on_step=on_step,
        )

    def apply(self, *plans: Plan) -> list[str | None]:
        with self.open() as repo:
            return [repo.apply(plan) for plan in plans]

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file as a user would, with an editor."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        return place

    @property
    def status(self) -> str:
        return self.git("status", "--porcelain", "-uall")

    @property
    def commits(self) -> int:
        return int(self.git("rev-list", "--count", "HEAD"))

    def files(self, commit: str = "HEAD") -> dict[str, str]:
        """Return every file of *commit* with its text."""
        names = self.git("ls-tree", "-r", "-z", "--name-only", commit).split("\0")
        return {name: self.git("show", f"{commit}:{name}") for name in names if name}

    def leftovers(self) -> list[str]:
        """Return what a writer should have cleaned up: locks, records, temporary files."""
        git_dir = self.root / ".git"
        locks = [path.name for path in git_dir.rglob("*.lock")]
        state = git_dir / "memhtml"
        return locks + [
            path.name
            for folder in ("tmp", "journal")
            if (state / folder).is_dir()
            for path in (state / folder).iterdir()
        ]

    def assert_sound(self) -> None:
        """Let git confirm that everything is in step and nothing is broken."""
        assert self.status == ""
        assert self.leftovers() == []
        done = subprocess.run(
            ["git", "-C", str(self.root), "fsck", "--strict", "--full", "--no-dangling"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
