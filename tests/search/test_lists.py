"""Lists page by page, entities, tags, tasks; field case S6, the listing part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memhtml.index.indexer import update
from memhtml.model.errors import InvalidFlag, PathNotFound
from memhtml.model.vocabulary import Bucket, TaskStatus
from memhtml.search.lists import list_entities, list_memories, list_tags, list_tasks
from memhtml.search.scope import make_scope
from memhtml.search.search import search
from memhtml.search.similar import similar
from memhtml.search.trail import Step, StopReason, Via, resolve
from tests.index.stores import NOW, Store, memory
from tests.search.test_weaknesses import fill

if TYPE_CHECKING:
    from memhtml.index.database import Index
    from memhtml.store.repo import Repo


def many(index: Index, count: int) -> None:
    """Put *count* rows of small memories straight into the index, all about one thing."""
    columns = [row[1] for row in index.connection.execute("PRAGMA table_info(files)")][1:]
    first: Any = index.connection.execute(
        f"SELECT {', '.join(columns)} FROM files LIMIT 1"  # noqa: S608 - ours
    ).fetchone()
    place = columns.index("path")
    marks = ", ".join("?" * (len(columns) + 1))
    with index.writing("fill the index") as connection:
        for number in range(2, count + 1):
            facts = list(first)
            facts[place] = f"areas/n/{number * 7919 % count:05}-{number}.html"
            connection.execute(f"INSERT INTO files VALUES ({marks})", (number, *facts))  # noqa: S608 - ours
            connection.execute(
                "INSERT INTO file_entities VALUES (?, 'thing:one', 'thing:One')", (number,)
            )
            connection.execute("INSERT INTO bodies VALUES (?, 'small fact', '')", (number,))
            connection.execute(
                "INSERT INTO files_fts (rowid, title, claim, facets, names, aliases, body)"
                " VALUES (?, 'small', '', '', 'thing one', '', 'small fact')",
                (number,),
            )


def test_forty_thousand_paths_come_once_each(store: Store, repo: Repo, index: Index) -> None:
    fill(store, repo, index, {"areas/first.html": memory("small fact", entities=("thing:One",))})
    many(index, 40_000)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = list_memories(index, make_scope(entity="thing:one"), limit=500, cursor=cursor)
        seen += [file.path for file in page.files]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == 40_000
    assert seen == sorted(set(seen))
    hits = search(index, "small fact", make_scope(entity="thing:one"), limit=20).hits
    assert len(hits) == 20
    (entity,) = list_entities(index).entities
    assert entity.file_count == 40_000


def test_a_page_that_is_full_and_last_has_no_cursor(store: Store, repo: Repo, index: Index) -> None:
    fill(store, repo, index, {f"areas/{n}.html": memory(f"fact {n}") for n in range(4)})
    first = list_memories(index, limit=2)
    assert first.next_cursor == "areas/1.html"
    assert list_memories(index, limit=2, cursor=first.next_cursor).next_cursor is None
    for limit in (0, 501):
        with pytest.raises(InvalidFlag):
            list_memories(index, limit=limit)


def test_lists_show_tasks_and_narrow_to_a_bucket(store: Store, repo: Repo, index: Index) -> None:
    files = {
        "areas/tasks/a.html": memory("do it", memory_type="task"),
        "resources/b.html": memory("a fact"),
    }
    fill(store, repo, index, files)
    assert [file.path for file in list_memories(index).files] == sorted(files)
    in_resources = list_memories(index, para=Bucket.RESOURCES).files
    assert [file.path for file in in_resources] == ["resources/b.html"]


def test_entities_and_tags_are_counted(store: Store, repo: Repo, index: Index) -> None:
    files = {
        "areas/a.html": memory("a", entities=("org:DGX", "place:Barn"), tags=("x",)),
        "areas/b.html": memory(
            "b", entities=("org: dgx",), tags=("x", "y"), created="2026-02-02T00:00:00Z"
        ),
    }
    fill(store, repo, index, files)
    found = list_entities(index)
    assert [(e.entity_type, e.file_count) for e in found.entities] == [("org", 2), ("place", 1)]
    assert found.entity_count == 2
    assert found.entities[0].last_written_at == "2026-02-02T00:00:00Z"
    assert [e.entity for e in list_entities(index, entity_type="PLACE").entities] == ["place:Barn"]
    assert list_entities(index, limit=1).entity_count == 2
    assert [(tag.tag, tag.file_count) for tag in list_tags(index)] == [("x", 2), ("y", 1)]


def task(claim: str, status: str = "todo", *, due: str = "", blocks: str = "") -> str:
    page = memory(claim, memory_type="task", links=(("blocks", blocks),) if blocks else ())
    page = page.replace('task-status" content="todo"', f'task-status" content="{status}"')
    meta = f'<meta name="memhtml-due" content="{due}">\n</head>'
    return page.replace("</head>", meta) if due else page


def test_tasks_name_what_still_blocks_them(store: Store, repo: Repo, index: Index) -> None:
    target = "areas/tasks/d.html"
    files = {
        "areas/tasks/a.html": task("pour concrete", blocks=target, due="2026-03-01"),
        "areas/tasks/b.html": task("order steel", "done", blocks=target),
        "archive/2026/areas/tasks/c.html": task("survey", "doing", blocks=target),
        target: task("build", "blocked", due="2026-04-01"),
        "projects/p/e.html": task("paint", due="2026-03-31T10:00:00Z"),
        "areas/fact.html": memory("a fact"),
    }
    fill(store, repo, index, files)
    listed = {one.path: one for one in list_tasks(index).tasks}
    assert list(listed) == sorted(path for path in files if "archive" not in path)[1:]
    assert [blocker.path for blocker in listed[target].blocked_by] == ["areas/tasks/a.html"]
    due = list_tasks(index, due_before="2026-04-01").tasks
    assert [one.path for one in due] == ["areas/tasks/a.html", "projects/p/e.html"]
    blocked = list_tasks(index, statuses=[TaskStatus.BLOCKED]).tasks
    assert [one.path for one in blocked] == [target]
    in_project = list_tasks(index, make_scope(workspace="p")).tasks
    assert [one.path for one in in_project] == ["projects/p/e.html"]
    page = list_tasks(index, limit=1)
    assert page.next_cursor == "areas/tasks/a.html"
    with pytest.raises(InvalidFlag):
        list_tasks(index, due_before="soon")


def test_an_old_path_leads_to_what_is_there_today(store: Store, repo: Repo, index: Index) -> None:
    moved = "archive/2026/areas/a.html"
    files = {
        moved: memory("a"),
        "areas/b.html": memory("b", links=(("supersedes", "areas/a.html"),)),
        "areas/c.html": memory("c", links=(("supersedes", "areas/b.html"),)),
        "areas/x.html": memory("x", links=(("supersedes", "areas/y.html"),)),
        "areas/y.html": memory("y", links=(("supersedes", "areas/x.html"),)),
        "archive/2026/areas/z.html": memory("z"),
    }
    fill(store, repo, index, files)
    trail = resolve(index, "/areas/a.html")
    assert trail.steps == (
        Step("areas/a.html", moved, Via.ARCHIVE_MOVE),
        Step(moved, "areas/b.html", Via.SUPERSEDES),
        Step("areas/b.html", "areas/c.html", Via.SUPERSEDES),
    )
    assert (trail.path, trail.stop_reason, trail.title) == ("areas/c.html", StopReason.LIVE, "c")
    assert resolve(index, "areas/x.html").stop_reason is StopReason.CYCLE
    assert resolve(index, "areas/z.html").stop_reason is StopReason.ARCHIVED
    nowhere = resolve(index, "areas/none.html")
    assert (nowhere.stop_reason, nowhere.title) == (StopReason.UNINDEXED, None)


def test_a_long_trail_ends_at_its_limit(store: Store, repo: Repo, index: Index) -> None:
    files = {"areas/00.html": memory("m0")}
    for number in range(1, 19):
        link = ("supersedes", f"areas/{number - 1:02}.html")
        files[f"areas/{number:02}.html"] = memory(f"m{number}", links=(link,))
    fill(store, repo, index, files)
    trail = resolve(index, "areas/00.html")
    assert (trail.stop_reason, len(trail.steps)) == (StopReason.HOP_LIMIT, 16)
    assert resolve(index, "areas/02.html").stop_reason is StopReason.LIVE


def test_what_is_like_a_memory_comes_first_and_never_itself(
    store: Store, repo: Repo, index: Index
) -> None:
    claims = ("the oven bakes bread", "bread comes out of the oven", "rain", "wind and snow")
    fill(store, repo, index, {f"areas/{n}.html": memory(claim) for n, claim in enumerate(claims)})
    found = similar(index, "areas/0.html")
    assert [one.path for one in found] == ["areas/1.html"]
    assert found[0].arm == "fts"
    with pytest.raises(PathNotFound):
        similar(index, "areas/none.html")
    update(index, repo, now=NOW)
