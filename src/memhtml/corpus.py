"""A store and its index, opened together: the one way in for whoever stands above.

Writing goes plan, commit, rows, under the store's lock; so two processes that write the same fact
at once write it once. Reading brings the index up to the tree first; so a file edited by hand a
moment ago is found. What a call does not need is not imported: a search loads no parser, and a
read no database.
"""

from __future__ import annotations

import os
from _thread import RLock, get_ident
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memhtml.index import indexer
from memhtml.index.database import open_index
from memhtml.model.closing import Closing
from memhtml.model.errors import (
    Busy,
    GitFailure,
    IndexStale,
    InvalidFlag,
    InvalidMemory,
    MemhtmlError,
    MemoriesMissing,
    PathNotFound,
    StorageFailure,
    UnfinishedCommit,
    UsageError,
)
from memhtml.model.instants import stamp
from memhtml.model.shell import quoted
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    from _typeshed import DataclassInstance

    from memhtml.index.database import Index
    from memhtml.index.embed import Coverage, Embedded
    from memhtml.index.indexer import Report
    from memhtml.index.lookup import ListedFile, SkippedFile
    from memhtml.index.rows import Rows
    from memhtml.index.usage import (
        Moment,
        Reinforced,
        SessionLink,
        Signal,
        Usage,
        UsagePlane,
    )
    from memhtml.model.changes import (
        Archived,
        Batch,
        Corrected,
        Correction,
        Edited,
        Linked,
        Place,
        Request,
        TaskUpdated,
        Unarchived,
    )
    from memhtml.model.document import Document
    from memhtml.model.history import Blamed, Commit, Piece, Synced, Version
    from memhtml.model.memory import Checked, Draft, Memory, Written
    from memhtml.model.ports import DenseEncoder, Progress, SparseEncoder
    from memhtml.model.tree import TreeEntry, WorktreeChange
    from memhtml.model.vocabulary import Bucket, Rel, TaskStatus
    from memhtml.search.answers import Question
    from memhtml.search.graph import GraphEdge, Neighbourhood
    from memhtml.search.lists import EntityList, FileList, ListedTask, TagUse, TaskList
    from memhtml.search.models import Models
    from memhtml.search.ranking import Means
    from memhtml.search.recall import Pack, Unit
    from memhtml.search.scope import Scope
    from memhtml.search.search import Hits
    from memhtml.search.similar import Similar
    from memhtml.search.trail import Trail
    from memhtml.store.batch import BatchOptions
    from memhtml.store.plan import File, Planned, View
    from memhtml.store.repo import InitReport
    from memhtml.store.sync import SyncOptions
    from memhtml.traces.database import TraceBase

__all__ = ["Corpus", "Health", "IndexStatus", "UsageExport"]

_ATTEMPTS = 10

T = TypeVar("T")
A = TypeVar("A", "Hits", "Pack")
R = TypeVar("R", bound="DataclassInstance")


class IndexStatus(NamedTuple):
    """What the index holds, and for which state of the tree."""

    head: str | None
    """The commit HEAD is."""
    indexed: str | None
    """The commit the index describes, hand edits on top; None before it was built."""
    files: int
    skipped: int
    rebuilt_at: str | None
    updated_at: str | None
    chunks: int = 0
    texts: int = 0
    """Distinct texts of the chunks: so many can have vectors."""

    @property
    def is_fresh(self) -> bool:
        """Whether the index describes HEAD."""
        return self.rebuilt_at is not None and self.head == self.indexed


class Health(NamedTuple):
    """How a store is."""

    root: str
    head: str | None
    dirty: tuple[str, ...]
    """Paths with changes that are not committed, sorted."""
    counts_by_type: Mapping[str, int]
    """Active memories; types without any are left out."""
    archived: int
    skipped: tuple[SkippedFile, ...]
    index_status: IndexStatus
    coverage: tuple[Coverage, ...] = ()
    """How much has vectors, for each vector space the index has rows of."""


class UsageExport(NamedTuple):
    """What an export of usage did."""

    path: str
    """Of the committed copy."""
    rows: int
    commit: str | None
    """None when the copy said so already."""


class Corpus(Closing):
    """An open store; a context manager. Iterating yields its memories.

    Threads may share one. A write waits for the write before it; nothing else waits, for every
    thread reads the index over a connection of its own.
    """

    def __init__(
        self,
        repo: Repo,
        clock: Callable[[], datetime],
        on_lag: Callable[[str], object],
        detect: Callable[[str], str | None],
        cache_dir: str | None = None,
        *,
        encoder: DenseEncoder | None = None,
        is_warm: bool = False,
    ) -> None:
        self._store = repo
        self._clock = clock
        self._on_lag = on_lag
        self._detect = detect
        self._cache_dir = cache_dir
        self._encoder = encoder
        self._is_warm = is_warm
        self._is_closed = False
        self._opened: dict[int, Index] = {}
        """By thread. One that ended leaves its own to the next that gets its number."""
        self._building = RLock()
        self._models: Models | None = None

    @classmethod
    def init(
        cls, root: str | os.PathLike[str], *, clock: Callable[[], datetime] | None = None
    ) -> InitReport:
        """Make *root* a store, or complete one; change nothing where nothing is missing.

        Raises:
            GitFailure: git is missing or refuses.
            StorageFailure: The folder cannot be written to.
        """
        return Repo.init(os.fspath(root), clock=_seconds(clock or _now))

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str],
        *,
        clock: Callable[[], datetime] | None = None,
        durability: str = "bulk",
        index_delay: float = 0.0,
        on_lag: Callable[[str], object] = lambda _: None,
        detect: Callable[[str], str | None] | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        encoder: DenseEncoder | None = None,
        is_warm: bool = False,
    ) -> Self:
        """Open the store at *root*.

        *durability* is ``none``, ``bulk`` or ``each``: whether a commit waits for the disk, once
        for all its files or once for each. *clock* gives the time to stamp with. *index_delay* is
        for long-lived processes: for so many seconds after a write git's index may lag behind.
        *on_lag* hears why files or an index could not follow a commit that was made. *detect*
        proposes the language of a fence that names none; by default our own detector does. Models
        stand in *cache_dir*; by default in the user's cache folder. *encoder* is a dense one that
        questions are put to as well, if the index has vectors of it; a process that *is_warm*, for
        it lives on, loads the one that the index has vectors of with its first question.

        Raises:
            NotAStore: *root* is not the top of its own git repository.
        """
        clock = clock or _now
        repo = Repo.open(
            os.fspath(root),
            clock=_seconds(clock),
            durability=durability,
            index_delay=index_delay,
        )
        folder = None if cache_dir is None else os.fspath(cache_dir)
        return cls(repo, clock, on_lag, detect or _detect, folder, encoder=encoder, is_warm=is_warm)

    def close(self) -> None:
        """Bring git's index in step and let go of everything; closing twice is harmless.

        Calls that other threads are in the midst of have to end first.
        """
        self._is_closed = True
        try:
            while self._opened:
                self._opened.popitem()[1].close()
        finally:
            self._store.close()

    @property
    def root(self) -> str:
        """Top of the store, absolute, symlinks resolved."""
        return self._store.root

    def __repr__(self) -> str:
        return f"<Corpus {self.root!r}{', closed' if self._is_closed else ''}>"

    # One memory

    def write(self, draft: Draft, *, allow_secret: bool = False) -> Written:
        """Write one memory as one commit, or name the one that says it already.

        Raises:
            InvalidPath: `Draft.path` is not usable.
            InvalidMemory: *draft* would not make a valid file.
            SecretFound: The file would hold a credential, and *allow_secret* is not given.
            WriteConflict: `Draft.path` is occupied.
        """
        from memhtml.store.write import plan_write  # reading never needs it

        planned, commit = self.carry_out(
            lambda view, now: plan_write(
                draft, view, now=now, detect=self._detect, allow_secret=allow_secret
            )
        )
        return _made_by(commit, planned.result)

    def read(self, path: str) -> Memory:
        """Return the memory at *path* as it is on disk, hand edits included.

        Raises:
            PathNotFound: Nothing stands there.
        """
        from memhtml.format.parse import parse  # loads the parser
        from memhtml.model.memory import Memory  # goes with it
        from memhtml.model.paths import memory_path  # goes with it

        try:
            here = memory_path(path)
        except InvalidMemory:
            raise PathNotFound(path) from None
        data = self._repo.read_file(here)
        if data is None:
            raise PathNotFound(here, suggestions=(f"memhtml search {quoted(_stem(here))}",))
        return Memory(path=here, sha=self._repo.sha_of(data), document=parse(data))

    def correct(self, correction: Correction, *, allow_secret: bool = False) -> Corrected:
        """Let a new memory take the place of one that is no longer true, in one commit.

        Raises:
            PathNotFound: No memory stands at the target.
            WriteConflict: The target is not the version the caller read.
            InvalidMemory: The target is archived already, or the new memory would not be valid.
            DuplicateContent: Another active memory says already what the new one would say.
            SecretFound: The new memory would hold a credential.
        """
        from memhtml.store.correct import plan_correct  # only here

        planned, commit = self.carry_out(
            lambda view, now: plan_correct(
                correction, view, now=now, detect=self._detect, allow_secret=allow_secret
            )
        )
        if correction.session_id is not None and commit is not None:
            self._note_correction(planned.result.path, correction)
        return _made_by(commit, planned.result)

    def edit(
        self,
        path: str,
        data: bytes,
        *,
        expect: str | None = None,
        reason: str | None = None,
        allow_secret: bool = False,
    ) -> Edited:
        """Let the file at *path* be *data*, its stamps brought up to date, as one commit.

        For who edits a memory as a whole; what is no longer true is better corrected, which keeps
        the old one at hand. *expect* is the blob sha of the version that was edited.

        Raises:
            PathNotFound: No memory stands there, or a new link leads to where nothing does.
            WriteConflict: The memory is not the version that was edited.
            InvalidMemory: *data* is no memory.
            DuplicateContent: Another active memory says already what *data* says.
            SecretFound: *data* would hold a credential.
        """
        from memhtml.store.edit import plan_edit  # only here

        planned, commit = self.carry_out(
            lambda view, now: plan_edit(
                path,
                data,
                view,
                now=now,
                expect=expect,
                reason=reason,
                allow_secret=allow_secret,
            )
        )
        return _made_by(commit, planned.result)

    def archive(self, path: str, *, reason: str) -> Archived:
        """Move a memory into the archive.

        Raises:
            PathNotFound: No memory stands there.
            InvalidMemory: It is archived already.
        """
        from memhtml.store.archive import plan_archive  # only here

        planned, commit = self.carry_out(
            lambda view, now: plan_archive(path, view, now=now, reason=reason)
        )
        return _made_by(commit, planned.result)

    def unarchive(self, path: str, *, force: bool = False) -> Unarchived:
        """Move an archived memory back to where it stood.

        Raises:
            PathNotFound: Nothing stands at *path*.
            InvalidMemory: It is not archived, or superseded and *force* is not given.
            WriteConflict: Its old place is taken.
        """
        from memhtml.store.archive import plan_unarchive  # only here

        planned, commit = self.carry_out(
            lambda view, now: plan_unarchive(path, view, now=now, force=force)
        )
        return _made_by(commit, planned.result)

    def link(self, src: str, rel: Rel, dst: str) -> Linked:
        """Link one memory to another; nothing happens when it is so already.

        Raises:
            PathNotFound: Either end is missing.
            InvalidMemory: *rel* may not join these two.
        """
        from memhtml.store.link import plan_link  # only here

        planned, commit = self.carry_out(lambda view, _: plan_link(src, rel, dst, view))
        return _made_by(commit, planned.result)

    def unlink(self, src: str, rel: Rel, dst: str) -> Linked:
        """Remove a link, if it is there.

        Raises:
            PathNotFound: *src* is missing.
        """
        from memhtml.store.link import plan_unlink  # only here

        planned, commit = self.carry_out(lambda view, _: plan_unlink(src, rel, dst, view))
        return _made_by(commit, planned.result)

    def set_task_status(
        self, path: str, status: TaskStatus, *, reason: str | None = None
    ) -> TaskUpdated:
        """Give a task a status; finishing archives it, reopening brings it back.

        Raises:
            PathNotFound: Nothing stands at *path*.
            InvalidMemory: It is not a task.
            WriteConflict: It would come back to a place that is taken.
        """
        from memhtml.store.task import plan_task_status  # only here

        planned, commit = self.carry_out(
            lambda view, now: plan_task_status(path, status, view, now=now, reason=reason)
        )
        return _made_by(commit, planned.result)

    # Many

    def apply(
        self,
        requests: Sequence[Request | MemhtmlError],
        options: BatchOptions | None = None,
        *,
        on_progress: Callable[[int], None] | None = None,
    ) -> Batch:
        """Carry out many requests as one commit; see `memhtml.store.batch`."""
        from functools import partial  # only here

        from memhtml.index.project import unplaced  # a write needs it anyway
        from memhtml.store.ahead import Order, making_ahead  # only here
        from memhtml.store.batch import BatchOptions, plan_batch  # goes with it

        options = options or BatchOptions()

        def plan(view: View, now: datetime) -> Planned[Batch]:
            project = partial(unplaced, chunk_chars=self._index.chunk_chars)
            with making_ahead(requests, Order(stamp(now), options.allow_secret, project)) as ahead:
                return plan_batch(
                    requests,
                    view,
                    now=now,
                    options=options,
                    detect=self._detect,
                    ahead=ahead,
                    on_progress=on_progress,
                )

        planned, commit = self.carry_out(plan)
        return _made_by(commit, planned.result)

    def put(
        self,
        places: Sequence[Place],
        *,
        archive: Sequence[str] = (),
        reason: str = "",
        allow_secret: bool = False,
    ) -> str | None:
        """Let each of *places* stand where it says, and archive *archive* for *reason*.

        For memories known by their path, such as items under keys. One commit, all or nothing; its
        sha comes back, None when everything was so already. See `memhtml.store.put`.

        Raises:
            InvalidPath: A draft names no path, or one that is not usable.
            InvalidMemory: A draft would not make a valid file, or *reason* is blank.
            PathNotFound: Nothing stands where a file is to be moved from, or at one of *archive*.
            SecretFound: A file would hold a credential, and *allow_secret* is not given.
            WriteConflict: A file is not the version that is expected, or its new place is taken.
        """
        from memhtml.store.put import plan_put  # only here

        _, commit = self.carry_out(
            lambda view, now: plan_put(
                places, view, now=now, archive=archive, reason=reason, allow_secret=allow_secret
            )
        )
        return commit

    def choose(
        self,
        *,
        tag: str | None = None,
        entity: str | None = None,
        older_than_days: int | None = None,
    ) -> list[str]:
        """Return the active memories, tasks left out, that pass every filter given, sorted.

        *older_than_days* counts from the last update.
        """
        from memhtml.index.lookup import select_paths  # only here
        from memhtml.search.scope import make_scope, where  # goes with it

        self.update()
        scope = make_scope(tags=() if tag is None else (tag,), entity=entity)
        before = None
        if older_than_days is not None:
            before = stamp(self._clock() - timedelta(days=older_than_days))
        return select_paths(self._index, *where(scope), updated_before=before)

    def memories(self, *, include_archived: bool = False) -> Iterator[Memory]:
        """Yield the memories of the store in order of path, as they are on disk."""
        from memhtml.index.lookup import list_paths  # only here

        self.update()
        for path in list_paths(self._index, include_archived=include_archived):
            try:
                yield self.read(path)
            except PathNotFound:
                continue  # removed by hand since

    def __iter__(self) -> Iterator[Memory]:
        return self.memories()

    def tasks(
        self,
        scope: Scope | None = None,
        *,
        statuses: Sequence[TaskStatus] = (),
        due_before: str | None = None,
    ) -> Iterator[ListedTask]:
        """Yield every task that `list_tasks` would list, page after page.

        Raises:
            InvalidFlag: *due_before* is no day.
        """
        from memhtml.search.lists import MAX_PAGE  # only here

        cursor = None
        while True:
            page = self.list_tasks(
                scope, statuses=statuses, due_before=due_before, limit=MAX_PAGE, cursor=cursor
            )
            yield from page.tasks
            cursor = page.next_cursor
            if cursor is None:
                return

    def check(self, paths: Sequence[str] | None = None) -> Iterator[Checked]:
        """Yield what is found in each file at *paths*, or in all that stand where memories do.

        The files are read from disk, so hand edits count; those that are no memories come too, in
        order of path. Nothing is changed.

        Raises:
            PathNotFound: One of *paths* has no file.
        """
        from memhtml.format.parse import parse  # loads the parser
        from memhtml.index.lookup import list_paths, skipped_files  # only here
        from memhtml.model.memory import Checked  # goes with it
        from memhtml.model.paths import normalize_path  # goes with it

        if paths is None:
            self.update()
            skipped = (file.path for file in skipped_files(self._index))
            wanted = sorted({*list_paths(self._index, include_archived=True), *skipped})
        else:
            wanted = [normalize_path(path) for path in paths]
        for path in wanted:
            data = self.read_file(path)
            if data is not None:
                yield Checked(path=path, diagnostics=parse(data).diagnostics)
            elif paths is None:
                yield Checked(path=path, is_unreadable=True)
            else:
                raise PathNotFound(path)

    # Any change, as a plan

    def carry_out(
        self, planner: Callable[[View, datetime], Planned[T]]
    ) -> tuple[Planned[T], str | None]:
        """Let *planner* plan, and commit what it planned; return both.

        It happens under the lock, with the index at HEAD, so nothing changes between the two. Once
        the commit is made there is no failure any more: a file or an index that cannot follow is
        told to *on_lag* of `open`, and follows with the next call.

        Raises:
            Busy: Another process kept a lock for longer than we wait.
            WriteConflict: A file is not as HEAD has it, or its changes are staged.
            RepositoryState: HEAD is detached, or a merge or the like is under way.
            StorageFailure: The disk is full or refuses.
        """
        commit: str | None = None
        try:
            with self._repo.writing():
                planned = self._planned(planner)
                if planned.plan is None:
                    return planned, None
                try:
                    commit = self._repo.apply(planned.plan)
                except UnfinishedCommit as error:
                    commit = error.commit
                    self._on_lag(error.message)
                self._follow(planned.documents)
        except (GitFailure, StorageFailure) as error:
            if commit is None:
                raise
            self._on_lag(f"git's index could not follow: {error.message}; the next write does it")
        return planned, commit

    def _planned(self, planner: Callable[[View, datetime], Planned[T]]) -> Planned[T]:
        """Let *planner* plan on one unchanging view of the index, at HEAD."""
        for _ in range(_ATTEMPTS):
            self.update(scan=False)
            try:
                with self._index.reading("plan a change"):
                    # A rebuild that began before the last commit may just have taken its place.
                    state = self._index.state()
                    if state is not None and state.head_sha == self._repo.head():
                        return planner(_TreeView(self._repo, self._index), self._clock())
            except IndexStale:
                self.rebuild()  # a damaged page, which nothing had to read until now
        raise Busy("somebody keeps building the index anew")

    def _follow(self, documents: Mapping[bytes, Document | Rows]) -> None:
        """Let the index follow our own commit; whatever happens, the commit stands."""
        try:
            now = stamp(self._clock())
            indexer.update(self._index, self._repo, now=now, scan=False, parsed=documents)
        except Exception as error:  # noqa: BLE001 - what is committed must not look like a failure
            reason = error.message if isinstance(error, MemhtmlError) else repr(error)
            self._on_lag(f"the search index could not follow: {reason}; the next call does it")

    # For those who plan

    def listing(self) -> Iterator[ListedFile]:
        """Yield every memory with what listings show, in order of path, hand edits included."""
        from memhtml.index.lookup import list_entries  # only here

        # All at once: whoever writes while going through them would be inside one view for long.
        return iter(list(list_entries(self._index)))

    def overlaid_paths(self) -> frozenset[str]:
        """Return the paths that are indexed as they are on disk and not as HEAD has them."""
        from memhtml.index.lookup import overlaid_paths  # only here

        return overlaid_paths(self._index)

    def committed_files(self) -> Iterator[TreeEntry]:
        """Yield every file of HEAD."""
        head = self._repo.head()
        return self._repo.list_tree(head) if head else iter(())

    def worktree_changes(self) -> list[WorktreeChange]:
        """Return how the files on disk differ from HEAD, each untracked file by itself."""
        return self._repo.worktree_changes()

    def read_file(self, path: str) -> bytes | None:
        """Return the file at *path* on disk; None when that is no regular file we may read."""
        try:
            return self._repo.read_file(path)
        except StorageFailure:
            return None

    def indexed_files(self) -> dict[str, str]:
        """Return the blob sha of every memory in the index, by path."""
        from memhtml.index.lookup import indexed_files  # only here

        return indexed_files(self._index)

    def now(self) -> datetime:
        """Return the time to stamp with."""
        return self._clock()

    @property
    def repo(self) -> Repo:
        """The repository, for who examines the clone itself."""
        return self._repo

    def view(self) -> View:
        """Return HEAD's tree for planners that work outside of `carry_out`.

        What they plan must name what it expects, for others may write meanwhile.
        """
        return _TreeView(self._repo, self._index)

    @property
    def index(self) -> Index:
        """The index, for who reads it in bulk; not brought up to date by this."""
        return self._index

    def lend_index(self, root: str) -> None:
        """Give the working tree at *root* a copy of the index to start from."""
        from memhtml.index.database import lend  # only here

        lend(self._index, root)

    def read_committed(self, path: str) -> bytes | None:
        """Return the file that HEAD has at *path*, or None."""
        found = self._repo.find(path)
        return None if found is None else found.data

    def sha_of(self, data: bytes) -> str:
        """Return git's name for a file of exactly these bytes."""
        return self._repo.sha_of(data)

    # Over time

    def history(self, path: str) -> tuple[Version, ...]:
        """Return the versions of the memory at *path*, newest first, across all its moves.

        Raises:
            PathNotFound: No commit has such a memory.
        """
        from memhtml.store.history import history  # only here

        return history(self._repo, path)

    def commits(self, *, until: str | None = None, without: str | None = None) -> Iterator[Commit]:
        """Yield the commits of the store, newest first, each with what it changed.

        *until* is where to begin, HEAD if absent; what *without* has is left out.
        """
        from memhtml.store.history import commits  # only here

        start = until or self._repo.head()
        return commits(self._repo, start, without=without) if start else iter(())

    def compare_versions(self, versions: Sequence[Version]) -> tuple[tuple[Piece, ...], ...]:
        """Return for each of *versions*, newest first, its words against the next older one's."""
        from memhtml.store.history import compare_versions  # only here

        return compare_versions(self._repo, versions)

    def blame(self, path: str) -> tuple[Blamed, ...]:
        """Return each sentence of the memory at *path* with the version that first said it.

        Raises:
            PathNotFound: No commit has such a memory.
        """
        from memhtml.store.history import blame  # only here

        return blame(self._repo, path)

    def sync(
        self,
        options: SyncOptions | None = None,
        *,
        on_pulled: Callable[[], object] = lambda: None,
    ) -> Synced:
        """Bring this clone and its remote together; see `memhtml.store.sync`.

        *on_pulled* is called when commits came in, with the index at them, and before anything is
        pushed: the moment to publish anew.

        Raises:
            RemoteFailure: The remote cannot be reached, or refuses.
            RepositoryState: HEAD is detached, or a merge or the like is under way.
            DirtyTree: Files that the remote's commits change have changes that are not committed.
            Busy: Somebody else pushed at the same time, or holds a lock.
        """
        from memhtml.store.sync import SyncOptions, sync  # only here

        def pulled() -> None:
            self.update()
            on_pulled()

        return sync(self._repo, options or SyncOptions(), now=self._clock(), on_pulled=pulled)

    # Search

    def search(
        self,
        text: str,
        scope: Scope | None = None,
        *,
        limit: int = 10,
        scan: bool = True,
        cursor: str | None = None,
        abstain: bool = True,
        neighbours: bool = True,
        at: str | None = None,
        dense: bool | None = None,
    ) -> Hits:
        """Return the memories that answer *text*, best first; see `memhtml.search`.

        *scan* looks for files edited by hand first; without it only commits are followed. *cursor*
        asks for the page after the answer that gave it. Without *abstain*, whatever matches at all
        comes back, be it an answer or not; without *neighbours*, only what matches itself does.
        *at* names a commit: the answer is what the store would have said then. With *dense*, a
        dense model is loaded if need be, a quarter of a second; by default only one that is there
        is asked. The answer says what was not.

        Raises:
            InvalidFlag: A filter, *limit*, *cursor* or *at* is not one that can be used.
            Busy: Another process holds the index.
            StorageFailure: The index or the store cannot be read.
        """
        from memhtml.search.search import search  # a write never needs it

        def ask(index: Index) -> Hits:
            means = self._means(dense=dense)._replace(with_neighbours=neighbours)
            return search(index, text, scope, limit, cursor=cursor, abstain=abstain, means=means)

        return self._ask(ask, scan=scan) if at is None else self._ask_past(ask, at)

    def questions(self) -> list[Question]:
        """Return the questions that memories say they answer, those changed last first."""
        from memhtml.search.answers import questions  # only here

        self.update(scan=False)
        return questions(self._index)

    def recall(
        self,
        text: str,
        scope: Scope | None = None,
        *,
        budget: int = 16_000,
        arc_budget: int | None = None,
        unit: Unit | None = None,
        limit: int = 30,
        scan: bool = True,
        dense: bool | None = None,
    ) -> Pack:
        """Return what memories say about *text*, quoted within a budget; see `search.recall`.

        *dense* is that of `search`.

        Raises:
            InvalidFlag: A filter, a budget or *limit* is out of range.
            Busy: Another process holds the index.
            StorageFailure: The index or the store cannot be read.
        """
        from memhtml.search.recall import Unit, recall  # only here

        def ask(index: Index) -> Pack:
            return recall(
                index,
                text,
                scope,
                read=self._find_document,
                budget=budget,
                arc_budget=arc_budget,
                unit=unit or Unit.CHARS,
                limit=limit,
                means=self._means(dense=dense),
            )

        return self._ask(ask, scan=scan)

    def similar(
        self, path: str, scope: Scope | None = None, *, limit: int = 10, scan: bool = True
    ) -> tuple[Similar, ...]:
        """Return the memories most like the one at *path*.

        Raises:
            PathNotFound: No memory stands there.
            InvalidFlag: *limit* is out of range.
        """
        from memhtml.search.similar import similar  # only here

        self.update(scan=scan)
        return similar(self._index, path, scope, limit=limit, means=self._means())

    def resolve(self, path: str, *, scan: bool = True) -> Trail:
        """Return where *path*, old or new, leads today."""
        from memhtml.search.trail import resolve  # only here

        self.update(scan=scan)
        return resolve(self._index, path)

    def neighbors(
        self,
        path: str,
        *,
        depth: int = 1,
        rels: Sequence[Rel] = (),
        limit: int = 200,
        scan: bool = True,
    ) -> Neighbourhood:
        """Return the memories one or two links away from *path*, whatever way the links point.

        Raises:
            PathNotFound: No memory stands there.
            InvalidFlag: *depth* or *limit* is out of range.
        """
        from memhtml.search.graph import neighbours  # only here

        self.update(scan=scan)
        return neighbours(self._index, path, depth=depth, rels=rels, limit=limit)

    def find_route(
        self, start: str, end: str, *, rels: Sequence[Rel] = (), scan: bool = True
    ) -> tuple[GraphEdge, ...] | None:
        """Return the fewest links that join two memories, in order; None when nothing does.

        Raises:
            PathNotFound: No memory stands at one of the ends.
        """
        from memhtml.search.graph import find_route  # only here

        self.update(scan=scan)
        return find_route(self._index, start, end, rels=rels)

    def list_memories(
        self,
        scope: Scope | None = None,
        *,
        para: Bucket | None = None,
        limit: int = 50,
        cursor: str | None = None,
        scan: bool = True,
    ) -> FileList:
        """Return the memories in *scope* (default: active, tasks too) behind *cursor*, by path.

        Raises:
            InvalidFlag: *limit* is out of range.
        """
        from memhtml.search.lists import list_memories  # only here

        self.update(scan=scan)
        return list_memories(self._index, scope, para=para, limit=limit, cursor=cursor)

    def list_entities(
        self,
        scope: Scope | None = None,
        *,
        entity_type: str | None = None,
        limit: int = 50,
        scan: bool = True,
    ) -> EntityList:
        """Return what the memories in *scope* are about, the latest activity first.

        Raises:
            InvalidFlag: *limit* is out of range.
        """
        from memhtml.search.lists import list_entities  # only here

        self.update(scan=scan)
        return list_entities(self._index, scope, entity_type=entity_type, limit=limit)

    def list_tags(self, scope: Scope | None = None, *, scan: bool = True) -> tuple[TagUse, ...]:
        """Return the tags of the memories in *scope*, the most used first."""
        from memhtml.search.lists import list_tags  # only here

        self.update(scan=scan)
        return list_tags(self._index, scope)

    def list_tasks(
        self,
        scope: Scope | None = None,
        *,
        statuses: Sequence[TaskStatus] = (),
        due_before: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        scan: bool = True,
    ) -> TaskList:
        """Return the tasks in *scope* behind *cursor*, by path, with what blocks each.

        Raises:
            InvalidFlag: *limit* is out of range, or *due_before* no day.
        """
        from memhtml.search.lists import list_tasks  # only here

        self.update(scan=scan)
        return list_tasks(
            self._index,
            scope,
            statuses=statuses,
            due_before=due_before,
            limit=limit,
            cursor=cursor,
        )

    def _ask(self, ask: Callable[[Index], A], *, scan: bool) -> A:
        """Return an answer of an index that is not behind what the store says now."""
        for _ in range(_ATTEMPTS):
            try:
                head = self.update(scan=scan).head_sha
            except Busy:
                # Somebody indexes a large batch. What is not acknowledged yet need not be found.
                head = None
            answer = ask(self._index)
            seen = answer.indexed_commit
            # A rebuild that began before the last commit may just have taken the index's place.
            if head is None or head == seen or (seen and self._repo.is_ancestor(head, seen)):
                return answer
        raise Busy("somebody keeps building the index anew")

    def _ask_past(self, ask: Callable[[Index], A], name: str) -> A:
        """Return an answer of the index of the commit that *name* means."""
        from memhtml.index.snapshot import open_snapshot  # only here

        commit = self._repo.find_commit(name)
        if commit is None:
            raise InvalidFlag(f"{name!r} is no commit of this store")
        self.update(scan=False)
        now = stamp(self._clock())
        with open_snapshot(self._index, self._repo, self.root, commit, now=now) as index:
            return ask(index)

    def _means(self, *, dense: bool | None = None) -> Means:
        """Return what a search may use: usage, and the question side of the index's models."""
        if self._models is None:
            from memhtml.search.models import Models  # a write never needs it

            self._models = Models(self._cache_dir, encoder=self._encoder, is_warm=self._is_warm)
        means = self._models.means(self._index, dense=dense)
        return means._replace(usage=self.usage, now=stamp(self._clock()))

    def _find_document(self, path: str) -> Document | None:
        from memhtml.format.parse import parse  # loads the parser

        data = self.read_file(path)
        return None if data is None else parse(data)

    # The index

    def rebuild(self, *, progress: Progress | None = None) -> Report:
        """Build the index anew from HEAD and the files on disk; vectors are kept."""
        now = stamp(self._clock())
        return indexer.rebuild(self._index, self._repo, now=now, progress=progress)

    def embed(
        self,
        encoder: SparseEncoder | DenseEncoder,
        *,
        migrate: bool = False,
        workers: int = 1,
        limit: int | None = None,
        batch: int | None = None,
        progress: Progress | None = None,
    ) -> Embedded:
        """Give every text that lacks one a row in the space of *encoder*; see `index.embed`.

        Raises:
            EmbedModelMismatch: The index has rows of another space, and *migrate* is not given.
            ModelUnavailable: The model could not answer; what was encoded before is kept.
        """
        from memhtml.index.embed import embed  # only here

        self.update()
        return embed(
            self._index,
            encoder,
            migrate=migrate,
            workers=workers,
            limit=limit,
            batch=batch,
            progress=progress,
        )

    def coverage(self) -> tuple[Coverage, ...]:
        """Return how much of the index has vectors, for each vector space it has rows of."""
        from memhtml.index.embed import coverage  # only here

        return coverage(self._index)

    def update(self, *, scan: bool = True, progress: Progress | None = None) -> Report:
        """Bring the index up to HEAD and, with *scan*, to the files on disk.

        Where it has to be built anew *progress* hears of it, and ends it by raising.
        """
        if self._index.state() is None:
            with self._building:  # who waited finds it built
                return self._follow_tree(scan=scan, progress=progress)
        return self._follow_tree(scan=scan, progress=progress)

    def _follow_tree(self, *, scan: bool, progress: Progress | None) -> Report:
        now = stamp(self._clock())
        try:
            return indexer.update(self._index, self._repo, now=now, scan=scan, progress=progress)
        except MemoriesMissing:
            # A large commit whose files are still being placed, or never were because the process
            # died: taking the writers' lock waits for the one and finishes the other.
            try:
                with self._repo.writing():
                    pass
            except (Busy, StorageFailure):
                pass
            return indexer.update(self._index, self._repo, now=now, scan=scan, progress=progress)

    def index_damage(self) -> str | None:
        """Return what is wrong with the file of the index, None when nothing is."""
        return self._index.damage()

    def index_status(self) -> IndexStatus:
        """Return what the index holds; changes nothing."""
        state = self._index.state()
        head = self._repo.head()
        if state is None:
            return IndexStatus(head, None, 0, 0, None, None)
        return IndexStatus(
            head,
            state.head_sha,
            state.files,
            state.skipped,
            state.rebuilt_at,
            state.updated_at,
            state.chunks,
            state.texts,
        )

    def status(self) -> Health:
        """Return how the store is, its index brought up to date first."""
        from memhtml.index import lookup  # only here

        self._repo.flush()  # or git would call dirty what we committed a moment ago
        self.update()
        index = self._index
        return Health(
            root=self.root,
            head=self._repo.head(),
            dirty=tuple(sorted(change.path for change in self._repo.worktree_changes())),
            counts_by_type=lookup.count_by_type(index),
            archived=lookup.count_archived(index),
            skipped=lookup.skipped_files(index),
            index_status=self.index_status(),
            coverage=self.coverage(),
        )

    # Usage

    def reinforce(
        self, paths: Sequence[str], signal: Signal, *, moment: Moment | None = None
    ) -> Reinforced:
        """Record what came of the memories at *paths*; see `memhtml.index.usage`.

        Raises:
            PathNotFound: Nothing stands at one of them; then nothing is recorded.
        """
        from memhtml.index.lookup import find_file  # only here
        from memhtml.model.paths import normalize_path  # goes with it

        self.update(scan=False)
        wanted = [normalize_path(path) for path in paths]
        for path in wanted:
            if find_file(self._index, path) is None:
                raise PathNotFound(path)
        with self._usage() as plane:
            return plane.reinforce(wanted, signal, now=stamp(self._clock()), moment=moment)

    def record_read(self, path: str, *, moment: Moment | None = None) -> Reinforced:
        """Record that the memory at *path* was opened by somebody who wanted to know."""
        with self._usage() as plane:
            return plane.record_read(path, now=stamp(self._clock()), moment=moment)

    def usage(self, paths: Sequence[str]) -> dict[str, Usage]:
        """Return how those of *paths* that were ever used are used; makes no state plane."""
        from memhtml.index.state_file import has_usage  # only here

        if not has_usage(self.root):
            return {}
        with self._usage() as plane:
            return plane.find(paths)

    def links_of_session(self, session_id: str) -> list[SessionLink]:
        """Return what a session wrote, read, corrected and reinforced, in order of time."""
        from memhtml.index.lookup import written_in  # only here

        self.update(scan=False)
        with self._usage() as plane:
            done = plane.links_of_session(session_id)
        return sorted([*written_in(self._index, session_id), *done], key=lambda link: link.at)

    def links_of_path(self, path: str) -> list[SessionLink]:
        """Return which sessions wrote, read, corrected and reinforced the memory at *path*.

        In order of time, and wherever it stood: a *path* it has left will do.

        Raises:
            PathNotFound: No memory stands there, or ever stood.
        """
        from memhtml.index.lookup import replaced_by, written_at  # only here
        from memhtml.search.trail import StopReason  # goes with it

        trail = self.resolve(path, scan=False)
        places = dict.fromkeys([trail.requested, *(step.target for step in trail.steps)])
        places |= dict.fromkeys(replaced_by(self._index, trail.path))
        try:
            for version in self.history(trail.path):
                places |= dict.fromkeys(filter(None, (version.path, version.moved_from)))
        except PathNotFound:
            # One that is indexed all the same is a file nobody has committed yet.
            if trail.stop_reason is StopReason.UNINDEXED:
                raise
        with self._usage() as plane:
            done = [link for place in places for link in plane.links_of_path(place)]
        return sorted([*written_at(self._index, places), *done], key=lambda link: link.at)

    def traces(self) -> TraceBase:
        """Open what this store knows of transcripts; the caller closes it."""
        from memhtml.index.database import cache_folder, make_ignored_folder  # only here
        from memhtml.traces.database import open_traces  # goes with it

        folder = cache_folder(self.root)
        make_ignored_folder(folder)
        return open_traces(folder)

    def export_usage(self) -> UsageExport:
        """Commit the copy of usage that travels with the store, if it says something else."""
        from memhtml.format.usage import USAGE_PATH  # only here
        from memhtml.index.sidecar import exported  # goes with it
        from memhtml.store.plan import Planned, Put, subject  # goes with it

        with self._usage() as plane:
            rows = plane.rows()
        data = exported(rows)

        def plan(view: View, _: datetime) -> Planned[int]:
            there = view.find(USAGE_PATH)
            if (there.data if there else b"") == data:
                return Planned(result=len(rows))
            put = Put(USAGE_PATH, data, there.sha if there else None)
            return Planned(result=len(rows), steps=(put,), subject=subject("state", "export usage"))

        _, commit = self.carry_out(plan)
        return UsageExport(USAGE_PATH, len(rows), commit)

    def import_usage(self) -> int:
        """Take in the committed copy of usage; return how many memories that changed."""
        from memhtml.format.usage import USAGE_PATH  # only here
        from memhtml.index.sidecar import imported  # goes with it

        data = self.read_file(USAGE_PATH)
        with self._usage() as plane:
            return plane.merge(imported(data or b""))

    def unclaimed_usage(self) -> list[str]:
        """Return the paths that have usage and no memory, nor one that came in its place."""
        from memhtml.index.heirs import orphans, settle  # only here
        from memhtml.index.state_file import has_usage  # goes with it

        self.update()
        if not has_usage(self.root):
            return []
        settle(self._index.connection, self.root)
        with self._usage() as plane:
            return orphans(self._index.connection, plane)

    def forget_usage(self, paths: Sequence[str]) -> int:
        """Remove what is known of the use of *paths*; return how many memories that was."""
        with self._usage() as plane:
            return plane.forget(paths)

    # How

    @property
    def _repo(self) -> Repo:
        if self._is_closed:
            raise UsageError("the corpus is closed")
        return self._store

    @property
    def _index(self) -> Index:
        """The index, over the connection of this thread."""
        thread = get_ident()
        found = self._opened.get(thread)
        if found is None:
            found = self._opened[thread] = open_index(self._repo.root)
        return found

    def _usage(self) -> UsagePlane:
        from memhtml.index.usage import open_usage  # only who uses something

        return open_usage(self.root)

    def _note_correction(self, path: str, correction: Correction) -> None:
        from memhtml.index.usage import Moment  # only here

        assert correction.session_id is not None  # noqa: S101 - the caller looked
        moment = Moment(correction.session_id, correction.prompt_id, correction.turn_uuid)
        try:
            with self._usage() as plane:
                plane.record_correction(path, now=stamp(self._clock()), moment=moment)
        except (Busy, StorageFailure) as error:
            self._on_lag(f"who corrected it could not be noted: {error.message}")


class _TreeView:
    """What planners ask, answered by the repository and the index."""

    def __init__(self, repo: Repo, index: Index) -> None:
        self._repo = repo
        self._index = index
        self._names: dict[str, Mapping[str, str]] = {}

    def find(self, path: str) -> File | None:
        return self._repo.find(path)

    def names(self, directory: str) -> Mapping[str, str]:
        # A planner asks for each folder on the way several times over.
        found = self._names.get(directory)
        if found is None:
            found = self._names[directory] = self._repo.names(directory)
        return found

    def origin(self, archived: str) -> str | None:
        return self._repo.origin(archived)

    def find_active(self, content_hash: str) -> str | None:
        from memhtml.index.lookup import find_active  # a search never needs it

        return find_active(self._index, content_hash)

    def find_near(self, near_key: str) -> Sequence[str]:
        from memhtml.index.lookup import find_near  # as above

        return find_near(self._index, near_key)

    def find_frame(self, frame_key: str) -> tuple[str, str] | None:
        from memhtml.index.lookup import find_frame  # as above

        return find_frame(self._index, frame_key)

    def linking(self, path: str) -> Sequence[str]:
        from memhtml.index.lookup import linking  # as above

        return linking(self._index, path)


def _detect(code: str) -> str | None:
    """Propose the language of a fence that names none."""
    from memhtml.providers.languages import detector  # only a write with such a fence

    return detector()(code)


def _now() -> datetime:
    return datetime.now(UTC)


def _seconds(clock: Callable[[], datetime]) -> Callable[[], float]:
    return lambda: clock().timestamp()


def _made_by(commit: str | None, result: R) -> R:
    """Return the result of a plan with the commit that carried it out."""
    from dataclasses import replace  # a search never needs it, and it costs what Python costs

    return replace(result, commit=commit)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".html").replace("-", " ")
