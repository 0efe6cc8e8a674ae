"""A review as one page: what changed, why, before and after, and on what evidence.

Everything a memory says is shown as text, and nothing on the page runs.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from memhtml.format.escape import escape_attribute, escape_text
from memhtml.format.pages import still_page
from memhtml.model.history import DiffKind
from memhtml.model.shell import quoted
from memhtml.sleep.report import headline
from memhtml.sleep.review import How

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memhtml.sleep.journal import PhaseDone
    from memhtml.sleep.phase import Decision
    from memhtml.sleep.review import CommitReview, FileChange, HeadChange, Review

__all__ = ["PAGE_MARK", "review_page"]

PAGE_MARK = '<meta name="generator" content="memhtml sleep review">'
"""What every such page has, so that no other file is written over."""

_ROUTINE = frozenset({"updated", "archived", "status"})
"""Stamps that every change of its kind brings; shown, and not dwelt upon."""


def review_page(review: Review, *, store: str) -> str:
    """Return *review* of a run of the store called *store* as a page."""
    style = resources.files("memhtml").joinpath("data/review.css").read_text(encoding="utf-8")
    run = review.run
    facts = (
        ("Store", store),
        ("State", run.state.value),
        ("Instant", run.begun.instant or "unknown"),
        ("Model", run.begun.model or "none"),
        ("From", run.base[:10]),
        ("To", run.tip[:10]),
    )
    told = "".join(f"<dt>{k}</dt><dd>{escape_text(v)}</dd>" for k, v in facts)
    name = escape_text(quoted(run.run_id))
    body = f"""
<header>
<h1>{escape_text(run.run_id)}</h1>
<p class="lead">{escape_text(headline(run.phases))}</p>
<dl class="facts">{told}</dl>
{_contents(review)}
</header>
<main>
{"".join(_commits(review.commits)) or "<p>This run changed nothing.</p>"}
{_phases(run.phases)}
</main>
<footer>
<p>Take it all: <code>memhtml sleep merge {name}</code>.
Leave a commit or a phase out: <code>--drop NAME</code>. Take only some: <code>--only NAME</code>.
Throw it away: <code>memhtml sleep drop {name}</code>.</p>
</footer>
"""
    return still_page(title=f"{run.run_id} of {store}", style=style, mark=PAGE_MARK, body=body)


def _contents(review: Review) -> str:
    if not review.commits:
        return ""
    items = "".join(
        f'<li><a href="#{commit.sha[:10]}">{escape_text(commit.phase)}</a> '
        f"{escape_text(_plain(commit))}</li>"
        for commit in review.commits
    )
    return f"<nav><ol>{items}</ol></nav>"


def _commits(commits: Sequence[CommitReview]) -> Iterator[str]:
    for commit in commits:
        files = {file.path: file for file in commit.files}
        files |= {file.from_path: file for file in commit.files if file.from_path}
        shown: set[str] = set()
        decisions = "".join(_decision(each, files, shown) for each in commit.decisions)
        rest = [file for file in commit.files if file.path not in shown]
        yield f"""<section id="{commit.sha[:10]}">
<h2>{escape_text(commit.phase)} <code>{commit.sha[:10]}</code></h2>
<p>{escape_text(_plain(commit))}</p>
{f'<ol class="decisions">{decisions}</ol>' if decisions else ""}
{_rest(rest, bool(decisions))}
</section>
"""


def _plain(commit: CommitReview) -> str:
    return commit.subject.partition("): ")[2] or commit.subject


def _decision(decision: Decision, files: dict[str, FileChange], shown: set[str]) -> str:
    change = files.get(decision.path)
    other = files.get(decision.other) if decision.other else None
    parts = [
        f'<p class="why"><b>{escape_text(decision.kind)}</b> {escape_text(decision.why)}</p>',
        f'<p class="path">{escape_text(decision.path)}'
        + (f" → {escape_text(decision.other)}" if decision.other else "")
        + "</p>",
    ]
    if decision.evidence:
        terms = "".join(
            f"<dt>{escape_text(name)}</dt><dd>{escape_text(_value(value))}</dd>"
            for name, value in decision.evidence
        )
        parts.append(f'<dl class="evidence">{terms}</dl>')
    for each in (change, other):
        if each is not None and each.path not in shown:
            shown.add(each.path)
            parts.append(_change(each))
    return f"<li>{''.join(parts)}</li>\n"


def _rest(files: Sequence[FileChange], has_decisions: bool) -> str:
    if not files:
        return ""
    title = "Also changed" if has_decisions else "Changed"
    items = "".join(f"<li>{_change(file)}</li>\n" for file in files)
    return f"<details><summary>{title}: {len(files)}</summary><ol>{items}</ol></details>"


def _change(file: FileChange) -> str:
    where = escape_text(file.path)
    if file.from_path:
        where = f"{escape_text(file.from_path)} → {where}"
    parts = [f'<p class="file"><span class="how {file.how}">{file.how}</span> {where}</p>']
    if file.claim and file.how is not How.OTHER:
        parts.append(f"<blockquote>{escape_text(file.claim)}</blockquote>")
    if file.pieces:
        parts.append(f'<p class="words">{"".join(map(_piece, _trimmed(file)))}</p>')
    if file.head:
        parts.append(_head(file.head))
    return f'<div class="change">{"".join(parts)}</div>'


_CONTEXT_WORDS = 12


def _trimmed(file: FileChange) -> Iterator[tuple[DiffKind, str]]:
    """Yield the words with long runs that stayed the same cut, and said so."""
    for piece in file.pieces:
        words = piece.text.split()
        if piece.kind is DiffKind.SAME and len(words) > 2 * _CONTEXT_WORDS + 3:
            cut = len(words) - 2 * _CONTEXT_WORDS
            start, end = " ".join(words[:_CONTEXT_WORDS]), " ".join(words[-_CONTEXT_WORDS:])
            yield piece.kind, f"{start} […{cut} words…] {end}"
        else:
            yield piece.kind, piece.text


def _piece(piece: tuple[DiffKind, str]) -> str:
    kind, text = piece
    tag = {DiffKind.REMOVED: "del", DiffKind.ADDED: "ins"}.get(kind, "span")
    return f"<{tag}>{escape_text(text)}</{tag}> "


def _head(changes: Sequence[HeadChange]) -> str:
    rows = []
    by_name: dict[str, list[HeadChange]] = {}
    for change in changes:
        by_name.setdefault(change.name.removeprefix("memhtml-"), []).append(change)
    for name, group in by_name.items():
        values = "".join(
            f"<{'ins' if each.came else 'del'}>{escape_text(each.value)}"
            f"</{'ins' if each.came else 'del'}> "
            for each in group
        )
        routine = ' class="routine"' if name in _ROUTINE else ""
        rows.append(f"<dt{routine}>{escape_text(name)}</dt><dd{routine}>{values}</dd>")
    return f'<dl class="head">{"".join(rows)}</dl>'


def _phases(phases: Sequence[PhaseDone]) -> str:
    rows = "".join(
        f'<tr class="{escape_attribute(phase.status)}"><td>{escape_text(phase.phase)}</td>'
        f"<td>{escape_text(phase.status)}</td><td>{escape_text(_counts(phase))}</td>"
        f"<td>{phase.seconds:.1f} s</td><td>{phase.calls or ''}</td>"
        f"<td>{escape_text(phase.detail or '')}</td></tr>\n"
        for phase in phases
    )
    return (
        "<section><h2>Phases</h2><table><tr><th>phase</th><th>status</th><th>counts</th>"
        f"<th>time</th><th>calls</th><th>note</th></tr>\n{rows}</table></section>"
    )


def _counts(phase: PhaseDone) -> str:
    return ", ".join(f"{name} {count}" for name, count in phase.counts.items() if count)


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
