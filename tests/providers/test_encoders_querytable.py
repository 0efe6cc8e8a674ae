"""The query table: a hash table in a file, read by a process that has next to nothing loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.model.errors import ModelUnavailable
from memhtml.providers.encoders.load import query_table
from memhtml.providers.encoders.querytable import Expansion, QueryTable, table_bytes

if TYPE_CHECKING:
    from pathlib import Path

ENTRIES = [
    Expansion("deploy", (7, 9), b"\x64\x14"),
    Expansion("un", (1,), b"\x05"),
    Expansion("##do", (7, 2), b"\xc8\x03"),
    Expansion("what", (5,), b"\x09"),
    Expansion("s", (4,), b"\x08"),
]


@pytest.fixture
def table(tmp_path: Path) -> QueryTable:
    path = tmp_path / "queries.bin"
    path.write_bytes(table_bytes("tiny@0123456789ab", ENTRIES))
    return QueryTable(path)


_pieces = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@given(
    st.dictionaries(
        _pieces, st.lists(st.tuples(st.integers(0, 65535), st.integers(1, 255)), max_size=8)
    ),
    st.lists(_pieces),
)
def test_every_piece_is_found_and_no_other(
    tmp_path_factory: pytest.TempPathFactory,
    entries: dict[str, list[tuple[int, int]]],
    others: list[str],
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(
        table_bytes(
            "space",
            [
                Expansion(piece, tuple(t for t, _ in pairs), bytes(w for _, w in pairs))
                for piece, pairs in entries.items()
            ],
        )
    )
    table = QueryTable(path)
    for piece, pairs in entries.items():
        found = table.find(piece)
        assert found is not None
        assert list(zip(found[0], found[1], strict=True)) == pairs
    assert all(table.find(piece) is None for piece in others if piece not in entries)


def test_the_heaviest_weight_of_a_term_counts(table: QueryTable) -> None:
    assert table.query("deploy") == {7: 100, 9: 20}
    assert table.query("undo deploy") == {1: 5, 7: 200, 2: 3, 9: 20}


def test_stop_words_marks_and_unknown_words_ask_nothing(table: QueryTable) -> None:
    assert table.query("What's the deploy?!") == table.query("deploy")
    assert table.query("zebra 京") == {}
    assert table.query("") == {}


def test_a_question_of_stop_words_alone_still_asks(table: QueryTable) -> None:
    assert table.query("what") == {5: 9}


def test_the_space_is_named_in_the_file(table: QueryTable) -> None:
    assert table.space_id == "tiny@0123456789ab"


@pytest.mark.parametrize("length", [0, 5, 12, 16, 40, -1])
def test_a_file_cut_short_is_refused(tmp_path: Path, length: int) -> None:
    folder = tmp_path / "models" / "tiny"
    folder.mkdir(parents=True)
    (folder / "queries.bin").write_bytes(table_bytes("space", ENTRIES)[:length])
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        query_table("tiny", tmp_path)


def test_asking_loads_neither_numpy_nor_what_a_cold_search_cannot_afford(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "tiny"
    folder.mkdir(parents=True)
    (folder / "queries.bin").write_bytes(table_bytes("space", ENTRIES))
    script = (
        "import json, sys\n"
        "from memhtml.providers.encoders.load import query_table\n"
        "asked = query_table('tiny', sys.argv[1]).query('deploy')\n"
        "print(json.dumps([asked, sorted(sys.modules)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], check=True, capture_output=True
    )
    asked, loaded = json.loads(done.stdout)
    assert asked == {"7": 100, "9": 20}
    heavy = {"numpy", "logging", "asyncio", "importlib.metadata", "pathlib", "dataclasses"}
    assert not heavy.intersection(loaded)
