from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.traces import contract
from memhtml.traces.candidates import Candidate, Evidence, Source
from memhtml.traces.consolidate import earlier_sessions, propose
from memhtml.traces.contract import (
    Readable,
    list_sessions,
    read_lines,
    readable,
    search_transcript,
    verify,
    verify_candidates,
)
from memhtml.traces.quotes import find_quotes
from memhtml.traces.sessions import due_sessions, mark_consolidated, sessions_of
from tests.traces.transcripts import Claude, append, base_in, gemini_lines, put, rescan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.traces.database import TraceBase

A, B = (f"{letter * 8}-1111-4111-8111-111111111111" for letter in "ab")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def base(tmp_path: Path) -> Iterator[TraceBase]:
    with base_in(tmp_path / "cache") as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "claude"


@pytest.fixture
def sessions(base: TraceBase, root: Path) -> dict[str, Readable]:
    one, two = Claude(A), Claude(B)
    put(
        root / "projects" / "-srv" / f"{A}.jsonl",
        one.user('The gate says "closed"\nafter six.'),
        one.says("The 門 opens at six. So it is."),
        one.user(f"the key is {TOKEN}"),
    )
    scout = Claude(A, agentId="x")
    put(
        root / "projects" / "-srv" / A / "subagents" / "agent-x.jsonl",
        scout.user("count the posts of the fence"),
    )
    put(root / "projects" / "-srv" / f"{B}.jsonl", two.user("The gate is green now."))
    rescan(base, root)
    known = sessions_of(base, [A, B]).values()
    return readable(known, [str(root)], {A: [("areas/gate.html", "read")]})


def candidate(*quotes: tuple[str, str], **fields: Any) -> dict[str, Any]:
    evidence = [{"sessionId": session, "quote": quote} for session, quote in quotes]
    return {
        "kind": "semantic",
        "claim": "The gate closes at six.",
        "gist": "It says so after six.",
        "entities": [{"type": "thing", "name": "gate"}],
        "evidence": evidence,
        **fields,
    }


GOOD = ((A, 'The gate says "closed" after six.'), (B, "The gate is green now."))


def test_a_candidate_with_quotes_that_stand_is_kept_with_their_places(
    sessions: dict[str, Readable],
) -> None:
    answer = {"candidates": [candidate(*GOOD)], "readSessionIds": [A, B, "elsewhere"]}
    found = verify(answer, sessions)
    (kept,) = found.candidates
    assert (kept.source, kept.entities) == (Source.MODEL, (("thing", "gate"),))
    assert [(one.session_id, one.line) for one in kept.evidence] == [(A, 1), (B, 1)]
    assert kept.evidence[0].path == sessions[A].paths[0]
    assert found.refused == ()
    assert found.read_session_ids == (A, B)


def test_one_fabricated_quote_drops_that_candidate_only(sessions: dict[str, Readable]) -> None:
    """extras.md §10.11: one fabricated quote discarded the whole batch."""
    lie = candidate(GOOD[0], (B, "The gate is made of pure gold."), claim="It is gold.")
    found = verify({"candidates": [candidate(*GOOD), lie, candidate(*GOOD)]}, sessions)
    assert [one.claim for one in found.candidates] == ["The gate closes at six."] * 2
    (refused,) = found.refused
    assert (refused.claim, refused.reason) == (
        "It is gold.",
        f"a quote does not stand in session {B!r}",
    )


@pytest.mark.parametrize(
    "quote",
    [
        'The gate says "closed" after six.',
        'The  gate says\n"closed" after',
        r"The gate says \"closed\"\nafter six.",
        "count the posts of the fence",
        "The 門 opens at six.",
        "門 opens at",
    ],
)
def test_a_quote_may_be_raw_or_meant_and_its_whitespace_may_differ(
    sessions: dict[str, Readable], quote: str
) -> None:
    found = verify({"candidates": [candidate((A, quote), GOOD[1])]}, sessions)
    assert len(found.candidates) == 1, found.refused


def test_escapes_of_json_are_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        json.dumps({"t": "café \u9580 opens", "n": json.dumps({"cmd": "make it"})}) + "\n"
    )
    assert find_quotes(str(path), ["café 門 opens", "make it now", "make it", "short"]) == {
        "café 門 opens": 1
    }
    assert find_quotes(str(path), ['"cmd": "make it"']) == {'"cmd": "make it"': 1}


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (candidate(GOOD[0]), "different quotes"),
        (candidate(GOOD[0], GOOD[0]), "different quotes"),
        (candidate((A, "gate"), GOOD[1]), "too short"),
        (candidate((A, "The gate is green now."), GOOD[1]), "does not stand"),
        (candidate(("nobody", "The gate is green now."), GOOD[1]), "does not stand"),
        (candidate(*GOOD, kind="task"), "kind"),
        (candidate(*GOOD, claim=" "), "claim"),
        (candidate(*GOOD, claim="x" * 301), "claim"),
        (candidate(*GOOD, gist=None), "gist"),
        (candidate(*GOOD, entities=[{"type": "a"}]), "entities"),
        (candidate(*GOOD, entities="gate"), "entities"),
        (candidate(*GOOD, evidence=["no object"]), "different quotes"),
        (candidate(*GOOD, evidence=None), "different quotes"),
        (candidate((A, f"the key is {TOKEN}"), GOOD[1]), "credential"),
        (candidate(*GOOD, gist=f"with {TOKEN}"), "credential"),
        ("no object at all", "no object"),
    ],
)
def test_what_is_wrong_with_one_item_is_told_and_costs_no_other(
    sessions: dict[str, Readable], item: Any, reason: str
) -> None:
    found = verify({"candidates": [item, candidate(*GOOD)]}, sessions)
    assert len(found.candidates) == 1
    (refused,) = found.refused
    assert reason in refused.reason
    assert TOKEN not in str(found.refused)


@pytest.mark.parametrize("answer", [None, [], "x", {"candidates": {}}, {"commitments": 3}])
def test_an_answer_in_no_form_proposes_nothing_and_says_so(
    sessions: dict[str, Readable], answer: object
) -> None:
    found = verify(answer, sessions)
    assert not found.candidates
    assert len(found.refused) == 1


def test_commitments_stand_or_fall_by_their_quote(sessions: dict[str, Readable]) -> None:
    good = {
        "statement": "I will oil the gate",
        "actor": "user",
        "dueHint": "friday",
        "evidence": {"sessionId": B, "quote": GOOD[1][1]},
        "confidence": 0.9,
        "resolved": False,
    }
    bad = {**good, "evidence": {"sessionId": B, "quote": "I will paint it blue"}}
    odd = {**good, "confidence": "high"}
    found = verify({"commitments": [good, bad, odd]}, sessions)
    (kept,) = found.commitments
    assert (kept.actor, kept.due_hint, kept.evidence.line) == ("user", "friday", 1)
    assert len(found.refused) == 2


def test_more_than_the_bounds_is_refused_and_counted(
    sessions: dict[str, Readable], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "MAX_CANDIDATES", 2)
    found = verify({"candidates": [candidate(*GOOD)] * 5}, sessions)
    assert (len(found.candidates), len(found.refused)) == (2, 3)


# What may be read


def test_only_what_stands_below_a_root_can_be_read(
    base: TraceBase, root: Path, tmp_path: Path
) -> None:
    path = put(root / "projects" / "-srv" / f"{A}.jsonl", Claude(A).user("hello there"))
    rescan(base, root)
    known = sessions_of(base, [A]).values()
    assert set(readable(known, [str(root)])) == {A}
    assert not readable(known, [str(tmp_path / "elsewhere")])
    outside = path.rename(tmp_path / "moved.jsonl")
    path.symlink_to(outside)
    assert not readable(known, [str(root)])


def test_the_manifest_tells_what_there_is(sessions: dict[str, Readable]) -> None:
    first, second = list_sessions(sessions)
    assert (first["sessionId"], second["sessionId"]) == (A, B)
    assert [one["agentId"] for one in first["files"]] == [None, "x"]
    assert first["linkedMemories"] == [{"path": "areas/gate.html", "linkKind": "read"}]
    json.dumps([first, second])
    assert TOKEN not in json.dumps(first)


def test_searching_is_literal_and_counts_all(sessions: dict[str, Readable]) -> None:
    found = search_transcript(sessions, A, "gate", context=5)
    assert found["total"] == 1
    (hit,) = found["hits"]
    assert (hit["file"], hit["line"]) == (0, 1)
    assert len(hit["text"]) <= 4 + 10
    assert search_transcript(sessions, A, "GATE")["total"] == 0
    assert search_transcript(sessions, A, "GATE", ignore_case=True)["total"] == 1
    assert search_transcript(sessions, A, "g.te")["total"] == 0
    assert search_transcript(sessions, A, "posts of")["hits"][0]["file"] == 1
    many = search_transcript(sessions, A, "sessionId", limit=2)
    assert (many["total"], len(many["hits"])) == (4, 2)
    assert "error" in search_transcript(sessions, A, "g")
    assert "error" in search_transcript(sessions, "nobody", "gate")


def test_lines_are_read_within_bounds(sessions: dict[str, Readable]) -> None:
    found = read_lines(sessions, A, start=2, count=1, line_chars=20)
    (line,) = found["lines"]
    assert (line["line"], len(line["text"]), line["cut"], found["more"]) == (2, 20, True, True)
    rest = read_lines(sessions, A, start=-5, count=9999)
    assert [one["line"] for one in rest["lines"]] == [1, 2, 3]
    assert not rest["more"]
    assert "error" in read_lines(sessions, A, start=1, file=2)
    assert "error" in read_lines(sessions, "nobody", start=1)


def test_no_credential_goes_to_a_model(sessions: dict[str, Readable]) -> None:
    shown = [
        read_lines(sessions, A, start=1, line_chars=2000),
        search_transcript(sessions, A, "the key is", context=400),
    ]
    assert TOKEN not in json.dumps(shown)
    assert json.dumps(shown).count("[secret: GitHub token]") == 2
    assert search_transcript(sessions, A, TOKEN)["total"] == 0


def test_limits_grow_with_the_sessions() -> None:
    assert contract.limits(2) == contract.Limits(100, 110_000, 64_000, 960.0)


# Without a model


def due(base: TraceBase, root: Path) -> list[Any]:
    rescan(base, root)
    return due_sessions(base, NOON, min_bytes=1, settle_seconds=0)


def told(root: Path, session: str, *lines: Any, hours: float) -> Path:
    path = put(root / "projects" / "-srv-shop" / f"{session}.jsonl", *lines)
    return append(path, mtime=(NOON - timedelta(hours=hours)).timestamp())


def test_due_sessions_become_proposals_whose_quotes_stand(base: TraceBase, root: Path) -> None:
    one = Claude(A)
    path = told(
        root,
        A,
        one.user("install it"),
        one.calls("npm install left-pad"),
        one.result("ok"),
        one.user("No, use pnpm instead of npm."),
        one.calls("pnpm add left-pad", "c2"),
        one.result("ok", "c2"),
        one.user("Thanks.\nRemember that the gate   opens at six."),
        hours=5,
    )
    found = propose(due(base, root))
    assert [one.claim for one in found.candidates] == [
        "The gate opens at six.",
        "Use pnpm instead of npm.",
    ]
    assert [e.line for e in found.candidates[1].evidence] == [4, 5]
    assert {e.path for one in found.candidates for e in one.evidence} == {str(path)}
    assert (found.read_session_ids, found.unread, found.refused) == ((A,), (), ())
    mark_consolidated(base, found.read_session_ids, "run", NOON)
    assert not due(base, root)


def test_an_earlier_session_makes_an_error_a_repeated_one(base: TraceBase, root: Path) -> None:
    trace = "Traceback (most recent call last):\nOSError: cannot open the shop register"
    for session, hours in ((A, 9), (B, 5)):
        one = Claude(session)
        lines = (
            one.user("build"),
            one.calls("make", session),
            one.result(trace, session, failed=True),
        )
        told(root, session, *lines, hours=hours)
        sessions = due(base, root)
        earlier = earlier_sessions(base, sessions)
        found = propose(sessions, earlier)
        if session == A:
            assert not found.candidates
            mark_consolidated(base, [A], "run", NOON)
        else:
            assert [one.session_id for one in earlier] == [A]
            (candidate,) = found.candidates
            assert [e.session_id for e in candidate.evidence] == [A, B]
            assert found.read_session_ids == (B,)


def test_of_what_only_earlier_sessions_say_nothing_is_proposed(base: TraceBase, root: Path) -> None:
    asked = Claude(A).user("Remember that the gate opens at six.")
    told(root, A, asked, hours=9)
    mark_consolidated(base, [one.session_id for one in due(base, root)], "run", NOON)
    told(root, B, Claude(B).user("hello"), hours=5)
    sessions = due(base, root)
    assert not propose(sessions, earlier_sessions(base, sessions)).candidates


def test_a_session_that_cannot_be_read_stays_due(base: TraceBase, root: Path) -> None:
    path = told(root, A, Claude(A).user("Remember that the gate opens at six."), hours=5)
    told(root, B, Claude(B).user("Remember that the door opens at ten."), hours=6)
    sessions = due(base, root)
    path.unlink()
    found = propose(sessions)
    assert [one.claim for one in found.candidates] == ["The door opens at ten."]
    assert found.read_session_ids == (B,)
    assert found.unread == ((A, "No such file or directory"),)


def test_a_turn_that_was_rewound_proposes_nothing(base: TraceBase, tmp_path: Path) -> None:
    path = tmp_path / "gemini" / "tmp" / "shop" / "chats" / "session-a.jsonl"
    said = gemini_lines(A, ("user", "hello"), ("user", "Remember that the gate opens at six."))
    put(path, *said)
    base_report = rescan(base, tmp_path / "gemini")
    assert base_report.files_seen == 1
    sessions = due_sessions(base, NOON.replace(year=2100), min_bytes=1)
    assert len(propose(sessions).candidates) == 1
    append(path, {"$rewindTo": "m1"})
    assert not propose(sessions).candidates


def test_a_quote_that_is_not_in_the_transcript_refuses_a_mined_candidate_too(
    sessions: dict[str, Readable],
) -> None:
    evidence = (Evidence(A, "nobody ever said this"),)
    one = Candidate("semantic", "It is so.", "It is.", evidence, Source.ASKED)
    held, refused = verify_candidates([one], sessions)
    assert (held, [each.claim for each in refused]) == ([], ["It is so."])
