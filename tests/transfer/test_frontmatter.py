from __future__ import annotations

import sys

import pytest

from memhtml.model.errors import UsageError
from memhtml.transfer.frontmatter import split_front_matter


def test_every_value_stays_text() -> None:
    found = split_front_matter("---\nyes: no\nversion: 1.10\nday: 2024-05-01\n---\nbody\n")
    assert found.values == {"yes": "no", "version": "1.10", "day": "2024-05-01"}
    assert (found.body, found.lines) == ("body\n", 5)


@pytest.mark.parametrize(
    "text", ["no front\n---\nmatter\n---\n", "---\nnever: closed\n", "--- x\n---\n"]
)
def test_what_only_looks_like_it_is_text(text: str) -> None:
    assert split_front_matter(text).body == text


@pytest.mark.parametrize(
    "raw", ["a: [", "- a", "a: &x 1\nb: *x", "? {a: b}\n: c", "a: " + "[" * 5000]
)
def test_what_is_no_map_of_texts_is_handed_back_with_the_reason(raw: str) -> None:
    found = split_front_matter(f"---\n{raw}\n---\nbody")
    assert (found.values, found.raw, found.body) == ({}, f"{raw}\n", "body")
    assert found.fault


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert split_front_matter("no front matter").body == "no front matter"
    with pytest.raises(UsageError) as caught:
        split_front_matter("---\na: b\n---\n")
    assert caught.value.suggestions == ("pip install 'pyyaml>=6,<7'",)
