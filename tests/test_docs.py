"""What the documentation shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import memhtml

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
LINK_RE = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


class Step(NamedTuple):
    command: str
    expected: list[str]
    line: int


def steps(page: Path) -> list[Step]:
    """Return the commands of a page's console blocks, each with the lines shown after it."""
    found: list[Step] = []
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            found.append(Step(line[2:], [], number))
        elif inside:
            found[-1].expected.append(line)
    return found


@pytest.mark.skipif(os.name == "nt", reason="the tutorial is written for a POSIX shell")
def test_the_tutorial_runs_as_it_stands(tmp_path: Path) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name, target in (("memhtml", "-m memhtml"), ("python3", "")):
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {target} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    page = ROOT / "docs" / "tutorial.md"
    marks = [f"=== {n} ===" for n in range(len(steps(page)))]
    lines = [
        f"echo '{mark}'; {step.command}" for mark, step in zip(marks, steps(page), strict=True)
    ]
    home = tmp_path / "home"
    home.mkdir()
    env = {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "PYTHONPATH": str(ROOT / "src"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Reader",
        "GIT_AUTHOR_EMAIL": "reader@example.org",
        "GIT_COMMITTER_NAME": "Reader",
        "GIT_COMMITTER_EMAIL": "reader@example.org",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["/bin/sh"],
        input="\n".join(lines) + "\n",
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    outputs = re.split(r"^=== \d+ ===\n", done.stdout, flags=re.MULTILINE)[1:]
    assert len(outputs) == len(lines), done.stdout
    for step, output in zip(steps(page), outputs, strict=True):
        pattern = _pattern(step.expected)
        assert re.fullmatch(pattern, output), f"tutorial.md:{step.line}: {step.command}\n{output}"


def _pattern(expected: list[str]) -> str:
    """Return a pattern; a line of ``…`` stands for any lines, and ``…`` in one for any part."""
    parts = []
    for line in expected:
        if line == "…":
            parts.append(r"(?:.*\n)*")
        else:
            parts.append(
                "".join(r".*" if p == "…" else re.escape(p) for p in re.split("(…)", line)) + r"\n"
            )
    return "".join(parts)


def test_the_python_of_the_readme_runs_as_it_stands(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert block is not None
    done = subprocess.run(
        [sys.executable, "-c", block[1]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("areas/inbox/rye-starter.html The rye starter is fed at 05:40.\n")


def test_the_memory_of_the_readme_is_without_fault_and_has_its_own_hash() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```html\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert block is not None
    data = block[1].encode()
    document = memhtml.parse(data)
    assert document.diagnostics == ()
    assert document.head.content_hash == memhtml.content_hash(data)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in LINK_RE.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
