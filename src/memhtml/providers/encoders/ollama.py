"""A model that Ollama serves, on this machine unless told otherwise.

Options: ``model``, ``dims``; and, when wanted, ``url`` (``http://127.0.0.1:11434``),
``document_prefix`` and ``query_prefix``, which some models were trained with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.providers.encoders.remote import Options, RemoteEncoder, post_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memhtml.model.ports import TextKind

__all__ = ["encoder"]


def encoder(options: Mapping[str, str]) -> RemoteEncoder:
    """Return the encoder that *options* describe; nothing is asked of the server yet.

    Raises:
        InvalidFlag: An option is missing, unknown or cannot be used.
    """
    given = Options("ollama", options)
    url = given.url("url", "http://127.0.0.1:11434") + "/api/embed"
    model = given.text("model")
    dims = given.number("dims")
    prefixes = (given.text("document_prefix", ""), given.text("query_prefix", ""))
    given.done()

    def call(texts: Sequence[str], kind: TextKind) -> list[list[float]]:
        del kind  # the prefixes have said it
        payload = {"model": model, "input": list(texts), "truncate": True}
        rows: list[list[float]] = post_json(url, payload, model=model)["embeddings"]
        return rows

    return RemoteEncoder(model, dims, call, prefixes=prefixes)
