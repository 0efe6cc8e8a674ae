"""The tree's places are places in the file's bytes, whatever the bytes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.format.tree import read_tree

if TYPE_CHECKING:
    from memhtml.format.tree import Tree
    from memhtml.model.diagnostics import Span

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta name="memhtml-tag" content="naïve 𝒳">
  <LINK rel="memhtml-supports"
     href='/a&amp;b'>
</head >
<body data-x=é><p id=one>caf\u00e9 <b
title="𝒳">x</b></p>
</body>
"""

ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}


def file(end: str, *, bom: bool, junk: bytes = b"") -> bytes:
    data = PAGE.replace("\n", end).encode()
    if junk:
        data = data.replace("naïve".encode(), b"na" + junk + b"ve")
    return (b"\xef\xbb\xbf" if bom else b"") + data


def spelled(tree: Tree) -> list[tuple[str, Span]]:
    found = []
    for step in tree.steps():
        if isinstance(step, tuple):
            location = tree.locate(step[2])
            if location is not None:
                found.append((step[0], location.start_tag))
                found += [(name, span) for name in step[1] if (span := location.attribute(name))]
    return found


@pytest.mark.parametrize("bom", [False, True])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("junk", [b"", b"\xff", b"\xe2\x82\xf0\x9f\x98", b"\xef\xbf\xbd\xc0\xaf"])
def test_every_span_is_exact_in_the_bytes(end: str, bom: bool, junk: bytes) -> None:
    data = file(end, bom=bom, junk=junk)
    tree = read_tree(data)
    found = spelled(tree)
    assert [name for name, _ in found] == [
        *("html", "lang", "head", "meta", "name", "content", "link", "rel", "href"),
        *("body", "data-x", "p", "id", "b", "title"),
    ]
    for name, span in found:
        source = data[span.start : span.end].lower()
        assert source.startswith((b"<" + name.encode(), name.encode())), (name, source)
        if source.startswith(b"<"):
            assert source.endswith(b">")
    link = dict(found)["href"]
    assert data[link.start : link.end] == b"href='/a&amp;b'"
    close = tree.head_end_tag
    assert close is not None
    assert data[close.start : close.end] == b"</head >"


@pytest.mark.parametrize("bom", [False, True])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_lines_and_columns_count_from_one_and_in_characters(end: str, bom: bool) -> None:
    found = dict(spelled(read_tree(file(end, bom=bom))))
    places = {name: (span.line, span.column) for name, span in found.items()}
    assert places["html"] == (2, 1)
    assert places["meta"] == (4, 1)
    assert places["link"] == (5, 3)
    assert places["href"] == (6, 6)
    assert places["p"] == (8, 16)
    assert places["b"] == (8, 31)
    assert places["title"] == (9, 1)
    assert (found["b"].end_line, found["b"].end_column) == (9, 11)


@given(st.binary(max_size=200), st.binary(max_size=40))
def test_a_place_is_exact_after_any_bytes(before: bytes, inside: bytes) -> None:
    # No markup in front, so that the marker is an element; the rest is left to chance.
    text = before.translate(None, b"<&\x00") + b"<q id='"
    data = text + inside.translate(None, b"'<&\x00") + b"'><u id=end>"
    spans = dict(spelled(read_tree(data)))
    assert data[spans["q"].start :].startswith(b"<q id='")
    assert data[spans["u"].start : spans["u"].end] == b"<u id=end>"
    lines = data[: spans["u"].start].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = lines.replace("\r\n", "\n").replace("\r", "\n")
    assert spans["u"].line == lines.count("\n") + 1
    assert spans["u"].column == len(lines.rpartition("\n")[2]) + 1


@given(st.binary(max_size=60))
def test_text_is_what_any_decoder_makes_of_it(data: bytes) -> None:
    assert read_tree(data).text == data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def test_a_second_byte_order_mark_is_text() -> None:
    assert read_tree(b"\xef\xbb\xbf\xef\xbb\xbfx").text == "\ufeffx"


def test_undecodable_stretches_are_counted_and_the_first_is_placed() -> None:
    found = read_tree(b"\xef\xbb\xbf<p>\r\n\xc3\xa9\xff \xe2\x82 x").find_undecodable()
    assert found is not None
    count, span = found
    assert count == 2
    assert span == (10, 11, 2, 2, 2, 3)
    assert read_tree("a \ufffd".encode()).find_undecodable() is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<head><title>x</title></head>", b"</head>"),
        (b"<title>x</title>\n</HEAD\n><p>", b"</HEAD\n>"),
        (b"</head>", b"</head>"),
        (b"<head><title>x</title><p>no", None),
        (b"<p>in the body</head>", None),
        (b"<meta charset=utf-8>text</head>", None),
        (b"<!-- </head> --><title></head></title><p>", None),
    ],
)
def test_the_end_of_the_head_is_found_where_it_closes_the_head(
    data: bytes, expected: bytes | None
) -> None:
    span = read_tree(data).head_end_tag
    assert (data[span.start : span.end] if span else None) == expected


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"<head><title>x</title></head><body>", None),
        (b"<head></head><HEAD>", 2),
        (b"<head><!-- <head> --></head><header><header>", None),
        (b"<head></head><p><head/><head>", 3),
    ],
)
def test_a_repeated_head_is_seen(data: bytes, count: int | None) -> None:
    found = read_tree(data).find_repeated_head()
    assert (found and found[0]) == count
    if found:
        assert data[found[1].start : found[1].end].lower().startswith(b"<head")


@pytest.mark.parametrize(
    "stray", ["<head>", "<head >", "<HEAD id='a>\r\nb' x>", "<head/>", "<head><!--x--><head>"]
)
@pytest.mark.parametrize("before", ["", "<head>", "<head><title>t</title>"])
def test_a_stray_head_tag_opens_nothing(before: str, stray: str) -> None:
    data = f"{before}</head>{stray}\n<meta name=é><link rel=x></head>body".encode()
    tree = read_tree(data)
    assert tree.head is not None
    assert [child.tag for child in tree.head.children][-2:] == ["meta", "link"]
    meta = dict(spelled(tree))["meta"]
    assert data[meta.start : meta.end] == "<meta name=é>".encode()
    assert tree.text == data.decode()


def test_processing_instructions_are_told_from_what_looks_like_them() -> None:
    data = "<title><?x?></title><!--<?x?>-->\r\nä<?php echo?>\n<?b ?>".encode()
    found = read_tree(data).find_processing_instructions()
    assert found is not None
    count, span = found
    assert count == 2
    assert data[span.start : span.end] == b"<?php echo?>"
    assert (span.line, span.column) == (2, 2)


def test_a_copy_made_by_error_recovery_stands_where_its_original_does() -> None:
    data = b"<p><b class=x>one<p>two"
    tree = read_tree(data)
    bold = [step for step in tree.steps() if isinstance(step, tuple) and step[0] == "b"]
    spans = [location.start_tag for step in bold if (location := tree.locate(step[2]))]
    assert len(spans) == 2
    assert {data[span.start : span.end] for span in spans} == {b"<b class=x>"}


def test_the_content_of_a_template_is_not_in_the_walk() -> None:
    tree = read_tree(b"a<template><p>b<template><i>c</i></template></p>d</template>e<br>f")
    steps = list(tree.steps())
    assert [step for step in steps if isinstance(step, str)] == ["a", "e", "f"]
    template = next(s for s in steps if isinstance(s, tuple) and s[0] == "template")
    inside = [tag for tag, _, _ in tree.template_elements(template[2])]
    assert inside == ["p", "template", "i"]


def test_a_declarative_shadow_root_hides_nothing() -> None:
    tree = read_tree(b"<div><template shadowrootmode=open><script>1</script></template></div>")
    template = next(s for s in tree.steps() if isinstance(s, tuple) and s[0] == "template")
    assert [tag for tag, _, _ in tree.template_elements(template[2])] == ["script"]


def test_names_outside_of_html_carry_their_namespace() -> None:
    tree = read_tree(b"<svg><title>x</title><foreignObject><p>y</svg><math><mi>z")
    tags = [step[0] for step in tree.steps() if isinstance(step, tuple)][3:]
    assert tags == ["svg svg", "svg title", "svg foreignObject", "p", "math math", "math mi"]


def test_starts_and_ends_balance_at_any_depth() -> None:
    depth = 0
    for step in read_tree(b"<div>" * 2000 + b"x").steps():
        depth += isinstance(step, tuple)
        depth -= step is None
        assert depth >= 0
    assert depth == 0


@pytest.mark.parametrize(
    ("inner", "data"),
    [
        ("\n<p>a</p>\r\n", b"<article>\n<p>a</p>\r\n</article>x"),
        ("<p>a", b"\xef\xbb\xbf<body>\r\n<article><p>a</body>"),
        ("<p>\xe4 b", "<section>\r\n\xe4<article><p>\xe4 b</section> c".encode()),
        ("<p>a</p>\n", b"<article><p>a</p>\n"),
    ],
)
def test_inner_source_is_as_written(inner: str, data: bytes) -> None:
    tree = read_tree(data)
    article = next(s for s in tree.steps() if isinstance(s, tuple) and s[0] == "article")
    assert tree.inner_source(article[2]) == inner


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_the_parser_is_loaded_without_the_rest_of_its_package() -> None:
    assert run(
        "import sys, memhtml.format.tree\n"
        "print(sorted(name for name in sys.modules if name.startswith('turbohtml')))"
    ) == str(["turbohtml._html", "turbohtml._internal._locations"])


def test_a_later_import_of_the_package_shares_its_types() -> None:
    assert (
        run(
            "from memhtml.format import tree\n"
            "import turbohtml, turbohtml.query\n"
            "from turbohtml import _html\n"
            "node = turbohtml.parse('<p a=b>', source_locations=True).find('p')\n"
            "print(tree._parser is _html, turbohtml.Element is tree._parser.Element,\n"
            "      type(node.source_location) is turbohtml.SourceLocation)"
        )
        == "True True True"
    )


def test_where_the_package_is_laid_out_otherwise_it_is_imported_whole() -> None:
    assert (
        run(
            "import sys\n"
            "from importlib.machinery import PathFinder\n"
            "find = PathFinder.find_spec\n"
            "PathFinder.find_spec = lambda name, *rest: (\n"
            "    None if name == 'turbohtml._html' and 'turbohtml' not in sys.modules\n"
            "    else find(name, *rest))\n"
            "from memhtml.format import tree\n"
            "import turbohtml\n"
            "print(tree._parser is turbohtml, tree.read_tree(b'<p>').text)"
        )
        == "True <p>"
    )


def test_a_package_that_is_loaded_already_is_used() -> None:
    code = "import turbohtml\nfrom memhtml.format import tree\nprint(tree._parser is turbohtml)"
    assert run(code) == "True"
