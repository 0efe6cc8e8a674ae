"""The versions of a memory, and who said which sentence, across all its moves.

A memory's name changes when it is archived, brought back or corrected. Each of these is one commit,
and that commit says where the file came from: by the archive's path algebra, or, for a correction
under another title, by the link to what it superseded. Similarity is never asked: memories are
short and share their heads, so git's rename detection confuses one with another.

The walk therefore asks git for the commits of one name, stops where that name begins, looks once at
what else that commit did, and goes on from there with the name before. All parts together are one
walk from HEAD back to the memory's first commit.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.compare import compare_words, sentences
from memhtml.format.edit import read_links
from memhtml.format.parse import parse
from memhtml.model.edges import path_of_href
from memhtml.model.errors import InvalidMemory, PathNotFound
from memhtml.model.history import Blamed, Commit, Version
from memhtml.model.instants import stamp
from memhtml.model.paths import memory_path
from memhtml.model.tree import Change, ChangeKind
from memhtml.model.vocabulary import Rel
from memhtml.store.git import Git
from memhtml.store.lineage import origin_among
from memhtml.store.trees import CommitTrees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memhtml.model.history import Piece
    from memhtml.store.plumbing import LogEntry
    from memhtml.store.repo import Repo

__all__ = ["blame", "commits", "compare_versions", "history"]

_subject_re = re.compile(r"memhtml\((.+?)\): (.*)")
_trailer_re = re.compile(r"(Memhtml-[A-Za-z-]+): (.*)")


def history(repo: Repo, path: str) -> tuple[Version, ...]:
    """Return the versions of the memory at *path*, newest first; only commits count.

    A *path* that nothing stands at any more is followed to where its memory went.

    Raises:
        PathNotFound: No commit of HEAD's history has such a memory.
    """
    try:
        here: str = memory_path(path)
    except InvalidMemory:
        raise PathNotFound(path) from None
    head = repo.head()
    git = Git(repo.root)
    try:
        if head and repo.find(here) is None:
            here = _now_at(git, head, here)
        versions = tuple(_walk(git, repo, head, here)) if head else ()
    finally:
        git.close()
    if not versions:
        raise PathNotFound(here)
    return versions


def commits(repo: Repo, start: str, *, without: str | None = None) -> Iterator[Commit]:
    """Yield the commits from *start* back, newest first, without those that *without* has."""
    git = Git(repo.root)
    try:
        for entry in git.log_all(start, without=without):
            said = _said(entry.message)
            yield Commit(
                sha=entry.sha,
                at=stamp(datetime.fromtimestamp(entry.at, UTC)),
                author=f"{entry.author} <{entry.email}>",
                operation=said.operation,
                summary=said.summary,
                session=said.trailers.get("Memhtml-Session"),
                prompt=said.trailers.get("Memhtml-Prompt"),
                reason=said.trailers.get("Memhtml-Reason"),
                deltas=entry.deltas,
            )
    finally:
        git.close()


def compare_versions(repo: Repo, versions: Sequence[Version]) -> tuple[tuple[Piece, ...], ...]:
    """Return for each of *versions*, newest first, its words against those of the next older one.

    A version that says the same as the one before has no more than one run; the oldest is all new.
    """
    shas = [version.sha for version in versions if version.sha is not None]
    said = [parse(data).body_text for _, data in repo.read_blobs(shas)]
    texts = iter(said)
    text_of = [next(texts) if version.sha is not None else None for version in versions]
    compared = []
    for text, before in zip(text_of, (*text_of[1:], ""), strict=True):
        # A removal changes no words: what was said last still stands below it.
        compared.append(() if text is None else compare_words(before or "", text))
    return tuple(compared)


def blame(repo: Repo, path: str) -> tuple[Blamed, ...]:
    """Return each sentence of the memory at *path*, in order, with the version that first said it.

    Sentences are compared and not lines: where a line breaks is no statement, and one line often
    holds several sentences. A sentence that went and came back counts from when it came back.

    Raises:
        PathNotFound: No commit of HEAD's history has such a memory.
    """
    versions = [version for version in reversed(history(repo, path)) if version.sha is not None]
    blamed: list[Blamed] = []
    text = None
    shas = [version.sha for version in versions if version.sha is not None]
    for version, (_, data) in zip(versions, repo.read_blobs(shas), strict=True):
        said = parse(data).body_text
        if said != text:
            blamed = _reassigned(blamed, sentences(said), version)
        text = said
    return tuple(blamed)


def _reassigned(before: Sequence[Blamed], after: Sequence[str], version: Version) -> list[Blamed]:
    """Return *after* with the versions of the sentences that *before* had, else *version*."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - only here

    known = [each.sentence for each in before]
    blamed: list[Blamed] = []
    for tag, a, b, c, d in SequenceMatcher(None, known, after, autojunk=False).get_opcodes():
        if tag == "equal":
            blamed += before[a:b]
        else:
            blamed += (Blamed(sentence, version) for sentence in after[c:d])
    return blamed


def _now_at(git: Git, head: str, path: str) -> str:
    """Return where the memory that *path* was went; *path* itself if it went nowhere."""
    seen = {path}
    while True:
        newest = next(git.log(head, path), None)
        if newest is None or newest.change.kind is not ChangeKind.REMOVED:
            return path
        changes = git.diff_parent(newest.sha)
        added = [change.path for change in changes if change.kind is not ChangeKind.REMOVED]
        onward = next((to for to in added if _source(to, changes) == path), None)
        if onward is None or onward in seen:
            return path
        seen.add(onward)
        path = onward


def _walk(git: Git, repo: Repo, start: str, path: str) -> Iterator[Version]:
    """Yield the versions of the memory that *path* is at *start*, newest first."""
    name: str | None = path
    while name is not None:
        path, name = name, None
        for entry in git.log(start, path):
            change = entry.change
            sha = None if change.kind is ChangeKind.REMOVED else change.sha
            if len(entry.parents) > 1:
                names = {parent: _name_in(git, parent, entry.sha, path) for parent in entry.parents}
                is_news = sha not in _blobs_in(git, entry.parents, path)
                if set(names.values()) != {path}:
                    # One side moved the file and the other edited it; git follows one name only.
                    if is_news:
                        yield _version(entry, path, None, sha)
                    yield from _both(git, repo, names)
                    return
                if not is_news:
                    continue  # it brought a version in that has its own commit
            begins, name = _beginning(git, repo, entry)
            yield _version(entry, path, name, sha)
            if begins:
                start = f"{entry.sha}^"
                break


def _blobs_in(git: Git, commits: Iterable[str], path: str) -> set[str | None]:
    trees = CommitTrees(git.read)
    found = (trees.at(commit, path) for commit in commits)
    return {entry.sha if entry else None for entry in found}


def _beginning(git: Git, repo: Repo, entry: LogEntry) -> tuple[bool, str | None]:
    """Return whether the name of a file begins with *entry*, and what its memory had before."""
    change = entry.change
    path = change.path
    if change.kind is ChangeKind.ADDED:
        if _operation(entry) == "write":
            return True, None  # which moves nothing
        changes = git.diff_parent(entry.sha)
        return True, _source(path, changes) or _superseded(repo, change.sha, changes)
    if change.kind is ChangeKind.MODIFIED and _operation(entry) == "batch":
        # One commit may archive a memory and write another under the name it left.
        changes = git.diff_parent(entry.sha)
        is_vacated = any(
            to.kind is ChangeKind.ADDED and _source(to.path, changes) == path for to in changes
        )
        return is_vacated and not _superseded(repo, change.sha, changes), None
    return False, None


def _both(git: Git, repo: Repo, names: Mapping[str, str | None]) -> Iterator[Version]:
    """Yield the versions of a file in several commits, under its name in each, newest first."""
    found: dict[str, Version] = {}
    for parent, name in names.items():
        if name is not None:
            found |= {version.commit: version for version in _walk(git, repo, parent, name)}
    yield from sorted(found.values(), key=lambda version: version.at, reverse=True)


def _name_in(git: Git, parent: str, commit: str, path: str) -> str | None:
    """Return what the file that *path* is in *commit* was called in *parent*."""
    changes = git.diff_trees(parent, commit)
    is_new = any(c.path == path and c.kind is ChangeKind.ADDED for c in changes)
    return _source(path, changes) if is_new else path


def _source(path: str, changes: Sequence[Change]) -> str | None:
    """Return which path the commit with *changes* moved to *path*, by the archive's algebra."""
    # A correction under the same title puts its text where the archived file stood, so that name
    # is changed and not removed.
    removed = [change for change in changes if change.kind is ChangeKind.REMOVED]
    vacated = [
        change._replace(kind=ChangeKind.REMOVED)
        for change in changes
        if change.kind is ChangeKind.MODIFIED and change.path != path
    ]
    here = Change(ChangeKind.REMOVED, path, "", "")
    return (
        origin_among(path, removed)
        or origin_among(path, vacated)
        # Brought back: the archive's name leads here.
        or next((c.path for c in removed if origin_among(c.path, (here,)) == path), None)
    )


def _superseded(repo: Repo, sha: str, changes: Sequence[Change]) -> str | None:
    """Return where the memory stood that this commit archived in favour of the blob *sha*."""
    ((_, data),) = repo.read_blobs((sha,))
    archived = {change.path for change in changes if change.kind is ChangeKind.ADDED}
    for link in read_links(data):
        target = path_of_href(link.href) if link.rel == Rel.SUPERSEDES.token else None
        if target in archived:
            return _source(target, changes)
    return None


class _Said(NamedTuple):
    operation: str | None
    summary: str
    trailers: Mapping[str, str]


def _said(message: str) -> _Said:
    subject, _, rest = message.partition("\n")
    found = _subject_re.fullmatch(subject)
    return _Said(found[1] if found else None, found[2] if found else subject, _trailers(rest))


def _version(entry: LogEntry, path: str, before: str | None, sha: str | None) -> Version:
    said = _said(entry.message)
    return Version(
        commit=entry.sha,
        at=stamp(datetime.fromtimestamp(entry.at, UTC)),
        author=f"{entry.author} <{entry.email}>",
        operation=said.operation,
        summary=said.summary,
        session=said.trailers.get("Memhtml-Session"),
        prompt=said.trailers.get("Memhtml-Prompt"),
        reason=said.trailers.get("Memhtml-Reason"),
        path=path,
        moved_from=before,
        sha=sha,
    )


def _operation(entry: LogEntry) -> str | None:
    found = _subject_re.match(entry.message)
    return found[1] if found else None


def _trailers(message: str) -> dict[str, str]:
    """Return our trailers: those of the last paragraph, so that quoted text is never one."""
    last = message.strip().rpartition("\n\n")[2]
    rows: Iterable[re.Match[str] | None] = map(_trailer_re.fullmatch, last.split("\n"))
    return {row[1]: row[2].strip() for row in rows if row}
