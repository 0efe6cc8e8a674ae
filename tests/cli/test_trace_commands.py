from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memhtml.cli.commands.traces import COMMANDS
from memhtml.traces.layouts import LAYOUTS
from tests.cli.calls import call
from tests.traces.transcripts import Claude, codex_lines, put

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.calls import Result

A, B = (f"{letter * 8}-1111-4111-8111-111111111111" for letter in "ab")
GATE = "areas/inbox/gate-hours.html"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tmp_path = tmp_path.resolve()
    said = Claude(A, cwd=str(tmp_path))
    put(
        tmp_path / ".claude" / "projects" / "-srv" / f"{A}.jsonl",
        said.user("when does the gate open"),
        said.says("At half past six."),
    )
    put(
        tmp_path / ".codex" / "sessions" / f"rollout-2026-03-01T13-00-00-{B}.jsonl",
        *codex_lines(B, ("user", "paint the gate")),
    )
    assert call("init", "--repo", str(tmp_path / "store")).status == 0
    return tmp_path


def trace(home: Path, *argv: str, **named: Any) -> Result:
    env = {
        "HOME": str(home),
        "MEMHTML_ROOT": str(home / "store"),
        "MEMHTML_TRACE_ROOT": "",
        "CODEX_HOME": "",
        "CLAUDE_CONFIG_DIR": "",
        "GEMINI_CLI_HOME": "",
        "PI_CODING_AGENT_DIR": "",
        **named.pop("env", {}),
    }
    return call("trace", *argv, env=env, cwd=home, **named)


def test_transcripts_of_every_agent_are_found_at_home_and_searched(home: Path) -> None:
    report = trace(home, "index").data
    assert (report["filesSeen"], report["sessionsWritten"], report["promptsWritten"]) == (2, 2, 2)
    assert report["traceRoot"] == str(home / ".claude")
    assert len(report["roots"]) == len(LAYOUTS)
    assert trace(home, "index").data["skipped"] == 2
    found = trace(home, "search", "gate open").data
    (session,) = found["sessions"]
    assert (session["sessionId"], session["agent"], found["degraded"]) == (A, "claude", False)
    assert session["matches"][0]["line"] == 1
    both = trace(home, "search", "gate").data
    assert {one["sessionId"] for one in both["sessions"]} == {A, B}
    newest = trace(home, "search").data
    assert (newest["degraded"], newest["sessionsKnown"]) == (True, 2)
    mine = trace(home, "search", "--cwd", ".").data
    assert [one["sessionId"] for one in mine["sessions"]] == [A]
    theirs = trace(home, "search", "gate", "--agent", "codex", "--since", "2026-03-01").data
    assert [one["sessionId"] for one in theirs["sessions"]] == [B]


def test_roots_can_be_named(home: Path) -> None:
    named = {"MEMHTML_TRACE_ROOT": str(home / ".codex")}
    assert trace(home, "index", env=named).data["filesSeen"] == 1
    assert trace(home, "index", "--root", ".claude", env=named).data["filesSeen"] == 1
    assert trace(home, "index", "--agent", "pi").data["filesSeen"] == 0
    assert trace(home, "index", "--root", "nowhere").json["code"] == "ERR_INVALID_FLAG"


def test_people_are_shown_what_was_said(home: Path) -> None:
    assert "no transcript was read yet" in trace(home, "search", "gate", is_terminal=True).out
    shown = trace(home, "index", is_terminal=True).out
    assert "2 transcripts: 2 read, 0 as they were" in shown
    assert "2 prompts in 2 sessions" in shown
    shown = trace(home, "search", "half past", is_terminal=True).out
    assert "agent, line 2: At half past six." in shown
    empty = trace(home, "index", "--agent", "pi", is_terminal=True).out
    assert f"no transcripts below {home}/.pi/agent" in empty


def test_what_could_not_be_read_is_named(home: Path) -> None:
    compressed = home / ".codex" / "sessions" / f"rollout-2026-02-01T13-00-00-{A}.jsonl.zst"
    compressed.write_bytes(b"\x28\xb5\x2f\xfd")
    result = trace(home, "index")
    assert result.data["filesFailed"] == 1
    assert result.data["failures"][0]["path"] == str(compressed)
    assert "compressed" in trace(home, "index", is_terminal=True).out


def test_links_from_either_side(home: Path) -> None:
    trace(home, "index")
    repo = ("--repo", str(home / "store"))
    stated = ("write", "--type=semantic", "--title=Gate hours", "--claim=It opens at 06:30.")
    assert call(*stated, f"--session-id={A}", *repo).status == 0
    call("reinforce", GATE, "--signal=positive", f"--session-id={B}", *repo)
    of_path = trace(home, "links", GATE).data
    links = {(link["linkKind"], link["sessionId"]) for link in of_path["links"]}
    assert links == {("wrote", A), ("reinforced", B)}
    assert {one["firstPrompt"] for one in of_path["sessions"]} == {
        "when does the gate open",
        "paint the gate",
    }
    fixed = call("correct", GATE, "--claim=It opens at 07:00.", "--title=New hours", *repo)
    new = fixed.data["path"]
    for path in (GATE, new, str(home / "store" / new), f"./{new}"):
        links = trace(home, "links", path).data["links"]
        assert {link["sessionId"] for link in links} == {A, B}, path
    (link,) = trace(home, "links", "--session-id", "aaaa").data["links"]
    assert (link["linkKind"], link["sessionId"]) == ("wrote", A)
    shown = trace(home, "links", A, is_terminal=True).out
    assert "wrote" in shown
    assert "when does the gate open" in shown


def test_a_call_that_names_nothing_or_two_things_is_refused(home: Path) -> None:
    for argv in ((), (A, "--path", GATE), ("--session-id", A, "--path", GATE)):
        refused = trace(home, "links", *argv)
        assert (refused.status, refused.json["code"]) == (2, "ERR_INVALID_FLAG"), argv
    assert trace(home, "links", "areas/nowhere.html").json["code"] == "ERR_PATH_NOT_FOUND"
    assert trace(home, "search", "gate", "--since", "soon").status == 2
    assert trace(home, "links", "zzzz").data["links"] == []


def test_an_id_that_several_sessions_begin_with_is_refused(home: Path) -> None:
    put(
        home / ".claude" / "projects" / "-srv" / f"{A[:-1]}2.jsonl",
        Claude(f"{A[:-1]}2").user("again"),
    )
    trace(home, "index")
    refused = trace(home, "links", "aaaa")
    assert refused.status == 2
    assert A in refused.json["error"]


def test_the_agents_of_the_table_are_those_that_can_be_read() -> None:
    (flag,) = (flag for flag in COMMANDS[0].flags if flag.name == "agent")
    assert flag.choices == tuple(LAYOUTS)
