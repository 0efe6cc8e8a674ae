"""An endpoint that speaks the ``/embeddings`` dialect of OpenAI's API, wherever it is.

Options: ``url`` (up to and with ``/v1``; there is no default, so that no text leaves the machine by
mistake), ``model``, ``dims``; and, when wanted, ``api_key``, ``shorten`` (``true`` asks for vectors
of *dims* numbers from a model that has more), ``document_type`` and ``query_type`` (sent as
``input_type``), ``document_prefix`` and ``query_prefix`` (put before the text).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.providers.encoders.remote import Options, RemoteEncoder, post_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memhtml.model.ports import TextKind

__all__ = ["encoder"]


def encoder(options: Mapping[str, str]) -> RemoteEncoder:
    """Return the encoder that *options* describe; nothing is asked of the endpoint yet.

    Raises:
        InvalidFlag: An option is missing, unknown or cannot be used.
    """
    given = Options("openai", options)
    key = given.text("api_key", "")
    url = given.url("url", secret=bool(key)) + "/embeddings"
    model = given.text("model")
    dims = given.number("dims")
    shape = {"dimensions": dims} if given.text("shorten", "") == "true" else {}
    types: dict[TextKind, str] = {
        "document": given.text("document_type", ""),
        "query": given.text("query_type", ""),
    }
    prefixes = (given.text("document_prefix", ""), given.text("query_prefix", ""))
    given.done()
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def call(texts: Sequence[str], kind: TextKind) -> list[list[float]]:
        payload: dict[str, Any] = {
            "model": model,
            "input": list(texts),
            "encoding_format": "float",
            **shape,
        }
        if types[kind]:
            payload["input_type"] = types[kind]
        answer = post_json(url, payload, model=model, headers=headers)
        # The dialect lets a server answer in any order.
        return [item["embedding"] for item in sorted(answer["data"], key=lambda i: int(i["index"]))]

    return RemoteEncoder(model, dims, call, prefixes=prefixes)
