"""Every command's real answers, held against the schemas that are published for them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from memhtml.cli.commands import MODULES, every_command
from memhtml.cli.envelope import ERROR_CODES, RESPONSE_TYPES
from memhtml.cli.schemas import DATA, ERROR, all_schemas
from tests.cli.calls import Result, call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GATE = "resources/gate/gate-hours.html"
SHIFT = "areas/inbox/night-shift.html"
LATCH = "projects/yard/latch.html"
TASK = "areas/inbox/tasks/paint-the-gate.html"

SAY = ("--type", "semantic", "--claim")

CALLS: tuple[tuple[str, ...], ...] = (
    ("init",),
    ("init",),
    (
        *("write", "--title", "Gate hours", *SAY, "The gate opens at 06:30."),
        *("--tag", "gate", "--entity", "place:Gate", "--facet", "minutes:12=12 minutes"),
        *("--cite", "the timetable", "--happened-at", "2026-01-05", "--session-id", "s-1"),
    ),
    ("write", "--title", "Gate hours", *SAY, "The gate opens at 06:30.", "--tag", "gate"),
    (
        *("write", "--title", "Night shift", "--type", "semantic", "--markdown"),
        *("--body", "The guard opens the gate. ![photo](gate.png)\n\n```\nx = 1\n```"),
    ),
    ("write", "--title", "Latch", *SAY, "The latch is oiled in May.", "--workspace", "yard"),
    ("write", "--title", "Old latch", *SAY, "The old latch is oiled in May."),
    ("apply",),
    ("apply", "--continue-on-error", "--detect-conflicts"),
    ("read", GATE),
    ("edit", GATE),
    ("open", GATE, "--no-browser"),
    ("search", "gate", "--explain"),
    ("search", "gate", "--entity", "place:Gate", "--limit", "1"),
    ("search", "submarine grean"),
    ("search", "latch", "--tag", "nothing"),
    ("recall", "gate", "--budget", "40"),
    ("recall", "gate", "--unit", "tokens"),
    ("recall", "submarine"),
    ("similar", GATE),
    ("link", SHIFT, "supports", GATE),
    ("link", SHIFT, "supports", GATE),
    ("neighbors", GATE),
    ("route", GATE, SHIFT),
    ("route", GATE, LATCH),
    ("unlink", SHIFT, "supports", GATE),
    ("resolve", GATE),
    ("resolve", "areas/inbox/nowhere.html"),
    ("list", "--limit", "1"),
    ("entities",),
    ("entity", "activity"),
    ("tags",),
    ("task", "add", "--title", "Paint the gate", "--due", "2026-12-01"),
    ("task", "add", "--title", "Buy paint"),
    ("link", "areas/inbox/tasks/buy-paint.html", "blocks", TASK),
    ("task", "list"),
    ("task", "status", TASK, "doing"),
    ("task", "status", TASK, "done", "--reason", "it is green"),
    ("task", "reopen", f"archive/2026/{TASK}"),
    ("reinforce", GATE, "--signal", "positive"),
    ("reinforce", GATE),
    ("correct", GATE, "--claim", "The gate opens at 07:00.", "--reason", "new timetable"),
    ("history", GATE),
    ("blame", GATE),
    ("archive", LATCH, "--reason", "no latch any more"),
    ("resolve", LATCH),
    ("unarchive", f"archive/2026/{LATCH}"),
    ("archive", "--tag", "gate", "--reason", "over"),
    ("archive", "--tag", "gate", "--reason", "over", "--yes"),
    ("log",),
    ("diff", "--since", "2026-01-01"),
    ("search", "07:00 timetable", "--tag", "gate"),
    ("check",),
    ("check", "bad", "--diff"),
    ("check", "nowhere"),
    ("check", "--list-codes"),
    ("detect", "code.py"),
    ("detect", "empty.txt"),
    ("status",),
    ("index", "rebuild"),
    ("index", "rebuild", "--no-embed"),
    ("index", "update"),
    ("index", "embed", "--dry-run"),
    ("index", "status"),
    ("model", "list"),
    ("model", "add", "minilm"),
    ("model", "remove", "minilm"),
    ("state", "export"),
    ("state", "export"),
    ("state", "import"),
    ("doctor",),
    ("doctor", "--fix", "--dry-run"),
    ("doctor", "--fix"),
    ("eval", "--mode", "live"),
    ("eval", "--size", "24", "--probes", "2"),
    ("eval", "answers"),
    ("publish",),
    ("publish",),
    ("import", "notes", "--dry-run"),
    ("import", "notes"),
    ("export", "--format", "jsonl", "--out", "out.jsonl", "--force"),
    ("export", "--format", "md", "--out", "out", "--force"),
    ("sync",),
    ("sleep", "plan"),
    ("sleep", "run", "--dry-run", "--date", "2028-01-01"),
    ("sleep", "run", "--date", "2028-01-01"),
    ("sleep", "run", "--date", "2028-01-02", "--phases", "confidence-decay"),
    ("sleep", "status"),
    ("sleep", "review", "sleep/2028-01-01", "--html", "review.html"),
    ("sleep", "merge", "sleep/2028-01-01"),
    ("sleep", "merge", "sleep/2028-01-01", "--skip-gate"),
    ("sleep", "review", "sleep/2028-01-01"),
    ("sleep", "undo", "sleep/2028-01-01"),
    ("sleep", "drop", "sleep/2028-01-02"),
    ("trace", "index", "--root", "."),
    ("trace", "search", "gate"),
    ("trace", "links", GATE),
    ("merge-driver", "base.html", "ours.html", "theirs.html", "areas/x.html"),
    ("manifest",),
    ("manifest", "--brief"),
    ("manifest", "--schemas"),
    ("manifest", "--schemas", "memory.hits", ERROR),
    ("help",),
    ("help", "search"),
    ("help", "task", "add"),
    ("completion", "bash"),
    ("complete", "tag"),
    ("--version",),
)
"""Every command, in an order in which each finds what it needs."""

STDIN = b"""\
{"op": "write", "title": "Fence", "type": "semantic", "body": "The fence is red."}
{"op": "archive", "path": "areas/inbox/nowhere.html", "reason": "gone"}
{"op": "write", "title": "Hours of the gate", "type": "semantic", "body": "The gate opens at 6."}
not json
"""

_ONCE = {"correct", "archive", "unarchive", "task"}
_ONCE_EACH = {("sleep", "run"), ("sleep", "undo"), ("sleep", "drop")}

_TESTED_BELOW = {"model.added", "model.verified", "serve.exit"}
"""Types that have a test of their own below."""


@pytest.fixture(scope="module")
def schemas() -> dict[str, Draft202012Validator]:
    return {name: Draft202012Validator(schema) for name, schema in all_schemas().items()}


@pytest.fixture(scope="module")
def strict() -> dict[str, Draft202012Validator]:
    """Return the schemas of data in which every member is required, also those that are null."""
    return {name: Draft202012Validator(schema) for name, schema in DATA.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("schemas")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
        (home / "bad").mkdir()
        (home / "bad" / "no-head.html").write_text("<p>The gate is <mark>green</mark>.</p>")
        (home / "bad" / "hash.html").write_text(
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            "<title>Gate</title>\n"
            '<meta name="memhtml:type" content="semantic">\n'
            '<meta name="memhtml:content-hash" content="sha256:0">\n</head>\n<body>\n<article>\n'
            "<p><mark>The gate is green.</mark></p>\n</article>\n</body>\n</html>"
        )
        (home / "code.py").write_text("import os\n\ndef main() -> None:\n    print(os.name)\n")
        (home / "empty.txt").write_text("")
        (home / "notes").mkdir()
        (home / "notes" / "Oven.md").write_text("# Oven\n\nThe oven is [[Gate]] hot. ![x](y.png)\n")
        (home / "notes" / "Blank.md").write_text("")
        for side in ("base", "ours", "theirs"):
            (home / f"{side}.html").write_text(f"<p>{side}</p>\n")
        yield home


def run(folder: Path, *argv: str, **named: Any) -> Result:
    env = {
        "MEMHTML_ROOT": str(folder / "store"),
        "MEMHTML_DURABILITY": "none",
        "EDITOR": "true",
        "MEMHTML_CACHE": str(folder / "cache"),
    }
    return call(*argv, cwd=folder, env=env, stdin=STDIN, **named)


def test_every_type_has_a_schema_and_every_schema_is_one() -> None:
    missing = sorted(RESPONSE_TYPES.keys() - DATA.keys())
    assert not missing, f"declare in memhtml.cli.schemas what these answer: {missing}"
    assert not DATA.keys() - RESPONSE_TYPES.keys()
    assert {name for command in every_command() for name in command.response_types} <= DATA.keys()
    for name, schema in all_schemas().items():
        Draft202012Validator.check_schema(schema)
        assert schema["title"] == name
        assert_told(schema, name)


def assert_told(schema: Any, where: str) -> None:
    """Every member is described, and every object says which members it may have."""
    if schema.get("type") == "object":
        assert "additionalProperties" in schema or where.endswith(".schemas{}"), where
        assert set(schema.get("required", ())) <= schema.get("properties", {}).keys()
    for name, member in schema.get("properties", {}).items():
        assert member.get("description"), f"{where}.{name}"
        assert_told(member, f"{where}.{name}")
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        assert_told(branch, where)
    for word, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(schema.get(word), dict):
            assert_told(schema[word], where + mark)


def test_what_every_command_answers_is_what_its_schema_says(
    folder: Path,
    schemas: dict[str, Draft202012Validator],
    strict: dict[str, Draft202012Validator],
) -> None:
    seen: set[str] = set()
    faults: list[str] = []
    for argv in CALLS:
        for form in ("--json", "--dense"):
            if form == "--dense" and (argv[0] in _ONCE or argv[:2] in _ONCE_EACH):
                continue  # a second time they would be refused
            result = run(folder, *argv, form)
            document = json.loads(result.out)
            assert "type" in document, (argv, document)
            name = document["type"]
            seen.add(name)
            faults += wrong(schemas[name], document, argv)
            if form == "--json":
                faults += wrong(strict[name], document["data"], argv)
    assert not faults, "\n".join(faults)
    called = {" ".join(argv[:n]) for argv in CALLS for n in (1, 2)}
    untried = sorted(
        (MODULES.keys() - called - {"serve mcp", "model verify", "new", "sleep resume"})
        | (DATA.keys() - seen - _TESTED_BELOW)
    )
    assert not untried, f"add calls to CALLS that have these: {untried}"


def test_what_a_resumed_run_answers_is_what_its_schema_says(
    folder: Path, schemas: dict[str, Draft202012Validator]
) -> None:
    run(folder, "init")
    run(folder, "write", "--title", "Fence", *SAY, "The fence is green.")
    run(folder, "sleep", "run", "--date", "2029-01-01")
    journal = folder / "store/.git/memhtml/sleep/sleep-2029-01-01/journal.jsonl"
    # As a killed process leaves it.
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:4]) + lines[4][:9], encoding="utf-8")
    document = json.loads(run(folder, "sleep", "resume", "sleep/2029-01-01").out)
    assert document["type"] == "sleep.report"
    assert not wrong(schemas["sleep.report"], document, ("sleep", "resume"))


def wrong(validator: Draft202012Validator, document: Any, argv: tuple[str, ...]) -> list[str]:
    return [
        f"{' '.join(argv)[:60]}: {error.json_path}: {error.message[:200]}"
        for error in validator.iter_errors(document)
    ]


def test_what_every_command_refuses_is_what_the_schema_of_a_failure_says(
    folder: Path, schemas: dict[str, Draft202012Validator]
) -> None:
    codes = set()
    for name in MODULES:
        for more in (("--no-such-flag",), ("one", "two", "three", "four", "five")):
            argv = (*name.split(), *more)
            document = json.loads(run(folder, *argv, "--json").out)
            if "error" in document:
                codes.add(document["code"])
                assert not wrong(schemas[ERROR], document, argv)
            else:  # an argument may be repeated
                assert name in {"check", "reinforce"}
    nowhere = str(folder / "notes")
    for argv in (("status",), ("read", GATE), ("search", "gate"), ("doctor",), ("sync",)):
        document = json.loads(run(folder, *argv, "--repo", nowhere, "--json").out)
        assert document["code"] == "ERR_NOT_A_STORE"
        assert not wrong(schemas[ERROR], document, argv)
    assert codes <= ERROR_CODES.keys()
    assert {"ERR_INVALID_FLAG", "ERR_UNEXPECTED_ARGUMENT"} <= codes


def test_an_added_model_and_a_served_store_answer_as_their_schemas_say(
    folder: Path, schemas: dict[str, Draft202012Validator], splade_cache: Path
) -> None:
    env = {"MEMHTML_CACHE": str(splade_cache)}
    added = call("model", "add", "splade-tiny", "--yes", cwd=folder, env=env).json
    assert added["type"] == "model.added"
    assert not wrong(schemas["model.added"], added, ())
    verified = call("model", "verify", "splade-tiny", cwd=folder, env=env).json
    assert not wrong(schemas["model.verified"], verified, ())
    served = subprocess.run(
        [sys.executable, "-m", "memhtml", "serve", "mcp", "--repo", str(folder), "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert not wrong(schemas["serve.exit"], json.loads(served.stdout), ())


def test_lines_of_an_export_are_json_documents_of_three_types(folder: Path) -> None:
    run(folder, "init")
    run(folder, "export", "--format", "jsonl", "--out", "lines.jsonl", "--force")
    lines = [json.loads(line) for line in (folder / "lines.jsonl").read_text().splitlines()]
    assert [line["type"] for line in lines[:1] + lines[-1:]] == ["export", "end"]
    assert {line["type"] for line in lines[1:-1]} <= {"memory"}


def test_one_schema_is_printed_as_it_is_and_an_unknown_type_is_named(folder: Path) -> None:
    shown = run(folder, "manifest", "--schemas", "memory.hits", "--text")
    assert json.loads(shown.out) == all_schemas(["memory.hits"])["memory.hits"]
    refused = run(folder, "manifest", "--schemas", "memory.hit").json
    assert refused["suggestions"][0] == "memhtml manifest --schemas memory.hits"
    assert run(folder, "manifest", "memory.hits").status == 2
