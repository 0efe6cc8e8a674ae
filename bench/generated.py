"""What several benchmarks share: generated stores, vectors for them, and CPU time.

A memory has a claim of twelve words and up to four paragraphs of 56, some 125 words on average. Its
words are drawn as a language's are, the second commonest half as often as the commonest, from those
of Python's own manual and, behind them, invented ones.
"""

from __future__ import annotations

import functools
import itertools
import os
import platform
import random
import re
import resource
import subprocess
from collections import Counter
from heapq import nlargest
from pathlib import Path
from pydoc_data.topics import topics
from time import process_time
from typing import TYPE_CHECKING

from memhtml.model.ports import SparseRow
from memhtml.scoring.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy import float32
    from numpy.typing import NDArray

    from memhtml.model.ports import DenseEncoder, Progress, SparseQueries, TextKind

NOW = "2026-03-01T00:00:00Z"


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
        drawn = rng.choices(words, cum_weights=_zipf(len(words)), k=size)
        return " ".join(drawn).capitalize() + "."

    claim = sentence(12)
    paragraphs = "\n".join(
        f"<p>{' '.join(sentence(14) for _ in range(4))}</p>" for _ in range(rng.randrange(5))
    )
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


def questions(count: int) -> list[str]:
    """Return questions of four words each out of the 2,000 commonest that are no stop words."""
    words = [word for word in vocabulary() if word not in STOP_WORDS][:2000]
    rng = random.Random(7)
    return [" ".join(rng.choices(words, k=4)) for _ in range(count)]


@functools.cache
def _zipf(size: int) -> list[float]:
    # Words of a language are about as frequent as one over their rank.
    return list(itertools.accumulate(1 / (rank + 3) for rank in range(size)))


@functools.cache
def vocabulary() -> list[str]:
    """Return 20,000 words, the commonest first."""
    text = " ".join(topics.values()).lower()
    counted = Counter(re.findall(r"[a-z]{2,}", text)).most_common()
    rng = random.Random(3)
    syllables = "ba ke li mo nu ra se ti vo zu dan fer gol hin jas kur lem pol sto wim".split()
    invented = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(20_000)]
    return [*(word for word, _ in counted), *invented][:20_000]


class Spelled:
    """A sparse encoder that gives a text what the model's table says of its words.

    Its rows are as long as the model's and meet questions as those do, and take a hundredth of the
    time: what is measured is how they are searched, not what they are worth.
    """

    def __init__(self, queries: SparseQueries) -> None:
        self.space_id = queries.space_id
        self.query = functools.cache(queries.query)

    def encode_docs(
        self, texts: Sequence[str], *, workers: int = 1, progress: Progress | None = None
    ) -> list[SparseRow]:
        del workers, progress
        return [self._row(text) for text in texts]

    def _row(self, text: str) -> SparseRow:
        asked: dict[int, int] = {}
        for word in re.findall(r"[a-z]+", text.lower()):
            for term, weight in self.query(word).items():
                asked[term] = max(weight, asked.get(term, 0))
        strongest = sorted(nlargest(96, asked, key=lambda term: (asked[term], -term)))
        return SparseRow(tuple(strongest), bytes(asked[term] for term in strongest))


class Drawn:
    """A dense encoder whose documents are drawn by lot and whose questions are the model's own."""

    def __init__(self, encoder: DenseEncoder) -> None:
        self.space_id = encoder.space_id
        self.dims = encoder.dims
        self._encoder = encoder

    def encode(
        self, texts: Sequence[str], kind: TextKind, *, progress: Progress | None = None
    ) -> NDArray[float32]:
        import numpy as np  # noqa: PLC0415 - only who draws

        if kind == "query":
            return self._encoder.encode(texts, kind, progress=progress)
        rng = np.random.default_rng(len(texts))
        rows = rng.standard_normal((len(texts), self.dims), np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def conditions() -> dict[str, str | float]:
    """Return on what was measured, and how many processes wanted a core in the last minutes."""
    return {"machine": machine(), "load": round(os.getloadavg()[2], 1)}


def machine() -> str:
    """Return the kind of processor, the number of cores and Python's version."""
    kind = platform.processor() or platform.machine()
    cores = 1
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line.partition(":") for line in info.read_text("utf-8").splitlines()]
        kind = next((value.strip() for key, _, value in lines if "model name" in key), kind)
        cores = sum(key.strip() == "processor" for key, _, _ in lines)
    return f"{kind}, {cores} cores, Python {platform.python_version()}"


def interleaved(
    work: Callable[[], object], floor: Callable[[], object], rounds: int
) -> tuple[float, float]:
    pairs = [(cpu(work), cpu(floor)) for _ in range(rounds)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process and of the children that ended meanwhile."""
    before = process_time() + _children()
    work()
    return process_time() + _children() - before


def child_cpu(command: Sequence[str]) -> float:
    before = _children()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return _children() - before


def bare_status(root: str, rounds: int) -> float:
    command = ("git", "-C", root, "status", "--porcelain=v2", "-z", "--untracked-files=all")
    return min(child_cpu(command) for _ in range(rounds))


def git(root: str, *args: str) -> None:
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org")
    subprocess.run(("git", "-C", root, *who, *args), check=True)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
