"""The verbs as pure functions over a tree in memory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memhtml.format.edit import add_meta, read_links, read_meta, set_meta
from memhtml.format.parse import parse
from memhtml.model.changes import Correction
from memhtml.model.document import Facet, Link
from memhtml.model.errors import (
    DuplicateContent,
    InvalidMemory,
    InvalidPath,
    PathNotFound,
    SecretFound,
    WriteConflict,
)
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus
from memhtml.store.archive import plan_archive, plan_unarchive
from memhtml.store.correct import plan_correct
from memhtml.store.link import plan_link, plan_unlink
from memhtml.store.task import plan_task_status
from memhtml.store.write import plan_write
from tests.store.dictview import DictView, blob

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)
LATER = datetime(2026, 9, 1, 8, 0, 0, tzinfo=UTC)


def draft(title: str = "Owl boxes", claim: str = "Owls face east.", **fields: Any) -> Draft:
    fields.setdefault("memory_type", MemoryType.SEMANTIC)
    return Draft(title=title, claim=claim, **fields)


def write(view: DictView, *args: str, **fields: Any) -> str:
    planned = plan_write(draft(*args, **fields), view, now=NOW)
    view.apply(planned.steps)
    return planned.result.path


# Write


def test_a_second_write_of_the_same_content_returns_the_first_path_and_plans_nothing() -> None:
    view = DictView()
    first = write(view)
    again = plan_write(draft("Another title"), view, now=LATER)
    assert again.steps == ()
    assert again.plan is None
    assert again.result.deduped
    assert again.result.existing_path == first


def test_a_task_is_never_taken_for_a_duplicate() -> None:
    """Store weakness 6: a task whose text equals a memory still becomes a task."""
    view = DictView()
    write(view)
    task = write(view, memory_type=MemoryType.TASK)
    assert task == "areas/inbox/tasks/owl-boxes.html"
    assert write(view, memory_type=MemoryType.TASK) == "areas/inbox/tasks/owl-boxes-2.html"


def test_equal_titles_get_ordinals_even_when_they_differ_in_case_only() -> None:
    view = DictView({"areas/inbox/OWL-boxes.html": b""})
    assert write(view) == "areas/inbox/owl-boxes-2.html"


def test_an_existing_folder_keeps_its_spelling() -> None:
    view = DictView({"projects/Barn/x.html": b""})
    assert write(view, workspace="barn") == "projects/Barn/owl-boxes.html"


def test_an_occupied_explicit_path_is_a_conflict_with_the_blob_that_stands_there() -> None:
    view = DictView({"areas/x.html": b"here"})
    with pytest.raises(WriteConflict) as caught:
        plan_write(draft(path="areas/x.html"), view, now=NOW)
    assert caught.value.theirs == blob(b"here")


@pytest.mark.parametrize("path", ["areas/X.html", "Areas2/../x", "areas/x.html/y.html"])
def test_a_path_that_some_file_system_cannot_tell_from_another_is_refused(path: str) -> None:
    view = DictView({"areas/x.html": b""})
    with pytest.raises((WriteConflict, InvalidPath)):
        plan_write(draft(path=path), view, now=NOW)


@pytest.mark.parametrize(
    "path",
    ["../../etc/hosts", "", "areas/index.html", "archive/2026/x.html", "areas/aux.html", "x.html"],
)
def test_an_unusable_explicit_path_is_refused_not_derived_anew(path: str) -> None:
    """Store weaknesses 8, 9 and 16."""
    with pytest.raises(InvalidPath):
        plan_write(draft(path=path), DictView(), now=NOW)


def test_a_full_folder_continues_in_a_folder_for_the_month() -> None:
    view = DictView({f"areas/inbox/{n}.html": b"" for n in range(500)})
    assert write(view) == "areas/inbox/2026-08/owl-boxes.html"


def test_a_credential_is_refused_by_kind_and_line_and_never_quoted() -> None:
    token = "ghp_" + "a1B2" * 9
    with pytest.raises(SecretFound) as caught:
        plan_write(draft(claim=f"The token is {token}."), DictView(), now=NOW)
    assert "GitHub token" in str(caught.value)
    assert token not in str(caught.value)
    plan_write(draft(claim=f"The token is {token}."), DictView(), now=NOW, allow_secret=True)


def test_a_credential_split_by_markup_is_found() -> None:
    token = "ghp_" + "a1B2" * 9
    html = f"<p><mark>Use {token[:9]}<em>{token[9:]}</em></mark></p>"
    with pytest.raises(SecretFound):
        plan_write(draft(article_html=html), DictView(), now=NOW)


@pytest.mark.parametrize(
    "fields",
    [
        {"path": "areas/inbox/ghp_" + "a1B2" * 9 + ".html"},
        {"workspace": "ghp_" + "a1B2" * 9},
        {"facets": (Facet("password", "hunter2hunter2Xy9kQ2mLp0zv"),)},
        {"article_html": "<p><mark>gh&#112;_a1B2<b>a1B2</b>" + "a1B2" * 7 + "</mark></p>"},
    ],
)
def test_a_credential_is_found_wherever_a_commit_would_hold_it(fields: dict[str, Any]) -> None:
    with pytest.raises(SecretFound):
        plan_write(draft(**fields), DictView(), now=NOW)


def test_a_credential_in_a_reason_is_refused() -> None:
    view = DictView()
    path = write(view)
    reason = "leaked ghp_" + "a1B2" * 9
    with pytest.raises(SecretFound):
        plan_archive(path, view, now=LATER, reason=reason)
    with pytest.raises(SecretFound):
        plan_correct(Correction(target=path, claim="X y.", reason=reason), view, now=LATER)
    with pytest.raises(SecretFound):
        plan_task_status(path, TaskStatus.DONE, view, now=LATER, reason=reason)


def test_a_validity_that_ends_before_it_begins_is_refused() -> None:
    view = DictView()
    with pytest.raises(InvalidMemory, match="is before"):
        plan_write(draft(valid_from="2026-02-01", valid_until="2026-01-01"), view, now=NOW)
    path = write(view, valid_from="2026-02-01")
    early = Correction(target=path, claim="Owls face west.", valid_from="2026-01-01")
    with pytest.raises(InvalidMemory, match="began to hold"):
        plan_correct(early, view, now=LATER)


def test_a_task_cannot_begin_as_done() -> None:
    done = draft(memory_type=MemoryType.TASK, task_status=TaskStatus.DONE)
    with pytest.raises(InvalidMemory, match="begins as"):
        plan_write(done, DictView(), now=NOW)


def test_a_folder_cannot_bear_a_name_that_publishing_writes() -> None:
    with pytest.raises(InvalidPath):
        plan_write(draft(path="projects/index.html/z.html"), DictView(), now=NOW)


# Correct


def test_a_correction_inherits_what_it_does_not_say() -> None:
    """Store weakness 2: nothing about the memory is forgotten, and it stays in its folder."""
    view = DictView()
    path = write(
        view,
        workspace="barn",
        tags=("owls", "care"),
        entities=("place:barn",),
        aliases=("boxes",),
        importance=8,
        confidence=0.5,
        author="human:ada",
    )
    planned = plan_correct(Correction(target=path, claim="Owls face west."), view, now=LATER)
    view.apply(planned.steps)
    assert planned.result.path == path
    new = parse(view.files[path])
    assert new.is_valid
    assert new.claim == "Owls face west."
    assert new.title == "Owl boxes"
    assert new.head.tags == ("owls", "care")
    assert new.head.entities == ("place:barn",)
    assert new.head.aliases == ("boxes",)
    assert (new.head.importance, new.head.confidence) == (8, 0.5)
    assert new.head.author == "human:ada"


def test_blank_values_of_a_file_written_by_hand_do_not_stop_its_correction() -> None:
    view = DictView()
    path = write(view, tags=("owls",))
    data = add_meta(view.files[path], "memhtml-tag", " ")
    view.files[path] = set_meta(data, "memhtml-author", "")
    planned = plan_correct(Correction(target=path, claim="Owls face west."), view, now=LATER)
    view.apply(planned.steps)
    assert parse(view.files[path]).head.tags == ("owls",)
    assert parse(view.files[path]).head.author is None


def test_a_correction_under_the_same_title_takes_the_vacated_name() -> None:
    """Store weakness 3: no ``-2``."""
    view = DictView()
    path = write(view)
    planned = plan_correct(
        Correction(target=path, title="Owl boxes", claim="Owls face west."), view, now=LATER
    )
    assert planned.result.path == path
    assert planned.result.archived_path == f"archive/2026/{path}"


def test_the_old_window_closes_at_the_moment_the_new_one_opens() -> None:
    view = DictView()
    path = write(view)
    planned = plan_correct(
        Correction(target=path, claim="Owls face west.", valid_from="2026-08-20"), view, now=LATER
    )
    view.apply(planned.steps)
    old = view.files[planned.result.archived_path]
    assert read_meta(old, "memhtml-valid-until") == "2026-08-20"
    assert read_meta(view.files[path], "memhtml-valid-from") == "2026-08-20"
    assert read_meta(old, "memhtml-superseded-by") == f"/{path}"
    assert read_links(view.files[path]) == (
        Link("memhtml-supersedes", f"/{planned.result.archived_path}"),
    )
    assert parse(old).content_hash == plan_write(draft(), DictView(), now=NOW).result.content_hash


def test_a_window_that_ended_earlier_keeps_its_end() -> None:
    view = DictView()
    path = write(view, valid_until="2026-08-10")
    planned = plan_correct(Correction(target=path, claim="Owls face west."), view, now=LATER)
    view.apply(planned.steps)
    old = view.files[planned.result.archived_path]
    assert read_meta(old, "memhtml-valid-until") == "2026-08-10"


def test_a_correction_of_a_version_the_caller_did_not_read_is_a_conflict_with_both_shas() -> None:
    view = DictView()
    path = write(view)
    with pytest.raises(WriteConflict) as caught:
        plan_correct(Correction(target=path, claim="X y.", expect="0" * 40), view, now=LATER)
    assert caught.value.ours == "0" * 40
    assert caught.value.theirs == blob(view.files[path])


def test_the_reason_of_a_correction_is_kept_whole() -> None:
    """Store weakness 5."""
    view = DictView()
    path = write(view)
    reason = "measured again " * 20
    planned = plan_correct(
        Correction(target=path, claim="Owls face west.", reason=reason), view, now=LATER
    )
    assert planned.plan is not None
    assert f"Memhtml-Reason: {reason.strip()}" in planned.plan.message


def test_a_correction_to_what_another_memory_says_is_refused() -> None:
    view = DictView()
    path = write(view)
    other = write(view, "West", "Owls face west.")
    with pytest.raises(DuplicateContent) as caught:
        plan_correct(Correction(target=path, claim="Owls face west."), view, now=LATER)
    assert caught.value.path == other


# Archive


def test_archiving_stamps_the_head_and_keeps_the_content() -> None:
    view = DictView()
    path = write(view)
    before = parse(view.files[path]).content_hash
    planned = plan_archive(path, view, now=LATER, reason="the barn is gone")
    view.apply(planned.steps)
    archived = parse(view.files[f"archive/2026/{path}"])
    assert archived.content_hash == before
    assert archived.head.status == "archived"
    assert archived.head.archived_at == archived.head.updated_at == "2026-09-01T08:00:00Z"


def test_a_second_archive_of_one_path_in_one_year_gets_an_ordinal_and_finds_its_way_back() -> None:
    """Store weakness 7."""
    view = DictView()
    for claim in ("Owls face east.", "Owls face west."):
        path = write(view, "Owl boxes", claim)
        view.apply(plan_archive(path, view, now=LATER, reason="r").steps)
    second = "archive/2026/areas/inbox/owl-boxes-2.html"
    assert second in view.files
    back = plan_unarchive(second, view, now=LATER)
    assert back.result.path == "areas/inbox/owl-boxes.html"


def test_archiving_what_is_archived_is_refused() -> None:
    view = DictView()
    path = write(view)
    view.apply(plan_archive(path, view, now=LATER, reason="r").steps)
    with pytest.raises(InvalidMemory, match="archived already"):
        plan_archive(f"archive/2026/{path}", view, now=LATER, reason="r")
    with pytest.raises(PathNotFound):
        plan_archive(path, view, now=LATER, reason="r")


def test_a_stamp_never_goes_back_in_time() -> None:
    view = DictView()
    path = write(view)
    planned = plan_archive(path, view, now=datetime(2020, 1, 1, tzinfo=UTC), reason="r")
    view.apply(planned.steps)
    assert (
        read_meta(view.files[f"archive/2020/{path}"], "memhtml-updated") == "2026-08-02T14:03:11Z"
    )


def test_unarchiving_restores_the_file_at_its_old_place() -> None:
    """Store weakness 22."""
    view = DictView()
    path = write(view)
    view.apply(plan_archive(path, view, now=LATER, reason="r").steps)
    view.apply(plan_unarchive(f"archive/2026/{path}", view, now=LATER).steps)
    back = parse(view.files[path])
    assert back.is_valid
    assert back.head.status == "active"
    assert back.head.archived_at is None


def test_unarchiving_onto_a_taken_place_is_a_conflict() -> None:
    view = DictView()
    path = write(view)
    view.apply(plan_archive(path, view, now=LATER, reason="r").steps)
    write(view, "Owl boxes", "Something else.")
    with pytest.raises(WriteConflict):
        plan_unarchive(f"archive/2026/{path}", view, now=LATER)


def test_unarchiving_a_superseded_memory_needs_force() -> None:
    view = DictView()
    path = write(view, "A", "Owls face east.")
    planned = plan_correct(
        Correction(target=path, title="B", claim="Owls face west."), view, now=LATER
    )
    view.apply(planned.steps)
    archived = planned.result.archived_path
    with pytest.raises(InvalidMemory, match="superseded by"):
        plan_unarchive(archived, view, now=LATER)
    assert plan_unarchive(archived, view, now=LATER, force=True).result.path == path


# Link


def test_linking_twice_plans_nothing_the_second_time() -> None:
    view = DictView()
    src, dst = write(view, "A", "First fact."), write(view, "B", "Second fact.")
    view.apply(plan_link(src, Rel.SUPPORTS, dst, view).steps)
    assert read_links(view.files[src]) == (Link("memhtml-supports", f"/{dst}"),)
    assert plan_link(src, Rel.SUPPORTS, dst, view).steps == ()
    view.apply(plan_unlink(src, Rel.SUPPORTS, dst, view).steps)
    assert read_links(view.files[src]) == ()
    assert plan_unlink(src, Rel.SUPPORTS, dst, view).steps == ()


@pytest.mark.parametrize(
    ("rel", "ends", "words"),
    [
        (Rel.SUPPORTS, ("memory", "memory"), "itself"),
        (Rel.SUPPORTS, ("memory", "task"), "is a task"),
        (Rel.BLOCKS, ("task", "memory"), "is none"),
        (Rel.FROM_SESSION, ("memory", "other"), "memhtml itself"),
    ],
)
def test_a_link_that_joins_the_wrong_things_is_refused(
    rel: Rel, ends: tuple[str, str], words: str
) -> None:
    view = DictView()
    paths = {
        "memory": write(view, "A", "First fact."),
        "other": write(view, "B", "Second fact."),
        "task": write(view, "C", "Third fact.", memory_type=MemoryType.TASK),
    }
    with pytest.raises(InvalidMemory, match=words):
        plan_link(paths[ends[0]], rel, paths[ends[1]], view)


# Tasks


def test_finishing_a_task_archives_it_and_links_to_it_follow() -> None:
    """Tasks weakness 4 and index weakness 9: a ``blocks`` link does not dangle."""
    view = DictView()
    blocked = write(view, "Deploy", "It is deployed.", memory_type=MemoryType.TASK)
    blocker = write(view, "Test", "It is tested.", memory_type=MemoryType.TASK)
    view.apply(plan_link(blocker, Rel.BLOCKS, blocked, view).steps)
    planned = plan_task_status(blocked, TaskStatus.DONE, view, now=LATER)
    view.apply(planned.steps)
    assert planned.result.archive_path == f"archive/2026/{blocked}"
    done = parse(view.files[f"archive/2026/{blocked}"])
    assert (done.head.status, done.head.task_status) == ("archived", "done")
    assert read_links(view.files[blocker]) == (Link("memhtml-blocks", f"/archive/2026/{blocked}"),)


def test_reopening_a_finished_task_moves_it_and_its_links_back() -> None:
    """Tasks weakness 2: the two axes never disagree."""
    view = DictView()
    task = write(view, memory_type=MemoryType.TASK)
    blocker = write(view, "Test", "It is tested.", memory_type=MemoryType.TASK)
    view.apply(plan_link(blocker, Rel.BLOCKS, task, view).steps)
    view.apply(plan_task_status(task, TaskStatus.DONE, view, now=LATER).steps)
    archived = f"archive/2026/{task}"
    planned = plan_task_status(archived, TaskStatus.DOING, view, now=LATER)
    view.apply(planned.steps)
    again = parse(view.files[task])
    assert (again.head.status, again.head.task_status) == ("active", "doing")
    assert read_links(view.files[blocker]) == (Link("memhtml-blocks", f"/{task}"),)


def test_a_status_the_task_has_plans_nothing() -> None:
    view = DictView()
    task = write(view, memory_type=MemoryType.TASK)
    assert plan_task_status(task, TaskStatus.TODO, view, now=LATER).result.unchanged


def test_only_tasks_have_a_task_status() -> None:
    view = DictView()
    with pytest.raises(InvalidMemory, match="not a task"):
        plan_task_status(write(view), TaskStatus.DONE, view, now=LATER)
