"""LlamaIndex over a store: a retriever that answers, and a memory block for a chat.

    pip install 'memhtml[llamaindex]'
    python examples/llamaindex_memory.py

It needs no key and no network: the model is LlamaIndex's mock, which says back what it is asked.
"""

from __future__ import annotations

import asyncio
import tempfile

from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer

import memhtml
from memhtml.adapters.llamaindex import MemhtmlBlock, MemhtmlRetriever


async def chat(block: MemhtmlBlock) -> str:
    """Keep what a conversation leaves behind, and return what a later one is told of it."""
    await block.aput([ChatMessage(role="user", content="My bicycle is green. It is fast.")])
    return await block.aget([ChatMessage(role="user", content="What colour is my bicycle?")])


def main() -> None:
    """Ask a query engine, then a memory block."""
    with tempfile.TemporaryDirectory() as folder:
        memhtml.init(folder)
        with memhtml.open(folder) as corpus:
            corpus.write(
                memhtml.Draft(
                    title="Kayak",
                    claim="The kayak of the lake is red.",
                    memory_type=memhtml.MemoryType.SEMANTIC,
                )
            )
            engine = RetrieverQueryEngine(
                MemhtmlRetriever(corpus),
                response_synthesizer=get_response_synthesizer(llm=MockLLM()),
            )
            print(engine.query("Which kayak is of the lake?"))
            # Give the block to `Memory.from_defaults(memory_blocks=[block])` in a real chat.
            print(asyncio.run(chat(MemhtmlBlock(corpus))))


if __name__ == "__main__":
    main()
