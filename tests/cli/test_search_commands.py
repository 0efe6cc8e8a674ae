"""``search``, ``recall``, ``similar``, the lists and the links, as commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.cli.screen import cells
from tests.cli.calls import Result, call

if TYPE_CHECKING:
    from pathlib import Path

HITS = {
    "hits",
    "degraded",
    "degradedReason",
    "vectorCoverage",
    "arms",
    "entityScope",
    "scopeEmpty",
    "noMatch",
    "unmatchedTerms",
    "spellings",
    "archivedMatches",
    "archived",
    "nextCursor",
    "cursorStale",
    "indexedCommit",
    "skippedCount",
}
HIT = {
    "path",
    "title",
    "gist",
    "memoryType",
    "confidence",
    "updatedAt",
    "score",
    "relevance",
    "snippet",
    "snippetMatches",
    "entities",
    "arms",
    "ranks",
    "supersededBy",
    "contradicts",
    "conflictsWith",
}
GATE = "areas/inbox/gate-hours.html"
SHIFT = "areas/inbox/night-shift.html"
LATCH = "projects/yard/latch.html"
OVEN = "areas/inbox/oven.html"
TASK = "areas/inbox/tasks/paint-the-gate.html"

MEMORIES: tuple[tuple[str, ...], ...] = (
    (
        "--title=Gate hours",
        "--type=semantic",
        "--claim=The gate opens at 06:30.",
        "--tag=gate",
        "--tag=hours",
        "--entity=place:Gate",
        "--facet=minutes=90",
        "--author=Ada",
        "--happened-at=2026-03-01",
        "--valid-from=2026-02-01",
    ),
    (
        "--title=Night shift",
        "--type=episodic",
        "--claim=The night shift left the gate open until nine.",
        "--tag=gate",
        "--entity=place:Gate",
        "--entity=person:Bo",
        "--facet=minutes=120",
        "--author=Bo",
        "--happened-at=2026-05-01",
        "--valid-from=2026-05-01",
    ),
    (
        "--title=Latch",
        "--type=procedural",
        "--claim=Oil the latch of the gate in autumn.",
        "--workspace=yard",
        "--tag=repairs",
        "--valid-from=2026-06-01",
        "--happened-at=2026-06-01",
    ),
    ("--title=Oven", "--type=arc", "--claim=The oven was rebuilt twice."),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("searched") / "store"
    assert call("init", "--repo", str(root)).status == 0
    for flags in MEMORIES:
        assert run(root, "write", *flags, "--path", path_of(flags)).status == 0
    assert run(root, "task", "add", "--title", "Paint the gate", "--due", "2026-12-01").status == 0
    assert run(root, "task", "add", "--title", "Buy paint").status == 0
    blocker = "areas/inbox/tasks/buy-paint.html"
    assert run(root, "link", blocker, "blocks", TASK).status == 0
    assert run(root, "link", GATE, "leads_to", SHIFT).status == 0
    assert run(root, "link", SHIFT, "caused_by", LATCH).status == 0
    return root


def path_of(flags: tuple[str, ...]) -> str:
    title = flags[0].removeprefix("--title=")
    return next(path for path in (GATE, SHIFT, LATCH, OVEN) if title.split()[0].lower() in path)


def run(store: Path, *argv: str, **named: Any) -> Result:
    env = {"MEMHTML_ROOT": str(store), "MEMHTML_DURABILITY": "none"}
    env |= {"MEMHTML_CACHE": str(store.parent / "cache")}
    return call(*argv, cwd=store.parent, env=env, **named)


def found(store: Path, *argv: str) -> list[str]:
    result = run(store, "search", *argv)
    assert result.json["type"] == "memory.hits"
    return sorted(hit["path"] for hit in result.data["hits"])


def listed(store: Path, *argv: str) -> list[str]:
    result = run(store, "list", *argv)
    assert result.json["type"] == "memory.list"
    return [file["path"] for file in result.data["files"]]


def test_a_hit_says_how_it_came_to_be_one(store: Path) -> None:
    data = run(store, "search", "when does the gate open").data
    assert set(data) == HITS
    assert all(set(hit) == HIT for hit in data["hits"])
    first = data["hits"][0]
    assert (first["path"], first["arms"], first["ranks"]["fts"]) == (GATE, ["fts"], 1)
    assert 0.0 < first["relevance"] <= 1.0
    assert data["degraded"] is True
    assert data["degradedReason"]
    assert data["vectorCoverage"] == 0.0


def test_an_explanation_adds_up_to_the_total_and_is_shown_to_people(store: Path) -> None:
    data = run(store, "search", "gate opens", "--explain").data
    why = data["hits"][0]["explanation"]
    sum_of_arms = sum(score["share"] for score in why["arms"]) + why["neighbour"]
    assert why["total"] == pytest.approx(sum_of_arms * (1 + why["recency"] + why["salience"]))
    page = run(store, "search", "gate opens", "--explain", is_terminal=True)
    assert why["arithmetic"] in " ".join(page.out.split())
    assert "rank 1" in page.out
    assert "rank 1" not in run(store, "search", "gate opens", is_terminal=True).out


def test_nothing_found_is_an_answer_with_a_reason_and_the_nearest_spelling(store: Path) -> None:
    result = run(store, "search", "submarine ballast")
    assert result.status == 0
    assert result.data["hits"] == []
    assert set(result.data["noMatch"]) == {"reason", "message", "nearest"}
    assert result.data["noMatch"]["reason"] == "no-term-found"
    assert sorted(result.data["unmatchedTerms"]) == ["ballast", "submarine"]
    misspelt = run(store, "search", "autumm").data
    assert {"term": "autumm", "nearest": ["autumn"]} in misspelt["spellings"]
    page = run(store, "search", "autumm", is_terminal=True).out
    assert "nothing found: no memory has what was asked for" in page
    assert "instead of autumm, memories have: autumn" in page


ALL = [GATE, SHIFT, OVEN, LATCH]


@pytest.mark.parametrize(
    ("flags", "paths"),
    [
        ("", [GATE, SHIFT, LATCH]),
        ("--type episodic --type procedural", [SHIFT, LATCH]),
        ("--not-type episodic", [GATE, LATCH]),
        ("--type task", [TASK]),
        ("--workspace yard", [LATCH]),
        ("--not-workspace yard", [GATE, SHIFT]),
        ("--tag hours --tag repairs", [GATE, LATCH]),
        ("--all-tags gate --all-tags hours", [GATE]),
        ("--not-tag gate", [LATCH]),
        ("--entity place:gate", [GATE, SHIFT]),
        ("--entity place:gate --entity person:bo", [SHIFT]),
        ("--not-entity person:bo", [GATE, LATCH]),
        ("--facet minutes=90", [GATE]),
        ("--facet 'minutes>=91'", [SHIFT]),
        ("--facet 'minutes<100' --facet 'minutes>10'", [GATE]),
        ("--not-facet 'minutes>100'", [GATE, LATCH]),
        ("--author ada", [GATE]),
        ("--not-author ada", [SHIFT, LATCH]),
        ("--path-prefix projects/yard", [LATCH]),
        ("--not-path-prefix projects", [GATE, SHIFT]),
        ("--since 2026-04-01", [SHIFT, LATCH]),
        ("--until 2026-05-01", [GATE, SHIFT]),
        ("--updated-until 2020-01-01", []),
        ("--updated-since 2020-01-01", [GATE, SHIFT, LATCH]),
        ("--as-of 2026-03-01", [GATE]),
        ("--only-archived", []),
        ("--fresh head", [GATE, SHIFT, LATCH]),
    ],
)
def test_a_filter_narrows_a_search(store: Path, flags: str, paths: list[str]) -> None:
    assert found(store, "gate", "--no-neighbours", *shlex.split(flags)) == sorted(paths)


def test_arcs_are_found_by_type_too(store: Path) -> None:
    assert found(store, "oven", "--type", "arc") == [OVEN]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--type", "semantik"), "did you mean semantic?"),
        (("--not-type", "taks"), "did you mean task?"),
        (("--as-of", "yesterday"), "as-of 'yesterday' is neither a day"),
        (("--as-of", "2026-03-01T10:00"), "neither a day"),
        (("--since", "May"), "since 'May' is neither a day"),
        (("--facet", "minutes"), "not of the form name=value"),
        (("--facet", "minutes>many"), "not a number"),
        (("--entity", "Gate"), "not of the form type:name"),
        (("--path-prefix", "../etc"), "no memory can be below"),
        (("--workspace", " "), "blank"),
        (("--at", "no-such-branch"), "is no commit of this store"),
        (("--at=--all",), "is no commit of this store"),
        (("--cursor", "abc"), "not a cursor"),
        (("--limit", "501"), "from 1 to 500"),
        (("--fresh", "heads"), "did you mean head?"),
        (("--only-archived", "--as-of", "2026-03-01"), "cannot be narrowed to the archive"),
    ],
)
def test_a_filter_that_cannot_be_read_is_a_usage_error(
    store: Path, flags: tuple[str, ...], says: str
) -> None:
    result = run(store, "search", "gate", *flags)
    assert (result.status, result.json["code"]) == (2, "ERR_INVALID_FLAG")
    assert says in result.json["error"]
    assert result.json["suggestions"][-1] == "memhtml help search"


def test_every_page_of_an_answer_has_other_hits_and_the_last_has_no_cursor(store: Path) -> None:
    seen: list[str] = []
    cursor: list[str] = []
    while True:
        data = run(store, "search", "gate", "--limit", "1", *cursor).data
        seen += [hit["path"] for hit in data["hits"]]
        if data["nextCursor"] is None:
            break
        cursor = ["--cursor", data["nextCursor"]]
    assert sorted(seen) == sorted([GATE, SHIFT, LATCH])
    assert "--cursor " in run(store, "search", "gate", "--limit=1", is_terminal=True).out


def test_the_past_is_searched_as_it_was(tmp_path: Path) -> None:
    root = tmp_path / "store"
    call("init", "--repo", str(root))
    run(root, "write", "--title=Gate", "--type=semantic", "--claim=The gate opens at six.")
    then = git(root, "rev-parse", "HEAD")
    run(root, "correct", "areas/inbox/gate.html", "--claim=The gate opens at seven.")

    def gists(*flags: str) -> list[str]:
        hits = run(root, "search", "when does the gate open", *flags).data["hits"]
        return [hit["gist"] for hit in hits]

    assert gists() == ["The gate opens at seven."]
    assert gists("--at", then) == ["The gate opens at six."]
    assert gists("--at", "HEAD~1") == ["The gate opens at six."]
    assert gists("--at", "HEAD") == ["The gate opens at seven."]


def git(root: Path, *argv: str) -> str:
    ran = subprocess.run(["git", *argv], cwd=root, capture_output=True, check=True)
    return ran.stdout.decode().strip()


def test_hand_edits_are_found_unless_only_commits_are_wanted(tmp_path: Path) -> None:
    root = tmp_path / "store"
    call("init", "--repo", str(root))
    made = run(root, "write", "--title=Gate", "--type=semantic", "--claim=The gate is red.")
    file = root / made.data["path"]
    file.write_bytes(file.read_bytes().replace(b"is red", b"is vermilion"))
    assert found(root, "vermilion", "--fresh", "head") == []
    assert found(root, "vermilion") == [made.data["path"]]


def test_what_contradicts_or_is_at_odds_is_told_beside_a_hit(tmp_path: Path) -> None:
    root = tmp_path / "store"
    call("init", "--repo", str(root))
    for title, colour in (("Gate", "red"), ("The gate", "green")):
        run(root, "write", f"--title={title}", "--type=semantic", f"--claim=The gate is {colour}.")
    red, green = "areas/inbox/gate.html", "areas/inbox/the-gate.html"
    run(root, "link", green, "contradicts", red)
    hits = {hit["path"]: hit for hit in run(root, "search", "gate colour red").data["hits"]}
    assert hits[red]["contradicts"] == [green]
    assert f"contradicts {green}" in run(root, "search", "gate red", is_terminal=True).out


def test_what_came_nearest_is_shown_with_its_claim_and_a_recall_quotes_nothing_unfenced(
    store: Path,
) -> None:
    question = "who painted the gate of the zeppelin hangar blue"
    why = run(store, "search", question).data["noMatch"]
    assert why["reason"] == "not-relevant"
    assert set(why["nearest"][0]) == {"path", "gist", "relevance"}
    near = why["nearest"][0]
    page = run(store, "search", question, is_terminal=True).out
    assert f"nearest: {near['gist']}" in page
    assert near["path"] in page
    recalled = run(store, "recall", question, is_terminal=True).out
    assert f"nearest: {near['path']}" in recalled
    assert near["gist"] not in recalled


def test_an_arm_that_was_asked_for_in_vain_is_named_to_people_too(store: Path) -> None:
    for command in ("search", "recall"):
        reason = "by words alone: the index has no vectors"
        assert reason not in run(store, command, "gate", is_terminal=True).out
        page = run(store, command, "gate", "--dense-model", is_terminal=True).out
        assert reason in page
        assert "no dense vectors" in " ".join(page.split())


def test_recall_quotes_within_its_budget_and_names_what_it_cut(store: Path) -> None:
    data = run(store, "recall", "gate").data
    assert set(data) == {
        *("arcs", "memories", "unit", "spentChars", "truncated", "noMatch"),
        *("degraded", "degradedReason", "vectorCoverage", "indexedCommit", "skippedCount"),
    }
    assert set(data["memories"]) == {
        *("disclosed", "indexLines", "spentChars", "budget", "truncated"),
    }
    assert (data["memories"]["budget"], data["arcs"]["budget"]) == (16_000, 9_000)
    page = run(store, "recall", "oven", "--budget=400", is_terminal=True).out
    spent = run(store, "recall", "oven", "--budget=400").data
    assert f"{spent['memories']['spentChars']} of 400 chars quoted" in page
    assert f"of arcs, {spent['arcs']['spentChars']} of 225" in page
    quoted = {quote["path"]: quote for quote in data["memories"]["disclosed"]}
    assert set(quoted) == {GATE, SHIFT, LATCH}
    assert quoted[GATE]["body"].startswith("The gate opens at 06:30.")
    assert set(quoted[GATE]) == {
        *("path", "title", "gist", "memoryType", "body", "isCut", "relevance", "confidence"),
        *("updatedAt", "supersededBy", "contradicts", "conflictsWith"),
    }
    small = run(store, "recall", "gate", "--budget=20", "--unit=tokens").data
    assert small["unit"] == "tokens"
    assert 0 < small["spentTokens"] <= 20
    assert small["truncated"] is True
    assert small["memories"]["indexLines"]
    assert set(small["memories"]["indexLines"][0]) == {
        *("path", "title", "gist", "memoryType", "reason"),
    }
    assert run(store, "recall", "oven").data["arcs"]["disclosed"][0]["path"] == OVEN
    narrowed = run(store, "recall", "gate", "--workspace", "yard").data
    assert [quote["path"] for quote in narrowed["memories"]["disclosed"]] == [LATCH]
    assert run(store, "recall", "gate", "--budget=-1").status == 2


def test_what_is_recalled_for_people_stands_in_a_fence_with_a_word_of_its_own(store: Path) -> None:
    pages = [run(store, "recall", "gate", is_terminal=True).out for _ in "ab"]
    words = [re.findall(r"^</?memories ([0-9a-f]{16})>$", page, re.MULTILINE) for page in pages]
    assert all(len(pair) == 2 and len({*pair}) == 1 for pair in words)
    assert words[0] != words[1]
    nothing = run(store, "recall", "submarine ballast", is_terminal=True)
    assert (nothing.status, "nothing found" in nothing.out) == (0, True)


def test_similar_memories_are_found_without_the_one_itself(store: Path) -> None:
    result = run(store, "similar", GATE, "--limit", "2")
    assert result.json["type"] == "memory.similar"
    others = result.data["similar"]
    assert GATE not in [other["path"] for other in others]
    assert SHIFT in [other["path"] for other in others]
    assert set(others[0]) == {"path", "title", "gist", "memoryType", "likeness", "arm"}
    assert run(store, "similar", "areas/inbox/nobody.html").json["code"] == "ERR_PATH_NOT_FOUND"
    assert SHIFT in run(store, "similar", GATE, is_terminal=True).out


def test_a_list_comes_in_pages_by_path_with_tasks_and_filters(store: Path) -> None:
    everything = listed(store)
    assert everything == sorted(everything)
    assert {*ALL, TASK} <= {*everything}
    pages: list[str] = []
    cursor: list[str] = []
    while True:
        data = run(store, "list", "--limit", "2", *cursor).data
        pages += [file["path"] for file in data["files"]]
        if data["nextCursor"] is None:
            break
        cursor = ["--cursor", data["nextCursor"]]
    assert pages == everything
    assert listed(store, "--para", "projects") == [LATCH]
    assert listed(store, "--tag", "gate", "--not-type", "episodic") == [GATE]
    assert set(run(store, "list").data["files"][0]) == {
        *("path", "title", "memoryType", "gist", "workspace", "para", "confidence"),
        *("importance", "archived", "updatedAt"),
    }
    assert run(store, "list", "--para", "project").status == 2
    assert "more with --cursor" in run(store, "list", "--limit=1", is_terminal=True).out


def test_entities_are_counted_by_either_name_of_the_command(store: Path) -> None:
    data = run(store, "entities").data
    assert data == run(store, "entity", "activity").data
    assert {entity["entity"]: entity["fileCount"] for entity in data["entities"]} == {
        "place:Gate": 2,
        "person:Bo": 1,
    }
    assert set(data["entities"][0]) == {
        *("entity", "entityType", "entityName", "fileCount", "lastActivityAt", "lastEventAt"),
        "lastWrittenAt",
    }
    assert (data["entityCount"], data["limit"]) == (2, 50)
    only = run(store, "entities", "--type", "PERSON", "--limit", "1").data
    assert [entity["entity"] for entity in only["entities"]] == ["person:Bo"]
    assert "person:Bo" in run(store, "entities", is_terminal=True).out


def test_tags_are_counted_the_most_used_first(store: Path) -> None:
    result = run(store, "tags")
    assert result.json["type"] == "tag.list"
    assert [(tag["tag"], tag["fileCount"]) for tag in result.data["tags"]] == [
        ("gate", 2),
        ("hours", 1),
        ("repairs", 1),
    ]
    shown = run(store, "tags", is_terminal=True).out
    assert shown.startswith("tag      memories  last written\ngate            2  ")


def test_tasks_are_listed_with_what_blocks_them(store: Path) -> None:
    result = run(store, "task", "list")
    assert result.json["type"] == "task.list"
    tasks = {task["path"]: task for task in result.data["tasks"]}
    assert set(tasks[TASK]) == {
        *("path", "title", "gist", "taskStatus", "dueAt", "workspace", "archived"),
        *("updatedAt", "blockedBy"),
    }
    assert [blocker["title"] for blocker in tasks[TASK]["blockedBy"]] == ["Buy paint"]
    due = run(store, "task", "list", "--due-before", "2026-12-02").data["tasks"]
    assert [task["path"] for task in due] == [TASK]
    assert run(store, "task", "list", "--status", "doing").data["tasks"] == []
    assert run(store, "task", "list", "--due-before", "soon").json["code"] == "ERR_INVALID_FLAG"
    assert run(store, "task", "list", "--status", "open").status == 2
    assert "waits for Buy paint" in run(store, "task", "list", is_terminal=True).out


def test_links_lead_to_neighbours_and_along_a_route(store: Path) -> None:
    result = run(store, "neighbors", GATE)
    assert result.json["type"] == "memory.neighbors"
    assert set(result.data) == {
        *("center", "depth", "limit", "nodes", "edges", "nodesDropped", "scanSaturated"),
    }
    assert [node["path"] for node in result.data["nodes"]] == [SHIFT]
    assert result.data["edges"] == [{"from": GATE, "rel": "leads_to", "to": SHIFT}]
    further = run(store, "neighbors", GATE, "--depth", "2").data
    assert [(node["path"], node["hop"]) for node in further["nodes"]] == [(SHIFT, 1), (LATCH, 2)]
    assert run(store, "neighbors", GATE, "--rel", "caused_by").data["nodes"] == []
    assert run(store, "neighbors", GATE, "--rel", "causes").status == 2
    assert run(store, "neighbors", GATE, "--depth", "3").status == 2
    assert run(store, "neighbors", "areas/x.html").json["code"] == "ERR_PATH_NOT_FOUND"
    route = run(store, "route", GATE, LATCH)
    assert route.json["type"] == "memory.route"
    assert (route.data["found"], route.data["hops"]) == (True, 2)
    assert [edge["to"] for edge in route.data["edges"]] == [SHIFT, LATCH]
    assert run(store, "route", GATE, OVEN).data == {"found": False, "hops": None, "edges": []}
    assert "2 links" in run(store, "route", GATE, LATCH, is_terminal=True).out
    assert "no links join" in run(store, "route", GATE, OVEN, is_terminal=True).out
    assert SHIFT in run(store, "neighbors", GATE, is_terminal=True).out


def test_an_old_path_is_followed_to_what_holds_today(tmp_path: Path) -> None:
    root = tmp_path / "store"
    call("init", "--repo", str(root))
    run(root, "write", "--title=Gate", "--type=semantic", "--claim=The gate opens at six.")
    old = "areas/inbox/gate.html"
    new = run(root, "correct", old, "--title=Opening", "--claim=The gate opens at seven.").data
    result = run(root, "resolve", old)
    assert result.json["type"] == "memory.resolved"
    assert set(result.data) == {
        *("requested", "path", "hops", "steps", "stopReason", "title", "indexedCommit"),
    }
    assert result.data["path"] == new["path"]
    assert result.data["stopReason"] == "live"
    assert [step["via"] for step in result.data["steps"]] == ["archive_move", "supersedes"]
    nowhere = run(root, "resolve", "areas/inbox/never.html")
    assert (nowhere.status, nowhere.data["stopReason"]) == (0, "unindexed")
    assert "it is what holds today" in run(root, "resolve", old, is_terminal=True).out


def test_pages_for_people_fit_eighty_columns(store: Path) -> None:
    long = "word " * 60
    run(store, "write", f"--title={long}", "--type=arc", f"--claim={long}.", "--path=areas/a.html")
    for line in (
        f"search {long} --explain --type arc",
        "search submarine --explain",
        "recall word",
        "list",
        "entities",
        "tags",
        "task list",
        f"neighbors {GATE}",
        f"similar {GATE}",
        "index status",
    ):
        page = run(store, *line.split(maxsplit=1)[:1], *words(line), is_terminal=True, columns=80)
        assert page.status == 0, page.err
        wide = [text for text in page.out.splitlines() if cells(text) > 80]
        assert not wide, line


def words(line: str) -> list[str]:
    first, _, rest = line.partition(" ")
    if first == "search" and " --explain" in rest:
        query, _, flags = rest.partition(" --explain")
        return [query, "--explain", *flags.split()]
    return rest.split()


def test_a_search_loads_nothing_that_it_does_not_need(store: Path) -> None:
    probe = (
        "import os, sys\n"
        "sys.argv = ['memhtml', 'search', 'gate', '--fresh', 'head', '--tag', 'gate']\n"
        "os._exit = lambda _: print(*sys.modules, file=sys.stderr)\n"
        "import memhtml.__main__ as m; m.run()"
    )
    run(store, "index", "update")
    env = {**os.environ, "MEMHTML_ROOT": str(store)}
    ran = subprocess.run([sys.executable, "-c", probe], env=env, capture_output=True, check=True)
    loaded = {*ran.stderr.decode().split()}
    assert "memhtml.search.search" in loaded
    heavy = {
        "dataclasses",
        "pathlib",
        "rich",
        "numpy",
        "turbohtml",
        "argparse",
        "importlib.metadata",
    }
    ours = {"cli.views.hits", "cli.encoders", "search.recall", "providers.models", "index.usage"}
    assert not (heavy | {f"memhtml.{name}" for name in ours}) & loaded
