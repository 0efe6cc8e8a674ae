"""BERT: the forward pass, in numpy.

The encoders give it one text at a time, because then a result cannot depend on what it is batched
with, and because at these sizes a batch gains nothing. Matrices are stored transposed, ready for
``x @ w``; those stored as int8 carry one scale for each output column and are widened once, when
the model is loaded.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from memhtml.providers.encoders.arrays import np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["Bert", "compact", "gelu", "norm_arrays", "normalised"]

# Our name of a matrix, and the checkpoint's names of those it stands for, side by side.
_MATRICES = {
    "attend": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "mix": ("attention.output.dense",),
    "grow": ("intermediate.dense",),
    "shrink": ("output.dense",),
}
_NORMS = {"mix_norm": "attention.output.LayerNorm", "shrink_norm": "output.LayerNorm"}


class Bert:
    """The encoder stack of one model. Safe to use from several threads."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        """*arrays* are what `compact` made; *facts* has ``heads``, ``layers`` and ``epsilon``."""
        self._words = arrays["words"]
        self._word_scales = arrays["words.scale"]
        self._places = arrays["places"]
        self._norm = (arrays["words_norm.gain"], arrays["words_norm.bias"])
        self._heads = int(facts["heads"])
        self._epsilon = np.float32(facts["epsilon"])
        names = [f"{name}{part}" for name in _MATRICES for part in ("", ".bias")]
        names += [f"{name}{part}" for name in _NORMS for part in (".gain", ".bias")]
        self._layers = [
            {name: _widened(arrays, f"{layer}.{name}") for name in names}
            for layer in range(int(facts["layers"]))
        ]

    @property
    def longest(self) -> int:
        """The most pieces of one text it can read."""
        return len(self._places)

    def hidden(self, ids: NDArray[Any]) -> NDArray[float32]:
        """Return the last layer for texts of equal length.

        *ids* is whole numbers, ``(texts, pieces)``; the result float32, ``(texts, pieces, width)``.
        """
        count, pieces = ids.shape
        flat = ids.ravel()
        rows = self._words[flat].astype(np.float32) * self._word_scales[flat, None]
        rows += np.tile(self._places[:pieces], (count, 1))
        x = normalised(rows, *self._norm, self._epsilon)
        width = x.shape[1]
        scale = np.float32(1 / sqrt(width // self._heads))
        for layer in self._layers:
            queries, keys, values = (
                (x @ layer["attend"] + layer["attend.bias"])
                .reshape(count, pieces, 3, self._heads, width // self._heads)
                .transpose(2, 0, 3, 1, 4)
            )
            weights = queries @ keys.swapaxes(2, 3) * scale
            weights -= weights.max(-1, keepdims=True)
            np.exp(weights, out=weights)
            weights /= weights.sum(-1, keepdims=True)
            heard = (weights @ values).transpose(0, 2, 1, 3).reshape(-1, width)
            x = normalised(
                x + heard @ layer["mix"] + layer["mix.bias"],
                layer["mix_norm.gain"],
                layer["mix_norm.bias"],
                self._epsilon,
            )
            grown = gelu(x @ layer["grow"] + layer["grow.bias"])
            x = normalised(
                x + grown @ layer["shrink"] + layer["shrink.bias"],
                layer["shrink_norm.gain"],
                layer["shrink_norm.bias"],
                self._epsilon,
            )
        return x.reshape(count, pieces, width)


def normalised(
    x: NDArray[float32], gain: NDArray[float32], bias: NDArray[float32], epsilon: float32
) -> NDArray[float32]:
    """Return *x* with each row at mean 0 and variance 1, then times *gain* plus *bias*."""
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    scaled = centred / np.sqrt(variance + epsilon) * gain + bias
    result: NDArray[float32] = scaled.astype(np.float32, copy=False)
    return result


def gelu(x: NDArray[float32]) -> NDArray[float32]:
    """Return ``x * Phi(x)``, with the error function to 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    f = np.float32
    z = np.abs(x) * f(sqrt(0.5))
    t = 1 / (1 + f(0.3275911) * z)
    tail = (((f(1.061405429) * t - f(1.453152027)) * t + f(1.421413741)) * t - f(0.284496736)) * t
    tail = (tail + f(0.254829592)) * t * np.exp(-z * z)
    result: NDArray[float32] = x * f(0.5) * (1 + np.copysign(1 - tail, x))
    return result


def compact(
    weights: Mapping[str, NDArray[Any]], layers: int, *, small: bool
) -> dict[str, NDArray[Any]]:
    """Return the arrays that `Bert` wants, from a checkpoint with the usual names.

    The word table is int8 with a scale per row; with *small* so are the layers' matrices, per
    column. The sum that never changes is made here: segment 0 is added to every place.

    Raises:
        KeyError: The checkpoint lacks an array; the argument is its name.
    """
    prefix = "bert." if "bert.embeddings.word_embeddings.weight" in weights else ""

    def get(name: str) -> NDArray[float32]:
        return weights[prefix + name].astype("<f4")

    words, scales = _int8(get("embeddings.word_embeddings.weight"), axis=1)
    segment = get("embeddings.token_type_embeddings.weight")[0]
    arrays: dict[str, NDArray[Any]] = {
        "words": words,
        "words.scale": scales,
        "places": get("embeddings.position_embeddings.weight") + segment,
        **norm_arrays(weights, prefix + "embeddings.LayerNorm", "words_norm"),
    }
    for layer in range(layers):
        home = f"encoder.layer.{layer}."
        for ours, theirs in _MATRICES.items():
            matrix = np.concatenate([get(f"{home}{name}.weight") for name in theirs]).T
            name = f"{layer}.{ours}"
            if small:
                arrays[name], arrays[name + ".scale"] = _int8(matrix, axis=0)
            else:
                arrays[name] = matrix
            arrays[name + ".bias"] = np.concatenate([get(f"{home}{name}.bias") for name in theirs])
        for ours, norm in _NORMS.items():
            arrays |= norm_arrays(weights, prefix + home + norm, f"{layer}.{ours}")
    return arrays


def norm_arrays(
    weights: Mapping[str, NDArray[Any]], theirs: str, ours: str
) -> dict[str, NDArray[Any]]:
    """Return gain and bias of the layer norm *theirs* under the name *ours*.

    Older checkpoints call the two gamma and beta.
    """
    gain, bias = ("gamma", "beta") if f"{theirs}.gamma" in weights else ("weight", "bias")
    return {
        f"{ours}.gain": weights[f"{theirs}.{gain}"].astype("<f4"),
        f"{ours}.bias": weights[f"{theirs}.{bias}"].astype("<f4"),
    }


def _int8(matrix: NDArray[float32], axis: int) -> tuple[NDArray[Any], NDArray[float32]]:
    """Return *matrix* as int8 and the scale of each row (*axis* 1) or column (*axis* 0)."""
    largest = np.abs(matrix).max(axis, keepdims=True)
    # A row of zeros may have any scale but zero.
    scale = np.where(largest > 0, largest, 1) / np.float32(127)
    return np.rint(matrix / scale).astype(np.int8), scale.ravel().astype(np.float32)


def _widened(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[float32]:
    array = arrays[name]
    if array.dtype.kind == "f":
        return array
    widened: NDArray[float32] = array.astype("<f4") * arrays[name + ".scale"]
    return widened
