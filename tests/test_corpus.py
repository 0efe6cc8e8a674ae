"""A store and its index together: real git, real SQLite."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import UTC, datetime
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.model.changes import ArchiveRequest, Correction, LinkRequest
from memhtml.model.errors import (
    NotAStore,
    NotCommitted,
    PathNotFound,
    SecretFound,
    WriteConflict,
)
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus
from memhtml.publish import publish
from memhtml.search.search import NoMatchReason
from memhtml.store.batch import BatchOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Reader")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "reader@example.org")
    Corpus.init(tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def corpus(store: Path) -> Iterator[Corpus]:
    with Corpus.open(store, clock=lambda: NOW) as opened:
        yield opened


def draft(title: str, claim: str, memory_type: MemoryType = MemoryType.SEMANTIC) -> Draft:
    return Draft(title=title, claim=claim, memory_type=memory_type)


def git(store: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(store), *args], capture_output=True, text=True, check=True
    )
    return done.stdout


def paths_found(corpus: Corpus, text: str) -> list[str]:
    return [hit.path for hit in corpus.search(text).hits]


def test_a_written_memory_is_committed_indexed_and_found(corpus: Corpus, store: Path) -> None:
    written = corpus.write(draft("Rye", "The rye starter is fed at 05:40."))
    assert git(store, "rev-parse", "HEAD").strip() == written.commit
    assert git(store, "status", "--porcelain") == ""
    assert paths_found(corpus, "when do we feed the starter") == [written.path]


_KILLED_BATCH = """
import os, signal, sys
from memhtml.corpus import Corpus
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.store.commit import Committer

Committer._follow = lambda *args, **named: os.kill(os.getpid(), signal.SIGKILL)
with Corpus.open(sys.argv[1]) as corpus:
    kind = MemoryType.SEMANTIC
    corpus.apply(
        [Draft(title=f"Row {n}", claim=f"Row {n} seats {n}.", memory_type=kind) for n in range(80)]
    )
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_a_reader_finishes_a_large_commit_whose_process_died(corpus: Corpus, store: Path) -> None:
    corpus.write(draft("Rye", "The rye starter is fed at 05:40."))
    done = subprocess.run([sys.executable, "-c", _KILLED_BATCH, str(store)], check=False)
    assert done.returncode == -9
    # Nearly all memories that HEAD has are missing from the disk, which is nobody's deletion.
    assert len(list((store / "areas/inbox").glob("row-*.html"))) == 0
    assert paths_found(corpus, "row 79 seats 79")[:1] == ["areas/inbox/row-79.html"]
    assert len(list((store / "areas/inbox").glob("row-*.html"))) == 80
    assert git(store, "status", "--porcelain") == ""


def test_the_index_may_be_deleted_at_any_time(corpus: Corpus, store: Path) -> None:
    written = corpus.write(draft("Rye", "The rye starter is fed at 05:40."))
    corpus.close()
    shutil.rmtree(store / ".memhtml" / "cache")
    with Corpus.open(store) as again:
        assert paths_found(again, "rye") == [written.path]


def test_a_hand_edit_is_found_at_once_and_its_undoing_too(corpus: Corpus, store: Path) -> None:
    """Index weaknesses 2 and 4."""
    written = corpus.write(draft("Rye", "The rye starter is fed at 05:40."))
    file = store / written.path
    file.write_text(file.read_text().replace("05:40", "marzipan"))
    assert paths_found(corpus, "marzipan") == [written.path]
    git(store, "checkout", "--", written.path)
    assert paths_found(corpus, "marzipan") == []


def test_a_correction_is_found_and_the_old_fact_is_not(corpus: Corpus) -> None:
    written = corpus.write(draft("Rye", "The rye starter is fed at 05:40."))
    corrected = corpus.correct(Correction(target=written.path, claim="It is fed at noon."))
    assert paths_found(corpus, "fed") == [corrected.path]
    assert corpus.read(corrected.archived_path).is_archived


def test_reading_what_is_not_there_is_a_typed_error(corpus: Corpus) -> None:
    for path in ("areas/none.html", "../../etc/hosts", "README.html", ""):
        with pytest.raises(PathNotFound):
            corpus.read(path)


def test_a_folder_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Store weakness 12."""
    with pytest.raises(NotAStore):
        Corpus.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_batch_is_one_commit(corpus: Corpus, store: Path) -> None:
    before = git(store, "rev-list", "--count", "HEAD")
    batch = corpus.apply(
        [
            draft("A", "First fact."),
            draft("B", "Second fact."),
            LinkRequest(src="@0", rel=Rel.SUPPORTS, dst="@1"),
            ArchiveRequest(path="@1", reason="r"),
        ]
    )
    assert batch.failed == ()
    assert int(git(store, "rev-list", "--count", "HEAD")) == int(before) + 1
    assert git(store, "status", "--porcelain") == ""
    assert paths_found(corpus, "fact") == ["areas/inbox/a.html"]


def test_a_secret_in_a_batch_is_refused_and_nothing_is_written(corpus: Corpus, store: Path) -> None:
    head = git(store, "rev-parse", "HEAD")
    token = "ghp_" + "a1B2" * 9
    batch = corpus.apply([draft("A", "First fact."), draft("B", f"The token is {token}.")])
    (failed,) = batch.failed
    assert isinstance(failed.error, SecretFound)
    assert git(store, "rev-parse", "HEAD") == head


def test_a_task_comes_back_from_the_archive(corpus: Corpus) -> None:
    task = corpus.write(draft("Latch", "The latch is mended.", MemoryType.TASK))
    done = corpus.set_task_status(task.path, TaskStatus.DONE)
    assert done.archive_path is not None
    again = corpus.set_task_status(done.archive_path, TaskStatus.TODO)
    assert again.path == task.path


def test_the_second_archive_of_a_name_finds_its_way_back(corpus: Corpus) -> None:
    for claim in ("First fact.", "Second fact."):
        path = corpus.write(draft("Same", claim)).path
        archived = corpus.archive(path, reason="r").archive_path
    assert archived == "archive/2026/areas/inbox/same-2.html"
    assert corpus.unarchive(archived).path == "areas/inbox/same.html"


def test_last_wins_reads_the_stored_slot(corpus: Corpus) -> None:
    corpus.write(draft("S", "The pool ceiling is 64."))
    batch = corpus.apply([draft("A", "The pool ceiling is 80.")], BatchOptions(last_wins=True))
    assert batch.results[0].superseded_path == "areas/inbox/s.html"
    assert paths_found(corpus, "pool ceiling") == ["areas/inbox/a.html"]


def test_a_rewording_is_written_and_names_the_older_fact(corpus: Corpus) -> None:
    """Field case S8."""
    first = corpus.write(draft("Gate", "The loading bay gate opens at 06:30."))
    again = corpus.write(draft("Gate again", "Gate of the loading bay opens 06:30"))
    assert again.created
    assert again.near_duplicates == (first.path,)


def test_a_staged_change_of_the_user_is_neither_committed_nor_lost(
    corpus: Corpus, store: Path
) -> None:
    """Store weakness 10."""
    (store / "notes.txt").write_text("mine")
    git(store, "add", "notes.txt")
    written = corpus.write(draft("Rye", "The rye starter is fed at 05:40."))
    assert git(store, "show", "--name-only", "--format=", "HEAD").split() == [written.path]
    assert git(store, "status", "--porcelain") == "A  notes.txt\n"


def test_a_file_in_the_way_is_a_conflict_and_stays(corpus: Corpus, store: Path) -> None:
    (store / "areas/inbox/x.html").write_text("by hand")
    with pytest.raises(WriteConflict):
        corpus.write(
            Draft(
                title="X", claim="A b.", memory_type=MemoryType.VERDICT, path="areas/inbox/x.html"
            )
        )
    assert (store / "areas/inbox/x.html").read_text() == "by hand"


def test_both_routes_to_a_root_are_one_store(store: Path, tmp_path: Path) -> None:
    """Field case S4."""
    link = tmp_path / "link"
    link.symlink_to(store, target_is_directory=True)
    with Corpus.open(store) as direct, Corpus.open(link) as linked:
        assert direct.root == linked.root
        written = linked.write(draft("Rye", "The rye starter is fed at 05:40."))
        assert paths_found(direct, "rye") == [written.path]


TITLES = (
    "Release plan", "release-plan", "RELEASE PLAN", "CON", "aux.html", "a:b*c?", "trailing dot.",
    "my-app status", "日程", "Расписание", "📌", "x" * 400, "x" * 400,
)  # fmt: skip


def test_every_title_gets_a_file_of_its_own_with_a_name_legal_everywhere(corpus: Corpus) -> None:
    """Field case S4."""
    paths = [corpus.write(draft(t, f"Fact number {n}.")).path for n, t in enumerate(TITLES)]
    names = [path.rpartition("/")[2] for path in paths]
    assert len({name.casefold() for name in names}) == len(TITLES)
    assert names[:5] == [
        "release-plan.html", "release-plan-2.html", "release-plan-3.html", "con-1.html",
        "aux-html.html",
    ]  # fmt: skip
    assert names[7:11] == ["my-app-status.html", "ri-cheng.html", "raspisanie.html", "pushpin.html"]


def test_publishing_twice_commits_once_and_shows_head_not_hand_edits(
    corpus: Corpus, store: Path
) -> None:
    written = corpus.write(draft("Rye", "The rye starter is fed at 05:40."))
    file = store / written.path
    file.write_text(file.read_text().replace("05:40", "marzipan"))
    first = publish(corpus)
    assert "areas/inbox/index.html" in first.written
    assert "05:40" in (store / "areas/inbox/index.html").read_text()
    assert publish(corpus).commit is None
    git(store, "checkout", "--", ".")
    corpus.archive(written.path, reason="r")
    assert "areas/inbox/index.html" in publish(corpus).removed
    assert not (store / "areas/inbox/index.html").exists()
    assert git(store, "status", "--porcelain") == ""


def test_publishing_replaces_and_removes_nothing_that_somebody_else_made(
    corpus: Corpus, store: Path
) -> None:
    corpus.write(draft("Rye", "The rye starter is fed at 05:40."))
    (store / "browse").mkdir()
    for name in ("index.html", "browse/mine.html"):
        (store / name).write_text("MINE")
    git(store, "add", "-A")
    git(store, "commit", "-qm", "mine")
    with pytest.raises(WriteConflict, match="memhtml did not make it"):
        publish(corpus)
    git(store, "mv", "index.html", "start.html")
    git(store, "commit", "-qm", "out of the way")
    assert publish(corpus).removed == ()
    assert (store / "browse/mine.html").read_text() == "MINE"


def test_a_listing_of_the_typescript_tool_is_replaced(corpus: Corpus, store: Path) -> None:
    corpus.write(draft("Rye", "The rye starter is fed at 05:40."))
    listing = "<title>areas</title><article><p><mark>1 entry</mark></p><ul></ul></article>"
    (store / "areas/index.html").write_text(listing)
    git(store, "add", "-A")
    git(store, "commit", "-qm", "published by the other tool")
    assert "areas/index.html" in publish(corpus).written


def _write_some(root: str, worker: int) -> None:
    with Corpus.open(root) as corpus:
        for n in range(6):
            corpus.write(draft("Same title", f"Fact {n} of worker {worker}."))
            corpus.write(draft("Shared", f"The shared fact number {n}."))


def test_many_processes_write_every_fact_exactly_once(store: Path) -> None:
    """Store weakness 1: no write is lost, and a fact that all of them write is there once."""
    context = get_context("spawn")
    workers = [context.Process(target=_write_some, args=(str(store), w)) for w in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    with Corpus.open(store) as corpus:
        claims = sorted(memory.document.claim for memory in corpus.memories())
    own = [f"Fact {n} of worker {w}." for n in range(6) for w in range(4)]
    shared = [f"The shared fact number {n}." for n in range(6)]
    assert claims == sorted(own + shared)
    assert git(store, "status", "--porcelain") == ""
    git(store, "fsck", "--strict")


def test_what_is_found_but_not_committed_is_told_apart_from_what_is_not_there(
    corpus: Corpus, store: Path
) -> None:
    there = corpus.write(draft("Rye", "The rye starter is fed at 05:40.")).path
    dropped = store / "areas" / "by hand.html"
    dropped.write_bytes((store / there).read_bytes().replace(b"05:40", b"06:00"))
    path = "areas/by hand.html"
    assert path in paths_found(corpus, "rye starter")

    calls: list[Callable[[], object]] = [
        lambda: corpus.archive(path, reason="gone"),
        lambda: corpus.correct(Correction(target=path, claim="The rye starter is dead.")),
        lambda: corpus.link(there, Rel.SUPPORTS, path),
    ]
    for refused in calls:
        with pytest.raises(NotCommitted, match="is not committed") as caught:
            refused()
    with pytest.raises(PathNotFound) as missing:
        corpus.archive("areas/nowhere.html", reason="gone")

    assert not isinstance(missing.value, NotCommitted)
    subprocess.run(caught.value.suggestions[0], shell=True, cwd=store, check=True)  # noqa: S602 - a person pastes it
    assert corpus.archive(path, reason="gone").commit


@pytest.mark.skipif(sys.platform == "win32", reason="the hook is a shell script")
def test_a_post_commit_hook_may_write_to_the_store_itself(corpus: Corpus, store: Path) -> None:
    told = store / ".git" / "told"
    hook = store / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        f'#!/bin/sh\n[ -n "$INNER" ] && exit\nINNER=1 "{sys.executable}" -m memhtml write '
        f'--repo "{store}" --type semantic --title Echo --claim "The hook was here." > "{told}"\n'
    )
    hook.chmod(0o755)

    written = corpus.write(draft("Rye", "The rye starter is fed at 05:40."))

    assert '"created": true' in told.read_text()
    assert git(store, "rev-parse", "HEAD~1").strip() == written.commit
    assert paths_found(corpus, "hook") == ["areas/inbox/echo.html"]


def test_an_empty_answer_without_filters_does_not_blame_filters(
    corpus: Corpus, store: Path
) -> None:
    def reason() -> NoMatchReason:
        found = corpus.search("alpha").no_match
        assert found is not None
        return found.reason

    assert reason() is NoMatchReason.EMPTY_INDEX
    task = corpus.write(draft("Alpha", "Alpha is to be done.", MemoryType.TASK)).path
    assert reason() is NoMatchReason.ALL_LEFT_OUT
    place = store / task
    place.write_text(f"<<<<<<< HEAD\n{place.read_text()}=======\n>>>>>>> theirs\n")
    assert reason() is NoMatchReason.ALL_UNREADABLE
