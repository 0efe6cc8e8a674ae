from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.imports import parsed

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.split("\n")
    if line.startswith("| ") and not line.startswith(("| Statement", "| ---"))
]
TESTS = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_every_test_named_for_a_statement_exists() -> None:
    missing = [f"{file}::{name}" for file, name in TESTS if name not in names_in(file)]
    assert missing == []


def test_every_statement_has_a_test_or_says_what_it_waits_for() -> None:
    bare = [row for row in ROWS if len(row) != 2 or not re.search(r"::test_|\*later\*: \w", row[1])]
    assert bare == []


def test_every_section_of_the_seed_has_statements() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    assert [section[:2] for section in sections] == ["In", *(f"{n}." for n in range(1, 9))]
    assert all("::test_" in section for section in sections)


@cache
def names_in(file: str) -> frozenset[str]:
    path = ROOT / file
    if not path.is_file():
        return frozenset()
    tree = parsed(path.read_text(encoding="utf-8"), file)
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )
