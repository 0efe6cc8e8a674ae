"""What ``trace`` shows: sessions, what they said, and which memories they touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.screen import flowing, plural, printable, relative

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memhtml.cli.screen import Screen
    from memhtml.index.usage import SessionLink
    from memhtml.traces.scan import Report
    from memhtml.traces.search import TraceHits
    from memhtml.traces.sessions import Session

__all__ = ["links_page", "report_page", "sessions_page"]

_MOST_FAILURES = 20
_KINDS = {"wrote": "green", "corrected": "yellow", "reinforced": "cyan", "read": "dim"}


def report_page(done: Report, screen: Screen) -> str:
    """Return what was read, and what could not be."""
    read = max(0, done.files_seen - done.skipped - len(done.failures))
    seen = plural(done.files_seen, "transcript")
    said = f"{plural(done.prompts, 'prompt')} in {plural(len(done.sessions), 'session')}"
    lines = [
        f"{seen}: {read:,} read, {done.skipped:,} as they were",
        f"{said}, {done.bytes_read:,} bytes",
    ]
    notes = (
        (done.missing, "transcript is gone", "transcripts are gone"),
        (done.secrets_cut, "credential was cut out", "credentials were cut out"),
        (done.lines_unknown, "line of an unknown kind", "lines of an unknown kind"),
        (done.lines_dropped, "line could not be read", "lines could not be read"),
    )
    lines += [screen.paint(plural(*note), "dim") for note in notes if note[0]]
    for path, reason in done.failures[:_MOST_FAILURES]:
        lines.append(screen.paint(f"not read: {printable(path)}: {printable(reason)}", "red"))
    untold = len(done.failures) - _MOST_FAILURES
    if untold > 0:
        lines.append(screen.paint(f"and {untold:,} more that could not be read", "red"))
    if not done.files_seen:
        lines = [f"no transcripts below {printable(root)}" for root in done.roots]
    return "\n".join(lines) + "\n"


def sessions_page(found: TraceHits, screen: Screen, *, known: int) -> str:
    """Return the sessions that were found, each with the places in it."""
    lines: list[str] = []
    for hit in found.sessions:
        session = hit.session
        lines.append(screen.paint(printable(session.session_id), "bold"))
        lines += flowing(printable(session.title or session.first_prompt or "no prompt"), screen, 2)
        facts = [session.agent]
        facts += [relative(session.started_at, screen.now)] if session.started_at else []
        facts += [printable(session.cwd)] if session.cwd else []
        facts += [plural(session.prompts, "prompt")]
        facts += ["transcript is gone"] if session.is_missing else []
        lines.append(f"  {screen.paint(' · '.join(facts), 'dim')}")
        for match in hit.matches:
            if match.role != "title":
                who = "agent" if match.role == "assistant" else "person"
                lines += flowing(f"{who}, line {match.line}: {printable(match.excerpt)}", screen, 4)
        lines.append("")
    if not known:
        lines.append("no transcript was read yet: memhtml trace index")
    else:
        lines.append(plural(len(found.sessions), "session"))
    if found.is_partial:
        lines.append(screen.paint("none has all that was asked for", "yellow"))
    return "\n".join(lines) + "\n"


def links_page(
    links: Sequence[SessionLink], known: Mapping[str, Session], screen: Screen, *, more: int
) -> str:
    """Return what sessions did with memories, newest first."""
    lines: list[str] = []
    for link in links:
        kind = screen.paint(f"{link.kind.value:<10}", _KINDS[link.kind.value])
        lines.append(f"{kind} {screen.paint(printable(link.path), 'bold')}")
        facts = f"{relative(link.at, screen.now)} · session {printable(link.session_id)}"
        lines.append(f"  {screen.paint(facts, 'dim')}")
        session = known.get(link.session_id)
        if session is not None:
            lines += flowing(printable(session.title or session.first_prompt), screen, 2)
    lines.append(plural(len(links), "link") + (f", and {more:,} older ones" if more else ""))
    return "\n".join(lines) + "\n"
