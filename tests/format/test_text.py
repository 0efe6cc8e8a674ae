"""The canonical text and the hash over it: the shared vectors, and what holds of any markup."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.format.parse import parse
from memhtml.format.text import canonical_text, content_hash, gist, plain_text
from memhtml.model.whitespace import collapse

VECTORS = Path(__file__).parents[1] / "conformance" / "vectors"

MARKUP = st.lists(
    st.sampled_from([*"ab  \n\t\r\f\v\u00a0\u3000\ufeff\x85\x1c\u200bé𝒳&;", "&nbsp;", "&#13;"])
    | st.sampled_from(
        [
            *("<p>", "</p>", "<pre>", "</pre>", "<em>", "</em>", "<div>", "</div>", "<br>"),
            *("<code>", "</code>", "<mark>", "</mark>", "<svg>", "</svg>", "<table>", "<td>"),
            *("<template>", "</template>", "<!--x-->", "<ul>", "<li>", "</ul>"),
        ]
    ),
    max_size=30,
).map("".join)


def vectors(name: str) -> list[Any]:
    lines = (VECTORS / f"{name}.jsonl").read_text(encoding="ascii").split("\n")
    return [pytest.param(json.loads(line), id=json.loads(line)["id"]) for line in lines if line]


@pytest.mark.parametrize("vector", vectors("hash"))
def test_a_shared_vector_has_the_same_text_and_hash(vector: dict[str, Any]) -> None:
    html, out = vector["in"]["html"], vector["out"]
    assert content_hash(html) == out["hash"]
    if "text" in out:
        assert canonical_text(html) == out["text"]


def whole(inner: str, head: str = "") -> bytes:
    page = f"<!doctype html><head><title>x</title>{head}</head><body><article>{inner}</article>"
    return page.encode()


@given(MARKUP)
def test_a_file_and_the_markup_in_its_article_have_one_hash(inner: str) -> None:
    assert content_hash(whole(inner)) == content_hash(inner)


@given(MARKUP)
def test_parsing_and_hashing_agree_on_text_hash_and_claim(inner: str) -> None:
    data = whole(inner)
    document = parse(data)
    assert document.text == canonical_text(data)
    assert document.content_hash == content_hash(data)
    assert document.claim == gist(data)
    assert document.body_text == collapse(document.text)


@given(MARKUP, MARKUP)
def test_nothing_in_the_head_moves_the_hash(inner: str, title: str) -> None:
    # Markup in a title is text there; only its end tag would let it out.
    head = f"<title>{title}</title><meta name=memhtml-tag content='{title}'>"
    assert content_hash(whole(inner, head)) == content_hash(whole(inner))


@given(MARKUP)
def test_the_hash_is_that_of_the_text(inner: str) -> None:
    digest = hashlib.sha256(canonical_text(inner).encode()).hexdigest()
    assert content_hash(inner) == f"sha256:{digest}"


@given(st.text(st.sampled_from("ab \n\t\r\f\v\u00a0\u3000\ufeff\x85\x1c\x00é𝒳"), max_size=12))
def test_plain_text_is_the_model_rule_made_fast(text: str) -> None:
    assert plain_text(text) == collapse(text)


def test_bytes_and_text_are_read_alike() -> None:
    html = "<article><p>caf\u00e9</p></article>"
    assert content_hash(html) == content_hash(html.encode())
    assert content_hash("<p>caf\u00e9") == content_hash("<p>caf\u00e9".encode())


def test_a_byte_order_mark_never_moves_the_hash() -> None:
    for html in (b"<article><p>x</article>", b"<p>x", b"<!doctype html><p>x"):
        assert content_hash(b"\xef\xbb\xbf" + html) == content_hash(html)


def test_a_self_closing_article_is_an_article() -> None:
    assert canonical_text(b"<title>t</title><article/>x") == "x"


def test_an_article_in_a_comment_is_none() -> None:
    assert canonical_text("<!-- <article > -->a <em>b</em>") == "a b"


def test_a_lone_surrogate_is_read_as_the_replacement_character() -> None:
    assert canonical_text("a\ud800b") == "a\ufffdb"
    assert canonical_text("<article>a\udfffb") == "a\ufffdb"


def test_the_gist_leaves_out_code_and_takes_the_first_mark() -> None:
    assert gist("<p><mark>Run <code>x</code> <kbd>now</kbd></mark> <mark>two</mark>") == "Run now"
    assert gist("<p>no claim") == ""
    assert gist("<pre><mark>a\n  b</mark></pre>") == "a b"
    assert gist("<mark>a<pre>b</pre>c<mark>d</mark></mark>") == "acd"
