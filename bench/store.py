"""What one durable commit costs, in multiples of the least it can cost.

The floor is a bare script that writes what any commit of one file must write (a blob, the three
trees above it, the commit, the branch) with as many flushes to the disk as ours, and, where the
call has to leave git's index in step, starts ``git update-index`` once. It compares nothing, locks
nothing, keeps no journal and writes no working file. Floor and subject take turns, write by write,
on two stores of the same size, so that whatever else the machine does falls on both; a row shows
means of wall time without the slowest tenth.

`Corpus.write` does all that and brings the rows of the search index up as well; ``memhtml write``
also starts Python. The last part applies a batch of memories of about 700 bytes of prose, rows
included, each size into a store of that size.

    python bench/store.py [--sizes 100,10000] [--writes 60] [--ops 10000] [--folder DIR]

Put the folder on a disk: in memory the flushes cost nothing, and ratios say little.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memhtml.corpus import Corpus
from memhtml.format.render import render_memory
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.store.plan import Plan, Put
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Callable

PER_FOLDER = 150
TEXT = "<p><mark>Memory {n} says that crane {n} lifts at most {n} pallets.</mark></p>\n" * 9


class Row(NamedTuple):
    """One thing that is measured beside its floor."""

    name: str
    bar: float | None
    """The ratio asked for, where one is."""
    subject: Callable[[int], object]
    floor: Callable[[int], object]
    grows: bool = False
    """Whether it is asked to cost the same in a store of any size."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure single writes against their floor.")
    parser.add_argument("--sizes", default="100,10000")
    parser.add_argument("--writes", type=int, default=60)
    parser.add_argument("--ops", type=int, default=2000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    print(f"{'memories':>8}  {'write':<34}{'ms':>8}{'floor':>8}{'ratio':>8}{'bar':>6}")
    steady: dict[str, list[float]] = {}
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            ours = make_store(Path(folder, "ours"), size)
            bare = make_store(Path(folder, "bare"), size)
            for row in rows(ours, bare, size):
                count = options.writes if row.bar else options.writes // 4
                spent, floor = measure(row, count)
                bar = "" if row.bar is None else f"{row.bar:.0f}x"
                print(
                    f"{size:>8}  {row.name:<34}{spent * 1e3:>8.2f}{floor * 1e3:>8.2f}"
                    f"{spent / floor:>7.2f}x{bar:>6}"
                )
                if row.grows:
                    steady.setdefault(row.name, []).append(spent / floor)
            for root in (ours, bare):
                git(root, "fsck", "--strict", "--no-dangling")
            if git(ours, "status", "--porcelain"):
                sys.exit("the index is not in step")
            batch(ours, size, options.ops)
    for name, ratios in steady.items():
        growth = ratios[-1] / ratios[0]
        print(
            f"{name}: ratio at the largest size to that at the smallest: {growth:.2f}x (bar 1.5x)"
        )


def rows(ours: Path, bare: Path, size: int) -> list[Row]:  # noqa: C901 - two small acts a row
    server = Repo.open(str(ours), index_delay=0.1)
    floor = Floor(bare, size)
    corpus = Corpus.open(ours, index_delay=0.1)
    corpus.update()

    def without_index(n: int) -> None:
        floor.write(f"server-{n}.html", text(n))

    def call(n: int) -> None:
        server.flush()
        corpus.repo.flush()
        with Repo.open(str(ours)) as repo:
            repo.apply(one("call", size, n))

    def with_index(n: int) -> None:
        floor.write(f"call-{n}.html", text(n))
        floor.update_index(f"call-{n}.html")

    def porcelain(n: int) -> None:
        path = ours / folder_of(size) / f"porcelain-{n}.html"
        path.write_bytes(text(n))
        git(ours, "add", str(path))
        git(ours, "commit", "-qm", "x")

    def serve(n: int) -> None:
        server.apply(one("server", size, n))

    def write(n: int) -> None:
        corpus.write(draft(f"Served {n}", n))

    def without_index_again(n: int) -> None:
        floor.write(f"again-{n}.html", text(n))

    def command(n: int) -> None:
        corpus.repo.flush()
        stated = draft(f"Called {n}", n)
        subprocess.run(
            [
                *(sys.executable, "-m", "memhtml", "write", "--repo", str(ours), "--json"),
                *("--title", stated.title, "--type", "semantic", "--claim", stated.claim),
                *("--body", stated.paragraphs[0]),
            ],
            stdout=subprocess.DEVNULL,
            check=True,
        )

    def with_index_again(n: int) -> None:
        floor.write(f"command-{n}.html", text(n))
        floor.update_index(f"command-{n}.html")

    def floor_again(n: int) -> None:
        floor.write(f"porcelain-{n}.html", text(n))
        floor.update_index(f"porcelain-{n}.html")

    return [
        Row("plan, index once a burst", 3.0, serve, without_index, grows=True),
        Row("Corpus.write, rows included", 3.0, write, without_index_again, grows=True),
        Row("plan, index in step", 3.0, call, with_index),
        Row("memhtml write", None, command, with_index_again),
        Row("git add && git commit", None, porcelain, floor_again),
    ]


def measure(row: Row, count: int) -> tuple[float, ...]:
    """Return the mean seconds of subject and floor, taken by turns."""
    spent: list[list[float]] = [[], []]
    for n in range(count + 3):
        for times, act in zip(spent, (row.subject, row.floor), strict=True):
            start = time.perf_counter()
            act(n)
            times.append(time.perf_counter() - start)
    # The first ones load modules and parse trees, which a long-lived process does once. The
    # slowest tenth belongs to whatever else the machine did; the flushes of a burst are more.
    return tuple(statistics.fmean(sorted(times[3:])[: -count // 10]) for times in spent)


def make_store(root: Path, size: int) -> Path:
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "Bench")
    git(root, "config", "user.email", "bench@example.org")
    # Nothing of git's own housekeeping shall run in between.
    git(root, "config", "gc.auto", "0")
    now = "2026-08-02T14:03:11Z"
    steps = tuple(
        Put(f"{folder_of(n)}/{n}.html", render_memory(draft(f"Stored {n}", n), at=now)[0])
        for n in range(size)
    )
    with Repo.open(str(root)) as repo:
        repo.apply(Plan(steps, "memhtml(batch): fill"))
    return root


def batch(root: Path, size: int, ops: int) -> None:
    """Print how long applying *ops* new memories takes, wall and processor time."""
    drafts = [draft(f"Batch {size} {n}", n) for n in range(ops)]
    with Corpus.open(root) as corpus:
        corpus.update()
        start, used, others = time.perf_counter(), time.process_time(), spent_by_children()
        done = corpus.apply(drafts)
        spent, used = time.perf_counter() - start, time.process_time() - used
        others = spent_by_children() - others
    assert not done.failed
    print(
        f"{size:>8}  apply of {ops:,}: {spent:.1f} s wall, {used:.1f} s of this process, "
        f"{others:.1f} s of its children; "
        f"{ops / spent:,.0f} ops/s (bar 2,000)"
    )


def spent_by_children() -> float:
    """Return the processor seconds of all children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def draft(title: str, n: int) -> Draft:
    """Return a memory of about 700 bytes of prose that no other one resembles."""
    return Draft(
        title=title,
        memory_type=MemoryType.SEMANTIC,
        claim=f"{title}: crane {n} of yard {n % 97} lifts at most {n} pallets.",
        paragraphs=(
            " ".join(
                f"Inspection {n + k} found wear at strand {k * n % 31} near the drum flange."
                for k in range(9)
            ),
        ),
        tags=("crane", f"yard-{n % 97}"),
        workspace=f"yard-{n // PER_FOLDER}",
    )


def one(kind: str, size: int, n: int) -> Plan:
    path = f"{folder_of(size)}/{kind}-{n}.html"
    return Plan((Put(path, text(n)),), f"memhtml(write): {path}")


def folder_of(n: int) -> str:
    return f"areas/topic-{n // PER_FOLDER}"


def text(n: int) -> bytes:
    return TEXT.format(n=n).encode()


def git(root: Path, *args: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", "-C", str(root), *args], input=stdin, capture_output=True, check=True
    )
    return done.stdout


class Floor:
    """The least that a commit of one new file under ``areas/topic-N/`` writes."""

    def __init__(self, root: Path, size: int) -> None:
        self.root = root
        self.objects = root / ".git" / "objects"
        self.branch = root / ".git" / "refs" / "heads" / "main"
        self.tip = self.branch.read_text().strip()
        self.topic = folder_of(size).partition("/")[2].encode()
        self.trees = [self.tree(""), self.tree("areas"), self.tree(folder_of(size))]
        self.blob = ""
        libc = ctypes.CDLL(None)
        self.write_out = getattr(libc, "sync_file_range", None)
        self.pending: list[tuple[Path, Path]] = []

    def tree(self, path: str) -> dict[bytes, bytes]:
        """Return the entries of a tree, each by the name it is sorted under."""
        entries = {}
        done = subprocess.run(
            ["git", "-C", str(self.root), "cat-file", "tree", f"HEAD:{path}"],
            capture_output=True,
            check=False,
        )
        raw = done.stdout if done.returncode == 0 else b""
        while raw:
            head, _, rest = raw.partition(b"\0")
            mode, _, name = head.partition(b" ")
            entries[name + b"/" if mode == b"40000" else name] = head + b"\0" + rest[:20]
            raw = rest[20:]
        return entries

    def write(self, name: str, data: bytes) -> None:
        top, areas, topic = self.trees
        blob = self.add(b"blob", data)
        self.blob = blob.hex()
        topic[name.encode()] = b"100644 " + name.encode() + b"\0" + blob
        areas[self.topic + b"/"] = b"40000 " + self.topic + b"\0" + self.add_tree(topic)
        top[b"areas/"] = b"40000 areas\0" + self.add_tree(areas)
        who = f"Bench <bench@example.org> {int(time.time())} +0000"
        commit = self.add(
            b"commit",
            f"tree {self.add_tree(top).hex()}\nparent {self.tip}\nauthor {who}\n"
            f"committer {who}\n\nmemhtml(write): x\n".encode(),
        )
        self.finish(commit.hex())

    def add_tree(self, entries: dict[bytes, bytes]) -> bytes:
        return self.add(b"tree", b"".join(entries[key] for key in sorted(entries)))

    def add(self, kind: bytes, content: bytes) -> bytes:
        raw = kind + b" %d\0" % len(content) + content
        sha = hashlib.sha1(raw, usedforsecurity=False)
        name = sha.hexdigest()
        scratch = self.objects / f"tmp_obj_{name}"
        fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
        os.write(fd, zlib.compress(raw, 1))
        if self.write_out is not None:
            self.write_out(fd, ctypes.c_long(0), ctypes.c_long(0), 7)
        else:
            os.fsync(fd)
        os.close(fd)
        self.pending.append((scratch, self.objects / name[:2] / name[2:]))
        return sha.digest()

    def finish(self, commit: str) -> None:
        lock = self.branch.with_suffix(".lock")
        fd = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, commit.encode() + b"\n")
        os.fsync(fd)
        os.close(fd)
        for scratch, place in self.pending:
            place.parent.mkdir(exist_ok=True)
            scratch.rename(place)
        self.pending.clear()
        lock.rename(self.branch)
        fd = os.open(self.branch.parent, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
        self.tip = commit

    def update_index(self, name: str) -> None:
        row = f"100644 {self.blob}\tareas/{self.topic.decode()}/{name}\0".encode()
        git(self.root, "update-index", "-z", "--index-info", stdin=row)


if __name__ == "__main__":
    main()
