"""Many processes at one store: writers alone, then writers, readers and an index made anew."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from memhtml.corpus import Corpus
from tests.safety.scale import SOAK, scaled
from tests.safety.worker import SHARED_PATH

if TYPE_CHECKING:
    from pathlib import Path

    from tests.safety.store import Store

PROCESSES, WRITES = scaled((4, 10), (8, 50))
SIDE, SECONDS = scaled((2, 6.0), (6, 60.0))


def test_every_fact_of_many_writers_is_there_exactly_once(store: Store) -> None:
    """Store weakness 1."""
    children = [store.start("crowd", worker, WRITES) for worker in range(PROCESSES)]
    created: dict[str, str] = {}
    known: dict[str, set[str]] = {}
    refused: Counter[str] = Counter()
    for child in children:
        out, complaint = child.communicate()
        assert child.returncode == 0, complaint
        for line in out.splitlines():
            what, where, claim, *made = json.loads(line)
            if what == "refused":
                refused[where] += 1
                continue
            known.setdefault(claim, set()).add(where)
            if made == [True]:
                assert claim not in created, "one fact was created twice"
                created[claim] = where
    claims = store.assert_whole()
    assert sorted(claims.values()) == sorted(known)
    assert {path: claim for claim, path in created.items()} == claims
    assert all(where == {created[claim]} for claim, where in known.items())
    assert set(refused) <= {"ERR_WRITE_CONFLICT", "ERR_BUSY"}
    assert SHARED_PATH in claims
    with Corpus.open(store.root) as corpus:
        assert corpus.status().counts_by_type == {"semantic": len(claims)}
    if SOAK:
        print(f"\n{PROCESSES} x {WRITES}: {len(claims)} facts, refused {dict(refused)}")  # noqa: T201


def test_readers_beside_writers_and_rebuilds_see_what_is_acknowledged(
    store: Store, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    writers = [
        store.start("write", 100_000 * (n + 1), logs / f"{n}.log", SECONDS) for n in range(SIDE)
    ]
    others = [store.start("read", n, logs, SECONDS) for n in range(SIDE)]
    others.append(store.start("rebuild", SECONDS))
    told: Counter[str] = Counter()
    for child in (*writers, *others):
        out, complaint = child.communicate()
        assert child.returncode == 0, complaint
        for line in out.splitlines():
            word, *rest = json.loads(line)
            assert word not in {"error", "wrong"}, line
            told[word] += rest[0] if rest else 1
    assert told["asked"] > 5
    assert told["rebuilt"] > 0
    store.assert_whole()
    acknowledged = [
        line[1:]
        for log in logs.glob("*.log")
        for line in log.read_text().splitlines()
        if line.startswith("+")
    ]
    assert len(acknowledged) == len(set(acknowledged)) > 5
    assert {c.rstrip(".").rpartition(" ")[2] for c in store.committed().values()} == set(
        acknowledged
    )
    if SOAK:
        print(f"\n{SIDE} + {SIDE}, {SECONDS} s: {len(acknowledged)} writes, {dict(told)}")  # noqa: T201
