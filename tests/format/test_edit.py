"""Head edits on files no tidy writer would make: one by one, byte for byte."""

from __future__ import annotations

from time import thread_time
from typing import TYPE_CHECKING

import pytest

from memhtml.format.edit import (
    AddLink,
    AddMeta,
    RemoveLink,
    RemoveMeta,
    SetMeta,
    add_link,
    add_meta,
    apply_edits,
    read_links,
    read_meta,
    remove_link,
    remove_meta,
    set_meta,
)
from memhtml.format.metas import META_ORDER, META_PREFIX
from memhtml.format.parse import parse
from memhtml.format.tree import read_tree
from memhtml.model.document import Link
from memhtml.model.errors import InvalidFlag, InvalidMemory
from memhtml.model.vocabulary import Rel

if TYPE_CHECKING:
    from collections.abc import Callable

    from memhtml.format.tree import Tree

TYPE = b'<meta name="memhtml-type" content="task">'
STATUS = b'<meta name="memhtml-status" content="active">'
DUE = b'<meta name="memhtml-due" content="2026-03-04">'
TAG = b'<meta name="memhtml-tag" content="owls">'
LINK = b'<link rel="memhtml-supports" href="/areas/a.html">'
TITLE = b"<title>Owls</title>"
BODY = b"<article><p><mark>Owls.</mark></p><pre>\n\n x</pre></article>"


def set_due(data: bytes) -> bytes:
    return set_meta(data, "memhtml-due", "2026-03-04")


def _place(marked: str | bytes) -> tuple[bytes, int]:
    raw = marked.encode() if isinstance(marked, str) else marked
    mark = "«".encode()
    return raw.replace(mark, b""), raw.index(mark)


def _text(*parts: str | bytes) -> bytes:
    return b"".join(p.encode() if isinstance(p, str) else p for p in parts)


@pytest.mark.parametrize(
    ("line_end", "marked"),
    [
        pytest.param(b"\n", _text("<head>\n", STATUS, "\n«</head>\n", BODY), id="lf"),
        pytest.param(b"\r\n", _text("<head>\r\n", STATUS, "\r\n«</head>\r\n", BODY), id="crlf"),
        pytest.param(b"\r", _text("<head>\r", STATUS, "\r«</head>\r", BODY), id="cr"),
        pytest.param(
            b"\r\n",
            _text("<head>\n", STATUS, "\r\n«</head>\n", BODY),
            id="of the line above when a file mixes them",
        ),
        pytest.param(
            b"\r\n",
            _text("<head>\r\n  «", TAG, "\n</head>").replace("  «".encode(), "«  ".encode()),
            id="of the line above when the new line goes before an indented element",
        ),
        pytest.param(b"\r\n", _text("«", TAG, "\r\n</head>"), id="of the next in a first line"),
    ],
)
def test_a_new_line_ends_as_its_neighbour_does(line_end: bytes, marked: bytes) -> None:
    data, at = _place(marked)

    assert set_due(data) == data[:at] + DUE + line_end + data[at:]


@pytest.mark.parametrize(
    "marked",
    [
        pytest.param(
            _text("<!doctype html><html><head>", TITLE, STATUS, "«</head><body>", BODY, "</body>"),
            id="a file of one line",
        ),
        pytest.param(
            _text("<!doctype html><html><head>", TITLE, STATUS, "«", TAG, "</head>", BODY),
            id="between two metas of one line",
        ),
        pytest.param(
            _text("<html>\n<head>", TITLE, "«</head>\n", BODY), id="an end tag in a shared line"
        ),
        pytest.param(
            _text("<head>\n", STATUS, "«</head>\n", BODY), id="a last meta beside the end tag"
        ),
        pytest.param(
            _text("<head>\n", STATUS, "« <!-- one\ntwo -->\n</head>\n", BODY),
            id="a last meta with a comment of two lines after it",
        ),
        pytest.param(
            _text("<head>\n", STATUS, "« <!--> not a comment\n</head>"),
            id="a last meta with a comment that ends at once",
        ),
        pytest.param(
            _text("<head>\n", STATUS, "« <!--!> still a comment\n--></head>"),
            id="a last meta with a comment that seems to end",
        ),
        pytest.param(_text("<head>\n", TITLE, "\n", STATUS, "«"), id="the end of the file"),
        pytest.param(_text("<head><title>a</title>«"), id="nothing after"),
        pytest.param(_text("<head>«<body>", BODY), id="an empty unclosed head"),
        pytest.param(_text("<head>«words"), id="words that end a head"),
        pytest.param(_text("<html><head>«<title>Owls", BODY), id="before an unclosed title"),
        pytest.param(_text("<head>«<!-- unclosed <title>"), id="before an unclosed comment"),
    ],
)
def test_a_shared_line_is_spliced_at_the_edge_of_an_element(marked: bytes) -> None:
    data, at = _place(marked)

    result = set_due(data)

    assert result == data[:at] + DUE + data[at:]
    assert set_due(result) == result
    assert remove_meta(result, "memhtml-due") == data


@pytest.mark.parametrize(
    "marked",
    [
        pytest.param(_text("<head>\n", TITLE, "\n«<body>\n", BODY), id="before the body"),
        pytest.param(
            _text("<head>\n", TITLE, "\n<!-- why -->\n  «words").replace(
                "  «".encode(), "«  ".encode()
            ),
            id="before the words that end it",
        ),
        pytest.param(
            _text("<head>\n<title>Owls</title>\n«"), id="after its last element at the end"
        ),
        pytest.param(
            _text("<head>\n", TITLE, "\n«<script>if (a < b) {}"), id="before an unclosed script"
        ),
    ],
)
def test_an_unclosed_head_ends_where_the_parser_ends_it(marked: bytes) -> None:
    data, at = _place(marked)

    result = set_due(data)

    assert result == data[:at] + DUE + b"\n" + data[at:]
    assert read_meta(result, "memhtml-due") == "2026-03-04"


def test_a_head_that_is_only_closed_has_an_end() -> None:
    assert set_due(_text(TITLE, "</head>", BODY)) == _text(TITLE, DUE, "</head>", BODY)
    assert set_due(_text(TITLE, "\n</head>\n", BODY)) == _text(
        TITLE, "\n", DUE, "\n</head>\n", BODY
    )


def test_a_byte_order_mark_stays_in_front() -> None:
    data = _text("\ufeff", TAG, "\n", BODY)

    assert set_due(data) == _text("\ufeff", DUE, "\n", TAG, "\n", BODY)
    assert remove_meta(data, "memhtml-tag") == _text("\ufeff", BODY)


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    head = b"<head>\n<title>\xff\xfe \xc3</title>\n" + STATUS + b"\n"
    rest = b"</head>\n<article>\xe2\x82 \x80</article>"

    assert set_due(head + rest) == head + DUE + b"\n" + rest


def test_a_meta_that_is_set_keeps_nothing_of_its_old_spelling_and_all_around_it() -> None:
    around = (b"<head><!-- a -->  ", b"\t<!-- b -->\xff</head>")

    result = set_due(around[0] + b"<META\n CONTENT=soon name=memhtml-due data-x />" + around[1])

    assert result == around[0] + DUE + around[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            _text("<head>\n", TITLE, "\n \t", TAG, " <!-- why --> \n", STATUS, "\n</head>"),
            _text("<head>\n", TITLE, "\n", STATUS, "\n</head>"),
            id="a line with a comment after it goes whole",
        ),
        pytest.param(
            _text("<html><head>", TITLE, TAG, LINK, "</head>", BODY, "</html>"),
            _text("<html><head>", TITLE, LINK, "</head>", BODY, "</html>"),
            id="a file of one line loses the element only",
        ),
        pytest.param(
            _text("<head>\n", TAG, STATUS, TAG, "\n</head>"),
            _text("<head>\n", STATUS, "\n</head>"),
            id="two in one line",
        ),
        pytest.param(
            _text("<head>\n<!-- why --> ", TAG, "\n</head>"),
            _text("<head>\n<!-- why --> \n</head>"),
            id="a comment before it stays",
        ),
        pytest.param(
            _text("<head>\n", TAG, " <!-- one\ntwo -->\n</head>"),
            _text("<head>\n <!-- one\ntwo -->\n</head>"),
            id="a comment that goes on stays",
        ),
        pytest.param(_text("<head>\n", TAG), b"<head>\n", id="a last line without a line end"),
        pytest.param(_text("<head>\r", TAG, "\r\n\r\n"), b"<head>\r\r\n", id="odd line ends"),
    ],
)
def test_a_removed_meta_takes_its_line_along_when_it_is_alone_there(
    before: bytes, after: bytes
) -> None:
    assert remove_meta(before, "memhtml-tag") == after


def test_a_removed_link_takes_only_itself_out_of_a_file_of_one_line() -> None:
    data = _text("<html><head>", TITLE, LINK, "</head>", BODY, "</html>")

    assert remove_link(data, "supports") == _text("<html><head>", TITLE, "</head>", BODY, "</html>")


@pytest.mark.parametrize(
    "hidden",
    [
        _text("<!-- ", TAG, " -->"),
        _text("<script>", TAG, "</script>"),
        _text("<template>", TAG, "</template>"),
        _text("<noscript>", TAG, "</noscript>"),
        _text("<title>", TAG, "</title>"),
        _text("</head><body>", TAG),
        b'<meta name="MEMHTML-TAG" content="owls">',
        b'<meta property="memhtml-tag" content="owls">',
        b"<x-meta name=memhtml-tag content=owls>",
    ],
)
def test_what_only_looks_like_a_meta_is_no_meta(hidden: bytes) -> None:
    data = _text("<head>\n", STATUS, "\n", hidden, "\n", BODY)

    assert read_meta(data, "memhtml-tag") is None
    assert remove_meta(data, "memhtml-tag") == data
    assert add_meta(data, "memhtml-tag", "owls") == _text(
        "<head>\n", STATUS, "\n", TAG, "\n", hidden, "\n", BODY
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"words",
        b"<article></article>",
        _text(TITLE, BODY),
        _text("<template>", TITLE, "</head>"),
        _text(TITLE, BODY, "</head>"),
        b"<frameset></head>",
    ],
)
@pytest.mark.parametrize(
    "edit", [set_due, lambda data: add_link(data, "supports", "/a.html")], ids=["meta", "link"]
)
def test_a_file_without_a_head_is_refused(data: bytes, edit: Callable[[bytes], bytes]) -> None:
    with pytest.raises(InvalidMemory, match="<head>") as caught:
        edit(data)

    assert [finding.code for finding in caught.value.diagnostics] == ["head-missing"]


@pytest.mark.parametrize(
    "edit",
    [
        SetMeta("memhtml-mood", "x"),
        SetMeta("status", "x"),
        AddMeta("memhtml-mood", "x"),
        RemoveMeta("description"),
        AddLink("likes", "/a.html"),
        AddLink("memhtml-caused_by", "/a.html"),
        RemoveLink("stylesheet"),
        SetMeta("memhtml-author", "a\0b"),
        AddMeta("memhtml-tag", "\ud800"),
        AddLink("supports", "/\udfff.html"),
        *(AddMeta(name, "x") for name in META_ORDER if name[8:] not in {"entity", "tag", "alias"}),
    ],
    ids=str,
)
def test_an_edit_that_cannot_be_meant_is_refused(
    edit: SetMeta | AddMeta | RemoveMeta | AddLink | RemoveLink,
) -> None:
    data = _text("<head>\n", STATUS, "\n", LINK, "\n</head>")

    with pytest.raises(InvalidFlag):
        apply_edits(data, [edit])


def test_a_name_of_ours_that_nobody_knows_can_be_read_and_removed() -> None:
    data = _text('<head>\n<meta name="memhtml-mood" content="?">\n', LINK, "\n</head>")

    assert read_meta(data, "memhtml-mood") == "?"
    assert remove_meta(data, "memhtml-mood") == _text("<head>\n", LINK, "\n</head>")


def test_a_link_is_named_by_relation_or_token() -> None:
    data = _text("<head>\n", LINK, "\n</head>")
    added = _text("<head>\n", LINK, '\n<link rel="memhtml-caused-by" href="/b.html">\n</head>')

    assert add_link(data, Rel.CAUSED_BY, "/b.html") == added
    assert add_link(data, "caused_by", "/b.html") == added
    assert add_link(added, "memhtml-caused-by", "/b.html") == added
    assert read_links(added) == (
        Link("memhtml-supports", "/areas/a.html"),
        Link("memhtml-caused-by", "/b.html"),
    )
    assert remove_link(added, "memhtml-caused-by") == data


def test_a_head_filled_in_any_order_is_in_the_one_order() -> None:
    names = META_ORDER[::2] + META_ORDER[1::2][::-1]
    data = b"<head>\n</head>"

    result = apply_edits(data, (SetMeta(name, name) for name in names))

    lines = result.decode().split("\n")
    assert lines[1:-1] == [f'<meta name="{name}" content="{name}">' for name in META_ORDER]
    assert result == apply_edits(data, (SetMeta(name, name) for name in reversed(META_ORDER)))


def test_a_batch_costs_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[bytes] = []

    def count(data: bytes) -> Tree:
        readings.append(data)
        return read_tree(data)

    monkeypatch.setattr("memhtml.format.splice.read_tree", count)
    data = _text("<head>\n", TYPE, "\n", STATUS, "\n</head>")

    result = apply_edits(
        data,
        [
            SetMeta("memhtml-status", "archived"),
            SetMeta("memhtml-archived", "2026-03-04"),
            SetMeta("memhtml-superseded-by", "/b.html"),
            AddLink("supports", "/c.html"),
            RemoveMeta("memhtml-type"),
        ],
    )

    assert len(readings) == 1
    assert result == _text(
        '<head>\n<meta name="memhtml-status" content="archived">\n',
        '<meta name="memhtml-archived" content="2026-03-04">\n',
        '<meta name="memhtml-superseded-by" content="/b.html">\n',
        '<link rel="memhtml-supports" href="/c.html">\n</head>',
    )


@pytest.mark.parametrize("gap", ["", "\n", " <!-- c -->", "<!-- c -->\n", "<!---->", " " * 9])
def test_twenty_thousand_metas_are_removed_in_linear_time(gap: str) -> None:
    count = 20_000
    data = f"<head>\n{count * f'<meta name=memhtml-tag content=x>{gap}'}</head>".encode()
    left = "" if gap.endswith("\n") else count * gap

    started = thread_time()
    result = remove_meta(data, META_PREFIX + "tag")

    assert result == f"<head>\n{left}</head>".encode()
    # Some 0.3 s; a look along the whole line for each would take half a minute.
    assert thread_time() - started < 5


def test_text_that_begins_with_a_mark_keeps_it_when_all_before_it_goes() -> None:
    due = b'<meta name="memhtml-due" content="x">'
    data = due + due + b"\xef\xbb\xbf<p><mark>A.</mark></p>"

    edited = remove_meta(data, "memhtml-due")

    assert edited == b"\n\xef\xbb\xbf<p><mark>A.</mark></p>"
    assert parse(edited).content_hash == parse(data).content_hash
