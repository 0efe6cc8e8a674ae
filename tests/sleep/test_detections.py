"""A finding becomes one task, once, and a person's answer to it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memhtml.format.edit import RemoveMeta, SetMeta, apply_edits
from memhtml.format.parse import parse
from memhtml.model.vocabulary import MemoryType, TaskStatus
from memhtml.sleep.detections import plan_detections, task_key
from memhtml.sleep.phase import Finding
from memhtml.store.plan import Overlay
from memhtml.store.task import plan_task_status
from tests.sleep.trees import NOW, Tree

if TYPE_CHECKING:
    from memhtml.sleep.detections import Detected

ONE, OTHER = "areas/one.html", "areas/other.html"


@pytest.fixture
def tree() -> Tree:
    tree = Tree()
    tree.write(ONE, "The pool holds <64> connections & no more.")
    tree.write(OTHER, "The pool holds 80 connections.")
    return tree


def finding(key: str = "one other", **fields: Any) -> Finding:
    fields.setdefault("claim", "Decide how many connections the pool holds.")
    fields.setdefault("paths", (ONE, OTHER))
    return Finding(detector="dedup-merge", key=key, **fields)


def sleep(tree: Tree, *findings: Finding, budget: int = 10, judged_all: bool = True) -> Detected:
    found = plan_detections(
        "dedup-merge", findings, tree.context(), budget=budget, judged_all=judged_all
    )
    if found.proposal is not None:
        tree.apply(found.proposal)
    return found


def tasks(tree: Tree) -> list[str]:
    return sorted(path for path in tree.files if "/tasks/" in path)


def test_a_task_says_what_to_decide_and_on_what_evidence(tree: Tree) -> None:
    found = sleep(
        tree,
        finding(
            quotes=((ONE, "<64> connections & no more"),),
            measured=(("similarity", 0.91), ("veto", "numbers differ")),
            due="2026-09-01",
        ),
    )
    assert (found.minted, found.counts) == (1, {"tasksMinted": 1})
    (path,) = tasks(tree)
    document = parse(tree.files[path])
    assert path.startswith(f"areas/inbox/tasks/det-{task_key('dedup-merge', 'one other')}-decide-")
    assert document.claim == "Decide how many connections the pool holds."
    assert document.head.tags == ("detected", "dedup-merge")
    assert (document.head.author, document.head.task_status) == ("agent:sleep", "todo")
    assert document.head.due_at == "2026-09-01"
    assert document.citations[0][:2] == ("<64> connections & no more", f"/{ONE}")
    facets = [(facet.name, facet.value, facet.number) for facet in document.facets]
    assert facets == [
        ("concerns", ONE, None),
        ("concerns", OTHER, None),
        ("similarity", "0.91", 0.91),
        ("veto", "numbers differ", None),
    ]
    assert "sleep/2026-08-02" in document.body_text


def test_the_same_finding_the_next_night_opens_nothing_and_writes_nothing(tree: Tree) -> None:
    sleep(tree, finding())
    found = sleep(tree, finding("One  OTHER"))
    assert found.proposal is None
    assert found.counts == {"tasksOpen": 1}


def test_what_a_person_closed_is_not_asked_again(tree: Tree) -> None:
    sleep(tree, finding())
    done = plan_task_status(tasks(tree)[0], TaskStatus.DONE, Overlay(tree), now=NOW)
    assert done.plan is not None
    for step in done.steps:
        tree.set(step.src, None)  # type: ignore[union-attr]  # an archived task is a move
        tree.set(step.dst, step.data)  # type: ignore[union-attr]  # as above
    found = sleep(tree, finding())
    assert found.counts == {"tasksDismissed": 1}
    assert found.proposal is None


def test_an_answer_is_forgotten_after_ten_years(tree: Tree) -> None:
    key = task_key("dedup-merge", "one other")
    tree.write(
        f"archive/2015/areas/inbox/tasks/det-{key}-x.html",
        "Decide.",
        memory_type=MemoryType.TASK,
        tags=("detected", "dedup-merge"),
        metas={"task-status": "done", "status": "archived"},
    )
    assert sleep(tree, finding()).minted == 1


def test_what_is_not_seen_again_is_closed_and_may_come_back(tree: Tree) -> None:
    sleep(tree, finding())
    found = sleep(tree)
    assert found.counts == {"tasksClosed": 1}
    (path,) = tasks(tree)
    head = parse(tree.files[path]).head
    assert path.startswith("archive/2026/areas/inbox/tasks/det-")
    assert (head.task_status, head.status) == ("done", "archived")
    assert "machine-closed" in head.tags
    assert sleep(tree, finding()).minted == 1


def test_a_pass_that_did_not_look_at_everything_closes_nothing(tree: Tree) -> None:
    sleep(tree, finding())
    assert sleep(tree, judged_all=False).proposal is None


def test_a_task_that_a_person_has_taken_up_is_theirs(tree: Tree) -> None:
    sleep(tree, finding())
    (path,) = tasks(tree)
    doing = SetMeta("memhtml-task-status", "doing")
    tree.set(path, apply_edits(tree.files[path], (doing,)))
    assert sleep(tree).proposal is None


def test_nobody_elses_task_is_closed(tree: Tree) -> None:
    tree.write("areas/inbox/tasks/oil.html", "Oil the gate.", memory_type=MemoryType.TASK)
    sleep(tree, finding())
    other = plan_detections("edge-typing", (), tree.context(), budget=9, judged_all=True)
    assert other.proposal is None
    (path,) = (task for task in tasks(tree) if "det-" in task)
    tree.set(path, apply_edits(tree.files[path], (RemoveMeta("memhtml-author"),)))
    assert sleep(tree).proposal is None


@pytest.mark.parametrize(
    "wrong",
    [
        finding(quotes=((ONE, "The pool holds 80"),)),
        finding(quotes=((ONE, " "),)),
        finding(quotes=(("areas/none.html", "The pool"),)),
        finding(paths=(ONE, "areas/none.html")),
        finding(claim=" "),
    ],
)
def test_evidence_that_does_not_hold_opens_nothing(tree: Tree, wrong: Finding) -> None:
    found = sleep(tree, wrong)
    assert found.counts == {"tasksUnverified": 1}
    assert found.proposal is None


def test_a_secret_is_never_copied_into_a_task(tree: Tree) -> None:
    words = "The key is AKIA" + "IOSFODNN7EXAMPLQ for now."
    tree.write("areas/key.html", words)
    found = sleep(tree, finding(quotes=(("areas/key.html", words),)))
    assert found.counts == {"tasksUnverified": 1}


def test_two_findings_that_ask_the_same_of_the_same_memories_are_one_task(tree: Tree) -> None:
    asked = "Decide whether the size of the pool is {}."
    found = sleep(
        tree,
        finding("a", claim=asked.format(64)),
        finding("b", claim=asked.format(80)),
        finding("c", claim=asked.format(80), paths=(ONE,)),
    )
    assert found.counts == {"tasksMinted": 2, "tasksFramed": 1}


def test_the_budget_is_kept_and_the_rest_waits(tree: Tree) -> None:
    found = sleep(tree, *(finding(str(n)) for n in range(5)), budget=2)
    assert found.counts == {"tasksMinted": 2, "tasksCapped": 3}
    assert sleep(tree, *(finding(str(n)) for n in range(5))).counts == {
        "tasksMinted": 3,
        "tasksOpen": 2,
    }


def test_a_deadline_that_is_no_date_is_left_out(tree: Tree) -> None:
    sleep(tree, finding(due="by Friday"))
    assert tree.meta(tasks(tree)[0], "due_at") is None


def test_a_long_finding_has_a_short_title_and_name(tree: Tree) -> None:
    claim = "Review " + "whether this is so " * 20
    sleep(tree, finding(claim=claim))
    (path,) = tasks(tree)
    assert len(parse(tree.files[path]).title) <= 90
    assert len(path) <= 100
    assert parse(tree.files[path]).claim == claim.strip()
