from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from memhtml.format.merge import merge_memory
from memhtml.format.parse import FILE_CAP, parse
from memhtml.format.usage import merge_usage

BASE = b"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Gate hours</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-03-01T00:00:00Z">
<meta name="memhtml-updated" content="2026-03-01T00:00:00Z">
<meta name="memhtml-confidence" content="0.80">
<meta name="memhtml-importance" content="5">
<meta name="memhtml-tag" content="gate">
<meta name="memhtml-tag" content="old">
<link rel="memhtml-relates-to" href="/areas/a.html">
</head>
<body>
<article>
<p><mark>The gate opens at 06:30.</mark> Ada has the key.</p>
</article>
</body>
</html>
"""


def edited(*edits: Edit, data: bytes = BASE) -> bytes:
    return apply_edits(data, edits)


def said(data: bytes, claim: str) -> bytes:
    return data.replace(b"The gate opens at 06:30.", claim.encode())


def test_a_side_that_changed_nothing_leaves_the_other_byte_for_byte() -> None:
    other = said(BASE, "It opens at 07:00.").replace(b"\n", b"\r\n")
    assert merge_memory(BASE, other, BASE) == (other, ())
    assert merge_memory(BASE, BASE, other) == (other, ())
    assert merge_memory(None, other, other) == (other, ())


def test_tags_and_links_of_both_sides_are_there_and_what_either_removed_is_gone() -> None:
    ours = edited(
        RemoveMeta("memhtml-tag"),
        AddMeta("memhtml-tag", "gate"),
        AddMeta("memhtml-tag", "mine"),
        AddLink("supports", "/areas/b.html"),
    )
    theirs = edited(
        AddMeta("memhtml-tag", "theirs"),
        AddMeta("memhtml-entity", "person:Ada"),
        RemoveLink("relates_to", "/areas/a.html"),
    )
    merged = merge_memory(BASE, ours, theirs)
    document = parse(merged.data)
    assert merged.conflicts == ()
    assert document.head.tags == ("gate", "mine", "theirs")
    assert document.head.entities == ("person:Ada",)
    assert [link.href for link in read_links(merged.data)] == ["/areas/b.html"]
    assert document.diagnostics == ()


def test_bytes_outside_of_the_statements_stay_as_the_side_has_them() -> None:
    odd = BASE.replace(b"<title>", b"<!-- by hand -->\n<TITLE>").replace(b"</p>", b"</p>\r\n\xff")
    ours = edited(AddMeta("memhtml-tag", "mine"), data=odd)
    theirs = edited(AddMeta("memhtml-tag", "theirs"), data=odd)
    assert merge_memory(odd, ours, theirs).data == edited(
        AddMeta("memhtml-tag", "mine"), AddMeta("memhtml-tag", "theirs"), data=odd
    )


def test_an_article_of_one_side_meets_the_head_of_the_other() -> None:
    for flip in (False, True):
        sides = [said(BASE, "It opens at 07:00."), edited(AddMeta("memhtml-tag", "mine"))]
        merged = merge_memory(BASE, *(sides[::-1] if flip else sides))
        assert merged.conflicts == ()
        assert merged.data == edited(
            AddMeta("memhtml-tag", "mine"), data=said(BASE, "It opens at 07:00.")
        )


def test_a_title_of_one_side_meets_the_article_of_the_other() -> None:
    titled = BASE.replace(b"Gate hours", b"When the gate opens")
    merged = merge_memory(BASE, titled, said(BASE, "It opens at 07:00."))
    assert merged == (said(titled, "It opens at 07:00."), ())


def test_two_claims_are_a_conflict_with_both_in_the_file_and_the_rest_merged() -> None:
    ours = edited(AddMeta("memhtml-tag", "mine"), data=said(BASE, "It opens at 07:00."))
    theirs = edited(AddMeta("memhtml-tag", "theirs"), data=said(BASE, "It opens at 08:00."))
    merged = merge_memory(BASE, ours, theirs)
    assert merged.conflicts == ("article",)
    text = merged.data.decode()
    assert (
        "<article>\n"
        "<<<<<<< ours\n"
        "<p><mark>It opens at 07:00.</mark> Ada has the key.</p>\n"
        "=======\n"
        "<p><mark>It opens at 08:00.</mark> Ada has the key.</p>\n"
        ">>>>>>> theirs\n"
        "</article>\n"
    ) in text
    assert text.count("<<<<<<<") == 1
    assert parse(merged.data).head.tags == ("gate", "old", "mine", "theirs")


def test_two_facts_written_at_one_path_are_a_conflict() -> None:
    ours, theirs = said(BASE, "It opens at 07:00."), said(BASE, "It opens at 08:00.")
    merged = merge_memory(None, ours, theirs)
    assert merged.conflicts == ("article",)
    assert b"07:00" in merged.data
    assert b"08:00" in merged.data


def test_one_fact_written_on_both_sides_is_one_file_by_whoever_was_first() -> None:
    ours = edited(
        SetMeta("memhtml-created", "2026-02-01T00:00:00Z"),
        SetMeta("memhtml-session", "zz"),
        SetMeta("memhtml-author", "agent"),
        AddMeta("memhtml-tag", "mine"),
    )
    theirs = edited(
        SetMeta("memhtml-updated", "2026-04-01T00:00:00Z"),
        SetMeta("memhtml-session", "aa"),
        SetMeta("memhtml-author", "human:Ada"),
    )
    for sides in ((ours, theirs), (theirs, ours)):
        merged = merge_memory(None, *sides)
        head = parse(merged.data).head
        assert merged.conflicts == ()
        assert (head.created_at, head.updated_at) == (
            "2026-02-01T00:00:00Z",
            "2026-04-01T00:00:00Z",
        )
        assert (head.author, head.session_id) == ("agent", "zz")
        assert sorted(head.tags) == ["gate", "mine", "old"]


@pytest.mark.parametrize(
    ("name", "one", "other", "wins"),
    [
        ("created", "2026-01-02", "2026-01-01", "2026-01-01"),
        ("updated", "2026-01-02", "2026-01-01", "2026-01-02"),
        ("archived", "2026-01-02", "2026-01-01", "2026-01-01"),
        ("due", "2026-01-02", "2026-01-01", "2026-01-01"),
        ("valid-from", "2026-01-02", "2026-01-01", "2026-01-02"),
        ("valid-until", "2026-01-02", "2026-01-01", "2026-01-01"),
        ("valid-until", "2026-01-02", "soon", "2026-01-02"),
        ("confidence", "0.7", "0.35", "0.35"),
        ("importance", "9", "10", "10"),
        ("reprieves", "9", "10", "10"),
        ("needs-revision", "false", "true", "true"),
        ("task-status", "doing", "done", "done"),
        ("task-status", "doing", "blocked", "blocked"),
    ],
)
def test_a_field_that_both_changed_follows_its_rule(
    name: str, one: str, other: str, wins: str
) -> None:
    meta = f"memhtml-{name}"
    for first, second in ((one, other), (other, one)):
        merged = merge_memory(BASE, edited(SetMeta(meta, first)), edited(SetMeta(meta, second)))
        assert merged.conflicts == ()
        assert read_meta(merged.data, meta) == wins


def test_archived_wins_over_active_where_there_is_no_common_version() -> None:
    archived = edited(SetMeta("memhtml-status", "archived"))
    for sides in ((BASE, archived), (archived, BASE)):
        assert read_meta(merge_memory(None, *sides).data, "memhtml-status") == "archived"


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("type", "episodic", "procedural"),
        ("superseded-by", "/areas/b.html", "/areas/c.html"),
        ("due", "soon", "later"),
    ],
)
def test_a_field_without_an_answer_is_a_conflict(name: str, one: str, other: str) -> None:
    meta = f"memhtml-{name}"
    merged = merge_memory(BASE, edited(SetMeta(meta, one)), edited(SetMeta(meta, other)))
    assert merged.conflicts == (meta,)
    assert one in merged.data.decode()
    assert other in merged.data.decode()
    assert merged.data.count(b"<<<<<<< ours\n") == 1


def test_two_titles_are_a_conflict() -> None:
    merged = merge_memory(BASE, BASE.replace(b"hours", b"times"), BASE.replace(b"hours", b"days"))
    assert merged.conflicts == ("head",)
    assert b"<title>Gate times</title>\n=======\n<title>Gate days</title>\n" in merged.data


def test_spans_that_do_not_meet_are_a_conflict() -> None:
    ours = edited(SetMeta("memhtml-valid-until", "2026-02-01"))
    theirs = edited(SetMeta("memhtml-valid-from", "2026-03-01"))
    merged = merge_memory(BASE, ours, theirs)
    assert merged.conflicts == ("memhtml-valid-from", "memhtml-valid-until")
    assert b"<<<<<<<" in merged.data


def test_an_undone_archiving_meets_a_tag() -> None:
    was = edited(
        SetMeta("memhtml-status", "archived"), SetMeta("memhtml-archived", "2026-03-02T00:00:00Z")
    )
    ours = edited(SetMeta("memhtml-status", "active"), RemoveMeta("memhtml-archived"), data=was)
    theirs = edited(AddMeta("memhtml-tag", "theirs"), data=was)
    merged = merge_memory(was, ours, theirs)
    head = parse(merged.data).head
    assert (head.status, head.archived_at, merged.conflicts) == ("active", None, ())
    assert "theirs" in head.tags


def test_the_content_hash_is_that_of_the_article_that_results() -> None:
    stamped = edited(SetMeta("memhtml-content-hash", parse(BASE).content_hash))
    new = said(stamped, "It opens at 07:00.")
    ours = edited(SetMeta("memhtml-content-hash", parse(new).content_hash), data=new)
    theirs = edited(
        AddMeta("memhtml-tag", "x"), SetMeta("memhtml-content-hash", "sha256:0"), data=stamped
    )
    for sides in ((ours, theirs), (theirs, ours)):
        document = parse(merge_memory(stamped, *sides).data)
        assert document.head.content_hash == document.content_hash
        assert document.claim == "It opens at 07:00."


@pytest.mark.parametrize("data", [b"", b"plain words\n", b"<article>", b"\xff\xfe<p>", b"<!--"])
def test_what_is_no_memory_is_never_lost(data: bytes) -> None:
    ours, theirs = data + b"our words\n", data + b"their words\n"
    merged = merge_memory(data, ours, theirs)
    assert merged.conflicts
    assert b"our words" in merged.data
    assert b"their words" in merged.data


def test_a_file_too_large_to_read_is_a_conflict_at_once() -> None:
    large = b"<p>" + b"x" * FILE_CAP
    merged = merge_memory(large, large + b"\nours\n", large + b"\ntheirs\n")
    assert merged.conflicts == ("article",)
    assert merged.data.endswith(b"<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs\n")


WORDS = st.sampled_from(["a", "b", "c"])
TIMES = st.sampled_from(["2026-01-01", "2026-02-01T10:00:00Z", "2026-03-01", "noon"])
SCALARS = st.one_of(
    st.tuples(st.sampled_from(["updated", "created", "archived", "due", "valid-until"]), TIMES),
    st.tuples(st.just("confidence"), st.sampled_from(["0.1", "0.10", "0.9", "high"])),
    st.tuples(st.just("importance"), st.sampled_from(["1", "9"])),
    st.tuples(st.sampled_from(["session", "author"]), WORDS),
    st.tuples(st.just("status"), st.sampled_from(["active", "archived"])),
)
EDITS = st.lists(
    st.one_of(
        SCALARS.map(lambda pair: SetMeta(f"memhtml-{pair[0]}", pair[1])),
        WORDS.map(lambda word: AddMeta("memhtml-tag", word)),
        WORDS.map(lambda word: AddLink("supports", f"/areas/{word}.html")),
        st.just(RemoveMeta("memhtml-tag")),
        st.just(RemoveLink("relates_to")),
        st.just(RemoveMeta("memhtml-confidence")),
    ),
    max_size=6,
)


def statements(data: bytes) -> tuple[object, ...]:
    document = parse(data)
    head = document.head
    scalars = [
        read_meta(data, f"memhtml-{name}")
        for name in (
            "type status created updated confidence importance author session archived due"
            " valid-until content-hash"
        ).split()
    ]
    return (*scalars, frozenset(head.tags), frozenset(document.links), document.text)


@given(ours=EDITS, theirs=EDITS, is_related=st.booleans())
def test_both_sides_come_to_the_same_statements(
    ours: list[Edit], theirs: list[Edit], *, is_related: bool
) -> None:
    base = BASE if is_related else None
    left, right = edited(*ours), edited(*theirs)
    one, two = merge_memory(base, left, right), merge_memory(base, right, left)
    assert one.conflicts == two.conflicts
    if not one.conflicts:
        assert statements(one.data) == statements(two.data)
        assert parse(one.data).text == parse(BASE).text
        # Whoever merges the result with a side once more learns nothing new.
        again = merge_memory(base, one.data, right)
        assert (statements(again.data), again.conflicts) == (statements(one.data), ())


def row(path: str, count: int, at: str | None, updated: str, score: str = "0") -> bytes:
    time = f'"{at}"' if at else "null"
    return (
        f'{{"path":"{path}","accessCount":{count},"reinforcementCount":{count},"outcomeScore":'
        f'{score},"lastAccessedAt":{time},"lastReinforcedAt":null,"updatedAt":"{updated}"}}\n'
    ).encode()


def test_usage_counts_as_the_side_that_saw_more() -> None:
    ours = row("a", 3, "2026-01-05", "2026-01-05", "0.25") + row("b", 1, None, "2026-01-01")
    theirs = row("a", 2, "2026-01-09", "2026-01-09", "-0.5") + row("c", 1, None, "2026-01-01")
    for sides in ((ours, theirs), (theirs, ours)):
        assert merge_usage(None, *sides) == (
            row("a", 3, "2026-01-09", "2026-01-09", "-0.5")
            + row("b", 1, None, "2026-01-01")
            + row("c", 1, None, "2026-01-01")
        )


def test_a_path_that_one_side_dropped_stays_dropped_unless_the_other_used_it() -> None:
    base = row("a", 1, None, "2026-01-01") + row("b", 1, None, "2026-01-01")
    moved = row("archive/2026/a", 1, None, "2026-01-02") + row("archive/2026/b", 1, None, "x")
    used = row("a", 1, None, "2026-01-01") + row("b", 2, "2026-01-03", "2026-01-03")
    assert merge_usage(base, moved, used) == (
        row("archive/2026/a", 1, None, "2026-01-02")
        + row("archive/2026/b", 1, None, "x")
        + row("b", 2, "2026-01-03", "2026-01-03")
    )


def test_usage_that_cannot_be_read_is_left_out_and_unknown_members_stay() -> None:
    ours = b'{"path":"a","accessCount":"many","mood":"\\ud800"}\nnot json\n[1]\n{"path":3}\n'
    theirs = b'{"path":"a","accessCount":4,"lastAccessedAt":""}\n'
    assert merge_usage(b"x", ours, theirs) == (
        b'{"path":"a","accessCount":4,"mood":"\\ud800","lastAccessedAt":""}\n'
    )
    assert merge_usage(b"x", ours, b"x") == ours
    assert merge_usage(b"x", b"x", ours) == ours
