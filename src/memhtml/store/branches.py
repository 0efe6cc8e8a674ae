"""Branches beside the one a person works on, each in a working tree of its own.

Git keeps linked working trees apart: each has its own HEAD, index and files, and all share the
objects. So a long job commits as it goes while the person's checkout never moves.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from memhtml.store.git import Git

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Branches", "LinkedTree"]

_HEADS = "refs/heads/"

# A tree that no person works in: all of its files, and no hook of theirs for looking at it.
_ALL_FILES = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.sparseCheckout=false")


class LinkedTree(NamedTuple):
    """A working tree of the repository."""

    folder: str
    branch: str | None
    """Without ``refs/heads/``; None when its HEAD is detached."""


class Branches(Git):
    """The git program, for branches and the working trees that are linked to them."""

    def tips(self, prefix: str) -> dict[str, str]:
        """Return the commit of each branch whose name begins with *prefix*, a folder of names."""
        done = self._run(
            "for-each-ref", "--format=%(refname) %(objectname)", f"{_HEADS}{prefix.rstrip('/')}/"
        )
        rows = (
            line.split(" ") for line in done.stdout.decode("utf-8", "surrogateescape").split("\n")
        )
        return {row[0].removeprefix(_HEADS): row[1] for row in rows if len(row) == 2}

    def merged(self, prefix: str, commit: str) -> set[str]:
        """Return the branches of that prefix that *commit* contains."""
        done = self._run(
            *("for-each-ref", "--format=%(refname)", f"--merged={commit}"),
            f"{_HEADS}{prefix.rstrip('/')}/",
        )
        rows = done.stdout.decode("utf-8", "surrogateescape").split("\n")
        return {row.removeprefix(_HEADS) for row in rows if row}

    def worktrees(self) -> list[LinkedTree]:
        """Return every working tree, the main one first."""
        done = self._run("worktree", "list", "--porcelain")
        found: list[LinkedTree] = []
        for field in done.stdout.decode("utf-8", "surrogateescape").split("\n"):
            name, _, value = field.partition(" ")
            if name == "worktree":
                found.append(LinkedTree(value, None))
            elif name == "branch":
                found[-1] = found[-1]._replace(branch=value.removeprefix(_HEADS))
        return found

    def begin(self, folder: str, branch: str, commit: str) -> None:
        """Make *branch* at *commit*, in a new working tree at *folder*.

        Raises:
            GitFailure: There is such a branch or folder; nothing was made.
        """
        self._run(*_ALL_FILES, "worktree", "add", "--quiet", "-b", branch, folder, commit)

    def borrow(self, folder: str, commit: str) -> None:
        """Make a clone at *folder* that borrows our objects, and check *commit* out there.

        Whatever is committed there stays there.
        """
        self._run(
            *("clone", "--quiet", "--shared", "--no-checkout"),
            # What is thrown away needs no hook, and no signature that asks for a passphrase.
            *("--config", f"core.hooksPath={os.devnull}", "--config", "commit.gpgSign=false"),
            *(self._root, folder),
        )
        clone = Branches(folder)
        try:
            clone._run("switch", "--quiet", "--create", "rehearsal", commit)
        finally:
            clone.close()

    def check_out(self, folder: str, branch: str) -> None:
        """Make a working tree at *folder* of a *branch* that nobody has checked out.

        Git may remember otherwise, from before the repository was moved or copied.
        """
        self._run(*_ALL_FILES, "worktree", "add", "--quiet", "--force", folder, branch)

    def look_at(self, commit: str) -> None:
        """Let this working tree show *commit*, its branch left where it is."""
        self._run(*_ALL_FILES, "checkout", "--quiet", "--detach", commit)

    def back_to(self, branch: str) -> None:
        """Let this working tree stand on *branch* again."""
        self._run(*_ALL_FILES, "checkout", "--quiet", "--ignore-other-worktrees", branch)

    def find_lines(self, start: str, beginnings: Sequence[str]) -> list[tuple[str, list[str]]]:
        """Return commits from *start* back in whose message a line begins so, and their lines."""
        done = self._run(
            *("log", "-z", "--topo-order", "--no-show-signature", "--format=%H%n%B"),
            *("--encoding=UTF-8", "--fixed-strings"),
            *(word for text in beginnings for word in ("--grep", text)),
            *(start, "--"),
        )
        found = []
        for record in done.stdout.decode("utf-8", "replace").split("\0"):
            sha, *lines = record.split("\n")
            if any(line.startswith(tuple(beginnings)) for line in lines):
                found.append((sha, lines))
        return found

    def parent(self, commit: str) -> str:
        """Return the first parent of *commit*.

        Raises:
            GitFailure: It has none.
        """
        return self._run("rev-parse", "--verify", f"{commit}^1").stdout.decode("ascii").strip()

    def leave(self, folder: str) -> None:
        """Remove the working tree at *folder* with all that is in it; the branch stays.

        Others are left alone: one on a drive that is not plugged in looks as if it were gone.
        """
        shutil.rmtree(folder, ignore_errors=True)
        self._run("worktree", "remove", "--force", "--force", folder, ok=(0, 128))

    def delete(self, branch: str, tip: str) -> None:
        """Delete *branch*, which stands at *tip*.

        Raises:
            GitFailure: It has moved meanwhile.
        """
        self._run("update-ref", "-d", _HEADS + branch, tip)

    def move(self, branch: str, new: str, old: str, reason: str, who: Mapping[str, str]) -> None:
        """Let *branch* stand at *new*; it stood at *old*."""
        self.update_ref(_HEADS + branch, new, old, reason, who=who)
