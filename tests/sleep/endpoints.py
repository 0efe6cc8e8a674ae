"""An endpoint on this machine that speaks OpenAI's chat protocol, over real HTTP."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Asked = dict[str, Any]
Reply = tuple[str, dict[str, Any]]
"""The function the model calls, and its arguments."""


@contextmanager
def endpoint(reply: Callable[[Asked], Reply | None]) -> Iterator[tuple[str, list[Asked]]]:
    """Serve what *reply* says to each request, None for a refusal; yield the URL and what came."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({"path": self.path, "key": self.headers["Authorization"], **body})
            said = reply(body)
            if said is None:
                self.send_error(400, "no")
                return
            call = {
                "id": f"call_{len(asked)}",
                "type": "function",
                "function": {"name": said[0], "arguments": json.dumps(said[1])},
            }
            answer = json.dumps(
                {
                    "id": "x",
                    "object": "chat.completion",
                    "created": 1,
                    "model": body["model"],
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "tool_calls",
                            "message": {"role": "assistant", "content": None, "tool_calls": [call]},
                        }
                    ],
                    "usage": {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42},
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - theirs
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
