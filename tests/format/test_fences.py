from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.format.fences import LANG_TOKEN, closes_fence, fence_block, fence_opening

CODE_LINES = st.lists(st.text(alphabet="ab `\t<é"), max_size=6)


@pytest.mark.parametrize("label", ["TS", "Python", "C++", "objective-C", "7z"])
def test_a_label_is_kept_as_its_author_wrote_it(label: str) -> None:
    block = fence_block(f"```{label} title\nx\n```")
    assert block is not None
    assert block.lang == label


@pytest.mark.parametrize("info", ["", "{.py}", ".net", "py,linenos", "é"])
def test_what_is_no_language_token_leaves_the_fence_unlabelled(info: str) -> None:
    block = fence_block(f"```{info}\nx\n```")
    assert block is not None
    assert block.lang is None


def test_two_fences_with_prose_between_are_no_fence() -> None:
    assert fence_block("```\na\n```\nprose\n```\nb\n```") is None


@pytest.mark.parametrize("frame", ["\n{}", "{}\n", "\n\n{}\n", " \t{}\u3000"])
def test_line_ends_around_a_paragraph_do_not_hide_its_fence(frame: str) -> None:
    block = fence_block(frame.format("```py\nx\n```"))
    assert block == ("py", "x")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_code_has_lf_line_ends_whatever_the_prose_had(end: str) -> None:
    block = fence_block(end.join(["```py", "a", "", "b", "```"]))
    assert block == ("py", "a\n\nb")


@given(CODE_LINES)
def test_code_between_long_enough_fences_comes_back_verbatim(lines: list[str]) -> None:
    code = "\n".join(lines)
    run = "`" * (3 + code.count("`"))
    block = fence_block(f"{run}\n{code}\n{run}")
    assert block == (None, code)


@given(st.text(alphabet="`a \n\r"))
def test_a_fence_begins_and_ends_with_its_fence_lines(paragraph: str) -> None:
    block = fence_block(paragraph)
    if block is not None:
        first, *_, last = paragraph.strip().replace("\r", "\n").split("\n")
        opening = fence_opening(first)
        assert opening is not None
        assert closes_fence(last, opening)


def test_a_language_token_is_ascii_and_matched_whole() -> None:
    assert LANG_TOKEN.fullmatch("a_b.c-d+e#f")
    assert not LANG_TOKEN.fullmatch("py\n")
    assert not LANG_TOKEN.fullmatch("ру")
