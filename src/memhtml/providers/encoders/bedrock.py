"""Cohere's embedding models on Amazon Bedrock, through boto3 and whatever credentials it finds.

Options, all with defaults: ``model`` (``cohere.embed-v4:0``), ``dims`` (1024), ``region`` and
``profile`` (boto3's own), ``endpoint_url``. The space id is the one the TypeScript tool writes.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

from memhtml.model.errors import InvalidFlag, ModelUnavailable
from memhtml.providers.encoders.remote import Options, RemoteEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memhtml.model.ports import TextKind

__all__ = ["encoder"]

_INPUT_TYPES: dict[TextKind, str] = {"document": "search_document", "query": "search_query"}


def encoder(options: Mapping[str, str]) -> RemoteEncoder:
    """Return the encoder that *options* describe; nothing is asked of the service yet.

    Raises:
        InvalidFlag: An option is unknown or cannot be used.
        ModelUnavailable: boto3 is not installed, or finds no region.
    """
    given = Options("bedrock", options)
    model = given.text("model", "cohere.embed-v4:0")
    dims = given.number("dims", 1024)
    region, profile = given.text("region", ""), given.text("profile", "")
    endpoint = given.url("endpoint_url") if "endpoint_url" in options else None
    given.done()
    if not model.startswith("cohere."):
        raise InvalidFlag(f"the embedder 'bedrock' speaks to Cohere's models only, not {model!r}")
    try:
        boto3 = import_module("boto3")
    except ModuleNotFoundError as error:
        advice = ("python -m pip install 'boto3>=1.35,<2'",)
        raise ModelUnavailable(model, "boto3 is not installed", suggestions=advice) from error
    failures = import_module("botocore.exceptions")
    config = import_module("botocore.config").Config(
        retries={"mode": "standard", "max_attempts": 4}
    )
    try:
        session = boto3.Session(profile_name=profile or None, region_name=region or None)
        client = session.client("bedrock-runtime", endpoint_url=endpoint, config=config)
    except failures.BotoCoreError as error:
        raise ModelUnavailable(model, f"boto3 is not set up: {error}") from error

    def call(texts: Sequence[str], kind: TextKind) -> list[list[float]]:
        payload = {
            "texts": list(texts),
            "input_type": _INPUT_TYPES[kind],
            "embedding_types": ["float"],
            "output_dimension": dims,
        }
        try:
            answer = client.invoke_model(modelId=model, body=json.dumps(payload))
            rows: list[list[float]] = json.loads(answer["body"].read())["embeddings"]["float"]
        except failures.ClientError as error:
            # Its code only: the message may quote the texts.
            reason = f"Bedrock refused: {error.response['Error']['Code']}"
            raise ModelUnavailable(model, reason) from error
        except failures.BotoCoreError as error:
            raise ModelUnavailable(model, f"Bedrock cannot be reached: {error}") from error
        return rows

    return RemoteEncoder(model, dims, call)
