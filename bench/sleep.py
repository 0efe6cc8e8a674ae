"""What a night costs: `memhtml sleep run` without a language model, at several sizes of the store.

    python bench/sleep.py [--sizes 3000,20000] [--folder DIR] [--out FILE]

The store is put together from sites, each made by `bench/curation_store.py` from a seed of its own:
facts said once or in several wordings, people, services, near-twins. It lies untouched for half a
year, so that what ages has aged. Processor time
is that of the command and its children, the most memory that of the largest of them. The floor, in
the same run on the same store, reads every memory from git and parses it, once.

Bars: 15 s of processor time at 3,000 memories, 150 s at 20,000, 1 GB of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.curation import build
from bench.curation_store import NOW, Curated, make_curated

from memhtml.format.parse import parse
from memhtml.model.paths import bucket_of
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from bench.curation_store import Item

BARS = {3_000: 15.0, 20_000: 150.0}
MEMORY_BAR_MB = 1024
FACTS = 300
QUIET = timedelta(days=180)


class Cost(NamedTuple):
    """What one run took."""

    memories: int
    cpu_s: float
    wall_s: float
    peak_mb: float
    floor_s: float
    report: dict[str, Any]


def main() -> None:
    """Measure each size and print a table; write JSON where asked."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sizes", default="3000,20000")
    arguments.add_argument("--folder", help="where the stores are made; a disk, not memory")
    arguments.add_argument("--out", type=Path)
    options = arguments.parse_args()
    told = []
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            cost = measure(str(Path(folder, "store")), size)
        bar = BARS.get(size)
        print(
            f"{cost.memories:>7,} memories: {cost.cpu_s:7.1f} s of processor time"
            + (f" (bar {bar:g})" if bar else "")
            + f", {cost.wall_s:.1f} s wall, {cost.peak_mb:,.0f} MB (bar {MEMORY_BAR_MB:,}), "
            f"{cost.cpu_s / cost.floor_s:.1f} times reading and parsing all of it once"
        )
        for phase in cost.report["phases"]:
            counts = ", ".join(
                f"{name} {count}" for name, count in phase["counts"].items() if count
            )
            print(f"          {phase['phase']:<20} {phase['seconds']:7.2f} s  {counts}")
        told.append(cost._asdict())
        sys.stdout.flush()
    if options.out:
        about = {"machine": f"{platform.machine()}, {os.cpu_count()} cores"}
        options.out.write_text(json.dumps({**about, "runs": told}, indent=1) + "\n")


def measure(root: str, size: int) -> Cost:
    """Make a store of *size* memories, let it lie, and run."""
    make_store(root, size)
    floor = read_all(root)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    day = (NOW + QUIET).date().isoformat()
    done = subprocess.run(
        (sys.executable, "-m", "memhtml", "sleep", "run", "--date", day, "--json", "--repo", root),
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "MEMHTML_LLM": "off"},
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    per_mb = 1024 if sys.platform == "linux" else 1024 * 1024
    report = json.loads(done.stdout)["data"]
    return Cost(size, cpu, wall, after.ru_maxrss / per_mb, floor, report)


def make_store(root: str, size: int) -> None:
    """Make a store of *size* memories of as many sites as it takes."""
    items: list[Item] = []
    for seed in range(size):
        if len(items) >= size:
            break
        site = "".join([*random.Random(seed).choices("bdfgklmnprst", k=3), str(seed)])
        items += (at_site(item, site) for item in make_curated(seed, facts=FACTS).items)
    build(root, Curated(tuple(items[:size]), {}, {}, frozenset()))


def at_site(item: Item, site: str) -> Item:
    """Return *item* as a fact about *site*, in a folder of its own."""
    claim = item.draft.claim
    draft = replace(
        item.draft,
        claim=f"At site {site}, {claim[:1].lower()}{claim[1:]}",
        path=f"areas/{site}/{item.path.partition('/')[2]}",
    )
    return item._replace(draft=draft)


def read_all(root: str) -> float:
    """Return the processor time that reading and parsing every memory takes."""
    with Repo.open(root) as repo:
        head = repo.head()
        assert head is not None
        start = time.process_time()
        shas = [entry.sha for entry in repo.list_tree(head) if bucket_of(entry.path) is not None]
        for _, data in repo.read_blobs(shas):
            parse(data)
        return time.process_time() - start


if __name__ == "__main__":
    main()
