"""Operations as JSON: every field read, every fault told, nothing dropped."""

from __future__ import annotations

import contextlib
import io
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.model.changes import (
    ArchiveRequest,
    Correction,
    LinkRequest,
    TaskStatusRequest,
)
from memhtml.model.document import Facet, Link
from memhtml.model.errors import InvalidFlag, MemhtmlError
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus
from memhtml.ops import MAX_LINE_BYTES, decode_op, read_ops

WRITE = {"op": "write", "title": "Gate", "type": "semantic", "body": "It opens. At dawn.\n\nMore."}


def lines(*values: bytes) -> list[Any]:
    return list(read_ops(io.BytesIO(b"\n".join(values) + b"\n")))


def test_a_write_splits_its_body_into_claim_and_paragraphs() -> None:
    draft = decode_op(WRITE)
    assert isinstance(draft, Draft)
    assert draft.claim == "It opens."
    assert draft.paragraphs == ("At dawn.", "More.")


def test_both_spellings_of_a_label_add_up_and_commas_separate_tags() -> None:
    """Field case S8: three tags out of one string."""
    draft = decode_op(
        {**WRITE, "tag": "a,b , c", "tags": ["d"], "entity": "org:DGX", "agent": "Ada"}
    )
    assert isinstance(draft, Draft)
    assert draft.tags == ("a", "b", "c", "d")
    assert draft.entities == ("org:DGX",)
    assert draft.author == "Ada"


def test_facets_and_links_are_objects() -> None:
    draft = decode_op(
        {
            **WRITE,
            "facets": {"duration": 120, "place": ["barn", "yard"]},
            "links": [{"rel": "supports", "dst": "areas/x.html"}],
        }
    )
    assert isinstance(draft, Draft)
    assert draft.facets == (
        Facet("duration", "120", 120.0),
        Facet("place", "barn"),
        Facet("place", "yard"),
    )
    assert draft.links == (Link("memhtml-supports", "/areas/x.html"),)


@pytest.mark.parametrize(
    ("value", "request_"),
    [
        (
            {"op": "correct", "target": "a.html", "body": "New."},
            Correction(target="a.html", claim="New."),
        ),
        (
            {"op": "archive", "path": "@0", "reason": "old"},
            ArchiveRequest(path="@0", reason="old"),
        ),
        (
            {"op": "link", "src": "@0", "rel": "supports", "dst": "@1"},
            LinkRequest(src="@0", rel=Rel.SUPPORTS, dst="@1"),
        ),
        (
            {"op": "task_status", "path": "@0", "status": "done"},
            TaskStatusRequest(path="@0", status=TaskStatus.DONE),
        ),
        (
            {"op": "task", "title": "Fix it", "due": "2026-12-01", "status": None},
            Draft(title="Fix it", memory_type=MemoryType.TASK, claim="Fix it", due_at="2026-12-01"),
        ),
    ],
)
def test_every_operation_is_read(value: dict[str, Any], request_: object) -> None:
    assert decode_op(value) == request_


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"op": "wriet"}, "'wriet'"),
        ({"titel": "x", "foo": 1}, "no field 'titel', 'foo'; there are title"),
        ({"title": None}, "'title' is missing"),
        ({"title": "  "}, "'title' must be not blank"),
        ({"type": "fact"}, "one of episodic"),
        ({"importance": "abc"}, "'importance' must be a number"),
        ({"importance": 5.5}, "'importance' must be a whole number"),
        ({"confidence": True}, "'confidence' must be a number"),
        ({"strict_path": "true"}, "'strict_path' must be true or false"),
        ({"article_html": "<p>x</p>"}, "exclude each other"),
        ({"body": None}, "either 'body' or 'article_html'"),
        ({"tags": ["a", 1]}, "'tags' must be a string or a list of strings"),
        ({"importance": 10**400}, "'importance' must be a number of a size"),
        ({"facets": {"n": 10**400}}, "'facets' must be a number of a size"),
        ({"tag": ",,, "}, "'tag' must be more than commas"),
        ({"op": "ghp_" + "a1B2" * 9}, "'op' is one of"),
        ({"links": [{"rel": "supports"}]}, "'links' must be"),
        ({"facets": ["a"]}, "'facets' must be"),
    ],
)
def test_a_fault_is_named_with_its_field(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidFlag, match=None) as caught:
        decode_op({**WRITE, **change})
    assert words in caught.value.message
    assert "ghp_a1B2a1B2" not in caught.value.message
    assert len(caught.value.message) < 1000


def test_all_faults_of_an_operation_are_told_at_once() -> None:
    with pytest.raises(InvalidFlag) as caught:
        decode_op({"op": "write", "type": "fact", "importance": "x", "colour": "red"})
    for word in ("colour", "'title' is missing", "'type'", "'importance'", "'body'"):
        assert word in caught.value.message


def test_lines_are_separated_by_lf_alone_and_blank_ones_do_not_count() -> None:
    body = "First.\u2028Second\u0085third."
    found = lines(json.dumps({**WRITE, "body": body}, ensure_ascii=False).encode(), b"", b"  ")
    assert len(found) == 1
    assert isinstance(found[0], Draft)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "not JSON"),
        (b"[]", "a JSON object"),
        (b"\xff{}", "not UTF-8 at byte 1"),
        (b'{"op":"archive","op":"write"}', "'op' is stated twice"),
        (b'{"op":"write","confidence":NaN}', "NaN"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_line_that_cannot_be_read_is_an_error_in_its_place(line: bytes, words: str) -> None:
    good = json.dumps(WRITE).encode()
    first, second, third = lines(good, line, good)
    assert isinstance(first, Draft)
    assert isinstance(second, MemhtmlError)
    assert second.message.startswith("line 2: ")
    assert words in str(second)
    assert isinstance(third, Draft)


def test_a_line_over_the_size_is_refused_by_number_and_the_next_is_read() -> None:
    """Field case S6."""
    good = json.dumps(WRITE).encode()
    found = lines(good, b"x" * (30 * 1024 * 1024), good)
    assert isinstance(found[1], InvalidFlag)
    assert "line 2" in str(found[1])
    assert isinstance(found[2], Draft)


def test_a_line_of_exactly_the_size_is_read() -> None:
    frame = json.dumps({**WRITE, "body": ""}).encode()
    filled = frame.replace(
        b'"body": ""', b'"body": "' + b"y" * (MAX_LINE_BYTES - len(frame)) + b'"'
    )
    assert len(filled) == MAX_LINE_BYTES
    (found,) = lines(filled)
    assert isinstance(found, Draft)


def test_repeated_keys_in_a_large_object_are_found_in_linear_time() -> None:
    pairs = ",".join(f'"k{n}":1' for n in range(200_000))
    start = time.process_time()
    (found,) = lines(f'{{{pairs},"k199999":2}}'.encode())
    assert isinstance(found, InvalidFlag)
    assert time.process_time() - start < 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["title", "type", "body", "tags", "links", "facets", "path", "status", "confidence", "rel"]
)


@given(
    st.sampled_from(["write", "task", "correct", "archive", "link", "task_status", "x"]),
    st.dictionaries(NAMES, JSON),
)
def test_no_json_is_an_exception_of_another_kind(op: str, value: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidFlag):
        decode_op({"op": op, **value})
