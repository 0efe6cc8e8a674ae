"""``python -m tests.conformance [DIR]``: exit 0 when all vectors pass or deviate as stated."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conformance.runner import VECTORS, Report, run_folder

SHOWN_FAILURES = 100
"""Failing vectors shown in full; past that only their number says something."""


def main(arguments: list[str]) -> int:
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        sys.stderr.write("usage: python -m tests.conformance [DIR]\n")
        return 2
    folder = Path(arguments[0]) if arguments else VECTORS
    try:
        report = run_folder(folder)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"cannot run {folder}: {error}\n")
        return 2
    sys.stdout.write(describe(report))
    return 1 if report.failed else 0


def describe(report: Report) -> str:
    lines = [f"FAIL {result.vector.id}\n{result.detail}" for result in report.failed]
    if len(lines) > SHOWN_FAILURES:
        lines[SHOWN_FAILURES:] = [f"... and {len(lines) - SHOWN_FAILURES} more"]
    lines.extend(f"skipped {count}: {reason}" for reason, count in report.skip_reasons())
    counts = f"{len(report.passed)} passed, {len(report.failed)} failed"
    if report.skipped:
        counts += f", {len(report.skipped)} skipped"
    return "\n".join([*lines, counts]) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
