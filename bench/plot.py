"""Draw what `bench/search.py` and `bench/index.py` measured: a PNG beside each file of figures.

    python bench/plot.py docs/bench-search.json docs/bench-index.json

Needs matplotlib (``python -m pip install 'matplotlib>=3.9,<4'``), which nothing else here does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

Figures = list[dict[str, Any]]

# Of each drawn line: what was measured, how the line looks, and whether it is its floor instead.
_WARM = (
    ("warm, words, p50", "o-", "C2"),
    ("warm, four arms, p50", "o-", "C0"),
    ("warm, four arms, p95", "o--", "C0"),
    ("warm, and dense, p50", "o-", "C3"),
)
_COLD = (("cold", "o-", "C0", 8), ("cold, head", "o-", "C1", 6))
_INDEX_TIMES = (("commit", "C0"), ("head edit", "C2"), ("hand edit", "C1"), ("nothing", "C3"))


def main() -> None:
    for name in sys.argv[1:]:
        source = Path(name)
        measured = json.loads(source.read_text(encoding="utf-8"))
        figures: Figures = measured["figures"]
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
        if any(item["what"].startswith("warm") for item in figures):
            draw_search(left, right, [_plain(item) for item in figures])
        else:
            draw_index(left, right, [_plain(item) for item in figures])
        about = f"CPU time; {measured['machine']}; load {measured['load']}"
        figure.suptitle(about, fontsize=9)
        figure.tight_layout()
        figure.savefig(source.with_suffix(".png"), dpi=110)
        plt.close(figure)


def draw_search(left: Axes, right: Axes, figures: Figures) -> None:
    for what, style, colour in _WARM:
        _line(left, figures, what, "value", style, colour, what.removeprefix("warm, "))
    _line(left, figures, "warm, four arms, p50", "floor", "x:", "0.4", "bare bm25, p50")
    left.scatter([10_000, 100_000], [10, 40], marker="_", s=400, color="C0", label="bound, p50")
    _scales(left, "a search in a warm process, ms")
    for what, style, colour, bound in _COLD:
        points = [(f["files"], f["value"] / f["floor"]) for f in figures if f["what"] == what]
        right.plot(*zip(*points, strict=True), style, color=colour, label=f"{what} (bound {bound})")
        right.axhline(bound, color=colour, linewidth=0.7, linestyle=":")
    right.set_xscale("log")
    right.set_ylim(bottom=0)
    _named(right, "memhtml search as a command, times python -c pass")


def draw_index(left: Axes, right: Axes, figures: Figures) -> None:
    for what, colour in _INDEX_TIMES:
        _line(left, figures, what, "value", "o-", colour, what)
    _line(left, figures, "nothing", "floor", "x:", "0.4", "git status -uall")
    left.axhline(30, color="C0", linewidth=0.7, linestyle=":", label="bound for a commit")
    _scales(left, "bringing the index up to date, ms")
    points = [(f["files"], f["value"] / f["floor"]) for f in figures if f["what"] == "rebuild"]
    right.plot(*zip(*points, strict=True), "o-", label="rebuild")
    right.axhline(2.5, linewidth=0.7, linestyle=":", label="bound")
    right.set_xscale("log")
    right.set_ylim(bottom=0)
    _named(right, "rebuild, times its floor")


def _line(axes: Axes, figures: Sequence[Mapping[str, Any]], what: str, of: str, *look: str) -> None:
    style, colour, label = look
    points = [(f["files"], f[of] * 1e3) for f in figures if f["what"] == what and f[of]]
    if points:
        axes.plot(*zip(*points, strict=True), style, color=colour, label=label)


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "value": item.get("value", item.get("seconds"))}


def _scales(axes: Axes, title: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    _named(axes, title)


def _named(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("memories")
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(fontsize=8)


if __name__ == "__main__":
    main()
