from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhtml.transfer import jsonlists
from memhtml.transfer.jsonlists import elements, lines
from memhtml.transfer.source import Source

if TYPE_CHECKING:
    from pathlib import Path

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a"\\[]{},:é\n', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('"\\a'), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100)
@given(st.lists(_values, max_size=6), st.sampled_from([1, 2, 3, 7]), st.sampled_from([None, 1]))
def test_a_list_is_split_as_json_reads_it_wherever_the_chunks_end(
    tmp_path_factory: pytest.TempPathFactory, values: list[object], chunk: int, indent: int | None
) -> None:
    folder = tmp_path_factory.mktemp("list")
    (folder / "x.json").write_text(json.dumps(values, indent=indent), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, Source.open(str(folder)) as source:
        patch.setattr(jsonlists, "_CHUNK", chunk)
        found = list(elements(source, "x.json"))
    assert [element.value for element in found] == values
    assert [element.number for element in found] == list(range(len(values)))


def test_an_element_that_is_no_json_or_too_large_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonlists, "MAX_ELEMENT_BYTES", 40)
    monkeypatch.setattr(jsonlists, "_CHUNK", 16)
    long = json.dumps("x\\" * 100)
    (tmp_path / "x.json").write_text(f"[1, {{'a': 2}}, {long}, 4]", encoding="utf-8")
    (tmp_path / "x.jsonl").write_text(f"1\n{{'a'\n\n{long}\n4", encoding="utf-8")
    with Source.open(str(tmp_path)) as source:
        for found in (list(elements(source, "x.json")), list(lines(source, "x.jsonl"))):
            assert [element.value for element in found] == [1, None, None, 4]
            assert "not JSON" in str(found[1].error)
            assert "more than 40 bytes" in str(found[2].error)


@pytest.mark.parametrize("text", ["[1, 2", '[1, "2', "[1, {"])
def test_a_list_that_ends_early_gives_what_it_has(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with Source.open(str(tmp_path)) as source:
        first, *_ = list(elements(source, "x.json"))
    assert (first.value, first.error) == (1, None)


def test_an_archive_that_is_damaged_ends_with_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.json", json.dumps(["a" * 50, "b"]))
    path.write_bytes(path.read_bytes().replace(b"aaaa", b"aaab", 1))
    with Source.open(str(path)) as source:
        *_, last = elements(source, "x.json")
    assert last.error is not None


def test_nothing_outside_of_a_source_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("../../evil.md", "x")
        archive.writestr("__MACOSX/._a.md", "x")
        archive.writestr("good/a.md", "x")
    with Source.open(str(tmp_path / "x.zip")) as source:
        assert source.names == ("good/a.md",)
