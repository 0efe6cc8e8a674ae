"""A BERT of a few numbers in a wheel, and what it should answer, worked out the slow way."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np

from memhtml.providers.models import ModelKind, ModelSpec

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

WIDTH, HEADS, LAYERS, LONGEST = 8, 2, 2, 12
VOCABULARY = [
    *("[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "!", "-", "и", "京"),
    *"the cat dog sat mat on house un ##do ##ing cafe red blue deep sea tree".split(),
    *(chr(code) for code in range(ord("a"), ord("z") + 1)),
    *(f"##{chr(code)}" for code in range(ord("a"), ord("z") + 1)),
]


def checkpoint(*, head: bool) -> dict[str, NDArray[np.float32]]:
    random = np.random.default_rng(7)

    def some(*shape: int) -> NDArray[np.float32]:
        return random.normal(0, 0.6, shape).astype(np.float32)

    prefix = "bert." if head else ""
    tensors = {
        f"{prefix}embeddings.word_embeddings.weight": some(len(VOCABULARY), WIDTH),
        f"{prefix}embeddings.position_embeddings.weight": some(LONGEST, WIDTH),
        f"{prefix}embeddings.token_type_embeddings.weight": some(2, WIDTH),
    }
    # The two families of names that published checkpoints have.
    gain, bias = ("gamma", "beta") if head else ("weight", "bias")
    norms = [f"{prefix}embeddings.LayerNorm"]
    dense = {}
    for layer in range(LAYERS):
        home = f"{prefix}encoder.layer.{layer}."
        for name in ("query", "key", "value"):
            dense[home + f"attention.self.{name}"] = (WIDTH, WIDTH)
        dense[home + "attention.output.dense"] = (WIDTH, WIDTH)
        dense[home + "intermediate.dense"] = (2 * WIDTH, WIDTH)
        dense[home + "output.dense"] = (WIDTH, 2 * WIDTH)
        norms += [home + "attention.output.LayerNorm", home + "output.LayerNorm"]
    if head:
        dense["cls.predictions.transform.dense"] = (WIDTH, WIDTH)
        norms.append("cls.predictions.transform.LayerNorm")
        tensors["cls.predictions.bias"] = some(len(VOCABULARY))
    for name, (out, into) in dense.items():
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = some(out, into), some(out)
    for name in norms:
        tensors[f"{name}.{gain}"], tensors[f"{name}.{bias}"] = 1 + some(WIDTH), some(WIDTH)
    return tensors


def safetensors(tensors: dict[str, NDArray[np.float32]]) -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    blob = b""
    for name, tensor in tensors.items():
        data = tensor.tobytes()
        span = [len(blob), len(blob) + len(data)]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": span}
        blob += data
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + blob


def wheel(folder: Path, *, head: bool, **changed: object) -> tuple[Path, ModelSpec]:
    """Write the wheel to *folder*; *changed* are settings of its ``config.json``, None for none."""
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "layer_norm_eps": 1e-12,
        "vocab_size": len(VOCABULARY),
    } | changed
    config = {key: value for key, value in config.items() if value is not None}
    weights = safetensors(checkpoint(head=head))
    ids = {piece: number for number, piece in enumerate(VOCABULARY)}
    name = "tinysparse" if head else "tinydense"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with ZipFile(path, "w") as archive:
        archive.writestr("tiny/config.json", json.dumps(config))
        archive.writestr("tiny/model.safetensors", weights)
        archive.writestr("tiny/tokenizer.json", json.dumps({"model": {"vocab": ids}}))
        archive.writestr("tiny/vocab.txt", "\n".join(VOCABULARY) + "\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    spec = ModelSpec(
        name="tiny",
        kind=ModelKind.SPARSE if head else ModelKind.DENSE,
        distribution=name,
        version="1.0",
        archive_sha256=sha256(path.read_bytes()).hexdigest(),
        weights="tiny/model.safetensors",
        weights_sha256=sha256(weights).hexdigest(),
        vocabulary="tiny/tokenizer.json" if head else "tiny/vocab.txt",
        config="tiny/config.json",
        licence="MIT",
    )
    return path, spec


def hidden(ids: list[int], *, head: bool) -> list[list[float]]:
    """Return the last layer for one text: plain Python in double precision, loop by loop."""
    tensors = {name: tensor.tolist() for name, tensor in checkpoint(head=head).items()}
    prefix = "bert." if head else ""
    words = tensors[f"{prefix}embeddings.word_embeddings.weight"]
    places = tensors[f"{prefix}embeddings.position_embeddings.weight"]
    segment = tensors[f"{prefix}embeddings.token_type_embeddings.weight"][0]
    rows = [
        [a + b + c for a, b, c in zip(words[i], places[n], segment, strict=True)]
        for n, i in enumerate(ids)
    ]
    rows = [norm(tensors, f"{prefix}embeddings.LayerNorm", row) for row in rows]
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        home = f"{prefix}encoder.layer.{layer}."
        asks, keys, values = (
            [linear(tensors, home + f"attention.self.{name}", row) for row in rows]
            for name in ("query", "key", "value")
        )
        heard: list[list[float]] = []
        for ask in asks:
            mixed: list[float] = []
            for part in (slice(h * size, (h + 1) * size) for h in range(HEADS)):
                logits = [dot(ask[part], key[part]) / math.sqrt(size) for key in keys]
                powers = [math.exp(logit) for logit in logits]
                shares = [power / sum(powers) for power in powers]
                mixed += [
                    sum(s * v[part][i] for s, v in zip(shares, values, strict=True))
                    for i in range(size)
                ]
            heard.append(mixed)
        mixed_rows = [linear(tensors, home + "attention.output.dense", row) for row in heard]
        rows = [
            norm(tensors, home + "attention.output.LayerNorm", add(a, b))
            for a, b in zip(rows, mixed_rows, strict=True)
        ]
        grown = [gelu(linear(tensors, home + "intermediate.dense", row)) for row in rows]
        shrunk = [linear(tensors, home + "output.dense", row) for row in grown]
        rows = [
            norm(tensors, home + "output.LayerNorm", add(a, b))
            for a, b in zip(rows, shrunk, strict=True)
        ]
    return rows


def term_weights(ids: list[int]) -> dict[int, float]:
    """Return the weight of every piece for one text, by the sparse model."""
    tensors = {name: tensor.tolist() for name, tensor in checkpoint(head=True).items()}
    ready = [
        norm(
            tensors,
            "cls.predictions.transform.LayerNorm",
            gelu(linear(tensors, "cls.predictions.transform.dense", row)),
        )
        for row in hidden(ids, head=True)
    ]
    words = tensors["bert.embeddings.word_embeddings.weight"]
    bias = tensors["cls.predictions.bias"]
    bids = [max(dot(row, word) for row in ready) + bias[n] for n, word in enumerate(words)]
    return {number: math.log1p(max(bid, 0)) for number, bid in enumerate(bids)}


def linear(tensors: dict[str, Any], name: str, row: list[float]) -> list[float]:
    return add([dot(line, row) for line in tensors[f"{name}.weight"]], tensors[f"{name}.bias"])


def norm(tensors: dict[str, Any], name: str, row: list[float]) -> list[float]:
    gain = tensors.get(f"{name}.gamma") or tensors[f"{name}.weight"]
    bias = tensors.get(f"{name}.beta") or tensors[f"{name}.bias"]
    mean = sum(row) / len(row)
    spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-12)
    return [(x - mean) / spread * g + b for x, g, b in zip(row, gain, bias, strict=True)]


def gelu(row: list[float]) -> list[float]:
    return [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in row]


def dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def add(left: list[float], right: list[float]) -> list[float]:
    return [a + b for a, b in zip(left, right, strict=True)]
