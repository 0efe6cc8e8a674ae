from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memhtml.search.snippets import SNIPPET_CHARS, Snippet, cut_snippet
from memhtml.search.terms import terms_of


def suffixless(word: str) -> str:
    """A stemmer simple enough to check by eye."""
    return word.removesuffix("s")


def cut(text: str, question: str, weights: list[float] | None = None) -> Snippet:
    terms = terms_of(question)
    return cut_snippet(text, terms, weights or [1.0] * len(terms), suffixless)


def shown(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.matches]


def test_a_short_text_is_shown_whole() -> None:
    assert cut("Owls hunt. An owl sleeps.", "owl") == Snippet(
        "Owls hunt. An owl sleeps.", ((0, 4), (14, 17))
    )


def test_a_text_without_the_words_is_shown_from_its_beginning() -> None:
    snippet = cut("bread " * 200, "owl")
    assert snippet.text.startswith("bread bread")
    assert snippet.text.endswith("bread…")
    assert snippet.matches == ()


def test_the_piece_with_most_of_the_terms_is_shown() -> None:
    text = "owl owl owl " + "x " * 400 + "An owl in a barn. " + "y " * 400
    snippet = cut(text, "owl barn")
    assert shown(snippet) == ["owl", "barn"]
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")


def test_a_telling_term_outweighs_two_common_ones() -> None:
    text = "owl barn " + "x " * 400 + "gnomon"
    assert shown(cut(text, "owl barn gnomon", [0.1, 0.1, 5.0])) == ["gnomon"]


def test_words_are_not_cut_where_there_are_spaces() -> None:
    text = "lengthy " * 100 + "owl " + "lengthy " * 100
    words = set(cut(text, "owl").text.strip("…").split())
    assert words == {"lengthy", "owl"}


def test_a_word_inside_another_is_not_marked() -> None:
    assert shown(cut("The bowl and the owlet saw an owl", "owl")) == ["owl"]


def test_parts_of_identifiers_are_marked_where_they_begin() -> None:
    assert shown(cut("getUserName and superuser", "user")) == ["User"]


def test_overlapping_matches_become_one() -> None:
    assert shown(cut("東京都港区", "東京都港")) == ["東京都港"]


def test_offsets_count_characters_of_the_text_as_written() -> None:
    text = "ﬁ ﬁ cafe\N{COMBINING ACUTE ACCENT} 😀 CAFÉ"
    assert shown(cut(text, "café")) == ["cafe\N{COMBINING ACUTE ACCENT}", "CAFÉ"]


@given(st.text(max_size=900), st.text(max_size=20))
def test_a_snippet_is_a_piece_of_the_text_and_its_matches_lie_in_it(
    text: str, question: str
) -> None:
    snippet = cut(text, question)
    bare = snippet.text
    if bare not in text:
        bare = bare.removeprefix("…").removesuffix("…")
    assert bare in text
    assert len(snippet.text) <= SNIPPET_CHARS + 2
    last = 0
    for start, end in snippet.matches:
        assert last <= start < end <= len(snippet.text)
        last = end
