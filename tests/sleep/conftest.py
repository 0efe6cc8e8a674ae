from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memhtml.index.database import Index, open_index
from memhtml.store.repo import Repo
from tests.index.stores import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def repo(store: Store) -> Iterator[Repo]:
    with Repo.open(str(store.root)) as repo:
        yield repo


@pytest.fixture
def index(store: Store) -> Iterator[Index]:
    with open_index(str(store.root)) as index:
        yield index
