"""The plain commit writer: git does every step, so whatever git supports works.

Used where a repository has something the fast writer does not know (another hash or ref format,
filters, shared permissions), where commits are signed, and where hooks must run. It takes about
ten processes and time in proportion to the size of the index.

Of the hooks, those run that a commit made by a program can meet: pre-commit (with an index that
holds exactly this commit), commit-msg, post-commit, and whatever ``update-ref`` runs.
prepare-commit-msg writes a draft for a person's editor, so it does not.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from memhtml.model.errors import GitFailure
from memhtml.store.files import unlink_if_there, write_new
from memhtml.store.writers import RefMoved

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memhtml.store.git import Git
    from memhtml.store.trees import Entry
    from memhtml.store.writers import Signed, StagedFile

__all__ = ["PlainWriter"]


class PlainWriter:
    """Writes one commit through git."""

    def __init__(
        self,
        git: Git,
        tmp: str,
        tip_of: Callable[[str], str | None],
        *,
        signs: bool,
        hooks: frozenset[str],
        sha_digits: int,
    ) -> None:
        self._git = git
        # A name of its own: git, orphaned by a kill of ours, may still write one of the same name.
        self._index = os.path.join(tmp, f"plain-index-{os.getpid()}-{time.time_ns()}")
        self._message = os.path.join(tmp, "message")
        self._tip_of = tip_of
        self._signs = signs
        self._hooks = hooks
        self._sha_digits = sha_digits

    def blobs(self, files: Mapping[str, StagedFile]) -> dict[str, str]:
        """Take in *files* and return their shas by path."""
        shas = {
            path: self._git.hash_as_added(path, file.data, write=True)
            for path, file in files.items()
            if file.converted
        }
        plain = {path: file for path, file in files.items() if not file.converted}
        if plain:
            stored = self._git.hash_files(file.scratch for file in plain.values())
            shas.update(zip(plain, stored, strict=True))
        return shas

    def tree(self, base: str | None, edits: Mapping[str, Entry | None]) -> str:
        """Return the sha of the tree *base* with *edits* made."""
        self._git.read_tree(self._index, base)
        self._git.update_index(self._index, edits, sha_digits=self._sha_digits)
        return self._git.write_tree(self._index)

    def commit(self, tree: str, parent: str | None, message: str, by: Signed) -> str:
        """Return the sha of a commit of *tree*."""
        env = {"GIT_INDEX_FILE": self._index, "GIT_EDITOR": ":", **by.variables}
        if "pre-commit" in self._hooks:
            self._git.run_hook("pre-commit", env=env)
        if "commit-msg" in self._hooks:
            write_new(self._message, message.encode("utf-8", "surrogateescape"))
            self._git.run_hook("commit-msg", self._message, env=env)
            with open(self._message, encoding="utf-8", errors="surrogateescape") as file:
                message = file.read()
        parents = () if parent is None else (parent,)
        return self._git.commit_tree(tree, parents, message, who=by.variables, sign=self._signs)

    def seal(self) -> None:
        """Nothing is left to do: git has written everything."""

    def finish(self) -> None:
        """Have every object in its place."""
        unlink_if_there(self._index)
        unlink_if_there(self._message)

    def advance(self, ref: str, old: str | None, new: str, reason: str, by: Signed) -> None:
        """Move *ref*, or raise `RefMoved` with nothing changed."""
        try:
            self._git.update_ref(ref, new, old or "0" * self._sha_digits, reason, who=by.variables)
        except GitFailure as error:
            if self._tip_of(ref) != old or "File exists" in error.stderr:
                raise RefMoved from error
            raise

    def announce(self) -> None:
        """Run the post-commit hook."""
        if "post-commit" in self._hooks:
            try:
                self._git.run_hook("post-commit", env={"GIT_EDITOR": ":"})
            except GitFailure:
                return  # as in git: the commit is made, and this hook cannot unmake it
