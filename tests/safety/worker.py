"""A process of its own: ``worker.py JOB ROOT ARGS``, telling on stdout what was acknowledged.

Every line is one JSON list, written before the next operation begins, so whoever kills this process
knows all that it had been promised.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from memhtml.corpus import Corpus
from memhtml.model.changes import ArchiveRequest, Correction
from memhtml.model.errors import Busy, MemhtmlError, WriteConflict
from tests.safety.store import draft, environment, token

SHARED_PATH = "areas/inbox/one-place.html"


def tell(*words: object) -> None:
    os.write(1, (json.dumps(words) + "\n").encode())


def mixed(root: str, start: int, delay: float) -> None:
    """Write, correct, archive and apply without end; tokens count from *start*."""
    rng = random.Random(start)  # noqa: S311 - a repeatable mixture
    number = start
    alive: list[tuple[str, str]] = []

    def fresh() -> str:
        nonlocal number
        number += 1
        return token(number)

    with Corpus.open(root, durability="none", index_delay=delay) as corpus:
        while True:
            act = rng.choice(("write", "write", "correct", "archive", "apply", "apply"))
            if not alive:
                act = "write"
            if act == "write":
                word = fresh()
                tell("begin", [word], [])
                path = corpus.write(draft("Crane", f"The crane is called {word}.")).path
                alive.append((word, path))
                tell("done")
            elif act == "correct":
                word, (old, path) = fresh(), alive.pop(rng.randrange(len(alive)))
                tell("begin", [word], [old])
                corrected = corpus.correct(
                    Correction(target=path, claim=f"The crane is now called {word}.")
                )
                alive.append((word, corrected.path))
                tell("done")
            elif act == "archive":
                old, path = alive.pop(rng.randrange(len(alive)))
                tell("begin", [], [old])
                corpus.archive(path, reason="sold")
                tell("done")
            else:
                words = [fresh() for _ in range(rng.choice((2, 5, 70)))]
                old, path = alive.pop(rng.randrange(len(alive)))
                tell("begin", words, [old])
                batch = corpus.apply(
                    [
                        *(draft("Batch", f"The hoist is called {word}.") for word in words),
                        ArchiveRequest(path=path, reason="scrapped"),
                    ]
                )
                assert not batch.failed, batch.failed
                alive += zip(words, (str(result.path) for result in batch.results), strict=False)
                tell("done")


def crowd(root: str, worker: int, count: int) -> None:
    """Make *count* writes of three kinds; odd workers do it by the command line."""
    for n in range(count):
        title = "Same title" if n % 3 == 0 else f"Title {worker} {n}"
        claim = f"Fact {n} of worker {worker} is {token(1000 * worker + n)}."
        path = SHARED_PATH if n % 5 == 4 else None
        if n % 7 == 6:
            claim = f"All workers write the shared fact {token(10**7 + n)}."
        write = by_command if worker % 2 else by_corpus
        tell(*write(root, title, claim, path))


def by_corpus(root: str, title: str, claim: str, path: str | None) -> tuple[object, ...]:
    with Corpus.open(root, durability="none") as corpus:
        try:
            written = corpus.write(draft(title, claim, path=path))
        except (WriteConflict, Busy) as error:
            return ("refused", error.code, claim)
    return ("written", written.path, claim, written.created)


def by_command(root: str, title: str, claim: str, path: str | None) -> tuple[object, ...]:
    flags = ("--path", path) if path else ()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "memhtml", "write", "--repo", root, "--json"),
            *("--title", title, "--type", "semantic", "--claim", claim, *flags),
        ],
        capture_output=True,
        text=True,
        env=environment(MEMHTML_DURABILITY="none"),
        check=False,
    )
    answer = json.loads(done.stdout)
    if done.returncode:
        return ("refused", answer["code"], claim)
    return ("written", answer["data"]["path"], claim, answer["data"]["created"])


def keep_writing(root: str, start: int, log: str, seconds: float) -> None:
    """Write and archive for so long.

    *log* says what is acknowledged: ``+`` and a word for a write, ``?`` and then ``-`` for an
    archive that is begun and done.
    """
    rng = random.Random(start)  # noqa: S311 - a repeatable mixture
    end = time.monotonic() + seconds
    alive: list[tuple[str, str]] = []
    with (
        Corpus.open(root, durability="none", index_delay=0.05) as corpus,
        Path(log).open("a") as out,
    ):

        def note(line: str) -> None:
            out.write(line + "\n")
            out.flush()

        while time.monotonic() < end:
            try:
                if alive and rng.random() < 0.25:
                    word, path = alive.pop(0)
                    note(f"?{word}")
                    corpus.archive(path, reason="gone")
                    note(f"-{word}")
                else:
                    start += 1
                    word = token(start)
                    written = corpus.write(draft(f"Fact {word}", f"The winch is called {word}."))
                    alive.append((word, written.path))
                    note(f"+{word}")
            except Busy:
                tell("busy")
            time.sleep(rng.random() * 0.02)
    tell("wrote", len(alive))


def keep_reading(root: str, seed: int, logs: str, seconds: float) -> None:
    """Search for so long for words of which *logs* says whether they must be found."""
    rng = random.Random(seed)  # noqa: S311 - a repeatable mixture
    end = time.monotonic() + seconds
    asked = 0
    corpus = Corpus.open(root)
    while time.monotonic() < end:
        before = _known(logs)
        if not before:
            continue
        word = rng.choice(list(before)[-20:] if rng.random() < 0.7 else list(before))
        if seed % 2:
            corpus.close()
            corpus = Corpus.open(root)
        try:
            hits = corpus.search(word).hits
        except MemhtmlError as error:
            tell("error", error.code, error.message)
            return
        asked += 1
        found = any(word in hit.gist for hit in hits)
        if before[word] == "-" and found:
            tell("wrong", f"{word} is archived and was found")
        elif before[word] == "+" and not found and _known(logs)[word] == "+":
            tell("wrong", f"{word} was acknowledged and not found")
    corpus.close()
    tell("asked", asked)


def keep_rebuilding(root: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    count = 0
    with Corpus.open(root) as corpus:
        while time.monotonic() < end:
            corpus.rebuild()
            count += 1
    tell("rebuilt", count)


def _known(folder: str) -> dict[str, str]:
    known: dict[str, str] = {}
    for log in Path(folder).glob("*.log"):
        for line in log.read_text().split("\n")[:-1]:
            known[line[1:]] = line[0]
    return known


if __name__ == "__main__":
    job, where, *args = sys.argv[1:]
    if job == "mixed":
        mixed(where, int(args[0]), float(args[1]))
    elif job == "crowd":
        crowd(where, int(args[0]), int(args[1]))
    elif job == "write":
        keep_writing(where, int(args[0]), args[1], float(args[2]))
    elif job == "read":
        keep_reading(where, int(args[0]), args[1], float(args[2]))
    else:
        keep_rebuilding(where, float(args[0]))
