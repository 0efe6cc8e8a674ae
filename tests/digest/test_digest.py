"""What happened to a store, told from its commits: the other tool has none of it (cli.md §7.11)."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.digest.digest import digest, read_log
from memhtml.digest.happening import HEADINGS, What
from memhtml.digest.page import digest_page
from memhtml.model.changes import Correction
from memhtml.model.errors import InvalidFlag
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.digest.digest import Digest


class Clock:
    """The day goes on only when a test says so."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def go_on(self, days: int = 1) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def corpus(tmp_path: Path, clock: Clock) -> Iterator[Corpus]:
    Corpus.init(tmp_path / "store", clock=clock)
    clock.go_on()
    with Corpus.open(tmp_path / "store", clock=clock, durability="none") as corpus:
        yield corpus


def write(corpus: Corpus, claim: str, title: str = "Gate hours", **more: str | None) -> str:
    draft = Draft(
        title=title,
        memory_type=MemoryType(more.get("kind") or "semantic"),
        claim=claim,
        author=more.get("author"),
        session_id=more.get("session"),
        path=more.get("path"),
    )
    return corpus.write(draft).path


def git(corpus: Corpus, *args: str) -> str:
    line = ["git", "-C", corpus.root, "-c", "user.name=Eve", "-c", "user.email=eve@x", *args]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


def told(found: Digest) -> list[tuple[str, str, str | None]]:
    return [(each.what.value, each.claim, each.before) for each in found.happenings]


def test_what_was_learned_corrected_contradicted_and_forgotten_is_told(
    corpus: Corpus, clock: Clock
) -> None:
    gate = write(corpus, "The gate opens at 06:30.")
    latch = write(corpus, "The latch sticks.", "Latch")
    clock.go_on()
    night = write(corpus, "The gate never opens at night.", "Night", author="agent:scribe")
    corpus.link(night, Rel.CONTRADICTS, gate)
    corpus.correct(Correction(target=gate, claim="The gate opens at 07:00.", reason="new rota"))
    corpus.archive(latch, reason="it was oiled")

    found = digest(corpus, "2026-11-03")

    assert told(found) == [
        ("learned", "The gate never opens at night.", None),
        ("corrected", "The gate opens at 07:00.", "The gate opens at 06:30."),
        ("contradicted", "The gate never opens at night.", None),
        ("forgotten", "The latch sticks.", "The latch sticks."),
    ]
    sentences = [each.sentence for each in found.happenings]
    assert sentences[1] == (
        "Corrected: The gate opens at 07:00. Before: The gate opens at 06:30. Reason: new rota."
    )
    assert sentences[3] == "Forgot: The latch sticks. Reason: it was oiled."
    assert found.happenings[0].author == "agent:scribe"
    assert found.commits == 4


def test_what_came_and_went_within_the_time_is_told_once(corpus: Corpus, clock: Clock) -> None:
    gate = write(corpus, "The gate opens at 06:30.")
    clock.go_on()
    gate = corpus.correct(Correction(target=gate, claim="It opens at 07:00.")).path
    clock.go_on()
    corpus.correct(Correction(target=gate, title="Hours of the gate", claim="It opens at 08:00."))
    brief = write(corpus, "The bell is broken.", "Bell")
    corpus.archive(brief, reason="mended")
    new = write(corpus, "The door is red.", "Door")
    corpus.correct(Correction(target=new, claim="The door is blue."))

    found = digest(corpus, "2026-11-03")

    assert told(found) == [
        ("learned", "The door is blue.", None),
        ("corrected", "It opens at 08:00.", "The gate opens at 06:30."),
        ("forgotten", "The bell is broken.", None),
    ]
    assert found.happenings[2].sentence.startswith("Learned and forgot again: The bell")
    assert told(digest(corpus, "2026-11-03", "2026-11-03")) == [
        ("corrected", "It opens at 07:00.", "The gate opens at 06:30.")
    ]


def test_a_store_is_told_from_its_beginning_and_between_commits(
    corpus: Corpus, clock: Clock
) -> None:
    first = git(corpus, "rev-parse", "HEAD")
    gate = write(corpus, "The gate opens at 06:30.")
    clock.go_on()
    corpus.archive(gate, reason="gone")
    corpus.unarchive(f"archive/2026/{gate}")
    assert told(digest(corpus, "2020-01-01")) == [("learned", "The gate opens at 06:30.", None)]
    assert digest(corpus, "2020-01-01").since is None
    assert told(digest(corpus, "HEAD~1")) == [("restored", "The gate opens at 06:30.", None)]
    assert told(digest(corpus, first, "HEAD~2")) == [("learned", "The gate opens at 06:30.", None)]
    assert told(digest(corpus, "HEAD")) == []


def test_another_memory_at_a_place_that_was_left_is_no_edit(corpus: Corpus) -> None:
    gate = write(corpus, "The gate opens at 06:30.")
    since = git(corpus, "rev-parse", "HEAD")
    corpus.archive(gate, reason="gone")
    write(corpus, "The gate is a wall now.", path=gate)
    assert told(digest(corpus, since)) == [
        ("learned", "The gate is a wall now.", None),
        ("forgotten", "The gate opens at 06:30.", "The gate opens at 06:30."),
    ]


def test_what_hands_did_is_told_too(corpus: Corpus) -> None:
    gate = write(corpus, "The gate opens at 06:30.")
    bell = write(corpus, "The bell is loud.", "Bell")
    door = write(corpus, "The door is red.", "Door")
    lamp = write(corpus, "The lamp is on.", "Lamp")
    since = git(corpus, "rev-parse", "HEAD")
    root = Path(corpus.root)
    text = (root / gate).read_text("utf-8")
    (root / gate).write_text(text.replace("06:30", "06:45"), "utf-8")
    git(corpus, "mv", bell, "areas/inbox/chime.html")
    git(corpus, "rm", "--quiet", door)
    (root / lamp).write_text("<p>no more</p>", "utf-8")
    git(corpus, "commit", "--quiet", "--all", "--message", "by hand")
    assert [(each.what, each.path) for each in digest(corpus, since).happenings] == [
        (What.EDITED, gate),
        (What.MOVED, "areas/inbox/chime.html"),
        (What.DELETED, door),
        (What.BROKEN, lamp),
    ]
    ((commit, happenings, _), *_) = read_log(corpus, limit=1)
    assert (commit.operation, commit.author) == (None, "Eve <eve@x>")
    assert [each.what for each in happenings] == [
        What.EDITED,
        What.MOVED,
        What.DELETED,
        What.BROKEN,
    ]


def test_tasks_are_told_by_where_they_stand(corpus: Corpus, clock: Clock) -> None:
    latch = write(corpus, "Oil the latch.", "Latch", kind="task")
    clock.go_on(2)
    corpus.set_task_status(latch, TaskStatus.DOING)
    assert [each.sentence for each in digest(corpus, "1d").happenings] == [
        "Task: Oil the latch. Now doing."
    ]
    corpus.set_task_status(latch, TaskStatus.DONE)
    assert told(digest(corpus, "1d")) == [("task-done", "Oil the latch.", "Oil the latch.")]
    assert told(digest(corpus, "9d")) == [("task-done", "Oil the latch.", None)]


def test_labels_are_told_and_stamps_are_not(corpus: Corpus) -> None:
    gate = write(corpus, "The gate opens at 06:30.")
    since = git(corpus, "rev-parse", "HEAD")
    data = (Path(corpus.root) / gate).read_text("utf-8")
    tagged = data.replace("</head>", '<meta name="memhtml-tag" content="yard">\n</head>')
    (Path(corpus.root) / gate).write_text(tagged, "utf-8")
    git(corpus, "commit", "--quiet", "--all", "--message", "label")
    (only,) = digest(corpus, since).happenings
    assert only.sentence == "Labelled anew: The gate opens at 06:30. Now with tag yard."
    since = git(corpus, "rev-parse", "HEAD")
    (Path(corpus.root) / gate).write_text(tagged.replace("T12:00:00Z", "T13:00:00Z"), "utf-8")
    git(corpus, "commit", "--quiet", "--all", "--message", "stamp")
    assert digest(corpus, since).happenings == ()


def test_a_log_tells_each_commit_newest_first(corpus: Corpus, clock: Clock) -> None:
    gate = write(corpus, "The gate opens at 06:30.", session="s-1", author="agent:scribe")
    clock.go_on()
    corpus.correct(Correction(target=gate, claim="It opens at 07:00.", session_id="s-2"))
    log = list(read_log(corpus))
    assert [entry.commit.operation for entry in log] == ["correct", "write", "init"]
    assert [[each.what for each in entry.happenings] for entry in log] == [
        [What.CORRECTED],
        [What.LEARNED],
        [],
    ]
    assert [entry.commit.session for entry in log] == ["s-2", "s-1", None]
    for chosen, operations in (
        (read_log(corpus, session="s-1"), ["write"]),
        (read_log(corpus, author="SCRIBE"), ["correct", "write"]),
        (read_log(corpus, since="2026-11-03"), ["correct"]),
        (read_log(corpus, until="2026-11-02"), ["write", "init"]),
    ):
        assert [entry.commit.operation for entry in chosen] == operations


def test_a_merge_tells_nothing_twice(corpus: Corpus) -> None:
    git(corpus, "checkout", "--quiet", "-b", "other")
    write(corpus, "The bell is loud.", "Bell")
    git(corpus, "checkout", "--quiet", "main")
    write(corpus, "The door is red.", "Door")
    git(corpus, "merge", "--quiet", "--no-edit", "other")
    counts = [len(entry.happenings) for entry in read_log(corpus)]
    assert sorted(counts) == [0, 0, 1, 1]
    since = "HEAD~1"  # the first parent: what the merge brought is new here
    assert told(digest(corpus, since)) == [("learned", "The bell is loud.", None)]


def test_of_a_large_commit_the_log_tells_some_and_counts_the_rest(corpus: Corpus) -> None:
    corpus.apply(
        [
            Draft(title=f"Fact {n}", memory_type=MemoryType.SEMANTIC, claim=f"Fact number {n}.")
            for n in range(120)
        ]
    )
    since = git(corpus, "rev-parse", "HEAD~1")
    (entry,) = read_log(corpus, limit=1)
    assert (len(entry.happenings), entry.untold) == (50, 70)
    assert digest(corpus, since).counts == {What.LEARNED: 120}


@pytest.mark.parametrize("name", ["nonsense", "-1", "--all", "2026-13-01", ""])
def test_what_is_neither_moment_nor_commit_is_refused(corpus: Corpus, name: str) -> None:
    with pytest.raises(InvalidFlag, match="--since"):
        digest(corpus, name)


def test_the_ends_of_the_calendar_are_moments_like_any_other(corpus: Corpus) -> None:
    """The first day was a traceback, and of a day after 2099 git thought that it was none."""
    write(corpus, "The gate opens at 06:30.")
    assert digest(corpus, "0001-01-01").counts == {What.LEARNED: 1}
    for day in ("2100-06-01", "9999-12-31"):
        assert told(digest(corpus, day)) == []
        assert digest(corpus, "2020-01-01", day).counts == {What.LEARNED: 1}
    assert list(read_log(corpus, since="9999-12-31")) == []


@pytest.mark.parametrize(("since", "until"), [("HEAD", "HEAD~1"), ("2027-01-01", "2020-01-01")])
def test_an_end_before_the_beginning_is_refused(corpus: Corpus, since: str, until: str) -> None:
    """It was told backwards: what is learned as deleted."""
    write(corpus, "The gate opens at 06:30.")
    with pytest.raises(InvalidFlag, match="--since is later than --until"):
        digest(corpus, since, until)
    assert told(digest(corpus, since, since)) == []


def test_what_a_shallow_clone_does_not_know_is_not_told_as_new(
    corpus: Corpus, clock: Clock, tmp_path: Path
) -> None:
    write(corpus, "The gate opens at 06:30.")
    clock.go_on()
    write(corpus, "The door is red.", "Door")
    url = Path(corpus.root).as_uri()
    git(corpus, "clone", "--quiet", "--depth", "2", url, str(tmp_path / "shallow"))
    with Corpus.open(tmp_path / "shallow", clock=clock) as shallow:
        assert told(digest(shallow, "HEAD~1")) == [("learned", "The door is red.", None)]
        with pytest.raises(InvalidFlag, match="without the history") as caught:
            digest(shallow, "7d")
        assert caught.value.suggestions == ("git fetch --unshallow",)


def test_a_page_shows_what_a_memory_says_as_text(corpus: Corpus) -> None:
    hostile = "<script>alert(1)</script> </p><img src=x onerror=alert(2)> &amp; done."
    write(corpus, hostile, "</title><script>alert(3)</script>")
    page = digest_page(digest(corpus, "1d"), title="<b>store</b>")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    for tag in ("<script", "<img", "<b>"):
        assert tag not in page
    assert "default-src 'none'" in page
    assert page.count("<li>") == 1
    assert "Nothing happened" in digest_page(digest(corpus, "HEAD"), title="s")


def test_everything_that_can_happen_has_a_heading() -> None:
    assert set(HEADINGS) == set(What)
