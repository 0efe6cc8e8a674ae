from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.scoring.frames import frame_key


@pytest.mark.parametrize(
    ("claim", "key"),
    [
        ("The pool ceiling is 64", "the pool ceiling is"),
        ("The  pool ceiling\nis 64.", "the pool ceiling is"),
        ("The owner of Barn is Ada", "the owner of barn is"),
        ("The gate opens to the west of the barn", "the gate opens to the west of"),
        # "in" ends the claim and leaves no value, so "is" before it counts.
        ("The team is in", "the team is"),
    ],
)
def test_the_key_ends_at_the_last_hinge_that_a_value_follows(claim: str, key: str | None) -> None:
    assert frame_key(claim) == key


@pytest.mark.parametrize(
    "claim",
    [
        "It is 64",
        "Owls sleep late",
        "The pool ceiling is one two three four five six seven",
        "The pool ceiling IS 64",
        "",
    ],
)
def test_a_claim_without_a_clear_slot_has_no_key(claim: str) -> None:
    assert frame_key(claim) is None


@given(st.text(alphabet="abc. ", min_size=1), st.text(alphabet="xyz", min_size=1))
def test_claims_that_differ_in_value_alone_share_their_key(topic: str, value: str) -> None:
    one, other = (frame_key(f"{topic} ceiling is {text}") for text in (value, value + "q"))
    assert one == other
