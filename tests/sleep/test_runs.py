"""Runs: their own working tree, one commit a proposal, review, merge in part, undo. Real git."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.format.edit import SetMeta, apply_edits, read_meta
from memhtml.model.errors import DirtyTree, InvalidFlag, RunNotFound, RunRefused
from memhtml.model.history import DiffKind
from memhtml.model.memory import Draft
from memhtml.model.paths import memory_path
from memhtml.model.vocabulary import MemoryType
from memhtml.publish import publish
from memhtml.sleep.marks import session_mark
from memhtml.sleep.merge import MergeOptions, Verdict, drop, merge, undo
from memhtml.sleep.phase import Decision, Finding, Outcome, Proposal
from memhtml.sleep.review import How, review
from memhtml.sleep.reviewpage import review_page
from memhtml.sleep.runner import RunOptions, resume, run
from memhtml.sleep.runs import Runs, RunState, record_path, report_path
from memhtml.store.archive import archiving
from memhtml.store.plan import Put
from tests.sleep.conftest import NOW, TestPhase

if TYPE_CHECKING:
    from memhtml.sleep.phase import Context, Phase

GATE, FEED, OWLS = "areas/inbox/gate.html", "areas/inbox/feed.html", "areas/inbox/barn-owls.html"
RUN = "sleep/2026-08-02"


def git(root: Path, *args: str) -> str:
    done = subprocess.run(("git", *args), cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def restamping(name: str, path: str, importance: str) -> TestPhase:
    """Return a phase that gives a memory an importance."""

    def does(context: Context) -> Outcome:
        file = context.view.find(path)
        assert file is not None
        data = apply_edits(file.data, (SetMeta("memhtml-importance", importance),))
        decision = Decision("raised", path, "It was asked for.", evidence=(("asked", 3),))
        steps = (Put(path, data, file.sha),) if data != file.data else ()
        proposal = Proposal(subject=f"raise {path}", steps=steps, decisions=(decision,))
        return Outcome(proposals=(proposal,) if steps else (), counts={"raised": len(steps)})

    return TestPhase(name, does)


def archiver(name: str, path: str) -> TestPhase:
    """Return a phase that archives a memory."""

    def does(context: Context) -> Outcome:
        file = context.view.find(path)
        if file is None:
            return Outcome()
        target, steps = archiving(memory_path(path), file, context.view, now=context.now)
        decision = Decision("archived", path, "Nobody asks for it.", target)
        return Outcome(
            proposals=(Proposal(subject="archive", steps=tuple(steps), decisions=(decision,)),)
        )

    return TestPhase(name, does)


def rewording(name: str, path: str, old: bytes, new: bytes) -> TestPhase:
    """Return a phase that lets a memory say something else."""

    def does(context: Context) -> Outcome:
        file = context.view.find(path)
        assert file is not None
        put = Put(path, file.data.replace(old, new), file.sha)
        return Outcome(proposals=(Proposal(subject=name, steps=(put,), decisions=()),))

    return TestPhase(name, does)


def failing(name: str) -> TestPhase:
    def does(_: Context) -> Outcome:
        raise ValueError("no idea")

    return TestPhase(name, does)


def options(*phases: Phase, dry_run: bool = False) -> RunOptions:
    return RunOptions(registry=phases, dry_run=dry_run)


def test_a_run_works_beside_the_checkout_and_waits_on_its_branch(
    root: Path, corpus: Corpus
) -> None:
    """sleep.md §9.2: HEAD stayed on the run's branch, and writes of the day died with it."""
    before = git(root, "rev-parse", "HEAD")
    report = run(corpus, options(restamping("raise", GATE, "9")))
    assert (report.run_id, report.failed) == (RUN, ())
    assert git(root, "rev-parse", "HEAD") == before
    assert git(root, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert git(root, "status", "--porcelain") == ""
    written = corpus.write(
        Draft(title="Late", memory_type=MemoryType.SEMANTIC, claim="Written meanwhile.")
    )
    drop(corpus, RUN)
    assert git(root, "branch", "--list", "sleep/*") == ""
    assert git(root, "worktree", "list").count("\n") == 1
    assert corpus.read(written.path).document.claim == "Written meanwhile."


def test_each_phase_is_a_commit_that_says_why(root: Path, corpus: Corpus) -> None:
    run(corpus, options(restamping("raise", GATE, "9"), archiver("triage", FEED)))
    messages = git(root, "log", "--reverse", "--format=%B%x00", f"main..{RUN}").split("\0")
    assert messages[0].startswith("memhtml(sleep(raise)): raise areas/inbox/gate.html\n")
    assert "  raised areas/inbox/gate.html: It was asked for." in messages[0]
    assert "Memhtml-Run: sleep/2026-08-02" in messages[0]
    assert 'Memhtml-Counts: {"raised": 1}' in messages[0]
    assert "Memhtml-Phase: triage" in messages[1]
    assert "Memhtml-Phase: report" in messages[2]
    there = git(root, "ls-tree", "-r", "--name-only", RUN).split()
    assert {record_path(RUN), report_path(RUN)} <= set(there)


def test_a_dry_run_shows_everything_and_changes_nothing(root: Path, corpus: Corpus) -> None:
    """sleep.md §9.11: a dry run updated the index and left a row behind."""
    corpus.update()
    refs, index = git(root, "for-each-ref"), (root / ".memhtml/cache/index.db").read_bytes()
    objects = sorted((root / ".git/objects").rglob("*"))
    second = restamping("again", GATE, "9")
    report = run(corpus, options(restamping("raise", GATE, "9"), second, dry_run=True))
    # The second phase sees what the first one did.
    assert [phase.counts for phase in report.phases[:2]] == [{"raised": 1}, {"raised": 0}]
    assert report.commits[0].decisions[0].why == "It was asked for."
    assert git(root, "for-each-ref") == refs
    assert (root / ".memhtml/cache/index.db").read_bytes() == index
    assert sorted((root / ".git/objects").rglob("*")) == objects
    assert not (root / ".git/memhtml/sleep").exists()


def test_a_failed_phase_leaves_what_the_others_did_and_can_be_tried_again(
    corpus: Corpus,
) -> None:
    needy = TestPhase("needy", lambda _: Outcome(), ("broken",))
    first = restamping("raise", GATE, "9")
    report = run(corpus, options(first, failing("broken"), needy, archiver("triage", FEED)))
    assert report.failed == ("broken",)
    assert [done.status for done in report.phases] == ["ok", "failed", "skipped", "ok", "ok"]
    assert "no idea" in (report.phases[1].detail or "")
    mended = TestPhase("broken", lambda _: Outcome())
    counted: list[str] = []
    again = RunOptions(
        registry=(first, mended, needy, archiver("triage", FEED)), on_phase=counted.append
    )
    resumed = resume(corpus, RUN, again)
    # sleep.md §9.10: resume did everything again that had nothing to commit, paid calls included.
    assert counted == ["broken", "needy", "report"]
    assert resumed.failed == ()
    assert review(corpus, RUN).run.state is RunState.REVIEW


def test_nothing_to_do_leaves_no_branch(root: Path, corpus: Corpus) -> None:
    """sleep.md §9.7: an empty branch stayed behind."""
    report = run(corpus, options(TestPhase("idle", lambda _: Outcome())))
    assert report.commits == ()
    assert git(root, "branch", "--list", "sleep/*") == ""


def test_hand_edits_that_are_not_committed_do_not_stop_a_run(root: Path, corpus: Corpus) -> None:
    """sleep.md §9.7: a dirty tree failed the run."""
    (root / GATE).write_bytes((root / GATE).read_bytes().replace(b"06:30", b"07:00"))
    run(corpus, options(restamping("raise", OWLS, "9")))
    merged = merge(corpus, RUN)
    assert merged.is_news
    assert b"07:00" in (root / GATE).read_bytes()


def test_a_merge_of_what_is_being_edited_is_refused_and_named(root: Path, corpus: Corpus) -> None:
    (root / GATE).write_bytes((root / GATE).read_bytes().replace(b"06:30", b"07:00"))
    run(corpus, options(restamping("raise", GATE, "9")))
    with pytest.raises(DirtyTree) as caught:
        merge(corpus, RUN)
    assert caught.value.paths == (GATE,)
    assert b"07:00" in (root / GATE).read_bytes()


def test_a_merge_joins_what_was_written_meanwhile(root: Path, corpus: Corpus) -> None:
    run(corpus, options(restamping("raise", GATE, "9"), archiver("triage", FEED)))
    # Both sides change the head of one file, and neither change is lost.
    file = (root / GATE).read_bytes()
    (root / GATE).write_bytes(apply_edits(file, (SetMeta("memhtml-confidence", "0.70"),)))
    git(root, "commit", "--quiet", "--all", "--message", "by hand")
    corpus.write(Draft(title="New", memory_type=MemoryType.SEMANTIC, claim="A new one."))
    done = merge(corpus, RUN)
    assert done.merged_paths == (GATE,)
    merged = (root / GATE).read_bytes()
    assert read_meta(merged, "memhtml-importance") == "9"
    assert read_meta(merged, "memhtml-confidence") == "0.70"
    assert (root / "archive/2026" / FEED).exists()
    assert corpus.search("A new one").hits[0].title == "New"
    assert git(root, "status", "--porcelain") == ""
    # sleep.md §9.8: merged branches stayed, and a second merge was a refusal of the wrong kind.
    assert git(root, "branch", "--list", "sleep/*") == ""
    again = merge(corpus, RUN)
    assert (again.commit, again.is_news) == (None, False)


def test_generated_pages_are_no_obstacle(corpus: Corpus) -> None:
    """sleep.md §9.9: a publish in between blocked the merge."""
    publish(corpus)

    def pages(context: Context) -> Outcome:
        file = context.view.find("index.html")
        assert file is not None
        put = Put("index.html", file.data + b"<!-- by the run -->", file.sha)
        return Outcome(proposals=(Proposal(subject="pages", steps=(put,), decisions=()),))

    run(corpus, options(TestPhase("integrity", pages), restamping("raise", GATE, "9")))
    corpus.write(Draft(title="New", memory_type=MemoryType.SEMANTIC, claim="A new one."))
    publish(corpus)
    assert merge(corpus, RUN).is_news


def test_what_conflicts_is_refused_with_its_paths(root: Path, corpus: Corpus) -> None:
    run(corpus, options(rewording("reword", GATE, b"06:30", b"06:45")))
    (root / GATE).write_bytes((root / GATE).read_bytes().replace(b"06:30", b"07:00"))
    git(root, "commit", "--quiet", "--all", "--message", "by hand")
    head = git(root, "rev-parse", "HEAD")
    with pytest.raises(RunRefused) as caught:
        merge(corpus, RUN)
    assert (caught.value.reason, caught.value.paths) == ("conflict", (GATE,))
    assert git(root, "rev-parse", "HEAD") == head
    assert review(corpus, RUN).run.state is RunState.REVIEW


def test_a_phase_or_a_commit_can_be_left_out(root: Path, corpus: Corpus) -> None:
    """sleep.md §9.21: a run could only be taken whole."""
    phases = (restamping("raise", GATE, "9"), archiver("triage", FEED), restamping("x", OWLS, "8"))
    run(corpus, options(*phases))
    commits = review(corpus, RUN).commits
    done = merge(corpus, RUN, MergeOptions(leave_out=("raise", commits[2].sha[:12])))
    assert done.left_out == (commits[0].sha, commits[2].sha)
    assert read_meta((root / GATE).read_bytes(), "memhtml-importance") != "9"
    assert read_meta((root / OWLS).read_bytes(), "memhtml-importance") != "8"
    assert not (root / FEED).exists()
    assert "Memhtml-Left-Out: " + commits[0].sha in git(root, "log", "-1", "--format=%B")
    # What was taken is what a later review shows.
    assert [commit.phase for commit in review(corpus, RUN).commits] == ["triage"]


def test_what_is_left_out_marks_nothing(corpus: Corpus) -> None:
    mark = session_mark("s-1", RUN, "2026-08-02T00:00:00Z")
    phase = restamping("traces", GATE, "9")
    marking = TestPhase("traces", lambda context: replace(phase.run(context), marks=(mark,)))
    run(corpus, options(marking, restamping("raise", OWLS, "9")))
    assert merge(corpus, RUN, MergeOptions(leave_out=("traces",))).marks == ()
    whole = run(corpus, options(marking, restamping("raise", FEED, "9"))).run_id
    assert merge(corpus, whole).marks == (mark,)


def test_only_takes_one_phase(root: Path, corpus: Corpus) -> None:
    run(corpus, options(restamping("raise", GATE, "9"), archiver("triage", FEED)))
    merge(corpus, RUN, MergeOptions(only=("raise",)))
    assert (root / FEED).exists()
    assert read_meta((root / GATE).read_bytes(), "memhtml-importance") == "9"


def test_a_commit_that_builds_on_one_left_out_is_refused(corpus: Corpus) -> None:
    first = rewording("reword", GATE, b"06:30", b"06:45")
    run(corpus, options(first, rewording("again", GATE, b"06:45", b"07:00")))
    with pytest.raises(RunRefused, match="left out") as caught:
        merge(corpus, RUN, MergeOptions(leave_out=("reword",)))
    assert caught.value.paths == (GATE,)


def test_what_is_not_in_a_run_cannot_be_left_out_of_it(corpus: Corpus) -> None:
    run(corpus, options(restamping("raise", GATE, "9")))
    with pytest.raises(InvalidFlag, match="nobody"):
        merge(corpus, RUN, MergeOptions(leave_out=("nobody",)))
    with pytest.raises(InvalidFlag, match="nothing of"):
        merge(corpus, RUN, MergeOptions(leave_out=("raise",)))


def test_the_gate_sees_the_store_as_it_would_be(root: Path, corpus: Corpus) -> None:
    """sleep.md §9.12: the gate looked at a corpus of its own and never at the branch."""
    run(corpus, options(archiver("triage", FEED)))
    seen: list[list[str]] = []

    def gate(corpus: Corpus, base: str, tip: str, after: Corpus) -> Verdict:
        assert base != tip
        answers = (state.search("feed delivered", scan=False) for state in (corpus, after))
        seen.extend([hit.path for hit in answer.hits] for answer in answers)
        return Verdict(1, ("the feed is found no more",))

    head = git(root, "rev-parse", "HEAD")
    with pytest.raises(RunRefused, match="the feed is found no more") as caught:
        merge(corpus, RUN, MergeOptions(gate=gate))
    assert caught.value.reason == "gate"
    assert FEED in seen[0]
    assert FEED not in seen[1]
    assert git(root, "rev-parse", "HEAD") == head
    assert review(corpus, RUN).run.state is RunState.REVIEW
    assert merge(corpus, RUN).is_news


def test_undo_takes_a_run_back_and_leaves_what_was_written_since(
    root: Path, corpus: Corpus
) -> None:
    before = {path: (root / path).read_bytes() for path in (GATE, FEED, OWLS)}
    run(corpus, options(restamping("raise", GATE, "9"), archiver("triage", FEED)))
    merge(corpus, RUN)
    late = corpus.write(
        Draft(title="Late", memory_type=MemoryType.SEMANTIC, claim="Written since.")
    ).path
    commits = int(git(root, "rev-list", "--count", "--first-parent", "HEAD"))
    done = undo(corpus, RUN)
    assert int(git(root, "rev-list", "--count", "--first-parent", "HEAD")) == commits + 1
    assert {path: (root / path).read_bytes() for path in before} == before
    assert GATE in done.paths
    assert (root / late).exists()
    assert not (root / "archive/2026" / FEED).exists()
    assert git(root, "status", "--porcelain") == ""
    assert [hit.path for hit in corpus.search("feed delivered").hits][:1] == [FEED]
    with pytest.raises(RunRefused, match="undone already"):
        undo(corpus, RUN)


def test_undo_refuses_where_a_change_was_changed_again(root: Path, corpus: Corpus) -> None:
    run(corpus, options(rewording("reword", GATE, b"06:30", b"06:45")))
    merge(corpus, RUN)
    (root / GATE).write_bytes((root / GATE).read_bytes().replace(b"06:45", b"07:00"))
    git(root, "commit", "--quiet", "--all", "--message", "by hand")
    with pytest.raises(RunRefused) as caught:
        undo(corpus, RUN)
    assert (caught.value.reason, caught.value.paths) == ("conflict", (GATE,))


def test_unknown_runs_are_errors(corpus: Corpus) -> None:
    """sleep.md §9.8: a merge of an unknown run was a success."""
    for act in (merge, undo, drop, review):
        with pytest.raises(RunNotFound, match="sleep/2020-01-01"):
            act(corpus, "sleep/2020-01-01")


def test_a_drop_with_nothing_left_to_drop_says_so(root: Path, corpus: Corpus) -> None:
    """It said "dropped" of a run of which the merge had left nothing."""
    run(corpus, options(restamping("raise", GATE, "9")))
    merge(corpus, RUN, MergeOptions(keep_branch=True))
    assert drop(corpus, RUN).state is RunState.MERGED
    assert git(root, "branch", "--list", "sleep/*") == ""
    with pytest.raises(RunRefused, match="it was merged") as caught:
        drop(corpus, RUN)
    assert (caught.value.reason, caught.value.suggestions) == (
        "merged",
        (f"memhtml sleep undo {RUN}",),
    )
    undo(corpus, RUN)
    with pytest.raises(RunRefused, match="it was merged and undone") as caught:
        drop(corpus, RUN)
    assert caught.value.reason == "undone"


def test_several_runs_of_a_day_do_not_collide(corpus: Corpus) -> None:
    first = run(corpus, options(restamping("raise", GATE, "9")))
    second = run(corpus, options(restamping("raise", OWLS, "9")))
    assert (first.run_id, second.run_id) == (RUN, f"{RUN}-2")
    merge(corpus, second.run_id)
    merge(corpus, first.run_id)
    third = run(corpus, options(restamping("raise", FEED, "9")))
    assert third.run_id == f"{RUN}-3"


def test_stamps_never_go_back(root: Path, corpus: Corpus) -> None:
    """sleep.md §9.3: an instant of midnight made a memory updated before it was created."""
    written = corpus.write(
        Draft(title="Tonight", memory_type=MemoryType.SEMANTIC, claim="Said tonight.")
    )
    run(corpus, options(archiver("triage", written.path)))
    merge(corpus, RUN)
    data = (root / "archive/2026" / written.path).read_bytes()
    created, updated = (read_meta(data, f"memhtml-{name}") for name in ("created", "updated"))
    assert created is not None
    assert updated is not None
    assert updated >= created


def test_no_phase_can_commit_what_the_gate_of_other_doors_refuses(
    root: Path, corpus: Corpus
) -> None:
    def spoil(context: Context) -> Outcome:
        file = context.view.find(GATE)
        assert file is not None
        put = Put(GATE, file.data.replace(b"<mark>", b"").replace(b"</mark>", b""), file.sha)
        return Outcome(proposals=(Proposal(subject="spoil", steps=(put,), decisions=()),))

    report = run(corpus, options(TestPhase("spoil", spoil)))
    assert report.failed == ("spoil",)
    assert git(root, "rev-list", "--count", f"main..{RUN}").strip() == "0"


def test_what_a_person_must_decide_becomes_a_task_once(corpus: Corpus) -> None:
    finding = Finding(
        "dedup-merge",
        f"{GATE} {OWLS}",
        "decide: whether the gate and the owls are the same",
        (GATE, OWLS),
        ((GATE, "The gate opens at 06:30."),),
        (("similarity", 0.91),),
    )
    phase = TestPhase("dedup-merge", lambda _: Outcome(findings=(finding,)))
    first = run(corpus, options(phase))
    assert first.phases[0].counts["tasksMinted"] == 1
    merge(corpus, first.run_id)
    tasks = corpus.list_tasks().tasks
    assert [task.path.startswith("areas/inbox/tasks/det-") for task in tasks] == [True]
    second = run(corpus, options(phase))
    assert second.commits == ()


def test_a_review_shows_words_before_and_after(corpus: Corpus) -> None:
    def reword(context: Context) -> Outcome:
        file = context.view.find(GATE)
        assert file is not None
        put = Put(GATE, file.data.replace(b"opens", b"closes"), file.sha)
        decision = Decision("reworded", GATE, "Because <script>alert(1)</script>.")
        return Outcome(proposals=(Proposal(subject="words", steps=(put,), decisions=(decision,)),))

    run(corpus, options(TestPhase("reword", reword), archiver("triage", FEED)))
    found = review(corpus, RUN)
    (changed,) = found.commits[0].files
    assert changed.how is How.REWRITTEN
    told = [(piece.kind, piece.text) for piece in changed.pieces]
    assert (DiffKind.REMOVED, "opens") in told
    assert (DiffKind.ADDED, "closes") in told
    (moved,) = found.commits[1].files
    assert (moved.how, moved.from_path) == (How.ARCHIVED, FEED)
    assert {change.name for change in moved.head if change.came} == {
        "memhtml-status",
        "memhtml-updated",
        "memhtml-archived",
    }
    page = review_page(found, store="owls")
    assert "<ins>closes</ins>" in page
    assert "<script>" not in page
    assert "Because &lt;script&gt;" in page
    assert "default-src 'none'" in page


def test_a_run_can_be_reviewed_and_merged_in_another_clone(
    root: Path, corpus: Corpus, tmp_path: Path
) -> None:
    run(corpus, options(restamping("raise", GATE, "9")))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(root), str(clone))
    git(clone, "branch", RUN, f"origin/{RUN}")
    with Corpus.open(clone, clock=lambda: NOW) as there:
        found = review(there, RUN)
        assert found.run.state is RunState.REVIEW
        assert found.commits[0].decisions[0].why == "It was asked for."
        assert merge(there, RUN).is_news
    assert read_meta((clone / GATE).read_bytes(), "memhtml-importance") == "9"


KILLED = """
import sys, time
from datetime import UTC, datetime
from memhtml.corpus import Corpus
from memhtml.sleep.runner import RunOptions, run
sys.path.insert(0, sys.argv[2])
from tests.sleep.test_runs import restamping, GATE
from tests.sleep.conftest import NOW, TestPhase

def stall(context):
    print("stalled", flush=True)
    time.sleep(60)

with Corpus.open(sys.argv[1], clock=lambda: NOW) as corpus:
    run(corpus, RunOptions(registry=(restamping("raise", GATE, "9"), TestPhase("stall", stall))))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_a_run_that_was_killed_is_seen_and_goes_on(root: Path, corpus: Corpus) -> None:
    here = str(Path(__file__).parents[2])
    with subprocess.Popen(
        (sys.executable, "-c", KILLED, str(root), here), stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "stalled\n"
        runs = Runs(corpus.repo)
        assert runs.find(RUN).state is RunState.RUNNING
        for act in (merge, drop):
            with pytest.raises(RunRefused, match="work"):
                act(corpus, RUN)
        child.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while runs.find(RUN).state is RunState.RUNNING and time.monotonic() < deadline:
        time.sleep(0.01)
    assert runs.find(RUN).state is RunState.INTERRUPTED
    runs.close()
    with pytest.raises(RunRefused, match="interrupted"):
        merge(corpus, RUN)
    counted: list[str] = []
    phases = (restamping("raise", GATE, "9"), TestPhase("stall", lambda _: Outcome()))
    resume(corpus, RUN, RunOptions(registry=phases, on_phase=counted.append))
    assert counted == ["stall", "report"]
    assert merge(corpus, RUN).is_news


def test_leftovers_of_a_deleted_branch_are_cleared_away(root: Path, corpus: Corpus) -> None:
    run(corpus, options(restamping("raise", GATE, "9")))
    git(root, "worktree", "remove", "--force", ".git/memhtml/sleep/sleep-2026-08-02/tree")
    git(root, "branch", "--quiet", "-D", RUN)
    report = run(corpus, options(restamping("raise", OWLS, "9")))
    assert (report.run_id, report.reaped) == (RUN, (RUN,))


def test_a_day_can_be_given_and_rubbish_cannot(corpus: Corpus) -> None:
    """cli.md: a run named sleep/garbage."""
    phase = restamping("raise", GATE, "9")
    report = run(corpus, RunOptions(registry=(phase,), day="2026-09-01"))
    assert report.run_id == "sleep/2026-09-01"
    for day in ("garbage", "2026-02-30", "2026-13-01", ""):
        with pytest.raises(InvalidFlag):
            run(corpus, RunOptions(registry=(phase,), day=day))


def test_unknown_phases_are_refused_before_anything_happens(root: Path, corpus: Corpus) -> None:
    phases = (restamping("raise", GATE, "9"),)
    with pytest.raises(InvalidFlag, match="rase"):
        run(corpus, RunOptions(registry=phases, phases=("rase",)))
    assert git(root, "branch", "--list", "sleep/*") == ""
