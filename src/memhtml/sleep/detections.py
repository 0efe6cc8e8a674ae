"""Findings as tasks: what only a person can decide is opened once, and closed when it is settled.

The key of a finding names its task's file, so the same finding never has two tasks: not while one
is open, and not after a person closed it, for that is an answer. What sleep closes itself, because
it does not see it any more, bears a tag that says so, and may be opened again.

Every quotation is looked up in the memory it is said to come from before a task repeats it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.edit import AddMeta, SetMeta
from memhtml.format.escape import escape_attribute, escape_text
from memhtml.model.edges import href_of
from memhtml.model.errors import InvalidMemory, SecretFound, WriteConflict
from memhtml.model.instants import is_instant
from memhtml.model.memory import Draft
from memhtml.model.paths import archive_year, memory_path
from memhtml.model.slugs import slugify
from memhtml.model.vocabulary import MemoryType, TaskStatus
from memhtml.model.whitespace import collapse
from memhtml.scoring.frames import frame_key
from memhtml.sleep.phase import Decision, Proposal
from memhtml.store.archive import archiving
from memhtml.store.plan import Overlay
from memhtml.store.write import plan_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memhtml.sleep.phase import Context, Finding
    from memhtml.sleep.population import Live, Population
    from memhtml.store.plan import Step

__all__ = [
    "AUTHOR",
    "DETECTED",
    "MACHINE_CLOSED",
    "Detected",
    "open_keys",
    "plan_detections",
    "task_key",
]

AUTHOR = "agent:sleep"
DETECTED = "detected"
MACHINE_CLOSED = "machine-closed"

FOLDER = "areas/inbox/tasks"
TITLE_CHARS = 90
REMEMBERED_YEARS = 10
"""For so long the answer of a person who closed a task holds."""

_KEY_DIGITS = 12
_SLUG_CHARS = 48
_CONCERNS = "concerns"
"""Facet that names each memory a task is about."""

_key_re = re.compile(rf"det-([0-9a-f]{{{_KEY_DIGITS}}})(?:-|\.html$)")


class Detected(NamedTuple):
    """What became of the findings of one phase."""

    proposal: Proposal | None
    minted: int
    """Tasks opened, to be taken off the budget."""
    counts: dict[str, int]


def open_keys(population: Population, detector: str) -> frozenset[str]:
    """Return the keys, as `task_key` makes them, of the open tasks that *detector* opened."""
    tasks = (task for task in population.tasks if not task.archived and detector in task.tags)
    return frozenset(key for task in tasks if (key := _key_of(task)) is not None)


def task_key(detector: str, key: str) -> str:
    """Return the 12 digits that name the task of a finding, however *key* is spaced or cased.

    >>> task_key("dedup-merge", "a.html  b.html") == task_key("Dedup-Merge", "A.html b.html ")
    True
    """
    named = "\0".join(map(_normal, (detector, key)))
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]


def plan_detections(
    detector: str,
    findings: Sequence[Finding],
    context: Context,
    *,
    budget: int,
    judged_all: bool,
) -> Detected:
    """Plan the tasks for *findings*, *budget* at most, and the end of those that are settled.

    Only after a phase that *judged_all* does a finding that is not seen again count as settled. A
    task that a person has taken up, by whatever status, is theirs.
    """
    tasks = [task for task in context.population.tasks if _key_of(task) is not None]
    counts = dict.fromkeys(
        ("minted", "open", "dismissed", "unverified", "framed", "capped", "closed"), 0
    )
    desk = _Desk(context, tasks)
    seen: set[str] = set()
    for finding in findings:
        key = task_key(finding.detector, finding.key)
        if key in seen:
            continue
        seen.add(key)
        verdict = desk.judge(finding, key) or ("capped" if counts["minted"] >= budget else "minted")
        if verdict == "minted" and not desk.open(finding, key):
            verdict = "unverified"
        counts[verdict] += 1
    if judged_all:
        counts["closed"] = desk.close(task for task in tasks if _is_settled(task, detector, seen))
    told = {f"tasks{name.capitalize()}": count for name, count in counts.items() if count}
    return Detected(desk.proposal(), counts["minted"], told)


class _Desk:
    """The tasks there are, and those being opened and closed."""

    def __init__(self, context: Context, tasks: Iterable[Live]) -> None:
        self._context = context
        self._overlay = Overlay(context.view)
        self._steps: list[Step] = []
        self._decisions: list[Decision] = []
        self._open: set[str] = set()
        self._dismissed: set[str] = set()
        self._framed: set[tuple[str, tuple[str, ...]]] = set()
        for task in tasks:
            key = _key_of(task) or ""
            if not task.archived:
                self._open.add(key)
                self._remember(task.gist, (f.value for f in task.facets if f.name == _CONCERNS))
            elif MACHINE_CLOSED not in task.tags and self._is_remembered(task):
                self._dismissed.add(key)

    def judge(self, finding: Finding, key: str) -> str | None:
        """Return why no task is opened for *finding*; None when one may be."""
        if key in self._open:
            return "open"
        if key in self._dismissed:
            return "dismissed"
        if not self._holds(finding):
            return "unverified"
        if self._frame(finding.claim, finding.paths) in self._framed:
            return "framed"
        return None

    def open(self, finding: Finding, key: str) -> bool:
        """Plan the task of *finding*; return False when it cannot be written."""
        title = _cut(finding.claim, TITLE_CHARS)
        slug = slugify(finding.claim)[:_SLUG_CHARS].rstrip("-")
        draft = Draft(
            title=title,
            memory_type=MemoryType.TASK,
            article_html=_article(finding, self._context),
            path=f"{FOLDER}/det-{key}-{slug}.html",
            tags=(DETECTED, finding.detector),
            author=AUTHOR,
            task_status=TaskStatus.TODO,
            due_at=finding.due if finding.due and is_instant(finding.due) else None,
        )
        try:
            planned = plan_write(draft, self._overlay, now=self._context.now)
        except (InvalidMemory, SecretFound, WriteConflict):
            return False
        self._add(planned.steps)
        self._open.add(key)
        self._remember(finding.claim, finding.paths)
        self._decisions.append(
            Decision(
                kind="task opened",
                path=planned.result.path,
                why=finding.claim,
                other=finding.paths[0] if finding.paths else None,
                evidence=(
                    *(("concerns", path) for path in finding.paths),
                    *((f"quote from {path}", words) for path, words in finding.quotes),
                    *finding.measured,
                ),
            )
        )
        return True

    def close(self, tasks: Iterable[Live]) -> int:
        """Plan the end of *tasks*; return how many they are."""
        closed = 0
        edits = (
            SetMeta("memhtml-task-status", TaskStatus.DONE),
            AddMeta("memhtml-tag", MACHINE_CLOSED),
        )
        for task in tasks:
            file = self._overlay.find(task.path)
            if file is None:
                continue
            path = memory_path(task.path)
            place, steps = archiving(path, file, self._overlay, now=self._context.now, edits=edits)
            self._add(steps)
            closed += 1
            self._decisions.append(
                Decision(
                    kind="task closed",
                    path=task.path,
                    why="What it asks about is not there any more, and nobody had taken it up.",
                    other=place,
                )
            )
        return closed

    def proposal(self) -> Proposal | None:
        """Return everything planned as one commit."""
        if not self._steps:
            return None
        kinds = [decision.kind for decision in self._decisions]
        parts = [
            f"{count} {kind.partition(' ')[2]}"
            for kind in ("task opened", "task closed")
            if (count := kinds.count(kind))
        ]
        return Proposal(
            subject=f"tasks: {', '.join(parts)}",
            steps=tuple(self._steps),
            decisions=tuple(self._decisions),
        )

    def _add(self, steps: Iterable[Step]) -> None:
        steps = tuple(steps)
        self._overlay.add(steps)
        self._steps += steps

    def _holds(self, finding: Finding) -> bool:
        """Whether every memory concerned exists and every quotation stands there verbatim."""
        by_path = self._context.population.by_path
        if not all(path in by_path for path in finding.paths):
            return False
        return all(
            path in by_path
            and (quoted := collapse(words))
            and quoted in collapse(by_path[path].body)
            for path, words in finding.quotes
        )

    def _remember(self, claim: str, concerns: Iterable[str]) -> None:
        frame = self._frame(claim, concerns)
        if frame is not None:
            self._framed.add(frame)

    def _frame(self, claim: str, concerns: Iterable[str]) -> tuple[str, tuple[str, ...]] | None:
        """Return what two tasks share that ask the same of the same memories.

        The slot of the claim alone does not do: every pair of duplicates is asked about in the
        same words. None where it is about no memory, or its claim fills no slot.
        """
        key, about = frame_key(claim), tuple(sorted(set(concerns)))
        return None if key is None or not about else (key, about)

    def _is_remembered(self, task: Live) -> bool:
        year = archive_year(task.path)
        return year is None or self._context.now.year - year <= REMEMBERED_YEARS


def _is_settled(task: Live, detector: str, seen: set[str]) -> bool:
    return (
        not task.archived
        and task.author == AUTHOR
        and task.task_status == TaskStatus.TODO
        and {DETECTED, detector} <= set(task.tags)
        and _key_of(task) not in seen
    )


def _article(finding: Finding, context: Context) -> str:
    lines = [f"<p><mark>{escape_text(finding.claim)}</mark></p>"]
    for path, words in finding.quotes:
        href = escape_attribute(href_of(path))
        lines.append(f'<p><q cite="{href}">{escape_text(words)}</q></p>')
    rows = [(_CONCERNS, _link(path, context)) for path in finding.paths]
    rows += [(name, _value(value)) for name, value in finding.measured]
    if rows:
        lines.append("<dl>")
        lines += (f"<dt>{escape_text(name)}</dt><dd>{value}</dd>" for name, value in rows)
        lines.append("</dl>")
    lines.append(
        f"<p>Noticed by {escape_text(finding.detector)} in {escape_text(context.run_id)}. This is "
        "a proposal: once it is done it is not asked again, and it closes itself when what it asks "
        "about is settled.</p>"
    )
    return "\n".join(lines)


def _link(path: str, context: Context) -> str:
    known = context.population.by_path.get(path)
    title = escape_attribute(known.title if known else path)
    return f'<a href="{escape_attribute(href_of(path))}" title="{title}">{escape_text(path)}</a>'


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return escape_text(value)
    return f'<data value="{value:g}">{value:g}</data>'


def _key_of(task: Live) -> str | None:
    match = _key_re.match(task.path.rpartition("/")[2])
    return match[1] if match and DETECTED in task.tags else None


def _normal(text: str) -> str:
    return collapse(unicodedata.normalize("NFC", text).lower())


def _cut(text: str, most: int) -> str:
    line = collapse(text)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
