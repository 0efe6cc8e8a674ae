"""An unlabelled fence → the name of its language, or None (seed §7).

A linear model over token patterns proposes, and line grammars may only refuse. A wrong
``data-lang`` reaches entities and search while a missing one costs nothing, so everything here
leans to silence. Nothing is read and nothing is random: a `LanguageModel` is handed in, its
weights are integers, and the only floating-point steps are correctly rounded ones (a square root,
products, sums), so one model stamps the same on every machine.
"""

from __future__ import annotations

import json
import math
import zlib
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.language_features import code_lines, features
from memhtml.format.language_names import (
    DETECT_MAX_CHARS,
    VOCABULARY,
    is_too_long,
    named_interpreter,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DETECT_MAX_CHARS",
    "MODEL_MAGIC",
    "ONE_LINE_LOGIT",
    "STAMP_LOGIT",
    "VOCABULARY",
    "Detection",
    "Evidence",
    "LanguageModel",
    "Outcome",
    "detect",
    "evidence",
    "read_model",
]

STAMP_LOGIT = 1.3862943611198906
"""Least calibrated log-odds for a stamp: a confidence of 0.80 (docs/detector.md)."""

ONE_LINE_LOGIT = 3.4760986898352733
"""The same for a fence of one line, which shows far less: 0.97."""

MODEL_MAGIC = b"memhtml language model 1\n"

_LANE_BITS = 24
_LANE_BYTES = _LANE_BITS // 8
_ROW_BYTES = _LANE_BYTES * len(VOCABULARY)
_LANE_MASK = (1 << _LANE_BITS) - 1
_OFFSET = 128
_TOP_RANGE = 6.0
_MARGIN_RANGE = 8.0


class LanguageModel(NamedTuple):
    """The weights of one training, ready to add up.

    The twelve weights of a pattern are packed into the bytes of one integer, a lane of 24 bits
    each, every weight raised by 128. One addition then adds all twelve, exactly: a fence of 4,096
    characters has too few patterns to overflow a lane. They become an integer when a fence has the
    pattern: no fence has more than a few of the 14,000.
    """

    numbers: Mapping[str, int]
    """The number of each pattern."""
    rows: bytes
    """Their weights, in that order."""
    scale: float
    """What a summed weight of 1 is worth in a language's score."""
    bias: tuple[float, ...]
    """One a language, in `VOCABULARY` order; added to the scaled sum."""
    calibration: tuple[float, float, float]
    """Slope of the best score, slope of its lead, and intercept of the log-odds."""
    lead_slope: tuple[float, ...]
    """Correction of the lead's slope where this language is best."""
    intercept: tuple[float, ...]
    """Correction of the intercept where this language is best."""


class Outcome(StrEnum):
    """Why a fence was stamped or left alone."""

    STAMPED = "stamped"
    INTERPRETER = "interpreter"
    PARSED = "parsed"
    EMPTY = "empty"
    TOO_LONG = "too-long"
    UNSURE = "unsure"
    VETOED = "vetoed"
    UNCONFIRMED = "unconfirmed"


class Detection(NamedTuple):
    """What was found out about one fence."""

    language: str | None
    """The stamp: one of `VOCABULARY`, or None to leave the fence unlabelled."""
    candidate: str | None
    """The language that scored best, stamped or not; None where nothing was scored."""
    runner_up: str | None
    confidence: float
    """Calibrated chance that *candidate* is right, in ``[0, 1]``, to four decimals."""
    outcome: Outcome
    reason: str = ""
    """For `VETOED`, what kind of text it is; for `UNCONFIRMED`, what it lacks."""


class Evidence(NamedTuple):
    """One pattern of a fence and what it says for the candidate."""

    pattern: str
    weight: int
    """Weight for the candidate, -128 to 127."""
    lead: int
    """That weight less the runner-up's: what the pattern did to the decision."""


def read_model(data: bytes) -> LanguageModel:
    """Return the model that *data*, the bytes of a model file, holds.

    Raises:
        ValueError: *data* is not a model of this version for this vocabulary.
    """
    if not data.startswith(MODEL_MAGIC):
        raise ValueError("not a memhtml language model of version 1")
    head, _, body = data[len(MODEL_MAGIC) :].partition(b"\n")
    header = json.loads(head)
    if tuple(header["languages"]) != VOCABULARY:
        raise ValueError("the model names other languages than the vocabulary")
    content = zlib.decompress(body)
    size = header["features"] * len(VOCABULARY)
    patterns = content[: len(content) - size].decode("ascii").split("\n")
    planes = content[len(content) - size :]
    if len(patterns) != header["features"]:
        raise ValueError("the model holds another number of patterns than it says")
    return LanguageModel(
        numbers=dict(zip(patterns, range(len(patterns)), strict=True)),
        rows=_pack(len(patterns), planes),
        scale=header["scale"],
        bias=tuple(header["bias"]),
        calibration=tuple(header["calibration"]),
        lead_slope=tuple(header["lead_slope"]),
        intercept=tuple(header["intercept"]),
    )


def detect(code: str, model: LanguageModel) -> Detection:
    """Decide whether and how to label *code*, the text between a fence's ticks."""
    if is_too_long(code):
        return _silent(Outcome.TOO_LONG)
    lines = len(code_lines(code))
    if not lines:
        return _silent(Outcome.EMPTY)
    interpreter = named_interpreter(code)
    if interpreter:
        return _certain(interpreter, Outcome.INTERPRETER)
    if _is_json(code):
        return _certain("json", Outcome.PARSED)
    best, second, logit = _rank(code, model)
    candidate = VOCABULARY[best]
    outcome, reason = _judge(code, candidate, logit, one_line=lines == 1)
    return Detection(
        language=candidate if outcome is Outcome.STAMPED else None,
        candidate=candidate,
        runner_up=VOCABULARY[second],
        confidence=round(1 / (1 + math.exp(-logit)), 4),
        outcome=outcome,
        reason=reason,
    )


def evidence(code: str, model: LanguageModel, *, limit: int = 8) -> tuple[Evidence, ...]:
    """Return the patterns of *code* that did most for its candidate, strongest first."""
    best, second, _ = _rank(code, model)
    found = []
    for pattern in features(code):
        row = _row(model, pattern)
        if row is None:
            continue
        weight, other = (
            ((row >> _LANE_BITS * lane) & _LANE_MASK) - _OFFSET for lane in (best, second)
        )
        found.append(Evidence(pattern, weight, weight - other))
    found.sort(key=lambda one: (-one.weight - one.lead, one.pattern))
    return tuple(found[:limit])


def _silent(outcome: Outcome) -> Detection:
    return Detection(language=None, candidate=None, runner_up=None, confidence=0.0, outcome=outcome)


def _certain(language: str, outcome: Outcome) -> Detection:
    return Detection(
        language=language, candidate=language, runner_up=None, confidence=1.0, outcome=outcome
    )


def _is_json(code: str) -> bool:
    """Whether *code* is one JSON document that holds an object; a bare list could be anything's."""
    # Deeper nesting parses on some versions of Python only, and the answer must not depend on it.
    if code.lstrip()[:1] not in {"{", "["} or '":' not in code:
        return False
    if code.count("[") + code.count("{") > 400:
        return False
    try:
        json.loads(code, parse_constant=_refuse)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _judge(code: str, candidate: str, logit: float, *, one_line: bool) -> tuple[Outcome, str]:
    if logit < (ONE_LINE_LOGIT if one_line else STAMP_LOGIT):
        return Outcome.UNSURE, ""
    # Some fifty expressions, 10 ms to compile, that a text below the threshold never needs.
    from memhtml.format.language_gates import unconfirmed, veto  # noqa: PLC0415 - see above

    kind = veto(code)
    if kind:
        return Outcome.VETOED, kind
    lack = unconfirmed(candidate, code)
    if lack:
        return Outcome.UNCONFIRMED, lack
    return Outcome.STAMPED, ""


def _rank(code: str, model: LanguageModel) -> tuple[int, int, float]:
    """Return the two best lanes and the log-odds that the first is right."""
    found = features(code)
    total = known = 0
    for pattern in found:
        row = _row(model, pattern)
        if row is not None:
            total += row
            known += 1
    unit = model.scale / math.sqrt(max(1, len(found)))
    scores = []
    for lane, bias in enumerate(model.bias):
        weight = ((total >> _LANE_BITS * lane) & _LANE_MASK) - _OFFSET * known
        scores.append(weight * unit + bias)
    # The sort is stable, so equal scores keep the vocabulary's order.
    order = sorted(range(len(scores)), key=lambda lane: -scores[lane])
    best, second = order[0], order[1]
    top = min(_TOP_RANGE, max(-_TOP_RANGE, scores[best]))
    lead = min(_MARGIN_RANGE, scores[best] - scores[second])
    top_slope, lead_slope, intercept = model.calibration
    logit = (
        top_slope * top
        + (lead_slope + model.lead_slope[best]) * lead
        + (intercept + model.intercept[best])
    )
    return best, second, logit


def _row(model: LanguageModel, pattern: str) -> int | None:
    """Return the weights of *pattern*, None where the model does not know it."""
    number = model.numbers.get(pattern)
    if number is None:
        return None
    return int.from_bytes(model.rows[_ROW_BYTES * number : _ROW_BYTES * (number + 1)], "little")


def _pack(count: int, planes: bytes) -> bytes:
    """Return the weights of *count* patterns in lanes.

    *planes* holds the weights a language at a time, each raised by 128 to a byte.
    """
    rows = bytearray(_ROW_BYTES * count)
    for lane in range(len(VOCABULARY)):
        rows[lane * _LANE_BYTES :: _ROW_BYTES] = planes[lane * count : (lane + 1) * count]
    return bytes(rows)
