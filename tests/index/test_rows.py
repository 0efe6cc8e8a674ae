"""What a file says, as rows; and that only what changed is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memhtml.format.parse import parse
from memhtml.index.indexer import update
from memhtml.index.project import project
from tests.index.stores import NOW, Store, memory

if TYPE_CHECKING:
    from memhtml.index.database import Index
    from memhtml.store.repo import Repo

A = "areas/a.html"
CREATED, UPDATED = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"

FULL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Kiln</title>
<meta name="memhtml-type" content="task">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-01-01T00:00:00Z">
<meta name="memhtml-updated" content="2026-02-01T00:00:00Z">
<meta name="memhtml-importance" content="8">
<meta name="memhtml-reprieves" content="2">
<meta name="memhtml-needs-revision" content="true">
<meta name="memhtml-author" content="Ada">
<meta name="memhtml-session" content="s1">
<meta name="memhtml-prompt" content="p1">
<meta name="memhtml-turn" content="t1">
<meta name="memhtml-valid-from" content="2026-01-02">
<meta name="memhtml-valid-until" content="2026-12-31">
<meta name="memhtml-task-status" content="doing">
<meta name="memhtml-due" content="2026-03-01">
<meta name="memhtml-alias" content="furnace">
<link rel="memhtml-blocks" href="/areas/b.html">
</head><body><article>
<p><mark>The kiln is repaired</mark> on <time datetime="2026-01-05">the fifth</time>.</p>
<details><summary>Why</summary><p>It broke.</p></details>
<dl><dt>duration</dt><dd><data value="120">two hours</data></dd><dt>place</dt><dd>barn</dd></dl>
<p><cite>The manual</cite> and <q cite="https://example.org/q">a saying</q></p>
</article></body></html>
"""


def test_everything_a_file_says_of_itself_is_a_column() -> None:
    document = parse(FULL.encode())
    assert document.is_valid, document.violations
    rows = project("projects/pottery/kiln.html", "b" * 40, document)
    file = rows.file
    assert (file.importance, file.reprieves, file.needs_revision) == (8, 2, True)
    assert (file.author, file.session_id, file.prompt_id, file.turn_uuid) == (
        "Ada",
        "s1",
        "p1",
        "t1",
    )
    assert (file.valid_from, file.valid_until) == ("2026-01-02", "2026-12-31")
    assert (file.task_status, file.due_at, file.workspace) == ("doing", "2026-03-01", "pottery")
    assert (file.event_at, file.news_at) == ("2026-01-05", "2026-01-05")
    assert file.word_count == len(document.body_text.split())
    assert rows.aliases == ("furnace",)
    assert [tuple(facet) for facet in rows.facets] == [
        ("duration", "two hours", 120.0),
        ("place", "barn", None),
    ]
    assert [tuple(citation) for citation in rows.citations] == [
        ("The manual", None),
        ("a saying", "https://example.org/q"),
    ]
    assert [tuple(edge) for edge in rows.edges] == [("blocks", "areas/b.html", "task")]
    assert rows.body.disclosure.splitlines() == [
        "The kiln is repaired",
        "Why",
        "duration: two hours",
        "place: barn",
        "The manual",
        "a saying",
    ]


def test_what_a_file_leaves_out_has_its_default() -> None:
    file = project(A, "b" * 40, parse(memory("Owls").encode())).file
    assert (file.importance, file.reprieves, file.needs_revision) == (5, 0, False)
    assert (file.author, file.session_id, file.task_status) == ("agent", None, None)


@pytest.mark.parametrize(
    ("states_hash", "is_true", "news_at"),
    [(True, True, CREATED), (True, False, UPDATED), (False, True, UPDATED)],
)
def test_a_stamp_of_curation_is_no_news(states_hash: bool, is_true: bool, news_at: str) -> None:
    text = memory("Owls hunt at night").replace(
        f'updated" content="{CREATED}', f'updated" content="{UPDATED}'
    )
    stated = parse(text.encode()).content_hash if is_true else "sha256:" + "0" * 64
    meta = f'<meta name="memhtml-content-hash" content="{stated}">\n</head>'
    document = parse((text.replace("</head>", meta) if states_hash else text).encode())
    assert project(A, "b" * 40, document).file.news_at == news_at


def test_news_is_as_old_as_what_happened_where_the_memory_tells() -> None:
    """The seed, §2: the first time of the article feeds the ranking by recency."""
    text = memory("Owls hunt at night").replace(
        "</mark>", '</mark> since <time datetime="2019-05-06">May</time>'
    )
    assert project(A, "b" * 40, parse(text.encode())).file.news_at == "2019-05-06"


def changes_of(store: Store, repo: Repo, index: Index, text: str) -> dict[str, int]:
    """Return how many rows of each table an update writes when *text* takes its place."""
    written: dict[str, int] = {}

    def hear(_kind: int, _db: str, table: str, _rowid: int) -> None:
        written[table] = written.get(table, 0) + 1

    store.put(A, text)
    index.connection.set_update_hook(hear)
    update(index, repo, now=NOW)
    index.connection.set_update_hook(None)
    return {table: n for table, n in written.items() if table not in {"index_state", "overlay"}}


def test_only_what_changed_is_written(store: Store, repo: Repo, index: Index) -> None:
    body = " ".join(f"Sentence {number} is here." for number in range(300))

    def text(**changes: object) -> str:
        given = {"tags": ("a", "b"), "facets": (("region", "eu"),), "body": body}
        return memory("Owls hunt at night", **{**given, **changes})  # type: ignore[arg-type]

    store.put(A, text())
    update(index, repo, now=NOW)
    stamped = text().replace('updated" content="2026-01', 'updated" content="2026-03')
    assert changes_of(store, repo, index, stamped) == {"files": 1}
    with_alias = changes_of(store, repo, index, text(aliases=("tyto",)))
    assert with_alias["files"] == 1
    assert not {"bodies", "texts"} & with_alias.keys()
    edited = changes_of(store, repo, index, text(body=body.replace("Sentence 299", "The last")))
    assert edited["bodies"] == 1
    ((chunks,),) = index.connection.execute("SELECT count(*) FROM chunks")
    # A text comes, is used, and another is used no more; those of other pieces are left alone.
    assert edited["texts"] == 3 < chunks


def test_a_long_memory_loses_the_chunks_it_no_longer_has(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("Owls", body="word " * 900))
    update(index, repo, now=NOW)
    store.put(A, memory("Owls", body="word " * 10))
    update(index, repo, now=NOW)
    assert list(index.connection.execute("SELECT ordinal FROM chunks")) == [(0,)]
    state = index.state()
    assert state is not None
    assert (state.chunks, state.texts) == (1, 1)
