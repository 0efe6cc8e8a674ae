"""Samples → a model: which patterns count, what they weigh, how sure the result is.

Twelve one-against-the-rest classifiers share one table of patterns. Weights become integers from
-128 to 127 with one common scale, so that the shipped model is what is calibrated and measured.
"""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from tools.train_lang.samples import OTHER, Sample

from memhtml.format.detect import MODEL_MAGIC, VOCABULARY
from memhtml.format.language_features import code_lines, features
from memhtml.format.language_gates import unconfirmed, veto

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Fitted", "calibrate", "decode", "encode", "fit"]

LEAST_PACKAGES = 4
LEAST_SAMPLES = 6
INVERSE_PENALTY = 10.0
PATTERNS = 14_000
LEAD_REIN = 0.06
INTERCEPT_REIN = 1.0
"""How freely one language may leave the common line."""
WEIGHT_OF_FENCE = 6.0
"""A fence in calibration, where a slice weighs 1: fences are what people quote in notes."""
WEIGHT_OF_OTHER = 4.0
"""What all samples outside the vocabulary weigh together, where one language weighs 1."""


class Fitted(NamedTuple):
    """Integer weights and what they mean, before calibration."""

    patterns: list[str]
    weights: np.ndarray
    """int8, ``(patterns, languages)``."""
    scale: float
    bias: list[float]


def fit(samples: Sequence[Sample], *, patterns: int = PATTERNS) -> Fitted:
    """Train on *samples*, keep the *patterns* that decide most, and train again on those."""
    found = [sorted(features(sample.text)) for sample in samples]
    vocabulary = _known_patterns(samples, found)
    weights_of = _sample_weights(samples)
    first, _ = _train(_matrix(found, vocabulary), samples, weights_of)
    frequency = Counter(pattern for row in found for pattern in row if pattern in vocabulary)
    ranked = sorted(
        vocabulary,
        key=lambda one: (
            -np.abs(first[vocabulary[one]]).max() * math.sqrt(frequency[one]),
            one,
        ),
    )
    kept = sorted(ranked[:patterns])
    place = {pattern: index for index, pattern in enumerate(kept)}
    coefficients, bias = _train(_matrix(found, place), samples, weights_of)
    # A few extreme weights must not cost all others their precision.
    limit = float(np.quantile(np.abs(coefficients), 0.9998))
    scale = limit / 127
    rounded = np.clip(np.rint(coefficients / scale), -128, 127).astype(np.int8)
    return Fitted(kept, rounded, scale, [round(float(one), 6) for one in bias])


def calibrate(
    fitted: Fitted, samples: Sequence[Sample]
) -> tuple[tuple[float, float, float], list[float], list[float]]:
    """Return slopes, intercept and per-language corrections of the log-odds of being right.

    Fitted on what the gates let through, since nothing else is ever stamped. The corrections are
    drawn towards zero, so a language with few samples keeps the common line.
    """
    place = {pattern: index for index, pattern in enumerate(fitted.patterns)}
    rows, right, weight = [], [], []
    totals = Counter(sample.label for sample in samples)
    for sample in samples:
        scores = score(fitted, place, sample.text)
        order = np.argsort(-scores, kind="stable")
        best, second = int(order[0]), int(order[1])
        language = VOCABULARY[best]
        if len(code_lines(sample.text)) < 2 or veto(sample.text):
            continue
        if unconfirmed(language, sample.text):
            continue
        lead = min(8.0, scores[best] - scores[second])
        row = np.zeros(2 + 2 * len(VOCABULARY))
        row[0], row[1] = float(np.clip(scores[best], -6, 6)), lead
        row[2 + best] = lead * LEAD_REIN
        row[2 + len(VOCABULARY) + best] = INTERCEPT_REIN
        rows.append(row)
        right.append(language == sample.label)
        weight.append(_calibration_weight(sample, totals))
    weights = np.array(weight) / np.mean(weight)
    model = LogisticRegression(C=1.0, solver="lbfgs", max_iter=2000)
    model.fit(np.array(rows), np.array(right), sample_weight=weights)
    numbers = model.coef_[0]
    count = len(VOCABULARY)
    common = (round(numbers[0], 4), round(numbers[1], 4), round(float(model.intercept_[0]), 4))
    lead_slope = [round(float(one) * LEAD_REIN, 4) for one in numbers[2 : 2 + count]]
    intercept = [round(float(one) * INTERCEPT_REIN, 4) for one in numbers[2 + count :]]
    return (float(common[0]), float(common[1]), common[2]), lead_slope, intercept


def score(fitted: Fitted, place: dict[str, int], text: str) -> np.ndarray:
    """Return the twelve scores of *text*, as the detector computes them."""
    found = features(text)
    rows = [place[pattern] for pattern in found if pattern in place]
    total = fitted.weights[rows].astype(np.int64).sum(axis=0)
    return total * (fitted.scale / math.sqrt(max(1, len(found)))) + np.array(fitted.bias)


def encode(
    fitted: Fitted,
    calibration: tuple[tuple[float, float, float], list[float], list[float]],
) -> bytes:
    """Return the bytes of the model file (`memhtml.format.detect.read_model` reads them)."""
    common, lead_slope, intercept = calibration
    header = {
        "languages": list(VOCABULARY),
        "features": len(fitted.patterns),
        "scale": fitted.scale,
        "bias": fitted.bias,
        "calibration": list(common),
        "lead_slope": lead_slope,
        "intercept": intercept,
    }
    planes = (fitted.weights.astype(np.int16) + 128).astype(np.uint8).T.tobytes()
    content = "\n".join(fitted.patterns).encode("ascii") + planes
    line = json.dumps(header, separators=(",", ":"), sort_keys=True).encode("ascii")
    return MODEL_MAGIC + line + b"\n" + zlib.compress(content, 9)


def decode(data: bytes) -> Fitted:
    """Return the weights that the bytes of a model file hold."""
    head, _, body = data[len(MODEL_MAGIC) :].partition(b"\n")
    header = json.loads(head)
    content = zlib.decompress(body)
    size = header["features"] * len(VOCABULARY)
    planes = np.frombuffer(content[-size:], np.uint8).reshape(len(VOCABULARY), -1)
    weights = (planes.T.astype(np.int16) - 128).astype(np.int8)
    patterns = content[:-size].decode("ascii").split("\n")
    return Fitted(patterns, weights, header["scale"], header["bias"])


def _calibration_weight(sample: Sample, totals: Counter[str]) -> float:
    # Classes differ tenfold in size here for reasons that have nothing to do with what people
    # quote, so each counts by the root of its size.
    kind = WEIGHT_OF_FENCE if sample.kind == "fence" else 1.0
    outside = 6.0 if sample.label == OTHER else 1.0
    return kind * outside / math.sqrt(totals[sample.label])


def _known_patterns(samples: Sequence[Sample], found: Iterable[list[str]]) -> dict[str, int]:
    packages: dict[str, set[str]] = {}
    counts: Counter[str] = Counter()
    for sample, row in zip(samples, found, strict=True):
        for pattern in row:
            counts[pattern] += 1
            homes = packages.setdefault(pattern, set())
            if len(homes) < LEAST_PACKAGES:
                homes.add(sample.package)
    kept = sorted(
        pattern
        for pattern, homes in packages.items()
        if len(homes) >= LEAST_PACKAGES and counts[pattern] >= LEAST_SAMPLES
    )
    return {pattern: index for index, pattern in enumerate(kept)}


def _matrix(found: list[list[str]], place: dict[str, int]) -> sparse.csr_matrix:
    pointers, columns, values = [0], [], []
    for row in found:
        known = [place[pattern] for pattern in row if pattern in place]
        columns.extend(known)
        # Divided by all patterns, not the known ones: unfamiliar text scores lower.
        values.extend([1 / math.sqrt(max(1, len(row)))] * len(known))
        pointers.append(len(columns))
    return sparse.csr_matrix(
        (np.array(values), np.array(columns), np.array(pointers)), shape=(len(found), len(place))
    )


def _sample_weights(samples: Sequence[Sample]) -> np.ndarray:
    totals = Counter(sample.label for sample in samples)
    mean = len(samples) / (len(VOCABULARY) + WEIGHT_OF_OTHER)
    return np.array(
        [
            mean * (WEIGHT_OF_OTHER if sample.label == OTHER else 1.0) / totals[sample.label]
            for sample in samples
        ]
    )


def _train(
    matrix: sparse.csr_matrix, samples: Sequence[Sample], weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    labels = np.array([sample.label for sample in samples])
    columns, biases = [], []
    for language in VOCABULARY:
        model = LogisticRegression(C=INVERSE_PENALTY, solver="liblinear", random_state=0, tol=0.02)
        model.fit(matrix, labels == language, sample_weight=weights)
        columns.append(model.coef_[0])
        biases.append(model.intercept_[0])
    return np.stack(columns, axis=1), np.array(biases)
