"""The seed, statement by statement, from outside: bytes in, what the library says out.

Finer tests stand beside the modules; `docs/conformance.md` lists both kinds for each statement.
"""

from __future__ import annotations

import hashlib
import math
from datetime import datetime

import pytest

from memhtml.format.edit import add_link, add_meta, read_meta, set_meta
from memhtml.format.language_names import DETECT_MAX_CHARS, VOCABULARY, detect_score
from memhtml.format.metas import META_ORDER
from memhtml.format.parse import check_document, parse
from memhtml.format.render import render_memory, render_template
from memhtml.format.serialize import serialize
from memhtml.format.text import canonical_text, content_hash
from memhtml.index.project import project
from memhtml.model.document import Document, Head, Link
from memhtml.model.entities import Entity, entity_rows
from memhtml.model.errors import InvalidMemory
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.store.write import plan_write
from tests.imports import imports_of, read_modules
from tests.store.dictview import DictView

HEAD = {
    "memhtml-type": "semantic",
    "memhtml-status": "active",
    "memhtml-created": "2026-08-02T14:03:11Z",
    "memhtml-updated": "2026-08-02T14:03:11Z",
}
ARTICLE = "<p><mark>The gate opens at six.</mark></p>"
AT = "2026-08-02T14:03:11Z"


def memory(
    article: str = ARTICLE, *, head: dict[str, str | None] | None = None, extra: str = ""
) -> bytes:
    """Return a file; a None in *head* leaves that meta out, *extra* goes to the end of the head."""
    metas = "".join(
        f'<meta name="{name}" content="{value}">\n'
        for name, value in {**HEAD, **(head or {})}.items()
        if value is not None
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Gate</title>\n'
        f"{metas}{extra}</head>\n<body>\n<article>\n{article}\n</article>\n</body>\n</html>\n"
    ).encode()


def task(**head: str) -> bytes:
    metas = {f"memhtml-{name.replace('_', '-')}": value for name, value in head.items()}
    return memory(head={"memhtml-type": "task", "memhtml-task-status": "todo", **metas})


def blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def codes(data: bytes) -> list[str]:
    return [found.code for found in parse(data).violations]


def warnings(data: bytes) -> list[str]:
    return [found.code for found in parse(data).warnings]


def article(markup: str) -> Document:
    document = parse(memory(markup))
    assert document.is_valid, document.violations
    return document


# Introduction


def test_a_plain_memory_is_without_fault() -> None:
    assert parse(memory()).diagnostics == ()


def test_an_element_outside_the_vocabulary_warns_and_does_not_block() -> None:
    data = memory(ARTICLE + "<blink>old</blink>")
    assert warnings(data) == ["element-unknown"]
    assert parse(data).is_valid


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"<", b"<article>" * 600, b"plain text"])
def test_any_bytes_are_checked_without_an_error_and_without_repair(data: bytes) -> None:
    found = check_document(data)
    assert found == parse(data).diagnostics
    assert any(finding.severity == "violation" for finding in found)


# 1. The machine plane


@pytest.mark.parametrize("name", [*META_ORDER, *(rel.token for rel in Rel)])
def test_every_name_of_the_head_has_hyphens_and_no_colon(name: str) -> None:
    assert name.startswith("memhtml-")
    assert not set(name) & {":", "_", " "}


def test_correcting_one_of_several_tags_changes_one_line() -> None:
    data = memory(extra="".join(f'<meta name="memhtml-tag" content="{t}">\n' for t in "abc"))
    edited = set_meta(data, "memhtml-tag", "z")
    before, after = data.split(b"\n"), edited.split(b"\n")
    assert len(before) == len(after)
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1
    assert parse(edited).head.tags == ("z", "b", "c")


@pytest.mark.parametrize("name", HEAD)
def test_four_metas_are_required(name: str) -> None:
    assert codes(memory(head={name: None})) == ["meta-required-missing"]


def test_an_omitted_meta_is_absent_and_never_a_default() -> None:
    head = parse(memory()).head
    assert (head.confidence, head.importance, head.reprieves, head.needs_revision) == (None,) * 4
    assert head.author is None


@pytest.mark.parametrize("name", ["memhtml-entity", "memhtml-tag", "memhtml-alias"])
def test_three_names_may_repeat(name: str) -> None:
    metas = "".join(f'<meta name="{name}" content="{value}">' for value in ("x:a", "x:b"))
    document = parse(memory(extra=metas))
    assert document.is_valid
    assert ("x:a", "x:b") in (document.head.entities, document.head.tags, document.head.aliases)


@pytest.mark.parametrize(
    "name", [name for name in META_ORDER if name.split("-", 1)[1] not in {"entity", "tag", "alias"}]
)
def test_no_other_name_may_be_stated_twice(name: str) -> None:
    twice = f'<meta name="{name}" content="1">' * (1 if name in HEAD else 2)
    assert "meta-repeated" in codes(memory(extra=twice))


def test_a_stale_content_hash_is_reported_as_it_stands() -> None:
    document = parse(memory(head={"memhtml-content-hash": "sha256:stale"}))
    assert document.is_valid
    assert document.head.content_hash == "sha256:stale"
    assert document.content_hash == content_hash(memory())


def test_the_names_are_a_closed_list() -> None:
    assert codes(memory(head={"memhtml-mood": "x"})) == ["meta-unknown"]


def test_scalars_come_before_repeatables_in_the_order_of_names() -> None:
    assert META_ORDER[:4] == tuple(HEAD)
    assert META_ORDER[-3:] == ("memhtml-entity", "memhtml-tag", "memhtml-alias")
    assert len(set(META_ORDER)) == 22


def test_the_serializer_and_the_editors_use_one_order() -> None:
    values = dict.fromkeys(META_ORDER[4:-3], "2026-01-02")
    edited = memory()
    for name in reversed(values):
        edited = set_meta(edited, name, values[name])
    for name in ("memhtml-alias", "memhtml-tag", "memhtml-entity"):
        edited = add_meta(edited, name, "x")
    stated = [line.split('"')[1] for line in edited.decode().split("\n") if "memhtml-" in line]
    assert stated == list(META_ORDER)
    whole = serialize(
        title="Gate",
        head=Head(memory_type="task", task_status="todo", entities=("a:b",), tags=("t",)),
        links=(Link(Rel.SUPPORTS.token, "/areas/x.html"),),
        article_html=ARTICLE,
    )
    stated = [line.split('"')[1] for line in whole.decode().split("\n") if "memhtml-" in line]
    ranks = {name: rank for rank, name in enumerate((*META_ORDER, Rel.SUPPORTS.token))}
    assert stated == sorted(stated, key=ranks.__getitem__)


def test_the_index_completes_what_a_file_leaves_out() -> None:
    row = project("areas/gate.html", "0" * 40, parse(memory())).file
    assert row.confidence == 1.0


# 2. The human plane


def test_the_text_of_the_article_is_the_body_text() -> None:
    document = article(ARTICLE + "<p>Bakers  queue.</p>")
    assert document.body_text == "The gate opens at six. Bakers queue."


def test_the_mark_is_the_claim() -> None:
    assert article("<p>Now: <mark>the  gate</mark> opens.</p>").claim == "the gate"


def test_the_first_time_in_document_order_says_when_it_happened() -> None:
    document = article(
        ARTICLE + '<p><time datetime="2026-05-02">May</time> <time datetime="2026-05-01">1</time>'
    )
    assert document.happened_at == "2026-05-02"


def test_one_name_may_govern_several_facets() -> None:
    document = article(ARTICLE + "<dl><dt>Day<dd>Monday<dd>Tuesday<dt>Hour<dd>six</dl>")
    assert [(f.name, f.value) for f in document.facets] == [
        ("Day", "Monday"),
        ("Day", "Tuesday"),
        ("Hour", "six"),
    ]


def test_a_data_value_is_the_number_of_its_facet() -> None:
    document = article(
        ARTICLE + '<dl><dt>Votes<dd><data value="4">four</data> to <data value="1">one</data>'
        '<dd><data value="inf">many</data></dl>'
    )
    assert [(f.value, f.number) for f in document.facets] == [("four to one", 4), ("many", None)]


def test_citations_say_where_the_fact_came_from() -> None:
    document = article(ARTICLE + '<p><cite>Log</cite> <q cite="https://e.x/">six</q></p>')
    assert document.citations == (("Log", None), ("six", "https://e.x/"))


def test_a_defined_term_is_a_concept() -> None:
    assert Entity("concept", "neap tide") in entity_rows(
        article(ARTICLE + "<p><dfn>neap tide</dfn></p>")
    )


def test_a_code_label_is_a_language_in_lower_case() -> None:
    document = article(ARTICLE + '<pre><code data-lang="TS">let x</code></pre>')
    assert entity_rows(document) == (Entity("lang", "ts"),)
    assert b'data-lang="TS"' in memory(document.article_html)


def test_a_language_is_never_read_from_class_or_lang() -> None:
    document = parse(memory(ARTICLE + '<code class="language-ts" lang="ts">x</code>'))
    assert document.code_langs == ()


def test_all_technical_text_is_body_text_and_code_is_no_part_of_the_claim() -> None:
    document = article(
        "<p><mark>Run <code>drain</code> and press <kbd>y</kbd></mark></p><pre>a  b</pre>"
        "<p><samp>ok</samp> <var>n</var></p>"
    )
    assert document.claim == "Run and press y"
    assert document.body_text == "Run drain and press y a b ok n"


@pytest.mark.parametrize("element", ["code", "kbd", "samp", "var"])
def test_only_pre_keeps_its_whitespace_in_the_hash(element: str) -> None:
    loose, tight = (content_hash(f"<{element}>a{gap}b</{element}>") for gap in ("  ", " "))
    assert loose == tight
    assert content_hash("<pre>a  b</pre>") != content_hash("<pre>a b</pre>")


@pytest.mark.parametrize("element", ["div", "span"])
def test_containers_belong_in_a_figure(element: str) -> None:
    sample = f"<{element}>x</{element}>"
    assert warnings(memory(f"{ARTICLE}<figure>{sample}</figure>")) == []
    assert warnings(memory(ARTICLE + sample)) == ["element-figure-only"]


# 3. Two hashes, two jobs


def test_the_hash_is_sha_256_over_the_normalised_text() -> None:
    digest = hashlib.sha256(b"Bread rises.").hexdigest()
    assert content_hash("<p>Bread\n   rises.</p>") == f"sha256:{digest}"


def test_the_hash_of_a_file_is_that_of_its_article() -> None:
    assert content_hash(memory()) == content_hash(ARTICLE)


def test_head_edits_leave_the_content_hash_alone() -> None:
    data = memory("<p><mark>Keep</mark></p><pre>\n\n  two</pre>")
    edited = set_meta(data, "memhtml-confidence", "0.812")
    edited = add_link(edited, Rel.SUPERSEDES, "/archive/2026/areas/x.html")
    assert edited != data
    assert content_hash(edited) == content_hash(data)


def test_blocks_have_edges_and_indentation_has_no_weight() -> None:
    assert canonical_text("<p>a</p><p>b</p>") == canonical_text("\n  <p>a</p>\n\n    <p>b</p>\n")
    assert canonical_text("<p>a</p><p>b</p>") == "a b"
    assert canonical_text("<p>a<em>b</em></p>") == "ab"


def test_the_outer_trim_spares_a_pre() -> None:
    assert canonical_text("<pre>  a</pre>") != canonical_text("<pre>a</pre>")
    assert "  a" in canonical_text("<pre>  a</pre>")


def test_a_no_break_space_is_content() -> None:
    assert canonical_text("<p>\u00a0a\u00a0 b</p>") == "\u00a0a\u00a0 b"


def test_a_head_edit_moves_the_blob_sha_and_not_the_content_hash() -> None:
    data = memory()
    edited = set_meta(data, "memhtml-confidence", "0.5")
    assert blob(edited) != blob(data)
    assert parse(edited).content_hash == parse(data).content_hash
    rows = [project("areas/gate.html", blob(file), parse(file)).file for file in (data, edited)]
    assert [row.blob_sha for row in rows] == [blob(data), blob(edited)]
    assert rows[0].content_hash == rows[1].content_hash != rows[0].blob_sha


# 4. Byte-splice editors


def test_an_edit_keeps_the_newline_inside_a_pre() -> None:
    data = memory("<p><mark>Keep</mark></p><pre>\n\n  two</pre>")
    edited = set_meta(data, "memhtml-importance", "7")
    assert edited.replace(b'<meta name="memhtml-importance" content="7">\n', b"") == data
    assert read_meta(edited, "memhtml-importance") == "7"


# 5. The checker


def test_every_violation_is_collected() -> None:
    data = memory(
        '<p class="x">No claim. <time>noon</time></p><script></script>',
        head={"memhtml-type": "dream", "memhtml-status": None},
        extra='<link rel="memhtml-likes" href="x.html">',
    )
    assert set(codes(data)) == {
        "mark-missing",
        "attr-presentation",
        "time-datetime-missing",
        "element-forbidden",
        "type-unknown",
        "meta-required-missing",
        "link-rel-unknown",
        "link-href-not-root-relative",
    }


def test_a_refusal_joins_its_violations_with_semicolons() -> None:
    draft = Draft(
        title="Gate", memory_type=MemoryType.SEMANTIC, article_html='<p class="x">No claim</p>'
    )
    with pytest.raises(InvalidMemory) as raised:
        render_memory(draft, at=AT)
    messages = [found.message for found in raised.value.diagnostics]
    assert len(messages) == 2
    assert str(raised.value) == "; ".join(messages)


@pytest.mark.parametrize(
    ("markup", "code"),
    [
        ("</article><article>" + ARTICLE, "article-count"),
        ("<p>none</p>", "mark-missing"),
        ("<p><mark>a</mark> <mark>b</mark></p>", "mark-count"),
        ("<p><mark> </mark></p>", "mark-empty"),
        ("<p><mark><code>drain --vip</code></mark></p>", "mark-empty"),
        ("<p>first</p><p><mark>second</mark></p>", "mark-not-first"),
        ("<section><mark>loose</mark></section>", "mark-no-block"),
        ("<aside><p><mark>caveat</mark></p></aside>", "mark-in-aside"),
        ("<details><p><mark>hidden</mark></p></details>", "mark-in-details"),
    ],
)
def test_one_claim_leads_one_article(markup: str, code: str) -> None:
    assert codes(memory(markup)) == [code]


def test_the_claim_may_lead_in_a_list_item() -> None:
    assert article("<ul><li><mark>six</mark></li></ul>").claim == "six"


@pytest.mark.parametrize("value", ["2026-05-02", "2026-05-02T06:00:00Z", "2026-06-30T23:59:60Z"])
def test_a_time_in_a_sortable_form_is_fine(value: str) -> None:
    assert codes(memory(f'{ARTICLE}<p><time datetime="{value}">then</time></p>')) == []


@pytest.mark.parametrize(
    "value",
    [
        "2026-05-02 06:00:00Z",
        "2026-05-02T06:00:00+02:00",
        "2026-05-02T06:00:00.5Z",
        "2026-05-02T06:00Z",
        "2026-05-02T25:00:00Z",
        "06:00",
        "P1D",
        "2026-W18",
        "",
    ],
)
def test_a_time_that_would_not_sort_is_a_violation(value: str) -> None:
    data = memory(f'{ARTICLE}<p><time datetime="{value}">then</time></p>')
    assert codes(data) == ["time-datetime-invalid"]


@pytest.mark.parametrize(
    ("markup", "code"),
    [
        ('<p class="x">y</p>', "attr-presentation"),
        ('<p style="color:red">y</p>', "attr-presentation"),
        ("<script>1</script>", "element-forbidden"),
        ("<style>p{}</style>", "element-forbidden"),
        ('<p onclick="x()">y</p>', "attr-handler"),
        ("<template><script>1</script></template>", "element-forbidden"),
    ],
)
def test_presentation_and_behaviour_are_violations(markup: str, code: str) -> None:
    assert codes(memory(ARTICLE + markup)) == [code]


@pytest.mark.parametrize(
    ("link", "code"),
    [
        ('rel="memhtml-likes" href="/areas/x.html"', "link-rel-unknown"),
        ('rel="memhtml-supports" href="x.html"', "link-href-not-root-relative"),
        ('rel="memhtml-supports" href="//host/x.html"', "link-href-not-root-relative"),
        ('rel="memhtml-supports"', "link-href-missing"),
    ],
)
def test_a_link_needs_a_known_rel_and_a_root_relative_href(link: str, code: str) -> None:
    assert codes(memory(extra=f"<link {link}>")) == [code]


def test_forty_stray_elements_are_one_warning() -> None:
    assert warnings(memory(ARTICLE + "<div>x</div>" * 40)) == ["element-figure-only"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memhtml-confidence", "1.5"),
        ("memhtml-confidence", "high"),
        ("memhtml-importance", "0"),
        ("memhtml-importance", "11"),
    ],
)
def test_a_malformed_number_is_dropped_and_the_drop_reported(name: str, value: str) -> None:
    document = parse(memory(head={name: value}))
    assert document.is_valid
    assert (document.head.confidence, document.head.importance) == (None, None)
    assert [found.severity for found in document.diagnostics] == ["note"]


def test_two_types_stop_the_write() -> None:
    data = memory(extra='<meta name="memhtml-type" content="episodic">')
    assert codes(data) == ["meta-repeated"]


@pytest.mark.parametrize("name", ["created", "updated", "valid-from", "valid-until", "archived"])
def test_an_unsortable_instant_in_the_head_is_a_violation(name: str) -> None:
    assert codes(memory(head={f"memhtml-{name}": "2026-08-24 13:00:00Z"})) == [
        "meta-datetime-invalid"
    ]


def test_an_unsortable_deadline_of_a_task_is_a_violation() -> None:
    assert codes(task(due="tomorrow")) == ["meta-datetime-invalid"]


# 6. The render gate


def test_the_template_places_the_claim_first() -> None:
    draft = Draft(
        title="Gate",
        memory_type=MemoryType.SEMANTIC,
        claim="Opens at <six>.",
        paragraphs=("Bakers queue.", "Except in snow."),
    )
    data, document = render_memory(draft, at=AT)
    assert document.diagnostics == ()
    assert document.claim == "Opens at <six>."
    assert b"<article>\n<p><mark>Opens at &lt;six&gt;.</mark> Bakers queue.</p>\n<p>" in data


def test_article_markup_passes_through_unchanged() -> None:
    markup = (
        "<P title='b' id=a><mark>Odd &#x41; quoting</mark>\t<time datetime=2026-05-02>then</time>"
    )
    draft = Draft(title="Gate", memory_type=MemoryType.EPISODIC, article_html=markup)
    data, document = render_memory(draft, at=AT)
    assert markup.encode() in data
    assert document.happened_at == "2026-05-02"


def test_a_bad_file_is_refused_before_anything_is_planned() -> None:
    view = DictView()
    draft = Draft(title="Gate", memory_type=MemoryType.SEMANTIC, article_html="<p>No claim</p>")
    with pytest.raises(InvalidMemory) as raised:
        plan_write(draft, view, now=datetime.fromisoformat(AT))
    assert [found.code for found in raised.value.diagnostics] == ["mark-missing"]
    assert not view.files


# 7. Fences and data-lang


def fenced(paragraph: str, detected: str | None = None) -> bytes:
    draft = Draft(
        title="Gate", memory_type=MemoryType.PROCEDURAL, claim="Run it.", paragraphs=(paragraph,)
    )
    return render_template(draft, at=AT, detect=lambda _: detected)


def test_a_whole_fence_becomes_a_figure() -> None:
    data = fenced("```sh\necho <hi>\n```")
    assert b'<figure><pre><code data-lang="sh">echo &lt;hi&gt;</code></pre></figure>' in data


def test_a_label_wins_over_the_detector_and_reaches_the_file_unchanged() -> None:
    assert b'data-lang="TS"' in fenced("```TS\nlet x\n```", detected="python")


def test_an_unlabelled_fence_takes_what_the_detector_proposes_or_nothing() -> None:
    assert b'data-lang="python"' in fenced("```\nx = 1\n```", detected="python")
    assert b"data-lang" not in fenced("```\nx = 1\n```", detected=None)
    assert b"data-lang" not in fenced("```{.py}\nx = 1\n```", detected=None)


def test_the_margin_over_the_runner_up_per_line_is_the_confidence() -> None:
    score = detect_score("python", 9, "lua", 5, code="a\nb")
    assert score.confidence == pytest.approx(1 - math.exp(-(9 - 5) / 2))
    one_language = detect_score("pgsql", 9, "n1ql", 9, code="a\nb")
    assert one_language.confidence == pytest.approx(1 - math.exp(-9 / 2))


def test_a_stamp_needs_both_confidence_and_one_of_twelve_names() -> None:
    assert detect_score("python", 1, "lua", 0.65, code="a").stamp is None
    assert detect_score("python", 1, "lua", 0.64, code="a").stamp == "python"
    sure_of_a_thirteenth = detect_score("smali", 2, None, 0, code="a")
    assert (sure_of_a_thirteenth.confidence > 0.86, sure_of_a_thirteenth.stamp) == (True, None)
    assert len(VOCABULARY) == 12


def test_a_fence_longer_than_the_cap_is_not_looked_at() -> None:
    assert detect_score("python", 10**6, None, 0, code="x" * DETECT_MAX_CHARS).stamp == "python"
    assert detect_score("python", 10**6, None, 0, code="x" * (DETECT_MAX_CHARS + 1)).stamp is None


def test_no_module_behind_the_index_knows_a_detector() -> None:
    modules = {module.name: module for module in read_modules()}
    reached: set[str] = set()
    todo = [name for name, module in modules.items() if module.home == "index"]
    while todo:
        name = todo.pop()
        if name in reached:
            continue
        reached.add(name)
        for imported in imports_of(modules[name]):
            todo += {imported, imported.rpartition(".")[0]} & modules.keys()
    assert "memhtml.format.parse" in reached
    assert not {name for name in reached if "detect" in name or ".language" in name}


# 8. Task files


def test_a_memory_has_one_of_ten_types() -> None:
    assert len(MemoryType) == 10
    assert codes(memory(head={"memhtml-type": "dream"})) == ["type-unknown"]


@pytest.mark.parametrize("status", ["todo", "doing", "blocked", "done"])
def test_a_task_has_a_status_of_its_own_beside_that_of_the_memory(status: str) -> None:
    document = parse(task(task_status=status, due="2026-09-01"))
    assert document.diagnostics == ()
    assert (document.head.task_status, document.head.status) == (status, "active")
    assert document.head.due_at == "2026-09-01"


@pytest.mark.parametrize("status", ["todo", "done"])
def test_a_task_status_is_no_status_of_a_memory(status: str) -> None:
    assert codes(memory(head={"memhtml-status": status})) == ["status-unknown"]


def test_a_deadline_is_not_the_end_of_validity() -> None:
    head = parse(task(due="2026-09-01", valid_until="2027-01-01")).head
    assert (head.due_at, head.valid_until) == ("2026-09-01", "2027-01-01")


def test_a_task_and_its_status_need_each_other() -> None:
    assert codes(memory(head={"memhtml-type": "task"})) == ["task-status-missing"]
    assert codes(memory(head={"memhtml-task-status": "todo"})) == ["task-status-on-non-task"]


def test_the_claim_of_a_task_is_what_done_means() -> None:
    assert parse(task()).claim == "The gate opens at six."
