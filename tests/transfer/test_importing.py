from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.model.errors import InvalidFlag
from memhtml.model.vocabulary import MemoryType
from memhtml.transfer.item import ImportFormat, Options, Outcome
from tests.transfer.stores import bring, files, fill, make_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.corpus import Corpus
    from memhtml.model.document import Document
    from memhtml.transfer.item import ImportReport


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with make_store(tmp_path / "store") as corpus:
        yield corpus


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "source"


def documents(corpus: Corpus, report: ImportReport) -> dict[str, Document]:
    """Return what was written, by title."""
    return {
        result.title: corpus.read(result.path).document
        for result in report.results
        if result.outcome is Outcome.WRITTEN and result.path
    }


def outcomes(report: ImportReport) -> dict[str, str]:
    return {result.origin: result.outcome.value for result in report.results}


# Notes


def test_a_vault_comes_with_its_front_matter_links_and_tags(corpus: Corpus, source: Path) -> None:
    (source / ".obsidian").mkdir(parents=True)
    fill(
        source,
        {
            "Barn.md": (
                "---\ntags: [building, 'night watch']\naliases: the shed\nowner: Ada\n"
                "created: 2024-05-01\nrooms: {a: 1}\n---\n"
                "The barn has two doors. See [[Owl|the owls]] and [[Nowhere]]. #farm\n\n"
                "![plan](plan.png)\n"
            ),
            "birds/Owl.md": "# Owls of the barn\n\nOwls live in [[Barn]].\n",
            "2024-06-01.md": "Saw three owls.\n",
            "Empty.md": "\n",
            ".trash/Old.md": "Gone.",
        },
    )
    report = bring(corpus, source)
    assert report.detected.format is ImportFormat.OBSIDIAN
    assert outcomes(report) == {
        "2024-06-01.md": "written",
        "Barn.md": "written",
        "Empty.md": "skipped",
        "birds/Owl.md": "written",
    }
    found = documents(corpus, report)
    barn, owls, day = found["Barn"], found["Owls of the barn"], found["2024-06-01"]
    assert barn.claim == "The barn has two doors."
    assert barn.head.tags == ("building", "night watch", "farm")
    assert (barn.head.aliases, barn.head.valid_from) == (("the shed",), "2024-05-01")
    assert [(f.name, f.value) for f in barn.facets] == [("owner", "Ada"), ("rooms", '{"a": "1"}')]
    assert (day.head.memory_type, day.head.valid_from) == ("episodic", "2024-06-01")
    paths = {result.title: result.path for result in report.results}
    assert [link.href for link in barn.links] == [f"/{paths['Owls of the barn']}"]
    assert [link.href for link in owls.links] == [f"/{paths['Barn']}"]
    assert (report.links.found, report.links.made, report.links.unresolved) == (3, 2, 1)
    noted = [(note.line, note.code) for r in report.results for note in r.notes]
    assert noted == [(1, "front-matter"), (8, "link"), (10, "image")]


def test_observations_are_facets_and_relations_are_links(corpus: Corpus, source: Path) -> None:
    fill(
        source,
        {
            "tea.md": (
                "---\ntitle: Green tea\ntype: note\npermalink: drinks/green-tea\ntags: [tea]\n---\n"
                "# Green tea\n\nIt is drunk without milk.\n\n## Observations\n"
                "- [heat] Steep at 70 °C #brewing (the leaves burn)\n- [ ] buy some\n\n"
                "## Relations\n- part_of [[Drinks]]\n- pairs with [[Rice]]\n"
            ),
            "drinks.md": "---\ntitle: Drinks\npermalink: drinks\n---\nAll that is drunk.\n",
        },
    )
    report = bring(corpus, source)
    assert report.detected.format is ImportFormat.BASIC_MEMORY
    tea = documents(corpus, report)["Green tea"]
    assert tea.claim == "It is drunk without milk."
    assert [(facet.name, facet.value) for facet in tea.facets] == [
        ("heat", "Steep at 70 °C #brewing (the leaves burn)"),
        ("part_of", "Drinks"),
        ("pairs with", "Rice"),
    ]
    assert tea.head.tags == ("tea", "brewing")
    assert [link.rel for link in tea.links] == ["memhtml-part-of"]
    assert "[ ] buy some" in tea.text
    assert (report.links.made, report.links.unresolved) == (1, 1)


def test_front_matter_that_is_no_yaml_is_kept_as_code(corpus: Corpus, source: Path) -> None:
    bomb = "a: &a [x, x]\nb: [*a, *a]"
    fill(source, {"a.md": "---\nx: [1\n---\nA fact.", "b.md": f"---\n{bomb}\n---\nB fact."})
    report = bring(corpus, source)
    found = documents(corpus, report)
    assert "x: [1" in found["a"].text
    assert "*a" in found["b"].text
    assert [n.code for r in report.results for n in r.notes] == ["front-matter"] * 2


def test_one_note_that_cannot_be_read_fails_alone(corpus: Corpus, source: Path) -> None:
    fill(source, {"good.md": "A good one.", "key.md": "The token is ghp_" + "a1B2" * 9 + "."})
    (source / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (source / "link.md").symlink_to(source / "good.md")
    report = bring(corpus, source)
    assert outcomes(report) == {
        "bytes.md": "failed",
        "good.md": "written",
        "key.md": "failed",
        "link.md": "skipped",
    }
    codes = {result.origin: result.code for result in report.results}
    assert (codes["bytes.md"], codes["key.md"]) == ("ERR_STORAGE", "ERR_SECRET")


def test_what_is_known_is_not_written_twice(corpus: Corpus, source: Path) -> None:
    fill(source, {"a.md": "The same fact.", "b.md": "The same fact.", "c.md": "Another."})
    first = bring(corpus, source)
    assert outcomes(first) == {"a.md": "written", "b.md": "deduped", "c.md": "written"}
    again = bring(corpus, source)
    assert set(outcomes(again).values()) == {"deduped"}
    assert again.commit is None


def test_each_point_of_an_agents_file_is_a_memory(corpus: Corpus, source: Path) -> None:
    fill(
        source,
        {
            "CLAUDE.md": (
                "# Project\n\n## Style\n\n- Use tabs.\n- Name tests as sentences:\n"
                "  `test_it_works`\n\n<!-- old -->\n\n@docs/more.md\n\n"
                "Build with:\n\n```sh\nmake\n```\n"
            ),
            "README.md": "Not for agents.",
        },
    )
    report = bring(corpus, source / "CLAUDE.md")
    assert report.detected.format is ImportFormat.AGENT_FILE
    assert outcomes(report) == {
        "CLAUDE.md:5": "written",
        "CLAUDE.md:6": "written",
        "CLAUDE.md:9": "skipped",
        "CLAUDE.md:11": "skipped",
        "CLAUDE.md:13": "written",
    }
    found = documents(corpus, report)
    assert found["Use tabs"].head.tags == ("Style",)
    assert found["Use tabs"].head.memory_type == "procedural"
    assert found["Build with"].code_langs == ("sh",)


# Chats


def chatgpt() -> list[dict[str, Any]]:
    def node(**message: Any) -> dict[str, Any]:
        return {"message": {"id": "m", "create_time": 1714557600.5, **message}}

    def text(*parts: str) -> dict[str, Any]:
        return {"content_type": "text", "parts": list(parts)}

    user, model = {"role": "user"}, {"role": "assistant"}
    listed = (
        "# Model Set Context\n\n1. [2024-04-30]. Likes rye bread.\n\n2. [2024-05-02]. Has a cat."
    )
    context = {
        "content_type": "user_editable_context",
        "user_profile": "Preface:\n```I bake.```",
        "user_instructions": "Preface:\n```\nBe brief.\n```",
    }
    return [
        {
            "title": "Bread",
            "conversation_id": "c-1",
            "mapping": {
                "root": {"message": None},
                "a": node(author=user, content=text("Please remember that I bake on Fridays. Ok?")),
                "b": node(author=model, recipient="bio", content=text("Bakes on Fridays.")),
                "c": node(author=model, content=text("A long answer that nobody wants to keep.")),
                "d": node(
                    author=model,
                    content={"content_type": "model_editable_context", "model_set_context": listed},
                ),
                "e": node(author=user, content=context),
                "f": node(author=user, content={"content_type": "thoughts"}),
            },
        },
        {"title": "Again", "mapping": {"x": node(author=user, content=context)}},
    ]


def test_of_chatgpt_only_what_was_saved_is_taken(corpus: Corpus, source: Path) -> None:
    source.mkdir()
    with zipfile.ZipFile(source / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(chatgpt()))
        archive.writestr("user.json", "{}")
        archive.writestr("memories.json", json.dumps([{"content": "Owns a mill."}, {"x": 1}]))
    report = bring(corpus, source / "export.zip")
    assert report.detected.format is ImportFormat.CHATGPT
    found = documents(corpus, report)
    assert {d.claim: d.head.valid_from for d in found.values()} == {
        "Bakes on Fridays.": "2024-05-01T10:00:00Z",
        "Likes rye bread.": "2024-04-30",
        "Has a cat.": "2024-05-02",
        "Be brief.": "2024-05-01T10:00:00Z",
        "Owns a mill.": None,
        "I bake.": "2024-05-01T10:00:00Z",
    }
    assert found["Bakes on Fridays"].head.session_id == "c-1"
    assert [r.reason for r in report.results if r.outcome is Outcome.FAILED] == [
        "it is neither a conversation nor a memory"
    ]


def test_what_a_person_asked_for_is_taken_when_wished(corpus: Corpus, source: Path) -> None:
    fill(source, {"conversations.json": json.dumps(chatgpt()[:1])})
    report = bring(corpus, source, options=Options(asked=True, tags=("chat",)))
    claims = [document.claim for document in documents(corpus, report).values()]
    assert "Please remember that I bake on Fridays." in claims
    assert all(d.head.tags == ("chat",) for d in documents(corpus, report).values())
    assert not any("nobody wants" in data.decode() for data in files(corpus).values())


CLAUDE = {
    "memories.json": json.dumps(
        [
            {
                "conversations_memory": "**Work**\n\nAda runs a bakery.\n\n- Ships at six.",
                "project_memories": {"p-1": "The oven is new."},
                "account_uuid": "u",
            }
        ]
    ),
    "projects/p-1.json": json.dumps(
        {
            "uuid": "p-1",
            "name": "Oven",
            "prompt_template": "Answer in *metric* units.",
            "created_at": "2025-02-03T04:05:06.789+00:00",
            "docs": [
                {"filename": "manual.md", "content": "# Manual\n\nIt heats in 40 minutes."},
                {"filename": "book.txt", "content": "word " * 5000},
                {"filename": "none.txt"},
            ],
        }
    ),
    "conversations.json": json.dumps(
        [
            {
                "uuid": "c",
                "name": "x",
                "chat_messages": [
                    {
                        "sender": "human",
                        "text": "",
                        "content": [{"type": "text", "text": "Don’t forget that rye is due."}],
                    },
                    {"sender": "assistant", "text": "Remember that I am a model."},
                ],
            }
        ]
    ),
    "users.json": "[{}]",
}


def test_of_claude_memories_and_projects_are_taken(corpus: Corpus, source: Path) -> None:
    report = bring(corpus, fill(source, CLAUDE))
    assert report.detected.format is ImportFormat.CLAUDE
    found = documents(corpus, report)
    assert sorted(document.claim for document in found.values()) == [
        "Ada runs a bakery.",
        "Answer in metric units.",
        "It heats in 40 minutes.",
        "Ships at six.",
        "The oven is new.",
    ]
    assert found["The oven is new"].head.tags == ("Oven",)
    assert found["Instructions for Oven"].head.valid_from == "2025-02-03T04:05:06Z"
    assert sorted(outcomes(report).values()) == ["failed", "skipped", *["written"] * 5]
    asked = bring(corpus, source, options=Options(asked=True))
    assert [r.title for r in asked.results if r.outcome is Outcome.WRITTEN] == [
        "Don’t forget that rye is due"
    ]


# Other tools


@pytest.mark.parametrize("wrapped", [True, False])
def test_mem0_comes_one_memory_each(corpus: Corpus, source: Path, wrapped: bool) -> None:
    results = [
        {
            "id": "1",
            "memory": "Likes <b>tea</b>. Not *coffee*.",
            "user_id": "ada",
            "run_id": "r",
            "categories": ["food"],
            "created_at": "2024-07-20T01:30:36.275141-07:00",
        },
        {"id": "2", "memory": "  "},
        {"id": "3"},
        {"id": "4", "memory": "Likes <b>tea</b>. Not *coffee*."},
    ]
    relations = [{"source": "ada", "relationship": "works_at", "target": "mill"}, {"source": "x"}]
    value: Any = {"results": results, "relations": relations} if wrapped else results
    report = bring(corpus, fill(source, {"dump.json": json.dumps(value)}))
    assert report.detected.format is ImportFormat.MEM0
    expected = ["written", "skipped", "failed", "deduped"] + ["written", "failed"] * wrapped
    assert list(outcomes(report).values()) == expected
    tea = next(iter(documents(corpus, report).values()))
    assert tea.text.strip() == "Likes <b>tea</b>. Not *coffee*."
    assert tea.head.valid_from == "2024-07-20T08:30:36Z"
    assert (tea.head.tags, tea.head.entities) == (("food",), ("user:ada",))


def test_a_graph_comes_one_fact_each(corpus: Corpus, source: Path) -> None:
    graph = [
        {"type": "relation", "from": "Ada_L", "to": "Mill", "relationType": "works_at"},
        {"type": "entity", "name": "Ada_L", "entityType": "person", "observations": ["Bakes.", 3]},
        {"type": "entity", "name": "Mill", "entityType": "Org", "observations": []},
        {"type": "other"},
    ]
    lines = "\n".join(map(json.dumps, graph)) + "\n{broken\n"
    report = bring(corpus, fill(source, {"memory.jsonl": lines}) / "memory.jsonl")
    assert report.detected.format is ImportFormat.MCP_MEMORY
    assert outcomes(report) == {
        "memory.jsonl:1": "written",
        "memory.jsonl:2#0": "written",
        "memory.jsonl:2#1": "failed",
        "memory.jsonl:3": "skipped",
        "memory.jsonl:4": "failed",
        "memory.jsonl:5": "failed",
    }
    found = documents(corpus, report)
    assert found["Ada L works at Mill"].head.entities == ("person:Ada_L", "org:Mill")
    assert found["Ada L: Bakes"].head.entities == ("person:Ada_L",)


# The call


def test_what_is_nothing_we_know_is_refused_and_writes_nothing(
    corpus: Corpus, source: Path
) -> None:
    fill(source, {"a.csv": "x", "b.json": "[1]", "c.html": "<p>x"})
    with pytest.raises(InvalidFlag, match="--format"):
        bring(corpus, source)
    with pytest.raises(InvalidFlag, match="no file or folder"):
        bring(corpus, source / "missing")


def test_a_format_that_is_stated_is_not_questioned(corpus: Corpus, source: Path) -> None:
    fill(source, {"notes.md": "- One.\n- Two.\n"})
    options = Options(memory_type=MemoryType.PRECEDENT, workspace="mill")
    report = bring(corpus, source, format_=ImportFormat.AGENT_FILE, options=options)
    assert report.detected.because == "it was said so"
    assert [result.path for result in report.results] == [
        "projects/mill/one.html",
        "projects/mill/two.html",
    ]
