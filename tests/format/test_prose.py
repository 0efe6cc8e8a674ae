from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.format.prose import claim_from_prose, prose_tail, split_paragraphs

PROSE = st.text(alphabet="ab.!? \n`\u00a0")


@pytest.mark.parametrize(
    ("prose", "claim"),
    [
        ("Owls face east. They like sun.", "Owls face east."),
        ("Version 1.2 is out. Next.", "Version 1.2 is out."),
        ("Is it? Yes.", "Is it?"),
        ("No end", "No end"),
        ("One\nline. Two.", "One\nline."),
        ("Wide.\u3000Space", "Wide."),
    ],
)
def test_the_claim_is_the_first_sentence(prose: str, claim: str) -> None:
    assert claim_from_prose(prose) == claim


def test_a_blank_line_splits_outside_of_fences_only() -> None:
    assert prose_tail("Claim.\n\n```py\na\n\nb\n```\n\nAfter.") == (
        "```py\na\n\nb\n```",
        "After.",
    )


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert prose_tail("Claim.\n\n```\na\n\nb") == ("```\na\n\nb",)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_paragraphs_are_found_whatever_the_line_ends(end: str) -> None:
    assert split_paragraphs(end.join(["a", "", "b"])) == ("a", "b")


@given(PROSE)
def test_no_word_is_lost_or_made(prose: str) -> None:
    pieces = "".join((claim_from_prose(prose), *prose_tail(prose)))
    assert "".join(pieces.split()) == "".join(prose.split())


@given(PROSE)
def test_no_paragraph_is_blank(prose: str) -> None:
    assert all(paragraph.strip() for paragraph in prose_tail(prose))
