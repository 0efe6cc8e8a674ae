from __future__ import annotations

import pytest

from memhtml.transfer.chats import MAX_ASKED_CHARS, asked_to_remember


@pytest.mark.parametrize(
    "text",
    [
        "Remember that the oven is new.",
        "Could you please remember that I bake?",
        "Hey, don\N{RIGHT SINGLE QUOTATION MARK}t forget: rye on Friday",
        "Save this to your memory: I like rye.",
        "Bitte merke dir, dass ich backe.",
        "Recuerda que soy panadera.",
        "Keep in mind that flour is dear.",
    ],
)
def test_a_wish_to_be_remembered_is_found(text: str) -> None:
    assert asked_to_remember(f"Fix the loop.\n\n{text}") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember that oven?",
        "Remember that oven?",
        "I can't remember that word.",
        "The list must remember to: sort itself",
        "How do I make it not forget that value?",
        "remembering is hard",
        "Remember that " + "x" * MAX_ASKED_CHARS,
    ],
)
def test_a_question_or_a_paste_is_no_wish(text: str) -> None:
    assert asked_to_remember(text) == []
