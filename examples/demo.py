"""A guided tour: a new store, a dozen memories, a search, and a refused write.

Run by ``make demo``. Every step is a command you could type; the output is the command's own.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

MEMORIES: list[list[str]] = [
    [
        "--type=semantic",
        "--title=Checkout retry budget",
        "--claim=The checkout service retries a failed payment call at most three times.",
        "--body=After the third failure the order is parked and a person decides.",
        "--workspace=checkout",
        "--tag=payments",
        "--entity=service:checkout-api",
        "--facet=retries=3",
        "--facet=backoff=200 ms",
    ],
    [
        "--type=procedural",
        "--title=Drain a host before a kernel update",
        "--claim=Drain the host and wait for zero open connections before rebooting it.",
        "--body=```bash\nlb drain web-07 --wait\nssh web-07 sudo reboot\n```",
        "--tag=oncall",
        "--entity=host:web-07",
    ],
    [
        "--type=episodic",
        "--title=Rollback of release 412",
        "--claim=Release 412 was rolled back because the invoice totals were off by one cent.",
        "--happened-at=2026-08-02T14:03:11Z",
        "--cite=Incident review 2026-08-04",
        "--workspace=checkout",
        "--entity=release:412",
        "--importance=8",
    ],
    [
        "--type=error_pattern",
        "--title=E-1042 after a printer change",
        "--claim=Error E-1042 means that the paper tray is open, not that the printer is offline.",
        "--tag=printers",
    ],
    [
        "--type=user_preference",
        "--title=Ada wants short answers",
        "--claim=Ada prefers answers in three sentences, with the command first.",
        "--entity=person:Ada Lindqvist",
    ],
    [
        "--type=semantic",
        "--title=Ada Lindqvist",
        "--claim=Ada Lindqvist owns the payment gateway and is on call in even weeks.",
        "--entity=person:Ada Lindqvist",
        "--alias=Ada",
    ],
    [
        "--type=agent_insight",
        "--title=Flaky tests share one fixture",
        "--claim=All four flaky tests use the clock fixture, so the fixture is the suspect.",
        "--confidence=0.7",
        "--tag=tests",
    ],
    [
        "--type=verdict",
        "--title=Postgres over a queue for outbox",
        "--claim=The outbox stays in Postgres; a message queue would add a second source of truth.",
        "--workspace=checkout",
        "--valid-from=2026-09-01",
    ],
    [
        "--type=precedent",
        "--title=Schema changes go out alone",
        "--claim=A release that changes the schema contains nothing else.",
        "--tag=releases",
    ],
    [
        "--type=arc",
        "--title=How the checkout became boring",
        "--claim=In one year the checkout went from weekly incidents to none in a quarter.",
    ],
    [
        "--type=semantic",
        "--title=東京オフィスの入館時間",
        "--claim=東京オフィスは平日の午前八時に開き、土曜日は事前の申請が必要です。",
        "--tag=オフィス",
    ],
    [
        "--type=task",
        "--title=Rotate the signing key",
        "--claim=The signing key is rotated and the old one is revoked.",
        "--due=2026-12-15",
        "--workspace=checkout",
    ],
]

BOLD, DIM, RESET = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")


def main() -> int:
    """Run the tour; the exit status is 0 when every step did what it should."""
    root = Path(tempfile.mkdtemp(prefix="memhtml-demo-")) / "store"
    tour = Tour(root)
    tour.say("A store is a git repository. This one is new.")
    tour.memhtml("init")

    tour.say(f"{len(MEMORIES)} memories, one fact each, one commit each.")
    for flags in MEMORIES:
        tour.memhtml("write", *flags, quiet=len(tour.written) > 2)

    tour.say("The files are the truth; you can read them with anything.")
    tour.shell("git", "ls-files", "projects", "areas", "resources")
    tour.shell("cat", tour.written[0])
    tour.shell("git", "log", "--oneline", "-5")

    tour.say("Ask in your own words, in any script, or for an exact token.")
    tour.memhtml("search", "how often do we retry payments?", "--limit=2")
    tour.memhtml("search", "土曜日", "--limit=1")
    tour.memhtml("search", "E-1042", "--limit=1")
    tour.say("Nothing found is an answer too.")
    tour.memhtml("search", "submarine ballast valves")

    if tour.can("index", "embed", "--limit=1"):
        tour.say("A model is there, so texts are encoded once, and search goes by meaning too.")
        tour.memhtml("index", "embed")
        tour.memhtml("search", "which service handles money?", "--limit=1", "--explain")

    tour.say("What is known, as quotes within a budget; and lists of what there is.")
    tour.memhtml("recall", "payment calls that fail", "--budget=400")
    tour.memhtml("task", "list")
    tour.memhtml("entities", "--type=person")

    tour.say("A file that breaks a rule is refused before anything is written.")
    broken = "<p>No claim here.</p><script>alert(1)</script><time datetime='noon'>noon</time>"
    tour.memhtml("write", "--type=semantic", "--title=Broken", f"--article-html={broken}", status=1)
    tour.say("The same rules for files you write by hand:")
    by_hand = root / "areas" / "inbox" / "by-hand.html"
    by_hand.write_text(f"<title>By hand</title>\n<article>\n{broken}\n</article>\n", "utf-8")
    tour.memhtml("check", "areas/inbox/by-hand.html", status=1)
    by_hand.unlink()

    tour.memhtml("status")
    print(f"\nThe store is at {BOLD}{root}{RESET}; look around, it is yours to delete.")
    command = [sys.executable, "-m", "memhtml", "--repo", str(root), "search", "who is on call"]
    print(f"Try it: {shlex.join(command)}")
    return 0


class Tour:
    """Runs commands in the store, shows them, and stops when one does not do what it should."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written: list[str] = []
        self._env = {**os.environ, "MEMHTML_ROOT": str(root)}

    def say(self, text: str) -> None:
        """Print a heading."""
        print(f"\n{BOLD}{text}{RESET}", flush=True)

    def memhtml(self, command: str, *args: str, status: int = 0, quiet: bool = False) -> None:
        """Run a memhtml command as a person would see it."""
        argv = [sys.executable, "-m", "memhtml", command, *args, "--text"]
        if command == "write" and status == 0:
            before = set(self._files())
        self._run(argv, shown=["memhtml", command, *args], status=status, quiet=quiet)
        if command == "write" and status == 0:
            self.written += sorted(set(self._files()) - before)

    def can(self, *argv: str) -> bool:
        """Whether a memhtml command succeeds; nothing is shown of it."""
        command = [sys.executable, "-m", "memhtml", *argv]
        done = subprocess.run(command, env=self._env, capture_output=True, check=False)
        return done.returncode == 0

    def shell(self, *argv: str) -> None:
        """Run any other command in the store."""
        self._run(list(argv), shown=list(argv))

    def _files(self) -> list[str]:
        listed = subprocess.run(
            ["git", "-C", self.root, "ls-files", "-z", "*.html"], capture_output=True, check=True
        )
        return [name.decode() for name in listed.stdout.split(b"\0") if name]

    def _run(
        self, argv: list[str], *, shown: list[str], status: int = 0, quiet: bool = False
    ) -> None:
        if not quiet:
            line = " ".join(shlex.quote(word).replace("\n", "\\n") for word in shown)
            print(f"{DIM}$ {line}{RESET}", flush=True)
        cwd = self.root if self.root.exists() else None
        sink = subprocess.DEVNULL if quiet else None
        done = subprocess.run(argv, cwd=cwd, env=self._env, stdout=sink, check=False)
        if done.returncode != status:
            sys.exit(f"demo: {shown[:2]} exited {done.returncode}, expected {status}")


if __name__ == "__main__":
    sys.exit(main())
