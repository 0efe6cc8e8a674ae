"""What ``memhtml check`` prints: findings with their lines, diffs, and a last line that counts.

A finding is ``path:line:column: code severity message``, the form that editors and terminals make
clickable. Below it stands the line at fault, with a caret under the fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memhtml.checkfiles import Target, check_bytes
from memhtml.cli.screen import cells, clip, columns, plural, printable
from memhtml.format.checks import CODES
from memhtml.model.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memhtml.checkfiles import FileReport, Problem
    from memhtml.cli.screen import Screen
    from memhtml.model.diagnostics import Diagnostic, Span

__all__ = [
    "Summary",
    "codes_page",
    "excerpt",
    "faults_page",
    "findings_page",
    "github_commands",
    "unified_diff",
]

_COLOURS = {Severity.VIOLATION: "red", Severity.WARNING: "yellow", Severity.NOTE: "blue"}
_GITHUB = {Severity.VIOLATION: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_TAB = 4
_CONTINUATIONS = bytes(range(0x80, 0xC0))
"""What a character of UTF-8 goes on with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A check in numbers."""

    checked: int
    violations: int
    warnings: int
    notes: int
    fixes: int
    """Repairs made, or that could be made when not *is_fixed*."""
    is_fixed: bool
    is_strict: bool
    unreadable: tuple[Problem, ...]
    skipped: tuple[Problem, ...]

    @property
    def exit_status(self) -> int:
        """2 when something could not be done, 1 when something is wrong, else 0."""
        if self.unreadable:
            return 2
        return 1 if self.violations or (self.is_strict and self.warnings) else 0


def findings_page(
    summary: Summary, reports: Sequence[FileReport], screen: Screen, *, shows_diff: bool
) -> str:
    """Return everything for people."""
    lines: list[str] = []
    for report in reports:
        for diagnostic in sorted(report.diagnostics, key=lambda d: d.span.start):
            lines += _finding(report, diagnostic, screen)
        if shows_diff and report.fixes:
            lines += [_paint_diff(line, screen) for line in unified_diff(report)]
        label = screen.paint(printable(report.target.label) + ":", "bold")
        word = screen.paint("mended" if summary.is_fixed else "fixable", "bold", "green")
        lines += [f"{label} {word} {printable(fix.message)}" for fix in report.fixes]
        if lines and lines[-1]:
            lines.append("")
    for problem in summary.unreadable:
        lines.append(
            f"{screen.paint(printable(problem.label), 'bold')}: "
            f"{screen.paint('not checked', 'bold', 'red')}: {printable(problem.reason)}"
        )
    for problem in summary.skipped:
        lines.append(f"{printable(problem.label)}: skipped: {printable(problem.reason)}")
    lines.append(
        _last_line(summary, len({r.target.label for r in reports if r.diagnostics}), screen)
    )
    return "\n".join(lines) + "\n"


def codes_page(screen: Screen) -> str:
    """Return every code with what it means, by severity."""
    lines: list[str] = []
    for severity in Severity:
        rows = [(row.name, row.summary) for row in CODES if row.severity is severity]
        lines += ["", screen.paint(f"{severity.value}s", "bold", _COLOURS[severity])]
        lines += columns(rows, indent=2, width=screen.width)
    return "\n".join(lines[1:]) + "\n"


def faults_page(label: str, data: bytes, screen: Screen) -> str:
    """Return what the checker says of *data*, with the lines at fault; *label* is its name."""
    report = check_bytes(Target(label, None), data)
    return "".join(
        f"{line}\n" for found in report.diagnostics for line in _finding(report, found, screen)
    )


def excerpt(data: bytes, span: Span, width: int) -> tuple[str, int, int] | None:
    """Return the line where *span* begins, fit for *width* cells, and the caret's place and length.

    Tabs become spaces, a long line is cut to what stands around the fault, and a fault of more
    than one line is underlined to the end of its first. None for a line that is blank, since it
    shows nothing.
    """
    # Of a line of a megabyte only what could be shown is looked at, or a file of one line would
    # take the square of its length. Four bytes are the longest character.
    reach = 4 * (width + 2)
    low, high = max(0, span.start - reach), span.start + reach
    start = max(low, *(data.rfind(end, low, span.start) + 1 for end in (b"\n", b"\r")))
    ends = [at for at in (data.find(end, span.start, high) for end in (b"\n", b"\r")) if at >= 0]
    end = min(ends, default=min(high, len(data)))
    lead_in = data[start : span.start]
    if start == low:
        lead_in = lead_in.lstrip(_CONTINUATIONS)
    before = lead_in.decode("utf-8", "replace").removeprefix("\ufeff")
    fault = data[span.start : min(max(span.end, span.start), end)].decode("utf-8", "replace")
    after = data[max(span.start, min(span.end, end)) : end].decode("utf-8", "replace")
    is_cut = len(before) > width
    lead, fault, after = (_flat(part) for part in (before[-width:], fault[:width], after[:width]))
    if is_cut or cells(lead + fault + after) > width:
        # A quarter of the line for what leads up to the fault, the rest for it and what follows.
        lead = _keep_end(lead, width // 4, is_cut=is_cut)
    shown = clip(fault + after, width - cells(lead))
    if not (lead + shown).strip():
        return None
    return lead + shown, cells(lead), max(1, min(cells(fault), cells(shown)))


def unified_diff(report: FileReport) -> Iterator[str]:
    """Yield the lines of a unified diff between a file and its mended form."""
    import difflib  # noqa: PLC0415 - only when a diff was asked for

    label = report.target.label.lstrip("/")
    yield from difflib.unified_diff(
        _diffable(report.original),
        _diffable(report.mended),
        f"a/{label}",
        f"b/{label}",
        lineterm="",
        n=1,
    )


def github_commands(summary: Summary, reports: Sequence[FileReport]) -> str:
    """Return the findings as GitHub workflow commands, which annotate a pull request."""
    lines = []
    for report in reports:
        for d in report.diagnostics:
            place = (
                f"file={_github_value(report.target.label)},line={d.span.line},"
                f"endLine={d.span.end_line},col={d.span.column},endColumn={d.span.end_column},"
                f"title={_github_value(d.code)}"
            )
            lines.append(f"::{_GITHUB[d.severity]} {place}::{_github_text(d.message)}\n")
    lines += [
        f"::error file={_github_value(p.label)}::{_github_text(p.reason)}\n"
        for p in summary.unreadable
    ]
    return "".join(lines)


def _finding(report: FileReport, diagnostic: Diagnostic, screen: Screen) -> list[str]:
    span, colour = diagnostic.span, _COLOURS[diagnostic.severity]
    place = screen.paint(f"{printable(report.target.label)}:{span.line}:{span.column}:", "bold")
    severity = screen.paint(diagnostic.severity.value, "bold", colour)
    lines = [f"{place} {diagnostic.code} {severity} {printable(diagnostic.message)}"]
    number = str(span.line)
    room = max(20, screen.columns - len(number) - 5)
    shown = excerpt(report.data, span, room)
    if shown is not None:
        text, column, length = shown
        bar = screen.paint("│", "dim")
        lines.append(f"  {screen.paint(number, 'dim')} {bar} {text}".rstrip())
        caret = screen.paint("^" * length, "bold", colour)
        lines.append(f"  {' ' * len(number)} {bar} {' ' * column}{caret}")
    return lines


def _last_line(summary: Summary, files_at_fault: int, screen: Screen) -> str:
    parts = [
        screen.paint(plural(count, noun), "bold", _COLOURS[severity])
        for count, noun, severity in (
            (summary.violations, "violation", Severity.VIOLATION),
            (summary.warnings, "warning", Severity.WARNING),
            (summary.notes, "note", Severity.NOTE),
        )
        if count
    ]
    checked = plural(summary.checked, "file")
    if parts:
        line = f"{', '.join(parts)} in {files_at_fault:,} of {checked}"
    elif summary.checked:
        line = f"{checked} checked: {screen.paint('no findings', 'bold', 'green')}"
    else:
        line = f"{checked} checked"
    if summary.fixes:
        repairs = plural(summary.fixes, "repair")
        line += f"; {repairs} made" if summary.is_fixed else f"; --fix would make {repairs}"
    if summary.unreadable:
        line += f"; {plural(len(summary.unreadable), 'path')} not checked"
    return line


def _flat(text: str) -> str:
    return printable(text.expandtabs(_TAB))


def _keep_end(text: str, width: int, *, is_cut: bool) -> str:
    """Return the end of *text* in *width* cells, an ellipsis before it if anything is missing."""
    if not is_cut and cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[max(1, (cells(text) - width) // 2) :]
    return "…" + text


def _diffable(data: bytes) -> list[str]:
    r"""Return lines for a diff, in which a lone CR is a line end and a missing one is told."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + "\n\\ No newline at end of file"]


def _paint_diff(line: str, screen: Screen) -> str:
    painted = "\n".join(map(printable, line.split("\n")))
    if line.startswith(("---", "+++")):
        return screen.paint(painted, "bold")
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return screen.paint(painted, colour) if colour else painted


def _github_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_value(text: str) -> str:
    return _github_text(text).replace(":", "%3A").replace(",", "%2C")
