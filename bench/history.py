"""What the history of one memory costs, in multiples of ``git log -- path`` on the same store.

The store has one commit a memory and one memory that changes now and then: written, edited a dozen
times, archived, brought back and corrected under another title. Its history crosses three moves,
which ``git log -- path`` does not see; the floor is that command all the same, on the memory's
present path. ``git log --follow`` stands beside it, though what it finds is a guess. Subject and
floor take turns; a row shows medians of wall time, each command in a fresh process of git.

    python bench/history.py [--commits 20000] [--runs 9] [--folder DIR]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from memhtml.store.history import blame, history
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD = (
    "<!doctype html>\n<html><head><title>{title}</title>\n"
    '<meta name="memhtml-type" content="semantic">\n'
    '<meta name="memhtml-status" content="active">\n'
    '<meta name="memhtml-created" content="2026-01-01T00:00:00Z">\n'
    '<meta name="memhtml-updated" content="2026-01-01T00:00:00Z">\n{link}'
    "</head><body><article>\n<p><mark>{claim}</mark> {body}</p>\n</article></body></html>\n"
)
BODY = "Crane {n} lifts at most {n} pallets. It was checked in spring. " * 6
FIRST, LAST = "areas/inbox/crane.html", "areas/inbox/crane-limits.html"
ARCHIVED = f"archive/2026/{FIRST}"
EDITS = 12


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure history against git log.")
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        root = make_store(Path(folder, "store"), options.commits)
        with Repo.open(str(root)) as repo:
            versions = history(repo, LAST)
            assert [v.moved_from for v in versions if v.moved_from] == [FIRST, ARCHIVED, FIRST]
            assert len(versions) == EDITS + 4, len(versions)
            late = fact_path(options.commits * 49 // 50)
            for graph in (False, True):
                if graph:
                    git(root, "commit-graph", "write", "--reachable")
                print(f"{options.commits:,} commits, {'with' if graph else 'no'} commit-graph")
                rows: dict[str, Callable[[], object]] = {
                    "git log -- path": lambda: log(root, "--", LAST),
                    "git log -- every path": lambda: log(root, "--", LAST, FIRST, ARCHIVED),
                    "git log --follow": lambda: log(root, "--follow", "--", LAST),
                    "history": lambda: history(repo, LAST),
                    "blame": lambda: blame(repo, LAST),
                    "history of a late memory": lambda: history(repo, late),
                }
                measure(rows, options.runs)


def measure(rows: dict[str, Callable[[], object]], runs: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(runs):
        for name, call in rows.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    floor = statistics.median(times["git log -- path"])
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"  {name:<26}{median * 1000:>9.1f} ms{median / floor:>8.2f}")


def make_store(root: Path, commits: int) -> Path:
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    stream = "".join(commands(commits)).encode()
    git(root, "fast-import", "--quiet", stdin=stream)
    git(root, "reset", "-q", "--hard")
    return root


def commands(commits: int) -> Iterator[str]:
    """Yield what fast-import reads: the memory's changes spread among those of others."""
    steps = list(changes_of_one())
    # The first change is early and the last late, as for a memory that is in use.
    at = {commits * (2 * n + 1) // (2 * len(steps)): step for n, step in enumerate(steps)}
    for n in range(commits):
        subject, changes = at.get(n) or (
            "write",
            put(fact_path(n), f"Fact {n}", f"Fact {n} holds.", n),
        )
        message = f"memhtml({subject}): Crane\n\nMemhtml-Session: s-{n}\n"
        when = 1_790_000_000 + n
        yield (
            f"commit refs/heads/main\ncommitter Ada <ada@example.org> {when} +0000\n"
            f"data {len(message.encode())}\n{message}\n{changes}"
        )


def fact_path(n: int) -> str:
    return f"areas/topic-{n % 130}/fact-{n}.html"


def changes_of_one() -> Iterator[tuple[str, str]]:
    claim = "The crane lifts 0 pallets."
    for n in range(EDITS + 1):
        claim = f"The crane lifts {n} pallets."
        yield "write" if not n else "link", put(FIRST, "Crane", claim, n)
    yield "archive", f"D {FIRST}\n" + put(ARCHIVED, "Crane", claim, EDITS)
    yield "unarchive", f"D {ARCHIVED}\n" + put(FIRST, "Crane", claim, EDITS)
    link = f'<link rel="memhtml-supersedes" href="/{ARCHIVED}">\n'
    yield (
        "correct",
        f"D {FIRST}\n"
        + put(ARCHIVED, "Crane", claim, EDITS)
        + put(LAST, "Crane limits", "The crane lifts many pallets.", EDITS, link),
    )


def put(path: str, title: str, claim: str, n: int, link: str = "") -> str:
    data = HEAD.format(title=title, claim=claim, body=BODY.format(n=n), link=link)
    return f"M 100644 inline {path}\ndata {len(data.encode())}\n{data}\n"


def log(root: Path, *args: str) -> bytes:
    return git(root, "log", "--format=%H", *args)


def git(root: Path, *args: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", "-C", str(root), *args], input=stdin, capture_output=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    main()
