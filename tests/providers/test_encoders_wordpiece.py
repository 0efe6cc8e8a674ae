"""Reading text as BERT does. Expectations are worked out by hand from its published rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.providers.encoders.wordpiece import LONGEST_WORD, WordPiece, spell, words

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "run", "##ning", ",", "京"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Hello, World!", ["hello", ",", "world", "!"], id="case and marks"),
        pytest.param("café Ångström", ["cafe", "angstrom"], id="accents, composed"),
        pytest.param("cafe\u0301", ["cafe"], id="accents, as marks of their own"),
        pytest.param("naïve—yes", ["naive", "—", "yes"], id="a dash beyond ASCII"),
        pytest.param("don't", ["don", "'", "t"], id="apostrophe"),
        pytest.param("snake_case+=1", ["snake", "_", "case", "+", "=", "1"], id="ASCII signs"),
        pytest.param("5€ x×y", ["5€", "x×y"], id="signs beyond ASCII do not cut"),
        pytest.param("hi😀there", ["hi😀there"], id="emoji do not cut"),
        pytest.param("👩\u200d🚀", ["👩🚀"], id="the joiner inside an emoji is dropped"),
        pytest.param("東京tower", ["東", "京", "tower"], id="Han is cut around each character"),
        pytest.param("豈\U00020000", ["豈", "\U00020000"], id="Han beyond the main block"),
        pytest.param(
            "ひらがな カタカナ", ["ひらかな", "カタカナ"], id="kana stay whole, dakuten go"
        ),
        pytest.param("한국", ["한국"], id="Hangul is decomposed"),
        pytest.param("ΣΊΣΥΦΟΣ", ["σισυφοσ"], id="no final sigma"),
        pytest.param("İstanbul", ["istanbul"], id="dotted capital I"),
        pytest.param("straße", ["straße"], id="sharp s is a letter of its own"),
        pytest.param("a\u00a0b\u2003c\td\r\ne", ["a", "b", "c", "d", "e"], id="white space"),
        pytest.param("a\u200bb\x00c\ufffdd\x0be", ["abcde"], id="controls are dropped"),
        pytest.param("x\x0by", ["xy"], id="so are those that Python calls space"),
        pytest.param("\ue000z", ["z"], id="private use is dropped"),
        pytest.param("[CLS]", ["[", "cls", "]"], id="the names of special pieces are text"),
        pytest.param("", [], id="nothing"),
        pytest.param(" \n ", [], id="nothing but space"),
    ],
)
def test_a_text_is_cut_into_folded_words(text: str, expected: list[str]) -> None:
    if text == "한국":  # the expectation is easier to read composed
        expected = ["".join(chr(code) for code in (0x1112, 0x1161, 0x11AB, 0x1100, 0x116E, 0x11A8))]
    assert words(text) == expected


@given(st.text(st.characters(codec="ascii")))
def test_plain_text_reads_the_same_beside_an_accent(text: str) -> None:
    # A text beyond ASCII takes another way through the code.
    assert words(f"{text} é") == [*words(text), "e"]


@given(st.text())
def test_words_hold_no_space_and_are_read_again_as_themselves(text: str) -> None:
    once = words(text)
    assert all(word and not any(c.isspace() for c in word) for word in once)
    assert words(" ".join(once)) == once


def test_a_word_is_spelled_with_the_longest_pieces() -> None:
    ids = WordPiece(PIECES).ids("Unaffable, running", 99)
    assert ids == [2, 4, 5, 6, 9, 7, 8, 3]


def test_a_word_that_cannot_be_spelled_is_one_unknown_piece() -> None:
    assert WordPiece(PIECES).ids("unaffordable run", 99) == [2, 1, 7, 3]


def test_a_word_of_more_than_a_hundred_characters_is_unknown() -> None:
    pieces = ["[UNK]", "[CLS]", "[SEP]", "a", "##a", "a" * 101]
    reader = WordPiece(pieces)
    assert reader.ids("a" * LONGEST_WORD, 999) == [1, 3, *[4] * 99, 2]
    assert reader.ids("a" * (LONGEST_WORD + 1), 999) == [1, 0, 2]


@given(st.text(), st.integers(2, 9))
def test_ids_are_never_more_than_the_limit_and_always_closed(text: str, limit: int) -> None:
    ids = WordPiece(PIECES).ids(text, limit)
    assert len(ids) <= limit
    assert (ids[0], ids[-1]) == (2, 3)
    assert ids[:-1] == WordPiece(PIECES).ids(text, 10_000)[: len(ids) - 1]


@given(st.text("abc", min_size=1, max_size=30), st.sets(st.text("abc", min_size=1, max_size=3)))
def test_the_pieces_of_a_word_put_together_are_the_word(word: str, known: set[str]) -> None:
    pieces = {piece: piece for piece in known} | {f"##{piece}": piece for piece in known}
    spelled = spell(word, pieces.get)
    assert spelled is None or "".join(spelled) == word
