"""The findings of a check as a SARIF 2.1.0 log, for tools that collect such things."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from memhtml.format.checks import CODES
from memhtml.model.diagnostics import Severity
from memhtml.model.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.checkfiles import FileReport
    from memhtml.cli.envelope import Json
    from memhtml.cli.views.findings import Summary
    from memhtml.model.diagnostics import Diagnostic

__all__ = ["sarif_log"]

_LEVELS = {Severity.VIOLATION: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def sarif_log(summary: Summary, reports: Sequence[FileReport]) -> str:
    """Return the log as JSON text."""
    places = {code.name: place for place, code in enumerate(CODES)}
    rules: list[Json] = [
        {
            "id": code.name,
            "shortDescription": {"text": code.summary},
            "defaultConfiguration": {"level": _LEVELS[code.severity]},
        }
        for code in CODES
    ]
    results: list[Json] = [
        _result(report.target.label, diagnostic, places[diagnostic.code])
        for report in reports
        for diagnostic in report.diagnostics
    ]
    failures: list[Json] = [
        {
            "level": "error",
            "message": {"text": problem.reason},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(problem.label)}}],
        }
        for problem in summary.unreadable
    ]
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "memhtml", "semanticVersion": VERSION, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": not summary.unreadable,
                        "exitCode": summary.exit_status,
                        "toolExecutionNotifications": failures,
                    }
                ],
                "results": results,
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _result(label: str, diagnostic: Diagnostic, rule: int) -> Json:
    span = diagnostic.span
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": diagnostic.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(label),
                    "region": {
                        "startLine": span.line,
                        "startColumn": span.column,
                        "endLine": span.end_line,
                        "endColumn": span.end_column,
                        "byteOffset": span.start,
                        "byteLength": span.end - span.start,
                    },
                }
            }
        ],
    }


def _artifact(label: str) -> Json:
    """Return where a file is, relative to the working folder when it was named so."""
    path = Path(label)
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(label.encode("utf-8", "surrogateescape"))}
