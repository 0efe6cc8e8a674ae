"""How fast a memory is read: every figure is a ratio to bare tree construction in the same run.

    python bench/format.py [--files 1000] [--rounds 7]

The floor is the parser's own tree of the same bytes, with nothing looked at. Batches of a few files
take turns and the least CPU time of each is kept, so that a busy machine moves both alike.
Exits 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, NamedTuple

import turbohtml

from memhtml.format.edit import set_meta
from memhtml.format.parse import FILE_CAP, check_document, parse
from memhtml.format.text import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PARSE_BAR = 10.0
EDIT_BAR = 5.0
GROWTH_BAR = 1.5
"""Most that a byte of a file near the cap may cost, in bytes of a file an eighth as large."""

PLAIN = (
    "drain the load balancer before a rollback so that no request meets a half started process "
    "kiln tide quay loft ledger harbour because nobody expects it"
).split()
MIXED = [*PLAIN, *"café naïve größe 東京 données".split()]


def main() -> int:
    options = _options()
    rng = random.Random(20_260_802)
    # Text with a character past U+00FF takes twice the room, and a third of the files have some.
    writers = [Writer(rng, words) for words in (MIXED, PLAIN, PLAIN)]
    files = [memory(writers[i % 3]) for i in range(options.files)]
    sizes = sorted(map(len, files))
    print(
        f"{len(files)} files, {sizes[0]}-{sizes[-1]} bytes, {sum(sizes) // len(files)} on average"
    )
    for data in files:
        assert not check_document(data), check_document(data)[0]

    costs = dict.fromkeys(WORKS, 0.0)
    for begin in range(0, len(files), BATCH):
        batch = files[begin : begin + BATCH]
        works = {name: partial(run, work, batch) for name, work in WORKS.items()}
        for name, seconds in measure(works, options.rounds).items():
            costs[name] += seconds
    floor = costs["bare tree"]
    bars = {"parse, check, hash, all fields": PARSE_BAR, "set_meta": EDIT_BAR}
    print(f"\n{'a file':34} {'µs':>8} {'ratio':>7} {'bar':>6}")
    for name, seconds in costs.items():
        bar = f"≤ {bars[name]:g}" if name in bars else ""
        each_us = seconds / len(files) * 1e6
        print(f"{name:34} {each_us:8.1f} {seconds / floor:6.1f}x {bar:>6}")
    missed = [name for name, bar in bars.items() if costs[name] > bar * floor]

    large = grown(writers[0], FILE_CAP)
    small = large[: FILE_CAP // 8]
    growth = measure({"small": lambda: parse(small), "large": lambda: parse(large)}, 3)
    too_large = large + small + small
    refused = measure({"refused": lambda: parse(too_large)}, 3)["refused"]
    ratio = growth["large"] / growth["small"] / (len(large) / len(small))
    print(f"\n{'one large file':34} {'ns/byte':>8} {'ratio':>7} {'bar':>6}")
    print(f"{f'{len(small):,} bytes':34} {growth['small'] / len(small) * 1e9:8.1f}")
    print(
        f"{f'{len(large):,} bytes':34} {growth['large'] / len(large) * 1e9:8.1f} {ratio:6.2f}x"
        f" {f'≤ {GROWTH_BAR:g}':>6}"
    )
    print(f"{'10 MiB, refused unread':34} {refused * 1e6:6.1f} µs")
    if ratio > GROWTH_BAR:
        missed.append("linear growth")
    print("\nmissed: " + ", ".join(missed) if missed else "\nevery bar met")
    return 1 if missed else 0


def run(work: Callable[[bytes], object], files: list[bytes]) -> None:
    for data in files:
        work(data)


WORKS: dict[str, Callable[[bytes], object]] = {
    "bare tree": lambda data: turbohtml.parse(data, encoding="utf-8"),
    "parse, check, hash, all fields": parse,
    "content_hash": content_hash,
    "set_meta": lambda data: set_meta(data, "memhtml-confidence", "0.512"),
}
BATCH = 10
"""Files timed together: few, so that every work finds rounds in which nothing else disturbs it."""


def measure(works: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the least CPU seconds of each work over *rounds* interleaved rounds."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            begin = thread_time()
            work()
            best[name] = min(best[name], thread_time() - begin)
    return best


class Writer(NamedTuple):
    """Whoever writes a file: their dice, and the words they know."""

    rng: random.Random
    words: Sequence[str]

    def number(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def word(self) -> str:
        return self.rng.choice(self.words)

    def prose(self, low: int, high: int) -> str:
        return " ".join(self.rng.choices(self.words, k=self.number(low, high)))


def memory(by: Writer) -> bytes:
    """Return a valid memory of 1 to 4 KB with a bit of everything."""
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f"<title>{by.prose(3, 8)}</title>",
        '<meta name="memhtml-type" content="procedural">',
        '<meta name="memhtml-status" content="active">',
        '<meta name="memhtml-created" content="2026-08-02T14:03:11Z">',
        '<meta name="memhtml-updated" content="2026-08-02T14:03:11Z">',
        '<meta name="memhtml-confidence" content="0.90">',
        f'<meta name="memhtml-content-hash" content="sha256:{by.rng.randbytes(32).hex()}">',
        '<meta name="memhtml-entity" content="service:checkout-api">',
        *(f'<meta name="memhtml-tag" content="{by.word()}">' for _ in range(2)),
        '<link rel="memhtml-supersedes" href="/archive/2026/areas/oncall/old-order.html">',
        "</head>",
        "<body>",
        "<article>",
        f"<p><mark>{by.prose(8, 20)}.</mark> {by.prose(10, 40)}.</p>",
    ]
    blocks = by.rng.choices(BLOCKS, k=by.number(2, 9))
    lines += [block(by) for block in blocks]
    lines += ["</article>", "</body>", "</html>", ""]
    return "\n".join(lines).encode()


def paragraph(by: Writer) -> str:
    return (
        f'<p>{by.prose(10, 40)} on <time datetime="2026-07-{by.number(10, 28)}">that day</time>'
        f" &mdash; {by.prose(4, 20)} <em>{by.prose(1, 3)}</em>.</p>"
    )


def facets(by: Writer) -> str:
    rows = "".join(
        f'<dt>{by.word()}</dt>\n<dd><data value="{by.number(1, 900)}">'
        f"{by.prose(1, 4)}</data></dd>\n<dd>{by.prose(1, 4)}</dd>\n"
        for _ in range(by.number(1, 3))
    )
    return f"<dl>\n{rows}</dl>"


def figure(by: Writer) -> str:
    code = "\n".join("    " + by.prose(2, 6) for _ in range(by.number(2, 6)))
    return (
        f'<figure>\n<figcaption>{by.prose(2, 5)}</figcaption>\n<pre><code data-lang="python">'
        f"{code}\n</code></pre>\n</figure>"
    )


def listing(by: Writer) -> str:
    items = "\n".join(
        f"<li>{by.prose(3, 12)} <code>{by.word()}</code>" for _ in range(by.number(2, 5))
    )
    return f"<ul>\n{items}\n</ul>"


def sources(by: Writer) -> str:
    return (
        f'<p><cite>{by.prose(2, 5)}</cite> says <q cite="https://a.example/{by.number(1, 99)}">'
        f"{by.prose(4, 14)}</q>; a <dfn>{by.word()}</dfn> is {by.prose(3, 9)}.</p>"
    )


def fold(by: Writer) -> str:
    return (
        f"<details>\n<summary>{by.prose(2, 4)}</summary><p>{by.prose(8, 30)}.</p>\n</details>\n"
        f"<aside><p>{by.prose(5, 15)}.</p></aside>"
    )


BLOCKS: tuple[Callable[[Writer], str], ...] = (
    paragraph,
    paragraph,
    facets,
    figure,
    listing,
    sources,
    fold,
)


def grown(by: Writer, size: int) -> bytes:
    """Return a valid memory of exactly *size* bytes."""
    body: list[bytes] = []
    head = memory(by).partition(b"</article>")[0]
    left = size - len(head)
    while left > 0:
        body.append(by.rng.choice(BLOCKS)(by).encode() + b"\n")
        left -= len(body[-1])
    return (head + b"".join(body))[:size]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=15)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
