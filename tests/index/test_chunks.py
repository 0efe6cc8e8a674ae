from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memhtml.index.chunks import MIN_CHUNK_CHARS, chunk_rows, chunk_text

WORD = st.text(st.characters(codec="utf-8", exclude_characters=" "), min_size=1, max_size=60)
BODY = st.lists(WORD | st.sampled_from(["end.", "what?", "終。"]), max_size=120).map(" ".join)


@given(title=st.text(max_size=300), claim=st.text(max_size=900), body=BODY)
def test_chunks_cover_the_whole_body_in_order_and_none_is_too_long(
    title: str, claim: str, body: str
) -> None:
    limit = MIN_CHUNK_CHARS
    rows = chunk_rows(title, claim, body, limit)
    assert [row.ordinal for row in rows] == list(range(len(rows)))
    ends = [0, *(row.end_char for row in rows)]
    starts = [*(row.start_char for row in rows), len(body)]
    # Between two pieces, before the first and after the last there is nothing but blanks.
    gaps = [body[end:start] for end, start in zip(ends, starts, strict=True)]
    assert not "".join(gaps).strip()
    assert all(row.start_char < row.end_char for row in rows)
    for row in rows:
        piece = body[row.start_char : row.end_char]
        text = chunk_text(title, claim, piece, limit)
        assert len(text) <= limit
        assert text.endswith(piece)


def test_a_short_body_is_one_chunk_and_an_empty_one_none() -> None:
    assert chunk_rows("T", "C", "") == ()
    ((ordinal, start, end, _),) = chunk_rows("T", "C", "A whole body.")
    assert (ordinal, start, end) == (0, 0, 13)


def test_a_long_body_is_cut_behind_sentences() -> None:
    body = " ".join(f"This is sentence number {n}." for n in range(100))
    rows = chunk_rows("T", "C", body, 400)
    assert len(rows) > 5
    assert all(body[: row.end_char].endswith(".") for row in rows)
    assert all(row.end_char - row.start_char > 150 for row in rows[:-1])


def test_a_body_without_a_place_to_cut_is_cut_all_the_same() -> None:
    rows = chunk_rows("T", "C", "x" * 1000, 400)
    assert [row.end_char - row.start_char for row in rows] == [396, 396, 208]


def test_context_is_said_once_and_told_apart_by_the_hash() -> None:
    claim = "The kiln is fired on Mondays"
    assert chunk_text("Kiln", claim, f"{claim}. At noon.") == f"Kiln\n{claim}. At noon."
    assert chunk_text("The kiln", claim, "At noon.") == f"{claim}\nAt noon."
    assert chunk_text("Oven", claim, "At noon.") == f"Oven\n{claim}\nAt noon."
    hashes = {chunk_rows(title, claim, "At noon.")[0].text_hash for title in ("Oven", "Kiln")}
    assert len(hashes) == 2
