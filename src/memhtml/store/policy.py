"""What a repository and its user ask of a commit: read from configuration, hooks and attributes."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.errors import NotAStore
from memhtml.store.git import FALLBACK_EMAIL
from memhtml.store.writers import Identity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.store.git import Git
    from memhtml.store.gitdir import GitDir

__all__ = ["FALLBACK", "Policy", "conversions", "read_policy"]

FALLBACK = Identity("memhtml", FALLBACK_EMAIL)
"""Author of commits where the user has configured no address."""

# Hooks that a commit made by a program can meet; see `plainwriter`.
_HOOKS = ("pre-commit", "commit-msg", "post-commit", "reference-transaction")
# Extensions that change nothing about how objects and refs are written.
_HARMLESS = frozenset(
    {"noop", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees"}
)
_CONVERTING = ("filter", "ident", "working-tree-encoding")
_converting_re = re.compile(rb"filter|ident|encoding")
_ident_re = re.compile(r"(?s)(.+) <(.*)> \d+ [+-]\d{4}")


class Policy(NamedTuple):
    """What the next commits have to respect."""

    author: Identity
    committer: Identity
    signs: bool
    hooks: frozenset[str]
    plain: bool
    """The repository's format is one only git itself should write."""
    sha_digits: int
    logs_refs: bool
    """A ref's log is started where there is none."""
    attribute_files: tuple[str, ...]
    """Where git looks for attributes besides ``.gitattributes`` files."""


def read_policy(git: Git, where: GitDir) -> Policy:
    """Ask git for its configuration, once, and look for hooks.

    Raises:
        NotAStore: The repository's files are kept elsewhere than at its root.
        GitFailure: Git refuses to work here.
    """
    found = git.configuration()
    settings = found.settings
    worktree = settings.get("core.worktree")
    # As in git, these are about the main working tree and not about one that is linked to it.
    is_elsewhere = _is_true(settings, "core.bare") or (
        worktree and os.path.realpath(os.path.join(where.own, worktree)) != where.root
    )
    if is_elsewhere and where.own == where.common:
        raise NotAStore(
            where.root,
            "its configuration says that its files are elsewhere",
            suggestions=("git config --show-origin core.worktree",),
        )
    hooks = _hooks(settings, where)
    object_format = settings.get("extensions.objectformat", "sha1")
    shared = settings.get("core.sharedrepository", "umask")
    extensions = {
        name.removeprefix("extensions.") for name in settings if name[:11] == "extensions."
    }
    plain = (
        object_format != "sha1"
        or shared not in {"umask", "false", "0"}
        or not extensions - {"objectformat"} <= _HARMLESS
    )
    return Policy(
        author=_identity(found.author),
        committer=_identity(found.committer),
        signs=_is_true(settings, "commit.gpgsign"),
        hooks=hooks,
        plain=plain or bool(hooks),
        sha_digits=64 if object_format == "sha256" else 40,
        logs_refs=settings.get("core.logallrefupdates", "true").lower() not in _FALSE,
        attribute_files=_attribute_files(git, settings, where),
    )


def conversions(git: Git, where: GitDir, policy: Policy, files: Mapping[str, bytes]) -> set[str]:
    """Return those *files* whose bytes git would not store as they are.

    Without a carriage return no line-ending rule changes anything. What is left are attributes,
    and git is asked about them only if a file that can set one mentions them at all.
    """
    changed = {path for path, data in files.items() if b"\r" in data}
    folders = {""}
    for path in files:
        while path := path.rpartition("/")[0]:
            if path in folders:
                break
            folders.add(path)
    sources = (
        *policy.attribute_files,
        *(os.path.join(where.root, folder, ".gitattributes") for folder in folders),
    )
    if any(_converting_re.search(_content(source)) for source in sources):
        for path, values in git.attributes(files, _CONVERTING).items():
            if not set(values.values()) <= {"unspecified", "unset"}:
                changed.add(path)
    return changed


_FALSE = frozenset({"false", "no", "off", "0", ""})


def _is_true(settings: Mapping[str, str], name: str) -> bool:
    return settings.get(name, "false").lower() not in _FALSE


def _identity(line: str) -> Identity:
    match = _ident_re.fullmatch(line)
    if match is None or match[2] in {FALLBACK_EMAIL, ""}:
        return FALLBACK
    return Identity(match[1], match[2])


def _hooks(settings: Mapping[str, str], where: GitDir) -> frozenset[str]:
    folder = os.path.expanduser(settings.get("core.hookspath", "")) or "hooks"
    base = where.root if "core.hookspath" in settings else where.common
    folder = os.path.join(base, folder)
    return frozenset(name for name in _HOOKS if os.access(os.path.join(folder, name), os.X_OK))


def _attribute_files(git: Git, settings: Mapping[str, str], where: GitDir) -> tuple[str, ...]:
    config = git.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return (
        os.path.join(where.common, "info", "attributes"),
        os.path.expanduser(
            settings.get("core.attributesfile") or os.path.join(config, "git", "attributes")
        ),
        # Newer gits say where the system's file is; older ones were mostly built for this place.
        settings.get("GIT_ATTR_SYSTEM") or "/etc/gitattributes",
    )


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
