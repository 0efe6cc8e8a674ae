from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memhtml.format.commonmark import MAX_MARKDOWN_CHARS
from memhtml.format.markdown import Converted, from_markdown
from memhtml.format.render import render_memory
from memhtml.model.errors import InvalidFlag
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType

FRAGMENTS = (
    "# Head",
    "A sentence. Another one",
    "*it*",
    "**bold. x** y",
    "`code. x`",
    "`only`",
    "- item",
    "  - inner",
    "1. one",
    "> quote",
    "> — Ada",
    "```py\nx = 1\n```",
    "    indented",
    "| a | b |\n|:-:|---|\n| 1 | 2 |",
    "<b>raw</b>",
    "<div>\nblock\n</div>",
    "<!-- hidden -->",
    "![alt](pic.png)",
    "[t](javascript:x)",
    '[t](https://a.example "title")',
    "[[Note|name]] #tag %%gone%% ![[embed]]",
    "[^1]: word",
    "[a]: http://b.example",
    "***",
    "two  \nlines",
    "</article><script>x</script>",
    "&lt;&#0;",
    "",
)


def codes(converted: Converted) -> list[str]:
    return [note.code for note in converted.notes]


def checked(markdown: str, *, wiki: bool = False) -> Converted:
    """Convert, and let the gate of every write read the result."""
    converted = from_markdown(markdown, fallback_claim="Nothing said.", wiki=wiki)
    draft = Draft(title="T", memory_type=MemoryType.SEMANTIC, article_html=converted.article_html)
    _, document = render_memory(draft, at="2027-01-01T00:00:00Z")
    assert not document.warnings, (markdown, document.warnings)
    return converted


def test_the_first_sentence_is_the_claim_and_markup_in_it_stays_whole() -> None:
    html = from_markdown("The *gate. Opens* at six. Bring a key.").article_html
    assert html == "<p><mark>The <em>gate. Opens</em></mark> at six. Bring a key.</p>"


def test_a_claim_is_never_only_code() -> None:
    html = from_markdown("`drain --vip`. Then wait. Later.").article_html
    assert html == "<p><mark><code>drain --vip</code>. Then wait.</mark> Later.</p>"


def test_a_full_stop_in_code_ends_no_sentence() -> None:
    html = from_markdown("Run `a. b` now. Later.").article_html
    assert html.startswith("<p><mark>Run <code>a. b</code> now.</mark>")


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("- a\n- b", "<ul>\n<li><mark>a</mark></li>\n<li>b</li>\n</ul>"),
        ("3. a\n4. b", '<ol start="3">\n<li><mark>a</mark></li>\n<li>b</li>\n</ol>'),
        (
            "Claim.\n\n> words\n> — [Ada](https://a.example)",
            (
                '<p><mark>Claim.</mark></p>\n<p><q cite="https://a.example">words</q> '
                '<cite><a href="https://a.example">Ada</a></cite></p>'
            ),
        ),
        (
            "Claim.\n\n```C++\na < b\n```",
            (
                '<p><mark>Claim.</mark></p>\n<figure><pre><code data-lang="C++">'
                "a &lt; b</code></pre></figure>"
            ),
        ),
        ('[a](b "t") c', '<p><mark><a href="b" title="t">a</a> c</mark></p>'),
        (
            "<https://a.example>",
            '<p><mark><a href="https://a.example">https://a.example</a></mark></p>',
        ),
        ("**a** `b`", "<p><mark><strong>a</strong> <code>b</code></mark></p>"),
    ],
)
def test_what_the_vocabulary_has_becomes_markup(markdown: str, html: str) -> None:
    converted = checked(markdown)
    assert converted.article_html == html
    assert converted.notes == ()


@pytest.mark.parametrize(
    ("markdown", "code", "line", "kept"),
    [
        ("Claim.\n\n## Part", "heading", 3, "Part"),
        ("Claim ![a dog](d.png).", "image", 1, '<a href="d.png">a dog</a>'),
        ("Claim ![a dog](data:image/png;base64,x).", "image", 1, "a dog"),
        ("Claim <b>x</b>.", "html", 1, "Claim x."),
        ("a<br>b", "html", 1, "a\nb"),
        ("Claim.\n\n<div onclick=x>\nkept\n</div>", "html", 3, "&lt;div onclick=x&gt;\nkept"),
        ("Claim.\n\n<!-- kept -->", "comment", 3, "&lt;!-- kept --&gt;"),
        ("Claim [x](javascript:alert) y.", "link", 1, "Claim x y."),
        ("Claim [x](//host/y) z.", "link", 1, "Claim x z."),
        ("Claim [x](&Tab;javascript:y) z.", "link", 1, None),
        ("Claim.[^1]\n\n[^1]: word", "footnote", 1, "[^1]: word"),
        ("Claim.\n\n[m]: http://y.example", "definition", 3, "M: http://y.example"),
        ("Claim.\n\n---\n\nb", "rule", 3, "b"),
        ("Claim  \nmore.", "break", 1, "Claim\nmore."),
        ("Claim.\n\n|a|\n|:-|\n|b|", "alignment", 5, "<th>a</th>"),
        ("Claim.\n\n```py title=x\ny\n```", "label", 3, 'data-lang="py"'),
        ("Claim.\n\n|a|\n|-|\n|b|\n|c|d\\|<|", "cell", 6, "<td>d|&lt;</td>"),
        ("Claim.\n\n> |a|\n> |-|\n> |b|c|", "cell", 5, "<td>c</td>"),
        ("Claim.\n\n> - a", "quote", 3, "<li>a</li>"),
    ],
)
def test_what_has_no_place_is_told_with_its_line_and_keeps_its_text(
    markdown: str, code: str, line: int, kept: str | None
) -> None:
    converted = checked(markdown)
    if kept is None:
        assert "javascript:" not in converted.article_html.replace("%09javascript:", "")
        return
    assert (code, line) in [(note.code, note.line) for note in converted.notes]
    assert kept in converted.article_html


def test_a_heading_before_the_claim_leaves_the_claim_in_the_first_paragraph() -> None:
    assert (
        checked("# Top\n\nClaim.").article_html
        == "<strong>Top</strong>\n<p><mark>Claim.</mark></p>"
    )


def test_a_title_is_taken_only_from_the_very_start() -> None:
    taken = from_markdown("# *My* title\n\nClaim.", take_title=True)
    assert (taken.title, taken.article_html) == ("My title", "<p><mark>Claim.</mark></p>")
    assert from_markdown("Claim.\n\n# Not it", take_title=True).title == ""


def test_without_a_sentence_the_fallback_is_the_claim() -> None:
    assert checked("```\nx\n```").article_html.startswith("<p><mark>Nothing said.</mark></p>\n")
    assert "<mark>" not in from_markdown("`only code`").article_html


def test_a_given_claim_leads_and_the_text_follows() -> None:
    html = from_markdown("First. Second.", claim="A < B.").article_html
    assert html == "<p><mark>A &lt; B.</mark></p>\n<p>First. Second.</p>"


def test_notes_as_note_takers_write_them_give_links_and_tags() -> None:
    converted = from_markdown("See [[Barn#Door|the barn]] and ![[owl.png]]. #night/owls", wiki=True)
    assert [r.target for r in converted.references] == ["Barn", "owl.png"]
    assert converted.tags == ("night/owls",)
    assert "See the barn and owl.png.</mark> #night/owls" in converted.article_html
    assert codes(converted) == ["embed"]


def test_without_the_note_takers_words_brackets_are_text() -> None:
    assert "[[Barn]]" in from_markdown("See [[Barn]].").article_html


def test_nesting_that_the_parser_would_cut_off_is_kept_whole() -> None:
    converted = checked("> " * 200 + "deep\n\nlast word")
    assert codes(converted) == ["nesting"]
    assert "deep" in converted.article_html
    assert "last word" in converted.article_html


def test_a_text_of_megabytes_is_refused() -> None:
    with pytest.raises(InvalidFlag, match="split it"):
        from_markdown("x" * (MAX_MARKDOWN_CHARS + 1))


@settings(max_examples=100)
@example(["```py a label that runs on " + "and on " * 12 + "to its end\nx\n```"], "\n", False)
@example(["<b title='" + "much " * 30 + "more'>bold</b> %%" + "aside " * 30 + "end%%"], "\n", True)
@given(
    st.lists(st.sampled_from(FRAGMENTS), max_size=6),
    st.sampled_from(["\n", "\n\n", " "]),
    st.booleans(),
)
def test_any_markdown_makes_a_memory_that_passes_the_gate_and_loses_no_word(
    parts: list[str], joint: str, wiki: bool
) -> None:
    markdown = joint.join(parts)
    converted = checked(markdown, wiki=wiki)
    told = converted.article_html + " ".join(note.message for note in converted.notes)
    told += " ".join(reference.target for reference in converted.references)
    for word in re.findall(r"[A-Za-z]{2,}", re.sub(r"&[a-z]+;|javascript", "", markdown)):
        assert word.casefold() in told.casefold(), (word, converted)
