"""Archives → model file and figures: the whole training, in order.

Everything is a function of the cached archives and this code. The figures are taken from the
bytes of the finished file through the detector itself, on packages that neither training nor
calibration saw.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tools.train_lang import samples as samples_module
from tools.train_lang.fit import calibrate, decode, encode, fit
from tools.train_lang.made import made
from tools.train_lang.manifest import FRESH, Package, fetch, read_manifest, split_of
from tools.train_lang.samples import OTHER, Sample, collect, unlabelled

from memhtml.format.detect import Outcome, detect, read_model
from memhtml.format.language_features import code_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.format.detect import LanguageModel

__all__ = ["FIGURES", "MODEL", "build", "gather", "measure", "recalibrate"]

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "src/memhtml/data/languages.bin"
PROVIDER = ROOT / "src/memhtml/providers/languages.py"
FIGURES = Path(__file__).with_name("figures.json")
JUDGEMENTS = Path(__file__).with_name("judgements.tsv")

A_PACKAGE = 15
A_PACKAGE_AS_IT_IS = 25
A_LANGUAGE = 350
OUTSIDE = 1000
"""Caps of the evaluation, so that no package and no language speaks for all."""

Splits = dict[str, list[Sample]]


def build(cache: Path, packages: list[Package]) -> None:
    """Train, calibrate, write the model file, state its sha256 in the provider, and measure."""
    splits, _ = gather(cache, packages)
    training = [*splits["train"], *made()]
    # Keywords are upper case in nearly every published example and lower case in many notes.
    lowered = [one._replace(text=one.text.lower()) for one in training if one.label == "sql"]
    fitted = fit(_distinct([*training, *lowered]))
    _write(encode(fitted, calibrate(fitted, splits["calibrate"])))
    measure(cache, packages)


def recalibrate(cache: Path, packages: list[Package]) -> None:
    """Calibrate the weights of the model file anew, as `build` does after training, and measure."""
    splits, _ = gather(cache, packages)
    fitted = decode(MODEL.read_bytes())
    _write(encode(fitted, calibrate(fitted, splits["calibrate"])))
    measure(cache, packages)


def _write(data: bytes) -> None:
    MODEL.parent.mkdir(exist_ok=True)
    MODEL.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    source = PROVIDER.read_text(encoding="utf-8")
    source = re.sub(r'(MODEL_SHA256 = ")[0-9a-f]{64}', rf"\g<1>{digest}", source)
    PROVIDER.write_text(source, encoding="utf-8")
    print(f"{MODEL.name}: {len(data)} bytes, sha256 {digest}")


def measure(cache: Path, packages: list[Package]) -> None:
    """Write every figure that docs/detector.md states, from the shipped file."""
    splits, bare = gather(cache, packages)
    model = read_model(MODEL.read_bytes())
    figures = _figures(splits, model, packages)
    figures["natural"] = _natural(splits["test"], model)
    fresh = read_manifest(FRESH)
    fetch(cache, fresh)
    seen = {_key(sample) for found in splits.values() for sample in found}
    unseen = [one for package in fresh for one in _read(cache, package)[0] if _key(one) not in seen]
    figures["fresh"] = {**_natural(unseen, model), "packages": len(fresh)}
    figures["unlabelled"] = _judged([*bare["calibrate"], *bare["test"]], model)
    FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _natural(samples: list[Sample], model: LanguageModel) -> dict[str, dict[str, object]]:
    """Return rates in the mix that packages happen to have, by kind, a few samples a package."""
    found: dict[str, dict[str, object]] = {}
    for kind in ("fence", "slice"):
        taken: Counter[str] = Counter()
        chosen = []
        for sample in sorted(samples, key=_by_hash):
            if sample.kind == kind and len(code_lines(sample.text)) > 1:
                taken[sample.package] += 1
                if taken[sample.package] <= A_PACKAGE_AS_IT_IS:
                    chosen.append(sample)
        results = [(one.label, detect(one.text, model).language) for one in chosen]
        stamped = [(label, stamp) for label, stamp in results if stamp]
        labels = Counter(one.label for one in chosen)
        wrong = Counter(f"{label}>{stamp}" for label, stamp in stamped if label != stamp)
        found[kind] = {**_rates(stamped, chosen), "labels": dict(labels), "wrong": dict(wrong)}
    return found


def _by_hash(sample: Sample) -> bytes:
    return hashlib.sha256(sample.text.encode()).digest()


def _judged(samples: list[Sample], model: LanguageModel) -> dict[str, object]:
    """Return what became of the fences that a person judged."""
    rows = [line.split("\t") for line in JUDGEMENTS.read_text("utf-8").splitlines()]
    answers = {row[1]: row[2].split() for row in rows if not row[0].startswith("#")}
    texts = {hashlib.sha256(one.text.encode()).hexdigest(): one for one in samples}
    stamps = {
        digest: stamp
        for digest in answers
        if digest in texts and (stamp := detect(texts[digest].text, model).language)
    }
    return {
        "judged": len(answers),
        "found": len(answers.keys() & texts.keys()),
        "may_be_stamped": sum(answer != ["-"] for answer in answers.values()),
        "stamped": len(stamps),
        "right": sum(stamp in answers[digest] for digest, stamp in stamps.items()),
        "wrong": {
            f"{texts[digest].package} {digest[:12]}": stamp
            for digest, stamp in sorted(stamps.items())
            if stamp not in answers[digest]
        },
    }


def gather(cache: Path, packages: list[Package]) -> tuple[Splits, Splits]:
    """Return labelled and unlabelled samples by split; what was read once is kept in *cache*.

    A text that stands in a training package is in no other split.
    """
    labelled: Splits = {"train": [], "calibrate": [], "test": []}
    bare: Splits = {"train": [], "calibrate": [], "test": []}
    for package in packages:
        found, unnamed = _read(cache, package)
        for sample in found:
            labelled[split_of(sample.package)].append(sample)
        bare[package.split].extend(unnamed)
    seen = {_key(sample) for sample in labelled["train"]}
    for split in ("calibrate", "test"):
        labelled[split] = [one for one in labelled[split] if _key(one) not in seen]
        seen |= {_key(one) for one in labelled[split]}
    return labelled, bare


def _figures(splits: Splits, model: LanguageModel, packages: list[Package]) -> dict[str, object]:
    chosen = _evaluated(splits["test"])
    several = [one for one in chosen if len(code_lines(one.text)) > 1]
    single = [one for one in chosen if len(code_lines(one.text)) == 1]
    found = [(sample, detect(sample.text, model)) for sample in several]
    confusion = Counter((sample.label, result.language or "none") for sample, result in found)
    curve = []
    for step in range(50, 100):
        limit = step / 100
        stamped = [
            (sample.label, result.candidate)
            for sample, result in found
            if result.outcome in {Outcome.INTERPRETER, Outcome.PARSED}
            or (
                result.outcome in {Outcome.STAMPED, Outcome.UNSURE}
                and result.confidence >= limit
                and _passes(sample.text, str(result.candidate))
            )
        ]
        curve.append({"confidence": limit, **_rates(stamped, several)})
    bins: dict[int, list[bool]] = {}
    for sample, result in found:
        if result.candidate and _passes(sample.text, result.candidate):
            bins.setdefault(int(result.confidence * 20), []).append(
                result.candidate == sample.label
            )
    single_found = [(one, detect(one.text, model)) for one in single]
    return {
        "confusion": {f"{a}>{b}": count for (a, b), count in sorted(confusion.items())},
        "curve": curve,
        "one_line": _rates(
            [(one.label, result.language) for one, result in single_found if result.language],
            single,
        ),
        "outside": Counter(
            f"{sample.spelling}>{result.language}"
            for sample, result in found
            if sample.label == OTHER and result.language
        ),
        "overall": _rates(
            [(sample.label, result.language) for sample, result in found if result.language],
            several,
        ),
        "packages": dict(Counter(package.split for package in packages)),
        "reliability": [
            {"bin": number / 20, "right": sum(hits), "all": len(hits)}
            for number, hits in sorted(bins.items())
        ],
        "samples": {
            split: dict(Counter(sample.label for sample in found_in))
            for split, found_in in splits.items()
        },
    }


def _passes(text: str, language: str) -> bool:
    from memhtml.format.language_gates import unconfirmed, veto  # noqa: PLC0415 - one user

    return not veto(text) and not unconfirmed(language, text)


def _rates(stamped: list[tuple[str, str | None]], asked: list[Sample]) -> dict[str, float]:
    inside = [(label, stamp) for label, stamp in stamped if label != OTHER]
    named = sum(1 for sample in asked if sample.label != OTHER)
    return {
        "asked": named,
        "asked_outside": len(asked) - named,
        "stamped": len(inside),
        "right": sum(label == stamp for label, stamp in inside),
        "stamped_outside": len(stamped) - len(inside),
    }


def _evaluated(samples: Iterable[Sample]) -> list[Sample]:
    """Return the capped evaluation set, chosen by hash."""
    by_package: Counter[tuple[str, str]] = Counter()
    by_label: Counter[str] = Counter()
    kept = []
    for sample in sorted(samples, key=_by_hash):
        home = (sample.package, sample.label)
        limit = 2 if sample.kind == "prose" else A_PACKAGE
        top = OUTSIDE if sample.label == OTHER else A_LANGUAGE
        if by_package[home] < limit and by_label[sample.label] < top:
            by_package[home] += 1
            by_label[sample.label] += 1
            kept.append(sample)
    return kept


def _read(cache: Path, package: Package) -> tuple[list[Sample], list[Sample]]:
    code = hashlib.sha256(Path(samples_module.__file__).read_bytes()).hexdigest()[:12]
    kept = cache / f"samples-{code}" / f"{package.sha256}.pickle"
    if kept.exists():
        # The file is this command's own, written below into a folder that the caller chose.
        return pickle.loads(kept.read_bytes())  # noqa: S301 - as above
    archive = cache / package.registry / package.file
    found = collect(package.name, archive), unlabelled(package.name, archive)
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(pickle.dumps(found))
    return found


def _distinct(samples: Iterable[Sample]) -> list[Sample]:
    return list({_key(sample): sample for sample in samples}.values())


def _key(sample: Sample) -> str:
    """Three longest lines: copies with another indent or heading are the same text."""
    lines = sorted({line.strip() for line in code_lines(sample.text)}, key=lambda s: (-len(s), s))
    return "\n".join(lines[:3])
