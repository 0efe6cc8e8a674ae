"""Pages as a function of what the memories say."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from memhtml.format.elements import VOCABULARY
from memhtml.store.listings import PAGE_ENTRIES, Entry, plan_publish, render_site
from memhtml.store.plan import Put, Remove
from tests.store.dictview import blob

STYLE = b"p {}"


def entry(path: str, **fields: object) -> Entry:
    stated = {"title": "Owl boxes", "claim": "They face east.", "memory_type": "semantic"}
    return Entry(path=path, updated_at="2026-08-02T14:03:11Z", **(stated | fields))  # type: ignore[arg-type]  # test shorthand


def pages(*entries: Entry) -> dict[str, str]:
    return {path: data.decode() for path, data in render_site(entries, style=STYLE).items()}


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.hrefs += [value or "" for name, value in attrs if name == "href"]


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


STORE = (
    entry("areas/inbox/a.html", tags=("owls", "Owls"), entities=("place:barn",)),
    entry("areas/inbox/b.html", title="B", links=(("supports", "areas/inbox/a.html"),)),
    entry("archive/2026/projects/x/c.html", title="C", links=(("part_of", "areas/none.html"),)),
)


def test_every_folder_that_holds_memories_has_a_page_and_so_have_those_above_it() -> None:
    assert sorted(pages(*STORE)) == [
        "archive/2026/index.html",
        "archive/2026/projects/index.html",
        "archive/2026/projects/x/index.html",
        "archive/index.html",
        "areas/inbox/index.html",
        "areas/index.html",
        "browse/entities/index.html",
        "browse/entities/place-barn.html",
        "browse/style.css",
        "browse/tags/index.html",
        "browse/tags/owls-2.html",
        "browse/tags/owls.html",
        "index.html",
        "sitemap.xml",
    ]


def test_pages_stay_inside_the_vocabulary_and_carry_no_presentation() -> None:
    """Publish weakness 8: no ``br``, no class, no style."""
    for path, page in pages(*STORE).items():
        if path.endswith(".html"):
            found = read(page)
            assert found.elements <= VOCABULARY
            assert not found.attributes & {"class", "style", "onclick"}


def test_every_link_leads_to_a_page_or_a_memory() -> None:
    site = pages(*STORE)
    there = site.keys() | {e.path for e in STORE}
    for path, page in site.items():
        if path.endswith(".html"):
            for href in read(page).hrefs:
                assert normpath(join(dirname(path), unquote(href))) in there, (path, href)


def test_a_memory_names_what_links_to_it_and_a_dangling_link_leads_nowhere() -> None:
    site = pages(*STORE)
    assert "Linked from" in site["areas/inbox/index.html"]
    archived = site["archive/2026/projects/x/index.html"]
    assert "<dd>part of <code>areas/none.html</code></dd>" in archived
    assert "<em>archived</em>" in archived


def test_text_of_a_memory_is_text_on_a_page() -> None:
    evil = '<script>alert(1)</script><img src=x onerror="alert(1)">'
    for path, page in pages(
        entry("areas/x.html", title=evil, claim=evil, tags=(evil,), entities=(evil,))
    ).items():
        if path.endswith(".html"):
            found = read(page)
            assert found.elements <= VOCABULARY
            assert "onerror" not in found.attributes
            assert "default-src 'none'" in page


def test_names_that_look_like_schemes_or_need_quoting_stay_paths() -> None:
    site = pages(entry("areas/javascript:alert(1) é#?.html"))
    (href,) = (h for h in read(site["areas/index.html"]).hrefs if "alert" in h)
    assert href == "./javascript%3Aalert%281%29%20%C3%A9%23%3F.html"


def test_a_long_tag_page_is_continued() -> None:
    many = [entry(f"areas/inbox/{n:04d}.html", tags=("owls",)) for n in range(PAGE_ENTRIES + 1)]
    site = pages(*many)
    assert site["browse/tags/owls.html"].count("<li>") == PAGE_ENTRIES
    assert site["browse/tags/owls.2.html"].count("<li>") == 1
    assert "./owls.2.html" in site["browse/tags/owls.html"]


def test_a_second_publish_plans_nothing_and_an_emptied_folder_loses_its_page() -> None:
    """Publish weakness 8: listings of emptied directories go."""
    first = plan_publish(STORE, {}, style=STYLE, sha_of=blob)
    there = {s.path: blob(s.data) for s in first.steps if isinstance(s, Put)}
    assert plan_publish(STORE, there, style=STYLE, sha_of=blob).steps == ()
    after = plan_publish(STORE[:2], there, style=STYLE, sha_of=blob)
    assert {s.path for s in after.steps if isinstance(s, Remove)} == {
        "archive/2026/index.html",
        "archive/2026/projects/index.html",
        "archive/2026/projects/x/index.html",
        "archive/index.html",
    }


def test_an_empty_store_has_no_pages() -> None:
    assert pages() == {}


def test_the_sitemap_lists_every_memory_escaped() -> None:
    site = pages(entry("areas/a&b.html"))
    assert re.findall(r"<loc>(.*?)</loc>", site["sitemap.xml"]) == ["/areas/a%26b.html"]


@given(st.permutations(STORE))
def test_the_order_of_the_entries_makes_no_difference(entries: list[Entry]) -> None:
    assert render_site(entries, style=STYLE) == render_site(STORE, style=STYLE)
