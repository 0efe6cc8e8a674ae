from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memhtml.format.text import content_hash
from tests.conformance.compat import Deviations, read_deviations
from tests.conformance.ops import OPS
from tests.conformance.runner import (
    VECTORS,
    Report,
    Vector,
    describe_difference,
    own_vectors,
    read_vectors,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path

ROOT = VECTORS.parents[2]
FILES = sorted(file.stem for file in VECTORS.glob("*.jsonl"))


@pytest.mark.parametrize("name", FILES)
def test_every_vector_passes_or_is_a_stated_deviation(name: str) -> None:
    report = Report()
    deviations = read_deviations()
    for vector in read_vectors(VECTORS / f"{name}.jsonl"):
        run(vector, deviations, report)
    failures = [f"{result.vector.id}\n{result.detail}" for result in report.failed]
    if failures:
        pytest.fail(f"{len(failures)} vectors differ\n" + "\n".join(failures[:20]), pytrace=False)


def test_every_vector_that_deviates_is_listed_by_its_id() -> None:
    report = Report()
    tags_only = Deviations(frozenset(), read_deviations().tags)
    for vector in own_vectors().values():
        run(vector, tags_only, report)
    deviating = {
        result.vector.id
        for result in (*report.failed, *report.skipped)
        if not result.detail.startswith("no operation")
    }
    assert deviating == read_deviations().ids


def test_no_editor_moves_the_content_hash_of_its_vector() -> None:
    edits = {"set_meta", "add_meta", "remove_meta", "add_link", "remove_link"}
    moved = [
        vector.id
        for vector in own_vectors().values()
        if vector.op in edits
        and content_hash(OPS[vector.op](vector.given)["html"]) != content_hash(vector.given["html"])
    ]
    assert moved == []


def test_every_listed_tag_and_id_occurs_in_the_vectors() -> None:
    deviations = read_deviations()
    tags = {tag for vector in own_vectors().values() for tag in vector.tags}
    assert deviations.tags <= tags
    assert deviations.ids <= own_vectors().keys()


def test_no_two_vectors_share_an_id() -> None:
    count = sum(1 for file in VECTORS.glob("*.jsonl") for _ in read_vectors(file))
    assert count == len(own_vectors())


def test_the_command_fails_on_a_vector_that_differs_and_names_it(tmp_path: Path) -> None:
    good = {"id": "x-1", "op": "is_slug", "in": {"value": "owl"}, "out": {"valid": True}}
    bad = {"id": "x-2", "op": "is_slug", "in": {"value": "Owl"}, "out": {"valid": True}}
    strange = {"id": "x-3", "op": "levitate", "in": {}, "out": {}}
    text = "\n".join(json.dumps(record) for record in (good, bad, strange))
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    done = run_command(tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "FAIL x-2",
        "  .valid: expected True, got False",
        "skipped 1: no operation 'levitate' here",
        "1 passed, 1 failed, 1 skipped",
    ]


def test_the_command_passes_on_vectors_that_agree(tmp_path: Path) -> None:
    good = {"id": "x-1", "op": "is_slug", "in": {"value": "owl"}, "out": {"valid": True}}
    (tmp_path / "x.jsonl").write_text(json.dumps(good), encoding="utf-8")
    done = run_command(tmp_path)
    assert (done.returncode, done.stdout) == (0, "1 passed, 0 failed\n")


def test_the_command_cannot_run_a_folder_without_vectors(tmp_path: Path) -> None:
    done = run_command(tmp_path)
    assert done.returncode == 2
    assert "no *.jsonl" in done.stderr


def test_a_listed_vector_that_passes_is_a_failure_of_the_list() -> None:
    vector = own_vectors()["slug_paths-001"]
    report = Report()
    run(vector, Deviations(frozenset({vector.id}), frozenset()), report)
    assert [result.vector.id for result in report.failed] == [vector.id]


def test_a_listed_id_excuses_our_own_record_only() -> None:
    ours = own_vectors()["slug_paths-004"]
    theirs = Vector(ours.id, "slugify", {"title": "owl"}, {"slug": "hoot"})
    deviations = Deviations(frozenset({ours.id}), frozenset())
    report = Report()
    run(ours, deviations, report)
    run(theirs, deviations, report)
    assert [result.vector for result in report.skipped] == [ours]
    assert [result.vector for result in report.failed] == [theirs]


def test_a_listed_tag_excuses_any_record_that_differs() -> None:
    tagged = Vector("y-1", "slugify", {"title": "owl"}, {"slug": "hoot"}, ("crlf",))
    report = Report()
    run(tagged, Deviations(frozenset(), frozenset({"crlf"})), report)
    assert [result.detail for result in report.skipped] == [
        "deviates as docs/compat.md says, tag crlf"
    ]


def test_true_is_not_one_and_one_is_one_point_zero() -> None:
    assert describe_difference({"a": True}, {"a": 1})
    assert not describe_difference({"a": 1}, {"a": 1.0})


def run_command(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.conformance", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
