"""A store that is hurt in every way, examined and mended."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.doctor.doctor import examine, mend
from memhtml.doctor.finding import CODES
from memhtml.format.edit import read_links, read_meta, set_meta
from memhtml.model.document import Link
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel
from tests.suggestions import fault_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.doctor.doctor import Examination

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Corpus]:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Reader")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "reader@example.org")
    Corpus.init(tmp_path / "store")
    with Corpus.open(tmp_path / "store", clock=lambda: NOW) as opened:
        yield opened


def write(corpus: Corpus, title: str, claim: str, **fields: object) -> str:
    fields.setdefault("memory_type", MemoryType.SEMANTIC)
    return corpus.write(Draft(title=title, claim=claim, **fields)).path  # type: ignore[arg-type]  # test shorthand


def put(corpus: Corpus, path: str, data: bytes) -> None:
    file = Path(corpus.root, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def commit(corpus: Corpus) -> None:
    for args in (("add", "-A"), ("commit", "-qm", "by hand")):
        subprocess.run(["git", "-C", corpus.root, *args], check=True)


def codes(examination: Examination) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for finding in examination.findings:
        assert finding.hint is None or fault_of(finding.hint) is None
        found.setdefault(finding.code, []).append(finding.path)
    return found


def test_a_good_store_is_healthy(corpus: Corpus) -> None:
    write(corpus, "A", "First fact.")
    found = examine(corpus)
    assert found.is_healthy
    assert codes(found) == {}


def test_a_clone_that_cannot_merge_memories_is_told_and_mended(corpus: Corpus) -> None:
    write(corpus, "A", "First fact.")
    subprocess.run(
        ["git", "-C", corpus.root, "config", "--unset", "merge.memhtml.driver"], check=True
    )
    found = examine(corpus)
    assert codes(found) == {"merge-driver-missing": [None]}
    mend(corpus, found)
    assert codes(examine(corpus)) == {}


def test_every_broken_file_dropped_in_is_named_with_its_reason_and_none_is_deleted(
    corpus: Corpus,
) -> None:
    """Field case S7; doctor weakness 5."""
    good = Path(corpus.root, write(corpus, "Good", "The marzipan is in the cellar.")).read_bytes()
    inbox = "areas/inbox"
    dropped = {
        "bytes.html": b"\xff\xfe\x00",
        "empty.html": b"",
        "script.html": good.replace(b"</article>", b"<script>x()</script></article>"),
        "handler.html": good.replace(b"<article>", b'<article onerror="x()">'),
        "markless.html": good.replace(b"<mark>", b"").replace(b"</mark>", b""),
        "two.html": good.replace(b"</article>", b"</article><article><p>x</p></article>"),
    }
    for name, data in dropped.items():
        put(corpus, f"{inbox}/{name}", data)
    windows = good.replace(b"cellar", b"attic").replace(b"\n", b"\r\n")
    put(corpus, f"{inbox}/windows.html", b"\xef\xbb\xbf" + windows)
    Path(corpus.root, inbox, "link.html").symlink_to("/etc/hostname")
    Path(corpus.root, inbox, "x.html").mkdir()

    assert {hit.path for hit in corpus.search("marzipan").hits} == {
        f"{inbox}/good.html",
        f"{inbox}/windows.html",
    }
    found = examine(corpus)
    assert not found.is_healthy
    invalid = {path for path in codes(found)["memory-invalid"] if path}
    assert invalid == {f"{inbox}/{name}" for name in dropped}
    assert codes(found)["not-a-file"] == [f"{inbox}/link.html", f"{inbox}/x.html"]
    mend(corpus, found)
    for name, data in dropped.items():
        assert Path(corpus.root, inbox, name).read_bytes() == data


def test_findings_have_line_and_column(corpus: Corpus) -> None:
    path = write(corpus, "A", "First fact.")
    data = Path(corpus.root, path).read_bytes()
    put(corpus, path, data.replace(b"<article>", b'<article class="x">'))
    (finding,) = [f for f in examine(corpus).findings if f.code == "memory-invalid"]
    lines = data.decode().split("\n")
    assert finding.line == lines.index("<article>") + 1
    assert finding.column == 10


def test_mending_is_one_commit_and_reindexes(corpus: Corpus) -> None:
    """Doctor weakness 6."""
    kept = write(corpus, "Kept", "First fact.")
    gone = write(corpus, "Gone", "Second fact.")
    corpus.link(kept, Rel.SUPPORTS, gone)
    corpus.archive(gone, reason="r")
    file = Path(corpus.root, kept)
    file.write_bytes(set_meta(file.read_bytes(), "memhtml-content-hash", "sha256:" + "0" * 64))
    commit(corpus)

    found = examine(corpus)
    assert codes(found)["link-dangling"] == [kept]
    assert codes(found)["hash-stale"] == [kept]
    preview = mend(corpus, found, dry_run=True)
    assert preview.commit is None
    assert {f.code for f in preview.mended} >= {"link-dangling", "hash-stale"}
    assert read_links(file.read_bytes()) == (Link("memhtml-supports", f"/{gone}"),)

    repair = mend(corpus, found)
    assert repair.commit == corpus.repo.head()
    assert read_links(file.read_bytes()) == (Link("memhtml-supports", f"/archive/2026/{gone}"),)
    assert examine(corpus).is_healthy
    status = subprocess.run(
        ["git", "-C", corpus.root, "status", "--porcelain"], capture_output=True, check=True
    )
    assert status.stdout == b""


def test_a_file_with_uncommitted_edits_is_left_to_its_author(corpus: Corpus) -> None:
    path = write(corpus, "A", "First fact.")
    file = Path(corpus.root, path)
    data = set_meta(file.read_bytes(), "memhtml-content-hash", "sha256:" + "0" * 64)
    file.write_bytes(data)
    repair = mend(corpus, examine(corpus))
    assert [f.code for f in repair.left] == ["hash-stale"]
    assert file.read_bytes() == data


def test_the_place_decides_and_the_status_follows(corpus: Corpus) -> None:
    path = write(corpus, "A", "First fact.")
    archived = corpus.archive(path, reason="r").archive_path
    file = Path(corpus.root, archived)
    file.write_bytes(set_meta(file.read_bytes(), "memhtml-status", "active"))
    commit(corpus)
    found = examine(corpus)
    assert codes(found)["status-misplaced"] == [archived]
    mend(corpus, found)
    assert read_meta(file.read_bytes(), "memhtml-status") == "archived"


def test_a_duplicate_made_by_hand_is_told_and_both_are_found(corpus: Corpus) -> None:
    """Index weakness 1: one duplicate does not break the index."""
    path = write(corpus, "A", "First fact.")
    put(corpus, "areas/copy.html", Path(corpus.root, path).read_bytes())
    commit(corpus)
    assert codes(examine(corpus))["duplicate-content"] == ["areas/inbox/a.html"]
    assert len(corpus.search("first fact").hits) == 2


def test_names_that_collide_or_cannot_be_held_everywhere_are_told(corpus: Corpus) -> None:
    data = Path(corpus.root, write(corpus, "A", "First fact.")).read_bytes()
    for n, path in enumerate(["areas/inbox/A.html", "areas/aux.html", "areas/what?.html"]):
        put(corpus, path, data.replace(b"First", b"No %d" % n))
    found = codes(examine(corpus))
    assert found["name-collision"] == ["areas/inbox/a.html"]
    assert found["name-not-portable"] == ["areas/aux.html", "areas/what?.html"]


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="no such names or files there")
def test_what_only_looks_like_a_memory_is_told(corpus: Corpus, tmp_path: Path) -> None:
    data = Path(corpus.root, write(corpus, "A", "First fact.")).read_bytes()
    put(corpus, "areas/inbox/UP.HTML", data.replace(b"First", b"Second"))
    put(corpus, "areas/it's\udce9.html", data.replace(b"First", b"Third"))
    (tmp_path / "elsewhere").mkdir()
    Path(corpus.root, "areas/link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(Path(corpus.root, "areas/pipe.html"))

    found = examine(corpus)

    assert codes(found) == {
        "not-a-file": ["areas/link", "areas/pipe.html"],
        "name-unusable": ["areas/inbox/UP.HTML", "areas/it's\\udce9.html"],
    }
    for finding in found.findings:
        if finding.code == "name-unusable":
            assert finding.hint is not None
            subprocess.run(["bash", "-c", finding.hint], cwd=corpus.root, check=True)
    assert set(codes(examine(corpus))) == {"not-a-file", "hash-stale", "uncommitted"}


def test_what_others_write_during_the_examination_is_no_fault(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write(corpus, "A", "First fact.")
    read_file = Corpus.read_file

    def read_and_let_others_write(self: Corpus, path: str) -> bytes | None:
        data = read_file(self, path)
        monkeypatch.setattr(Corpus, "read_file", read_file)
        with Corpus.open(corpus.root, clock=lambda: NOW) as other:
            successor = write(other, "B", "Second fact.")
            write(
                other,
                "C",
                "Third fact.",
                links=(Link(Rel.LATERALLY_RELATED.token, f"/{successor}"),),
            )
            other.archive(first, reason="gone")
        return data

    monkeypatch.setattr(Corpus, "read_file", read_and_let_others_write)

    assert codes(examine(corpus)) == {}


def test_a_dropped_number_is_a_note(corpus: Corpus) -> None:
    path = write(corpus, "A", "First fact.", importance=5)
    file = Path(corpus.root, path)
    file.write_bytes(set_meta(file.read_bytes(), "memhtml-importance", "42"))
    found = examine(corpus)
    assert codes(found)["value-dropped"] == [path]
    assert found.is_healthy


def test_an_index_that_lies_is_told_and_built_anew(corpus: Corpus) -> None:
    path = write(corpus, "A", "First fact.")
    corpus._index.connection.execute("UPDATE files SET blob_sha = ?", ("0" * 40,))
    found = examine(corpus)
    assert codes(found)["index-drift"] == [path]
    mend(corpus, found)
    assert examine(corpus).is_healthy


def damage_index(corpus: Corpus) -> None:
    """Hurt a page that following the tree never reads, and every write does."""
    for number in range(60):
        write(corpus, f"Owl {number}", f"Owl number {number} sleeps in barn {number}.")
    corpus.rebuild()
    corpus.close()
    place = Path(corpus.root, ".memhtml/cache/index.db")
    with closing(sqlite3.connect(place)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND sql LIKE '%(near_key%'"
        ).fetchone()
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    with place.open("r+b") as file:
        file.seek((page - 1) * page_bytes)
        file.write(b"\xa5" * 2000)


def test_a_damaged_index_is_told_and_built_anew(corpus: Corpus) -> None:
    damage_index(corpus)
    with Corpus.open(corpus.root, clock=lambda: NOW) as again:
        found = examine(again)
        assert not found.is_healthy
        assert codes(found) == {"index-drift": [None]}
        mend(again, found)
        assert codes(examine(again)) == {}


def test_a_write_that_meets_a_damaged_index_goes_on(corpus: Corpus) -> None:
    damage_index(corpus)
    with Corpus.open(corpus.root, clock=lambda: NOW) as again:
        written = again.write(
            Draft(title="New", claim="Something new holds.", memory_type=MemoryType.SEMANTIC)
        )
        assert written.created
        assert codes(examine(again)) == {}


def test_what_a_crashed_writer_left_is_told_and_finished(corpus: Corpus) -> None:
    write(corpus, "A", "First fact.")
    scratch = Path(corpus.root, ".git/memhtml/tmp/file-0")
    scratch.write_bytes(b"half")
    found = examine(corpus)
    assert codes(found)["crash-leftover"] == [str(scratch)]
    assert not found.is_healthy
    mend(corpus, found)
    assert not scratch.exists()


def test_an_old_lock_of_gits_is_told_and_left_alone(corpus: Corpus) -> None:
    write(corpus, "A", "First fact.")
    lock = Path(corpus.root, ".git/HEAD.lock")
    lock.write_bytes(b"")
    assert "crash-leftover" not in codes(examine(corpus))
    hour_ago = time.time() - 3600
    os.utime(lock, (hour_ago, hour_ago))
    (finding,) = [f for f in examine(corpus).findings if f.code == "crash-leftover"]
    assert not finding.is_fixable
    assert lock.exists()


def test_tasks_past_their_day_are_notes(corpus: Corpus) -> None:
    path = write(corpus, "T", "It is done.", memory_type=MemoryType.TASK, due_at="2026-08-01")
    found = examine(corpus)
    assert codes(found)["task-overdue"] == [path]
    assert found.is_healthy


def test_every_code_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text(encoding="utf-8")
    sections = [line[4:].strip("`") for line in page.split("\n") if line.startswith("### ")]
    assert sections == list(CODES)
