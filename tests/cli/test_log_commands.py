"""``log`` and ``diff``, which the other tool lacks (cli.md §7.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import call

if TYPE_CHECKING:
    from pathlib import Path

GATE = "areas/inbox/gate-hours.html"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    repo = ("--repo", str(root))
    assert call("init", *repo).status == 0
    stated = ("write", "--type=semantic", "--title=Gate hours", "--claim=It opens at 06:30.")
    assert call(*stated, "--session-id=s-1", *repo).status == 0
    fixed = call("correct", GATE, "--claim=It opens at 07:00.", "--reason=new rota", *repo)
    assert fixed.status == 0
    return root


def test_a_log_says_in_plain_words_what_happened(store: Path) -> None:
    data = call("log", "--limit", "1", "--repo", str(store)).data
    (entry,) = data["entries"]
    assert data["more"] is True
    assert entry["operation"] == "correct"
    (only,) = entry["happenings"]
    assert only["sentence"] == (
        "Corrected: It opens at 07:00. Before: It opens at 06:30. Reason: new rota."
    )
    assert only["at"] == entry["at"]
    shown = call("log", "--session", "s-1", "--repo", str(store), is_terminal=True).out
    assert "\n  Learned: It opens at 06:30.\n" in shown
    assert "Corrected" not in shown


def test_a_diff_is_text_json_or_a_page(store: Path, tmp_path: Path) -> None:
    repo = ("--repo", str(store))
    data = call("diff", "--since", "HEAD~1", *repo).data
    assert data["counts"] == {"corrected": 1}
    assert data["happenings"][0]["before"] == "It opens at 06:30."
    page = tmp_path / "page.html"
    shown = call("diff", "--since", "2020-01-01", "--html", str(page), *repo, is_terminal=True)
    assert "Learned (1)\n  • It opens at 07:00." in shown.out
    assert shown.out.startswith("since the beginning")
    assert "It opens at 07:00." in page.read_text("utf-8")
    assert call("diff", "--since", "1h", "--html", "page.html", *repo, cwd=tmp_path).status == 0
    mine = tmp_path / "mine.html"
    mine.write_text("my own")
    refused = call("diff", "--since", "1h", "--html", "mine.html", *repo, cwd=tmp_path)
    assert (refused.status, refused.json["code"]) == (2, "ERR_INVALID_FLAG")
    assert mine.read_text() == "my own"


def test_a_moment_that_is_none_is_refused_with_what_is_one(store: Path) -> None:
    refused = call("diff", "--since", "soon", "--repo", str(store))
    assert (refused.status, refused.json["code"]) == (2, "ERR_INVALID_FLAG")
    assert "yesterday" in refused.json["error"]
