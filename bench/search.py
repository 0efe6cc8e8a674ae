"""What a search costs, each beside its floor in the same run.

    python bench/search.py [--files 1000 10000 100000] [--rounds 5] [--cache DIR] [--keep DIR]
                           [--out docs/bench-search.json]

A store of generated memories is made in a temporary folder (100,000 take some minutes), or in DIR,
where it stays. Measure and floor take turns and the least of each is kept, in CPU time of the
process and its children, so a busy machine moves both alike.

- *warm*: one search in a process that searched before and has numpy loaded, as a server has. By
  words alone, by *four arms* (words, the sparse model, recency, usage), and by those and the dense
  model. Floor: the same terms as a bare FTS5 bm25 query for ten row ids on the same file. *memory*
  is the most that a process held that did nothing but these searches.
- *cold*: ``memhtml search`` with the same four arms, following hand edits or, *head*, commits only.
  Floor: ``python -c pass``.

Vectors of memories are not encoded for real, which would take an hour; see `bench.generated`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.generated import (
    NOW,
    Drawn,
    Spelled,
    child_cpu,
    conditions,
    interleaved,
    make_store,
    questions,
)

from memhtml.corpus import Corpus
from memhtml.index.database import open_index
from memhtml.index.embed import embed
from memhtml.index.indexer import update
from memhtml.index.usage import Signal
from memhtml.model.errors import ModelUnavailable
from memhtml.providers.encoders.load import dense_encoder, query_table
from memhtml.providers.models import cache_home
from memhtml.search.arms.dense import DenseQuestions
from memhtml.search.search import Means, search
from memhtml.search.terms import terms_of
from memhtml.store.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.index.database import Index

QUESTIONS = 60


class Figure(NamedTuple):
    """One measurement: CPU seconds, or bytes where there is no floor."""

    files: int
    what: str
    value: float
    floor: float | None = None


def main() -> None:
    options = _options()
    if options.warm:
        for figure in warm(options.warm, options.rounds, options.cache):
            print(json.dumps(figure), flush=True)
        return
    print(f"{'files':>7} {'what':28} {'cpu ms':>9} {'floor ms':>9} {'ratio':>7}")
    figures = []
    for files in options.files:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(options.keep or folder, str(files))
            if not root.exists():
                make_store(root, files)
            fill(str(root), options.cache)
            for figure in measures(str(root), files, options):
                figures.append(figure)
                print(_line(figure), flush=True)
    if options.out:
        listed = [figure._asdict() for figure in figures]
        text = json.dumps({**conditions(), "figures": listed}, indent=1)
        options.out.write_text(text + "\n", encoding="utf-8")


def fill(root: str, cache: Path) -> None:
    """Index the store at *root*, give it vectors of the models that are there, and some usage."""
    with Repo.open(root) as repo, open_index(root) as index:
        update(index, repo, now=NOW)
        try:
            embed(index, Spelled(query_table("splade-tiny", cache)))
            embed(index, Drawn(dense_encoder("minilm", cache)))
        except ModelUnavailable as error:
            print(error, file=sys.stderr)
    with Corpus.open(root) as corpus:
        some = [f"areas/topic-{n}/memory-{n}.html" for n in range(97)]
        corpus.reinforce(some, Signal.POSITIVE)


def measures(root: str, files: int, options: argparse.Namespace) -> Iterator[Figure]:
    command = (sys.executable, __file__, "--warm", root, "--cache", str(options.cache))
    asked = (*command, "--rounds", str(options.rounds))
    done = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        yield Figure(files, *json.loads(line))
    os.environ["MEMHTML_CACHE"] = str(options.cache)
    # Without its bytecode a cold start is mostly compiling, and no installed copy starts so.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    script = Path(sys.executable).with_name("memhtml")
    memhtml = (str(script),) if script.exists() else (sys.executable, "-m", "memhtml")
    cold = (*memhtml, "search", questions(1)[0], "--repo", root)
    for what, command in (("cold", cold), ("cold, head", (*cold, "--fresh", "head"))):
        child_cpu(command)
        pairs = [
            (child_cpu(command), child_cpu((sys.executable, "-c", "pass")))
            for _ in range(3 * options.rounds)
        ]
        yield Figure(files, what, min(a for a, _ in pairs), min(b for _, b in pairs))


def warm(root: str, rounds: int, cache: Path) -> Iterator[tuple[str, float, float | None]]:
    import memhtml.providers.encoders.arrays  # noqa: F401, PLC0415 - numpy, as a server has it

    with Corpus.open(root) as corpus, open_index(root) as index:
        words = Means(usage=corpus.usage, now=NOW)
        yield from warm_by(index, "words", words, rounds)
        try:
            four = words._replace(queries=query_table("splade-tiny", cache))
            yield from warm_by(index, "four arms", four, rounds)
            yield "memory, four arms", peak_bytes(), None
            dense = DenseQuestions(dense_encoder("minilm", cache))
            yield from warm_by(index, "and dense", four._replace(dense=dense), rounds)
            yield "memory, and dense", peak_bytes(), None
        except ModelUnavailable as error:
            print(error, file=sys.stderr)


def warm_by(
    index: Index, name: str, means: Means, rounds: int
) -> Iterator[tuple[str, float, float | None]]:
    pairs = []
    for question in questions(QUESTIONS):
        match = " OR ".join(p for term in terms_of(question) for p in term.phrases)
        pairs.append(
            interleaved(
                lambda q=question: search(index, q, means=means),  # type: ignore[misc]
                lambda m=match: bare_search(index, m),  # type: ignore[misc]
                rounds,
            )
        )
    costs, floors = (sorted(column) for column in zip(*pairs, strict=True))
    for part, at in (("p50", 0.5), ("p95", 0.95)):
        place = int(len(costs) * at)
        yield f"warm, {name}, {part}", costs[place], floors[place]


def bare_search(index: Index, match: str) -> object:
    return index.connection.execute(
        "SELECT rowid FROM files_fts WHERE files_fts MATCH ? ORDER BY bm25(files_fts) LIMIT 10",
        (match,),
    ).fetchall()


def peak_bytes() -> int:
    """Return the most memory that this process held."""
    # Of the process alone: what `getrusage` tells begins with what its parent held.
    with Path("/proc/self/status").open(encoding="utf-8") as lines:
        (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return 1024 * int(peak)


def _line(figure: Figure) -> str:
    if figure.floor is None:
        return f"{figure.files:7} {figure.what:28} {figure.value / 1e6:9.0f} MB"
    ratio = figure.value / figure.floor
    return (
        f"{figure.files:7} {figure.what:28} {figure.value * 1e3:9.2f} {figure.floor * 1e3:9.2f} "
        f"{ratio:6.1f}x"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cache", type=Path, default=cache_home(os.environ, sys.platform))
    parser.add_argument("--keep", type=Path, help="where stores stay for the next run")
    parser.add_argument("--out", type=Path, help="where the figures go as JSON")
    parser.add_argument("--warm", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
