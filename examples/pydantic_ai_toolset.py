"""A Pydantic AI agent with long-term memory.

    pip install 'memhtml[pydantic-ai]'
    python examples/pydantic_ai_toolset.py

It needs no key and no network: the model below says what is written here. A real one goes in its
place, such as ``Agent("anthropic:…", toolsets=[…])``.
"""

from __future__ import annotations

import tempfile

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.messages import ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memhtml
from memhtml.adapters.pydantic_ai import memory_toolset

CALLS = (
    ToolCallPart(
        "memory_write",
        {
            "title": "Milk",
            "body": "Ada takes oat milk in her coffee.",
            "memory_type": "user_preference",
            "entities": ["person:Ada"],
        },
    ),
    ToolCallPart("memory_search", {"query": "which milk does Ada take"}),
)


def scripted(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Call the next tool of `CALLS`; at the end, say what the last one answered."""
    answers = [
        str(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    if len(answers) < len(CALLS):
        return ModelResponse(parts=[CALLS[len(answers)]])
    return ModelResponse(parts=[TextPart(answers[-1])])


def main() -> None:
    """Run the agent once."""
    with tempfile.TemporaryDirectory() as folder:
        memhtml.init(folder)
        with memhtml.open(folder) as corpus:
            toolset = memory_toolset(corpus, author="agent:desk")
            agent = Agent(FunctionModel(scripted), toolsets=[toolset])
            print(agent.run_sync("I take oat milk.").output)


if __name__ == "__main__":
    main()
