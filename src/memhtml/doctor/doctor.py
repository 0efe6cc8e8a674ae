"""Examine a store, and mend what can be mended without losing anything.

A fix is head edits, as one plan and one commit, or something about the clone: finishing what a
crashed process began, building the index anew, registering the merge driver. No fix deletes a file
or touches an article. What was edited by hand and not committed is left to its author.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from memhtml.doctor.answers import QUESTIONS_ASKED, unanswered
from memhtml.doctor.finding import CODES, Finding, Gravity
from memhtml.doctor.rules import RULES
from memhtml.doctor.sleepruns import forgotten_runs
from memhtml.doctor.survey import survey
from memhtml.format.edit import SetMeta, apply_edits, read_meta
from memhtml.format.parse import parse
from memhtml.model.instants import stamp
from memhtml.model.plural import plural
from memhtml.store.archive import later
from memhtml.store.mergedriver import merge_driver_state, register
from memhtml.store.plan import Planned, Put, subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from memhtml.corpus import Corpus
    from memhtml.doctor.survey import Survey
    from memhtml.model.ports import Progress
    from memhtml.store.plan import Step, View

__all__ = ["Examination", "Repair", "examine", "mend"]

_GRAVITIES = list(Gravity)
_ATTEMPTS = 5


class Examination(NamedTuple):
    """What was found."""

    findings: tuple[Finding, ...]
    """Gravest first, then by path and place."""
    files: int
    """Files that were looked at."""

    @property
    def is_healthy(self) -> bool:
        """Whether nothing grave was found; warnings and notes are not grave."""
        return not any(finding.gravity is Gravity.ERROR for finding in self.findings)


class Repair(NamedTuple):
    """What was, or would be, mended."""

    mended: tuple[Finding, ...]
    left: tuple[Finding, ...]
    """Could be mended but for changes of the same file that are not committed."""
    commit: str | None
    """None when nothing in the tree had to change, or in a dry run."""


def examine(
    corpus: Corpus, *, all_answers: bool = False, progress: Progress | None = None
) -> Examination:
    """Look at the whole store; change nothing but the index, which is brought up to date.

    With *all_answers* every question that memories say they answer is asked, and not the first few.
    """
    surveyed = survey(corpus, progress=progress)
    found = [finding for rule in RULES for finding in rule(surveyed)]
    found += _about_clone(corpus)
    found += _about_merging(corpus)
    found += forgotten_runs(corpus)
    found += _drift(corpus, surveyed)
    if not any(finding.code == "index-drift" for finding in found):
        found += unanswered(corpus, limit=None if all_answers else QUESTIONS_ASKED)
    return Examination(tuple(sorted(found, key=_order)), len(surveyed.memories))


def mend(corpus: Corpus, examination: Examination, *, dry_run: bool = False) -> Repair:
    """Mend what *examination* found and can be mended, tree changes as one commit.

    Raises:
        WriteConflict: A file changed after it was examined.
        Busy: Another process kept a lock for longer than we wait.
    """
    dirty = {finding.path for finding in examination.findings if finding.code == "uncommitted"}
    fixable = [finding for finding in examination.findings if finding.is_fixable]
    mended = [f for f in fixable if not (f.edits and f.path in dirty)]
    left = tuple(f for f in fixable if f.edits and f.path in dirty)
    if dry_run:
        return Repair(tuple(mended), left, None)
    other = {finding.other_fix for finding in mended}
    if "register" in other:
        register(corpus.repo.where)
    # Taking the writers' lock finishes or undoes what a crashed process began.
    _, commit = corpus.carry_out(lambda view, now: _plan(mended, view, now))
    if "rebuild" in other:
        corpus.rebuild()
    else:
        corpus.update()
    return Repair(tuple(mended), left, commit)


def _plan(findings: Iterable[Finding], view: View, now: datetime) -> Planned[None]:
    edits_of: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.path is not None and finding.edits:
            edits_of[finding.path].append(finding)
    steps: list[Step] = []
    for path, found in edits_of.items():
        file = view.find(path)
        if file is None:
            continue
        edits = [edit for finding in found for edit in finding.edits]
        data = apply_edits(file.data, edits)
        if data != file.data:
            updated = later(stamp(now), read_meta(data, "memhtml-updated"))
            data = apply_edits(data, (SetMeta("memhtml-updated", updated),))
            steps.append(Put(path, data, file.sha))
    count = sum(map(len, edits_of.values()))
    return Planned(
        result=None,
        steps=tuple(steps),
        subject=subject("doctor", plural(count, "repair")),
    )


def _about_clone(corpus: Corpus) -> Iterator[Finding]:
    """Yield what is wrong with this clone rather than with its files."""
    for leftover in corpus.repo.leftovers():
        yield Finding(
            code="crash-leftover",
            message=leftover.message,
            path=leftover.path,
            other_fix="recover" if leftover.is_ours else None,
            hint=None if leftover.is_ours else "remove it, once no git command runs",
        )
    state = corpus.repo.fault()
    if state is not None:
        yield Finding(code="repository-state", message=state)
    if not corpus.repo.has_identity():
        yield Finding(
            code="identity-missing",
            message="commits bear a stand-in name",
            hint="git config --global user.name 'Your Name', and user.email likewise",
        )


def _about_merging(corpus: Corpus) -> Iterator[Finding]:
    """Yield what keeps git from merging memories in this clone."""
    for fault in merge_driver_state(corpus.repo.where).faults:
        yield Finding(
            code="merge-driver-missing",
            message=f"git cannot merge memories here: the driver is {fault.value}",
            other_fix="register",
        )


def _drift(corpus: Corpus, surveyed: Survey) -> Iterator[Finding]:
    """Yield where the index, brought up to date, disagrees with the tree."""
    corpus.update()
    damage = corpus.index_damage()
    if damage is not None:
        # What a damaged index says of single files is worth nothing.
        message = f"the file of the index is damaged: {damage}"
        yield Finding(code="index-drift", message=message, other_fix="rebuild")
        return
    suspects = _differing(corpus, {file.path: file.sha for file in surveyed.valid()})
    for _ in range(_ATTEMPTS):
        if not suspects:
            return
        # Others may have written since the survey. What agrees even once has not drifted.
        corpus.update()
        there = {path: _sha_of_memory(corpus, path) for path in suspects}
        now = _differing(corpus, {path: sha for path, sha in there.items() if sha is not None})
        suspects = {path: message for path, message in now.items() if path in suspects}
    for path, message in suspects.items():
        yield Finding(code="index-drift", path=path, message=message, other_fix="rebuild")


def _differing(corpus: Corpus, there: Mapping[str, str]) -> dict[str, str]:
    """Return each path of which the index says something else than *there*, and what."""
    indexed = corpus.indexed_files()
    found: dict[str, str] = {}
    for path in sorted(indexed.keys() | there.keys()):
        if indexed.get(path) == there.get(path):
            continue
        if path not in indexed:
            found[path] = "it is not in the index"
        elif path not in there:
            found[path] = "the index has it, and the tree has not"
        else:
            found[path] = "the index has another version of it"
    return found


def _sha_of_memory(corpus: Corpus, path: str) -> str | None:
    data = corpus.read_file(path)
    return corpus.sha_of(data) if data is not None and parse(data).is_valid else None


def _order(finding: Finding) -> tuple[int, int, str, int, int]:
    return (
        _GRAVITIES.index(finding.gravity),
        list(CODES).index(finding.code),
        finding.path or "",
        finding.line or 0,
        finding.column or 0,
    )
