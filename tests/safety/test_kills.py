"""``kill -9`` at random points of real work, and what is there afterwards."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.model.paths import original_path
from tests.safety.scale import SOAK, scaled
from tests.safety.store import environment, token

if TYPE_CHECKING:
    from tests.safety.store import Store

# Stores, and kills in each: 8 + 8 + 9 in short, 6 * 20 + 6 * 20 + 4 * 20 in full.
ROUNDS, KILLS = scaled((1, 8), (6, 20))
COMMAND_ROUNDS, COMMAND_KILLS = scaled((1, 9), (4, 20))


@dataclass
class Promises:
    """What a store has acknowledged."""

    active: set[str] = field(default_factory=set)
    archived: set[str] = field(default_factory=set)
    begun: tuple[list[str], list[str]] = ([], [])
    """New and archived words of an operation whose end was not heard."""

    def hear(self, line: str) -> None:
        word, *rest = json.loads(line)
        if word == "begin":
            self.begun = (rest[0], rest[1])
        else:
            self.keep()

    def keep(self) -> None:
        new, old = self.begun
        self.active |= set(new)
        self.active -= set(old)
        self.archived |= set(old)
        self.begun = ([], [])

    def settle(self, store: Store) -> bool:
        """Assert that the operation that was cut short is there as a whole or not at all."""
        new, old = self.begun
        text = _words(store)
        states = {text.get(word) == "active" for word in new}
        states |= {text.get(word) == "archived" for word in old}
        assert len(states) <= 1, f"half of an operation is there: {new} {old}"
        has_landed = states == {True}
        if has_landed:
            self.keep()
        self.begun = ([], [])
        return has_landed


def _words(store: Store) -> dict[str, str]:
    """Return each word that HEAD's memories call something by, and whether it is active."""
    return {
        claim.rstrip(".").rpartition(" ")[2]: "archived" if original_path(path) else "active"
        for path, claim in store.committed().items()
    }


def check(store: Store, promises: Promises, recent: set[str], *, thorough: bool) -> None:
    states = _words(store)
    for word in promises.active:
        assert states.get(word) == "active", f"{word} was acknowledged and is not in HEAD"
    for word in promises.archived:
        assert states.get(word) == "archived", word
    with Corpus.open(store.root, durability="none") as corpus:
        for word in promises.active if thorough else promises.active & recent:
            assert [hit.gist for hit in corpus.search(word, scan=False).hits if word in hit.gist]
        for word in promises.archived & recent:
            assert not corpus.search(word, scan=False).hits
    if thorough:
        store.assert_whole()
    else:
        assert store.status == ""


@pytest.mark.parametrize("delay", [0.0, 0.05])
@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_process_killed_at_work_has_kept_every_promise(
    store: Store, round_: int, delay: float
) -> None:
    rng = random.Random(round_)  # noqa: S311 - a repeatable run
    promises = Promises()
    met: Counter[str] = Counter()
    for kill in range(KILLS):
        known = promises.active | promises.archived
        worker = store.start("mixed", 10_000 * (kill + 1), delay)
        assert worker.stdout is not None
        spent = 0.2
        for _ in range(2 * rng.randrange(4) + 1):
            start = time.monotonic()
            promises.hear(worker.stdout.readline())
            spent = max(0.01, time.monotonic() - start)
        # It is in the middle of an operation, and the last one tells how long one takes.
        time.sleep(rng.random() * min(spent, 0.5) * 1.5)
        worker.kill()
        rest, complaint = worker.communicate()
        assert not complaint, complaint
        for line in rest.splitlines():
            promises.hear(line)
        met.update(store.mend())
        met["landed unheard"] += promises.settle(store)
        met["operations"] += len(promises.active | promises.archived) - len(known)
        check(store, promises, (promises.active | promises.archived) - known, thorough=False)
    check(store, promises, set(), thorough=True)
    assert met["operations"] > KILLS
    if SOAK:
        print(f"\n{KILLS} kills, delay {delay}: {dict(met)}")  # noqa: T201 - the figures


@pytest.mark.parametrize("round_", range(COMMAND_ROUNDS))
def test_a_command_killed_at_work_has_kept_its_promise(store: Store, round_: int) -> None:
    rng = random.Random(round_)  # noqa: S311 - a repeatable run
    promises = Promises()
    met: Counter[str] = Counter()
    # How long an undisturbed call takes here and now; later kills fall within that.
    start = time.monotonic()
    assert store.run("write", "--title", "x", "--type", "semantic", "--claim", "An x.").status == 0
    longest = time.monotonic() - start
    for kill in range(COMMAND_KILLS):
        words = [token(100 * kill + n) for n in range(1 if kill % 2 else 80)]
        ops = [
            {"op": "write", "title": "T", "type": "semantic", "body": f"A hook is called {word}."}
            for word in words
        ]
        claim = f"A hook is called {words[0]}."
        single = ("write", "--title", "T", "--type", "semantic", "--claim", claim)
        child = subprocess.Popen(
            [
                *(sys.executable, "-m", "memhtml", *(single if kill % 2 else ("apply", "-"))),
                *("--repo", str(store.root), "--json"),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(MEMHTML_DURABILITY="none"),
        )
        promises.begun = (words, [])
        assert child.stdin is not None
        child.stdin.write("".join(json.dumps(op) + "\n" for op in ops))
        child.stdin.close()
        child.stdin = None
        time.sleep(longest * (0.4 + 0.9 * rng.random()))
        child.kill()
        out, complaint = child.communicate()
        assert not complaint, complaint
        if child.returncode == 0:
            assert json.loads(out)["type"] in {"memory.written", "batch.applied"}
            met["acknowledged"] += 1
            promises.keep()
        met.update(store.mend())
        met["landed unheard"] += promises.settle(store)
        check(store, promises, set(words), thorough=False)
    check(store, promises, set(), thorough=True)
    if SOAK:
        print(f"\n{COMMAND_KILLS} kills of commands: {dict(met)}")  # noqa: T201 - the figures
