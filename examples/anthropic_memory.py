"""Claude's memory tool, with a store of memories behind its files.

    pip install 'memhtml[anthropic]'
    python examples/anthropic_memory.py

It needs no key and no network: a script answers in the place of the API. With a real key, leave
`http_client` out and name a real model.
"""

from __future__ import annotations

import json
import tempfile

import anthropic
import httpx2

import memhtml
from memhtml.adapters.anthropic import MemoryTool

COMMANDS = (
    {"command": "view", "path": "/memories"},
    {
        "command": "create",
        "path": "/memories/people/ada.md",
        "file_text": "# Ada\nAda takes oat milk in her coffee.\n",
    },
    {
        "command": "str_replace",
        "path": "/memories/people/ada.md",
        "old_str": "oat milk",
        "new_str": "no milk",
    },
    {"command": "view", "path": "/memories/people/ada.md"},
)


class Script:
    """The API, as far as this example needs it: one command a turn, and an end."""

    def __init__(self) -> None:
        self._turn = 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Print what the tool answered, and state the next command."""
        for block in json.loads(request.content)["messages"][-1]["content"]:
            if isinstance(block, dict) and block["type"] == "tool_result":
                print(block["content"], end="\n\n")
        turn, self._turn = self._turn, self._turn + 1
        is_over = turn == len(COMMANDS)
        call = {
            "type": "tool_use",
            "id": f"call-{turn}",
            "name": "memory",
            "input": {} if is_over else COMMANDS[turn],
        }
        content = {"type": "text", "text": "Noted."} if is_over else call
        return httpx2.Response(
            200,
            json={
                "id": f"message-{turn}",
                "type": "message",
                "role": "assistant",
                "model": "scripted",
                "content": [content],
                "stop_reason": "end_turn" if is_over else "tool_use",
                "stop_sequence": None,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            },
        )


def main() -> None:
    """Let the SDK's runner carry out the commands, then search what they left."""
    with tempfile.TemporaryDirectory() as folder:
        memhtml.init(folder)
        http = httpx2.Client(transport=httpx2.MockTransport(Script()))
        client = anthropic.Anthropic(api_key="none needed", http_client=http)
        with memhtml.open(folder) as corpus, client:
            client.beta.messages.tool_runner(
                model="scripted",
                max_tokens=1000,
                messages=[{"role": "user", "content": "I take no milk any more."}],
                tools=[MemoryTool(corpus)],
            ).until_done()
            (hit,) = corpus.search("what does Ada take in her coffee").hits
            print(f"{hit.path}: {hit.snippet.text}")
            print(f"{len(corpus.history(hit.path))} versions")


if __name__ == "__main__":
    main()
