"""A store over time, from its commits: what happened, commit by commit or on the whole.

`read_log` tells each commit by itself, newest first. `digest` compares two states of the whole
tree, so what was learned and forgotten again within the time, or corrected twice, is told once.
Edits that are not committed are told by neither.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from memhtml.digest.happening import Happening, Shift, What, find_happenings
from memhtml.digest.moments import moment
from memhtml.format.parse import parse
from memhtml.model.errors import InvalidFlag
from memhtml.model.instants import stamp
from memhtml.model.paths import path_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memhtml.corpus import Corpus
    from memhtml.model.document import Document
    from memhtml.model.history import Commit, Delta
    from memhtml.model.ports import Progress

__all__ = ["Digest", "LogEntry", "digest", "read_log"]

_MOST_TOLD = 50
"""Files of one commit that a log reads; a batch of thousands would make it wait for minutes."""

_NEW = frozenset({What.LEARNED, What.CORRECTED, What.TASK_ADDED})
"""What the session did that the memory itself names."""


class LogEntry(NamedTuple):
    """One commit, and what became of memories in it."""

    commit: Commit
    happenings: tuple[Happening, ...]
    untold: int
    """Files of memories that this commit changed beyond those that were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What happened between two states of a store."""

    since: str | None
    """The commit before all of it; None where the store did not exist yet."""
    since_at: str | None
    """The moment that was asked for, or that of the commit *since*."""
    until: str | None
    """The last commit of it; None in a store without commits."""
    until_at: str
    commits: int
    happenings: tuple[Happening, ...]

    @property
    def counts(self) -> dict[What, int]:
        """How often each thing happened; what never did is left out."""
        counts: dict[What, int] = {}
        for happening in self.happenings:
            counts[happening.what] = counts.get(happening.what, 0) + 1
        return counts


def read_log(
    corpus: Corpus,
    *,
    limit: int | None = None,
    since: str | None = None,
    until: str | None = None,
    session: str | None = None,
    author: str | None = None,
) -> Iterator[LogEntry]:
    """Yield the commits of *corpus*, newest first, at most *limit* of them.

    *since* and *until* are moments or commits, as in `digest`. *session* and *author* keep what
    they made: as the commit says or as the memory does; of a name a part will do.

    Raises:
        InvalidFlag: *since* or *until* is neither a moment nor a commit.
    """
    start = None if until is None else _state(corpus, until, "until", to_the_end=True).commit
    if until is not None and start is None:
        return
    without = None if since is None else _state(corpus, since, "since").commit
    count = 0
    for commit in corpus.commits(until=start, without=without):
        if limit is not None and count >= limit:
            return
        entry = _entry(corpus, commit)
        if session is not None and not _is_of_session(entry, session):
            continue
        if author is not None and not _is_by(entry, author.casefold()):
            continue
        count += 1
        yield entry


def digest(
    corpus: Corpus, since: str, until: str | None = None, *, progress: Progress | None = None
) -> Digest:
    """Return what happened in *corpus* after *since* and up to *until*, or until now.

    Both are a day (UTC), an instant, how long ago (``3d``, ``2 weeks ago``), or a commit. What
    counts is when this store had it: what came in by a sync came when it was merged.

    Raises:
        InvalidFlag: One of them is neither a moment nor a commit, *until* comes first, or this
            clone does not go back that far.
    """
    begin = _state(corpus, since, "since")
    if until is None:
        end = _State(corpus.repo.head(), None)
    else:
        end = _state(corpus, until, "until", to_the_end=True)
    _require_order(corpus, begin, end, since)
    before, after = _files(corpus, begin.commit), _files(corpus, end.commit)
    differing = sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )
    documents = _documents(
        corpus,
        {sha for path in differing for sha in (before.get(path), after.get(path)) if sha},
        progress,
    )
    shifts = [
        Shift(path, _of(documents, before.get(path)), _of(documents, after.get(path)))
        for path in differing
    ]

    def look(path: str) -> Document | None:
        return next(iter(_documents(corpus, {after[path]}).values())) if path in after else None

    happenings = find_happenings(shifts, look)
    # Newest first, so the commit that is found for a path is the last that changed it.
    told_by: dict[str, Commit] = {}
    count = 0
    if end.commit is not None:
        for commit in corpus.commits(until=end.commit, without=begin.commit):
            count += 1
            for delta in commit.deltas:
                told_by.setdefault(delta.path, commit)
    return Digest(
        since=begin.commit,
        since_at=begin.at,
        until=end.commit,
        until_at=end.at or stamp(corpus.now()),
        commits=count,
        happenings=tuple(_dated(each, told_by.get(each.path)) for each in happenings),
    )


class _State(NamedTuple):
    commit: str | None
    at: str | None


def _state(corpus: Corpus, name: str, flag: str, *, to_the_end: bool = False) -> _State:
    """Return the commit that the store was at a moment, or that *name* names."""
    at = moment(name, corpus.now(), to_the_end=to_the_end)
    if at is not None:
        # What was committed in the very second of a beginning belongs to what came after it.
        latest = at if to_the_end else _a_second_before(at)
        return _State(corpus.repo.commit_before(latest), at)
    commit = corpus.repo.find_commit(name)
    if commit is None:
        raise InvalidFlag(
            f"--{flag}: {name!r} is no commit of this store, and no moment such as 2026-12-01, "
            "yesterday or 3d",
            suggestions=("memhtml log",),
        )
    return _State(commit, next(corpus.commits(until=commit)).at)


def _require_order(corpus: Corpus, begin: _State, end: _State, since: str) -> None:
    """Refuse what would be told backwards, or tell what is not known as what was not there.

    Raises:
        InvalidFlag: It would.
    """
    before, after = begin.commit, end.commit
    is_past = before is not None and (after is None or corpus.repo.is_ancestor(after, before))
    if is_past and before != after:
        raise InvalidFlag("--since is later than --until", suggestions=("memhtml log",))
    if before is None and after is not None and corpus.repo.is_shallow:
        raise InvalidFlag(
            f"--since: this clone was made without the history that goes back to {since!r}",
            suggestions=("git fetch --unshallow",),
        )


def _a_second_before(instant: str) -> str:
    # A leap second is no second that Python knows; the one before it is near enough.
    at = datetime.fromisoformat(instant.replace(":60Z", ":59Z")).astimezone(UTC)
    try:
        return stamp(at - timedelta(seconds=1))
    except OverflowError:  # the first of all
        return instant


def _files(corpus: Corpus, commit: str | None) -> dict[str, str]:
    if commit is None:
        return {}
    entries = corpus.repo.list_tree(commit)
    return {entry.path: entry.sha for entry in entries if path_fault(entry.path) is None}


def _documents(
    corpus: Corpus, shas: Iterable[str], progress: Progress | None = None
) -> dict[str, Document]:
    wanted = sorted(shas)
    documents: dict[str, Document] = {}
    for sha, data in corpus.repo.read_blobs(wanted):
        documents[sha] = parse(data)
        if progress is not None:
            progress(len(documents), len(wanted))
    return documents


def _of(documents: Mapping[str, Document], sha: str | None) -> Document | None:
    return None if sha is None else documents[sha]


def _entry(corpus: Corpus, commit: Commit) -> LogEntry:
    deltas = [delta for delta in commit.deltas if path_fault(delta.path) is None]
    told = _first_together(deltas)
    shas = {sha for delta in told for sha in (delta.before, delta.after) if sha}
    documents = _documents(corpus, shas)
    shifts = [
        Shift(delta.path, _of(documents, delta.before), _of(documents, delta.after))
        for delta in told
    ]
    happenings = find_happenings(shifts, _look(corpus, commit.sha))
    return LogEntry(
        commit, tuple(_dated(each, commit) for each in happenings), len(deltas) - len(told)
    )


def _first_together(deltas: list[Delta]) -> list[Delta]:
    """Return the first of *deltas*, both ends of a move together."""
    if len(deltas) <= _MOST_TOLD:
        return deltas
    from memhtml.store.lineage import sources  # noqa: PLC0415 - only for a large commit

    moved = sources(
        came=[delta.path for delta in deltas if delta.before is None],
        gone=[delta.path for delta in deltas if delta.after is None],
        replaced=[delta.path for delta in deltas if delta.before and delta.after],
    )
    came = [delta.path for delta in deltas if delta.after is not None][:_MOST_TOLD]
    wanted = {*came, *(moved[path] for path in came if path in moved)}
    return [delta for delta in deltas if delta.path in wanted] or deltas[:_MOST_TOLD]


def _look(corpus: Corpus, commit: str) -> Callable[[str], Document | None]:
    from memhtml.model.errors import PathNotFound  # noqa: PLC0415 - goes with it

    def look(path: str) -> Document | None:
        try:
            return parse(corpus.repo.read_at(commit, path))
        except PathNotFound:
            return None

    return look


def _dated(happening: Happening, commit: Commit | None) -> Happening:
    if commit is None:
        return happening
    return replace(
        happening,
        reason=commit.reason,
        commit=commit.sha,
        at=commit.at,
        session=(happening.session if happening.what in _NEW else None) or commit.session,
    )


def _is_of_session(entry: LogEntry, session: str) -> bool:
    return entry.commit.session == session or any(
        happening.session == session for happening in entry.happenings
    )


def _is_by(entry: LogEntry, name: str) -> bool:
    return name in entry.commit.author.casefold() or any(
        name in (happening.author or "").casefold() for happening in entry.happenings
    )
