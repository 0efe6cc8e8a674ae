from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import apsw
import pytest

from memhtml.format.usage import merge_usage
from memhtml.index import usage_schema
from memhtml.index.heirs import find_heir, orphans
from memhtml.index.indexer import rebuild, update
from memhtml.index.sidecar import exported, imported
from memhtml.index.state_file import has_usage
from memhtml.index.usage import (
    LinkKind,
    Moment,
    Signal,
    Usage,
    UsagePlane,
    open_usage,
    warmth_at,
)
from memhtml.model.errors import Busy, StorageFailure
from tests.index.stores import NOW, Store, memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.index.database import Index
    from memhtml.store.repo import Repo

A, B = "areas/a.html", "areas/b.html"
ARCHIVED = f"archive/2026/{A}"
NOON = "2026-03-01T12:00:00Z"


def at(minutes: int) -> str:
    return f"2026-03-01T{12 + minutes // 60:02}:{minutes % 60:02}:00Z"


@pytest.fixture
def plane(store: Store) -> Iterator[UsagePlane]:
    with open_usage(str(store.root)) as plane:
        yield plane


def usage(plane: UsagePlane, path: str = A) -> Usage:
    return plane.find([path]).get(path, Usage())


def test_opening_twice_within_the_cooldown_is_one_access(plane: UsagePlane) -> None:
    assert plane.record_read(A, now=at(0)).bumped == (A,)
    assert plane.record_read(A, now=at(14)).cooled_down == (A,)
    assert usage(plane).access_count == 1
    assert plane.record_read(A, now=at(15)).bumped == (A,)
    assert usage(plane) == Usage(2, 0, 0.0, usage(plane).warmth, at(15), None, at(15))


def test_a_verdict_right_after_a_read_counts_in_full(plane: UsagePlane) -> None:
    plane.record_read(A, now=at(0))
    answer = plane.reinforce([A, B], Signal.POSITIVE, now=at(1))
    assert (answer.bumped, answer.capped, answer.cooled_down) == ((A, B), (), ())
    assert usage(plane) == Usage(1, 1, 1.0, 1.0, at(0), at(1), at(1))
    assert usage(plane, B).access_count == 1


def test_verdicts_of_both_kinds_have_clocks_of_their_own(plane: UsagePlane) -> None:
    plane.reinforce([A], Signal.POSITIVE, now=at(0))
    assert plane.reinforce([A], Signal.NEGATIVE, now=at(1)).bumped == (A,)
    assert usage(plane).outcome_score == pytest.approx(0.7 - 0.3)
    assert usage(plane).reinforcement_count == 2


def test_a_verdict_given_over_and_over_is_recorded_but_moves_the_score_no_further(
    plane: UsagePlane,
) -> None:
    plane.reinforce([A], Signal.NEGATIVE, now=at(0))
    answers = [plane.reinforce([A], Signal.POSITIVE, now=at(n)) for n in range(1, 6)]
    assert [bool(answer.bumped) for answer in answers] == [True, True, True, False, False]
    assert answers[-1].capped == (A,)
    assert usage(plane).reinforcement_count == 6
    score = usage(plane).outcome_score
    assert score == pytest.approx(1 - 2 * 0.7**3)
    assert plane.reinforce([A], Signal.POSITIVE, now=at(40)).bumped == (A,)
    assert usage(plane).outcome_score > score


def test_the_score_stays_within_its_bounds(plane: UsagePlane) -> None:
    for turn in range(20):
        plane.reinforce([A], Signal.NEGATIVE, now=at(20 * turn))
    assert usage(plane).outcome_score == -1.0


def test_warmth_fades_while_the_count_stays(plane: UsagePlane) -> None:
    for day in (1, 2, 3):
        plane.record_read(A, now=f"2026-01-0{day}T00:00:00Z")
    warm = usage(plane)
    assert warm.access_count == 3
    assert 2.9 < warmth_at(warm, "2026-01-03T00:00:00Z") < 3
    assert warmth_at(warm, "2026-02-02T00:00:00Z") == pytest.approx(warm.warmth / 2)


def test_sessions_are_remembered_with_what_they_did(plane: UsagePlane) -> None:
    moment = Moment("s1", "p1", "t1")
    plane.record_read(A, now=at(0), moment=moment)
    plane.reinforce([A], Signal.POSITIVE, now=at(1), moment=moment)
    plane.record_correction(B, now=at(2), moment=Moment("s2"))
    links = plane.links_of_session("s1")
    assert [(link.path, link.kind, link.prompt_id) for link in links] == [
        (A, LinkKind.READ, "p1"),
        (A, LinkKind.REINFORCED, "p1"),
    ]
    assert [link.session_id for link in plane.links_of_path(B)] == ["s2"]


def test_usage_follows_into_the_archive_and_back(store: Store, repo: Repo, index: Index) -> None:
    store.put(A, memory("one"))
    store.commit()
    update(index, repo, now=NOW)
    with open_usage(str(store.root)) as plane:
        plane.reinforce([A], Signal.POSITIVE, now=NOON, moment=Moment("s1"))
        before = usage(plane)
        store.move(A, ARCHIVED)
        store.commit()
        update(index, repo, now=NOW)
        assert plane.rows() == [(ARCHIVED, before)]
        assert [link.path for link in plane.links_of_session("s1")] == [ARCHIVED]
        store.move(ARCHIVED, A)
        update(index, repo, now=NOW)
        assert plane.rows() == [(A, before)]
        # The clock of the verdicts came along too.
        assert plane.reinforce([A], Signal.POSITIVE, now=NOON).bumped == (A,)
        assert plane.connection.execute("SELECT path, signals FROM bursts").fetchall() == [(A, 2)]


@pytest.mark.parametrize("link_to", [A, ARCHIVED])
def test_usage_of_a_corrected_memory_goes_to_the_one_in_its_place(
    store: Store, repo: Repo, index: Index, link_to: str
) -> None:
    store.put(A, memory("one"))
    store.commit()
    update(index, repo, now=NOW)
    with open_usage(str(store.root)) as plane:
        plane.record_read(A, now=at(0))
        plane.record_read(B, now=at(60))
        store.move(A, ARCHIVED)
        store.put(B, memory("two", links=(("supersedes", link_to),)))
        store.commit()
        update(index, repo, now=NOW)
        assert [(path, row.access_count) for path, row in plane.rows()] == [(B, 2)]
        assert usage(plane, B).last_accessed_at == at(60)
        # Reading the archived one later is its own affair.
        plane.record_read(ARCHIVED, now=at(120))
        update(index, repo, now=NOW)
        assert usage(plane, ARCHIVED).access_count == 1


def test_a_rebuild_hands_on_what_was_missed_and_leaves_what_nobody_can_have(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(ARCHIVED, memory("one"))
    store.put(B, memory("two", links=(("supersedes", ARCHIVED),)))
    store.commit()
    with open_usage(str(store.root)) as plane:
        plane.record_read(A, now=at(0))
        plane.record_read("areas/never.html", now=at(0))
        rebuild(index, repo, now=NOW)
        assert [path for path, _ in plane.rows()] == [B, "areas/never.html"]
        assert orphans(index.connection, plane) == ["areas/never.html"]
        assert plane.forget(orphans(index.connection, plane)) == 1
        assert orphans(index.connection, plane) == []


def test_a_circle_of_corrections_ends(store: Store, repo: Repo, index: Index) -> None:
    store.put(ARCHIVED, memory("one", links=(("supersedes", B),)))
    store.put(B, memory("two", links=(("supersedes", ARCHIVED),)))
    update(index, repo, now=NOW)
    assert find_heir(index.connection, A) == B


def test_an_index_without_usage_makes_no_state_file(store: Store, repo: Repo, index: Index) -> None:
    store.put(A, memory("one"))
    update(index, repo, now=NOW)
    store.delete(A)
    update(index, repo, now=NOW)
    rebuild(index, repo, now=NOW)
    assert not has_usage(str(store.root))


def test_deleting_the_index_loses_no_usage(store: Store, repo: Repo, index: Index) -> None:
    store.put(A, memory("one"))
    with open_usage(str(store.root)) as plane:
        plane.record_read(A, now=at(0))
    (store.root / ".memhtml/cache/index.db").unlink()
    update(index, repo, now=NOW)
    with open_usage(str(store.root)) as plane:
        assert usage(plane).access_count == 1


def other_database(store: Store, rows: list[tuple[object, ...]]) -> None:
    path = store.root / ".memhtml/state.db"
    path.parent.mkdir(exist_ok=True)
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute(
        "CREATE TABLE access (path TEXT PRIMARY KEY, access_count INTEGER, reinforcement_count "
        "INTEGER, outcome_score REAL, last_accessed_at TEXT, last_reinforced_at TEXT, "
        "updated_at TEXT)"
    )
    other.executemany("INSERT INTO access VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    other.commit()
    other.close()


def test_what_the_other_tool_counted_is_taken_in_once_and_its_files_stay(store: Store) -> None:
    other_database(store, [(A, 5, 2, 0.4, "2026-01-02T00:00:00.5Z", "", "2026-01-02T00:00:00Z")])
    line = {"path": A, "accessCount": 3, "reinforcementCount": 9, "outcomeScore": -0.5}
    line |= {"lastAccessedAt": None, "lastReinforcedAt": "2025-01-01T00:00:00Z"}
    line |= {"updatedAt": "2025-01-01T00:00:00Z"}
    store.put(".memhtml/state/access.jsonl", json.dumps(line) + "\nno row\n[1]\n")
    before = {file.name for file in (store.root / ".memhtml").iterdir()}
    with open_usage(str(store.root)) as plane:
        row = usage(plane)
        assert (row.access_count, row.reinforcement_count, row.outcome_score) == (5, 9, 0.4)
        assert row.last_accessed_at == "2026-01-02T00:00:00.5Z"
        assert row.last_reinforced_at == "2025-01-01T00:00:00Z"
        plane.forget([A])
    assert {file.name for file in (store.root / ".memhtml").iterdir()} == {*before, "cache"}
    with open_usage(str(store.root)) as plane:
        assert plane.rows() == []


def test_a_foreign_file_in_the_other_tools_place_is_left_alone(store: Store) -> None:
    store.put(".memhtml/state.db", "no database at all")
    with open_usage(str(store.root)) as plane:
        assert plane.rows() == []
    assert (store.root / ".memhtml/state.db").read_text() == "no database at all"


def test_a_copy_comes_back_as_it_went_out_and_nulls_stay_null(plane: UsagePlane) -> None:
    plane.record_read(A, now=at(0))
    plane.reinforce([B], Signal.NEGATIVE, now=at(0))
    plane.reinforce([B], Signal.POSITIVE, now=at(1))
    data = exported(plane.rows())
    first, second = data.decode().splitlines()
    assert first == (
        f'{{"path":"{A}","accessCount":1,"reinforcementCount":0,"outcomeScore":0,'
        f'"lastAccessedAt":"{at(0)}","lastReinforcedAt":null,"updatedAt":"{at(0)}"}}'
    )
    assert second == (
        f'{{"path":"{B}","accessCount":1,"reinforcementCount":2,"outcomeScore":-0.4,'
        f'"lastAccessedAt":"{at(0)}","lastReinforcedAt":"{at(1)}","updatedAt":"{at(1)}"}}'
    )
    assert plane.merge(imported(data)) == 0
    assert exported(imported(data)) == data
    assert merge_usage(None, data, data) == data


def test_importing_takes_the_higher_counts_and_the_score_touched_last(plane: UsagePlane) -> None:
    plane.record_read(A, now=at(0))
    older = Usage(7, 1, -0.5, 7.0, "2026-01-01T00:00:00Z", None, "2026-01-01T00:00:00Z")
    newer = older._replace(outcome_score=0.25, updated_at="2026-04-01T00:00:00Z")
    assert plane.merge([(A, older)]) == 1
    assert usage(plane)[:3] == (7, 1, 0.0)
    assert usage(plane).last_accessed_at == at(0)
    assert plane.merge([(A, newer)]) == 1
    assert usage(plane).outcome_score == 0.25
    assert plane.merge([(A, newer), (A, older)]) == 0


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"path": 3}',
        b'{"path": "a", "accessCount": "many"}',
        b'{"path": "a", "lastAccessedAt": 12}',
        b'{"path": "a", "updatedAt": "yesterday"}',
        b'{"path": "a", "outcomeScore": {}}',
    ],
)
def test_a_line_that_is_no_row_is_left_out(line: bytes) -> None:
    good = b'{"path":"b","accessCount":2,"lastAccessedAt":""}'
    ((path, row),) = imported(line + b"\n" + good)
    assert (path, row.access_count, row.last_accessed_at) == ("b", 2, None)


def test_a_state_plane_of_a_newer_version_is_refused(store: Store) -> None:
    with open_usage(str(store.root)) as plane:
        plane.connection.pragma("user_version", len(usage_schema.MIGRATIONS) + 1)
    with pytest.raises(StorageFailure, match="newer version"):
        open_usage(str(store.root))


def test_a_damaged_state_plane_is_said_and_never_replaced(store: Store) -> None:
    open_usage(str(store.root)).close()
    path = store.root / ".memhtml/cache/state.db"
    path.write_bytes(b"no database at all " * 999)
    with pytest.raises(StorageFailure):
        open_usage(str(store.root))
    assert path.read_bytes().startswith(b"no database")


def test_a_writer_that_does_not_let_go_is_busy(store: Store, plane: UsagePlane) -> None:
    with open_usage(str(store.root)) as other, plane.writing("hold"):
        other.connection.set_busy_timeout(20)
        assert other.rows() == []
        with pytest.raises(Busy):
            other.record_read(A, now=at(0))


def test_a_store_that_cannot_be_written_is_counted_privately(store: Store) -> None:
    store.put(".memhtml/cache", "in the way")
    with open_usage(str(store.root)) as plane:
        plane.record_read(A, now=at(0))
        assert usage(plane).access_count == 1
    assert not has_usage(str(store.root))


def test_a_failed_record_is_undone_whole(plane: UsagePlane) -> None:
    with pytest.raises(StorageFailure), plane.writing("fail"):  # noqa: PT012 - both belong together
        plane.record_read(A, now=at(0))
        raise apsw.ConstraintError
    assert plane.rows() == []
