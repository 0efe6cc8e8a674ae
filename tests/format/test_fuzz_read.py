"""Any bytes at all can be read: no exception, no hang, and places that are in the file."""

from __future__ import annotations

import gc
import random
from time import process_time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.format.parse import FILE_CAP, parse
from memhtml.format.text import canonical_text, content_hash, gist

if TYPE_CHECKING:
    from collections.abc import Callable

    from memhtml.model.document import Document

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Kiln</title>
<meta name="memhtml-type" content="task"><meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-03-04"><meta name="memhtml-due" content="soon">
<meta name="memhtml-importance" content="11"><link rel="memhtml-supports" href="../b.html">
</head><body><article><p><mark>The loft <code>f</code> floods.</mark> caf\u00e9 𝒳</p>
<dl><dt>depth</dt><dd><data value="2">two</data></dd></dl><time>then</time><time datetime=x>y</time>
<figure><pre> one <code data-lang="c sharp">two</code></pre></figure><div class=x onclick=y>z</div>
<details><summary>s</summary>t</details><aside>u <cite>v</cite><q cite=w>x</q></aside>
<template><script>1</script></template><svg onload=a><style>b</style></svg></article></body></html>
"""

TOKENS = tuple(
    token.encode("utf-8", "surrogateescape")
    for token in (
        *(
            "<p>",
            "</p>",
            "<b class=q>",
            "</b>",
            "<table>",
            "<tr>",
            "<td>",
            "<pre>",
            "<mark>",
            "<dd>",
        ),
        *("<article>", "</article>", "<head>", "</head>", "<body class=x>", "<html on-x=y>"),
        *("<template>", "</template>", "<svg>", "</svg>", "<title>", "</title>", "<plaintext>"),
        *("<!--", "-->", "<![CDATA[", "]]>", "<?a b?>", "<", ">", '"', "'", "=", "/", "&", "&#0;"),
        *("\r\n", "\r", "\n", "\f", "\0", "\v", "\u00a0", "\ufeff", "𝒳", "\udcff", "\udce2\udc82"),
        *("<meta name=memhtml-x>", "<time>", "<frameset>", "<noscript>", "<select>", "<textarea>"),
    )
)


def assert_sound(data: bytes) -> Document:
    """Read *data*; each place is in it, and what is said of an element points at its tag."""
    document = parse(data)
    for finding in document.diagnostics:
        span = finding.span
        assert 0 <= span.start <= span.end <= len(data)
        assert span.line >= 1
        assert span.column >= 1
        source = (
            data[span.start : span.end].decode("utf-8", "replace").replace("\0", "\ufffd").lower()
        )
        if source and finding.code == "element-unknown":
            name = str(finding.info["element"]).lower()
            assert source.startswith("<" + name), (finding, source)
            assert source.endswith(">")
        if source and finding.code.startswith("attr-"):
            attribute = str(finding.info["attr"]).lower()
            # The tag, where several tags of one element put their attributes together.
            assert source.startswith((attribute, "<")), (finding, source)
        assert finding.message.isprintable()
    return document


@given(st.binary(max_size=400))
def test_any_bytes_are_read(data: bytes) -> None:
    assert_sound(data)


@given(st.lists(st.sampled_from(TOKENS), max_size=40).map(b"".join))
def test_any_markup_is_read(data: bytes) -> None:
    document = assert_sound(data)
    assert document.content_hash == content_hash(data)


@given(st.text(max_size=100))
def test_any_text_has_a_hash_and_a_gist(text: str) -> None:
    assert len(content_hash(text)) == 71
    assert isinstance(gist(text), str)


@pytest.mark.parametrize("seed", range(4))
def test_mutants_of_a_memory_are_read(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - test data, the same every time
    for _ in range(150):
        data = PAGE.encode()
        for _ in range(rng.randint(1, 12)):
            at, length = rng.randrange(len(data)), rng.choice((0, 0, 1, 3, 10, 60))
            data = data[:at] + rng.choice(TOKENS) + data[at + length :]
        assert_sound(data)


N = 10_000
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "text": lambda n: b"x y\n" * (15 * n),
    "wide text": lambda n: "é𝒳 ".encode() * (10 * n),
    "spaces": lambda n: b" " * (250 * n),
    "nul": lambda n: b"\0" * (10 * n),
    "cr": lambda n: b"\r" * (10 * n),
    "crlf": lambda n: b"<hr>\r\n" * n,
    "bad bytes": lambda n: b"\xff<i>\xe2\x82" * n,
    "nested div": lambda n: b"<div>" * (4 * n),
    "nested article": lambda n: b"<article><p>" * n,
    "nested aside": lambda n: b"<aside>x" * n,
    "nested lists": lambda n: b"<dl><dt>a<dd><data value=1>b</data>" * (n // 4),
    "nested template": lambda n: b"<template><p class=x>" * n,
    "nested pre": lambda n: b"<article>" + b"<pre>  <div>" * n,
    "attributes": lambda n: b"<p " + b" ".join(b"a%d=1" % i for i in range(4 * n)) + b">",
    "handlers": lambda n: b"<p " + b" ".join(b"on%d=1" % i for i in range(n)) + b">",
    "classes": lambda n: b"<p class=x>" * n,
    "classes, wide": lambda n: "é<p class=x>\r\n".encode() * n,
    "copies": lambda n: b"<p><b class=x>" * (n // 10),
    "unknown": lambda n: b"".join(b"<x%d>" % i for i in range(n)),
    "metas": lambda n: b"".join(b"<meta name=memhtml-x%d>" % i for i in range(n)),
    "times": lambda n: b"<time>x</time>" * n,
    "nested times": lambda n: b"<time>x" * n,
    "marks": lambda n: b"<article><p>" + b"<mark>x<code>y</code></mark>" * n,
    "code in a mark": lambda n: b"<article><p><mark>" + b"<code>y</code>z" * n,
    "pre": lambda n: b"<article>" + b"<pre> x</pre> y" * n,
    "less-than": lambda n: b"<" * (40 * n),
    "ampersand": lambda n: b"&" * (40 * n),
    "comments": lambda n: b"<!--" * n,
    "instructions": lambda n: b"<?a?>" * n,
    "heads": lambda n: b"</head><head>" * n,
    "head ends": lambda n: b"</head>" * n,
    "formatting": lambda n: b"<a><div>" * (n // 20) + b"<b><i><u>" * (n // 20),
    "svg": lambda n: b"<svg><title>" * n,
    "scripts": lambda n: b"<script></script>" * n,
    "long value": lambda n: b"<meta name=memhtml-type content='" + b"x" * (20 * n) + b"'>",
    "urls": lambda n: b"<a href='" + b"\t" * (20 * n) + b"javascript:'>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_is_read_in_linear_time(name: str) -> None:
    make = HOSTILE[name]
    small, large = make(N // 8), make(N)[:FILE_CAP]
    seconds = {}
    gc.collect()
    gc.freeze()  # what other tests left would be looked through again and again
    for data in (small, large):
        begin = process_time()
        parse(data)
        seconds[len(data)] = process_time() - begin
    gc.unfreeze()
    first, second = seconds.values()
    # Eight times the input may cost sixteen times as much, for what is small is also cached; a
    # quadratic rule would cost sixty-four times. A quarter of a second is allowed to anything.
    allowed = max(0.25, 16 * first)
    assert second < allowed, (
        f"{first:.3f} s for {len(small)} bytes, {second:.3f} s for {len(large)}"
    )


def test_ten_megabytes_are_refused_at_once() -> None:
    data = b"<p>" * (10 * 2**20 // 3)
    begin = process_time()
    assert [finding.code for finding in parse(data).violations] == ["file-too-large"]
    assert process_time() - begin < 0.1


def test_hashing_bare_markup_is_linear_too() -> None:
    begin = process_time()
    canonical_text(b"<em>x</em> <pre> y</pre>" * 40_000)
    assert process_time() - begin < 2
