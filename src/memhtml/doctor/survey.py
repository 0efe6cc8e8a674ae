"""Looking at every file once: what the rules of `doctor` need to know, and no file's bytes.

The tree is what counts, not the index: HEAD's files with what the disk says otherwise laid over
them, exactly what a search would look at if nothing had gone wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.parse import parse
from memhtml.model.paths import bucket_of, path_fault
from memhtml.model.tree import ChangeKind
from memhtml.model.vocabulary import Bucket

if TYPE_CHECKING:
    from memhtml.corpus import Corpus
    from memhtml.model.document import Document
    from memhtml.model.ports import Progress
    from memhtml.model.tree import TreeEntry

__all__ = ["Survey", "Surveyed", "Unusable", "survey"]

_FILE_MODES = frozenset({"100644", "100755"})
_ATTEMPTS = 5


class Surveyed(NamedTuple):
    """One file that may be a memory, without its text."""

    path: str
    sha: str
    document: Document
    is_committed: bool
    """The disk has what HEAD has, so a fix may be committed on top."""


class Unusable(NamedTuple):
    """A file that bears a name no memory can have."""

    path: str
    """As the disk has it; bytes that are no UTF-8 as surrogates."""
    reason: str
    is_committed: bool


class Survey(NamedTuple):
    """A store, looked at."""

    memories: tuple[Surveyed, ...]
    """Every readable file where memories stand, valid or not, in order of path."""
    unreadable: tuple[str, ...]
    """Links, folders and pipes with a memory's name, links to folders, files nobody may read."""
    unusable: tuple[Unusable, ...]
    """What is meant for a memory by its name, but for one thing."""
    paths: tuple[str, ...]
    """Every path in the tree, generated files included, sorted; where others wrote meanwhile,
    every path that was there at the beginning or at the end."""
    dirty: tuple[str, ...]
    """Paths under the buckets whose disk state is not HEAD's, sorted."""
    today: str
    """``YYYY-MM-DD``, UTC."""
    root: str
    """Top of the store, absolute."""

    def valid(self) -> tuple[Surveyed, ...]:
        """Return the files that are memories."""
        return tuple(file for file in self.memories if file.document.is_valid)


def survey(corpus: Corpus, *, progress: Progress | None = None) -> Survey:
    """Look at every file of *corpus*."""
    listed = _list(corpus)
    memories: list[Surveyed] = []
    unreadable: set[str] = set()
    unusable: list[Unusable] = []
    for number, path in enumerate(listed.paths, 1):
        if progress is not None:
            progress(number, len(listed.paths))
        reason = _unusable(path)
        if reason is not None:
            unusable.append(Unusable(path, reason, path in listed.committed))
        if not _may_be_memory(path):
            continue
        data = corpus.read_file(path)
        if data is None and not corpus.repo.stands_at(path):
            continue  # somebody moved it since it was listed
        entry = listed.committed.get(path)
        if data is None or (entry is not None and entry.mode not in _FILE_MODES):
            unreadable.add(path)
            continue
        document = _without_text(parse(data))
        is_committed = path not in listed.dirty
        # Git may have converted line endings between the blob and a file it calls unchanged.
        sha = entry.sha if entry is not None and is_committed else corpus.sha_of(data)
        memories.append(Surveyed(path, sha, document, is_committed))
    for bucket in Bucket:
        for path, leads_to_folder in corpus.repo.irregular(bucket):
            if leads_to_folder or path_fault(path) is None:
                unreadable.add(path)
    again = listed if corpus.repo.head() == listed.head else _list(corpus)
    return Survey(
        memories=tuple(memories),
        unreadable=tuple(sorted(unreadable)),
        unusable=tuple(unusable),
        paths=tuple(sorted({*listed.paths, *again.paths})),
        # What is dirty only once was a commit under way.
        dirty=tuple(sorted(filter(_may_be_memory, listed.dirty & again.dirty))),
        today=corpus.now().date().isoformat(),
        root=corpus.root,
    )


class _Listed(NamedTuple):
    """Which files there are."""

    head: str | None
    committed: dict[str, TreeEntry]
    """Each committed file by its path."""
    paths: tuple[str, ...]
    """On disk, committed or not, sorted."""
    dirty: frozenset[str]
    """Those, and those gone from the disk, whose state is not the committed one."""


def _list(corpus: Corpus) -> _Listed:
    """List the files of one commit and of the disk, or of two where others never stop writing."""
    for _ in range(_ATTEMPTS):
        head = corpus.repo.head()
        committed = {entry.path: entry for entry in corpus.committed_files()}
        changes = {change.path: change.kind for change in corpus.worktree_changes()}
        if corpus.repo.head() == head:
            break
    gone = {path for path, kind in changes.items() if kind is ChangeKind.REMOVED}
    paths = sorted((committed.keys() | changes.keys()) - gone)
    return _Listed(head, committed, tuple(paths), frozenset(changes))


def _may_be_memory(path: str) -> bool:
    return path_fault(path) is None and _unusable(path) is None


def _unusable(path: str) -> str | None:
    """Return why *path*, which is meant for a memory, is none; None for any other path."""
    if bucket_of(path) is None or not path.lower().endswith(".html"):
        return None
    try:
        path.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return None if path.endswith(".html") else "its ending is not .html in small letters"


def _without_text(document: Document) -> Document:
    """Return *document* small enough to keep one for every file of a large store."""
    return replace(document, text="", body_text="", article_html="", summaries=(), asides=())
