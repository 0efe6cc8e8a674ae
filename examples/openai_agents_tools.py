"""An agent of the OpenAI Agents SDK with long-term memory.

    pip install 'memhtml[openai-agents]'
    python examples/openai_agents_tools.py

It needs no key and no network: the model below says what is written here. With a real one, leave
`model` and the run config out.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from typing import TYPE_CHECKING, Any

from agents import Agent, ModelResponse, RunConfig, Runner, Usage
from agents.models.interface import Model
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

import memhtml
from memhtml.adapters.openai_agents import INSTRUCTIONS, memory_tools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CALLS = (
    (
        "memory_write",
        {
            "title": "Milk",
            "body": "Ada takes oat milk in her coffee.",
            "memory_type": "user_preference",
            "tags": ["coffee"],
            "entities": ["person:Ada"],
        },
    ),
    (
        "memory_search",
        {
            "query": "which milk does Ada take",
            "memory_types": None,
            "tags": None,
            "entity": None,
            "limit": 3,
        },
    ),
)


class Scripted(Model):
    """Calls the tools of `CALLS`, one a turn, and ends."""

    def __init__(self) -> None:
        self._turn = 0

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:  # noqa: ANN401
        """Return the next call."""
        turn, self._turn = self._turn, self._turn + 1
        if turn < len(CALLS):
            name, arguments = CALLS[turn]
            said: Any = ResponseFunctionToolCall(
                type="function_call",
                call_id=f"call-{turn}",
                name=name,
                arguments=json.dumps(arguments),
            )
        else:
            text = ResponseOutputText(type="output_text", text="Noted.", annotations=[])
            said = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:  # noqa: ANN401
        """Refuse: this script only answers whole."""
        raise NotImplementedError


async def main() -> None:
    """Run the agent once and print what its tools answered."""
    with tempfile.TemporaryDirectory() as folder:
        memhtml.init(folder)
        with memhtml.open(folder) as corpus:
            agent = Agent(
                name="desk",
                instructions=INSTRUCTIONS,
                tools=memory_tools(corpus, author="agent:desk"),
                model=Scripted(),
            )
            done = await Runner.run(
                agent, "I take oat milk.", run_config=RunConfig(tracing_disabled=True)
            )
            for item in done.new_items:
                if item.type == "tool_call_output_item":
                    print(item.output)
            print(done.final_output)


if __name__ == "__main__":
    asyncio.run(main())
