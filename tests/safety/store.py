"""A store to hurt, with git and the real command line at hand to say what is really there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.corpus import Corpus
from memhtml.doctor.doctor import examine, mend
from memhtml.format.parse import parse
from memhtml.model.errors import MemhtmlError
from memhtml.model.memory import Draft
from memhtml.model.paths import path_fault
from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Answer", "Store", "draft", "environment", "token"]

_LETTERS = "bcdfghjklmnpqrtvwx"


class Answer(NamedTuple):
    """What a call of the command line came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def data(self) -> dict[str, Any]:
        assert "data" in self.json, self.out + self.err
        found = self.json["data"]
        assert isinstance(found, dict)
        return found


class Store:
    """One store."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def init(cls, root: Path) -> Store:
        Corpus.init(root)
        store = cls(root)
        # Git's own housekeeping would run beside what is tested.
        store.git("config", "gc.auto", "0")
        return store

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.root), *args], capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, (args, done.stderr)
        return done.stdout

    def run(self, *argv: str, stdin: str = "", **env: str) -> Answer:
        """Call the command line as a user does, in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "memhtml", *argv, "--repo", str(self.root), "--json"],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=environment(**env),
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Answer(done.returncode, done.stdout, done.stderr)

    def write(self, door: str, claim: str, path: str | None = None) -> str:
        """Write a memory by that door; return its path, or the code of the refusal."""
        if door == "command":
            placed = ("--path", path) if path else ()
            answer = self.run(
                *("write", "--title", "A fact", "--type", "semantic", "--claim", claim), *placed
            )
            return str(answer.json["code"] if answer.status else answer.data["path"])
        try:
            with Corpus.open(self.root, durability="none") as corpus:
                return corpus.write(draft("A fact", claim, path=path)).path
        except MemhtmlError as error:
            return error.code

    def found(self, door: str, words: str) -> list[str]:
        """Return the paths that a search for *words* finds by that door."""
        if door == "command":
            return [hit["path"] for hit in self.run("search", words).data["hits"]]
        with Corpus.open(self.root) as corpus:
            return [hit.path for hit in corpus.search(words).hits]

    def start(self, job: str, *args: object) -> subprocess.Popen[str]:
        """Start a job of `tests.safety.worker`; its lines come out of stdout."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.safety.worker", job, str(self.root), *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    @property
    def status(self) -> str:
        return self.git("--no-optional-locks", "status", "--porcelain", "-uall")

    def committed(self) -> dict[str, str]:
        """Return the claim of every memory of HEAD, by path."""
        names = self.git("ls-tree", "-r", "-z", "HEAD").split("\0")
        rows = [name.partition("\t") for name in names if name]
        paths = {path: row.split()[2] for row, _, path in rows if path_fault(path) is None}
        return dict(zip(paths, map(self._claim, self._blobs(list(paths.values()))), strict=True))

    def on_disk(self) -> dict[str, str]:
        """Return the claim of every memory of the working tree, by path."""
        found = {}
        for bucket in ("projects", "areas", "resources", "archive"):
            for file in (self.root / bucket).rglob("*.html"):
                path = file.relative_to(self.root).as_posix()
                if path_fault(path) is None:
                    found[path] = self._claim(file.read_bytes())
        return found

    def assert_whole(self) -> dict[str, str]:
        """Assert that disk, HEAD and git's index agree and no object is bad; return the claims."""
        assert self.status == ""
        self.git("fsck", "--strict", "--no-dangling", "--no-progress")
        committed = self.committed()
        assert self.on_disk() == committed
        return committed

    def mend(self) -> list[str]:
        """Let doctor find and mend what a dead process left; return the codes of its findings.

        A store that git calls dirty must not be healthy to doctor.
        """
        is_dirty = self.status != ""
        with Corpus.open(self.root, durability="none") as corpus:
            found = examine(corpus)
            codes = [finding.code for finding in found.findings]
            assert not is_dirty or any(finding.is_fixable for finding in found.findings), codes
            mend(corpus, found)
            after = examine(corpus)
            assert after.is_healthy, after.findings
        assert self.status == ""
        return codes

    def _blobs(self, shas: list[str]) -> list[bytes]:
        done = subprocess.run(
            ["git", "-C", str(self.root), "cat-file", "--batch"],
            input="".join(f"{sha}\n" for sha in shas).encode(),
            capture_output=True,
            check=True,
        )
        rest, blobs = done.stdout, []
        while rest:
            header, _, rest = rest.partition(b"\n")
            size = int(header.split()[2])
            blobs.append(rest[:size])
            rest = rest[size + 1 :]
        return blobs

    @staticmethod
    def _claim(data: bytes) -> str:
        document = parse(data)
        assert document.is_valid, "torn, or not what any of us wrote"
        return document.claim


def environment(**more: str) -> dict[str, str]:
    """Return the environment for a process that runs this source."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}


def token(number: int) -> str:
    """Return a word that no stemmer changes and that stands for *number* alone."""
    letters = ""
    while number or len(letters) < 6:
        number, digit = divmod(number, len(_LETTERS))
        letters = _LETTERS[digit] + letters
    return f"z{letters}z"


def draft(title: str, claim: str, **fields: Any) -> Draft:
    return Draft(title=title, claim=claim, memory_type=MemoryType.SEMANTIC, **fields)
