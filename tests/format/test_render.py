"""What the template makes of a draft, and what the gate refuses to make of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from memhtml.format.metas import META_ORDER, REPEATABLE
from memhtml.format.parse import parse
from memhtml.format.render import render_memory, render_template
from memhtml.format.serialize import HEAD_FIELDS, serialize
from memhtml.model.document import Citation, Facet, Head, Link
from memhtml.model.errors import InvalidMemory
from memhtml.model.memory import Draft, split_tags
from memhtml.model.vocabulary import MemoryType, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Callable

AT = "2026-07-08T09:10:11Z"
OWLS = Draft(title="Owl boxes", memory_type=MemoryType.SEMANTIC, claim="Owls like east.")
MARKED = replace(OWLS, claim="", article_html="<p><mark>Owls.</mark></p>")


def having(draft: Draft, **fields: object) -> Draft:
    return replace(draft, **fields)  # type: ignore[arg-type]  # a door may hand on anything


def article_of(draft: Draft) -> str:
    text = render_template(draft, at=AT).decode()
    return text.partition("<article>\n")[2].rpartition("\n</article>\n</body>\n</html>\n")[0]


def refusals(draft: Draft) -> list[tuple[str, Any]]:
    """Return the code and the field, or whatever it names, of each refusal of *draft*."""
    with pytest.raises(InvalidMemory) as caught:
        render_memory(draft, at=AT)
    return [
        (found.code, found.info.get("field") or found.info.get("name") or found.info.get("value"))
        for found in caught.value.diagnostics
    ]


def test_what_a_draft_states_beside_its_prose_follows_the_prose() -> None:
    draft = replace(
        OWLS,
        paragraphs=("They wake early.", "Clean the box in winter."),
        happened_at="2026-04-05",
        facets=(
            Facet("Region", "north"),
            Facet("Region", "east & west"),
            Facet("Eggs", "four eggs", 4.0),
            Facet("Loss", "a tenth", 0.1),
        ),
        citations=(Citation("The <Owl> Book"), Citation("Box four", "/a.html?x=1&y=2")),
    )

    assert article_of(draft) == (
        "<p><mark>Owls like east.</mark> They wake early.</p>\n"
        "<p>Clean the box in winter.</p>\n"
        '<p><time datetime="2026-04-05">2026-04-05</time></p>\n'
        "<dl>\n"
        "<dt>Region</dt>\n"
        "<dd>north</dd>\n"
        "<dd>east &amp; west</dd>\n"
        "<dt>Eggs</dt>\n"
        '<dd><data value="4">four eggs</data></dd>\n'
        "<dt>Loss</dt>\n"
        '<dd><data value="0.1">a tenth</data></dd>\n'
        "</dl>\n"
        "<p><cite>The &lt;Owl&gt; Book</cite></p>\n"
        '<p><q cite="/a.html?x=1&amp;y=2">Box four</q></p>'
    )


def test_a_gated_draft_is_read_back_whole() -> None:
    draft = replace(
        OWLS,
        memory_type=MemoryType.TASK,
        happened_at="2026-04-05T06:07:08Z",
        facets=(Facet("Eggs", "four", 4.0),),
        citations=(Citation("The Owl Book"),),
        tags=("owls", "b & c"),
        entities=("bird:owl",),
        aliases=("barn owl",),
        links=(Link("memhtml-blocks", "/projects/x/tasks/a.html"),),
        confidence=0.9,
        importance=7,
        author="human:Ada",
        session_id="s",
        prompt_id="p",
        turn_uuid="t",
        valid_from="2026-01-01",
        valid_until="2026-12-31",
        task_status=TaskStatus.DOING,
        due_at="2026-09-09",
    )

    data, document = render_memory(draft, at=AT)

    assert data == render_template(draft, at=AT)
    assert document.head == Head(
        memory_type="task",
        status="active",
        created_at=AT,
        updated_at=AT,
        confidence=0.9,
        importance=7,
        content_hash=document.content_hash,
        author="human:Ada",
        session_id="s",
        prompt_id="p",
        turn_uuid="t",
        valid_from="2026-01-01",
        valid_until="2026-12-31",
        task_status="doing",
        due_at="2026-09-09",
        entities=("bird:owl",),
        tags=("owls", "b & c"),
        aliases=("barn owl",),
    )
    assert (document.title, document.claim) == ("Owl boxes", "Owls like east.")
    assert (document.happened_at, document.links) == (draft.happened_at, draft.links)
    assert (document.facets, document.citations) == (draft.facets, draft.citations)


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Owl\nboxes", "Owl boxes"),
        ("\r\n Owl \r\n\t boxes \f", "Owl boxes"),
        ("Owl\rboxes", "Owl boxes"),
        ("Owl \t boxes", "Owl \t boxes"),
        ("</title><script>", "&lt;/title&gt;&lt;script&gt;"),
    ],
)
def test_a_title_is_one_line(title: str, line: str) -> None:
    assert (
        f"\n<title>{line}</title>\n" in render_template(replace(OWLS, title=title), at=AT).decode()
    )


def test_a_detector_is_asked_only_about_fences_without_a_label() -> None:
    asked: list[str] = []

    def detect(code: str) -> str | None:
        asked.append(code)
        return "python" if "print" in code else None

    draft = replace(OWLS, paragraphs=("```\nprint(1)\n```", "```\nhm\n```", "```TS\nprint(2)\n```"))
    data = render_template(draft, at=AT, detect=detect).decode()

    assert asked == ["print(1)", "hm"]
    assert '<code data-lang="python">print(1)</code>' in data
    assert "<code>hm</code>" in data
    assert '<code data-lang="TS">print(2)</code>' in data


def test_markup_is_placed_byte_for_byte() -> None:
    markup = (
        "<P ID=z title='t'><MARK>Owls</MARK><br/>b &copy; \"q\"\u00a0\r\n"
        "<!-- note --><pre>\n\n  x\n</pre><table><tr><td>1</table><dl><dt>a<dd>b</dl>"
    )

    data, _ = render_memory(replace(MARKED, article_html=f"\n {markup} \n"), at=AT)

    assert f"\n<article>\n{markup}\n</article>\n".encode() in data


def test_an_article_is_found_though_a_head_speaks_of_one() -> None:
    draft = replace(MARKED, title="\n<article>\n", author="\n<article>\n", tags=("</article>",))

    assert render_memory(draft, at=AT)[1].head.author == "\n<article>\n"


def test_the_hash_is_stated_in_its_meta_alone_whatever_else_speaks_of_zeros() -> None:
    zeros = '<meta name="memhtml-content-hash" content="' + "0" * 64 + '">'
    draft = replace(OWLS, title=zeros, author=zeros, claim=f"Owls like {zeros}.", tags=(zeros,))

    data, document = render_memory(draft, at=AT)

    reread = parse(data)
    assert reread == document
    assert reread.head.content_hash == reread.content_hash
    assert (reread.title, reread.head.author, reread.head.tags) == (zeros, zeros, (zeros,))
    assert render_template(draft, at=AT) == data


@pytest.mark.parametrize(
    "markup",
    [
        "</article>",
        "</article><article><p>x</p>",
        "</article><p>outside</p><article>",
        "<!-- open",
        "<!--",
        "<script>",
        "<style>",
        "<textarea>",
        "<title>",
        "<plaintext>",
        "<xmp>",
        "<iframe>",
        "<noscript>",
        "<template>",
        "<select>",
        "<select><option>",
        "<table>",
        "<table><tr><td>",
        "<object>",
        "<svg><title>",
        "<svg><![CDATA[",
        "<math><mi>",
        "<p title='open",
        '<p title="open',
        "<p",
        "<p title=",
        "</",
        "<?",
        "<!doctype",
        "</p",
        "<body data-x=1>",
        "<html data-x=1>",
        "<b>",
        "<code>",
        "<nobr>",
        "<a href='/x'>y",
        "<p><em>open emphasis",
        "<p><b>x</p>",
        "<noscript><article></article></noscript>",
    ],
)
def test_markup_that_leaves_its_article_is_refused(markup: str) -> None:
    draft = replace(MARKED, article_html=f"{MARKED.article_html}{markup}")

    assert "article-markup-escapes" in [code for code, _ in refusals(draft)]


@pytest.mark.parametrize(
    "markup",
    [
        "",
        "<p>an open paragraph",
        "<ul><li>an open list",
        "<b>closed</b>",
        "</body>",
        "</html>",
        "</p>",
        "<",
        "<3",
        "&lt;/article>",
        "<!-- </article> -->",
        '<p title="</article>">x</p>',
        "<svg>",
        "<section>",
        "<body><html>",
        '<html lang="de">',
        "<!doctype html>",
        "<blockquote><article-like>x",
    ],
)
def test_markup_that_stays_in_its_article_is_not_refused(markup: str) -> None:
    draft = replace(MARKED, article_html=f"{MARKED.article_html}{markup}")

    data, document = render_memory(draft, at=AT)

    article = LexborHTMLParser(data.decode()).css_first("body > article")
    assert article is not None
    assert document.claim == "Owls."
    assert document.article_html.strip() == draft.article_html


def test_the_place_of_an_early_end_is_shown() -> None:
    with pytest.raises(InvalidMemory, match="closes the article") as caught:
        render_memory(replace(MARKED, article_html="<p>\n<mark>a</mark> </article>b"), at=AT)

    (found,) = [d for d in caught.value.diagnostics if d.code == "article-markup-escapes"]
    data = render_template(replace(MARKED, article_html="<p>\n<mark>a</mark> </article>b"), at=AT)
    assert data[found.span.start : found.span.end] == b"</article>"
    assert (found.span.line, found.span.column) == (15, 16)


@pytest.mark.parametrize("value", [0, 11, -1, 42, 5.5, math.nan, math.inf, "abc", True, 10**400])
def test_an_importance_out_of_range_is_refused(value: object) -> None:
    draft = having(OWLS, importance=value)

    assert refusals(draft) == [("draft-number-invalid", "importance")]


@pytest.mark.parametrize("value", [-0.01, 1.01, 7, math.nan, -math.inf, "0.5", False, 10**4000])
def test_a_confidence_out_of_range_is_refused(value: object) -> None:
    draft = having(OWLS, confidence=value)

    assert refusals(draft) == [("draft-number-invalid", "confidence")]


@pytest.mark.parametrize("value", [math.nan, math.inf, "4", 10**400])
def test_a_facet_number_that_is_none_is_refused(value: float) -> None:
    draft = having(OWLS, facets=(Facet("a", "b", value),))

    assert refusals(draft) == [("draft-number-invalid", "facets")]


@pytest.mark.parametrize(("field", "name"), [("valid_from", "valid-from"), ("due_at", "due")])
@pytest.mark.parametrize("value", ["", "soon", "2026-02-30", "2026-01-01 10:00:00Z"])
def test_an_instant_that_does_not_sort_is_refused(field: str, name: str, value: str) -> None:
    draft = having(OWLS, memory_type=MemoryType.TASK, **{field: value})

    assert refusals(draft) == [("meta-datetime-invalid", f"memhtml-{name}")]


def test_a_happening_at_no_instant_is_refused() -> None:
    assert refusals(replace(OWLS, happened_at="yesterday")) == [
        ("time-datetime-invalid", "yesterday")
    ]


@pytest.mark.parametrize("character", ["\0", "\ud800"])
@pytest.mark.parametrize(
    ("field", "wrap"),
    [
        ("title", str),
        ("claim", str),
        ("paragraphs", lambda text: (text,)),
        ("article_html", str),
        ("tags", lambda text: (text,)),
        ("author", str),
        ("valid_from", str),
        ("facets", lambda text: (Facet(text, "x"),)),
        ("citations", lambda text: (Citation("x", text),)),
        ("links", lambda text: (Link("memhtml-supports", text),)),
    ],
)
def test_a_character_no_file_can_carry_is_refused(
    character: str, field: str, wrap: Callable[[str], object]
) -> None:
    draft = having(OWLS, **{field: wrap(f"a{character}b")})

    assert refusals(draft) == [("draft-text-invalid", field)]
    with pytest.raises(InvalidMemory):
        render_template(draft, at=AT)


@pytest.mark.parametrize("blank", ["", " ", "\u00a0\n"])
@pytest.mark.parametrize(
    ("field", "wrap"),
    [
        ("tags", lambda text: (text,)),
        ("entities", lambda text: (text,)),
        ("aliases", lambda text: (text,)),
        ("author", str),
        ("session_id", str),
        ("facets", lambda text: (Facet(text, "x"),)),
        ("facets", lambda text: (Facet("x", text),)),
        ("citations", lambda text: (Citation(text),)),
    ],
)
def test_a_blank_entry_is_refused(blank: str, field: str, wrap: Callable[[str], object]) -> None:
    assert refusals(having(OWLS, **{field: wrap(blank)})) == [("draft-text-blank", field)]


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (replace(MARKED, facets=(Facet("a", "b"),)), "facets"),
        (replace(MARKED, citations=(Citation("a"),)), "citations"),
        (replace(MARKED, happened_at="2026-01-01"), "happened_at"),
        (replace(OWLS, due_at="2026-01-01"), "due_at"),
        (replace(OWLS, task_status=TaskStatus.TODO), "task_status"),
    ],
)
def test_a_field_without_a_place_is_refused(draft: Draft, field: str) -> None:
    assert refusals(draft) == [("draft-field-unused", field)]


def test_a_link_that_nobody_would_read_is_refused() -> None:
    assert refusals(replace(OWLS, links=(Link("supports", "/a.html"),))) == [
        ("link-rel-unknown", "links")
    ]


def test_everything_wrong_is_told_at_once() -> None:
    draft = Draft(
        title=" ",
        memory_type=MemoryType.SEMANTIC,
        article_html="<p class=x>No claim.</p></article>",
        importance=42,
        tags=("",),
        links=(Link("memhtml-likes", "a.html"),),
        valid_from="soon",
    )

    assert [code for code, _ in refusals(draft)] == [
        "draft-text-blank",
        "draft-number-invalid",
        "title-empty",
        "mark-missing",
        "attr-presentation",
        "link-rel-unknown",
        "link-href-not-root-relative",
        "meta-datetime-invalid",
        "article-markup-escapes",
    ]


def test_the_head_states_its_fields_in_the_one_order() -> None:
    values: dict[str, Any] = {
        field: (field,) if name in REPEATABLE else field for name, field in HEAD_FIELDS.items()
    }

    data = serialize(title="x", head=Head(**values), links=(), article_html="").decode()

    names = [line.split('"')[1] for line in data.split("\n") if line.startswith('<meta name="')]
    assert names == list(META_ORDER)
    assert HEAD_FIELDS["memhtml-archived"] == "archived_at"
    assert HEAD_FIELDS["memhtml-turn"] == "turn_uuid"


def test_a_value_that_names_no_tag_is_kept_to_be_refused() -> None:
    assert split_tags(["a, b", " ,", "", "b,c"]) == ("a", "b", " ,", "", "c")
