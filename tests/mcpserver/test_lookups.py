"""What the tools that find, gather and list answer, value by value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from memhtml.corpus import Corpus
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.traces.scan import scan
from tests.mcpserver.test_server import at, call, refuse, text_of, write
from tests.traces.transcripts import Claude, put

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def test_a_search_narrows_by_every_filter_and_says_what_it_rests_on(root: Path) -> None:
    async def use() -> None:
        async with at(root) as client:
            red = await write(
                client,
                "Gate colour",
                "The gate is red.",
                tags=["paint"],
                facets={"minutes": 90},
                entities=["place:Gate"],
                valid_from="2026-01-01",
            )
            green = await write(client, "Colour of the gate", "The gate is green.", tags=["paint"])
            await call(client, "memory_link", src_path=green, rel="contradicts", dst_path=red)
            found = await call(client, "memory_search", query="gate colour")
            hits = {hit["path"]: hit for hit in found["hits"]}
            assert {*hits} == {red, green}
            assert hits[red]["contradicts"] == [green]
            assert 0 < hits[red]["relevance"] <= 1
            assert (found["degraded"], found["vector_coverage"]) == (True, 0.0)
            assert found["degraded_reason"]
            for filters in (
                {"facets": ["minutes>=60"]},
                {"as_of": "2026-02-01"},
                {"entity": "place:gate"},
                {"not_tags": ["nothing"], "all_tags": ["paint"], "facets": ["minutes=90"]},
            ):
                narrowed = await call(client, "memory_search", query="gate", **filters)
                assert [hit["path"] for hit in narrowed["hits"]] == [red], filters
            first = await call(client, "memory_search", query="gate", limit=1)
            second = await call(
                client, "memory_search", query="gate", limit=1, cursor=first["next_cursor"]
            )
            assert {*hits} == {page["hits"][0]["path"] for page in (first, second)}
            nothing = await call(client, "memory_search", query="submarine grean")
            assert nothing["no_match"]["reason"] == "no-term-found"
            assert {"term": "grean", "nearest": ["green"]} in nothing["spellings"]

    anyio.run(use)


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("memory_search", {"query": "gate", "as_of": "yesterday"}, "memory_search: as-of"),
        ("memory_search", {"query": "gate", "facets": ["minutes"]}, "name=value"),
        ("memory_search", {"query": "gate", "at": "no-such"}, "no commit"),
        ("memory_search", {"query": "gate", "memory_types": ["fact"]}, "must be one of"),
        ("memory_recall", {"query": "gate", "since": "May"}, "memory_recall: since"),
        ("memory_recall", {"query": "gate", "budget_chars": 9, "budget_tokens": 9}, "exclude"),
        ("memory_list", {"path_prefix": "../etc"}, "memory_list: no memory can be below"),
        ("task_list", {"due_before": "soon"}, "'soon' is not a day"),
        ("memory_neighbors", {"path": "areas/x.html", "rels": ["likes"]}, "must be one of"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(
    root: Path, tool: str, arguments: dict[str, Any], says: str
) -> None:
    async def use() -> None:
        async with at(root) as client:
            refused = await refuse(client, tool, **arguments)
            assert refused["code"] == "ERR_INVALID_FLAG"
            assert says in refused["error"]

    anyio.run(use)


def test_recall_quotes_within_a_budget_of_characters_or_tokens(root: Path) -> None:
    story = Draft(title="Gates", memory_type=MemoryType.ARC, claim="Every gate was painted.")
    with Corpus.open(root, durability="none") as corpus:
        arc = corpus.write(story).path

    async def use() -> None:
        async with at(root) as client:
            for colour in ("red", "green", "blue"):
                await write(client, f"Gate {colour}", f"One gate of the yard is {colour}.")
            pack = await call(client, "memory_recall", query="gate")
            assert [quote["path"] for quote in pack["sections"]["arcs"]] == [arc]
            assert len(pack["sections"]["memories"]) == 3
            quoted = sum(
                len(quote["body"])
                for kind in ("arcs", "memories")
                for quote in pack["sections"][kind]
            )
            assert (pack["spent_chars"], pack["spent_tokens"]) == (quoted, None)
            small = await call(client, "memory_recall", query="gate", budget_tokens=10)
            assert (small["spent_chars"], small["truncated"]) == (None, True)
            assert 0 < small["spent_tokens"] <= 15, "ten, and arcs apart"
            assert {line["reason"] for line in small["sections"]["lateral"]} == {"budget"}
            nothing = await call(client, "memory_recall", query="submarine ballast")
            assert nothing["no_match"]["reason"] == "no-term-found"

    anyio.run(use)


def test_lists_links_and_trails_lead_from_one_memory_to_others(root: Path) -> None:
    async def use() -> None:
        async with at(root) as client:
            gate = await write(client, "Gate", "The gate is red.", tags=["paint"])
            latch = await write(client, "Latch", "The latch of the gate is old.")
            await write(client, "Oven", "The oven is hot.", workspace="bakery")
            await call(client, "memory_link", src_path=gate, rel="relates_to", dst_path=latch)
            page = await call(client, "memory_list", limit=2)
            rest = await call(client, "memory_list", limit=2, cursor=page["next_cursor"])
            paths = [file["path"] for file in (*page["files"], *rest["files"])]
            assert paths == sorted(paths)
            assert len(paths) == 3
            only = await call(client, "memory_list", para="projects", workspace="bakery")
            assert [file["title"] for file in only["files"]] == ["Oven"]
            near = await call(client, "memory_neighbors", path=latch)
            assert [(node["path"], node["rel"]) for node in near["nodes"]] == [(gate, "relates_to")]
            assert near["edges"] == [{"from": gate, "rel": "relates_to", "to": latch}]
            alike = await call(client, "memory_similar", path=gate)
            assert alike["similar"][0]["path"] == latch
            moved = await call(client, "memory_archive", path=latch, reason="gone")
            trail = await call(client, "memory_resolve", path=latch)
            assert (trail["path"], trail["stop_reason"]) == (moved["archive_path"], "archived")
            assert "The latch of the gate" in await text_of(client, trail["pinned_uri"])
            nowhere = await call(client, "memory_resolve", path="areas/inbox/never.html")
            assert (nowhere["stop_reason"], nowhere["pinned_uri"]) == ("unindexed", None)

    anyio.run(use)


def test_tasks_are_listed_with_what_blocks_them(root: Path) -> None:
    async def use() -> None:
        async with at(root) as client:
            paint = (await call(client, "task_add", title="Paint it", due="2026-12-01"))["path"]
            buy = (await call(client, "task_add", title="Buy paint"))["path"]
            await call(
                client,
                "memory_write_batch",
                ops=[{"op": "link", "src_path": buy, "rel": "blocks", "dst_path": paint}],
            )
            tasks = {task["path"]: task for task in (await call(client, "task_list"))["tasks"]}
            assert tasks[paint]["blocked_by"] == [{"path": buy, "title": "Buy paint"}]
            due = await call(client, "task_list", due_before="2026-12-02", statuses=["todo"])
            assert [task["path"] for task in due["tasks"]] == [paint]
            await call(client, "task_status", path=buy, status="done")
            left = (await call(client, "task_list"))["tasks"]
            assert [(task["path"], task["blocked_by"]) for task in left] == [(paint, [])]

    anyio.run(use)


def test_the_status_tells_how_much_is_encoded(root: Path) -> None:
    async def use() -> None:
        async with at(root) as client:
            await write(client, "Gate", "The gate is red.")
            status = await call(client, "memory_status")
            assert (status["embed_model"], status["vector_coverage"]) == (None, 0.0)

    anyio.run(use)


def test_sessions_are_found_by_what_was_said_and_lead_to_memories_and_back(
    root: Path, tmp_path: Path
) -> None:
    session = "aaaaaaaa-1111-4111-8111-111111111111"
    said = Claude(session, cwd=str(tmp_path))
    question = said.user("when does the gate open")
    put(tmp_path / "agent" / "projects" / "-srv" / f"{session}.jsonl", question)

    async def use() -> None:
        async with at(root) as client:
            nothing = await call(client, "trace_search", query="gate")
            assert (nothing["sessions"], nothing["sessions_known"]) == ([], 0)
            with Corpus.open(root) as corpus, corpus.traces() as base:
                scan(base, [str(tmp_path / "agent")], now="2026-03-02T00:00:00Z")
            found = await call(client, "trace_search", query="gate open", cwd=str(tmp_path))
            (one,) = found["sessions"]
            assert (one["session_id"], one["agent"]) == (session, "claude")
            assert "when does the gate open" in one["matches"][0]["excerpt"]
            path = await write(client, "Gate", "The gate opens at six.", session_id=session)
            for wanted in ({"path": path}, {"session_id": session}, {"session_id": "aaaa"}):
                links = await call(client, "trace_links", **wanted)
                assert [(link["path"], link["session_id"]) for link in links["links"]] == [
                    (path, session)
                ], wanted
                assert links["sessions"][0]["first_prompt"] == "when does the gate open"
            both = await refuse(client, "trace_links", path=path, session_id=session)
            assert both["code"] == "ERR_INVALID_FLAG"
            late = await refuse(client, "trace_search", query="gate", since="yesterday")
            assert "'since' must be" in late["error"]

    anyio.run(use)
