"""What a run has done so far, line by line: the memory of the runner itself.

The journal stands in the git directory, beside the working tree of its run, so it is in nobody's
way and dies with the run. Each phase appends a line once its commits are made; a run that was
killed goes on after the last whole line. When a run is done the same lines go into the store as
its record, and travel with the branch.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from memhtml.sleep.phase import Decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

__all__ = [
    "FAILED",
    "OK",
    "SKIPPED",
    "Begun",
    "CommitMade",
    "Journal",
    "PhaseDone",
    "lines_of",
    "read_lines",
]

OK, FAILED, SKIPPED = "ok", "failed", "skipped"


class Begun(NamedTuple):
    """How a run was begun."""

    run_id: str
    base: str
    """The commit it started from."""
    instant: str
    """The one instant of the run."""
    deep: bool = False
    model: str | None = None
    phases: tuple[str, ...] = ()
    """Those that were asked for, in order."""


class CommitMade(NamedTuple):
    """One commit of a phase, with what it decided."""

    sha: str
    subject: str
    decisions: tuple[Decision, ...]


class PhaseDone(NamedTuple):
    """What became of a phase."""

    phase: str
    status: str
    """``ok``, ``failed`` or ``skipped``."""
    counts: Mapping[str, int] = {}
    commits: tuple[CommitMade, ...] = ()
    detail: str | None = None
    calls: int = 0
    """Calls of the model."""
    tokens: int = 0
    seconds: float = 0.0
    marks: tuple[Mapping[str, str], ...] = ()
    """What takes effect outside the tree once the run is merged."""


class Journal:
    """The file of one run."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, begun: Begun) -> None:
        """Write the first line.

        Raises:
            OSError: The folder cannot be written.
        """
        self._append(_first(begun))

    def add(self, done: PhaseDone) -> None:
        """Append a phase and wait for the disk: what is told is never done again."""
        self._append(_line(done))

    def end(self) -> None:
        """Say that the run went through."""
        self._append({"kind": "ended"})

    def read(self) -> tuple[Begun | None, tuple[PhaseDone, ...], bool]:
        """Return how the run began, the last word on each phase, and whether it went through."""
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            return None, (), False
        return read_lines(lines)

    def _append(self, line: Mapping[str, object]) -> None:
        text = json.dumps(line, ensure_ascii=False) + "\n"
        with self._path.open("ab") as file:
            # A killed process may have left half a line, which must not swallow this one.
            if file.tell() and not _ends_whole(self._path):
                file.write(b"\n")
            file.write(text.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())


def lines_of(begun: Begun, done: Iterable[PhaseDone]) -> str:
    """Return the journal of a run that went through, as one text."""
    lines = [_first(begun), *map(_line, done), {"kind": "ended"}]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def read_lines(lines: Iterable[str]) -> tuple[Begun | None, tuple[PhaseDone, ...], bool]:
    """Read the lines of a journal or a record; what is no whole line of ours is passed over."""
    begun: Begun | None = None
    phases: dict[str, PhaseDone] = {}
    ended = False
    for text in lines:
        try:
            line = json.loads(text)
            kind = line.pop("kind")
            if kind == "begun":
                begun = Begun(**{**line, "phases": tuple(line["phases"])})
            elif kind == "phase":
                done = _phase(line)
                phases[done.phase] = done
            elif kind == "ended":
                ended = True
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return begun, tuple(phases.values()), ended


def _first(begun: Begun) -> dict[str, object]:
    return {"kind": "begun", **begun._asdict()}


def _line(done: PhaseDone) -> dict[str, object]:
    commits = [
        {
            "sha": commit.sha,
            "subject": commit.subject,
            "decisions": [
                {**decision._asdict(), "evidence": dict(decision.evidence)}
                for decision in commit.decisions
            ],
        }
        for commit in done.commits
    ]
    return {"kind": "phase", **done._asdict(), "counts": dict(done.counts), "commits": commits}


def _phase(line: dict[str, Any]) -> PhaseDone:
    commits = line.pop("commits")
    done = PhaseDone(**line)
    return done._replace(
        commits=tuple(
            CommitMade(
                commit["sha"],
                commit["subject"],
                tuple(
                    Decision(**{**decision, "evidence": tuple(decision["evidence"].items())})
                    for decision in commit["decisions"]
                ),
            )
            for commit in commits
        ),
        marks=tuple(done.marks),
    )


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
