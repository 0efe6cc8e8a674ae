"""Where a repository keeps its things, read without asking git.

A cold search spends most of its time on starting processes, so the few facts it always needs
(is this a repository, what is HEAD) come straight from the files git documents in
gitrepository-layout(5). What those files cannot answer, such as another ref format, is None
here, and `Repo` asks git.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from memhtml.model.errors import NotAStore
from memhtml.model.shell import quoted

__all__ = [
    "GitDir",
    "Head",
    "list_refs",
    "locate",
    "looks_bare",
    "read_head",
    "read_ref",
    "unfinished_operation",
]


class GitDir(NamedTuple):
    """A repository and its folders, all absolute and free of symlinks."""

    root: str
    """Top of the working tree."""
    own: str
    """The git directory of this working tree: HEAD and the index."""
    common: str
    """What linked working trees share: objects, refs, configuration. Often the same as *own*."""


class Head(NamedTuple):
    """What HEAD says."""

    ref: str | None
    """The branch it stands on, in full; None when detached."""
    sha: str | None
    """The commit; None on a branch without one yet, or when only git can tell."""
    plain: bool = True
    """False when the refs are not kept in files, or a ref points to another."""


def locate(root: str) -> GitDir:
    """Find the repository whose top is *root*; symlinks are resolved, nothing is created.

    Raises:
        NotAStore: *root* is no folder, is bare, or is not the top of its own working tree.
    """
    top = os.path.realpath(root)
    dotgit = os.path.join(top, ".git")
    if not os.path.isdir(top):
        raise NotAStore(root, "there is no such folder")
    own: str | None = dotgit
    if os.path.isfile(dotgit):
        # A linked working tree or a separate git directory: the file names it.
        line = _first_line(dotgit) or ""
        kind, _, target = line.partition(": ")
        own = os.path.realpath(os.path.join(top, target)) if kind == "gitdir" and target else None
    elif not os.path.isdir(dotgit):
        if looks_bare(top):
            raise NotAStore(
                root,
                "it is a bare repository, which has no files to keep memories in",
                suggestions=(f"git clone {quoted(root)}", "make a store of the clone"),
            )
        raise NotAStore(root)
    if own is None or not os.path.lexists(os.path.join(own, "HEAD")):
        raise NotAStore(root, f"{dotgit} is not a git directory", suggestions=("git status",))
    shared = _first_line(os.path.join(own, "commondir"))
    common = os.path.realpath(os.path.join(own, shared)) if shared else own
    return GitDir(top, own, common)


def read_head(where: GitDir) -> Head:
    """Return what HEAD names, following the branch to its commit.

    Raises:
        NotAStore: HEAD cannot be read.
    """
    path = os.path.join(where.own, "HEAD")
    line = _first_line(path)
    if not line:
        raise NotAStore(where.root, f"{path} cannot be read", suggestions=("git fsck",))
    if not line.startswith("ref:"):
        # Very old gits made HEAD a symlink to the branch, which reads like a detached one.
        return Head(None, line, plain=not os.path.islink(path))
    ref = line.removeprefix("ref:").strip()
    if ref == "refs/heads/.invalid":
        return Head(ref, None, plain=False)  # what the reftable format leaves for old readers
    sha = read_ref(where, ref)
    if sha is not None and sha.startswith("ref:"):
        return Head(ref, None, plain=False)
    return Head(ref, sha)


def read_ref(where: GitDir, ref: str) -> str | None:
    """Return what *ref* holds: a sha, ``ref: …`` for a symbolic one, or None when it is not there.

    A loose file wins over ``packed-refs``, as in git. Between the two reads a ref may be packed
    and its file deleted, so packed-refs is read second.
    """
    line = _first_line(os.path.join(where.common, ref))
    if line:
        return line
    ending = f" {ref}\n".encode()
    try:
        with open(os.path.join(where.common, "packed-refs"), "rb") as packed:
            for row in packed:
                if row.endswith(ending):
                    return row.split(b" ", 1)[0].decode("ascii")
    except FileNotFoundError:
        pass
    return None


def list_refs(where: GitDir, folder: str) -> list[str] | None:
    """Return the names right below *folder*, such as ``refs/heads/sleep``; None if git must tell.

    Loose ones first, packed-refs second, as in `read_ref`.
    """
    if not read_head(where).plain:
        return None
    try:
        found = set(os.listdir(os.path.join(where.common, folder)))
    except (FileNotFoundError, NotADirectoryError):
        found = set()
    found = {name for name in found if not name.endswith(".lock")}
    beginning = f"{folder}/".encode()
    try:
        with open(os.path.join(where.common, "packed-refs"), "rb") as packed:
            refs = (row.rstrip(b"\n").partition(b" ")[2] for row in packed)
            found |= {os.fsdecode(r[len(beginning) :]) for r in refs if r.startswith(beginning)}
    except FileNotFoundError:
        pass
    return sorted(name for name in found if "/" not in name)


def unfinished_operation(where: GitDir) -> str | None:
    """Name the merge, rebase or the like that stands half done in this working tree, if any."""
    for file, name in _UNFINISHED:
        if os.path.lexists(os.path.join(where.own, file)):
            return name
    return None


def looks_bare(folder: str) -> bool:
    """Tell whether *folder* itself is a git directory."""
    return all(os.path.lexists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))


_UNFINISHED = (
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


def _first_line(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().rstrip("\r\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
