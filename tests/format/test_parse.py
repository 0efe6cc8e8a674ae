"""Reading a file: every field, leniently, with the shared vectors for the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memhtml.format import extract
from memhtml.format.parse import FILE_CAP, parse
from memhtml.format.tree import read_fragment
from memhtml.model.document import Citation, Document, Facet, Head, Link

VECTORS = Path(__file__).parents[1] / "conformance" / "vectors"

# The names of the vectors, beside `Head`'s.
FIELDS = {
    "memory_type": "type",
    "created_at": "created",
    "updated_at": "updated",
    "session_id": "session",
    "prompt_id": "prompt",
    "turn_uuid": "turn",
    "archived_at": "archived",
    "due_at": "due",
}
LISTS = ("entities", "tags", "aliases")

REQUIRED = (
    '<meta name="memhtml-type" content="semantic"><meta name="memhtml-status" content="active">'
    '<meta name="memhtml-created" content="2026-03-04T05:06:07Z">'
    '<meta name="memhtml-updated" content="2026-03-05">'
)


def read(article: str = "<p><mark>x</mark></p>", head: str = REQUIRED) -> Document:
    page = f"<!doctype html><head><title>T</title>{head}</head><article>{article}</article>"
    return parse(page.encode())


def vectors() -> list[Any]:
    lines = (VECTORS / "document.jsonl").read_text(encoding="ascii").split("\n")
    records = [json.loads(line) for line in lines if line]
    return [pytest.param(r, id=r["id"]) for r in records if r["op"] == "parse"]


def metas(head: Head) -> dict[str, object]:
    values = {name: getattr(head, name) for name in Head.__slots__ if name not in LISTS}
    return {FIELDS.get(name, name): value for name, value in values.items() if value is not None}


def markup(html: str) -> list[object]:
    """Return what *html* says, however it is written."""
    trimmed = html.strip("\t\n\f\r ")
    return [
        (step[0], dict(step[1])) if isinstance(step, tuple) else step
        for step in read_fragment(trimmed)
    ]


@pytest.mark.parametrize("vector", vectors())
def test_a_shared_vector_has_the_same_fields(vector: dict[str, Any]) -> None:
    document = parse(vector["in"]["html"].encode())
    assert document.is_valid == vector["out"]["ok"]
    if not document.is_valid:
        return
    doc = vector["out"]["doc"]
    article = doc["article"]
    if "seed-tension" in vector.get("tags", ()):
        # A deadline is read of tasks alone.
        doc["metas"].pop("due")
    assert metas(document.head) == doc["metas"]
    for name in LISTS:
        assert list(getattr(document.head, name)) == doc[name]
    assert document.title == doc["title"]
    assert [
        {"rel": link.rel.removeprefix("memhtml-").replace("-", "_"), "href": link.href}
        for link in document.links
    ] == doc["links"]
    assert document.body_text == article["body_text"]
    assert document.claim == article["gist"]
    assert document.happened_at == article["event_at"]
    assert [
        {"name": name, "value": value, "numeric_value": number}
        for name, value, number in document.facets
    ] == article["facets"]
    assert [c._asdict() for c in document.citations] == article["citations"]
    for name in ("defined_terms", "summaries", "asides", "captions", "code_langs", "abbreviations"):
        assert list(getattr(document, name)) == article[name]
    assert markup(document.article_html) == markup(article["html"])


def test_what_is_wrong_is_absent_and_the_rest_is_read() -> None:
    document = parse(
        b"<title> A\n b </title><meta name=memhtml-type content=recipe>"
        b"<meta name=memhtml-status content=active><meta name=memhtml-created content=now>"
        b"<meta name=memhtml-confidence content=2><meta name=memhtml-reprieves content=1e1>"
        b"<meta name=memhtml-task-status content=todo><meta name=memhtml-due content=2026-01-01>"
        b"<meta name=memhtml-tag content=><meta name=memhtml-tag content=' '>"
        b"<meta name=memhtml-author><meta name=memhtml-author content=second>"
        b"<meta name=memhtml-needs-revision content=YES>"
        b"<link rel=memhtml-nonsense href=x><link rel=memhtml-blocks>"
    )
    assert document.title == "A b"
    assert document.head == Head(
        status="active", reprieves=10, tags=(" ",), author="", needs_revision=True
    )
    assert document.links == (Link("memhtml-nonsense", "x"),)
    assert not document.is_valid


def test_only_a_task_has_a_task_status_and_a_deadline() -> None:
    head = REQUIRED.replace("semantic", "task") + (
        "<meta name=memhtml-task-status content=doing><meta name=memhtml-due content=2026-09-01>"
    )
    task = read(head=head)
    assert (task.head.task_status, task.head.due_at) == ("doing", "2026-09-01")
    assert task.is_valid


def test_the_first_value_of_a_facet_is_its_number_or_it_has_none() -> None:
    facets = read(
        "<p><mark>x</mark><dl><dt>a<dd><data value=no>n</data><data value=2>2</data>"
        "<dd><data>x</data><dl><dt>b<dd><data value=3>three</data></dl><data value=4></data>"
        "<dd value=5>none</dl>"
    ).facets
    assert facets == (
        Facet("a", "n2", None),
        Facet("a", "x b three", 3.0),
        Facet("a", "none", None),
        Facet("b", "three", 3.0),
    )


def test_nested_rows_come_in_the_order_they_open() -> None:
    document = read(
        "<p><mark>x</mark> <cite>a <q cite=/u>b <cite>c</cite></q></cite><q> </q>"
        "<aside>1 <aside>2</aside></aside>"
    )
    assert document.citations == (Citation("a b c"), Citation("b c", "/u"), Citation("c"))
    assert document.asides == ("1 2", "2")


def test_what_stands_outside_of_the_first_article_is_not_its() -> None:
    document = parse(
        b"<aside>no</aside><cite>no</cite><time datetime=2026-01-01>no</time>"
        b"<dl><dt>no<dd>no</dl><pre> no </pre><article>yes</article>"
        b"<article><mark>no</mark><dfn>no</dfn></article><abbr title=no>"
    )
    assert document.text == document.body_text == "yes"
    assert document.claim == ""
    assert document.happened_at is None
    assert not any((document.citations, document.facets, document.asides, document.abbreviations))
    assert document.defined_terms == ()


def test_a_pre_around_the_article_keeps_no_whitespace_in_it() -> None:
    assert parse(b"<pre><article> a <pre> b </pre></article>").text == "a  b "


def test_a_file_without_an_article_is_hashed_whole() -> None:
    document = parse(b"<title>t</title><p>a\n b")
    assert document.text == "t a b"
    assert document.article_html == ""


def test_the_article_is_kept_as_written() -> None:
    inner = "\r\n<P CLASS=x>caf&eacute;\r\n</p >"
    page = b"\xef\xbb\xbf<article>" + inner.encode() + b"</article>"
    assert parse(page).article_html == inner


def test_a_file_past_the_cap_is_not_read() -> None:
    assert parse(b"<p>" + b"x" * (FILE_CAP - 3)).text
    document = parse(b"<title>T</title>" + b"x" * FILE_CAP)
    assert [finding.code for finding in document.violations] == ["file-too-large"]
    assert document.diagnostics[0].info == {"size": FILE_CAP + 16, "limit": FILE_CAP}
    assert (document.title, document.text, document.content_hash) == ("", "", "")


def test_texts_of_deep_nesting_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "DERIVED_TEXT_CAP", 2000)
    document = read("<p><mark>x</mark></p>" + "<aside>" * 400 + "y" * 100)
    assert 0 < sum(map(len, document.asides)) < 2200
    assert [finding.code for finding in document.diagnostics] == ["text-dropped"]
    assert document.is_valid
    assert document.text.endswith("y" * 100)
