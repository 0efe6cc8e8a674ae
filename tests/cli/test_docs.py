from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from memhtml.cli.guide import reference

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_what_the_command_table_says() -> None:
    told = "run: .venv/bin/python -m memhtml.cli.guide > docs/cli.md"
    assert (DOCS / "cli.md").read_text("utf-8") == reference(), told


def test_the_module_prints_the_reference() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "memhtml.cli.guide"], capture_output=True, check=True
    )
    assert ran.stdout.decode().replace("\r\n", "\n") == reference()
