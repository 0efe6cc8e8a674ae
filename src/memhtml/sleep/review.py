"""What a run did, as a person reviews it: commit by commit, memory by memory, word by word."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.compare import compare_words
from memhtml.format.parse import parse
from memhtml.format.splice import HeadSplicer
from memhtml.model.history import DiffKind
from memhtml.model.paths import bucket_of, original_path
from memhtml.model.tree import ChangeKind
from memhtml.sleep.runner import REPORT
from memhtml.sleep.runs import Runs
from memhtml.store.lineage import origin_among
from memhtml.store.listings import is_generated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memhtml.corpus import Corpus
    from memhtml.model.history import Piece
    from memhtml.model.tree import Change
    from memhtml.sleep.journal import CommitMade
    from memhtml.sleep.phase import Decision
    from memhtml.sleep.runs import Run, RunCommit

__all__ = ["CommitReview", "FileChange", "HeadChange", "How", "Review", "review"]


class How(StrEnum):
    """What became of a file."""

    CREATED = "created"
    ARCHIVED = "archived"
    RESTORED = "restored"
    MOVED = "moved"
    REWRITTEN = "rewritten"
    """It says something else."""
    RESTAMPED = "restamped"
    """It says the same, and its head something else."""
    REMOVED = "removed"
    OTHER = "other"
    """It is no memory: a page, a record, a ledger."""


class HeadChange(NamedTuple):
    """A statement of a head that came or went."""

    name: str
    value: str
    came: bool


class FileChange(NamedTuple):
    """What a commit did to one file."""

    path: str
    how: How
    from_path: str | None = None
    title: str = ""
    claim: str = ""
    """As the memory says it after the change; before it, for one that was removed."""
    pieces: tuple[Piece, ...] = ()
    """Its words before and after; empty where they are the same."""
    head: tuple[HeadChange, ...] = ()


class CommitReview(NamedTuple):
    """One commit."""

    sha: str
    phase: str
    subject: str
    decisions: tuple[Decision, ...]
    files: tuple[FileChange, ...]


class Review(NamedTuple):
    """A whole run."""

    run: Run
    commits: tuple[CommitReview, ...]

    def count(self, how: How) -> int:
        """Return how many files became that."""
        return sum(file.how is how for commit in self.commits for file in commit.files)


def review(corpus: Corpus, run_id: str) -> Review:
    """Return what the run did, its report left out.

    Raises:
        RunNotFound: There is no such run.
    """
    runs = Runs(corpus.repo)
    try:
        run = runs.find(run_id)
        taken = (run.base, run.tip) if run.waits else runs.taken(run)
        if taken is None:
            return Review(run, ())
        made = {made.sha: made for phase in run.phases for made in phase.commits}
        commits = [c for c in runs.commits(*taken) if c.phase != REPORT]
        # A commit that was picked has another name than when it was recorded.
        by_subject = {
            (made.subject, phase.phase): made for phase in run.phases for made in phase.commits
        }
        return Review(
            run,
            tuple(
                _reviewed(
                    corpus,
                    commit,
                    made.get(commit.sha) or by_subject.get((_plain(commit.subject), commit.phase)),
                )
                for commit in commits
            ),
        )
    finally:
        runs.close()


def _reviewed(corpus: Corpus, commit: RunCommit, made: CommitMade | None) -> CommitReview:
    changes = corpus.repo.changes(commit.parent, commit.sha) or []
    olds = corpus.repo.changes(commit.sha, commit.parent) or []
    before = {c.path: c.sha for c in olds if c.kind is not ChangeKind.REMOVED}
    after = {c.path: c.sha for c in changes if c.kind is not ChangeKind.REMOVED}
    blobs = dict(corpus.repo.read_blobs(dict.fromkeys([*before.values(), *after.values()])))
    old = {path: blobs[sha] for path, sha in before.items()}
    new = {path: blobs[sha] for path, sha in after.items()}
    return CommitReview(
        commit.sha,
        commit.phase,
        commit.subject,
        made.decisions if made else (),
        tuple(_files(old, new, changes)),
    )


def _files(
    old: Mapping[str, bytes], new: Mapping[str, bytes], changes: Sequence[Change]
) -> Iterator[FileChange]:
    gone = [change for change in changes if change.kind is ChangeKind.REMOVED]
    sources: dict[str, str] = {}
    for path in new:
        if path not in old and (source := _source(path, new[path], gone, old)) is not None:
            sources[path] = source
    moved = set(sources.values())
    for path in sorted(old.keys() | new.keys()):
        if path in moved and path not in new:
            continue
        yield _file(path, sources.get(path), old, new)


def _source(path: str, data: bytes, gone: Sequence[Change], old: Mapping[str, bytes]) -> str | None:
    """Return where the file at *path* stood before, by the archive's algebra or its content."""
    source = origin_among(path, gone)
    if source is not None:
        return source
    content = parse(data).content_hash
    same = (c.path for c in gone if c.path in old and parse(old[c.path]).content_hash == content)
    return next(same, None)


def _file(
    path: str, source: str | None, old: Mapping[str, bytes], new: Mapping[str, bytes]
) -> FileChange:
    if bucket_of(path) is None or is_generated(path):
        return FileChange(path, How.OTHER)
    before, after = old.get(source or path), new.get(path)
    told = parse(after if after is not None else before or b"")
    was = parse(before) if before is not None else None
    pieces: tuple[Piece, ...] = ()
    if was is not None and after is not None and was.content_hash != told.content_hash:
        pieces = compare_words(was.body_text, told.body_text)
    return FileChange(
        path,
        _how(path, source, before, after, has_new_words=bool(pieces)),
        source,
        told.title,
        told.claim,
        pieces if any(piece.kind is not DiffKind.SAME for piece in pieces) else (),
        _head_changes(before, after) if before is not None and after is not None else (),
    )


def _how(
    path: str, source: str | None, before: bytes | None, after: bytes | None, *, has_new_words: bool
) -> How:
    if after is None:
        return How.REMOVED
    if before is None:
        return How.CREATED
    if source is not None and original_path(path) is not None and original_path(source) is None:
        return How.ARCHIVED
    if source is not None and original_path(source) is not None and original_path(path) is None:
        return How.RESTORED
    if source is not None:
        return How.MOVED
    return How.REWRITTEN if has_new_words else How.RESTAMPED


def _head_changes(before: bytes, after: bytes) -> tuple[HeadChange, ...]:
    old, new = _statements(before), _statements(after)
    went = [HeadChange(*statement, came=False) for statement in old if statement not in new]
    came = [HeadChange(*statement, came=True) for statement in new if statement not in old]
    return (*went, *came)


def _statements(data: bytes) -> list[tuple[str, str]]:
    head = HeadSplicer(data)
    return [(each.key, each.value or "") for each in (*head.metas, *head.links)]


def _plain(line: str) -> str:
    """Return a commit's subject without the name of its phase."""
    return line.partition("): ")[2] or line
