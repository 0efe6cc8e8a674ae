from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import memhtml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml import Corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    memhtml.init(tmp_path / "store")
    with memhtml.open(tmp_path / "store") as corpus:
        yield corpus
