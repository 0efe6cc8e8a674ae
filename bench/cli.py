"""What a cold command costs, as CPU time in multiples of starting Python.

A run is a process: user and system time of it and of all its children (the git programs it
starts), from the operating system's accounting. The floor is ``python -c pass`` of the same
interpreter. Runs of everything are interleaved, so that whatever else the machine does falls on
all alike; a row shows the smallest and the median of its runs, each divided by the same figure of
the floor.

    python bench/cli.py [--memories N] [--runs N]
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memhtml.corpus import Corpus
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from collections.abc import Callable

if sys.platform == "win32":
    sys.exit("children are not accounted for on Windows; run this elsewhere")
import resource

WORDS = (
    "gate dock crane pallet ledger invoice harbour winter morning shift lamp valve pump tide "
    "anchor cargo signal north south bridge engine boiler rope timber clerk permit tariff"
).split()


class Row(NamedTuple):
    """One thing that is measured, and what it may cost at most."""

    name: str
    argv: list[str]
    bar: float | None
    prepare: Callable[[], object] = lambda: None


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure cold commands.")
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=25)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "store")
        fill(root, options.memories)
        os.environ["MEMHTML_ROOT"] = str(root)
        # Without its bytecode a cold start is mostly compiling, and no installed copy starts so.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        measure(rows(root), 1)
        times = measure(rows(root), options.runs)
    floor = times["python -c pass"]
    print(f"{options.memories:,} memories, {options.runs} runs, CPU of a process and its children;")
    print("a ratio is to the same figure of the first row")
    print(f"{'':34}{'min ms':>8}{'median':>8}{'min':>8}{'median':>8}{'bar':>6}")
    for row in rows(root):
        least, middle = min(times[row.name]), statistics.median(times[row.name])
        ratios = least / min(floor), middle / statistics.median(floor)
        bar = "" if row.bar is None else f"{row.bar:g}"
        print(
            f"{row.name:34}{least * 1000:8.1f}{middle * 1000:8.1f}"
            f"{ratios[0]:8.2f}{ratios[1]:8.2f}{bar:>6}"
        )


def rows(root: Path) -> list[Row]:
    """Return what is measured. Preparing is outside of the measured time."""
    python = sys.executable
    module = [python, "-m", "memhtml"]
    script = Path(python).with_name("memhtml")
    memhtml = [str(script)] if script.exists() else module
    number = iter(range(10**9))
    some = min(root.rglob("areas/**/*.html"), default=root)

    def leave_clean() -> None:
        subprocess.run(["git", "checkout", "-q", "--", "."], cwd=root, check=True)
        subprocess.run([*memhtml, "index", "update"], stdout=subprocess.DEVNULL, check=True)

    def edit() -> None:
        leave_clean()
        text = some.read_text("utf-8")
        some.write_text(text.replace("</mark>", f" {next(number)}</mark>", 1), "utf-8")

    claim = f"Pier {random.random()} opens."  # a row is made anew for each run
    return [
        Row("python -c pass", [python, "-c", "pass"], None),
        Row("python -m memhtml --version", [*module, "--version"], 1.6),
        Row("memhtml --version", [*memhtml, "--version"], None),
        Row("memhtml search", [*memhtml, "search", "winter tariff at the gate"], 6, leave_clean),
        Row("memhtml search, one file edited", [*memhtml, "search", "winter tariff"], None, edit),
        Row(
            "memhtml write",
            [*memhtml, "write", "--title", claim, "--type", "semantic", "--claim", claim],
            15,
            leave_clean,
        ),
    ]


def measure(first: list[Row], runs: int) -> dict[str, list[float]]:
    """Return the CPU seconds of every run of every row, interleaved."""
    times: dict[str, list[float]] = {row.name: [] for row in first}
    root = Path(os.environ["MEMHTML_ROOT"])
    for _ in range(runs):
        for row in rows(root):
            row.prepare()
            before = spent()
            subprocess.run(row.argv, stdout=subprocess.DEVNULL, check=True)
            times[row.name].append(spent() - before)
    return times


def spent() -> float:
    """Return the CPU seconds of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def fill(root: Path, memories: int) -> None:
    """Make a store with memories of a few hundred words' variety, in one commit each hundred."""
    source = random.Random(7)

    def sentence() -> str:
        return " ".join(source.choices(WORDS, k=12)).capitalize() + "."

    Corpus.init(root)
    drafts = [
        Draft(
            title=f"{' '.join(source.sample(WORDS, 3))} {number}",
            memory_type=MemoryType.SEMANTIC,
            claim=f"{sentence()} {number}.",
            paragraphs=tuple(sentence() for _ in range(6)),
        )
        for number in range(memories)
    ]
    with Corpus.open(root, durability="none") as corpus:
        for start in range(0, memories, 100):
            corpus.apply(drafts[start : start + 100])


if __name__ == "__main__":
    main()
