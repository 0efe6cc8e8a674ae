"""What a commit writer must be able to do; there are two.

`FastWriter` makes objects and moves the branch in this process, in the formats nearly every
repository has. `PlainWriter` has git do each step and so knows whatever git knows. For the same
plan, author and second both make the same commit, bit for bit; a test holds them to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.store.trees import Entry

__all__ = ["Identity", "RefMoved", "Signed", "StagedFile", "Writer"]


class Identity(NamedTuple):
    """A name and an address as git writes them."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


class Signed(NamedTuple):
    """Who makes a commit, and when."""

    author: Identity
    committer: Identity
    at: int
    """Seconds since 1970, recorded as UTC."""

    @property
    def author_line(self) -> str:
        """The author as a commit has it."""
        return f"{self.author} {self.at} +0000"

    @property
    def committer_line(self) -> str:
        """The committer as a commit and a ref's log have it."""
        return f"{self.committer} {self.at} +0000"

    @property
    def variables(self) -> dict[str, str]:
        """The same for a git child."""
        when = f"@{self.at} +0000"
        return {
            "GIT_AUTHOR_NAME": self.author.name,
            "GIT_AUTHOR_EMAIL": self.author.email,
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_NAME": self.committer.name,
            "GIT_COMMITTER_EMAIL": self.committer.email,
            "GIT_COMMITTER_DATE": when,
        }


class StagedFile(NamedTuple):
    """A file that is ready, whole and on disk, but not yet at its place."""

    data: bytes
    scratch: str
    converted: bool
    """Git would not store these bytes as they are: line endings, a filter."""


class RefMoved(Exception):
    """Somebody else's commit came first, or holds the branch's lock right now."""


class Writer(Protocol):
    """The steps of one commit, called in this order."""

    def blobs(self, files: Mapping[str, StagedFile]) -> dict[str, str]:
        """Take in *files* and return their shas by path."""

    def tree(self, base: str | None, edits: Mapping[str, Entry | None]) -> str:
        """Return the sha of the tree *base* with *edits* made."""

    def commit(self, tree: str, parent: str | None, message: str, by: Signed) -> str:
        """Return the sha of a commit of *tree*."""

    def seal(self) -> None:
        """Have every byte written, under whatever name; the barrier settles next."""

    def finish(self) -> None:
        """Have every object in its place."""

    def advance(self, ref: str, old: str | None, new: str, reason: str, by: Signed) -> None:
        """Move *ref* from *old* to *new*, and write its log and HEAD's.

        Raises:
            RefMoved: It is not at *old*; nothing has changed.
        """

    def announce(self) -> None:
        """Tell whoever wants to know: branch, files and index all have the commit now."""
