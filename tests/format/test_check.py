"""Every rule of the checker: the shared vectors, our own codes, their places, and their docs."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from memhtml.format.checks import CODES, Code
from memhtml.format.parse import check_document, check_memory, parse
from memhtml.format.tree import Tree
from memhtml.model.diagnostics import Diagnostic, Severity
from memhtml.model.errors import InvalidMemory

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "tests" / "conformance" / "vectors"

# What only ours finds; `docs/compat.md` lists them with their reasons.
OURS = {
    *("due-not-task", "head-repeated", "processing-instruction", "encoding-invalid"),
    *("unsafe-element", "unsafe-url", "file-too-large", "number-dropped", "text-dropped"),
    "conflict-markers",
}

HEAD = """<!doctype html>
<html lang="en">
<head>
<title>Dough</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-03-04T05:06:07Z">
<meta name="memhtml-updated" content="2026-03-05T06:07:08Z">
"""
CLAIM = "<p><mark>The dough rises twice.</mark></p>"


def page(article: str = CLAIM, head: str = "", before: str = "") -> bytes:
    lines = f"{HEAD}{head}</head>\n<body>\n{before}<article>\n{article}\n</article>\n</body>\n"
    return f"{lines}</html>\n".encode()


def vectors() -> list[Any]:
    lines = (VECTORS / "check.jsonl").read_text(encoding="ascii").split("\n")
    records = [json.loads(line) for line in lines if line]
    return [pytest.param(record, id=record["id"]) for record in records]


def stated(findings: tuple[Diagnostic, ...], severity: Severity) -> list[dict[str, object]]:
    return [
        {"code": finding.code, **finding.info}
        for finding in findings
        if finding.severity is severity and finding.code not in OURS
    ]


@pytest.mark.parametrize("vector", vectors())
def test_a_shared_vector_has_the_same_findings_in_the_same_order(vector: dict[str, Any]) -> None:
    findings = check_document(vector["in"]["html"].encode())
    violations, warnings = vector["out"]["violations"], vector["out"]["warnings"]
    if "seed-tension" in vector.get("tags", ()) and any(f.code == "due-not-task" for f in findings):
        # The seed gives deadlines to tasks alone, so elsewhere their value is not judged.
        violations = [v for v in violations if v.get("name") != "memhtml-due" or "value" not in v]
    assert stated(findings, Severity.VIOLATION) == violations
    assert stated(findings, Severity.WARNING) == warnings


def only(data: bytes, code: str) -> Diagnostic:
    found = [finding for finding in check_document(data) if finding.code == code]
    assert len(found) == 1, found
    return found[0]


def source(data: bytes, finding: Diagnostic) -> bytes:
    return data[finding.span.start : finding.span.end]


def test_a_memory_in_order_has_no_findings() -> None:
    assert check_document(page()) == ()


@pytest.mark.parametrize(
    ("code", "data", "severity", "info", "at"),
    [
        (
            "due-not-task",
            page(head='<meta name="memhtml-due" content="soon">\n'),
            "warning",
            {"type": "semantic"},
            b'<meta name="memhtml-due" content="soon">',
        ),
        (
            "unsafe-element",
            page(CLAIM + "<iframe src=/x></iframe><iframe></iframe>"),
            "warning",
            {"element": "iframe"},
            b"<iframe src=/x>",
        ),
        (
            "unsafe-url",
            page(CLAIM + '<p><a href=" java\nscript:x()">x</a></p>'),
            "warning",
            {"element": "a", "attr": "href"},
            b'href=" java\nscript:x()"',
        ),
        (
            "unsafe-url",
            page(head='<meta http-equiv="Refresh" content="0;url=/x">\n'),
            "warning",
            {"element": "meta", "attr": "http-equiv"},
            b'http-equiv="Refresh"',
        ),
        (
            "unsafe-url",
            page(CLAIM + "<p><q cite='data:text/html,x'>x</q></p>"),
            "warning",
            {"element": "q", "attr": "cite"},
            b"cite='data:text/html,x'",
        ),
        (
            "processing-instruction",
            page(CLAIM + "<?a?><?b?>"),
            "warning",
            {"count": 2},
            b"<?a?>",
        ),
        (
            "encoding-invalid",
            page(CLAIM).replace(b"twice", b"tw\xffice \xe2\x82"),
            "warning",
            {"count": 2},
            b"\xff",
        ),
        (
            "head-repeated",
            page().replace(b"</head>", b"</head><head>"),
            "warning",
            {"count": 2},
            b"<head>",
        ),
        (
            "number-dropped",
            page(head='<meta name="memhtml-importance" content="5.5">\n'),
            "note",
            {"name": "memhtml-importance", "value": "5.5"},
            b'content="5.5"',
        ),
    ],
)
def test_a_finding_of_ours_has_facts_and_a_place(
    code: str, data: bytes, severity: str, info: dict[str, object], at: bytes
) -> None:
    finding = only(data, code)
    assert finding.severity == severity
    assert finding.info == info
    assert source(data, finding) == at
    assert parse(data).is_valid


@pytest.mark.parametrize(
    "safe",
    [
        "<a href='https://example.org/a:b'>x</a>",
        "<a href='/javascript:'>x</a>",
        "<a href='data:image/png;base64,AAAA'>x</a>",
        "<a title='javascript:x'>x</a>",
    ],
)
def test_a_safe_url_is_let_through(safe: str) -> None:
    assert check_document(page(f"{CLAIM}<p>{safe}</p>")) == ()


def test_a_drawing_in_a_url_may_hold_a_script() -> None:
    only(page(CLAIM + "<p><a href='data:image/svg+xml,<svg/>'>x</a></p>"), "unsafe-url")


def test_a_bad_deadline_is_a_violation_on_a_task_alone() -> None:
    due = '<meta name="memhtml-due" content="soon">\n'
    task = page(head=due + '<meta name="memhtml-task-status" content="todo">\n').replace(
        b'"semantic"', b'"task"'
    )
    assert [f.code for f in check_document(task)] == ["meta-datetime-invalid"]
    assert [f.code for f in check_document(page(head=due))] == ["due-not-task"]


def test_a_template_hides_nothing_that_is_forbidden() -> None:
    hidden = "<template><p class=x><template><i onclick=x><script>1</script></template></template>"
    data = page(CLAIM + hidden + "<p style=x>")
    findings = check_document(data)
    assert [(f.code, source(data, f)) for f in findings if f.severity is Severity.VIOLATION] == [
        ("attr-presentation", b"class=x"),
        ("attr-handler", b"onclick=x"),
        ("element-forbidden", b"<script>"),
        ("attr-presentation", b"style=x"),
    ]
    # Inside a template the vocabulary does not count, so `i` is not said to be unknown.
    warned = [f.info["element"] for f in findings if f.severity is Severity.WARNING]
    assert warned == ["template"]


def test_elements_are_counted_in_their_namespace() -> None:
    data = page(f"{CLAIM}<figure><svg><title>x</title><a>y</a></svg></figure>")
    findings = check_document(data)
    assert {f.code for f in findings} == {"element-unknown"}
    assert [f.info["element"] for f in findings] == ["svg", "title", "a"]


def test_a_script_in_a_drawing_is_a_script() -> None:
    only(page(f"{CLAIM}<svg><script>1</script></svg>"), "element-forbidden")


@pytest.mark.parametrize(
    ("code", "data", "at"),
    [
        ("title-count", page().replace(b"<title>Dough</title>", b""), b""),
        ("title-count", page(CLAIM + "<title>Two</title>"), b"<title>"),
        ("meta-unknown", page(head='<meta name="memhtml-x">\n'), b'name="memhtml-x"'),
        (
            "meta-repeated",
            page(head="<meta name=memhtml-turn content=1><meta name=memhtml-turn content=2>"),
            b"<meta name=memhtml-turn content=2>",
        ),
        ("mark-missing", page("<p>x"), b"<article>"),
        ("mark-count", page(CLAIM + "<p><mark >2</mark>"), b"<mark >"),
        ("article-count", page(CLAIM + "</article><article id=b>"), b"<article id=b>"),
        ("time-datetime-missing", page(CLAIM + "<p><time id=t>x</time>"), b"<time id=t>"),
        ("time-datetime-invalid", page(CLAIM + "<p><time datetime=x>x</time>"), b"datetime=x"),
        (
            "link-rel-unknown",
            page(head='<link rel="memhtml-x" href="/a.html">'),
            b'rel="memhtml-x"',
        ),
        (
            "link-href-missing",
            page(head='<link rel="memhtml-blocks">'),
            b'<link rel="memhtml-blocks">',
        ),
        ("link-href-missing", page(head='<link rel="memhtml-blocks" href="">'), b'href=""'),
        ("data-lang-invalid", page(CLAIM + "<p><code data-lang=''>x</code>"), b"data-lang=''"),
        (
            "type-unknown",
            page().replace(b'content="semantic"', b""),
            b'<meta name="memhtml-type" >',
        ),
    ],
)
def test_a_finding_points_at_what_it_is_about(code: str, data: bytes, at: bytes) -> None:
    assert source(data, only(data, code)) == at


def test_what_is_absent_is_missed_where_it_would_stand() -> None:
    data = page().replace(b"<title>Dough</title>\n", b"").replace(b"article", b"section")
    title, article = only(data, "title-count"), only(data, "article-count")
    assert data[title.span.start :].startswith(b"</head>")
    assert data[article.span.start :].startswith(b"</body>")
    assert (title.span.line, title.span.column, title.span.end) == (8, 1, title.span.start)


@pytest.mark.parametrize(("data", "start"), [(b"x", 0), (b"\xef\xbb\xbfx", 3)])
def test_what_is_absent_from_an_implied_head_is_missed_at_the_start(
    data: bytes, start: int
) -> None:
    for finding in check_document(data):
        assert finding.span == (start, start, 1, 1, 1, 1)


def test_the_gate_raises_once_with_everything() -> None:
    with pytest.raises(InvalidMemory) as caught:
        check_memory(b"<p>nothing")
    codes = [finding.code for finding in caught.value.diagnostics]
    assert codes == ["title-count", *["meta-required-missing"] * 4, "article-count"]
    assert str(caught.value).count("; ") == len(codes) - 1


def test_the_gate_lets_warnings_through() -> None:
    document = check_memory(page(CLAIM + "<h2>x</h2>"))
    assert [finding.code for finding in document.warnings] == ["element-unknown"]


def test_a_message_is_one_line_and_not_long_whatever_the_value() -> None:
    value = "x\x1b[31m\n\u202e" + "y" * 1000
    data = page().replace(b"semantic", value.encode())
    finding = only(data, "type-unknown")
    assert finding.info == {"value": value}
    assert finding.message.isprintable()
    assert len(finding.message) < 250


# Codes given by the write gate, the editors or a size that no example could show.
WITHOUT_EXAMPLE = {
    *("file-too-large", "encoding-invalid", "text-dropped", "article-markup-escapes"),
    *("head-missing", "draft-text-invalid", "draft-text-blank", "draft-number-invalid"),
    "draft-field-unused",
}


def sections() -> dict[str, str]:
    text = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_page_of_codes_has_each_code_once_in_order() -> None:
    assert list(sections()) == [code.name for code in CODES]
    assert len({code.name for code in CODES}) == len(CODES)


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
def test_the_page_says_what_the_table_says(code: Code) -> None:
    section = sections()[code.name]
    assert section.startswith(f"\n*{code.severity}*: {code.summary}\n")
    assert "\n**To mend:** " in section


@pytest.mark.parametrize("name", [c.name for c in CODES if c.name not in WITHOUT_EXAMPLE])
def test_the_example_of_a_code_shows_that_code_and_nothing_worse(name: str) -> None:
    match = re.search(
        r"^```html (file|head|article)\n(.*?)^```$", sections()[name], re.MULTILINE | re.DOTALL
    )
    assert match is not None
    kind, text = match.groups()
    data = text.encode() if kind == "file" else page(head=text)
    if kind == "article":
        data = page(text)
    findings = check_document(data)
    code = next(code for code in CODES if code.name == name)
    assert name in [finding.code for finding in findings]
    if code.severity is not Severity.VIOLATION:
        assert parse(data).is_valid
    else:
        assert {f.code for f in findings if f.severity is Severity.VIOLATION} == {name}


def test_an_open_conflict_is_named_with_the_line_where_it_begins() -> None:
    sides = "<p>\n<<<<<<< ours\none\n=======\nother\n>>>>>>> theirs\n</p>\n"
    for lead in (b"", b"\xef\xbb\xbf"):
        data = lead + page(f"<p><mark>Owls hunt at night.</mark></p>\n{sides}{sides}")
        (found,) = [d for d in check_document(data) if d.code == "conflict-markers"]
        assert found.info["count"] == 2
        assert data[found.span.start : found.span.end] == b"<<<<<<< ours"
        assert data[: found.span.start].count(b"\n") == found.span.line - 1
        assert (found.span.column, found.span.end_column) == (1, 13)
        assert parse(data).is_valid  # the tool of the same name reads it too


@pytest.mark.parametrize(
    "text",
    [
        "<pre>\n&lt;<<<<<< ours\n=======\n&gt;>>>>>> theirs\n</pre>",
        "<p>\n<<<<<<< ours\n>>>>>>> theirs\n=======\n</p>",
        "<p>a <<<<<<< b\n=======\n>>>>>>> c</p>",
        "<p>\n=======\n>>>>>>> c\n</p>",
    ],
)
def test_what_only_resembles_a_conflict_is_none(text: str) -> None:
    data = page(f"<p><mark>Owls hunt at night.</mark></p>\n{text}")
    assert "conflict-markers" not in [d.code for d in check_document(data)]


def test_a_file_full_of_conflict_marks_is_read_in_its_length() -> None:
    data = page("<p><mark>Owls.</mark></p>" + "\n<<<<<<< a" * 200_000)
    began = time.perf_counter()
    assert Tree(data).find_conflicts() is None
    many = page("<p><mark>Owls.</mark></p>" + "\n<<<<<<< a\n=======\n>>>>>>> b" * 50_000)
    found = Tree(many).find_conflicts()
    assert found is not None
    assert found[0] == 50_000
    assert time.perf_counter() - began < 5
