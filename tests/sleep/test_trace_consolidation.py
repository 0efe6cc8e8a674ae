"""What sessions teach becomes memories with their words. Real transcripts, real git, real HTTP."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from memhtml.format.edit import SetMeta, apply_edits
from memhtml.format.parse import parse
from memhtml.model.vocabulary import MemoryType
from memhtml.providers.languagemodels import ModelChoice, open_model
from memhtml.sleep.detections import plan_detections
from memhtml.sleep.judge import Budget, BudgetedJudge
from memhtml.sleep.marks import apply_marks
from memhtml.sleep.merge import drop, merge
from memhtml.sleep.phases import PHASES, trace_consolidation
from memhtml.sleep.runner import RunOptions, phase_names, run
from memhtml.traces.consolidate import earlier_sessions
from memhtml.traces.scan import scan
from memhtml.traces.sessions import due_sessions, mark_consolidated
from tests.sleep.conftest import NOW as STORE_NOW
from tests.sleep.endpoints import endpoint
from tests.sleep.trees import NOW, Tree
from tests.traces.transcripts import Claude, append, base_in, put, rescan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pydantic_ai.messages import ModelMessage

    from memhtml.corpus import Corpus
    from memhtml.sleep.phase import Outcome
    from memhtml.traces.database import TraceBase
    from memhtml.traces.sessions import Session

A, B = (f"{letter * 8}-1111-4111-8111-111111111111" for letter in "ab")
TOKEN = "ghp_" + "a1B2" * 9
WISH = "Remember that the gate opens at six."
LEARNED = "areas/inbox/the-gate-opens-at-six.html"


class Traces:
    """What is known of the transcripts below one folder."""

    def __init__(self, base: TraceBase, root: Path) -> None:
        self.base = base
        self.root = root
        self.failures: list[tuple[str, str]] = []

    def due(self, now: datetime, limit: int) -> Sequence[Session]:
        rescan(self.base, self.root)
        return due_sessions(self.base, now, limit=limit)

    def earlier(self, sessions: Sequence[Session]) -> Sequence[Session]:
        return earlier_sessions(self.base, sessions)

    def tell(self, session: str, *lines: Any, hours: float = 5, now: datetime = NOW) -> Path:
        return told(self.root, session, *lines, hours=hours, now=now)


def told(root: Path, session: str, *lines: Any, hours: float = 5, now: datetime = NOW) -> Path:
    """Write a session that ended so many hours ago, long enough to be looked at."""
    filler = Claude(session).says("This goes on and on. " * 500)
    path = put(root / "projects" / "-srv-shop" / f"{session}.jsonl", *lines, filler)
    return append(path, mtime=(now - timedelta(hours=hours)).timestamp())


@pytest.fixture
def traces(tmp_path: Path) -> Iterator[Traces]:
    with base_in(tmp_path / "cache") as base:
        yield Traces(base, tmp_path / "claude")


def sleep(tree: Tree, traces: Traces | None, **known: Any) -> Outcome:
    context = tree.context(traces=traces, **known)
    found = trace_consolidation.run(context)
    tree.apply(*found.proposals)
    return found


def tasks(tree: Tree, found: Outcome) -> dict[str, int]:
    planned = plan_detections(
        trace_consolidation.NAME,
        found.findings,
        tree.context(),
        budget=10,
        judged_all=found.judged_all,
    )
    if planned.proposal is not None:
        tree.apply(planned.proposal)
    return planned.counts


def asked(session: str, wish: str = WISH) -> list[Any]:
    one = Claude(session)
    return [one.user("install it"), one.says("Done."), one.user(f"Thanks. {wish}")]


def corrected(session: str) -> list[Any]:
    one = Claude(session)
    return [
        one.user("install it"),
        one.calls("npm install left-pad"),
        one.result("ok"),
        one.user("No, use pnpm instead of npm."),
        one.calls("pnpm add left-pad", "c2"),
        one.result("ok", "c2"),
    ]


# Without a model


def test_the_phase_stands_where_the_format_has_it() -> None:
    names = phase_names()
    assert names.index("trace-consolidation") == names.index("reprieve") + 1
    assert trace_consolidation in PHASES


def test_what_was_asked_for_becomes_a_memory_with_its_words(traces: Traces) -> None:
    """sleep.md §2: without a model the phase did nothing."""
    path = traces.tell(A, *asked(A))
    tree = Tree()
    found = sleep(tree, traces)
    (proposal,) = found.proposals
    assert list(tree.files) == [LEARNED]
    document = parse(tree.files[LEARNED])
    head = document.head
    assert document.claim == "The gate opens at six."
    assert (document.title, proposal.subject) == ("The gate opens at six.",) * 2
    assert (head.memory_type, head.tags) == (MemoryType.SEMANTIC, ("trace-consolidation",))
    assert (head.author, head.session_id) == ("agent:sleep", A)
    assert [tuple(one) for one in document.citations] == [(WISH, f"session:{A}#L3")]
    assert document.happened_at == "2026-03-01", "it is as old as its session, not as its file"
    (decision,) = proposal.decisions
    assert (decision.kind, decision.path) == ("learned", LEARNED)
    assert dict(decision.evidence) == {
        "found by": "asked",
        "quote 1": WISH,
        "quote 1 stands in": f"session {A}, line 3 of {path}",
    }
    assert {name: found.counts[name] for name in ("sessions", "candidates", "written", "read")} == {
        "sessions": 1,
        "candidates": 1,
        "written": 1,
        "read": 1,
    }
    assert found.detail is not None
    assert "no model bound" in found.detail


PNPM = "Remember: use pnpm in this repository."


def test_it_stands_by_what_it_is_about_and_not_by_its_tag(traces: Traces) -> None:
    """All of them stood in resources/trace-consolidation, whatever they were about."""
    traces.tell(A, *asked(A, PNPM), *asked(A, "Remember that I like short answers."))
    tree = Tree()
    tree.write("projects/shop/till.html", "The till is red.", workspace="Shop")
    sleep(tree, traces)
    found = {path: parse(data) for path, data in tree.files.items() if "till" not in path}
    assert sorted(found) == [
        "areas/inbox/i-like-short-answers.html",  # what a person likes, they like everywhere
        "projects/shop/use-pnpm-in-this-repository-shop.html",
    ]
    assert all(one.head.tags == (trace_consolidation.TAG,) for one in found.values())


def test_what_this_is_stands_in_the_memory_and_no_path_of_a_machine(traces: Traces) -> None:
    """ "Use pnpm in this repository" was kept, and nothing told which."""
    traces.tell(A, *asked(A, PNPM))
    one = Claude(B, cwd="/home/ada/work/blog")
    traces.tell(B, one.user("hello"), one.user("Remember: use npm in this repository."))
    tree = Tree()
    assert sleep(tree, traces).counts["written"] == 2
    said = {one.claim: one.body_text for one in map(parse, tree.files.values())}
    assert set(said) == {
        "Use pnpm in this repository (shop).",
        "Use npm in this repository (blog).",
    }
    assert "Said on 2026-03-01 in the folder blog." in said["Use npm in this repository (blog)."]
    assert not any(b"/home" in data or b"/srv" in data for data in tree.files.values())


def test_the_same_words_in_two_folders_are_two_things_where_they_point(traces: Traces) -> None:
    for session, folder in ((A, "/srv/shop"), (B, "/srv/blog")):
        one = Claude(session, cwd=folder)
        wishes = one.user(PNPM), one.user(WISH)
        traces.tell(session, one.user("hello"), *wishes)
    tree = Tree()
    sleep(tree, traces)
    said = {one.claim: one.body_text for one in map(parse, tree.files.values())}
    assert set(said) == {
        "The gate opens at six.",
        "Use pnpm in this repository (shop).",
        "Use pnpm in this repository (blog).",
    }
    assert "in the folders blog, shop." in said["The gate opens at six."]
    assert sleep(tree, traces).proposals == (), "the next night knows all of it"


def test_each_memory_is_a_commit_of_its_own_and_two_sessions_make_no_single_source(
    traces: Traces,
) -> None:
    traces.tell(A, *asked(A), *asked(A, "Remember that invoices are sent on Mondays."))
    traces.tell(B, *asked(B))
    tree = Tree()
    found = sleep(tree, traces)
    assert len(found.proposals) == 2
    both = parse(tree.files[LEARNED])
    assert both.head.session_id is None
    assert {one.href for one in both.citations} == {f"session:{A}#L3", f"session:{B}#L3"}


@pytest.mark.parametrize(
    "claim",
    ["The gate opens at six.", "the gate  opens at six", "The gate opens at 6."],
)
def test_what_a_live_memory_says_is_counted_and_not_written(traces: Traces, claim: str) -> None:
    traces.tell(A, *asked(A))
    tree = Tree()
    tree.write("areas/gate.html", claim, paragraphs=("It has a bell.",))
    found = sleep(tree, traces)
    assert not found.proposals
    assert found.counts["known"] == 1
    assert [mark["sessionId"] for mark in found.marks] == [A]


@pytest.mark.parametrize("claim", ["The gate opens at seven.", "The gate never opens at six."])
def test_another_fact_is_no_duplicate(traces: Traces, claim: str) -> None:
    """sleep.md §9.14."""
    traces.tell(A, *asked(A))
    tree = Tree()
    tree.write("areas/gate.html", claim)
    assert sleep(tree, traces).counts["written"] == 1


def test_a_preference_that_was_turned_round_is_learned(traces: Traces) -> None:
    traces.tell(A, *asked(A, "Remember that I prefer spaces over tabs."))
    tree = Tree()
    tree.write("areas/tabs.html", "I prefer tabs over spaces.")
    assert sleep(tree, traces).counts["written"] == 1


def test_what_a_person_archived_is_not_learned_again(traces: Traces) -> None:
    traces.tell(A, *asked(A))
    tree = Tree()
    sleep(tree, traces)
    data = apply_edits(tree.files[LEARNED], (SetMeta("memhtml-status", "archived"),))
    tree.set(f"archive/2026/{LEARNED}", data)
    tree.set(LEARNED, None)
    found = sleep(tree, traces)
    assert (found.counts["dismissed"], found.proposals) == (1, ())


def test_the_same_error_seen_more_often_is_no_second_memory(traces: Traces) -> None:
    def failing(session: str, times: int) -> list[Any]:
        one = Claude(session)
        lines = [one.user("run it")]
        for number in range(times):
            lines.append(one.calls("make deploy", f"c{number}"))
            lines.append(
                one.result("deploy: error: no route to host gate-7", f"c{number}", failed=True)
            )
        return lines

    traces.tell(A, *failing(A, 3))
    tree = Tree()
    assert sleep(tree, traces).counts["written"] == 1
    traces.tell(B, *failing(B, 4))
    found = sleep(tree, traces)
    assert (found.counts["known"], found.counts["written"]) == (1, 0)


def test_another_value_for_the_same_slot_is_told_in_the_decision(traces: Traces) -> None:
    traces.tell(A, *asked(A, "Remember that the pool ceiling is 80."))
    tree = Tree()
    tree.write("areas/pool.html", "The pool ceiling is 64.")
    found = sleep(tree, traces)
    (decision,) = found.proposals[0].decisions
    assert "may contradict areas/pool.html, which says: The pool ceiling is 64." in decision.why
    assert found.counts["conflicts"] == 1


@pytest.mark.parametrize(
    "claim", ["Use npm instead of pnpm.", "Use npm for every package.", "The project uses npm."]
)
def test_a_correction_against_a_live_memory_is_a_question(traces: Traces, claim: str) -> None:
    traces.tell(A, *corrected(A))
    tree = Tree()
    path = tree.write("areas/npm.html", claim)
    found = sleep(tree, traces)
    assert not found.proposals
    (finding,) = found.findings
    assert finding.paths == (path,)
    assert dict(finding.measured)["words"] == "No, use pnpm instead of npm."
    assert tasks(tree, found) == {"tasksMinted": 1}
    mark_consolidated(traces.base, [A], "earlier", NOW)
    assert tasks(tree, sleep(tree, traces)) == {"tasksOpen": 1}, "its session is not read again"
    tree.write(path, "Use pnpm for every package.")
    assert tasks(tree, sleep(tree, None)) == {"tasksClosed": 1}


@pytest.mark.parametrize(
    "claim", ["Use pnpm, not npm.", "Never use npm.", "The npm registry is slow on Mondays."]
)
def test_a_correction_that_goes_against_nothing_is_a_memory(traces: Traces, claim: str) -> None:
    traces.tell(A, *corrected(A))
    tree = Tree()
    tree.write("areas/npm.html", claim)
    found = sleep(tree, traces)
    assert (found.counts["written"], found.findings) == (1, ())


def test_a_credential_is_refused_and_said(traces: Traces) -> None:
    traces.tell(A, *asked(A, f"Remember that the deploy token is {TOKEN}."))
    tree = Tree()
    found = sleep(tree, traces)
    assert not tree.files
    assert found.counts["refused"] == 1
    assert "1 refused: it holds a credential" in (found.detail or "")
    assert TOKEN not in repr(found)


def test_a_session_that_is_gone_stays_due_and_is_named(traces: Traces) -> None:
    class Late(Traces):
        def due(self, now: datetime, limit: int) -> Sequence[Session]:
            found = super().due(now, limit)
            path.unlink()
            return found

    late = Late(traces.base, traces.root)
    path = late.tell(A, *asked(A))
    found = sleep(Tree(), late)
    assert (found.marks, found.counts["unread"]) == ((), 1)
    assert f"session {A} could not be read" in (found.detail or "")


def test_only_so_many_sessions_are_read_in_a_night(traces: Traces) -> None:
    for number in range(4):
        session = f"{number:08}-1111-4111-8111-111111111111"
        traces.tell(session, *asked(session), hours=number + 2)
    found = sleep(Tree(), traces, trace_sessions=3)
    assert (found.counts["sessions"], len(found.marks)) == (3, 3)


def test_a_session_is_due_again_only_when_it_goes_on(traces: Traces) -> None:
    path = traces.tell(A, *asked(A))
    (mark,) = sleep(Tree(), traces).marks
    at = datetime.fromisoformat(mark["at"])
    mark_consolidated(traces.base, [mark["sessionId"]], mark["runId"], at)
    assert not traces.due(NOW, 10)
    append(path, Claude(A).user("go on"), mtime=(NOW - timedelta(hours=3)).timestamp())
    assert traces.due(NOW, 10)


def test_without_transcripts_it_says_so() -> None:
    found = trace_consolidation.run(Tree().context())
    assert "memhtml trace index" in (found.detail or "")


# With a model


GATE = 'The gate squeaks "again" today.'
OILED = "I oiled it and the gate is silent."


def talk(session: str) -> list[Any]:
    one = Claude(session)
    return [one.user(GATE), one.says(OILED), one.says("I will paint the gate by Friday.")]


def claim(*quotes: str, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "procedural",
        "claim": "Oil the gate when it squeaks.",
        "gist": "Oil helped.",
        "entities": [{"type": "place", "name": "the  gate"}, {"type": "tool", "name": "oil can"}],
        "evidence": [{"session_id": A, "quote": quote} for quote in quotes],
        **fields,
    }


def promise(**fields: Any) -> dict[str, Any]:
    return {
        "statement": "Paint the gate",
        "actor": "agent",
        "evidence": {"session_id": A, "quote": "I will paint the gate by Friday."},
        "confidence": 0.9,
        "due_hint": "Friday",
        **fields,
    }


def answering(**answer: Any) -> BudgetedJudge:
    """A judge that reads session A by all three tools and then gives *answer*."""
    looks: list[tuple[str, dict[str, Any]]] = [
        ("list_sessions", {}),
        ("search_transcript", {"session_id": A, "needle": "squeaks"}),
        ("read_lines", {"session_id": A, "start": 1, "count": 1}),
    ]

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = len(messages) // 2
        if done < len(looks):
            return ModelResponse(parts=[ToolCallPart(*looks[done])])
        assert "squeaks" in str(messages[-1])
        assert {tool.name for tool in info.function_tools} == {name for name, _ in looks}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, answer)])

    return BudgetedJudge(FunctionModel(reply))


def test_a_model_reads_with_tools_and_one_invented_quote_costs_one_memory(traces: Traces) -> None:
    """extras.md §4 and §10.11: one failing quote rejected the whole answer."""
    traces.tell(A, *talk(A), *asked(A))
    tree = Tree()
    tree.write("areas/place.html", "It is green.", entities=("place:The Gate",))
    judge = answering(
        candidates=[
            claim(GATE, OILED),
            claim(GATE, "The gate is made of gold."),
            claim(GATE, OILED, claim="The gate opens at six."),
        ],
        read_session_ids=[A, B],
    )
    found = sleep(tree, traces, judge=judge)
    assert found.counts["model"] == 1
    assert (found.counts["written"], found.counts["known"], found.counts["refused"]) == (2, 1, 1)
    (path,) = (path for path in tree.files if "oil-the-gate" in path)
    document = parse(tree.files[path])
    assert document.head.entities == ("place:The Gate", "tool:oil can")
    assert [one.text for one in document.citations] == [GATE, OILED]
    assert [mark["sessionId"] for mark in found.marks] == [A]
    assert judge.calls == 4
    assert "a quote does not stand in session" in (found.detail or "")


def test_only_what_the_model_has_read_counts_as_read(traces: Traces) -> None:
    traces.tell(A, *talk(A))
    traces.tell(B, *asked(B))
    found = sleep(Tree(), traces, judge=answering(read_session_ids=[A]))
    assert [mark["sessionId"] for mark in found.marks] == [A]
    assert (found.counts["sessions"], found.counts["read"]) == (2, 1)


@pytest.mark.parametrize("spent", [True, False])
def test_a_model_that_fails_leaves_what_is_learned_without_one(
    traces: Traces, *, spent: bool
) -> None:
    def reply(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        raise OSError("nobody there")

    traces.tell(A, *asked(A))
    judge = BudgetedJudge(FunctionModel(reply), Budget(calls=0 if spent else None))
    tree = Tree()
    found = sleep(tree, traces, judge=judge)
    assert list(tree.files) == [LEARNED]
    assert found.marks == ()
    assert ("may spend no more" if spent else "nobody there") in (found.detail or "")
    assert "stay due" in (found.detail or "")


def test_commitments_become_tasks_and_doubtful_ones_are_only_told(traces: Traces) -> None:
    traces.tell(A, *talk(A))
    tree = Tree()
    judge = answering(
        commitments=[
            promise(),
            promise(confidence=0.5),
            promise(actor="other"),
            promise(evidence={"session_id": A, "quote": "I will burn the gate."}),
        ],
        read_session_ids=[A],
    )
    found = sleep(tree, traces, judge=judge)
    (finding,) = found.findings
    assert finding.claim == "Confirm whether this is still to do: Paint the gate"
    # The session was on 2026-03-01, a Sunday.
    assert (finding.detector, finding.due) == ("trace-commitment", "2026-03-06")
    assert found.counts["belowFloor"] == 1
    assert found.counts["refused"] == 2
    assert [mark["kind"] for mark in found.marks] == [
        "session-consolidated",
        "commitment-below-floor",
    ] or [mark["kind"] for mark in found.marks] == [
        "commitment-below-floor",
        "session-consolidated",
    ]
    assert tasks(tree, found) == {"tasksMinted": 1}


def test_the_same_commitment_again_is_known_and_a_kept_one_closes_its_task(traces: Traces) -> None:
    traces.tell(A, *talk(A))
    tree = Tree()
    found = sleep(tree, traces, judge=answering(commitments=[promise()]))
    tasks(tree, found)
    again = promise(
        statement="Paint the gate.", evidence={"session_id": A, "quote": "I will paint the gate"}
    )
    found = sleep(tree, traces, judge=answering(commitments=[again]))
    assert found.counts["knownTasks"] == 1
    assert tasks(tree, found) == {}
    found = sleep(tree, traces, judge=answering(commitments=[promise(resolved=True)]))
    assert found.counts["closed"] == 1
    (path,) = (path for path in tree.files if "/tasks/" in path)
    assert path.startswith("archive/2026/")
    assert parse(tree.files[path]).head.task_status == "done"


def test_a_task_that_a_person_wrote_is_theirs(traces: Traces) -> None:
    traces.tell(A, *talk(A))
    tree = Tree()
    tree.write("areas/inbox/tasks/paint.html", "Paint the gate.", memory_type=MemoryType.TASK)
    found = sleep(tree, traces, judge=answering(commitments=[promise(resolved=True), promise()]))
    assert (found.counts["closed"], found.counts["knownTasks"], found.findings) == (0, 1, ())


def test_two_commitments_of_one_form_are_two_tasks(traces: Traces) -> None:
    traces.tell(A, *talk(A))
    tree = Tree()
    other = {"session_id": A, "quote": OILED}
    judge = answering(
        commitments=[
            promise(statement="I will send the draft to Dana"),
            promise(statement="I will send the draft to Omar", evidence=other),
        ]
    )
    assert tasks(tree, sleep(tree, traces, judge=judge)) == {"tasksMinted": 2}


# In a run, over real git


def index(corpus: Corpus, root: Path) -> None:
    with corpus.traces() as base:
        scan(base, [str(root)], now="2026-08-02T20:00:00Z")


def due(corpus: Corpus) -> int:
    with corpus.traces() as base:
        return len(due_sessions(base, STORE_NOW))


ONLY = RunOptions(registry=(trace_consolidation,))


def test_a_merged_run_has_read_its_sessions_and_a_dropped_one_has_not(
    corpus: Corpus, tmp_path: Path
) -> None:
    """sleep.md §6."""
    told(tmp_path / "claude", A, *asked(A), now=STORE_NOW)
    index(corpus, tmp_path / "claude")
    report = run(corpus, ONLY)
    assert report.phases[0].counts["written"] == 1
    drop(corpus, report.run_id)
    assert due(corpus) == 1
    report = run(corpus, ONLY)
    assert due(corpus) == 1, "a run that waits has read nothing yet"
    merge(corpus, report.run_id, on_merged=lambda done: apply_marks(corpus, done.marks))
    assert due(corpus) == 0
    assert corpus.read(LEARNED).document.claim == "The gate opens at six."


def test_a_run_sees_what_came_in_since_and_a_dry_run_changes_nothing(
    corpus: Corpus, tmp_path: Path
) -> None:
    """sleep.md §9.11."""
    told(tmp_path / "claude", A, *asked(A), now=STORE_NOW)
    index(corpus, tmp_path / "claude")
    told(tmp_path / "claude", B, *corrected(B), now=STORE_NOW)
    rehearsed = run(corpus, RunOptions(registry=(trace_consolidation,), dry_run=True))
    assert rehearsed.phases[0].counts["written"] == 1
    assert due(corpus) == 1
    assert corpus.repo.find(LEARNED) is None
    assert run(corpus, ONLY).phases[0].counts["written"] == 2


def test_a_store_without_transcripts_gets_no_database_of_them(corpus: Corpus, root: Path) -> None:
    report = run(corpus, ONLY)
    assert "memhtml trace index" in (report.phases[0].detail or "")
    assert not list(root.rglob("traces.db"))


def test_a_model_behind_http_reads_and_answers(corpus: Corpus, tmp_path: Path) -> None:
    told(tmp_path / "claude", A, *talk(A), now=STORE_NOW)
    index(corpus, tmp_path / "claude")

    def reply(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        last = body["messages"][-1]
        if last["role"] != "tool":
            return "list_sessions", {}
        said = json.loads(last["content"])
        if isinstance(said, list):
            return "read_lines", {"session_id": said[0]["sessionId"]}
        line = json.loads(said["lines"][0]["text"])
        quotes = [{"session_id": A, "quote": q} for q in (line["message"]["content"], OILED)]
        answer = {"candidates": [claim(evidence=quotes)], "read_session_ids": [A]}
        return body["tools"][-1]["function"]["name"], answer

    with endpoint(reply) as (url, heard):
        judge = BudgetedJudge(open_model(ModelChoice("small-model", url)))
        options = RunOptions(registry=(trace_consolidation,), judge=judge)
        phase = run(corpus, options).phases[0]
    assert (phase.counts["model"], phase.calls, phase.tokens) == (1, 3, 126)
    assert len(heard) == 3
