"""The toolset in a run of Pydantic AI, with a model that says what is written here."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.messages import ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from memhtml.adapters.pydantic_ai import memory_toolset
from memhtml.adapters.tools import INSTRUCTIONS

if TYPE_CHECKING:
    from memhtml import Corpus

CALLS = (
    ToolCallPart(
        "memory_write",
        {"title": "Milk", "body": "Ada takes oat milk.", "memory_type": "user_preference"},
    ),
    ToolCallPart("memory_search", {"query": "which milk does ada take"}),
    ToolCallPart("memory_read", {"path": "areas/none.html"}),
)


def run(agent: Agent[None, str]) -> str:
    # `run_sync` leaves an event loop open.
    return asyncio.run(agent.run("Hello")).output


def test_an_agent_writes_finds_and_goes_on_after_a_refusal(corpus: Corpus) -> None:
    told: list[str] = []

    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert INSTRUCTIONS.strip() in (info.instructions or "")
        told[:] = [
            str(part.content)
            for message in messages
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        ]
        if len(told) < len(CALLS):
            return ModelResponse(parts=[CALLS[len(told)]])
        return ModelResponse(parts=[TextPart("Done.")])

    agent = Agent(FunctionModel(say), toolsets=[memory_toolset(corpus, author="agent:desk")])
    assert run(agent) == "Done."
    written, found, missing = told
    assert json.loads(written)["created"]
    assert "Ada takes oat milk." in found
    assert "<memories " in found
    assert missing.startswith("ERR_PATH_NOT_FOUND")
    (memory,) = corpus
    assert memory.document.head.author == "agent:desk"


def test_each_tool_can_be_called_and_is_described(corpus: Corpus) -> None:
    # The framework's own test model calls every tool once, with arguments made from its schema.
    model = TestModel()
    output = run(Agent(model, toolsets=[memory_toolset(corpus)]))
    assert set(json.loads(output)) == {
        *("memory_search", "memory_recall", "memory_read", "memory_write", "memory_correct"),
        *("memory_archive", "task_add", "task_list", "task_status"),
    }
    parameters = model.last_model_request_parameters
    assert parameters is not None
    for tool in parameters.function_tools:
        assert tool.description
        properties = tool.parameters_json_schema["properties"]
        assert all("description" in each for each in properties.values())


def test_an_agent_that_may_only_read_has_no_tool_that_writes(corpus: Corpus) -> None:
    model = TestModel()
    run(Agent(model, toolsets=[memory_toolset(corpus, read_only=True)]))
    assert not list(corpus)
