"""What keeping the index costs, each beside its floor in the same run.

    python bench/index.py [--files 1000 10000] [--rounds 5] [--out docs/bench-index.json]

A store of generated memories is made in a temporary folder (100,000 take some minutes to make).
Rounds of measure and floor are interleaved and the least of each is kept, in CPU time of the
process and its children, so a busy machine moves both alike.

- *rebuild*: from git to a finished index, without vectors. Floor: read the blobs, parse them,
  insert path, title and text into a table with FTS5. Wall time is shown beside, for a rebuild uses
  both cores.
- *commit*: following one commit that changed one memory, the disk not looked at. There is no floor:
  30 ms is the bound, at any size.
- *hand edit*: noticing and following one file edited on disk. Floor: one ``git status`` that lists
  untracked files; the bound is the commit's figure plus one and a half of it.
- *nothing*: finding that nothing changed. Floor: the same ``git status``.
- *head edit*: following a commit that changed one meta of one memory.
- *coverage*: what a search asks first. No floor.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.generated import (
    NOW,
    bare_status,
    conditions,
    cpu,
    git,
    interleaved,
    make_store,
    memory,
    vocabulary,
)

from memhtml.format.parse import parse
from memhtml.index.database import open_index
from memhtml.index.embed import coverage
from memhtml.index.indexer import rebuild, update
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memhtml.index.database import Index

CHANGED = "areas/changed.html"


class Figure(NamedTuple):
    """One measurement, in CPU seconds."""

    files: int
    what: str
    seconds: float
    floor: float | None = None
    wall: float | None = None


def main() -> None:
    options = _options()
    print(f"{'files':>7} {'what':12} {'cpu ms':>10} {'floor ms':>10} {'ratio':>7} {'wall ms':>10}")
    figures = []
    for files in options.files:
        with tempfile.TemporaryDirectory() as folder:
            root = make_store(Path(folder), files)
            for figure in measures(root, files, options.rounds):
                figures.append(figure)
                print(_line(figure), flush=True)
    if options.out:
        listed = [figure._asdict() for figure in figures]
        text = json.dumps({**conditions(), "figures": listed}, indent=1)
        options.out.write_text(text + "\n", encoding="utf-8")


def measures(root: str, files: int, rounds: int) -> Iterator[Figure]:
    with Repo.open(root) as repo, open_index(root) as index:
        walls: list[float] = []

        def timed() -> None:
            start = time.perf_counter()
            rebuild(index, repo, now=NOW)
            walls.append(time.perf_counter() - start)

        cost, floor = interleaved(timed, lambda: bare_rebuild(repo, root), min(rounds, 3))
        yield Figure(files, "rebuild", cost, floor, min(walls))
        head_edit = [turn_head(index, repo, root, turn) for turn in range(rounds)]
        commits = [turn_commit(index, repo, root, turn) for turn in range(rounds)]
        yield Figure(files, "commit", min(commits))
        yield Figure(files, "head edit", min(head_edit))
        edits = [turn_edit(index, repo, root, turn) for turn in range(rounds)]
        yield Figure(files, "hand edit", min(edits), bare_status(root, rounds))
        cost, floor = interleaved(
            lambda: update(index, repo, now=NOW), lambda: bare_status(root, 1), rounds
        )
        yield Figure(files, "nothing", cost, floor)
        yield Figure(files, "coverage", min(cpu(lambda: coverage(index)) for _ in range(rounds)))


def bare_rebuild(repo: Repo, root: str) -> None:
    target = os.path.join(root, ".memhtml", "cache", "bare.db")  # noqa: PTH118 - a scratch name
    database = apsw.Connection(target)
    database.pragma("journal_mode", "off")
    database.pragma("synchronous", "off")
    database.execute(
        "CREATE TABLE f (id INTEGER PRIMARY KEY, path, title, text);"
        "CREATE VIRTUAL TABLE t USING fts5 (title, text, content = 'f', content_rowid = 'id',"
        " tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    head = repo.head()
    assert head is not None
    paths = {entry.sha: entry.path for entry in repo.list_tree(head) if entry.path.endswith("html")}
    database.execute("BEGIN")
    for number, (sha, data) in enumerate(repo.read_blobs(paths)):
        document = parse(data)
        row = (number, paths[sha], document.title, document.body_text)
        database.execute("INSERT INTO f VALUES (?, ?, ?, ?)", row)
        database.execute("INSERT INTO t (rowid, title, text) VALUES (?, ?, ?)", (row[0], *row[2:]))
    database.execute("COMMIT")
    database.close()
    Path(target).unlink()


def turn_commit(index: Index, repo: Repo, root: str, turn: int) -> float:
    put(root, memory(random.Random(turn), vocabulary(), turn))
    git(root, "commit", "-q", "-m", "change")
    return cpu(lambda: update(index, repo, now=NOW, scan=False))


def turn_head(index: Index, repo: Repo, root: str, turn: int) -> float:
    text = memory(random.Random(1), vocabulary(), 1)
    put(
        root,
        text.replace('updated" content="2026-01', f'updated" content="2026-{turn % 12 + 1:02}'),
    )
    git(root, "commit", "-q", "-m", "change", "--allow-empty")
    return cpu(lambda: update(index, repo, now=NOW, scan=False))


def turn_edit(index: Index, repo: Repo, root: str, turn: int) -> float:
    text = memory(random.Random(turn + 100), vocabulary(), turn)
    Path(root, CHANGED).write_text(text, encoding="utf-8")
    return cpu(lambda: update(index, repo, now=NOW))


def put(root: str, text: str) -> None:
    Path(root, CHANGED).write_text(text, encoding="utf-8")
    git(root, "add", CHANGED)


def _line(figure: Figure) -> str:
    ms: Callable[[float | None], str] = lambda s: f"{s * 1e3:10.2f}" if s else " " * 10  # noqa: E731 - three uses, all here
    ratio = f"{figure.seconds / figure.floor:6.2f}x" if figure.floor else " " * 7
    return (
        f"{figure.files:7} {figure.what:12} {ms(figure.seconds)} {ms(figure.floor)} {ratio} "
        f"{ms(figure.wall)}"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
