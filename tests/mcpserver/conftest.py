from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_git_configuration(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let no test see the developer's git configuration, nor wait for the disk."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("MEMHTML_DURABILITY", "none")
    monkeypatch.delenv("MEMHTML_MCP_TOKEN", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return an empty store."""
    Corpus.init(tmp_path / "store")
    return tmp_path / "store"
