from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.model.changes import ArchiveRequest, Correction
from memhtml.model.errors import PathNotFound
from memhtml.model.history import DiffKind, Version
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel
from tests.store.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Clock:
    """A second later each time it is asked."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    clock = Clock()
    Corpus.init(tmp_path / "store", clock=clock)
    with Corpus.open(tmp_path / "store", clock=clock, durability="none") as corpus:
        yield corpus


@pytest.fixture
def box(corpus: Corpus) -> Sandbox:
    return Sandbox(Path(corpus.root))


def fact(claim: str, title: str = "Gate hours", **more: str) -> Draft:
    return Draft(
        title=title,
        memory_type=MemoryType.SEMANTIC,
        claim=claim,
        session_id=more.get("session"),
        path=more.get("path"),
        paragraphs=tuple(filter(None, [more.get("body")])),
    )


def told(versions: Iterable[Version]) -> list[tuple[str | None, str, str | None]]:
    return [(version.operation, version.path, version.moved_from) for version in versions]


GATE = "areas/inbox/gate-hours.html"
OLD = f"archive/2026/{GATE}"


def test_a_write_is_the_first_version_and_says_who_when_and_from_which_session(
    corpus: Corpus,
) -> None:
    written = corpus.write(fact("The gate opens at 06:30.", session="s-1"))
    (version,) = corpus.history(written.path)
    assert version == Version(
        commit=str(written.commit),
        at=version.at,
        author="Ada <ada@example.org>",
        operation="write",
        summary="Gate hours",
        session="s-1",
        prompt=None,
        reason=None,
        path=GATE,
        moved_from=None,
        sha=corpus.read(GATE).sha,
    )
    assert version.at.startswith("2026-11-30T12:00:")


def test_archiving_and_bringing_back_are_versions_under_other_names(corpus: Corpus) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    reason = "the gate was torn down, " * 9
    corpus.archive(GATE, reason=reason)
    corpus.unarchive(OLD)
    versions = corpus.history(GATE)
    assert told(versions) == [
        ("unarchive", GATE, OLD),
        ("archive", OLD, GATE),
        ("write", GATE, None),
    ]
    # Store weakness 5: a subject is cut at 72 characters, the trailer has the reason whole.
    assert versions[1].reason == reason.strip()


def test_an_old_name_leads_to_where_its_memory_went(corpus: Corpus) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    corpus.archive(GATE, reason="gone")
    assert corpus.history(GATE) == corpus.history(OLD)


def test_a_second_archiving_of_one_name_keeps_the_two_memories_apart(corpus: Corpus) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    corpus.archive(GATE, reason="gone")
    corpus.write(fact("The gate opens at 07:00."))
    second = corpus.archive(GATE, reason="gone again").archive_path
    assert second == OLD.replace(".html", "-2.html")
    for archived in (OLD, second):
        assert told(corpus.history(archived)) == [
            ("archive", archived, GATE),
            ("write", GATE, None),
        ]
    assert {v.commit for v in corpus.history(OLD)}.isdisjoint(
        v.commit for v in corpus.history(second)
    )
    third = corpus.write(fact("The gate opens at 08:00."))
    assert told(corpus.history(third.path)) == [("write", GATE, None)]


def test_a_correction_goes_on_from_what_it_corrected(corpus: Corpus) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    corpus.correct(Correction(target=GATE, claim="The gate opens at 07:00.", reason="new rota"))
    new = corpus.correct(
        Correction(target=GATE, title="When the gate opens", claim="The gate opens at 08:00.")
    )
    versions = corpus.history(new.path)
    assert told(versions) == [
        ("correct", "areas/inbox/when-the-gate-opens.html", GATE),
        ("correct", GATE, None),
        ("write", GATE, None),
    ]
    assert versions[1].reason == "new rota"
    # What was corrected has its own end, and the same beginning.
    assert told(corpus.history(OLD)) == [("correct", OLD, GATE), ("write", GATE, None)]
    assert told(corpus.history(new.archived_path)) == [
        ("correct", new.archived_path, GATE),
        ("correct", GATE, None),
        ("write", GATE, None),
    ]


def test_one_batch_that_vacates_and_fills_a_name_starts_a_new_memory(corpus: Corpus) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    corpus.apply(
        [ArchiveRequest(path=GATE, reason="gone"), fact("Owls nest in the gate.", path=GATE)]
    )
    corpus.link(GATE, Rel.RELATES_TO, OLD)
    assert told(corpus.history(GATE)) == [("link", GATE, None), ("batch", GATE, None)]
    assert told(corpus.history(OLD)) == [("batch", OLD, GATE), ("write", GATE, None)]


def test_a_correction_in_a_batch_goes_on_too(corpus: Corpus) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    corpus.apply(
        [
            Correction(target=GATE, claim="The gate opens at 07:00."),
            fact("The barn is dry.", "Barn"),
        ]
    )
    assert told(corpus.history(GATE)) == [("batch", GATE, None), ("write", GATE, None)]


def test_similar_memories_are_never_taken_for_one_another(corpus: Corpus) -> None:
    # With these files `git log --follow` finds the wrong ancestor: they differ in one word.
    for number in range(4):
        corpus.write(fact(f"The gate {number} opens at 06:30.", f"Gate {number}"))
    corpus.apply(
        [
            ArchiveRequest(path="areas/inbox/gate-0.html", reason="gone"),
            fact("The gate 9 opens at 06:30.", "Gate 9"),
        ]
    )
    assert told(corpus.history("areas/inbox/gate-9.html")) == [
        ("batch", "areas/inbox/gate-9.html", None)
    ]


def test_a_commit_of_other_hands_is_told_by_its_own_subject(corpus: Corpus, box: Sandbox) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    (box.root / GATE).write_bytes((box.root / GATE).read_bytes().replace(b"06:30", b"07:30"))
    message = (
        "fix the time\n\nMemhtml-Session: not a trailer\n\nwords\nMemhtml-Reason: a clock: mine\n"
    )
    box.git("commit", "-q", "-a", "-F", "-", stdin=message)
    newest = corpus.history(GATE)[0]
    assert (newest.operation, newest.summary) == (None, "fix the time")
    assert (newest.session, newest.reason) == (None, "a clock: mine")


def test_a_removal_by_hand_is_the_last_version(corpus: Corpus, box: Sandbox) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    box.git("rm", "-q", GATE)
    box.git("commit", "-q", "-m", "away")
    assert [(v.summary, v.sha is None) for v in corpus.history(GATE)] == [
        ("away", True),
        ("Gate hours", False),
    ]
    with pytest.raises(PathNotFound):
        corpus.history("areas/inbox/nothing.html")
    with pytest.raises(PathNotFound):
        corpus.history("../outside")


def test_a_merge_of_a_move_and_an_edit_tells_both_lines(corpus: Corpus, box: Sandbox) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    box.git("branch", "other")
    corpus.archive(GATE, reason="gone")
    box.git("switch", "-q", "other")
    (box.root / GATE).write_bytes((box.root / GATE).read_bytes().replace(b"06:30", b"07:30"))
    box.git("commit", "-q", "-a", "-m", "edited", GIT_AUTHOR_DATE="2026-11-30T12:30:00Z")
    box.git("switch", "-q", "main")
    box.git("merge", "-q", "--no-commit", "-s", "ours", "other")
    (box.root / OLD).write_bytes((box.root / OLD).read_bytes().replace(b"06:30", b"07:30"))
    box.git("commit", "-q", "-a", "-m", "together", GIT_AUTHOR_DATE="2026-11-30T12:31:00Z")
    assert [(version.summary, version.path) for version in corpus.history(OLD)] == [
        ("together", OLD),
        ("edited", GATE),
        ("areas/inbox/gate-hours.html — gone", OLD),
        ("Gate hours", GATE),
    ]


@pytest.mark.parametrize("has_moved", [True, False])
def test_a_merge_that_only_brings_a_version_in_is_no_version(
    corpus: Corpus, box: Sandbox, has_moved: bool
) -> None:
    """sleep.md §9.21: each file that a merged run had changed appeared to have changed twice."""
    corpus.write(fact("The gate opens at 06:30."))
    box.git("switch", "-q", "-c", "run")
    if has_moved:
        corpus.archive(GATE, reason="gone")
    else:
        data = (box.root / GATE).read_bytes()
        (box.root / GATE).write_bytes(data.replace(b"06:30", b"07:30"))
        box.git("commit", "-q", "-a", "-m", "edited")
    box.git("switch", "-q", "main")
    box.git("merge", "-q", "--no-ff", "--no-edit", "run")
    versions = corpus.history(OLD if has_moved else GATE)
    assert [len(versions), versions[-1].summary] == [2, "Gate hours"]


def test_versions_are_compared_by_words_and_not_by_markup(corpus: Corpus, box: Sandbox) -> None:
    corpus.write(fact("The gate opens at 06:30."))
    data = (box.root / GATE).read_bytes()
    (box.root / GATE).write_bytes(data.replace(b"<mark>", b"<mark>\n"))
    box.git("commit", "-q", "-a", "-m", "layout")
    corpus.correct(Correction(target=GATE, claim="The gate opens at 07:00 on Sundays."))
    versions = corpus.history(GATE)
    assert corpus.compare_versions(versions) == (
        (
            (DiffKind.SAME, "The gate opens at"),
            (DiffKind.REMOVED, "06:30."),
            (DiffKind.ADDED, "07:00 on Sundays."),
        ),
        ((DiffKind.SAME, "The gate opens at 06:30."),),
        ((DiffKind.ADDED, "The gate opens at 06:30."),),
    )


def test_each_sentence_has_the_version_that_first_said_it(corpus: Corpus, box: Sandbox) -> None:
    corpus.write(
        fact("The gate opens at 06:30.", session="s-1", body="Ada has the key. It sticks.")
    )
    new = corpus.correct(
        Correction(
            target=GATE,
            title="When the gate opens",
            claim="The gate opens at 07:00.",
            paragraphs=("Ada has the key. It is oiled.",),
            session_id="s-2",
        )
    )
    place = box.root / new.path
    place.write_bytes(place.read_bytes().replace(b"oiled.", b"oiled.\nBob knows."))
    box.git("commit", "-q", "-a", "-m", "by hand")
    assert [
        (each.sentence, each.version.session, each.version.summary)
        for each in corpus.blame(new.path)
    ] == [
        ("The gate opens at 07:00.", "s-2", "When the gate opens"),
        ("Ada has the key.", "s-1", "Gate hours"),
        ("It is oiled.", "s-2", "When the gate opens"),
        ("Bob knows.", None, "by hand"),
    ]
