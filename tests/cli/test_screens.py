"""The pictures of the README: all there, made by the script, and fetching nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a thing of POSIX", allow_module_level=True)

ROOT = Path(__file__).parents[2]
SCREENS = ROOT / "docs" / "screens"


def test_every_picture_is_shown_somewhere_and_every_shown_one_is_there() -> None:
    shown = {
        name
        for page in (ROOT / "README.md", ROOT / "docs" / "terminal.md")
        for name in re.findall(r"!\[[^\]]+\]\((?:docs/)?screens/([^)]+)\)", page.read_text("utf-8"))
    }
    assert shown == {path.name for path in SCREENS.iterdir()}


def test_the_script_makes_every_picture_from_what_commands_show(tmp_path: Path) -> None:
    script = ROOT / "tools" / "screenshots.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True)
    made = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert made.keys() == {path.name for path in SCREENS.iterdir()}
    for name, svg in made.items():
        assert svg.startswith("<svg "), name
        assert "@font-face" not in svg
        assert "Traceback" not in svg
        assert "error:" not in svg
    words = re.sub(r"<[^>]+>", "", made["search.svg"]).replace("&#160;", " ")
    assert "The checkout service " in words
    assert "retries" in words
