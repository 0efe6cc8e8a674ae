"""What ``log`` and ``diff`` show: happenings in plain words, by commit or by kind."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from memhtml.cli.screen import flowing, plural, printable, relative
from memhtml.digest.happening import HEADINGS, What

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memhtml.cli.screen import Screen
    from memhtml.digest.digest import Digest, LogEntry
    from memhtml.digest.happening import Happening

__all__ = ["STYLES", "diff_page", "log_page"]

STYLES = {
    What.LEARNED: "green",
    What.CORRECTED: "yellow",
    What.CONTRADICTED: "red",
    What.FORGOTTEN: "magenta",
    What.RESTORED: "green",
    What.EDITED: "yellow",
    What.TASK_ADDED: "cyan",
    What.TASK_CHANGED: "cyan",
    What.TASK_DONE: "cyan",
    What.DELETED: "red",
    What.BROKEN: "red",
}


def log_page(entries: Sequence[LogEntry], screen: Screen, *, has_more: bool) -> str:
    """Return commits, newest first, each with what happened in it."""
    lines: list[str] = []
    for entry in entries:
        commit = entry.commit
        facts = [relative(commit.at, screen.now), printable(commit.author.partition(" <")[0])]
        if commit.session:
            facts.append(f"session {printable(commit.session)}")
        sha = screen.paint(commit.sha[:10], "yellow")
        lines.append(f"{sha} {screen.paint(' · '.join(facts), 'dim')}")
        for each in entry.happenings:
            lines += _told(each, screen)
        if not entry.happenings:
            what = f"{commit.operation}: {commit.summary}" if commit.operation else commit.summary
            lines += flowing(what, screen, 2)
        if entry.untold:
            lines.append(screen.paint(f"  … and {plural(entry.untold, 'more file')}", "dim"))
        lines.append("")
    if not entries:
        lines.append("nothing happened")
    if has_more:
        lines.append(screen.paint("there is more: --limit, --since or --until", "dim"))
    return "\n".join(lines).rstrip("\n") + "\n"


def diff_page(found: Digest, screen: Screen, *, has_end: bool, page: str | None) -> str:
    """Return what happened by kind, and where the page is if one was written.

    With *has_end* it was asked until when to look.
    """
    since, until = (relative(at or "", screen.now) for at in (found.since_at, found.until_at))
    span = f"since {since}" if found.since is not None else "since the beginning"
    if has_end:
        span += f" until {until}"
    lines = [screen.paint(f"{span}, {plural(found.commits, 'commit')}", "dim")]
    for what, group in groupby(found.happenings, key=lambda each: each.what):
        happenings = list(group)
        style = STYLES.get(what, "bold")
        lines += ["", screen.paint(f"{HEADINGS[what]} ({len(happenings):,})", "bold", style)]
        for each in happenings:
            lines += _item(each, screen)
    if not found.happenings:
        lines.append("nothing happened")
    if page is not None:
        lines += ["", f"written to {printable(page)}"]
    return "\n".join(lines) + "\n"


def _told(each: Happening, screen: Screen) -> Iterator[str]:
    """Yield the sentence, its first word in colour."""
    lines = flowing(each.sentence, screen, 2)
    word, colon, rest = lines[0].lstrip().partition(":")
    if colon:
        lines[0] = f"  {screen.paint(word + colon, STYLES.get(each.what, 'bold'))}{rest}"
    yield from lines


def _item(each: Happening, screen: Screen) -> Iterator[str]:
    first, *rest = flowing(each.claim, screen, 4)
    yield f"  • {first.lstrip()}"
    yield from rest
    for label, text in (
        ("against it: ", each.other if each.what is What.CONTRADICTED else None),
        ("before: ", each.before if each.before != each.claim else None),
        ("now ", ", ".join(each.notes)),
        ("reason: ", each.reason),
    ):
        if text:
            yield from flowing(label + text, screen, 4)
    facts = [printable(each.path)]
    if each.at:
        facts.append(relative(each.at, screen.now))
    facts += [printable(each.author)] if each.author else []
    yield "    " + screen.paint(" · ".join(facts), "dim")
