from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.cli.screen import Screen, cells, clip, placed, printable, relative, table, wrap

PLAIN = Screen(80, False, 0.0)
COLOUR = Screen(80, True, 0.0)
TEXTS = st.text(st.sampled_from("ab  語é\u0301-"), max_size=60)


@given(st.text())
def test_printable_keeps_the_length_and_leaves_nothing_that_steers(text: str) -> None:
    safe = printable(text)
    assert len(safe) == len(text)
    safe.encode()
    assert not any(c in safe for c in "\x1b\x07\x9b\u202e\u2066\n\r\t")


@given(TEXTS, st.integers(4, 20))
def test_wrapped_lines_fit_and_lose_only_spaces(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cells(text[a:b]) <= width for a, b in lines)
    assert "".join(text[a:b] for a, b in lines).replace(" ", "") == text.replace(" ", "")
    assert all(a <= b for a, b in lines)
    assert all(left[1] <= right[0] for left, right in pairwise(lines))


def test_wide_letters_break_between_any_two() -> None:
    text = "日本語のテキスト"
    assert [text[a:b] for a, b in wrap(text, 6)] == ["日本語", "のテキ", "スト"]


@given(TEXTS, st.integers(1, 20))
def test_a_clipped_text_fits(text: str, width: int) -> None:
    assert cells(clip(text, width)) <= width


def test_marks_light_the_words_they_cover_and_no_others() -> None:
    text = "the gate opens"
    assert COLOUR.mark(text, [(4, 8)], 0, 14) == "the \x1b[1;33mgate\x1b[0m opens"
    assert COLOUR.mark(text, [(0, 3), (4, 8)], 2, 6) == "\x1b[1;33me\x1b[0m \x1b[1;33mga\x1b[0m"
    assert COLOUR.mark(text, [(4, 8), (6, 14)], 0, 14).count("\x1b[1;33m") == 2
    assert PLAIN.mark(text, [(4, 8)], 0, 14) == text


@pytest.mark.parametrize(
    ("instant", "words"),
    [
        ("1970-01-01T00:00:30Z", "just now"),
        ("1969-12-31T23:59:00Z", "1 minute ago"),
        ("1969-12-31T01:00:00Z", "23 hours ago"),
        ("1969-12-01", "1 month ago"),
        ("1960-01-01T00:00:00Z", "10 years ago"),
        ("1970-01-02", "in 1 day"),
        ("1969-12-31T23:59:60Z", "1969-12-31T23:59:60Z"),
        ("yesterday", "yesterday"),
    ],
)
def test_times_are_told_from_now(instant: str, words: str) -> None:
    assert relative(instant, 0.0) == words


WORDS = st.text(st.sampled_from("ab 語-"), min_size=1, max_size=40)


@given(st.lists(st.tuples(WORDS, st.integers(0, 10**6)), min_size=1), st.integers(30, 120))
def test_a_table_fits_the_screen_and_its_columns_stand_under_each_other(
    rows: list[tuple[str, int]], columns: int
) -> None:
    screen = Screen(columns, False, 0.0)
    head, *lines = table(("name", "count:"), [(name, str(n)) for name, n in rows], screen)
    assert max(map(cells, [head, *lines])) <= screen.width
    # Numbers end where the head of their column does.
    assert {cells(line) for line in lines} == {cells(head)}
    assert [int(line.split()[-1]) for line in lines] == [count for _, count in rows]


def test_a_path_is_never_cut_and_what_is_said_of_it_gives_way() -> None:
    path = "areas/inbox/gate-hours.html"
    assert placed(path, ("semantic", "now"), PLAIN, 2) == [f"  {path} · semantic · now"]
    narrow = Screen(30, False, 0.0)
    assert placed(path, ("semantic", "now"), narrow, 2) == [f"  {path}", "  semantic · now"]
