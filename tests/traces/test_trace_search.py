from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memhtml.traces.search import MATCHES_A_SESSION, TraceHits, search
from memhtml.traces.sessions import due_sessions, find_sessions, mark_consolidated
from tests.traces.transcripts import Claude, append, base_in, codex_lines, put, rescan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.traces.database import TraceBase

A, B, C = (f"{letter * 8}-1111-4111-8111-111111111111" for letter in "abc")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[TraceBase]:
    with base_in(tmp_path / "cache") as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "claude"


def said(root: Path, session: str, *texts: str, day: int = 1, cwd: str = "/srv/shop") -> Path:
    lines = Claude(session, cwd=cwd)
    path = root / "projects" / "-srv" / f"{session}.jsonl"
    at = {"timestamp": f"2026-02-{day:02}T08:00:00Z"}
    return put(path, *({**lines.user(text), **at} for text in texts))


def ids(hits: TraceHits) -> list[str]:
    return [hit.session.session_id for hit in hits.sessions]


def test_every_prompt_is_found_and_so_is_what_the_agent_says(base: TraceBase, root: Path) -> None:
    """extras.md §10.10: only the first prompt was searchable."""
    path = said(root, A, "paint the shed", "then varnish the door")
    append(path, Claude(A).says("I would rather whitewash it."))
    said(root, B, "sweep the yard")
    rescan(base, root)
    for query in ("shed", "varnish door", "whitewash", "VARNISHED doors"):
        assert ids(search(base, query)) == [A], query
    (hit,) = search(base, "varnish").sessions
    (match,) = hit.matches
    assert (match.role, match.line, match.path) == ("user", 2, str(path))
    assert "varnish the door" in match.excerpt


def test_a_session_with_all_that_is_asked_for_comes_instead_of_those_with_a_part(
    base: TraceBase, root: Path
) -> None:
    said(root, A, "paint the shed", "varnish")
    said(root, B, "paint paint paint")
    rescan(base, root)
    whole = search(base, "paint varnish")
    assert (ids(whole), whole.is_partial, whole.degraded) == ([A], False, False)
    part = search(base, "paint hammer")
    assert set(ids(part)) == {A, B}
    assert part.is_partial
    assert not search(base, "anvil").sessions


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "shed OR yard NOT",
        "shed*",
        "NEAR(a b",
        "text:shed",
        "^shed",
        "a AND",
        "();--",
        "\udce9",
    ],
)
def test_nothing_that_is_typed_is_syntax(base: TraceBase, root: Path, query: str) -> None:
    said(root, A, "paint the shed")
    rescan(base, root)
    search(base, query)
    assert ids(search(base, f"{query} shed")) == [A]


def test_no_words_give_the_newest_and_say_so(base: TraceBase, root: Path) -> None:
    said(root, A, "one", day=3)
    said(root, B, "two", day=9)
    said(root, C, "three", day=5)
    rescan(base, root)
    hits = search(base, "  ?! ")
    assert (ids(hits), hits.degraded) == ([B, C, A], True)
    assert ids(search(base, "", limit=1)) == [B]


def test_filters_narrow(base: TraceBase, root: Path) -> None:
    said(root, A, "paint", day=3, cwd="/srv/a")
    said(root, B, "paint", day=9, cwd="/srv/b")
    put(
        root / "sessions" / f"rollout-2026-03-01T13-00-00-{C}.jsonl",
        *codex_lines(C, ("user", "paint"), cwd="/srv/a"),
    )
    rescan(base, root)
    for query in ("paint", ""):
        assert set(ids(search(base, query, cwd="/srv/a"))) == {A, C}
        assert ids(search(base, query, cwd="/srv/a", agent="claude")) == [A]
        assert set(ids(search(base, query, since="2026-02-09"))) == {B, C}
        assert ids(search(base, query, cwd="/srv")) == []


def test_a_session_is_in_its_own_folder_wherever_its_subagents_are(
    base: TraceBase, root: Path
) -> None:
    said(root, A, "paint", cwd="/srv/a")
    scout = Claude(A, cwd="/srv/b", agentId="x")
    put(root / "projects" / "-srv" / A / "subagents" / "agent-x.jsonl", scout.user("sand it"))
    rescan(base, root)
    assert ids(search(base, "sand", cwd="/srv/a")) == [A]
    assert ids(search(base, "sand", cwd="/srv/b")) == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("本番DBは読み取り専用です", "読み取り"),
        ("本番DBは読み取り専用です", "db"),
        ("请记住生产数据库是只读的", "数据库"),
        ("Die Straße ist gesperrt", "STRASSE"),
        ("le café est fermé", "cafe"),
        ("fix E-1042 in user_name.py", "e-1042"),
        ("fix E-1042 in user_name.py", "user_name"),
    ],
)
def test_words_of_every_script_and_of_code(
    base: TraceBase, root: Path, text: str, query: str
) -> None:
    said(root, A, text)
    said(root, B, "nothing of the kind")
    rescan(base, root)
    assert ids(search(base, query)) == [A]


def test_a_session_shows_its_best_places_only(base: TraceBase, root: Path) -> None:
    said(root, A, *(f"paint {n} " + "and more " * 40 for n in range(9)))
    rescan(base, root)
    (hit,) = search(base, "paint").sessions
    assert len(hit.matches) == MATCHES_A_SESSION
    assert all(len(match.excerpt) < 170 for match in hit.matches)


def test_sessions_are_found_by_the_beginning_of_their_id(base: TraceBase, root: Path) -> None:
    said(root, A, "one")
    said(root, B, "two")
    rescan(base, root)
    assert find_sessions(base, "aaaa") == [A]
    assert find_sessions(base, "%") == []


def test_due_sessions_are_long_settled_and_not_consolidated(base: TraceBase, root: Path) -> None:
    hours = {A: 2.0, B: 5.0, C: 0.5}
    for session, ago in hours.items():
        path = said(root, session, "word " * 2000)
        append(path, mtime=(NOON - timedelta(hours=ago)).timestamp())
    short = said(root, "d" * 8, "too short")
    append(short, mtime=(NOON - timedelta(hours=3)).timestamp())
    rescan(base, root)
    assert [one.session_id for one in due_sessions(base, NOON)] == [A, B]
    assert [one.session_id for one in due_sessions(base, NOON, limit=1)] == [A]
    assert [one.session_id for one in due_sessions(base, NOON, settle_seconds=0)] == [C, A, B]
    assert "d" * 8 in {one.session_id for one in due_sessions(base, NOON, min_bytes=1)}
    mark_consolidated(base, [A], "sleep/2026-03-02", NOON)
    assert [one.session_id for one in due_sessions(base, NOON)] == [B]


def test_a_session_that_went_on_is_due_again(base: TraceBase, root: Path) -> None:
    path = said(root, A, "word " * 2000)
    append(path, mtime=(NOON - timedelta(hours=5)).timestamp())
    rescan(base, root)
    mark_consolidated(base, [A], "sleep/2026-03-02", NOON - timedelta(hours=4))
    assert not due_sessions(base, NOON)
    append(path, Claude(A).user("more"), mtime=(NOON - timedelta(hours=2)).timestamp())
    rescan(base, root)
    assert [one.session_id for one in due_sessions(base, NOON)] == [A]


def test_a_session_whose_transcript_is_gone_is_not_due(base: TraceBase, root: Path) -> None:
    path = said(root, A, "word " * 2000)
    append(path, mtime=(NOON - timedelta(hours=5)).timestamp())
    rescan(base, root)
    path.unlink()
    rescan(base, root)
    assert not due_sessions(base, NOON)
