"""What a run leaves in the store: a page for people, and the same as lines for programs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from memhtml.format.escape import escape_attribute, escape_text
from memhtml.model.edges import href_of
from memhtml.model.plural import plural
from memhtml.sleep.journal import FAILED, lines_of
from memhtml.sleep.runs import record_path, report_path

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from memhtml.sleep.journal import Begun, PhaseDone
    from memhtml.sleep.phase import Decision

__all__ = ["counted", "headline", "report_files"]

_MANY = {
    "arc begins": "arcs begin",
    "arc grows": "arcs grow",
    "link dropped": "links dropped",
    "link followed": "links followed",
    "task closed": "tasks closed",
    "task opened": "tasks opened",
}
"""What decisions that name a thing are called where there are several of a kind."""


def report_files(
    begun: Begun, done: Sequence[PhaseDone], tip: str, standing: Container[str]
) -> dict[str, bytes]:
    """Return the report and the record of a run whose last commit is *tip*, by path.

    *standing* are the files of that commit: what is not there, nor in the archive, has no link.
    """
    return {
        report_path(begun.run_id): _page(begun, done, tip, standing).encode("utf-8", "replace"),
        record_path(begun.run_id): lines_of(begun, done).encode("utf-8", "replace"),
    }


def headline(done: Iterable[PhaseDone]) -> str:
    """Return in a sentence what a run decided.

    >>> headline(())
    'Nothing was changed.'
    """
    counts: dict[str, int] = {}
    for phase in done:
        for commit in phase.commits:
            for decision in commit.decisions:
                counts[decision.kind] = counts.get(decision.kind, 0) + 1
    told = ", ".join(counted(count, kind) for kind, count in counts.items())
    return f"Memories: {told}." if told else "Nothing was changed."


def counted(count: int, kind: str) -> str:
    """Return how many decisions there are of a *kind*.

    >>> counted(3, "task opened"), counted(1, "task opened"), counted(3, "merged")
    ('3 tasks opened', '1 task opened', '3 merged')
    """
    return plural(count, kind, _MANY.get(kind, kind))


def _page(begun: Begun, done: Sequence[PhaseDone], tip: str, standing: Container[str]) -> str:
    year = begun.instant[:4]
    rows = [
        ("run", begun.run_id),
        ("instant", begun.instant),
        ("from commit", begun.base),
        ("to commit", tip),
        ("model", begun.model or "none"),
        ("calls of the model", str(sum(phase.calls for phase in done))),
    ]
    facts = "\n".join(f"<dt>{escape_text(k)}</dt><dd>{escape_text(v)}</dd>" for k, v in rows)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape_text(begun.run_id)}</title>
</head>
<body>
<article>
<p><mark>{escape_text(headline(done))}</mark></p>
<dl>
{facts}
</dl>
<table>
<tr><th>phase</th><th>status</th><th>counts</th><th>commits</th><th>note</th></tr>
{"".join(map(_row, done))}</table>
{"".join(_folds(done, year, standing))}</article>
</body>
</html>
"""


def _row(phase: PhaseDone) -> str:
    counts = ", ".join(f"{name} {value}" for name, value in phase.counts.items() if value)
    shas = ", ".join(commit.sha[:10] for commit in phase.commits)
    cells = (phase.phase, phase.status, counts, shas, phase.detail or "")
    return "<tr>" + "".join(f"<td>{escape_text(cell)}</td>" for cell in cells) + "</tr>\n"


def _folds(done: Iterable[PhaseDone], year: str, standing: Container[str]) -> Iterator[str]:
    for phase in done:
        if phase.status == FAILED:
            note = escape_text(phase.detail or "")
            summary = f"<summary>{phase.phase} failed</summary>"
            yield f"<details open>{summary}\n<p>{note}</p></details>\n"
        decisions = [decision for commit in phase.commits for decision in commit.decisions]
        for kind, group in groupby(decisions, key=lambda decision: decision.kind):
            items = list(group)
            lines = "".join(_item(item, year, standing) for item in items)
            summary = f"{phase.phase}: {escape_text(counted(len(items), kind))}"
            yield f"<details><summary>{summary}</summary>\n<ul>\n{lines}</ul></details>\n"


def _item(decision: Decision, year: str, standing: Container[str]) -> str:
    where = _link(decision.path, year, standing)
    target = f" → {_link(decision.other, year, standing)}" if decision.other else ""
    rests = "; ".join(f"{name} {value}" for name, value in decision.evidence)
    more = f" <small>{escape_text(rests)}</small>" if rests else ""
    return f"<li>{where}{target}: {escape_text(decision.why)}{more}</li>\n"


def _link(path: str, year: str, standing: Container[str]) -> str:
    places = (path, f"archive/{year}/{path}")
    place = next((place for place in places if place in standing), None)
    if place is None:
        return escape_text(path)
    # From .memhtml/sleep/ the top of the store is two folders up.
    return f'<a href="{escape_attribute("../.." + href_of(place))}">{escape_text(path)}</a>'
