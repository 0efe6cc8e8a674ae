"""Figures → the tables and the plot of docs/detector.md.

The page's words are written by people; what stands between its two marks is written here, from
the committed figures alone, so that a number in the page is always one that was measured.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib as mpl
from tools.train_lang.manifest import read_manifest

from memhtml.format.detect import VOCABULARY

__all__ = ["report"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/detector.md"
PLOT = ROOT / "docs/detector-reliability.svg"
FIGURES = Path(__file__).with_name("figures.json")


def report() -> None:
    """Write the measured part of the page and the plot beside it."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    parts = {
        "overall": _overall(figures),
        "natural": _natural(figures),
        "languages": _languages(figures),
        "confusion": _confusion(figures),
        "threshold": _threshold(figures),
        "outside": _outside(figures),
        "unlabelled": _unlabelled(figures),
        "licences": _licences(),
    }
    page = PAGE.read_text(encoding="utf-8")
    for name, text in parts.items():
        page = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)",
            lambda match, text=text: f"{match[1]}{text}\n{match[2]}",
            page,
            flags=re.DOTALL,
        )
    PAGE.write_text(page, encoding="utf-8")
    _plot(figures)


def _interval(right: int, all_of: int) -> str:
    """Return a share with its 95 % Wilson interval, in per cent."""
    if not all_of:
        return "-"
    z, share = 1.96, right / all_of
    middle = (share + z * z / (2 * all_of)) / (1 + z * z / all_of)
    half = z * math.sqrt(share * (1 - share) / all_of + z * z / (4 * all_of**2))
    half /= 1 + z * z / all_of
    return f"{share:.1%} ({middle - half:.1%} to {middle + half:.1%})".replace("%", " %")


def _overall(figures: dict[str, Any]) -> str:
    rows = ["| fences | in the vocabulary | outside | precision | coverage | false stamps |"]
    rows.append("|---|---:|---:|---|---|---|")
    for title, key in (("several lines", "overall"), ("one line", "one_line")):
        one = figures[key]
        rows.append(
            f"| {title} | {one['asked']} | {one['asked_outside']} |"
            f" {_interval(one['right'], one['stamped'])} |"
            f" {_interval(one['stamped'], one['asked'])} |"
            f" {_interval(one['stamped_outside'], one['asked_outside'])} |"
        )
    return "\n".join(rows)


def _natural(figures: dict[str, Any]) -> str:
    rows = ["| set | kind | in the vocabulary | precision | coverage | false stamps |"]
    rows.append("|---|---|---:|---|---|---|")
    for title in ("natural", "fresh"):
        for kind in ("fence", "slice"):
            one = figures[title][kind]
            name = "test split" if title == "natural" else f"fresh, {figures[title]['packages']}"
            rows.append(
                f"| {name} | {kind} | {one['asked']} | {_interval(one['right'], one['stamped'])} |"
                f" {_interval(one['stamped'], one['asked'])} |"
                f" {_interval(one['stamped_outside'], one['asked_outside'])} |"
            )
    return "\n".join(rows)


def _pairs(figures: dict[str, Any]) -> Counter[tuple[str, str]]:
    pairs: Counter[tuple[str, str]] = Counter()
    for key, count in figures["confusion"].items():
        label, _, stamp = key.partition(">")
        pairs[label, stamp] = count
    return pairs


def _languages(figures: dict[str, Any]) -> str:
    pairs = _pairs(figures)
    rows = ["| language | fences | coverage | precision | with stamps from outside |"]
    rows.append("|---|---:|---:|---:|---:|")
    for language in VOCABULARY:
        asked = sum(count for (label, _), count in pairs.items() if label == language)
        stamped = asked - pairs[language, "none"]
        right = pairs[language, language]
        given = sum(n for (label, stamp), n in pairs.items() if stamp == language)
        inside = given - pairs["other", language]
        rows.append(
            f"| {language} | {asked} | {stamped / max(1, asked):.1%} |"
            f" {right / max(1, inside):.1%} | {right / max(1, given):.1%} |"
        )
    return "\n".join(rows).replace("%", " %")


def _confusion(figures: dict[str, Any]) -> str:
    pairs = _pairs(figures)
    columns = [*VOCABULARY, "none"]
    rows = ["| label \\ stamp | " + " | ".join(columns) + " |"]
    rows.append("|---|" + "---:|" * len(columns))
    for label in (*VOCABULARY, "other"):
        cells = [str(pairs[label, stamp] or "") for stamp in columns]
        rows.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _threshold(figures: dict[str, Any]) -> str:
    rows = ["| confidence | precision | coverage | false stamps |", "|---|---:|---:|---:|"]
    rows += [
        f"| {one['confidence']:.2f} | {one['right'] / one['stamped']:.2%} |"
        f" {one['stamped'] / one['asked']:.1%} |"
        f" {one['stamped_outside'] / one['asked_outside']:.2%} |"
        for one in figures["curve"]
        if round(one["confidence"] * 100) % 5 == 0
    ]
    return "\n".join(rows).replace("%", " %")


def _outside(figures: dict[str, Any]) -> str:
    ranked = sorted(figures["outside"].items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{key.replace('>', ' as ')} ({count})" for key, count in ranked)


def _unlabelled(figures: dict[str, Any]) -> str:
    one = figures["unlabelled"]
    wrong = ", ".join(f"{where} as {stamp}" for where, stamp in one["wrong"].items()) or "none"
    return (
        f"Of {one['judged']} fences, {one['may_be_stamped']} may have a stamp."
        f" {one['stamped']} got one, and {one['right']} of these are right:"
        f" {_interval(one['right'], one['stamped'])}. Wrong: {wrong}."
    )


def _licences() -> str:
    packages = read_manifest()
    counts = Counter(package.licence for package in packages)
    rows = ["| licence, as stated | packages |", "|---|---:|"]
    rows += [f"| {name} | {count} |" for name, count in counts.most_common()]
    return "\n".join(rows)


def _plot(figures: dict[str, Any]) -> None:
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "memhtml"
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of a backend

    figure, axes = plt.subplots(figsize=(5, 5))
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1)
    points = [one for one in figures["reliability"] if one["all"] >= 10]
    axes.scatter(
        [one["bin"] + 0.025 for one in points],
        [one["right"] / one["all"] for one in points],
        s=[8 + 2 * math.sqrt(one["all"]) for one in points],
        color="#b5533c",
    )
    axes.set_xlabel("stated confidence")
    axes.set_ylabel("share that is right")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})
