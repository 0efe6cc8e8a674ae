"""Runs in repositories that people really have: branches moved, merged elsewhere, taken back."""

from __future__ import annotations

import os
import re
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from memhtml.corpus import Corpus
from memhtml.format.edit import read_meta
from memhtml.model.errors import DirtyTree, InvalidFlag, NotAStore, RunRefused, StorageFailure
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.merge import MergeOptions, Verdict, drop, merge, undo
from memhtml.sleep.phase import Context, Decision, Outcome
from memhtml.sleep.review import review
from memhtml.sleep.reviewpage import review_page
from memhtml.sleep.runner import Report, RunOptions, resume, run
from memhtml.sleep.runs import Runs, RunState, record_path, report_path
from memhtml.sleep.settings_file import CONFIG, read_settings
from memhtml.store.gitdir import read_head
from memhtml.store.joining import _scratch
from tests.cli.calls import call
from tests.sleep.conftest import NOW, TestPhase
from tests.sleep.test_runs import (
    FEED,
    GATE,
    OWLS,
    RUN,
    archiver,
    failing,
    git,
    options,
    restamping,
)


def importance(root: Path, path: str) -> str | None:
    return read_meta((root / path).read_bytes(), "memhtml-importance")


def test_a_run_that_was_taken_back_is_not_called_merged(root: Path, corpus: Corpus) -> None:
    """sleep.md §9.8: what a merge answers must be what stands in the store."""
    run(corpus, options(restamping("raise", GATE, "9")))
    merged = merge(corpus, RUN, MergeOptions(keep_branch=True)).commit
    assert merged is not None
    done = undo(corpus, RUN)
    for has_branch in (True, False):
        with pytest.raises(RunRefused) as caught:
            merge(corpus, RUN)
        assert caught.value.reason == "undone"
        assert caught.value.suggestions == (f"git revert {done.commit[:10]}",)
        assert review(corpus, RUN).run.state is RunState.UNDONE
        if has_branch:
            drop(corpus, RUN)
    corpus.repo.flush()
    git(root, "revert", "--no-edit", done.commit)
    assert importance(root, GATE) == "9"
    assert not merge(corpus, RUN).is_news
    undo(corpus, RUN)
    assert importance(root, GATE) != "9"
    git(root, "revert", "--no-edit", "HEAD")
    git(root, "revert", "--no-edit", "--mainline=1", merged)
    with pytest.raises(RunRefused, match="undone already"):
        undo(corpus, RUN)


def test_the_branch_a_person_stands_on_is_neither_deleted_nor_called_merged(
    root: Path, corpus: Corpus
) -> None:
    run(corpus, options(restamping("raise", GATE, "9")))
    git(root, "worktree", "remove", "--force", ".git/memhtml/sleep/sleep-2026-08-02/tree")
    git(root, "switch", "--quiet", RUN)
    for act in (merge, drop):
        with pytest.raises(RunRefused) as caught:
            act(corpus, RUN)
        assert caught.value.reason == "checked-out"
    assert git(root, "rev-parse", "--verify", RUN)
    git(root, "switch", "--quiet", "main")
    assert merge(corpus, RUN).is_news


def test_a_commit_is_named_by_enough_of_its_sha(corpus: Corpus) -> None:
    """sleep.md §9.21: a digit must not stand for half of the commits."""
    phases = [restamping(f"raise-{n}", GATE, str(n)) for n in range(1, 9)]
    run(corpus, options(*phases))
    sha = review(corpus, RUN).commits[0].sha
    for name in ("", sha[:1], sha[:3], "f" * 41):
        with pytest.raises(InvalidFlag):
            merge(corpus, RUN, MergeOptions(leave_out=(name,)))
        with pytest.raises(InvalidFlag):
            merge(corpus, RUN, MergeOptions(only=(name,)))
    done = merge(corpus, RUN, MergeOptions(leave_out=(review(corpus, RUN).commits[7].sha[:7],)))
    assert len(done.left_out) == 1


def test_working_trees_of_the_user_are_left_alone(
    root: Path, corpus: Corpus, tmp_path: Path
) -> None:
    """A working tree on a drive that is not plugged in is gone for the moment, not for good."""
    git(root, "worktree", "add", "--quiet", "-b", "mine", str(tmp_path / "mine"))
    (tmp_path / "mine").rename(tmp_path / "unplugged")
    run(corpus, options(restamping("raise", GATE, "9")))
    shutil.rmtree(root / ".git/memhtml/sleep/sleep-2026-08-02/tree")
    merge(corpus, RUN, MergeOptions(gate=lambda *_: Verdict(0, ())))
    run(corpus, options(restamping("raise", OWLS, "9")))
    drop(corpus, f"{RUN}-2")
    (tmp_path / "unplugged").rename(tmp_path / "mine")
    assert git(tmp_path / "mine", "status", "--porcelain") == ""
    assert git(root, "worktree", "list").count("\n") == 2


def test_runs_begun_at_once_are_several_runs(root: Path) -> None:
    """sleep.md §9.2: several runs never collide, even in the moment they are named."""
    start = threading.Barrier(3)
    reports, errors = [], []

    def begin() -> None:
        with Corpus.open(root, clock=lambda: NOW) as mine:
            start.wait()
            try:
                reports.append(run(mine, options(restamping("raise", GATE, "9"))).run_id)
            except Exception as error:  # noqa: BLE001 - shown by the test
                errors.append(error)

    threads = [threading.Thread(target=begin) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sorted(reports) == [RUN, f"{RUN}-2", f"{RUN}-3"]


def test_a_look_at_the_runs_does_not_stop_a_merge(corpus: Corpus) -> None:
    run(corpus, options(restamping("raise", GATE, "9")))
    runs = Runs(corpus.repo)
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            runs._is_worked_on(RUN)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(100):
            with runs.worked_on(RUN):
                pass
    finally:
        done.set()
        for thread in threads:
            thread.join()
        runs.close()


def test_history_that_was_rewritten_does_not_come_back_with_a_run(
    root: Path, corpus: Corpus
) -> None:
    """Somebody amends a commit to be rid of what it says, while a run that knows it waits."""
    (root / GATE).write_bytes((root / GATE).read_bytes().replace(b"06:30", b"06:30 by hunter2"))
    git(root, "commit", "--quiet", "--all", "--message", "a slip")
    slip = git(root, "rev-parse", "HEAD").strip()
    run(corpus, options(restamping("raise", OWLS, "9"), restamping("x", FEED, "8")))
    (root / GATE).write_bytes((root / GATE).read_bytes().replace(b" by hunter2", b""))
    git(root, "commit", "--quiet", "--all", "--amend", "--allow-empty", "--message", "no slip")
    assert merge(corpus, RUN).is_news
    assert importance(root, OWLS) == "9"
    assert b"hunter2" not in (root / GATE).read_bytes()
    assert slip not in git(root, "rev-list", "HEAD").split()
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "--quiet", "--prune=now")
    assert [commit.phase for commit in review(corpus, RUN).commits] == ["raise", "x"]
    undo(corpus, RUN)
    assert importance(root, OWLS) != "9"


def test_a_branch_that_was_reset_stays_where_it_was_reset_to(root: Path, corpus: Corpus) -> None:
    unwanted = corpus.write(
        Draft(title="Unwanted", memory_type=MemoryType.SEMANTIC, claim="Not wanted any more.")
    ).path
    run(corpus, options(restamping("raise", OWLS, "9")))
    corpus.repo.flush()
    git(root, "reset", "--quiet", "--hard", "HEAD^")
    merge(corpus, RUN)
    assert not (root / unwanted).exists()
    assert importance(root, OWLS) == "9"


def test_a_gate_that_was_killed_leaves_no_run_astray(root: Path, corpus: Corpus) -> None:
    first = restamping("raise", GATE, "9")
    run(corpus, options(first, failing("broken")))
    tree = root / ".git/memhtml/sleep/sleep-2026-08-02/tree"
    # As it is while a gate looks, and stays when its process dies.
    git(tree, "checkout", "--quiet", "--detach", "main")
    resume(corpus, RUN, options(first, restamping("broken", OWLS, "8")))
    assert [commit.phase for commit in review(corpus, RUN).commits] == ["raise", "broken"]
    assert merge(corpus, RUN).is_news
    assert (importance(root, GATE), importance(root, OWLS)) == ("9", "8")


def test_a_merge_that_landed_says_so_whatever_comes_after(root: Path, corpus: Corpus) -> None:
    """sleep.md §7: a failure after landing is told beside the success."""

    def break_down(_: object) -> None:
        raise RuntimeError("the pages cannot be written")

    run(corpus, options(restamping("raise", GATE, "9"), restamping("x", OWLS, "8")))
    with pytest.raises(RuntimeError):
        merge(corpus, RUN, MergeOptions(leave_out=("x",)), on_merged=break_down)
    assert importance(root, GATE) == "9"
    # What was left out is not slipped in by asking again.
    assert not merge(corpus, RUN).is_news
    assert importance(root, OWLS) != "8"


def test_two_machines_may_sleep_on_the_same_day(root: Path, corpus: Corpus, tmp_path: Path) -> None:
    hub, other = tmp_path / "hub.git", tmp_path / "other"
    git(tmp_path, "clone", "--quiet", "--bare", str(root), str(hub))
    git(tmp_path, "clone", "--quiet", str(hub), str(other))
    git(root, "remote", "add", "origin", str(hub))
    with Corpus.open(other, clock=lambda: NOW) as there:
        for each, path in ((corpus, GATE), (there, OWLS)):
            run(each, options(restamping("raise", path, "9")))
            merge(each, RUN)
        corpus.sync()
        synced = there.sync()
        assert synced.state == "merged"
        assert (importance(other, GATE), importance(other, OWLS)) == ("9", "9")
        assert record_path(RUN) in git(other, "ls-files")
        # Whichever of the two is shown, it is one of them and whole.
        assert review(there, RUN).run.state is RunState.MERGED
        # Each can be taken back, although the record is no more as either of them left it.
        undo(there, RUN)
        undo(there, RUN)
        assert not {importance(other, GATE), importance(other, OWLS)} & {"9"}
        with pytest.raises(RunRefused, match="undone already"):
            undo(there, RUN)


def test_a_detached_head_is_carried_along(root: Path, corpus: Corpus) -> None:
    git(root, "checkout", "--quiet", "--detach")
    run(corpus, options(restamping("raise", GATE, "9")))
    merge(corpus, RUN)
    assert read_head(corpus.repo.where).ref is None
    assert importance(root, GATE) == "9"


def test_a_run_of_the_past_and_of_the_future_keep_their_own_names(corpus: Corpus) -> None:
    phase = restamping("raise", GATE, "9")
    first = run(corpus, RunOptions(registry=(phase,), day="2031-01-01")).run_id
    merge(corpus, first)
    second = run(corpus, RunOptions(registry=(restamping("x", OWLS, "8"),), day="2020-01-01"))
    assert second.run_id == "sleep/2020-01-01"
    assert merge(corpus, second.run_id).is_news


def test_a_failure_after_a_merge_is_told_beside_it(root: Path, corpus: Corpus) -> None:
    """sleep.md §7: the index failing after a merge made it look as if nothing had happened."""

    def break_down(_: object) -> None:
        raise StorageFailure("the disk is full")

    run(corpus, options(restamping("raise", GATE, "9")))
    done = merge(corpus, RUN, on_merged=break_down)
    assert (done.is_news, done.trouble) == (True, "the disk is full")
    assert importance(root, GATE) == "9"
    assert not merge(corpus, RUN).is_news


def test_a_run_that_committed_nothing_is_no_wrong_call(root: Path, corpus: Corpus) -> None:
    run(corpus, options(failing("broken")))
    with pytest.raises(RunRefused) as caught:
        merge(corpus, RUN)
    assert caught.value.reason == "empty"
    with pytest.raises(RunRefused) as caught:
        undo(corpus, RUN)
    assert caught.value.reason == "unmerged"
    drop(corpus, RUN)
    assert git(root, "branch", "--list", "sleep/*") == ""


def test_a_run_that_git_merged_is_merged_and_can_be_looked_at(root: Path, corpus: Corpus) -> None:
    """A branch is a branch: it is pushed, reviewed on a website and merged there."""
    run(corpus, options(restamping("raise", GATE, "9"), archiver("triage", FEED)))
    corpus.write(Draft(title="New", memory_type=MemoryType.SEMANTIC, claim="Written since."))
    corpus.repo.flush()
    git(root, "merge", "--quiet", "--no-edit", RUN)
    assert not merge(corpus, RUN).is_news
    drop(corpus, RUN)
    found = review(corpus, RUN)
    assert found.run.state is RunState.MERGED
    assert [commit.phase for commit in found.commits] == ["raise", "triage"]
    with pytest.raises(RunRefused, match="not merged by memhtml"):
        undo(corpus, RUN)


def test_a_hook_that_fails_on_a_checkout_stops_no_run(root: Path, corpus: Corpus) -> None:
    hook = root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    assert run(corpus, options(restamping("raise", GATE, "9"))).failed == ()
    assert merge(corpus, RUN, MergeOptions(gate=lambda *_: Verdict(0, ()))).is_news


def test_a_run_sees_what_a_sparse_checkout_hides(root: Path, corpus: Corpus) -> None:
    git(root, "status")
    git(root, "sparse-checkout", "set", "projects")
    assert not (root / GATE).exists()
    report = run(corpus, options(restamping("raise", GATE, "9"), archiver("triage", FEED)))
    assert report.failed == ()
    merge(corpus, RUN, MergeOptions(gate=lambda *_: Verdict(0, ())))
    assert 'content="9"' in git(root, "show", f"HEAD:{GATE}")
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("is_folder", [True, False])
def test_what_git_ignores_or_a_folder_in_the_way_is_named(
    root: Path, corpus: Corpus, is_folder: bool
) -> None:
    run(corpus, options(archiver("triage", FEED)))
    place = root / "archive/2026" / FEED
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text("/archive/2026/\n")
    (place / "mine" if is_folder else place).parent.mkdir(parents=True)
    (place / "mine" if is_folder else place).write_text("mine")
    with pytest.raises(DirtyTree) as caught:
        merge(corpus, RUN)
    assert caught.value.paths == (f"archive/2026/{FEED}",)
    assert (root / FEED).exists()


@pytest.mark.parametrize(
    "line",
    [
        "confidence_step = nan",
        "confidence_step = 0",
        "confidence_half_life_days = 0.0",
        "evict_after_days = inf",
        "max_merges = true",
        "max_merges = 1.5",
        "nobody = 3",
    ],
)
def test_rubbish_in_the_settings_is_refused_by_name(corpus: Corpus, root: Path, line: str) -> None:
    (root / CONFIG).write_text(f"[sleep]\n{line}\n")
    with pytest.raises(InvalidFlag, match=line.partition(" ")[0]):
        read_settings(corpus)


def test_a_setting_of_the_store_holds_where_the_call_says_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / CONFIG).write_text("[sleep]\ntrace_sessions = 3\n")
    seen = list[int]()

    def look(_: Corpus, options: RunOptions) -> Report:
        seen.append(options.settings.trace_sessions)
        return Report(RUN, "", "", True, ())

    monkeypatch.setattr("memhtml.sleep.runner.run", look)
    for flags in ((), ("--trace-sessions", "7")):
        args = ("sleep", "run", "--repo", str(root), "--dry-run", *flags)
        assert call(*args).status == 0
    assert seen == [3, 7]


@pytest.mark.parametrize(
    "day", ["9999-12-31", "0001-01-01", "2026-8-2", " 2026-08-02", "٢٠٢٦-٠٨-٠٢"]
)
def test_a_day_that_phases_cannot_reckon_with_is_no_day(corpus: Corpus, day: str) -> None:
    with pytest.raises(InvalidFlag):
        run(corpus, RunOptions(registry=(restamping("raise", GATE, "9"),), day=day))


def test_writers_and_a_merge_stay_out_of_each_others_files(root: Path, corpus: Corpus) -> None:
    """A writer began while a merge was putting its tree together, and failed on its folder."""
    with _scratch(corpus.repo) as left, Corpus.open(root, clock=lambda: NOW) as writer:
        writer.write(Draft(title="Now", memory_type=MemoryType.SEMANTIC, claim="Written at once."))
        assert Path(left).is_dir()
        # What a process that was killed left behind is taken away in the end.
        shutil.copytree(left, f"{left}-dead")
        os.utime(f"{left}-dead", (0, 0))
    with _scratch(corpus.repo):
        assert not Path(f"{left}-dead").exists()


@pytest.mark.parametrize("is_copied", [True, False])
def test_a_store_may_be_moved_or_copied_while_a_run_waits(
    root: Path, corpus: Corpus, tmp_path: Path, is_copied: bool
) -> None:
    """Git remembers working trees by where they were."""
    run(corpus, options(restamping("raise", GATE, "9"), archiver("triage", FEED)))
    corpus.close()
    place = tmp_path / "elsewhere"
    if is_copied:
        shutil.copytree(root, place)
    else:
        root.rename(place)
    with Corpus.open(place, clock=lambda: NOW) as there:
        assert [commit.phase for commit in review(there, RUN).commits] == ["raise", "triage"]
        assert merge(there, RUN, MergeOptions(gate=lambda *_: Verdict(0, ()))).is_news
    assert git(place, "worktree", "list").count("\n") == 1 + is_copied
    if is_copied:
        with Corpus.open(root, clock=lambda: NOW) as there:
            assert merge(there, RUN, MergeOptions(gate=lambda *_: Verdict(0, ()))).is_news


def test_every_link_of_a_report_leads_somewhere(root: Path, corpus: Corpus) -> None:
    """A report linked archived memories where they had stood before."""
    run(corpus, options(restamping("raise", GATE, "9"), archiver("triage", FEED)))
    merge(corpus, RUN)
    page = root / report_path(RUN)
    links = re.findall(r'href="([^"]+)"', page.read_text())
    assert len(links) == 3
    for link in links:
        assert (page.parent / link).is_file()


def test_old_and_new_values_of_a_head_stand_side_by_side(corpus: Corpus) -> None:
    run(corpus, options(archiver("triage", FEED)))
    page = review_page(review(corpus, RUN), store="owls")
    assert page.count(">status</dt>") == 1
    assert "<del>active</del> <ins>archived</ins>" in page


def test_a_credential_of_a_memory_is_not_told_on(root: Path, corpus: Corpus) -> None:
    """A report quoted both duplicates, with the key that stood in them."""
    key = "ghp_" + "a1B2" * 9

    def does(context: Context) -> Outcome:
        outcome = archiver("", FEED).does(context)
        (proposal,) = outcome.proposals
        told = Decision("archived", FEED, f"It says {key}.", evidence=(("goes", f"x {key}"),))
        return Outcome(proposals=(replace(proposal, decisions=(told,)),))

    run(corpus, options(TestPhase("triage", does)))
    there = git(root, "log", "-p", f"main..{RUN}")
    assert key not in there
    assert "[secret: GitHub token]" in there


def test_nothing_is_archived_before_it_was_made(root: Path, corpus: Corpus) -> None:
    """sleep.md §9.3: on a day of the past, a memory was archived before it was created."""
    run(corpus, RunOptions(registry=(archiver("triage", FEED),), day="2020-01-01"))
    merge(corpus, "sleep/2020-01-01")
    data = (root / "archive/2020" / FEED).read_bytes()
    created, archived = (read_meta(data, f"memhtml-{name}") for name in ("created", "archived"))
    assert created is not None
    assert archived == created


@pytest.mark.parametrize("name", ["core.worktree", "core.bare"])
def test_a_run_does_not_mind_where_the_main_working_tree_is(
    root: Path, tmp_path: Path, name: str
) -> None:
    """Such settings hold for the repository's own working tree, and a run has another."""
    place = root
    if name == "core.bare":
        place = tmp_path / "linked"
        git(root, "worktree", "add", "--quiet", "-b", "other", str(place))
    git(root, "config", name, "true" if name == "core.bare" else str(root))
    with Corpus.open(place, clock=lambda: NOW) as there:
        assert run(there, options(restamping("raise", GATE, "9"))).failed == ()
        assert merge(there, RUN).is_news
    assert importance(place, GATE) == "9"
    if name == "core.bare":
        with Corpus.open(root, clock=lambda: NOW) as main, pytest.raises(NotAStore):
            main.archive(FEED, reason="gone")
