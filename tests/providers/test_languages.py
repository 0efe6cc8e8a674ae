from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from memhtml.format.language_names import DETECT_MAX_CHARS
from memhtml.format.render import render_memory
from memhtml.index.database import open_index
from memhtml.index.indexer import rebuild
from memhtml.model.errors import InvalidFlag, StorageFailure
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.providers import languages
from memhtml.providers.languages import (
    MODEL_SHA256,
    Settings,
    detector,
    highlighter,
    load_model,
    settings,
)
from memhtml.store.repo import Repo
from tests.index.stores import NOW, Store, tables

SRC = Path(languages.__file__).parents[2]


def test_the_shipped_model_is_the_one_the_code_names() -> None:
    data = (SRC / "memhtml" / "data" / "languages.bin").read_bytes()
    assert hashlib.sha256(data).hexdigest() == MODEL_SHA256


def test_another_model_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    load_model.cache_clear()
    monkeypatch.setattr(languages, "_packaged", lambda *_: b"memhtml language model 1\n{}\n")
    try:
        with pytest.raises(StorageFailure, match="not the one this version was built with"):
            load_model()
    finally:
        load_model.cache_clear()


def test_the_builtin_detector_proposes_and_leaves_alone() -> None:
    propose = detector()
    assert propose("fn main() {\n    let mut x = Vec::new();\n    x.push(1u8);\n}") == "rust"
    assert propose("the kiln is hot\nand the door is shut") is None


def test_the_detector_that_is_off_proposes_nothing() -> None:
    assert detector("off")("#!/bin/sh\necho hi") is None


def test_a_detector_of_another_name_is_refused() -> None:
    with pytest.raises(InvalidFlag, match="builtin, highlightjs, off"):
        detector("magic")


def test_the_environment_chooses_the_detector() -> None:
    assert settings({}) == Settings("builtin", None)
    chosen = settings({"MEMHTML_DETECTOR": "highlightjs", "MEMHTML_HIGHLIGHTJS": "/a/b.tgz"})
    assert chosen == Settings("highlightjs", Path("/a/b.tgz"))
    with pytest.raises(InvalidFlag, match="MEMHTML_DETECTOR"):
        settings({"MEMHTML_DETECTOR": "magic"})


def test_highlightjs_without_a_file_says_how_to_get_one() -> None:
    with pytest.raises(InvalidFlag) as caught:
        detector("highlightjs")
    assert "npm pack highlight.js@11.11.2" in caught.value.suggestions


def test_a_file_that_is_not_the_published_highlightjs_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages, "_engine", Unused)
    file = tmp_path / "highlight.js-11.11.2.tgz"
    file.write_bytes(b"something else")
    with pytest.raises(StorageFailure, match=r"not highlight\.js-11\.11\.2\.tgz"):
        highlighter(file)
    with pytest.raises(StorageFailure, match="cannot be read"):
        highlighter(tmp_path / "none.tgz")


class Unused:
    """An engine that must not be asked anything."""


class Scripted:
    """An engine that answers as highlight.js would."""

    def __init__(self, *ranking: object) -> None:
        self.ranking = list(ranking)
        self.asked: list[str] = []

    def eval(self, _code: str) -> object:
        return None

    def call(self, expr: str, *_args: object) -> object:
        self.asked.append(expr)
        return self.ranking

    def close(self) -> None:
        self.asked.append("close")


def test_highlightjs_is_scored_by_the_seeds_formula_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Scripted("pgsql", 9, "n1ql", 8)
    monkeypatch.setattr(languages, "_engine", lambda: engine)
    monkeypatch.setattr(languages, "_modules", lambda _: {})
    with highlighter(tmp_path / "any") as found:
        assert found.score("x\nx\nx\nx").stamp == "sql"
        asked = len(engine.asked)
        assert found.score("x" * (DETECT_MAX_CHARS + 1)).stamp is None
        assert len(engine.asked) == asked, "a text over the cap was run"
    assert engine.asked[-1] == "close"


def test_choosing_a_detector_reads_nothing_and_using_one_brings_no_heavy_module() -> None:
    program = (
        "import sys\n"
        "from memhtml.providers.languages import detector, load_model\n"
        "propose = detector()\n"
        "assert load_model.cache_info().currsize == 0\n"
        "propose('import os\\nimport sys')\n"
        "heavy = {'numpy', 'tempfile', 'logging', 'asyncio', 'turbohtml', 'tarfile', 'apsw'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SRC)},
    )
    assert done.stdout.strip() == "[]"


def test_a_rebuild_gives_the_same_rows_with_the_model_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    for name, label in (("a", "rust"), ("b", "")):
        draft = Draft(
            title=f"Kiln {name}",
            memory_type=MemoryType.SEMANTIC,
            claim=f"Kiln {name} is hot.",
            paragraphs=(f"```{label}\nfn main() {{}}\n```",),
        )
        store.put(f"areas/{name}.html", render_memory(draft, at=NOW)[0])
    store.commit()

    def rows() -> object:
        with Repo.open(str(store.root)) as repo, open_index(str(store.root)) as index:
            rebuild(index, repo, now=NOW)
            return tables(index)

    before = rows()
    load_model.cache_clear()

    def gone(*_: object) -> bytes:
        raise FileNotFoundError("the model is absent")

    monkeypatch.setattr(languages, "_packaged", gone)
    with pytest.raises(StorageFailure, match="cannot be read"):
        load_model()
    assert rows() == before
    assert "lang:rust" in repr(before)
