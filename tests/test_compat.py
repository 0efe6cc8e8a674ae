"""What `docs/compat.md` says of rules that no vector shows, where no finer test does."""

from __future__ import annotations

import pytest

from memhtml.format.checks.codes import CODES
from memhtml.format.edit import set_meta
from memhtml.format.parse import parse
from memhtml.format.render import render_memory
from memhtml.format.serialize import serialize
from memhtml.format.text import content_hash
from memhtml.model.diagnostics import Severity
from memhtml.model.errors import InvalidMemory
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from tests.conformance.compat import COMPAT
from tests.conformance.ops import OUR_CODES
from tests.conformance.runner import own_vectors
from tests.test_seed import ARTICLE, AT, codes, memory, warnings

BOM = b"\xef\xbb\xbf"
PAGE = COMPAT.read_text(encoding="utf-8")


def test_the_codes_that_only_ours_has_are_the_ones_no_vector_shows() -> None:
    shown = {
        finding["code"]
        for vector in own_vectors().values()
        if vector.op == "check"
        for finding in (*vector.expected["violations"], *vector.expected["warnings"])
    }
    ours = {code.name for code in CODES if code.severity is not Severity.NOTE} - shown
    assert {name for name in ours if f"`{name}`" not in PAGE} == set()
    assert ours >= OUR_CODES


def test_a_byte_order_mark_is_no_text_and_stays() -> None:
    data = BOM + memory()
    assert parse(data).diagnostics == ()
    assert content_hash(data) == content_hash(memory())
    assert set_meta(data, "memhtml-author", "Ada").startswith(BOM + b"<!doctype")


def test_bytes_that_are_not_utf_8_are_read_and_reported() -> None:
    data = memory("<p><mark>caf\u00e9</mark></p>").replace("\u00e9".encode(), b"\xe9")
    assert parse(data).claim == "caf\ufffd"
    assert warnings(data) == ["encoding-invalid"]
    assert b"\xe9" in set_meta(data, "memhtml-author", "Ada")


def test_the_title_of_a_drawing_is_no_second_title() -> None:
    assert codes(memory(ARTICLE + "<svg><title>x</title></svg>")) == []


@pytest.mark.parametrize("value", ["0x5", "0b101", "5_0", "\u0665"])
def test_only_decimal_numbers_are_numbers(value: str) -> None:
    assert parse(memory(head={"memhtml-importance": value})).head.importance is None


@pytest.mark.parametrize(("year", "found"), [("0044", []), ("0000", ["meta-datetime-invalid"])])
def test_early_years_are_dates_and_year_zero_is_none(year: str, found: list[str]) -> None:
    assert codes(memory(head={"memhtml-valid-from": f"{year}-03-15"})) == found


def test_a_self_closed_article_is_an_article() -> None:
    assert content_hash("<title>t</title><article/><p>x</p>") == content_hash("<p>x</p>")


def test_a_later_data_value_does_not_stand_in_for_the_first() -> None:
    two = '<dl><dt>n<dd><data value="many">x</data> <data value="3">y</data></dl>'
    assert [facet.number for facet in parse(memory(ARTICLE + two)).facets] == [None]


@pytest.mark.parametrize("href", ["/\\host/x.html", "/%2e%2e/x.html"])
def test_an_href_that_browsers_read_otherwise_is_refused(href: str) -> None:
    link = f'<link rel="memhtml-supports" href="{href}">'
    assert codes(memory(extra=link)) == ["link-href-not-root-relative"]


def test_a_token_with_underscores_is_unknown() -> None:
    link = '<link rel="memhtml-caused_by" href="/areas/x.html">'
    assert codes(memory(extra=link)) == ["link-rel-unknown"]


@pytest.mark.parametrize("text", ["a\rb", "\u3000wide\u3000", "\ufeffmark"])
def test_a_round_trip_never_moves_the_content_hash(text: str) -> None:
    markup = f"<p><mark>x</mark></p>{text}".replace("\r", "&#13;")
    once = parse(memory(markup))
    again = serialize(
        title=once.title, head=once.head, links=once.links, article_html=once.article_html
    )
    assert parse(again).content_hash == once.content_hash


def test_a_title_is_one_line() -> None:
    draft = Draft(title="Two\r\n lines", memory_type=MemoryType.SEMANTIC, claim="x")
    data, document = render_memory(draft, at=AT)
    assert b"<title>Two lines</title>" in data
    assert document.title == "Two lines"


def test_markup_that_leaves_its_article_is_refused() -> None:
    markup = ARTICLE + "</article><p>outside</p>"
    draft = Draft(title="Gate", memory_type=MemoryType.SEMANTIC, article_html=markup)
    with pytest.raises(InvalidMemory) as raised:
        render_memory(draft, at=AT)
    assert "article-markup-escapes" in [found.code for found in raised.value.diagnostics]
