"""The Python of the documentation runs as it stands and prints what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK_RE = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["python.md", "adapters.md"])
def test_a_page_runs_from_top_to_bottom(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK_RE.findall((DOCS / name).read_text(encoding="utf-8"))
    assert blocks
    known: dict[str, Any] = {"__name__": "__main__"}
    for number, (kind, code) in enumerate(blocks):
        if kind == "text":
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, f"{name}, block {number + 1}", "exec"), known)  # noqa: S102 - ours
        follows = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
        assert said.getvalue() == (follows[1] if follows[0] == "text" else ""), code
