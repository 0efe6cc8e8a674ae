"""Take the pictures of a review page for the documentation, in a real browser.

    python tools/review_screenshot.py [--chromium /usr/bin/chromium]

The store, its times and so the page are the same each time. Chromium draws it once on light and
once on dark ground.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memhtml.corpus import Corpus
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.review import review
from memhtml.sleep.reviewpage import review_page
from memhtml.sleep.runner import RunOptions, run

DOCS = Path(__file__).resolve().parent.parent / "docs"
NIGHT = datetime(2026, 8, 2, 3, 0, tzinfo=UTC)

MEMORIES = (
    (40, "Checkout retries", "The checkout service retries a failed call three times.", "checkout"),
    (
        6,
        "Retries of checkout",
        "A failed call is retried 3 times by the checkout service.",
        "checkout",
    ),
    (5, "Refunds", "The refund service never retries a failed call.", "refunds"),
    (33, "Backups", "Backups of the order database are kept for 30 days.", "orders"),
    (4, "Backup time", "Backups of the order database are kept for 14 days.", "orders"),
    (20, "On call", "Dana Ruiz is on call for checkout in even weeks.", "checkout"),
    (2, "To do", "We need to rotate the signing key of the gateway by Friday.", "gateway"),
)


def main() -> None:
    """Make the store, run, and take the pictures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    chromium = arguments.parse_args().chromium
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "review.html")
        page.write_text(make_page(Path(folder, "store")), encoding="utf-8")
        for ground in ("light", "dark"):
            picture = DOCS / f"review-{ground}.png"
            take(chromium, page, picture, ground, Path(folder, f"profile-{ground}"))
            sys.stdout.write(f"{picture.name}\n")


def make_page(root: Path) -> str:
    """Return the review page of a run on a small store."""
    Corpus.init(root, clock=lambda: NIGHT - timedelta(days=60))
    for days, title, claim, topic in MEMORIES:
        at = NIGHT - timedelta(days=days)
        with Corpus.open(root, clock=lambda at=at: at) as corpus:  # type: ignore[misc] - one each
            corpus.write(
                Draft(
                    title=title,
                    claim=claim,
                    memory_type=MemoryType.SEMANTIC,
                    tags=(topic,),
                    entities=(f"service:{topic}",),
                )
            )
    with Corpus.open(root, clock=lambda: NIGHT) as corpus:
        report = run(corpus, RunOptions())
        return review_page(review(corpus, report.run_id), store="team-memory")


def take(chromium: str, page: Path, picture: Path, ground: str, profile: Path) -> None:
    """Let the browser draw *page* and save what it shows."""
    dark = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")
    subprocess.run(
        (
            *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--no-first-run", "--disable-background-networking", f"--user-data-dir={profile}"),
            *(dark if ground == "dark" else ()),
            *("--window-size=1000,1250", f"--screenshot={picture}", page.as_uri()),
        ),
        check=True,
        capture_output=True,
    )


if __name__ == "__main__":
    main()
