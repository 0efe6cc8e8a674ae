from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.cli.command import Noun
from memhtml.cli.commands import every_command
from memhtml.corpus import Corpus
from memhtml.publish import publish_again
from tests.cli.calls import Result, call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WRITTEN = {
    "path",
    "created",
    "deduped",
    "existingPath",
    "commitSha",
    "contentHash",
    "nearDuplicates",
}
METAS = {
    "memoryType",
    "status",
    "createdAt",
    "updatedAt",
    "confidence",
    "importance",
    "contentHash",
    "author",
    "sessionId",
    "promptId",
    "turnUuid",
    "validFrom",
    "validUntil",
    "reprieves",
    "archivedAt",
    "supersededBy",
    "needsRevision",
    "taskStatus",
    "dueAt",
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    assert call("init", "--repo", str(root)).status == 0
    return root


def run(
    store: Path,
    *argv: str,
    stdin: bytes = b"",
    is_terminal: bool = False,
    env: Mapping[str, str] | None = None,
) -> Result:
    return call(
        *argv,
        cwd=store.parent,
        stdin=stdin,
        is_terminal=is_terminal,
        env={"MEMHTML_ROOT": str(store), "MEMHTML_DURABILITY": "none", **(env or {})},
    )


def write(store: Path, *argv: str, stdin: bytes = b"") -> Result:
    return run(store, "write", "--title", "Gate hours", "--type", "semantic", *argv, stdin=stdin)


def detail(store: Path, path: str) -> dict[str, Any]:
    return run(store, "read", path).data


def commits(store: Path) -> int:
    listed = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"], cwd=store, capture_output=True, check=True
    )
    return int(listed.stdout)


def test_a_memory_is_written_found_and_read_by_separate_processes(tmp_path: Path) -> None:
    env = {**os.environ, "MEMHTML_ROOT": str(tmp_path / "store")}

    def memhtml(*argv: str) -> dict[str, Any]:
        ran = subprocess.run(
            [sys.executable, "-m", "memhtml", *argv], env=env, capture_output=True, check=True
        )
        assert ran.stderr == b""
        document = json.loads(ran.stdout)
        assert isinstance(document, dict)
        return document

    made = memhtml("init")
    assert made["type"] == "repo.init"
    assert set(made["data"]) >= {"root", "created", "headSha", "wrote"}
    assert made["data"]["created"] is True
    again = memhtml("init")["data"]
    assert (again["created"], again["wrote"]) == (False, [])
    assert again["headSha"] == made["data"]["headSha"]
    claim = ("--claim", "The gate opens at 06:30.")
    wrote = memhtml("write", "--title", "Gate", "--type", "semantic", *claim)
    assert wrote["type"] == "memory.written"
    assert set(wrote["data"]) == WRITTEN
    assert wrote["data"]["created"] is True
    found = memhtml("search", "when does the gate open")
    assert found["type"] == "memory.hits"
    assert [hit["path"] for hit in found["data"]["hits"]] == [wrote["data"]["path"]]
    read = memhtml("read", wrote["data"]["path"])
    assert read["type"] == "memory.detail"
    assert read["data"]["gist"] == "The gate opens at 06:30."
    assert memhtml("status")["type"] == "status.health"
    assert memhtml("index", "status")["type"] == "index.report"


def test_the_same_words_twice_are_one_memory(store: Path) -> None:
    first = write(store, "--claim", "The gate opens at 06:30.").data
    second = write(store, "--claim", "The gate opens at 06:30.").data
    assert (second["created"], second["deduped"], second["commitSha"]) == (False, True, None)
    assert second["existingPath"] == first["path"]
    assert commits(store) == 2


def test_every_flag_of_write_ends_up_in_the_memory(store: Path) -> None:
    target = write(store, "--claim", "The panel was replaced.", "--path", "areas/inbox/panel.html")
    assert target.status == 0
    result = write(
        store,
        "--claim=The gate opens at 06:30.",
        "--body=On Sundays it stays closed.",
        "--body=```python\nprint(1)\n```",
        "--workspace=yard",
        "--tag=gate, hours",
        "--tag=yard",
        "--entity=person:Ada",
        "--alias=opening time",
        "--facet=region = eu",
        "--facet=floors=4",
        "--facet=width : 3.5 = 3.5 metres",
        "--cite=shift log",
        "--cite=it opens early <https://example.org/log>",
        "--link=caused-by=areas/inbox/panel.html",
        "--happened-at=2026-03-01 00:30+02:00",
        "--valid-from=2026-01-01",
        "--valid-until=2027-01-01T00:00:00Z",
        "--importance=7",
        "--confidence=.25",
        "--author=human:Ada",
        "--session-id=s1",
        "--prompt-id=p1",
        "--turn-uuid=t1",
    )
    assert result.status == 0, result.out
    memory = detail(store, result.data["path"])
    assert set(memory) >= {"path", "title", "metas", "entities", "tags", "links", "gist"}
    assert set(memory) >= {"body", "html", "archived", "warnings"}
    metas = memory["metas"]
    assert set(metas) == METAS
    assert metas["importance"] == 7
    assert metas["confidence"] == 0.25
    assert metas["author"] == "human:Ada"
    assert (metas["sessionId"], metas["promptId"], metas["turnUuid"]) == ("s1", "p1", "t1")
    assert metas["validFrom"] == "2026-01-01"
    assert metas["validUntil"] == "2027-01-01T00:00:00Z"
    assert memory["happenedAt"] == "2026-02-28T22:30:00Z"
    assert memory["tags"] == ["gate", "hours", "yard"]
    assert memory["entities"] == ["person:Ada"]
    assert memory["aliases"] == ["opening time"]
    assert memory["links"] == [{"rel": "memhtml-caused-by", "href": "/areas/inbox/panel.html"}]
    assert memory["facets"] == [
        {"name": "region", "value": "eu", "number": None},
        {"name": "floors", "value": "4", "number": 4.0},
        {"name": "width", "value": "3.5 metres", "number": 3.5},
    ]
    assert {"text": "shift log", "href": None} in memory["citations"]
    assert {"text": "it opens early", "href": "https://example.org/log"} in memory["citations"]
    assert '<code data-lang="python">' in memory["html"]
    assert "On Sundays it stays closed." in memory["body"]
    assert (memory["archived"], memory["violations"], memory["warnings"]) == (False, [], [])


def test_a_task_has_a_status_and_a_deadline_and_nothing_else_has(store: Path) -> None:
    base = ("write", "--title", "Latch", "--claim", "The latch sticks.")
    path = run(store, *base, "--type", "task", "--due", "2026-12-24", "--status", "doing").data[
        "path"
    ]
    metas = detail(store, path)["metas"]
    assert (metas["taskStatus"], metas["dueAt"]) == ("doing", "2026-12-24")
    for flag in (("--due", "2026-12-24"), ("--status", "todo")):
        refused = run(store, *base, "--type", "semantic", *flag)
        assert refused.status == 2
        assert refused.json["error"].startswith(flag[0] + ":")


def test_body_and_article_are_read_from_files_and_standard_input(store: Path) -> None:
    (store.parent / "notes.md").write_bytes(b"\xef\xbb\xbfFirst.\r\n\r\n```text\na\n\nb\n```\n")
    path = write(store, "--claim", "One.", "--body", "@notes.md", "--body", "-", stdin=b"Last.")
    html = detail(store, path.data["path"])["html"].strip()
    assert html.startswith("<p><mark>One.</mark> First.</p>")
    assert '<code data-lang="text">a\n\nb</code></pre></figure>' in html
    assert html.endswith("<p>Last.</p>")
    article = "<p><mark>Zwei – früh.</mark></p>"
    path = write(store, "--article-html", "-", stdin=article.encode())
    assert detail(store, path.data["path"])["html"].strip() == article


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ((), "give --claim or --article-html"),
        (("--claim", "c", "--article-html", "<p>"), "--claim: not with --article-html"),
        (("--claim", "c", "--facet", "width"), "--facet: write name=value"),
        (("--claim", "c", "--link", "likes=areas/x.html"), "--link: write rel=path"),
        (("--claim", "c", "--due", "2026-12-24"), "--due: only a task has it"),
        (("--claim", "c", "--valid-from", "tomorrow"), "--valid-from: write a date"),
        (("--claim", "c", "--happened-at", "2026-03-01T10:00:00"), "--happened-at: write a date"),
        (("--claim", "c", "--body", "@gone.md"), "--body: 'gone.md' cannot be read"),
        (("--claim", "c", "--importance", "42"), "--importance takes a whole number from 1 to 10"),
    ],
)
def test_a_flag_that_cannot_be_used_is_named_and_nothing_is_written(
    store: Path, flags: tuple[str, ...], words: str
) -> None:
    result = write(store, *flags)
    assert result.status == 2
    assert result.json["error"].startswith(words)
    assert result.json["suggestions"][-1] == "memhtml help write"
    assert commits(store) == 1


def test_bytes_that_are_not_text_are_refused(store: Path) -> None:
    result = write(store, "--claim", "c", "--body", "-", stdin=b"\xff\xfe")
    assert (result.status, result.json["error"]) == (2, "--body: '-' is not UTF-8 text")


def test_a_memory_that_breaks_the_format_is_refused_with_every_reason(store: Path) -> None:
    bad = ("--article-html", "<p>no claim</p><script>x</script>")
    result = write(store, *bad)
    assert (result.status, result.json["code"]) == (1, "ERR_INVALID_MEMORY")
    assert "the article has no mark" in result.json["error"]
    assert "script" in result.json["error"]
    shown = run(store, "write", "--title", "t", "--type", "semantic", *bad, is_terminal=True)
    assert shown.out == ""
    assert shown.err.startswith(
        "error: nothing was written, because the memory breaks the format:\n"
    )
    assert "    mark-missing: the article has no mark" in shown.err
    assert max(map(len, shown.err.splitlines())) <= 80
    assert commits(store) == 1


def test_a_path_that_is_taken_or_unusable_is_refused_and_never_another(store: Path) -> None:
    assert write(store, "--claim", "One.", "--path", "areas/inbox/x.html").status == 0
    taken = write(store, "--claim", "Two.", "--path", "areas/inbox/x.html")
    assert (taken.status, taken.json["code"]) == (1, "ERR_WRITE_CONFLICT")
    assert taken.json["suggestions"] == [
        "memhtml read areas/inbox/x.html",
        "memhtml help correct",
    ]
    unusable = write(store, "--claim", "Two.", "--path", "../x.html", "--strict-path")
    assert (unusable.status, unusable.json["code"]) == (1, "ERR_INVALID_MEMORY")
    assert commits(store) == 2


def test_a_credential_is_refused_unless_it_is_allowed(store: Path) -> None:
    claim = ("--claim", "The key is AKIAABCDEFGHIJKLMNOP today.")
    refused = write(store, *claim)
    assert (refused.status, refused.json["code"]) == (1, "ERR_SECRET")
    assert "AKIA" not in refused.out
    assert write(store, *claim, "--allow-secret").status == 0


def test_search_answers_with_snippets_whose_matches_are_offsets(store: Path) -> None:
    write(store, "--claim", "The loading bay gate opens at 06:30.", "--tag", "yard")
    data = run(store, "search", "gate opening").data
    assert set(data) >= {"hits", "degraded", "arms", "entityScope", "scopeEmpty"}
    hit = data["hits"][0]
    assert set(hit) >= {
        "path",
        "title",
        "gist",
        "memoryType",
        "confidence",
        "updatedAt",
        "score",
        "snippet",
        "entities",
        "supersededBy",
    }
    lit = [hit["snippet"][start:end] for start, end in hit["snippetMatches"]]
    assert lit == ["gate", "opens"]


def test_filters_narrow_and_an_empty_answer_says_why(store: Path) -> None:
    write(store, "--claim", "The gate opens early.", "--tag", "yard", "--facet", "region=eu")
    for flags in (["--tag", "yard"], ["--type", "semantic"], ["--facet", "region=eu"]):
        assert len(run(store, "search", "gate", *flags).data["hits"]) == 1, flags
    nothing = run(store, "search", "gate", "--tag", "other")
    assert nothing.status == 0
    assert nothing.data["scopeEmpty"] is True
    assert nothing.data["noMatch"]["reason"] == "scope-empty"
    assert run(store, "search", "zebra").data["unmatchedTerms"] == ["zebra"]
    assert run(store, "search", "gate", "--limit", "0").status == 2
    entity = run(store, "search", "gate", "--entity", "Ada")
    assert (entity.status, entity.json["code"]) == (2, "ERR_INVALID_FLAG")
    assert entity.json["suggestions"] == ["memhtml help search"]


def test_a_file_edited_by_hand_is_found_and_a_broken_one_is_named_with_its_reason(
    store: Path,
) -> None:
    path = store / write(store, "--claim", "The gate opens at 06:30.").data["path"]
    path.write_bytes(path.read_bytes().replace(b"06:30", b"dawn"))
    (store / "areas/inbox/broken.html").write_bytes(b"\xff\xfe\x00")
    assert len(run(store, "search", "dawn").data["hits"]) == 1
    health = run(store, "status").data
    assert set(health) >= {"root", "headSha", "dirty", "dirtyPaths", "countsByType"}
    assert set(health) >= {"archivedCount", "indexFresh", "indexHeadSha"}
    assert health["dirty"] is True
    assert health["countsByType"] == {"semantic": 1}
    assert [file["path"] for file in health["skipped"]] == ["areas/inbox/broken.html"]
    assert health["skipped"][0]["findings"][0]["code"] == "title-count"
    shown = run(store, "status", is_terminal=True).out
    assert "areas/inbox/broken.html:1:1: title-count" in shown
    page = run(store, "read", "areas/inbox/broken.html")
    assert page.status == 0
    assert page.data["violations"]


def test_the_index_is_rebuilt_updated_and_described(store: Path) -> None:
    write(store, "--claim", "One.")
    (store / "areas/inbox/broken.html").write_text("broken")
    rebuilt = run(store, "index", "rebuild").data
    assert (rebuilt["mode"], rebuilt["filesIndexed"]) == ("rebuild", 1)
    assert [file["path"] for file in rebuilt["skipped"]] == ["areas/inbox/broken.html"]
    updated = run(store, "index", "update").data
    assert (updated["mode"], updated["unchanged"]) == ("update", True)
    assert set(updated) >= {"added", "modified", "removed", "renamed", "dirty", "headSha"}
    status = run(store, "index", "status").data
    assert (status["mode"], status["indexFresh"], status["files"]) == ("status", True, 1)
    assert status["headSha"] == status["indexHeadSha"]
    for command in ("rebuild", "update", "status"):
        assert run(store, "index", command, is_terminal=True).status == 0


def test_a_path_may_be_spelled_as_a_shell_completes_it(store: Path) -> None:
    written = call("write", "--type=semantic", "--title=T", "--claim=C.", "--repo", str(store))
    path = written.data["path"]
    for spelling in (f"./{path}", str(store / path)):
        read = call("read", spelling, "--repo", str(store))
        assert read.status == 0, read.out
        assert read.data["path"] == path
    outside = call("read", str(store.parent / "elsewhere.html"), "--repo", str(store))
    assert outside.status == 1


def test_every_argument_that_is_a_memory_may_be_spelled_so(store: Path) -> None:
    paths = [write(store, "--claim", f"Gate {n} is open.").data["path"] for n in ("one", "two")]
    done = run(store, "reinforce", f"./{paths[0]}", str(store / paths[1]), "--signal", "positive")
    assert done.data["bumped"] == paths
    assert run(store, "route", f"./{paths[0]}", str(store / paths[1])).status == 0
    named_so = {"path", "target", "src", "dst", "start", "end", "what"}
    for command in every_command():
        if command.is_about_store:
            takes = {argument.name for argument in command.arguments if argument.name in named_so}
            marked = {a.name for a in command.arguments if a.noun is Noun.MEMORY}
            assert marked == takes, command.name


def test_a_hint_is_about_the_store_that_was_named(store: Path) -> None:
    named = call("read", "areas/none.html", "--repo", str(store)).json["suggestions"]
    assert named[0] == f"memhtml --repo {store} search none"
    unnamed = call("read", "areas/none.html", env={"MEMHTML_ROOT": str(store)}).json["suggestions"]
    assert unnamed[0] == "memhtml search none"


def test_check_without_paths_checks_the_store_that_was_named(store: Path, tmp_path: Path) -> None:
    call("write", "--type=semantic", "--title=T", "--claim=C.", "--repo", str(store))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert call("check", cwd=elsewhere).data["filesChecked"] == 0
    assert call("check", "--repo", str(store), cwd=elsewhere).data["filesChecked"] > 0


def test_a_folder_that_is_no_store_is_left_alone(tmp_path: Path) -> None:
    for argv in (["search", "x"], ["status"], ["read", "x"], ["index", "rebuild"]):
        result = call(*argv, "--repo", "plain", cwd=tmp_path)
        assert (result.status, result.json["code"]) == (1, "ERR_NOT_A_STORE"), argv
        assert result.json["suggestions"][0].startswith("memhtml init")
    assert list(tmp_path.iterdir()) == []


def test_a_default_store_can_be_forbidden_for_all_that_open_one(store: Path) -> None:
    env = {"MEMHTML_REFUSE_ENV_ROOT": "1"}
    refused = run(store, "search", "x", env=env)
    assert (refused.status, refused.json["code"]) == (2, "ERR_REPO_REQUIRED")
    assert run(store, "search", "x", "--repo", str(store), env=env).status == 0
    assert run(store, "manifest", env=env).status == 0


def test_an_unknown_durability_is_refused(store: Path) -> None:
    result = run(store, "status", env={"MEMHTML_DURABILITY": "some"})
    assert (result.status, result.json["code"]) == (2, "ERR_INVALID_FLAG")


def test_memhtml_alone_shows_a_person_the_store_and_others_the_manifest(store: Path) -> None:
    assert run(store).json["type"] == "cli.manifest"
    empty = run(store, is_terminal=True).out
    assert empty.startswith(f"{store}\n0 memories\n")
    assert "memhtml new " in empty
    write(store, "--claim", "The gate opens at 06:30.")
    write(store, "--claim", "The latch is oiled in May.")
    task = ("task", "add", "--title", "Paint the gate", "--due", "2027-01-03")
    assert run(store, *task).status == 0
    (store / "areas/inbox/broken.html").write_text("broken")
    shown = run(store, is_terminal=True).out
    assert "\n2 memories, 1 open task\n" in shown
    assert "\nLast learned\n  The latch is oiled in May." in shown
    assert "\nOpen tasks (1)\n  [todo] Paint the gate" in shown
    assert "due in 1 day\n" in shown
    assert "1 file cannot be read as memories" in shown
    assert "\nNext\n  memhtml doctor " in shown
    # The store's own place is as long as it is.
    assert max(len(line) for line in shown.splitlines() if str(store) not in line) <= 80


def test_memhtml_alone_tells_of_a_run_of_sleep_that_waits(store: Path) -> None:
    def advice() -> list[str]:
        shown = run(store, is_terminal=True).out
        return [line.strip() for line in shown.splitlines() if "memhtml sleep" in line]

    assert write(store, "--claim", "The gate is green.").status == 0
    assert advice() == []
    night = ("sleep", "run", "--phases", "confidence-decay", "--date")
    assert run(store, *night, "2028-01-01").status == 0
    assert advice() == ["memhtml sleep review sleep/2028-01-01  see what sleep did, and decide"]
    assert run(store, *night, "2028-01-02").status == 0
    subprocess.run(("git", "pack-refs", "--all"), cwd=store, check=True)
    (line,) = advice()
    assert line.startswith("memhtml sleep review sleep/2028-01-02 ")
    assert line.endswith("(and 1 more)")
    journal = store / ".git/memhtml/sleep/sleep-2028-01-02/journal.jsonl"
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]), "utf-8")
    (line,) = advice()
    assert line.startswith("memhtml sleep resume sleep/2028-01-02 ")
    assert "was interrupted" in line
    status = run(store, "sleep", "status", is_terminal=True).out
    assert "  memhtml sleep review sleep/2028-01-01\n" in status
    assert "  memhtml sleep resume sleep/2028-01-02\n" in status
    plan = run(store, "sleep", "plan", is_terminal=True).out
    assert "not merged yet: sleep/2028-01-01, sleep/2028-01-02\n" in plan
    for day in ("2028-01-02", "2028-01-01"):
        assert run(store, "sleep", "drop", f"sleep/{day}").status == 0
    assert advice() == []


def own_page(store: Path) -> None:
    (store / "index.html").write_text("<p>mine</p>")
    subprocess.run(("git", "add", "index.html"), cwd=store, check=True)
    subprocess.run(("git", "commit", "--quiet", "--message", "mine"), cwd=store, check=True)


def test_a_run_is_taken_back_though_a_page_stands_in_the_way(store: Path) -> None:
    """It was told as a failure, though the run was undone."""
    assert write(store, "--claim", "The gate is green.").status == 0
    assert run(store, "publish").status == 0
    night = ("sleep", "run", "--phases", "confidence-decay", "--date", "2028-01-01")
    assert run(store, *night).status == 0
    assert run(store, "sleep", "merge", "--skip-gate").status == 0
    own_page(store)
    undone = run(store, "sleep", "undo", "sleep/2028-01-01")
    assert (undone.status, undone.json["type"]) == (0, "sleep.undone")
    assert "warning: the pages are as they were" in undone.err


def test_a_page_of_ones_own_does_not_make_a_store_a_published_one(store: Path) -> None:
    assert write(store, "--claim", "The gate is green.").status == 0
    own_page(store)
    with Corpus.open(store) as corpus:
        before = corpus.repo.head()
        publish_again(corpus)
        assert corpus.repo.head() == before


def test_memhtml_alone_says_what_to_do_where_there_is_no_store(store: Path, tmp_path: Path) -> None:
    env = {"MEMHTML_ROOT": str(tmp_path / "none")}
    nowhere = call(is_terminal=True, env=env, cwd=tmp_path)
    assert nowhere.status == 0
    assert "is not a memhtml store: there is no such folder" in " ".join(nowhere.out.split())
    assert "\n  memhtml init " in nowhere.out
    inside = call(is_terminal=True, env=env, cwd=store / "areas")
    assert f"memhtml --repo {store}" in inside.out
    assert "memhtml init" not in inside.out
    forbidden = call(is_terminal=True, env={**env, "MEMHTML_REFUSE_ENV_ROOT": "1"}, cwd=tmp_path)
    assert (forbidden.status, "memhtml help" in forbidden.out) == (0, True)


def test_hits_are_shown_with_place_age_and_snippet(store: Path) -> None:
    write(store, "--claim", "The loading bay gate opens at 06:30.", "--path", "areas/inbox/g.html")
    lines = run(store, "search", "gate", is_terminal=True).out.splitlines()
    assert lines[0] == "1. Gate hours"
    assert lines[1].startswith("   areas/inbox/g.html · semantic · ")
    assert lines[2:] == ["   The loading bay gate opens at 06:30.", "", "1 memory"]
    nothing = run(store, "search", "zebra", is_terminal=True)
    assert nothing.status == 0
    assert nothing.out.startswith("nothing found: ")
