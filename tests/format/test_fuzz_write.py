"""Laws of the head editors and of rendering, on files and texts nobody would think of.

Files are the vectors' own, put together anew from pieces of heads and then damaged; an editor
must do exactly its edit or refuse with one of the two errors it names.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from memhtml.format.drafts import find_unrenderable
from memhtml.format.edit import (
    AddLink,
    AddMeta,
    Edit,
    RemoveLink,
    RemoveMeta,
    SetMeta,
    apply_edits,
    read_links,
    read_meta,
)
from memhtml.format.escape import link_tag, meta_tag
from memhtml.format.metas import META_ORDER, REPEATABLE
from memhtml.format.parse import parse
from memhtml.format.render import render_memory, render_template
from memhtml.format.text import content_hash
from memhtml.format.tree import read_tree
from memhtml.model.document import Citation, Facet, Link
from memhtml.model.errors import InvalidFlag, InvalidMemory
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.model.whitespace import collapse

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

AT = "2026-07-08T09:10:11Z"
VECTORS = Path(__file__).parents[1] / "conformance" / "vectors"

PIECES = (
    "<!doctype html>",
    "<html>",
    "<head>",
    "<HEAD lang=x>",
    "</head>",
    "</HEAD >",
    "<body>",
    "</body></html>",
    "<title>a & b</title>",
    "<title>open",
    "<meta charset=utf-8>",
    '<meta name="memhtml-type" content="semantic">',
    '<meta name="memhtml-tag" content="owls">',
    "<META CONTENT='x>y' NAME=memhtml-tag />",
    '<meta\n name="memhtml-due"\r\n content="2026-03-04">',
    '<meta name="memhtml-odd" content="?">',
    "<meta name=memhtml-author>",
    '<meta name="memhtml-tag" content="&quot;caf&eacute;&quot;\u00a0\U0001f989">',
    '<link rel="memhtml-supports" href="/a.html">',
    "<link rel=memhtml-blocks>",
    "<LINK HREF=/b.html REL='memhtml-supports'>",
    '<link rel="stylesheet" href="/s.css">',
    '<!-- <meta name="memhtml-type" content="ghost"> -->',
    "<!-- two\nlines -->",
    "<!-->",
    "<!--!> -->",
    "<!-- open",
    "<script>'<meta name=memhtml-tag content=z>'</script>",
    "<style></style>",
    "<template><meta name=memhtml-tag content=t></template>",
    "<noscript><meta name=memhtml-tag content=n></noscript>",
    "<base href=/>",
    "<?pi ?>",
    "</p>",
    "words",
    "<article>\n<p><mark>Owls.</mark></p>\n<pre>\n\n  x\n</pre>\n</article>",
    "<svg><title>x</title>",
    "<table><tr><meta name=memhtml-tag content=foster>",
    "<frameset>",
    "\x00",
)
JOINTS = ("", "\n", "\n", "\r\n", "\r", "  ", "\n\t", "\n\n", " \n ")


@cache
def _vector_files() -> tuple[bytes, ...]:
    files = {}
    for name in ("editors", "document", "check"):
        for line in (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n"):
            html = json.loads(line)["in"].get("html") if line else None
            if html is not None and len(html) < 20_000:
                files[html.encode("utf-8", "replace")] = True
    return tuple(files)


def laws(max_examples: int) -> settings:
    # A busy machine is slow, and that is no fault of what is tested here.
    return settings(
        max_examples=max_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


@st.composite
def damaged(draw: st.DrawFn, files: SearchStrategy[bytes]) -> bytes:
    data = bytearray(draw(files))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 12)))
        piece = draw(
            st.sampled_from([p.encode() for p in PIECES])
            | st.binary(max_size=4)
            | st.sampled_from([b"<", b">", b'"', b"'", b"-", b"\n", b"\r", b"/", b"=", b"\xff"])
        )
        data[at : draw(st.sampled_from((at, end)))] = piece
    return draw(st.sampled_from((b"", b"", b"", b"\xef\xbb\xbf"))) + bytes(data)


assembled = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from(JOINTS)), min_size=1, max_size=14
).map(lambda parts: "".join(piece + joint for piece, joint in parts).encode())
files = damaged(st.one_of(assembled, st.deferred(lambda: st.sampled_from(_vector_files()))))

values = st.text(max_size=8) | st.sampled_from(
    ("owls", "active", "a & b", '"', "\r\n", "\u00a0", "<b>", "&amp;", "", "\U0001f989")
)
hrefs = st.sampled_from(("/a.html", "/b.html", "/c.html?x=1&y=2", 'a"b'))
metas = st.sampled_from(META_ORDER)
repeatables = st.sampled_from(sorted(REPEATABLE))
rels = st.sampled_from(tuple(Rel))
edits: SearchStrategy[Edit] = st.one_of(
    st.builds(SetMeta, metas, values),
    st.builds(AddMeta, repeatables, values),
    st.builds(AddMeta, metas, values),
    st.builds(RemoveMeta, metas),
    st.builds(AddLink, rels, hrefs),
    st.builds(RemoveLink, rels, st.none() | hrefs),
)


def apply(data: bytes, *some: Edit) -> bytes:
    """Apply *some*, passing over examples that are refused as they may be."""
    try:
        return apply_edits(data, some)
    except (InvalidFlag, InvalidMemory):
        assume(False)
        raise


@laws(100)
@given(files, edits)
def test_an_edit_never_moves_the_content_hash(data: bytes, edit: Edit) -> None:
    assert content_hash(apply(data, edit)) == content_hash(data)


@laws(80)
@given(files, st.builds(SetMeta, metas, values))
def test_a_meta_that_is_set_is_read_back_and_nothing_else_changes(
    data: bytes, edit: SetMeta
) -> None:
    result = apply(data, edit)

    assert read_meta(result, edit.name) == edit.value
    assert apply(result, edit) == result
    tag = meta_tag(edit.name, edit.value).encode()
    assert any(re.fullmatch(rb"(?is)(<meta\b.+>)?", old) for old in _replaced(data, result, tag)), (
        data,
        result,
    )


@laws(80)
@given(files, st.builds(AddMeta, repeatables, values) | st.builds(AddLink, rels, hrefs))
def test_what_is_added_is_there_once_and_gone_again_without_a_trace(
    data: bytes, edit: AddMeta | AddLink
) -> None:
    result = apply(data, edit)

    assert apply(result, edit) == result
    if result == data:
        return
    undo: Edit
    if isinstance(edit, AddMeta):
        tag, undo = meta_tag(edit.name, edit.value), RemoveMeta(edit.name)
        is_first = read_meta(data, edit.name) is None and not _has_meta(data, edit.name)
    else:
        tag = link_tag(Rel(edit.rel).token, edit.href)
        undo = RemoveLink(edit.rel, edit.href)
        is_first = True
    assert b"" in _replaced(data, result, tag.encode()), (data, result)
    if is_first:
        assert apply(result, undo) == data


@laws(80)
@given(files, st.builds(RemoveMeta, metas) | st.builds(RemoveLink, rels))
def test_what_is_removed_is_gone_and_only_its_lines_with_it(
    data: bytes, edit: RemoveMeta | RemoveLink
) -> None:
    name = edit.name if isinstance(edit, RemoveMeta) else Rel(edit.rel).token
    result = apply(data, edit)

    assert not _has_meta(result, name)
    assert name not in {link.rel for link in read_links(result)}
    rest = iter(data)
    assert all(byte in rest for byte in result)


@laws(100)
@given(files, st.lists(edits, max_size=6))
def test_a_batch_equals_its_parts(data: bytes, some: list[Edit]) -> None:
    one_by_one = data
    for edit in some:
        one_by_one = apply(one_by_one, edit)

    assert apply(data, *some) == one_by_one


@laws(80)
@given(files, edits)
def test_another_parser_reads_what_an_edit_wrote(data: bytes, edit: Edit) -> None:
    # Parsers differ about a second <head>; the checker warns of it.
    assume(read_tree(data).find_repeated_head() is None)
    before = _read_elsewhere(data)
    assume(before == _read_here(data))
    result = apply(data, edit)

    assert _read_elsewhere(result) == _read_here(result)


TEXTS = (
    *("owl", " ", "\n", "\r\n", "\r", "\t", "\f", "\v", "\x85", "\u00a0", "\ufeff", "\u3000"),
    *("&", "<", ">", '"', "'", "&amp;", "&#13;", "</mark>", "</title>", "</article>", "<script>"),
    *("<!--", "-->", "```", "```py\nx\n```", ".", "\U0001f989", "\u0301", "\0", "\ud800"),
)

texts = st.text(max_size=24) | st.lists(st.sampled_from(TEXTS), max_size=8).map("".join)
# A text that can be written and says something.
plain_texts = st.tuples(texts, texts).map(
    lambda pair: "owl".join(re.sub("[\0\ud800-\udfff]", "", text) for text in pair)
)


def drafts(texts: SearchStrategy[str], numbers: SearchStrategy[float]) -> SearchStrategy[Draft]:
    labels = st.lists(texts, max_size=3).map(tuple)
    facets = st.builds(Facet, texts, texts, st.none() | numbers)
    citations = st.builds(Citation, texts, st.none() | texts)
    links = st.builds(Link, rels.map(lambda rel: rel.token), hrefs.filter(lambda h: h[0] == "/"))
    return st.builds(
        Draft,
        title=texts,
        memory_type=st.sampled_from(MemoryType),
        claim=texts,
        paragraphs=labels,
        facets=st.lists(facets, max_size=3).map(tuple),
        citations=st.lists(citations, max_size=2).map(tuple),
        happened_at=st.none() | st.dates().map(str),
        tags=labels,
        entities=labels,
        aliases=labels,
        links=st.lists(links, max_size=2).map(tuple),
        confidence=st.none() | st.floats(0, 1),
        importance=st.none() | st.integers(1, 10),
        author=st.none() | texts,
        valid_until=st.none() | st.dates().map(str),
    )


@laws(100)
@given(drafts(plain_texts, st.floats(allow_nan=False, allow_infinity=False)))
def test_a_draft_is_read_back_as_it_was_given(draft: Draft) -> None:
    data, document = render_memory(draft, at=AT)

    assert document.is_valid
    assert parse(data) == document
    assert document.head.content_hash == document.content_hash == content_hash(data)
    assert (document.title, document.claim) == (collapse(draft.title), collapse(draft.claim))
    head = document.head
    assert (head.tags, head.entities, head.aliases) == (draft.tags, draft.entities, draft.aliases)
    assert (head.author, head.valid_until) == (draft.author, draft.valid_until)
    assert (head.importance, document.links) == (draft.importance, draft.links)
    assert (head.confidence is None) == (draft.confidence is None)
    assert abs((head.confidence or 0) - (draft.confidence or 0)) <= 0.005
    assert document.happened_at == draft.happened_at
    assert document.facets == tuple(
        Facet(collapse(name), collapse(value), number) for name, value, number in draft.facets
    )
    assert document.citations == tuple(
        Citation(collapse(citation.text), citation.href) for citation in draft.citations
    )


@laws(100)
@given(drafts(texts, st.floats()))
def test_the_template_writes_any_text_or_says_why_not(draft: Draft) -> None:
    try:
        data = render_template(draft, at=AT)
    except InvalidMemory:
        assert find_unrenderable(draft)
        return

    codes = [found.code for found in parse(data).violations]
    assert "mark-count" not in codes
    assert "article-count" not in codes
    assert "element-forbidden" not in codes


@laws(100)
@given(damaged(assembled).map(lambda data: data.decode("utf-8", "replace")))
def test_markup_that_is_let_through_stays_in_its_article_for_any_reader(markup: str) -> None:
    draft = Draft(
        title="Owls",
        memory_type=MemoryType.SEMANTIC,
        article_html=f"<p><mark>Owls.</mark></p>{markup}",
    )
    try:
        data, document = render_memory(draft, at=AT)
    except InvalidMemory:
        return

    placed = (draft.article_html or "").strip("\t\n\f\r ")
    assert f"\n<article>\n{placed}\n</article>\n</body>\n</html>\n".encode() in data
    assert document.article_html == f"\n{placed}\n"
    body = LexborHTMLParser(data.decode()).body
    assert body is not None
    (article,) = body.css("article")
    article.decompose()
    assert not body.css("body > *")
    assert not body.text().strip("\t\n\f\r ")


def _replaced(data: bytes, result: bytes, tag: bytes) -> set[bytes]:
    """Return what may have stood in *data* where *result* has *tag*, all else being equal."""
    found = set()
    at = result.find(tag)
    while at >= 0:
        for line_end in (b"", b"\n", b"\r", b"\r\n"):
            after = result[at + len(tag) :]
            if after.startswith(line_end):
                after = after[len(line_end) :]
                end = len(data) - len(after)
                if end >= at and data.startswith(result[:at]) and data.endswith(after):
                    found.add(data[at:end])
        at = result.find(tag, at + 1)
    return found


def _has_meta(data: bytes, name: str) -> bool:
    return any(key == name for key, _ in _read_here(data))


def _read_here(data: bytes) -> list[tuple[str, str | None]]:
    head = read_tree(data).head
    return [
        (element.attrs["name"], element.attrs.get("content"))
        for element in (head.children if head else ())
        if element.tag == "meta" and element.attrs.get("name", "").startswith("memhtml-")
    ]


def _read_elsewhere(data: bytes) -> list[tuple[str, str | None]]:
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    head = LexborHTMLParser(text).head
    return [
        (node.attributes["name"] or "", node.attributes.get("content"))
        for node in (head.iter() if head else ())
        if node.tag == "meta" and (node.attributes.get("name") or "").startswith("memhtml-")
    ]
