from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memhtml.cli.commands.transfer import IMPORT_FORMATS
from memhtml.transfer.importing import READERS
from memhtml.transfer.item import ImportFormat
from tests.cli.calls import Result, call
from tests.transfer.stores import fill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    assert call("init", "--repo", str(root)).status == 0
    fill(tmp_path / "notes", {"a.md": "One fact.\n\n***", "b.md": "", "c.md": "One fact."})
    (tmp_path / "notes" / "d.md").write_bytes(b"\xff")
    return root


def run(store: Path, *argv: str, is_terminal: bool = False) -> Result:
    return call(*argv, "--repo", str(store), cwd=store.parent, is_terminal=is_terminal)


def test_the_formats_of_the_command_are_those_that_are_read() -> None:
    assert tuple(IMPORT_FORMATS) == tuple(ImportFormat) == tuple(READERS)


def test_an_import_accounts_for_everything_and_a_dry_run_writes_nothing(store: Path) -> None:
    told = run(store, "import", "notes", "--dry-run")
    done = run(store, "import", "notes")
    for result, is_dry in ((told, True), (done, False)):
        assert (result.status, result.json["type"]) == (1, "import.report")
        assert result.data["dryRun"] is is_dry
        assert result.data["counts"] == {
            "found": 4,
            "written": 1,
            "deduped": 1,
            "skipped": 1,
            "failed": 1,
        }
        assert (result.data["commitSha"] is None) is is_dry
    assert done.data["format"] == "markdown"
    assert done.data["because"] == "it has 4 Markdown files"
    first, *_, last = done.data["items"]
    assert first["path"] == "areas/inbox/a.html"
    assert first["notes"][0]["line"] == 3
    assert (last["origin"], last["code"]) == ("d.md", "ERR_STORAGE")


def test_a_person_reads_what_was_detected_and_the_counts(store: Path) -> None:
    text = run(store, "import", "notes", "--dry-run", is_terminal=True).out
    assert "markdown: it has 4 Markdown files" in text
    assert "would write areas/inbox/a.html: a" in text
    assert "4 items found: 1 written, 1 deduped, 1 skipped, 1 failed" in text
    assert "nothing was written: this was a dry run" in text


def test_an_export_is_told_and_comes_back(store: Path) -> None:
    run(store, "import", "notes")
    done = run(store, "export", "--format", "jsonl", "--out", "all.jsonl")
    assert (done.status, done.json["type"]) == (0, "export.report")
    out = store.parent / "all.jsonl"
    assert done.data["bytes"] == out.stat().st_size
    assert done.data["memories"] == 1 == len(out.read_text("utf-8").splitlines()) - 2
    other = store.parent / "other"
    call("init", "--repo", str(other))
    back = run(other, "import", "all.jsonl")
    assert (back.status, back.data["counts"]["written"]) == (0, 1)
    text = run(store, "export", "--format", "html", "--out", "a.html", is_terminal=True).out
    assert text.startswith("1 memory, ")


def test_what_cannot_be_read_or_written_is_a_wrong_call(store: Path) -> None:
    missing = run(store, "import", "nowhere")
    assert (missing.status, missing.json["code"]) == (2, "ERR_INVALID_FLAG")
    (store.parent / "x.json").write_text(json.dumps({"a": 1}), encoding="utf-8")
    unknown = run(store, "import", "x.json")
    assert (unknown.status, unknown.json["suggestions"]) == (2, ["memhtml help import"])
    taken = run(store, "export", "--format", "jsonl", "--out", "x.json")
    assert (taken.status, taken.json["code"]) == (2, "ERR_INVALID_FLAG")
