"""The retriever and the memory block inside LlamaIndex's own query engine and memory."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import MetadataMode
from sqlalchemy.ext.asyncio import create_async_engine

from memhtml import Draft, MemoryType, make_scope
from memhtml.adapters.llamaindex import MemhtmlBlock, MemhtmlRetriever
from memhtml.answers.fence import NOTICE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from memhtml import Corpus

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def kayaks(corpus: Corpus) -> Corpus:
    for colour, tag in (("red", "lake"), ("blue {braces}", "river")):
        corpus.write(
            Draft(
                title=f"Kayak {tag}",
                claim=f"The kayak of the {tag} is {colour}.",
                paragraphs=("It hangs in the shed.",),
                memory_type=MemoryType.SEMANTIC,
                tags=(tag,),
            )
        )
    return corpus


class TestRetriever:
    def test_a_question_is_answered_with_memories_as_nodes(self, kayaks: Corpus) -> None:
        found = MemhtmlRetriever(kayaks, limit=1).retrieve("where is the kayak of the lake")
        (node,) = found
        assert node.node_id.endswith("kayak-lake.html")
        assert node.node.get_content() == kayaks.read(node.node_id).document.text
        assert node.node.metadata["title"] == "Kayak lake"
        assert node.score is not None
        assert 0 < node.score <= 1

    def test_no_answer_is_no_node_and_a_scope_narrows(self, kayaks: Corpus) -> None:
        assert MemhtmlRetriever(kayaks).retrieve("zeppelin") == []
        river = MemhtmlRetriever(kayaks, scope=make_scope(tags=["river"]))
        assert len(river.retrieve("kayak")) == 1

    def test_the_async_half_answers_the_same(self, kayaks: Corpus) -> None:
        retriever = MemhtmlRetriever(kayaks)
        found = asyncio.run(retriever.aretrieve("kayak of the lake"))
        assert [n.node_id for n in found] == [
            n.node_id for n in retriever.retrieve("kayak of the lake")
        ]

    def test_what_a_model_is_shown_is_fenced(self, kayaks: Corpus) -> None:
        retriever = MemhtmlRetriever(kayaks)
        (shown,) = [
            node.node.get_content(MetadataMode.LLM)
            for node in retriever.retrieve("which kayak is blue")
            if "river" in node.node_id
        ]
        assert shown.startswith(NOTICE)
        word = shown.split("<memories ", 1)[1].split(">", 1)[0]
        assert shown.endswith(f"</memories {word}>")
        assert "blue {braces}" in shown

    def test_a_query_engine_puts_the_memories_before_its_model(self, kayaks: Corpus) -> None:
        engine = RetrieverQueryEngine(
            MemhtmlRetriever(kayaks),
            response_synthesizer=get_response_synthesizer(
                llm=MockLLM(), response_mode=ResponseMode.COMPACT
            ),
        )
        # The mock says back what it was asked.
        said = str(engine.query("which kayak is of the lake"))
        assert "The kayak of the lake is red." in said
        assert NOTICE in said


@asynccontextmanager
async def chatting(corpus: Corpus) -> AsyncIterator[Memory]:
    # LlamaIndex does not close what it opens, so the engine is ours.
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    yield Memory.from_defaults(
        session_id="s1",
        token_limit=60,
        token_flush_size=10,
        chat_history_token_ratio=0.5,
        memory_blocks=[MemhtmlBlock(corpus)],
        tokenizer_fn=str.split,
        async_engine=engine,
    )
    await engine.dispose()


class TestBlock:
    def test_what_is_known_comes_along_with_the_chat(self, kayaks: Corpus) -> None:
        async def chat() -> list[ChatMessage]:
            async with chatting(kayaks) as memory:
                await memory.aput(ChatMessage(role="user", content="Which kayak is of the lake?"))
                return await memory.aget()

        system, user = asyncio.run(chat())
        assert "The kayak of the lake is red." in (system.content or "")
        assert NOTICE in (system.content or "")
        assert user.content == "Which kayak is of the lake?"

    def test_what_is_asked_now_counts_before_what_was_asked_earlier(self, kayaks: Corpus) -> None:
        block = MemhtmlBlock(kayaks)
        asked = [
            ChatMessage(role="user", content="kayak of the river"),
            ChatMessage(role="assistant", content="Yes?"),
            ChatMessage(role="user", content="zeppelin"),
        ]
        assert asyncio.run(block.aget(asked)) == ""
        assert "river" in asyncio.run(block.aget(asked[:2]))
        assert asyncio.run(block.aget([])) == ""
        assert asyncio.run(block.aget(None)) == ""

    def test_messages_that_leave_the_short_term_memory_are_found_later(
        self, corpus: Corpus
    ) -> None:
        said = [
            ("user", "My bicycle is green. It is fast."),
            *(("assistant", f"Well, {n} is a number of which one hears much.") for n in range(6)),
        ]

        async def chat() -> None:
            async with chatting(corpus) as memory:
                for role, text in said:
                    await memory.aput(ChatMessage(role=role, content=text))
                    await memory.aput(ChatMessage(role="user", content="Go on, tell me more."))

        asyncio.run(chat())
        kept = {m.document.claim: m.document for m in corpus}
        document = kept["My bicycle is green."]
        assert document.head.memory_type == MemoryType.EPISODIC
        assert document.head.session_id == "s1"
        assert document.head.author == "user"
        block = MemhtmlBlock(corpus)
        asked = [ChatMessage(role="user", content="what colour is my bicycle")]
        assert "green" in asyncio.run(block.aget(asked))

    def test_what_cannot_be_kept_is_told_and_the_rest_is_kept(
        self, corpus: Corpus, caplog: pytest.LogCaptureFixture
    ) -> None:
        messages = [
            ChatMessage(role="user", content=f"The token is {TOKEN}."),
            ChatMessage(role="user", content="The boat is white."),
            ChatMessage(role="tool", content="a tool's result"),
            ChatMessage(role="user", content=None),
        ]
        asyncio.run(MemhtmlBlock(corpus).aput(messages))
        assert [m.document.claim for m in corpus] == ["The boat is white."]
        assert "a message was not kept: ERR_SECRET" in caplog.text
        assert TOKEN not in caplog.text
