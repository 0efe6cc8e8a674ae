"""Rewordings share a key; other statements do not."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.scoring.nearness import near_key

GATE = "The loading bay gate opens at 06:30."


@pytest.mark.parametrize(
    "text",
    [
        "the LOADING bay Gate opens at 06:30.",
        "The  loading bay\ngate opens at 06:30.",
        "The loading bay gate opens at 06:30",
        "Gate of the loading bay opens 06:30",
    ],
)
def test_case_spacing_stop_and_order_make_no_difference(text: str) -> None:
    """Field case S8."""
    assert near_key(text) == near_key(GATE)


def test_composed_and_decomposed_accents_agree() -> None:
    text = "Das Café öffnet um sechs."
    assert near_key(unicodedata.normalize("NFD", text)) == near_key(text)


@given(st.text(st.characters(codec="ascii"), min_size=5))
def test_in_plain_letters_a_word_ends_where_it_does_in_any(text: str) -> None:
    words = re.findall(r"\w+", text)
    assert near_key(text) == near_key(" ".join(reversed(words)))
    assert near_key(f"{text} É") == near_key(" ".join(["é", *words]))
    assert near_key(text + " owl Gate") == near_key(text + "\u3000\uff2f\uff37\uff2c gate")


@pytest.mark.parametrize(
    "text",
    [
        "The loading bay gate opens at 06:31.",
        "The loading bay gate never opens at 06:30.",
        "The loading bay gate closes at 06:30.",
    ],
)
def test_another_number_a_negation_or_another_verb_is_another_statement(text: str) -> None:
    assert near_key(text) != near_key(GATE)


def test_unspaced_scripts_are_compared_too() -> None:
    assert near_key("門は六時に開く。") == near_key("門は六時に開く")
    assert near_key("門は六時に開く") != near_key("門は七時に開く")


@pytest.mark.parametrize("text", ["", "   ", "Yes.", "it is the"])
def test_too_little_text_has_no_key(text: str) -> None:
    assert near_key(text) is None
