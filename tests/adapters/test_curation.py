"""A night of curation leaves alone what frameworks keep, however old and alike it is."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import memhtml
from memhtml.adapters.shelf import Key, Note, Shelf

if TYPE_CHECKING:
    from pathlib import Path

KEYS = [Key((user,), "drink") for user in ("ada", "Ada", "bob")]


def test_texts_of_years_ago_that_say_the_same_are_all_there_after_a_night(tmp_path: Path) -> None:
    root = tmp_path / "store"
    memhtml.init(root)
    with memhtml.open(root, clock=lambda: datetime(2020, 1, 1, tzinfo=UTC)) as corpus:
        notes = [Note(key, "The user likes tea.", title="drink") for key in KEYS]
        Shelf(corpus, "areas/shelf").change(notes)
    for words in (("run",), ("merge",)):
        done = subprocess.run(
            [sys.executable, "-m", "memhtml", "sleep", *words, "--repo", str(root)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
    with memhtml.open(root) as corpus:
        shelf = Shelf(corpus, "areas/shelf")
        assert {entry.key for entry in shelf.entries()} == set(KEYS)
        # It was a night: what nobody used for years is trusted less, some of it.
        assert any((memory.document.head.confidence or 1) < 1 for memory in corpus)
        shelf.change([Note(KEYS[0], "The user likes coffee.", title="drink")])
        found = shelf.find(KEYS[0])
        assert found is not None
        assert (found.text, found.created_at[:4]) == ("The user likes coffee.", "2020")
