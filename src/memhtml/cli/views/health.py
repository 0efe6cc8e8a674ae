"""What ``init``, ``status`` and ``index`` show: a store and its index in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.screen import columns, plural, printable, relative

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.cli.commands.index import Encoding
    from memhtml.cli.screen import Screen
    from memhtml.corpus import Health, IndexStatus
    from memhtml.index.embed import Coverage
    from memhtml.index.indexer import Report
    from memhtml.index.lookup import SkippedFile
    from memhtml.store.repo import InitReport

__all__ = ["encoding_lines", "health_page", "index_lines", "init_lines", "report_lines"]

_MOST_LISTED = 10


def init_lines(made: InitReport, screen: Screen) -> str:
    """Return what init did."""
    root = screen.paint(printable(made.root), "bold")
    if made.created:
        line = f"made a store in {root}"
    elif made.wrote:
        line = f"completed the store in {root}: {', '.join(map(printable, made.wrote))}"
    else:
        line = f"{root} is a store already; nothing was missing"
    lines = [line]
    lines += [f"left as it is, uncommitted: {printable(path)}" for path in made.kept]
    if not made.has_own_identity:
        lines.append(f"git knows no name for you, so commits will be by {printable(made.author)};")
        lines.append("git config user.name and user.email set your own")
    return "\n".join(lines) + "\n"


def health_page(health: Health, screen: Screen) -> str:
    """Return how a store is."""
    active = sum(health.counts_by_type.values())
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in health.counts_by_type.items())
    rows = [
        ("memories", f"{active:,}" + (f": {kinds}" if kinds else "")),
        ("archived", f"{health.archived:,}"),
        ("commit", _short(health.head)),
        ("index", _freshness(health.index_status)),
        ("meaning", _meaning(health.coverage)),
    ]
    lines = [
        screen.paint(printable(health.root), "bold"),
        *columns(rows, indent=2, width=screen.width),
    ]
    if health.dirty:
        lines += ["", screen.paint(f"{plural(len(health.dirty), 'path')} not committed", "yellow")]
        lines += _some([f"  {printable(path)}" for path in health.dirty])
    if health.skipped:
        lines += ["", *_skipped(health.skipped, screen)]
    if not active:
        lines += ["", "memhtml help write tells how to write the first memory"]
    return "\n".join(lines) + "\n"


def report_lines(report: Report, skipped: Sequence[SkippedFile], screen: Screen) -> str:
    """Return what a pass over the index did."""
    if report.rebuilt:
        line = f"indexed {plural(report.added, 'file')} anew"
    elif report.unchanged:
        line = "the index was up to date"
    else:
        counts = (
            (report.added, "added"),
            (report.modified, "changed"),
            (report.removed, "removed"),
            (report.renamed, "moved"),
        )
        line = "index updated: " + (
            ", ".join(f"{n:,} {word}" for n, word in counts if n) or "no memory differs"
        )
    lines = [line]
    if report.dirty:
        lines.append(f"{plural(report.dirty, 'path')} as on disk, not as committed")
    if skipped:
        lines += ["", *_skipped(skipped, screen)]
    return "\n".join(lines) + "\n"


def encoding_lines(encoding: Encoding, screen: Screen) -> str:
    """Return how many texts have vectors, and why not all of them."""
    line = f"{encoding.covered:,} of {plural(encoding.texts, 'text')} encoded"
    if encoding.space is not None:
        line += f" by {printable(encoding.space)}"
    lines = [line + (f", {encoding.written:,} of them now" if encoding.written else "")]
    if encoding.reason is not None:
        lines.append(screen.paint(f"search goes by words: {printable(encoding.reason)}", "yellow"))
    return "\n".join(lines) + "\n"


def index_lines(status: IndexStatus, coverage: Sequence[Coverage], screen: Screen) -> str:
    """Return what the index holds."""
    rows = [
        ("index", _freshness(status)),
        ("describes", _short(status.indexed)),
        ("files", f"{status.files:,}"),
        ("not memories", f"{status.skipped:,}"),
        ("meaning", _meaning(coverage)),
        ("rebuilt", _when(status.rebuilt_at, screen)),
        ("updated", _when(status.updated_at, screen)),
    ]
    return "\n".join(columns(rows, indent=0, width=screen.width)) + "\n"


def _skipped(files: Sequence[SkippedFile], screen: Screen) -> list[str]:
    lines = [screen.paint(f"{plural(len(files), 'file')} cannot be read as memories", "red")]
    for file in files[:_MOST_LISTED]:
        first = file.findings[0] if file.findings else None
        place = (
            f"{printable(file.path)}:{first.line}:{first.column}" if first else printable(file.path)
        )
        lines.append(f"  {place}: {file.reason}")
        if first:
            lines.append(f"    {printable(first.message)}")
    if len(files) > _MOST_LISTED:
        lines.append(f"  … and {len(files) - _MOST_LISTED:,} more")
    lines.append("memhtml check shows every fault of a file")
    return lines


def _some(lines: list[str]) -> list[str]:
    rest = len(lines) - _MOST_LISTED
    return [*lines[:_MOST_LISTED], *([f"  … and {rest:,} more"] if rest > 0 else [])]


def _meaning(coverage: Sequence[Coverage]) -> str:
    shares = [f"{one.share:.0%} of the texts encoded by {one.space}" for one in coverage]
    return "; ".join(map(printable, shares)) or "not encoded, so search goes by words"


def _freshness(status: IndexStatus) -> str:
    if status.rebuilt_at is None:
        return "not built yet"
    return "up to date" if status.is_fresh else f"behind, at {_short(status.indexed)}"


def _short(commit: str | None) -> str:
    return commit[:10] if commit else "none"


def _when(instant: str | None, screen: Screen) -> str:
    return f"{relative(instant, screen.now)} ({instant})" if instant else "never"
