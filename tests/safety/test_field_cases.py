"""Field cases S6, S7 and S8 from end to end, through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.corpus import Corpus
from memhtml.search.scope import make_scope
from tests.safety.scale import SOAK, scaled
from tests.safety.store import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.safety.store import Store

FACTS = scaled(4_000, 40_000)


# A child's peak begins with what its parent had, so a small process stands between.
BETWEEN = """
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


def measured(store: Store, *argv: str) -> tuple[int, float, dict[str, Any]]:
    """Call the command line; return its status, its peak of memory in MB, and its answer."""
    start = time.monotonic()
    memhtml = [sys.executable, "-m", "memhtml", *argv, "--repo", str(store.root), "--json"]
    done = subprocess.run(
        [sys.executable, "-c", BETWEEN, *memhtml],
        capture_output=True,
        env=environment(MEMHTML_DURABILITY="none"),
        check=False,
    )
    answer = json.loads(done.stdout)
    peak = int(done.stderr.split()[-1]) / 1024 / (1024 if sys.platform == "darwin" else 1)
    if SOAK:
        print(f"\n{argv[0]}: {time.monotonic() - start:.1f} s, {peak:.0f} MB")  # noqa: T201
    return done.returncode, peak, answer


def ops_file(place: Path) -> Path:
    with place.open("w") as file:
        for n in range(FACTS):
            op = {
                "op": "write",
                "title": f"Reading {n}",
                "type": "semantic",
                "body": f"Meter {n} read {n * 7 % 9973} at the turn of the year.",
                "tags": ["meters"],
                "entities": ["org:Waterworks"],
            }
            file.write(json.dumps(op) + "\n")
    return place


@pytest.mark.skipif(sys.platform == "win32", reason="no wait4")
def test_big_calls_are_one_commit_each_and_fit_in_memory(store: Store, tmp_path: Path) -> None:
    """Field case S6."""
    ops = ops_file(tmp_path / "ops.jsonl")
    commits = int(store.git("rev-list", "--count", "HEAD"))
    status, peak, answer = measured(store, "apply", "--file", str(ops))
    assert status == 0
    assert peak < 1000
    assert answer["data"]["summary"]["written"] == FACTS
    assert int(store.git("rev-list", "--count", "HEAD")) == commits + 1
    assert store.status == ""

    with Corpus.open(store.root) as corpus:
        scope = make_scope(entity="org:Waterworks")
        hits = corpus.search("meter turn of the year", scope, limit=50).hits
        assert len(hits) == 50
        number = FACTS - 3
        assert (
            corpus.search(f"meter {number}", scope, limit=1)
            .hits[0]
            .gist.startswith(f"Meter {number} ")
        )
        paths = corpus.choose(entity="org:Waterworks")
        assert len(set(paths)) == len(paths) == FACTS
    status, peak, _ = measured(store, "index", "rebuild")
    assert (status, peak < 1000) == (0, True)

    head = store.git("rev-parse", "HEAD")
    with ops.open("w") as file:
        file.write('{"op": "write", "title": "Good", "type": "semantic", "body": "It is good."}\n')
        line = {"op": "write", "title": "Large", "type": "semantic", "body": "x" * 30_000_000}
        file.write(json.dumps(line) + "\n")
    status, peak, answer = measured(store, "apply", "--file", str(ops))
    assert (status, peak < 300) == (1, True)
    results = answer["data"]["results"]
    assert results[0]["skipped"]
    assert "line 2: longer than" in results[1]["error"]
    assert store.git("rev-parse", "HEAD") == head

    argv = ("archive", "--tag", "meters", "--reason", "the year is over")
    status, peak, answer = measured(store, *argv, "--yes")
    assert status == 0
    assert peak < 1000
    assert int(store.git("rev-list", "--count", "HEAD")) == commits + 2
    with Corpus.open(store.root) as corpus:
        health = corpus.status()
        assert (health.counts_by_type, health.archived, health.dirty) == ({}, FACTS, ())
    store.git("fsck", "--strict", "--no-dangling", "--no-progress")


GOOD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Good</title>'
    '<meta name="memhtml-type" content="semantic"><meta name="memhtml-status" content="active">'
    '<meta name="memhtml-created" content="2026-08-02T14:03:11Z">'
    '<meta name="memhtml-updated" content="2026-08-02T14:03:11Z"></head>\n'
    "<body><article><p><mark>The {word} is kept in the barn.</mark></p></article></body></html>\n"
)


def test_broken_files_dropped_in_are_named_and_the_good_ones_found(store: Store) -> None:
    """Field case S7."""
    inbox = store.root / "areas" / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    marked = "<mark>The {word} is kept in the barn.</mark>"
    broken = {
        "bytes.html": b"\xff\xfe\x00",
        "empty.html": b"",
        "no-mark.html": GOOD.replace(marked, "Nothing is marked.").encode(),
        "two-articles.html": GOOD.format(word="rake").replace("<article>", "<article></article><article>").encode(),  # noqa: E501
    }  # fmt: skip
    dropped = {
        **broken,
        "good.html": GOOD.format(word="scythe").encode(),
        "crlf.html": b"\xef\xbb\xbf" + GOOD.format(word="flail").replace("\n", "\r\n").encode(),
        "script.html": GOOD.format(word="sickle").replace(
            "</article>", "<script>x()</script><img src=x onerror=x()></article>"
        ).encode(),
    }  # fmt: skip
    for name, data in dropped.items():
        (inbox / name).write_bytes(data)
    expected = {f"areas/inbox/{name}" for name in broken}
    if hasattr(os, "symlink"):
        (inbox / "link.html").symlink_to("/etc/hostname")
        expected.add("areas/inbox/link.html")
    (inbox / "folder.html").mkdir()

    report = store.run("index", "update").data
    skipped = {file["path"]: file["reason"] for file in report["skipped"]}
    assert expected <= set(skipped)
    assert all(skipped.values())
    for word, name in (("scythe", "good"), ("flail", "crlf")):
        assert store.found("command", word) == [f"areas/inbox/{name}.html"]
    doctor = store.run("doctor")
    assert (doctor.status, doctor.data["healthy"]) == (1, False)
    named = {finding["path"]: finding["message"] for finding in doctor.data["findings"]}
    assert expected | {"areas/inbox/folder.html"} <= set(named)
    assert store.run("doctor", "--fix").status == 1
    for name, data in dropped.items():
        assert (inbox / name).read_bytes() == data
    assert (inbox / "folder.html").is_dir()
    status = store.run("status").data
    assert expected <= {file["path"] for file in status["skipped"]}
    assert "areas/inbox/good.html" in status["dirtyPaths"]

    store.git("add", "areas")
    store.git("commit", "-qm", "by hand")
    assert store.run("publish").status == 0
    for page in store.root.rglob("index.html"):
        assert "<script" not in page.read_text()
        assert "onerror" not in page.read_text()


SAID = "The loading bay gate opens at 06:30."
VARIANTS = (
    SAID.replace("gate", "GATE"),
    SAID.replace(" ", "  "),
    SAID.removesuffix("."),
    "Gate of the loading bay opens 06:30",
)


def test_the_same_thing_said_otherwise_is_found_out(store: Store) -> None:
    """Field case S8; case, spacing, stop and NFD variants are stored and reported."""
    first = store.run("write", "--title", "Gate", "--type", "semantic", "--claim", SAID).data
    again = store.run("write", "--title", "Other", "--type", "semantic", "--claim", SAID).data
    assert (again["deduped"], again["existingPath"], again["commitSha"]) == (
        True, first["path"], None,
    )  # fmt: skip
    for n, variant in enumerate(VARIANTS[:2]):
        wrote = store.run(
            "write", "--title", f"Gate {n}", "--type", "semantic", "--claim", variant
        ).data
        assert wrote["deduped"] or first["path"] in wrote["nearDuplicates"], variant

    cafe = "The café at the gate closes at nine."
    batch = [
        {"op": "write", "title": "Gate", "type": "semantic", "body": text}
        for text in (SAID, *VARIANTS[2:], cafe, unicodedata.normalize("NFD", cafe))
    ]
    facts = [
        {
            "op": "write",
            "title": f"Rack {n}",
            "type": "semantic",
            "body": f"Rack {n} holds {n + 3} nodes.",
            "entity": entity,
            "tags": ["a,b , c"],
            "agent": agent,
        }
        for n, (entity, agent) in enumerate(
            [
                ("org:DGX", "Claude"),
                ("org:DGX", "claude"),
                ("org:DGX", "Claude"),
                ("org: dgx ", "x"),
            ]
        )
    ]
    lines = "".join(json.dumps(op) + "\n" for op in (*batch, *facts))
    results = store.run("apply", "-", stdin=lines).data["results"]
    assert [result["ok"] for result in results] == [True] * 9
    assert (results[0]["deduped"], results[0]["existing_path"]) == (True, first["path"])
    for result in results[1:3]:
        assert result["deduped"] or first["path"] in result["near_duplicates"]
    assert results[4]["deduped"] or results[3]["path"] in results[4]["near_duplicates"]
    racks = {result["path"] for result in results[5:]}
    for filters in (("--entity", "org:dgx"), ("--tag", "a"), ("--tag", "b"), ("--tag", "c")):
        hits = store.run("search", "rack", *filters).data["hits"]
        assert {hit["path"] for hit in hits} == racks, filters
    assert store.status == ""
