"""The tools in a run of the OpenAI Agents SDK, with a model that says what is written here."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from agents import Agent, FunctionTool, ModelResponse, RunConfig, Runner, Usage
from agents.models.interface import Model
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from memhtml.adapters.openai_agents import INSTRUCTIONS, memory_tools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agents import TResponseStreamEvent

    from memhtml import Corpus


class Scripted(Model):
    def __init__(self, *calls: tuple[str, dict[str, object]]) -> None:
        self._calls = calls
        self.heard: list[Any] = []
        self.offered: list[str] = []

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,  # noqa: A002 - handed in by that name
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        self.heard.append(input)
        tools = kwargs["tools"] if "tools" in kwargs else args[1]
        self.offered = [tool.name for tool in tools]
        assert system_instructions == INSTRUCTIONS
        turn = len(self.heard) - 1
        if turn < len(self._calls):
            name, arguments = self._calls[turn]
            said: Any = ResponseFunctionToolCall(
                type="function_call",
                call_id=f"c{turn}",
                name=name,
                arguments=json.dumps(arguments),
            )
        else:
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            said = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError

    @property
    def results(self) -> list[str]:
        last = self.heard[-1]
        return [item["output"] for item in last if item.get("type") == "function_call_output"]


def run(model: Model, corpus: Corpus, *, read_only: bool = False) -> str:
    agent = Agent(
        name="desk",
        instructions=INSTRUCTIONS,
        model=model,
        tools=memory_tools(corpus, author="agent:desk", read_only=read_only),
    )
    quiet = RunConfig(tracing_disabled=True)
    return str(asyncio.run(Runner.run(agent, "Hello", run_config=quiet)).final_output)


def test_an_agent_writes_and_finds(corpus: Corpus) -> None:
    model = Scripted(
        (
            "memory_write",
            {
                "title": "Milk",
                "body": "Ada takes oat milk.",
                "memory_type": "user_preference",
                "tags": ["coffee"],
                "entities": ["person:Ada"],
            },
        ),
        (
            "memory_search",
            {
                "query": "which milk does ada take",
                "memory_types": None,
                "tags": None,
                "entity": None,
                "limit": 5,
            },
        ),
        ("memory_read", {"path": "areas/none.html"}),
    )
    assert run(model, corpus) == "Done."
    written, found, missing = model.results
    assert json.loads(written)["created"]
    assert "Ada takes oat milk." in found
    assert "<memories " in found
    assert missing.startswith("ERR_PATH_NOT_FOUND")
    (memory,) = corpus
    assert memory.document.head.author == "agent:desk"


def test_the_schemas_are_strict_and_say_what_each_argument_is(corpus: Corpus) -> None:
    for tool in memory_tools(corpus):
        assert isinstance(tool, FunctionTool)
        assert tool.strict_json_schema
        schema = tool.params_json_schema
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        assert all("description" in each for each in schema["properties"].values())
        assert "§" not in json.dumps(schema, ensure_ascii=False)


def test_an_agent_that_may_only_read_has_no_tool_that_writes(corpus: Corpus) -> None:
    model = Scripted()
    run(model, corpus, read_only=True)
    assert model.offered == ["memory_search", "memory_recall", "memory_read", "task_list"]


@pytest.mark.parametrize("arguments", ['{"query": 3}', "{", '{"query": "x", "limit": "many"}'])
def test_arguments_that_do_not_fit_are_told_to_the_model(corpus: Corpus, arguments: str) -> None:
    class Clumsy(Scripted):
        async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
            answer = await super().get_response(*args, **kwargs)
            call = answer.output[0]
            if isinstance(call, ResponseFunctionToolCall):
                call.arguments = arguments
            return answer

    model = Clumsy(("memory_search", {}))
    assert run(model, corpus) == "Done."
    assert "rror" in model.results[0]
