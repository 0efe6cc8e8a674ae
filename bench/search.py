"""What search and the index cost, each beside its floor in the same run.

    python bench/search.py [--files 1000 10000] [--rounds 5]

A store of generated memories is made in a temporary folder. Rounds of measure and floor are
interleaved and the least of each is kept, in CPU time, so a busy machine moves both alike.

- *warm*: one `search` in a running process. Floor: the same terms as a bare FTS5 bm25 query for
  ten row ids on the same file.
- *cold*: a process that opens the store, checks that the index is fresh (one ``git status``),
  searches, prints JSON. Floor: ``python -c pass``. The first figure of the second floor adds the
  bare ``git status``.
- *rebuild*: from git to a finished index. Floor: read the blobs, parse them, insert path, title and
  text into a table with FTS5.
- *update*: after one committed change, and after none.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import apsw

from memhtml.format.parse import parse
from memhtml.index.database import open_index
from memhtml.index.indexer import rebuild, update
from memhtml.search.search import search
from memhtml.search.terms import terms_of
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memhtml.index.database import Index

NOW = "2026-03-01T00:00:00Z"
QUESTIONS = 100

_COLD = """
import argparse, json, sys
from memhtml.index.database import open_index
from memhtml.index.indexer import update
from memhtml.search.search import search
from memhtml.store.repo import Repo
with Repo.open(sys.argv[1]) as repo, open_index(sys.argv[1]) as index:
    update(index, repo, now="2026-03-01T00:00:00Z")
    answer = search(index, sys.argv[2])
print(json.dumps([hit._asdict() for hit in answer.hits]))
"""


def main() -> None:
    options = _options()
    print(f"{'files':>7} {'what':34} {'cpu ms':>9} {'floor ms':>9} {'ratio':>7}")
    for files in options.files:
        with tempfile.TemporaryDirectory() as folder:
            root = make_store(Path(folder), files)
            for what, seconds, floor in measures(root, options.rounds):
                ratio = f"{seconds / floor:6.1f}x" if floor else ""
                shown_floor = f"{floor * 1e3:9.2f}" if floor else " " * 9
                print(
                    f"{files:7} {what:34} {seconds * 1e3:9.2f} {shown_floor} {ratio:>7}", flush=True
                )


def measures(root: str, rounds: int) -> Iterator[tuple[str, float, float | None]]:
    with Repo.open(root) as repo, open_index(root) as index:
        cost, floor = interleaved(
            lambda: rebuild(index, repo, now=NOW),
            lambda: bare_rebuild(repo, root),
            rounds=min(rounds, 3),
        )
        yield "rebuild", cost, floor
        yield from warm(index, rounds)
        cost, _ = interleaved(lambda: update(index, repo, now=NOW), lambda: None, rounds)
        yield "update, nothing changed, with git", cost, bare_status(root, rounds)
        yield "update, one commit, with git", after_commit(index, repo, root, rounds), None
    yield from cold(root, rounds)


def warm(index: Index, rounds: int) -> Iterator[tuple[str, float, float]]:
    rng = random.Random(7)
    words = vocabulary()
    questions = [" ".join(rng.choices(words[:2000], k=4)) for _ in range(QUESTIONS)]
    costs: list[list[float]] = [[], []]
    for question in questions:
        match = " OR ".join(p for term in terms_of(question) for p in term.phrases)
        cost, floor = interleaved(
            lambda q=question: search(index, q),  # type: ignore[misc]
            lambda m=match: bare_search(index, m),  # type: ignore[misc]
            rounds,
        )
        costs[0].append(cost)
        costs[1].append(floor)
    for name, at in (("p50", 0.5), ("p95", 0.95)):
        yield f"warm search {name}", *(sorted(c)[int(len(c) * at)] for c in costs)  # type: ignore[misc]
    yield "warm search mean", statistics.mean(costs[0]), statistics.mean(costs[1])


def cold(root: str, rounds: int) -> Iterator[tuple[str, float, float]]:
    rng = random.Random(8)
    question = " ".join(rng.choices(vocabulary()[:2000], k=4))
    python = (sys.executable, "-c")
    rounds *= 3
    cost, floor = interleaved_children((*python, _COLD, root, question), (*python, "pass"), rounds)
    yield "cold search, floor python", cost, floor
    yield "cold search, floor python and git", cost, floor + bare_status(root, rounds)


def after_commit(index: Index, repo: Repo, root: str, rounds: int) -> float:
    costs = []
    for turn in range(rounds):
        path = Path(root, "areas/changed.html")
        path.write_text(memory(random.Random(turn), vocabulary(), turn), encoding="utf-8")
        git(root, "add", "areas/changed.html")
        git(root, "commit", "-q", "-m", "change")
        costs.append(cpu(lambda: update(index, repo, now=NOW)))
    return min(costs)


def bare_status(root: str, rounds: int) -> float:
    command = ("git", "-C", root, "status", "--porcelain=v2", "-z", "--untracked-files=all")
    return min(child_cpu(command) for _ in range(rounds))


def bare_search(index: Index, match: str) -> object:
    return index.connection.execute(
        "SELECT rowid FROM files_fts WHERE files_fts MATCH ? ORDER BY bm25(files_fts) LIMIT 10",
        (match,),
    ).fetchall()


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


def interleaved(
    work: Callable[[], object], floor: Callable[[], object], rounds: int
) -> tuple[float, float]:
    pairs = [(cpu(work), cpu(floor)) for _ in range(rounds)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def interleaved_children(
    work: tuple[str, ...], floor: tuple[str, ...], rounds: int
) -> tuple[float, float]:
    pairs = [(child_cpu(work), child_cpu(floor)) for _ in range(rounds)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process and of the children that ended meanwhile."""
    before = process_time() + _children()
    work()
    return process_time() + _children() - before


def child_cpu(command: tuple[str, ...]) -> float:
    before = _children()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def make_store(root: Path, files: int) -> str:
    rng = random.Random(1)
    words = vocabulary()
    for number in range(files):
        path = root / f"areas/topic-{number % 97}/memory-{number}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(memory(rng, words, number), encoding="utf-8")
    git(str(root), "init", "-q", "-b", "main")
    git(str(root), "add", "-A")
    git(str(root), "commit", "-q", "-m", "memories")
    return str(root)


def memory(rng: random.Random, words: list[str], number: int) -> str:
    def sentence(size: int) -> str:
        return (
            " ".join(rng.choices(words, cum_weights=_zipf(len(words)), k=size)).capitalize() + "."
        )

    claim = sentence(12)
    paragraphs = "\n".join(f"<p>{' '.join(sentence(14) for _ in range(4))}</p>" for _ in range(4))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{claim[:50]} {number}</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-01-01T00:00:00Z">
<meta name="memhtml-updated" content="2026-01-01T00:00:00Z">
<meta name="memhtml-entity" content="service:{words[number % 50]}">
<meta name="memhtml-tag" content="{words[number % 30]}">
</head>
<body>
<article>
<p><mark>{claim}</mark></p>
{paragraphs}
<dl><dt>code</dt><dd>E-{number}</dd></dl>
</article>
</body>
</html>
"""


@functools.cache
def _zipf(size: int) -> list[float]:
    # Words of a language are about as frequent as one over their rank.
    return list(itertools.accumulate(1 / (rank + 3) for rank in range(size)))


@functools.cache
def vocabulary() -> list[str]:
    rng = random.Random(3)
    syllables = "ba ke li mo nu ra se ti vo zu dan fer gol hin jas kur lem pol sto wim".split()
    return ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(20_000)]


def git(root: str, *args: str) -> None:
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    subprocess.run(("git", "-C", root, *who, *args), check=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()
