"""``memhtml doctor`` and ``memhtml publish``: a store kept well, and pages to browse it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Command, Flag, Kind
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store, root_of
from memhtml.model.errors import InvalidFlag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.doctor.doctor import Examination, Repair
    from memhtml.doctor.finding import Finding

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="doctor",
        summary="Look at every file of the store for what is wrong, and mend what is safe to mend.",
        description=(
            "Every file of the tree is looked at, and the clone around it. --fix mends what cannot "
            "lose anything, as one commit, and builds the index anew where it drifted; no file is "
            "deleted and no article touched. Files with changes that are not committed are left "
            "alone."
        ),
        flags=(
            Flag(name="fix", kind=Kind.BOOLEAN, summary="mend what can be mended"),
            Flag(
                name="dry-run", kind=Kind.BOOLEAN, summary="with --fix: only tell what it would do"
            ),
            Flag(name="strict", kind=Kind.BOOLEAN, summary="warnings are bad news too"),
            Flag(
                name="watch",
                kind=Kind.BOOLEAN,
                summary="look again whenever the store changes, until Ctrl-C",
            ),
            Flag(
                name="answers",
                kind=Kind.BOOLEAN,
                summary="ask every question that memories say they answer, however many",
            ),
        ),
        response_types=("doctor.report",),
        errors=("ERR_NOT_A_STORE", "ERR_WRITE_CONFLICT", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE"),
        exit_statuses=(
            (0, "the store is healthy, or was mended"),
            (1, "the store is not healthy, or it could not be looked at"),
            (2, "the call is wrong"),
        ),
        examples=("memhtml doctor", "memhtml doctor --fix --dry-run"),
    ),
    Command(
        name="publish",
        summary="Write the pages for browsing: one a folder, one a tag, one an entity.",
        description=(
            "Pages describe what is committed. A second publish of the same memories changes "
            "nothing, and pages that list nothing any more are removed. A file that memhtml did "
            "not make is never replaced unless --replace says so."
        ),
        flags=(
            Flag(
                name="replace",
                kind=Kind.BOOLEAN,
                summary="replace files at the places of pages, whoever made them",
            ),
        ),
        response_types=("publish.report",),
        errors=("ERR_NOT_A_STORE", "ERR_WRITE_CONFLICT", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE"),
        examples=("memhtml publish",),
    ),
)

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def run(call: Call) -> Success:
    """Examine, mend or publish."""
    if call.command.name == "publish":
        return _publish(call)
    if not call.is_on("watch"):
        return _doctor(call)
    from memhtml.cli.watch import watched  # noqa: PLC0415 - only here

    if call.is_on("fix"):
        raise call.refuse("watch", "not with --fix, which changes the store itself")
    return watched(call, lambda: _doctor(call))


def _doctor(call: Call) -> Success:
    from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - help needs none
    from memhtml.doctor.doctor import examine, mend  # noqa: PLC0415 - help needs none
    from memhtml.doctor.finding import Gravity  # noqa: PLC0415 - as above

    fix, dry_run = call.is_on("fix"), call.is_on("dry-run")
    if dry_run and not fix:
        raise InvalidFlag(
            "--dry-run goes with --fix", suggestions=("memhtml doctor --fix --dry-run",)
        )
    all_answers = call.is_on("answers")
    with open_store(call) as corpus:
        with progress_bar(call, "examining") as progress:
            found = examine(corpus, all_answers=all_answers, progress=progress)
        repair = mend(corpus, found, dry_run=dry_run) if fix else None
        after = found
        if repair is not None and not dry_run:
            with progress_bar(call, "examining again") as progress:
                after = examine(corpus, all_answers=all_answers, progress=progress)
    grave = {Gravity.ERROR, Gravity.WARNING} if call.is_on("strict") else {Gravity.ERROR}
    is_healthy = not any(finding.gravity in grave for finding in after.findings)

    def text(screen: Screen) -> str:
        return "\n".join(_report(found, after, repair, screen, dry_run=dry_run)) + "\n"

    repaired: Json = None
    if repair is not None:
        repaired = {
            "dryRun": dry_run,
            "mended": [_finding_json(finding) for finding in repair.mended],
            "leftUncommitted": [_finding_json(finding) for finding in repair.left],
            "commitSha": repair.commit,
        }
    return Success(
        "doctor.report",
        {
            "healthy": is_healthy,
            "filesExamined": found.files,
            "findings": [_finding_json(finding) for finding in found.findings],
            "repaired": repaired,
            "remaining": [_finding_json(f) for f in after.findings] if repair else None,
        },
        text,
        exit_status=0 if is_healthy else 1,
    )


def _finding_json(finding: Finding) -> dict[str, Json]:
    return {
        "code": finding.code,
        "severity": finding.gravity.value,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "fixable": finding.is_fixable,
        "hint": finding.hint,
    }


def _report(
    found: Examination,
    after: Examination,
    repair: Repair | None,
    screen: Screen,
    *,
    dry_run: bool,
) -> Iterator[str]:
    from memhtml.cli.screen import plural, printable  # noqa: PLC0415 - only for people

    shown = found if repair is None or dry_run else after
    if repair is not None:
        verb = "would mend" if dry_run else "mended"
        for finding in repair.mended:
            place = printable(finding.path or "this clone")
            yield f"{screen.paint(verb, 'green')} {place}: {printable(finding.message)}"
        for finding in repair.left:
            yield (
                f"{screen.paint('left', 'yellow')} {printable(finding.path or '')}: "
                "it has changes that are not committed"
            )
        if repair.commit:
            yield screen.paint(f"commit {repair.commit[:10]}", "dim")
        if repair.mended or repair.left:
            yield ""
    for finding in shown.findings:
        yield from _finding_lines(finding, screen)
    counts: dict[str, int] = {}
    for finding in shown.findings:
        counts[finding.gravity] = counts.get(finding.gravity, 0) + 1
    told = ", ".join(plural(count, gravity) for gravity, count in counts.items())
    verdict = "healthy" if shown.is_healthy else "not healthy"
    colour = "green" if shown.is_healthy else "red"
    yield f"{screen.paint(verdict, colour)}: {plural(shown.files, 'file')} examined" + (
        f", {told}" if told else ""
    )
    if repair is None and any(finding.is_fixable for finding in found.findings):
        yield "memhtml doctor --fix mends what is safe to mend"


def _finding_lines(finding: Finding, screen: Screen) -> Iterator[str]:
    from memhtml.cli.screen import printable  # noqa: PLC0415 - only for people

    place = printable(finding.path or "this clone")
    if finding.line is not None:
        place += f":{finding.line}:{finding.column}"
    word = screen.paint(finding.gravity, _COLOURS[finding.gravity])
    yield f"{screen.paint(place, 'bold')}: {word} {finding.code}: {printable(finding.message)}"
    if finding.hint is not None:
        yield screen.paint(f"  {printable(finding.hint)}", "dim")


def _publish(call: Call) -> Success:
    from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - help needs none
    from memhtml.publish import publish  # noqa: PLC0415 - as above

    with open_store(call) as corpus, progress_bar(call, "reading pages") as progress:
        done = publish(corpus, replace=call.is_on("replace"), progress=progress)

    def text(screen: Screen) -> str:
        import os.path  # noqa: PLC0415 - only for people

        from memhtml.cli.screen import printable  # noqa: PLC0415 - as above

        if done.commit is None:
            return f"nothing to do: all {done.pages} pages stand as they should\n"
        told = f"wrote {len(done.written)} and removed {len(done.removed)} of {done.pages} pages"
        page = printable(os.path.join(root_of(call), "index.html"))
        return f"{screen.paint(told, 'green')}\nopen {page} in a browser\n"

    return Success(
        "publish.report",
        {
            "artifacts": done.pages,
            "written": len(done.written),
            "removed": len(done.removed),
            "paths": [*done.written],
            "removedPaths": [*done.removed],
            "commitSha": done.commit,
        },
        text,
    )
