from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhtml.format.detect import (
    MODEL_MAGIC,
    VOCABULARY,
    LanguageModel,
    Outcome,
    detect,
    evidence,
    read_model,
)
from memhtml.format.language_features import features
from memhtml.format.language_gates import unconfirmed, veto
from memhtml.format.language_names import named_interpreter
from memhtml.providers.languages import load_model
from tests.imports import PACKAGE, imports_of, read_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

FENCES = Path(__file__).parents[1] / "golden_fences"
GOLDEN = sorted(FENCES.glob("*/*.txt"))


def code_of(path: Path) -> str:
    return path.read_text("utf-8").removesuffix("\n")


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return load_model()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_golden_fence_gets_the_stamp_of_its_folder(path: Path, model: LanguageModel) -> None:
    found = detect(code_of(path), model)
    expected = None if path.parent.name == "none" else path.parent.name
    assert found.language == expected, found


def test_the_golden_fences_are_sixty_with_two_a_language_and_thirty_without_a_stamp() -> None:
    counts = dict.fromkeys([*VOCABULARY, "none"], 0)
    for path in GOLDEN:
        counts[path.parent.name] += 1
    assert sum(counts.values()) >= 60
    assert counts.pop("none") >= 30
    assert min(counts.values()) >= 2


def test_a_fence_of_4096_code_units_is_read_and_one_more_is_not(model: LanguageModel) -> None:
    line = "import os\n"
    fits = (line * 410)[:4096]
    assert detect(fits, model).language == "python"
    assert detect(fits + "x", model).outcome is Outcome.TOO_LONG


def test_an_astral_character_counts_as_two_code_units(model: LanguageModel) -> None:
    owls = "\U0001f989" * 2048
    assert detect(owls, model).outcome is not Outcome.TOO_LONG
    assert detect(owls + "x", model).outcome is Outcome.TOO_LONG


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\t\n \n"])
def test_nothing_is_left_alone(blank: str, model: LanguageModel) -> None:
    assert detect(blank, model).outcome is Outcome.EMPTY


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("#!/bin/sh", "bash"),
        ("#!/usr/bin/env bash", "bash"),
        ("#!/usr/bin/env -S python3 -u", "python"),
        ("#! /opt/python3.13", "python"),
        ("#!/usr/bin/env node", "javascript"),
        ("#!/usr/bin/perl -w", None),
        ("#!/usr/bin/env python-config", None),
        ("#!", None),
    ],
)
def test_a_first_line_that_names_an_interpreter_decides(line: str, language: str | None) -> None:
    assert named_interpreter(line + "\nx") == language


def test_an_interpreter_line_further_down_does_not_decide() -> None:
    assert named_interpreter("x = 1\n#!/bin/sh") is None


@pytest.mark.parametrize(
    ("code", "is_json"),
    [
        ('{"kiln": 1}', True),
        ('[{"kiln": null}]', True),
        ('["kiln"]', False),
        ('{"kiln": NaN}', False),
        ('{"kiln": 1', False),
        ("{'kiln': 1}", False),
        ('[{"a": ' * 300 + "1" + "}]" * 300, False),
    ],
)
def test_one_whole_json_document_with_an_object_is_json(
    code: str, is_json: bool, model: LanguageModel
) -> None:
    assert (detect(code, model).outcome is Outcome.PARSED) == is_json


def test_one_line_needs_far_more_than_several(model: LanguageModel) -> None:
    unsure = [
        path
        for path in GOLDEN
        if path.parent.name != "none"
        for line in code_of(path).splitlines()
        if (found := detect(line, model)).outcome is Outcome.UNSURE and found.confidence >= 0.85
    ]
    assert unsure, "no single line was held back by the higher threshold"
    for path in GOLDEN:
        for line in code_of(path).splitlines():
            found = detect(line, model)
            if found.outcome is Outcome.STAMPED:
                assert found.confidence >= 0.97


def test_a_stamp_is_of_the_vocabulary_and_says_how_sure_it_is(model: LanguageModel) -> None:
    for path in GOLDEN:
        found = detect(code_of(path), model)
        assert found.language is None or found.language in VOCABULARY
        assert 0 <= found.confidence <= 1
        assert (found.language is None) == (
            found.outcome not in {Outcome.STAMPED, Outcome.INTERPRETER, Outcome.PARSED}
        )


@given(st.text(max_size=400) | st.text(alphabet=" \t\n{}[]()<>|;:=#-'\"abA0_/", max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_text_at_all_is_judged(code: str) -> None:
    found = detect(code, load_model())
    assert found.language is None or found.language in VOCABULARY
    for language in VOCABULARY:
        unconfirmed(language, code)
    veto(code)


def test_the_evidence_names_patterns_of_the_fence_strongest_first(model: LanguageModel) -> None:
    code = code_of(FENCES / "rust" / "struct.txt")
    shown = evidence(code, model, limit=5)
    assert len(shown) == 5
    assert {one.pattern for one in shown} <= features(code)
    strengths = [one.weight + one.lead for one in shown]
    assert strengths == sorted(strengths, reverse=True)
    assert strengths[0] > 0


def test_the_same_lines_score_the_same_whatever_the_hash_seed() -> None:
    program = (
        "import json, pathlib, sys\n"
        "from memhtml.format.detect import detect, evidence\n"
        "from memhtml.providers.languages import load_model\n"
        "model = load_model()\n"
        "out = []\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).glob('*/*.txt')):\n"
        "    code = path.read_text('utf-8')\n"
        "    out.append([repr(detect(code, model)), repr(evidence(code, model))])\n"
        "print(json.dumps(out))\n"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", program, str(FENCES)],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(FENCES.parents[1] / "src")},
        ).stdout
        for seed in ("1", "2")
    ]
    assert answers[0] == answers[1]
    assert len(json.loads(answers[0])) == len(GOLDEN)


def hostile() -> Iterator[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    yield "\n".join(a + b for a in letters for b in letters)[:4096]
    yield "\n".join(f"{a}{b}({b}{n}" for n, a in enumerate(letters) for b in letters)[:4096]
    for piece in ("a(1b", "\n", " \n", "<A", "a, ", "SELECT ", "x = [", "- a b ", "{", "'a,", "->"):
        yield (piece * 4096)[:4096]
    yield from ((code_of(path) * 100)[:4096] for path in GOLDEN)


def test_no_text_of_4096_characters_takes_long(model: LanguageModel) -> None:
    for code in hostile():
        spent = []
        for _ in range(3):
            start = time.process_time()
            detect(code, model)
            for language in VOCABULARY:
                unconfirmed(language, code)
            veto(code)
            spent.append(time.process_time() - start)
        # The bar is 20 ms for one detection; this also asks all twelve languages' rules, and
        # leaves room for a slower machine. A rule that is not linear takes seconds.
        assert min(spent) < 0.1, code[:40]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("diff", "@@ -1 +1 @@\n-a\n+b"),
        ("grammar", "<a> ::= <b>"),
        ("traceback", "Traceback (most recent call last):\n  boom"),
        ("failure", "npm ERR! code E404"),
        ("http", "GET /kilns HTTP/1.1"),
        ("table", "+-----+-----+\n| a | b |"),
        ("php", "<?php echo 1;"),
        ("c", "#include <stdio.h>"),
        ("csharp", "using System.Linq;"),
        ("java", "import java.util.List;"),
        ("powershell", "Get-ChildItem -Path ."),
        ("windows_shell", "@echo off"),
        ("cmake", "find_package(fmt)"),
        ("make", "all: kiln\n\tcc kiln.c"),
        ("hcl", 'resource "a" "b" {\n}'),
        ("nginx", "location / {\n}"),
        ("graphql", "type Kiln {\n  id: ID!\n}"),
        ("protobuf", 'syntax = "proto3";'),
        ("elixir", "defmodule Kiln do\nend"),
        ("haskell", "peak :: [Int] -> Int"),
        ("mermaid", "flowchart LR\n  a --> b"),
        ("solidity", "pragma solidity ^0.8.0;"),
        ("kotlin", "fun main() {\n}"),
        ("swift", "guard let a = b else {\n}"),
        ("lua", "local x = 1"),
        ("vim", "let g:kiln = 1"),
        ("tree", "a\n├── b\n└── c"),
        ("log", "[INFO] a\n[WARN] b"),
        ("dockerfile", "FROM a\nRUN b"),
        ("prose list", "- put the clay into water\n- leave the clay in the water"),
        ("prose", "The kiln in the north room fires hotter than its display says."),
    ],
)
def test_a_veto_names_the_kind_of_text(kind: str, code: str) -> None:
    assert veto(code) == kind


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("json", "name: kiln\nport: 1"),
        ("toml", "name = north room"),
        ("toml", "const x = 1;"),
        ("toml", '"only a string"'),
        ("yaml", "SELECT 1\nFROM a"),
        ("sql", "kilns and firings"),
        ("go", "kilns, firings"),
        ("go", "func peak() -> Int {"),
        ("css", "kilns and firings"),
        ("css", "$a: 1px;\n.b { color: $a; }"),
        ("html", "<Kiln peak={1240}>"),
        ("html", "<?xml version='1.0'?><p>a</p>"),
        ("html", "no element"),
        ("python", "def peak\n  1\nend"),
        ("bash", "let x = 1"),
        ("css", ".a {\n  margin: -$unit;\n}"),
        ("python", "lib = shared_library(\n  'kiln',\n  install : true)"),
        ("python", "my $kiln = 1;"),
        ("python", "kiln.py:1: error: a name is not defined"),
        ("javascript", '{"a": 1}'),
        ("rust", "error[E0382]: borrow of moved value\n --> src/main.rs:4:5"),
    ],
)
def test_a_language_is_not_confirmed_by_lines_it_cannot_have(language: str, code: str) -> None:
    assert unconfirmed(language, code)


def test_a_golden_fence_is_neither_vetoed_nor_unconfirmed_for_its_own_language() -> None:
    for path in GOLDEN:
        if path.parent.name != "none":
            assert veto(code_of(path)) is None, path
            assert unconfirmed(path.parent.name, code_of(path)) is None, path


def test_bytes_that_are_no_model_are_refused() -> None:
    with pytest.raises(ValueError, match="version 1"):
        read_model(b"memhtml language model 9\n")


def test_a_model_for_another_vocabulary_is_refused() -> None:
    header = json.dumps({"languages": ["python"], "features": 0}).encode()
    with pytest.raises(ValueError, match="vocabulary"):
        read_model(MODEL_MAGIC + header + b"\n")


def test_only_the_write_path_and_a_command_can_reach_the_detector() -> None:
    modules = {module.name: module for module in read_modules()}
    reached = {name for name in modules if name.split(".")[1:2] in (["index"], ["search"])}
    waiting = list(reached)
    while waiting:
        for imported in imports_of(modules[waiting.pop()]):
            parts = imported.split(".")
            names = {".".join(parts[:size]) for size in range(2, len(parts) + 1)}
            new = names & modules.keys() - reached
            reached |= new
            waiting += new
    assert f"{PACKAGE}.format.parse" in reached
    assert not reached & {
        f"{PACKAGE}.format.detect",
        f"{PACKAGE}.format.language_features",
        f"{PACKAGE}.format.language_gates",
        f"{PACKAGE}.providers.languages",
    }
