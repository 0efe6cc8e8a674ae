from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.model.tree import ChangeKind, WorktreeChange
from memhtml.store import plumbing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HASHES = "0" * 40 + " " + "1" * 40


def status(*rows: str) -> list[WorktreeChange]:
    return list(plumbing.worktree_changes(row.encode() for row in rows))


def test_records_are_found_however_the_stream_is_cut() -> None:
    whole = b"one\0two\0\0three\0"
    for size in range(1, len(whole) + 1):
        chunks = [whole[at : at + size] for at in range(0, len(whole), size)]
        assert list(plumbing.records(chunks)) == [b"one", b"two", b"", b"three"]


def test_a_stream_cut_off_inside_a_record_is_refused() -> None:
    with pytest.raises(ValueError, match="unfinished"):
        list(plumbing.records([b"one\0tw"]))


def test_a_path_that_is_not_utf8_survives_the_round_trip() -> None:
    raw = b"areas/\xff caf\xc3\xa9.html"
    assert plumbing.encode_path(plumbing.decode_path(raw)) == raw


def test_status_compares_the_disk_with_head_whatever_the_index_says() -> None:
    assert status(
        f"1 .M N... 100644 100644 100644 {HASHES} edited here",
        f"1 .D N... 100644 100644 000000 {HASHES} deleted",
        f"1 A. N... 000000 100644 100644 {HASHES} staged",
        f"1 AD N... 000000 100644 000000 {HASHES} staged and deleted again",
        f"1 MD N... 100644 100644 000000 {HASHES} staged then deleted",
        "? new file",
        "? another repository/",
        "# branch.oid 1",
    ) == [
        WorktreeChange(ChangeKind.MODIFIED, "edited here"),
        WorktreeChange(ChangeKind.REMOVED, "deleted"),
        WorktreeChange(ChangeKind.ADDED, "staged"),
        WorktreeChange(ChangeKind.REMOVED, "staged then deleted"),
        WorktreeChange(ChangeKind.ADDED, "new file"),
    ]


def test_a_file_taken_from_the_index_but_kept_on_disk_is_a_modification() -> None:
    rows = (f"1 D. N... 100644 000000 000000 {HASHES} kept", "? kept")
    assert status(*rows) == [WorktreeChange(ChangeKind.MODIFIED, "kept")]


def test_an_unmerged_file_is_compared_with_our_side() -> None:
    three = f"{'1' * 40} {'2' * 40} {'3' * 40}"
    assert status(
        f"u UU N... 100644 100644 100644 100644 {three} both changed",
        f"u UD N... 100644 100644 000000 000000 {three} gone",
        f"u DU N... 100644 000000 100644 100644 {three} theirs only",
    ) == [
        WorktreeChange(ChangeKind.MODIFIED, "both changed"),
        WorktreeChange(ChangeKind.REMOVED, "gone"),
        WorktreeChange(ChangeKind.ADDED, "theirs only"),
    ]


def test_a_submodule_in_a_files_place_is_a_removed_file() -> None:
    rows = [b":100644 160000 1111 2222 T", b"a", b":000000 160000 0000 2222 A", b"b"]
    assert [(c.kind, c.path, c.sha) for c in plumbing.changes(rows)] == [
        (ChangeKind.REMOVED, "a", "1111")
    ]


@pytest.mark.parametrize(
    "read",
    [
        lambda raw: list(plumbing.tree_entries(raw)),
        lambda raw: list(plumbing.changes(raw)),
        lambda raw: list(plumbing.worktree_changes(raw)),
        plumbing.index_entries,
        plumbing.attributes,
    ],
)
@given(st.lists(st.binary(max_size=60) | st.sampled_from([b"1 ", b"u ", b":1 2 3 4 A", b"a\tb"])))
def test_bytes_that_are_not_gits_are_refused_and_nothing_worse(
    read: Callable[[Iterable[bytes]], object], rows: list[bytes]
) -> None:
    with contextlib.suppress(ValueError):
        read(rows)


@given(st.binary())
def test_any_bytes_are_a_configuration(raw: bytes) -> None:
    plumbing.configuration(raw)
