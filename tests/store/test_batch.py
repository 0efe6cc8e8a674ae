"""Many requests, one plan."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.format.edit import read_links, read_meta
from memhtml.format.parse import parse
from memhtml.model.changes import (
    ArchiveRequest,
    Batch,
    Conflict,
    Correction,
    LinkRequest,
    Request,
    TaskStatusRequest,
)
from memhtml.model.document import Link
from memhtml.model.errors import InvalidMemory, MemhtmlError, MissingArgument, PathNotFound
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus
from memhtml.store.archive import plan_archive
from memhtml.store.batch import BatchOptions, plan_batch
from memhtml.store.correct import plan_correct
from memhtml.store.plan import Move, Planned, outcomes
from memhtml.store.write import plan_write
from tests.store.dictview import DictView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.store.plan import Step

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)


def draft(title: str, claim: str, memory_type: MemoryType = MemoryType.SEMANTIC) -> Draft:
    return Draft(title=title, claim=claim, memory_type=memory_type)


def batch(
    view: DictView, *requests: Request | MemhtmlError, options: BatchOptions | None = None
) -> Planned[Batch]:
    return plan_batch(requests, view, now=NOW, options=options or BatchOptions())


def land(view: DictView, planned: Planned[Batch]) -> None:
    """Make the tree what one commit would."""
    for path, outcome in outcomes(planned.steps).items():
        found = view.find(path)
        assert outcome.expect == (found.sha if found else None)
        if outcome.data is None:
            del view.files[path]
        else:
            view.files[path] = outcome.data


def test_every_op_of_a_stream_lands_in_one_plan() -> None:
    """Store weakness 18."""
    view = DictView()
    view.apply(plan_write(draft("Old", "The old fact."), view, now=NOW).steps)
    planned = batch(
        view,
        draft("A", "First fact."),
        draft("T", "It is done.", MemoryType.TASK),
        Correction(target="areas/inbox/old.html", title="New", claim="The new fact."),
        LinkRequest(src="@0", rel=Rel.SUPPORTS, dst="@2"),
        TaskStatusRequest(path="@1", status=TaskStatus.DONE),
        ArchiveRequest(path="@0", reason="no longer needed"),
    )
    assert planned.result.failed == ()
    land(view, planned)
    assert sorted(view.files) == [
        "archive/2026/areas/inbox/a.html",
        "archive/2026/areas/inbox/old.html",
        "archive/2026/areas/inbox/tasks/t.html",
        "areas/inbox/new.html",
    ]
    assert read_links(view.files["archive/2026/areas/inbox/a.html"]) == (
        Link("memhtml-supports", "/areas/inbox/new.html"),
    )
    assert all(parse(data).is_valid for data in view.files.values())
    assert [r.op for r in planned.result.results] == [
        "write", "task", "correct", "link", "task_status", "archive",
    ]  # fmt: skip


def test_an_atomic_batch_with_a_refusal_does_nothing_and_tells_all_refusals() -> None:
    """Store weaknesses 14 and 17."""
    planned = batch(
        DictView(),
        draft("A", "First fact."),
        draft("B", ""),
        MissingArgument("line 3: no title"),
        ArchiveRequest(path="areas/none.html", reason="r"),
    )
    assert planned.plan is None
    assert [type(r.error) for r in planned.result.results] == [
        type(None), InvalidMemory, MissingArgument, PathNotFound,
    ]  # fmt: skip
    assert planned.result.results[0].skipped
    assert not planned.result.results[0].ok


def test_continue_on_error_lands_what_can_be_landed() -> None:
    view = DictView()
    planned = batch(
        view,
        draft("B", ""),
        draft("A", "First fact."),
        LinkRequest(src="@1", rel=Rel.SUPPORTS, dst="@0"),
        options=BatchOptions(continue_on_error=True),
    )
    land(view, planned)
    assert list(view.files) == ["areas/inbox/a.html"]
    assert [r.ok for r in planned.result.results] == [False, True, False]


@pytest.mark.parametrize("reference", ["@1", "@7"])
def test_a_reference_forward_or_to_nothing_is_refused_by_name(reference: str) -> None:
    planned = batch(
        DictView(), ArchiveRequest(path=reference, reason="r"), draft("A", "First fact.")
    )
    (refused,) = planned.result.failed
    assert refused.error is not None
    assert refused.error.code == "ERR_INVALID_MEMORY"
    assert reference in str(refused.error)


def test_repeats_inside_a_batch_are_written_once_but_tasks_twice() -> None:
    view = DictView()
    planned = batch(
        view,
        draft("A", "Same fact."),
        draft("B", "Same fact."),
        draft("C", "Same fact.", MemoryType.TASK),
        draft("D", "Same fact.", MemoryType.TASK),
    )
    land(view, planned)
    results = planned.result.results
    assert [r.deduped for r in results] == [False, True, False, False]
    assert results[1].existing_path == results[0].path
    assert len(view.files) == 3


def test_a_rewording_inside_a_batch_names_the_earlier_one() -> None:
    """Field case S8."""
    planned = batch(
        DictView(),
        draft("A", "The loading bay gate opens at 06:30."),
        draft("B", "Gate of the loading bay opens 06:30"),
    )
    assert planned.result.results[1].near_duplicates == ("areas/inbox/a.html",)


def test_claims_that_fill_one_slot_are_reported() -> None:
    view = DictView()
    view.apply(plan_write(draft("S", "The pool ceiling is 64."), view, now=NOW).steps)
    planned = batch(
        view,
        draft("A", "The pool ceiling is 80."),
        draft("B", "The rack height is 42."),
        draft("C", "The rack height is 48."),
        options=BatchOptions(detect_conflicts=True),
    )
    assert [r.conflict for r in planned.result.results] == [
        Conflict("areas/inbox/s.html", None, "The pool ceiling is 64."),
        None,
        Conflict(None, 1, "The rack height is 42."),
    ]


def test_last_wins_keeps_the_last_claim_and_archives_the_stored_one_in_the_same_plan() -> None:
    """Store weakness 15."""
    view = DictView()
    view.apply(plan_write(draft("S", "The pool ceiling is 64."), view, now=NOW).steps)
    planned = batch(
        view,
        draft("A", "The pool ceiling is 80."),
        draft("B", "Another fact."),
        draft("C", "The pool ceiling is 96."),
        options=BatchOptions(last_wins=True),
    )
    land(view, planned)
    first, _, last = planned.result.results
    assert first.path == "areas/inbox/c.html"
    assert first.superseded_path == "areas/inbox/s.html"
    assert last.consolidated_into == 0
    assert parse(view.files["areas/inbox/c.html"]).claim == "The pool ceiling is 96."
    old = view.files["archive/2026/areas/inbox/s.html"]
    assert read_meta(old, "memhtml-superseded-by") == "/areas/inbox/c.html"
    assert "areas/inbox/a.html" not in view.files


TITLES = st.sampled_from(["Owl", "owl", "OWL!", "Barn", "日程"])
CLAIMS = st.sampled_from(["Owls face east.", "owls face EAST", "Barns are red.", "Mice hide."])


@st.composite
def requests(draw: st.DrawFn) -> list[Request]:
    made: list[Request] = []
    for index in range(draw(st.integers(1, 7))):
        earlier = st.integers(0, max(0, index - 1)).map("@{}".format)
        made.append(
            draw(
                st.one_of(
                    st.builds(
                        draft,
                        TITLES,
                        CLAIMS,
                        st.sampled_from([MemoryType.SEMANTIC, MemoryType.TASK]),
                    ),
                    st.builds(ArchiveRequest, path=earlier, reason=st.just("r")),
                    st.builds(Correction, target=earlier, title=TITLES, claim=CLAIMS),
                )
            )
        )
    return made


@given(requests())
def test_a_batch_leaves_the_tree_that_its_parts_leave_one_at_a_time(ops: list[Request]) -> None:
    together = DictView()
    planned = batch(together, *ops, options=BatchOptions(continue_on_error=True))
    land(together, planned)
    apart = DictView()
    paths: dict[str, str] = {}
    for index, op in enumerate(ops):
        try:
            where = one(op, apart, paths)
        except MemhtmlError:
            continue
        paths[f"@{index}"] = where
    assert together.files == apart.files


def one(op: Request, view: DictView, paths: dict[str, str]) -> str:
    if isinstance(op, Draft):
        written = plan_write(op, view, now=NOW)
        view.apply(written.steps)
        return written.result.path
    if isinstance(op, ArchiveRequest):
        archived = plan_archive(paths.get(op.path, "none"), view, now=NOW, reason=op.reason)
        view.apply(archived.steps)
        follow(archived.steps, paths)
        return archived.result.archive_path
    assert isinstance(op, Correction)
    target = paths.get(op.target, "none")
    corrected = plan_correct(
        Correction(target=target, title=op.title, claim=op.claim), view, now=NOW
    )
    for path, outcome in outcomes(corrected.steps).items():
        if outcome.data is None:
            del view.files[path]
        else:
            view.files[path] = outcome.data
    follow(corrected.steps, paths)
    return corrected.result.path


def follow(steps: Iterable[Step], paths: dict[str, str]) -> None:
    """Let references go on meaning the files they meant."""
    for step in steps:
        if isinstance(step, Move):
            paths.update({name: step.dst for name, path in paths.items() if path == step.src})


def test_a_reference_follows_its_file_and_never_means_another_at_its_old_place() -> None:
    planned = batch(
        DictView(),
        draft("a", "Alpha is first."),
        ArchiveRequest(path="@0", reason="r"),
        draft("a", "Beta is innocent."),
        ArchiveRequest(path="@0", reason="r"),
    )
    (refused,) = planned.result.failed
    assert refused.index == 3
    assert "archived already" in str(refused.error)


def test_links_of_a_write_may_name_an_earlier_operation_and_pass_the_same_rules() -> None:
    """Store format §12 holds at every door."""
    view = DictView()
    to_first = Draft(
        title="B",
        claim="Second fact.",
        memory_type=MemoryType.SEMANTIC,
        links=(Link("memhtml-supports", "/@0"),),
    )
    land(view, batch(view, draft("A", "First fact."), to_first))
    assert read_links(view.files["areas/inbox/b.html"]) == (
        Link("memhtml-supports", "/areas/inbox/a.html"),
    )
    for link in (
        Link("memhtml-supports", "/areas/none.html"),
        Link("memhtml-blocks", "/areas/inbox/a.html"),
        Link("memhtml-about-person", "/areas/inbox/a.html"),
        Link("memhtml-supports", "/areas/inbox/c.html"),
    ):
        wrong = replace(to_first, title="C", claim="Third fact.", links=(link,))
        assert len(batch(view, wrong).result.failed) == 1
