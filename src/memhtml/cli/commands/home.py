"""``memhtml`` alone, for a person: how the store is and what to do next. Not in the table."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING, NamedTuple

from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store, root_of
from memhtml.model.errors import NotAStore, RepoRequired
from memhtml.model.vocabulary import Bucket, TaskStatus

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen
    from memhtml.corpus import Corpus, Health
    from memhtml.digest.happening import Happening
    from memhtml.search.lists import ListedTask
    from memhtml.sleep.runs import Run

__all__ = ["Home", "home"]

_NEWS = 3
_COMMITS_LOOKED_AT = 100
_TASKS = 5


class Home(NamedTuple):
    """A store at a glance."""

    health: Health
    news: tuple[Happening, ...]
    """What was learned and corrected last, newest first."""
    tasks: tuple[ListedTask, ...]
    """Open tasks, the next due first."""
    open_tasks: int
    sleep: Run | None
    """The newest run of sleep that waits for somebody."""
    waiting: int
    """How many there are of these."""
    has_model: bool
    """Texts can be encoded here, by a model that is there already."""


def home(call: Call) -> Success:
    """Return the page; where there is no store, what to do about it."""
    try:
        with open_store(call) as corpus:
            seen = _look(call, corpus)
    except (NotAStore, RepoRequired) as error:
        return _elsewhere(call, error)

    def text(screen: Screen) -> str:
        from memhtml.cli.views.home import home_page  # noqa: PLC0415 - only for people

        return home_page(seen, screen)

    return Success("cli.home", {}, text)


def _look(call: Call, corpus: Corpus) -> Home:
    from memhtml.cli.encoders import find_installed  # noqa: PLC0415 - help needs none
    from memhtml.digest.digest import read_log  # noqa: PLC0415 - as above
    from memhtml.digest.happening import What  # noqa: PLC0415 - as above

    health = corpus.status()
    news: list[Happening] = []
    for entry in read_log(corpus, limit=_COMMITS_LOOKED_AT):
        news += (h for h in entry.happenings if h.what in {What.LEARNED, What.CORRECTED})
        if len(news) >= _NEWS:
            break
    tasks = sorted(
        corpus.tasks(statuses=[status for status in TaskStatus if status is not TaskStatus.DONE]),
        key=lambda task: (task.due_at or "9999", task.path),
    )
    waiting = _waiting(corpus)
    return Home(
        health,
        tuple(news[:_NEWS]),
        tuple(tasks[:_TASKS]),
        len(tasks),
        sleep=waiting[-1] if waiting else None,
        waiting=len(waiting),
        has_model=find_installed(call, "splade-tiny") is not None,
    )


def _waiting(corpus: Corpus) -> list[Run]:
    """Return the runs of sleep that a person can do something about, the newest last."""
    from memhtml.store.gitdir import list_refs  # noqa: PLC0415 - help needs none

    # Most stores have none, and are told so without starting git.
    if list_refs(corpus.repo.where, "refs/heads/sleep") == []:
        return []
    from memhtml.sleep.runs import RunState, waiting_runs  # noqa: PLC0415 - as above

    return [run for run in waiting_runs(corpus.repo) if run.state is not RunState.RUNNING]


def _elsewhere(call: Call, error: NotAStore | RepoRequired) -> Success:
    root = root_of(call) if isinstance(error, NotAStore) else None
    here = _store_around(call.world.cwd)

    def text(screen: Screen) -> str:
        from memhtml.cli.views.home import elsewhere_page  # noqa: PLC0415 - only for people

        return elsewhere_page(error.message, root, here, screen)

    return Success("cli.home", {}, text)


def _store_around(folder: str) -> str | None:
    """Return the store that *folder* is in, by the looks of it."""
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            buckets = (os.path.isdir(os.path.join(folder, bucket)) for bucket in Bucket)
            return folder if sum(buckets) > 1 else None
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
