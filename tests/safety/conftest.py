from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.safety.store import Store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_git_configuration(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let no test see the developer's git configuration, nor any store of theirs."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "EMAIL", "MEMHTML_ROOT"):
        monkeypatch.delenv(name, raising=False)
    for role in ("AUTHOR", "COMMITTER"):
        for part in ("NAME", "EMAIL", "DATE"):
            monkeypatch.delenv(f"GIT_{role}_{part}", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a new, empty store."""
    return Store.init(tmp_path / "store")
