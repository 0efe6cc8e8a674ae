"""How long the detector takes: to load, on usual fences, and on the worst text of 4,096 characters.

CPU time, the best of several runs, so that what else the machine does hardly counts. The bars are
those of docs/detector.md.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from memhtml.format.detect import detect
from memhtml.providers.languages import load_model

ROOT = Path(__file__).parents[1]
FENCES = [
    path.read_text("utf-8") for path in sorted((ROOT / "tests/golden_fences").glob("*/*.txt"))
]

LOAD = """
import time, zlib, json, dataclasses, enum, hashlib, pathlib
start = time.process_time()
from memhtml.providers.languages import load_model
load_model()
print(time.process_time() - start)
"""


def hostile() -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    made = ["\n".join(a + b for a in letters for b in letters)]
    made.append("\n".join(f"{a}{b}({b}{n}" for n, a in enumerate(letters) for b in letters))
    made.append("\n".join(f"{a}{b} = {b}{c}." for a in letters for b in letters for c in "xyz"))
    made += ["a(1b" * 1024, "<A" * 2048, "a, " * 1400, "SELECT " * 600, "\n" * 4096]
    made += [fence * 100 for fence in FENCES]
    return [text[:4096] for text in made]


def best(code: str, runs: int) -> float:
    model = load_model()
    spent = []
    for _ in range(runs):
        start = time.process_time()
        detect(code, model)
        spent.append(time.process_time() - start)
    return min(spent) * 1000


def main() -> None:
    loads = []
    for _ in range(9):
        ran = subprocess.run(
            [sys.executable, "-S", "-c", LOAD],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(ROOT / "src")},
        )
        loads.append(float(ran.stdout) * 1000)
    usual = [best(code, 5) for code in FENCES]
    worst = max(best(code, 5) for code in hostile())
    print(f"import and load        {min(loads):6.2f} ms   (bar 20)")
    print(f"a golden fence, median {statistics.median(usual):6.2f} ms   (bar 1)")
    print(f"a golden fence, most   {max(usual):6.2f} ms")
    print(f"4,096 characters, most {worst:6.2f} ms   (bar 20)")


if __name__ == "__main__":
    main()
