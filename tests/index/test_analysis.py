from __future__ import annotations

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhtml.index.analysis import EXACT_END, analysed, folded
from memhtml.index.database import empty_database
from memhtml.index.schema import FTS_TOKENIZER
from memhtml.search.terms import MAX_TERMS, terms_of

NAME, *OPTIONS = FTS_TOKENIZER


def tokens(text: str) -> list[str]:
    """What the index keeps of *text*; an exact token is shown with its marks."""
    connection = apsw.Connection(":memory:")
    tokenize = connection.fts5_tokenizer(NAME, OPTIONS)
    found = tokenize(
        analysed(text).encode(),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return ["".join(map(_visible, str(token))) for token in found]


def _visible(char: str) -> str:
    if char == EXACT_END:
        return "!"
    return chr(ord(char) - 0xE000) if "\ue000" <= char < EXACT_END else char


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running, hopes; don't.", "run hope don t"),
        ("C++ is not C#.", "c++! is not c#!"),
        ("in .NET 9", "in .net! net 9"),
        ("E-1042", "e-1042! e1042 e 1042"),
        ("parseHTML5", "parsehtml5 pars html"),
        ("HTTPServer", "httpserver http server"),
        ("a/b.c", "a/b.c! a b.c! b c"),
        ("mail ops@example.org.", "mail ops@example.org! op example.org! exampl org"),
        ("see (v2.1.3), ok", "see v2.1.3! v2 1 3 ok"),
        ("--no-verify", "no-verify! noverifi no verifi"),
        ("wait... what", "wait what"),
        ("05:40", "05:40! 05 40"),
        ("東京都 2026年", "東京 京都 都 2026 年"),
        ("サーバー", "サー ーバ バー ー"),
        ("ﬁne ｱｲ", "fine アイ イ"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zero width"),
        ("हिन्दी में", "हिन्दी में"),
        ("Straße CAFÉ", "strass cafe"),
        ("\ue02b\ue0ff private", "privat"),
        ("nul\0byte", "nul byte"),
        ("", ""),
    ],
)
def test_text_becomes_these_tokens(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


def test_a_very_long_name_is_indexed_by_its_parts_alone() -> None:
    found = tokens("/".join(["part"] * 100))
    assert set(found) == {"part"}


TEXT = st.text(
    alphabet=st.one_of(
        st.sampled_from("abcXYZ019 .-_+#@/:\"'*()東京サバไทย한é\u0301ﬁ\ue02b\u200b\0\u00ad"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)


@given(TEXT)
def test_folding_keeps_the_way_back(text: str) -> None:
    low, offsets = folded(text)
    if offsets is None:
        assert len(low) == len(text)
    else:
        assert len(offsets) == len(low) + 1
        assert offsets == sorted(offsets)
        assert offsets[-1] == len(text)


@given(st.text(alphabet="abc \ue000\ue02b\ue0ff\uf8ff\U00100000"))
def test_private_marks_in_a_text_cannot_pass_for_ours(text: str) -> None:
    assert all(char in "abc " for char in analysed(text))


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT)
def test_whatever_is_asked_is_valid_and_a_text_is_found_by_itself(text: str, other: str) -> None:
    connection = empty_database()
    insert = "INSERT INTO files_fts (rowid, title, body) VALUES (?, '', ?)"
    connection.execute(insert, (1, analysed(text)))
    for asked in (text, other, f'"{text}"', f'"{other}" {text}'):
        terms = terms_of(asked)
        assert len(terms) <= MAX_TERMS
        for term in terms:
            for phrase in term.phrases:
                # An error from SQLite here would have reached whoever typed this.
                found = connection.execute(
                    "SELECT rowid FROM files_fts WHERE files_fts MATCH ?", (phrase,)
                ).fetchall()
                if asked == text and len(term.phrases) == 1:
                    assert found == [(1,)], term
        if asked == text and terms:
            assert any(
                connection.execute(
                    "SELECT rowid FROM files_fts WHERE files_fts MATCH ?", (phrase,)
                ).fetchall()
                for term in terms
                for phrase in term.phrases
            )
    connection.close()
