"""Make the screenshots of the README: real commands, in a real terminal, on a store made for it.

    .venv/bin/python tools/screenshots.py          writes docs/screens/*.svg
    .venv/bin/python tools/screenshots.py DIR      writes them there

The store, its clock and its place are the same each time, so a picture changes only when what a
command shows does. POSIX only, for the terminal is a pseudo-terminal.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.text import Text

from memhtml.corpus import Corpus
from memhtml.model.changes import Correction
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus

ROOT = Path(__file__).parents[1]
PLACE = Path(tempfile.gettempdir(), "memhtml-screens")
COLUMNS, ROWS = 84, 60
NOW = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)

SHOTS = {
    "search": ("search", "how often are failed payments retried?", "--limit", "2"),
    "home": (),
    "diff": ("diff", "--since", "2026-11-27"),
    "check": ("check", "by-hand.html"),
}
"""Each picture, and the command it shows."""

RETRIES, OUTBOX, HANDS = (
    "projects/checkout/retry-budget.html",
    "projects/checkout/outbox.html",
    "resources/tests/clock-fixture.html",
)
BY_HAND = """\
<!doctype html>
<html lang="en">
<head>
<title>Oven hours</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-11-30">
<meta name="memhtml-updated" content="2026-11-30">
</head>
<body>
<article>
<p>The oven is on from <time datetime="noon">noon</time>.</p>
</article>
</body>
</html>
"""

LAUNCH = """\
import sys
from memhtml.cli.main import main, process_world
sys.exit(main(sys.argv[2:], process_world()._replace(now=lambda: float(sys.argv[1]))))
"""
"""The command line as it is, but for the clock."""


def make_store() -> None:
    """Make the store of the pictures anew."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(mode=0o700)
    at = [NOW - timedelta(days=40)]

    def clock() -> datetime:
        at[0] += timedelta(minutes=7)
        return at[0]

    Corpus.init(PLACE / "store", clock=clock)
    with Corpus.open(PLACE / "store", clock=clock, durability="none") as corpus:
        for title, kind, claim, path, more in (
            (
                "Checkout retry budget",
                MemoryType.SEMANTIC,
                "The checkout service retries a failed payment call at most three times.",
                RETRIES,
                {"entities": ("service:checkout-api",), "tags": ("payments",)},
            ),
            (
                "The outbox stays in Postgres",
                MemoryType.VERDICT,
                "The outbox stays in Postgres; a queue would add a second source of truth.",
                OUTBOX,
                {},
            ),
            (
                "Ada Lindqvist",
                MemoryType.SEMANTIC,
                "Ada Lindqvist owns the payment gateway and is on call in even weeks.",
                "resources/people/ada-lindqvist.html",
                {"entities": ("person:Ada Lindqvist",)},
            ),
            (
                "Flaky tests share one fixture",
                MemoryType.AGENT_INSIGHT,
                "All four flaky tests use the clock fixture, so the fixture is the suspect.",
                HANDS,
                {"tags": ("tests",)},
            ),
        ):
            corpus.write(
                Draft(title=title, memory_type=kind, claim=claim, path=path, **more)  # type: ignore[arg-type]
            )
        at[0] = NOW - timedelta(days=2, hours=3)
        corpus.correct(
            Correction(
                target=RETRIES,
                claim="The checkout service retries a failed payment call at most five times.",
                paragraphs=("After the fifth failure the order is parked and a person decides.",),
                reason="raised in release 420",
                author="agent:scribe",
            )
        )
        corpus.archive(HANDS, reason="the fixture was fixed")
        at[0] = NOW - timedelta(hours=5)
        queue = corpus.write(
            Draft(
                title="A queue for the outbox",
                memory_type=MemoryType.VERDICT,
                claim="The outbox moves to a queue in January.",
                workspace="checkout",
                author="human:Ada",
            )
        )
        corpus.link(queue.path, Rel.CONTRADICTS, OUTBOX)
        key = corpus.write(
            Draft(
                title="Rotate the signing key",
                memory_type=MemoryType.TASK,
                claim="The signing key is rotated and the old one is revoked.",
                workspace="checkout",
                due_at="2026-12-15",
            )
        )
        corpus.set_task_status(key.path, TaskStatus.DOING)
    (PLACE / "by-hand.html").write_text(BY_HAND, "utf-8")


def capture(argv: tuple[str, ...]) -> str:
    """Return what a terminal shows of a command, colours and all."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    clean = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, str(NOW.timestamp()), *argv],
        cwd=PLACE,
        env={**clean, **quiet(), "MEMHTML_ROOT": str(PLACE / "store"), "PAGER": "cat"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not chunk:
            break
        shown += chunk
    process.wait()
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def quiet() -> dict[str, str]:
    """Return an environment in which git is nobody's in particular."""
    return {
        "HOME": str(PLACE),
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "MEMHTML_CACHE": str(PLACE / "models"),
        **{
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ada Lindqvist"), ("EMAIL", "ada@example.org"))
        },
    }


def picture(name: str, argv: tuple[str, ...], shown: str) -> str:
    """Return an SVG of a terminal with the command line and what it showed."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "dim"), (shlex.join(("memhtml", *argv)), "bold")))
    for line in Text.from_ansi(shown.rstrip("\n")).split("\n", allow_blank=True):
        # A terminal breaks a long line at its edge, and not between words.
        for part in line.divide(range(COLUMNS, len(line.plain), COLUMNS)):
            console.print(part, soft_wrap=True)
    svg = console.export_svg(title=f"memhtml {argv[0]}" if argv else "memhtml", unique_id=name)
    # No picture of ours fetches a font from somebody else's machine.
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def main() -> int:
    """Write every picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.update(quiet())
    make_store()
    for name, argv in SHOTS.items():
        target = folder / f"{name}.svg"
        target.write_text(picture(name, argv, capture(argv)), "utf-8")
        print(target)
    shutil.rmtree(PLACE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
