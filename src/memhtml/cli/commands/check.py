"""``memhtml check``: every fault of any memory files, with its line and column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import root_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.checkfiles import FileReport, Problem
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.cli.views.findings import Summary
    from memhtml.model.diagnostics import Diagnostic

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="check",
        summary="Check memory files and say what is wrong, and where.",
        description=(
            "A folder is searched for *.html files: without what git ignores, hidden folders, "
            "symbolic links and generated index.html listings. A file that is named is checked "
            "whatever it is called. No store is needed.\n\n"
            "--fix mends only what cannot lose meaning: a content hash that is not the article's, "
            "a datetime that names one instant in another spelling than the UTC form, a missing "
            "newline at the end. The words of the article are never touched."
        ),
        arguments=(
            Argument(
                name="path",
                summary="a file, a folder, or - for standard input; else --repo or this folder",
                required=False,
                repeatable=True,
                noun=Noun.FILE,
            ),
        ),
        flags=(
            Flag(
                name="format",
                choices=("text", "json", "sarif", "github"),
                metavar="form",
                summary="text for people, json, SARIF 2.1.0, or GitHub workflow commands",
            ),
            Flag(name="strict", kind=Kind.BOOLEAN, summary="warnings count like violations"),
            Flag(name="fix", kind=Kind.BOOLEAN, summary="mend what cannot lose meaning"),
            Flag(
                name="diff",
                kind=Kind.BOOLEAN,
                summary="show what --fix changes; without --fix, what it would change",
            ),
            Flag(name="list-codes", kind=Kind.BOOLEAN, summary="list every code and stop"),
        ),
        is_about_store=False,
        response_types=("check.report", "check.codes"),
        exit_statuses=(
            (0, "no violations; warnings and notes are allowed without --strict"),
            (1, "violations, or warnings with --strict"),
            (2, "something could not be read or written, or the call is wrong"),
        ),
        examples=(
            "memhtml check",
            "memhtml check areas/inbox --fix --diff",
            "memhtml check --format sarif memories > memories.sarif",
            "memhtml check --list-codes",
        ),
    ),
)


def run(call: Call) -> Success:
    """Check what *call* names."""
    form = call.optional_text("format")
    for other in ("json", "dense", "text"):
        if call.is_on(other) and form not in {None, "text" if other == "text" else "json"}:
            raise call.refuse("format", f"{form} contradicts --{other}")
    if call.is_on("list-codes"):
        return _codes()
    if call.is_on("fix") and "-" in call.texts("path"):
        raise call.refuse("fix", "standard input cannot be mended in place; --diff shows how")
    return _report(call, form)


def _report(call: Call, form: str | None) -> Success:
    from memhtml.cli.views import findings  # noqa: PLC0415 - the parser loads with it

    summary, reports = _check(call)
    shows_diff = call.is_on("diff")

    def text(screen: Screen) -> str:
        if form == "sarif":
            from memhtml.cli.views.sarif import sarif_log  # noqa: PLC0415 - only this form

            return sarif_log(summary, reports)
        if form == "github":
            return findings.github_commands(summary, reports)
        return findings.findings_page(summary, reports, screen, shows_diff=shows_diff)

    return Success(
        "check.report",
        _report_json(summary, reports, shows_diff=shows_diff),
        text,
        exit_status=summary.exit_status,
        form=None if form is None else "json" if form == "json" else "text",
    )


def _check(call: Call) -> tuple[Summary, list[FileReport]]:
    """Check every file, mend it if asked to, and count. Only reports with something to say stay."""
    from memhtml import checkfiles  # noqa: PLC0415 - the parser loads with it
    from memhtml.cli.views.findings import Summary  # noqa: PLC0415 - as above

    is_fixing = call.is_on("fix")
    reports: list[FileReport] = []
    unreadable: list[Problem] = []
    skipped: list[Problem] = []
    checked = 0
    # Without paths, a store that is named is what there is to check.
    folder = "." if call.optional_text("repo") is None else root_of(call)
    for found in checkfiles.find_files(
        call.texts("path") or (folder,), call.world.cwd, call.world.env
    ):
        if isinstance(found, checkfiles.Problem):
            skipped.append(found)
            continue
        try:
            if found.path is None:
                report = checkfiles.check_bytes(found, call.world.stdin.read())
            else:
                report = checkfiles.check_file(found)
            if is_fixing:
                report = checkfiles.mend_file(report)
        except OSError as error:
            unreadable.append(checkfiles.Problem(found.label, error.strerror or str(error)))
            continue
        checked += 1
        if report.diagnostics or report.fixes:
            reports.append(report)
    counts = _count(d for report in reports for d in report.diagnostics)
    return (
        Summary(
            checked=checked,
            violations=counts["violation"],
            warnings=counts["warning"],
            notes=counts["note"],
            fixes=sum(len(report.fixes) for report in reports),
            is_fixed=is_fixing,
            is_strict=call.is_on("strict"),
            unreadable=tuple(unreadable),
            skipped=tuple(skipped),
        ),
        reports,
    )


def _count(diagnostics: Iterable[Diagnostic]) -> dict[str, int]:
    counts = {"violation": 0, "warning": 0, "note": 0}
    for diagnostic in diagnostics:
        counts[diagnostic.severity] += 1
    return counts


def _report_json(
    summary: Summary, reports: list[FileReport], *, shows_diff: bool
) -> dict[str, Json]:
    return {
        "ok": summary.exit_status == 0,
        "filesChecked": summary.checked,
        "violations": summary.violations,
        "warnings": summary.warnings,
        "notes": summary.notes,
        "fixed": summary.fixes if summary.is_fixed else 0,
        "fixable": 0 if summary.is_fixed else summary.fixes,
        "unreadable": [{"path": p.label, "reason": p.reason} for p in summary.unreadable],
        "skipped": [{"path": p.label, "reason": p.reason} for p in summary.skipped],
        "files": [_file_json(report, shows_diff=shows_diff) for report in reports],
    }


def _file_json(report: FileReport, *, shows_diff: bool) -> Json:
    from memhtml.cli.views.findings import unified_diff  # noqa: PLC0415 - loaded by now

    return {
        "path": report.target.label,
        "diagnostics": [_diagnostic_json(d) for d in report.diagnostics],
        "fixes": [{"code": fix.code, "message": fix.message} for fix in report.fixes],
        "diff": "\n".join(unified_diff(report)) if shows_diff and report.fixes else None,
    }


def _diagnostic_json(diagnostic: Diagnostic) -> Json:
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "line": span.line,
        "column": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
        "start": span.start,
        "end": span.end,
        "info": dict(diagnostic.info),
    }


def _codes() -> Success:
    from memhtml.format.checks import CODES  # noqa: PLC0415 - the parser loads with it

    def text(screen: Screen) -> str:
        from memhtml.cli.views.findings import codes_page  # noqa: PLC0415 - only for people

        return codes_page(screen)

    return Success(
        "check.codes",
        {
            "codes": [
                {"code": code.name, "severity": code.severity.value, "summary": code.summary}
                for code in CODES
            ]
        },
        text,
    )
