"""Looking at every file once: what the rules of `doctor` need to know, and no file's bytes.

The tree is what counts, not the index: HEAD's files with what the disk says otherwise laid over
them, exactly what a search would look at if nothing had gone wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.parse import parse
from memhtml.model.paths import path_fault
from memhtml.model.tree import ChangeKind
from memhtml.model.vocabulary import Bucket

if TYPE_CHECKING:
    from memhtml.corpus import Corpus
    from memhtml.model.document import Document

__all__ = ["Survey", "Surveyed", "survey"]

_FILE_MODES = frozenset({"100644", "100755"})


class Surveyed(NamedTuple):
    """One file that may be a memory, without its text."""

    path: str
    sha: str
    document: Document
    is_committed: bool
    """The disk has what HEAD has, so a fix may be committed on top."""


class Survey(NamedTuple):
    """A store, looked at."""

    memories: tuple[Surveyed, ...]
    """Every readable file where memories stand, valid or not, in order of path."""
    unreadable: tuple[str, ...]
    """Symlinks, folders with a memory's name, files nobody may read."""
    paths: tuple[str, ...]
    """Every path in the tree, generated files included, sorted."""
    dirty: tuple[str, ...]
    """Paths under the buckets whose disk state is not HEAD's, sorted."""
    today: str
    """``YYYY-MM-DD``, UTC."""

    def valid(self) -> tuple[Surveyed, ...]:
        """Return the files that are memories."""
        return tuple(file for file in self.memories if file.document.is_valid)


def survey(corpus: Corpus) -> Survey:
    """Look at every file of *corpus*."""
    modes = {entry.path: entry.mode for entry in corpus.committed_files()}
    changes = {change.path: change.kind for change in corpus.worktree_changes()}
    gone = {path for path, kind in changes.items() if kind is ChangeKind.REMOVED}
    paths = sorted((modes.keys() | changes.keys()) - gone)
    memories: list[Surveyed] = []
    unreadable: list[str] = []
    for path in paths:
        if path_fault(path) is not None:
            continue
        data = corpus.read_file(path)
        if data is None or modes.get(path, "100644") not in _FILE_MODES:
            unreadable.append(path)
            continue
        document = _without_text(parse(data))
        memories.append(Surveyed(path, corpus.sha_of(data), document, path not in changes))
    # Git does not know empty folders, so it never lists one that bears a memory's name.
    for bucket in Bucket:
        folders = corpus.repo.folders(bucket)
        unreadable += (path for path in folders if path_fault(path) is None)
    return Survey(
        memories=tuple(memories),
        unreadable=tuple(sorted(set(unreadable))),
        paths=tuple(paths),
        dirty=tuple(sorted(path for path in changes if path_fault(path) is None)),
        today=corpus.now().date().isoformat(),
    )


def _without_text(document: Document) -> Document:
    """Return *document* small enough to keep one for every file of a large store."""
    return replace(document, text="", body_text="", article_html="", summaries=(), asides=())
