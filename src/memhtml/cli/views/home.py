"""What ``memhtml`` alone shows: a store at a glance, or what to do where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.screen import cells, clip, flowing, pad, plural, printable, relative
from memhtml.model.shell import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memhtml.cli.commands.home import Home
    from memhtml.cli.screen import Screen
    from memhtml.sleep.runs import Run

__all__ = ["elsewhere_page", "home_page"]

_MOST_ADVICE = 4
_STOPPED = {"failed": "failed", "interrupted": "was interrupted"}
"""How a run of sleep stands that is not complete, as a verb."""


def home_page(seen: Home, screen: Screen) -> str:
    """Return the page of a store."""
    lines = [screen.paint(printable(seen.health.root), "bold"), _counts(seen)]
    if seen.news:
        lines += ["", _heading("Last learned", screen)]
        for each in seen.news:
            when = relative(each.at, screen.now) if each.at else ""
            lines.append(_with_note(printable(each.claim), when, screen))
    if seen.tasks:
        lines += ["", _heading(f"Open tasks ({seen.open_tasks:,})", screen)]
        for task in seen.tasks:
            due = f"due {relative(task.due_at, screen.now)}" if task.due_at else ""
            lines.append(_with_note(f"[{task.task_status}] {printable(task.title)}", due, screen))
    faults = [line for text in _faults(seen) for line in flowing(text, screen, 2)]
    lines += ["", _heading("Health", screen)]
    lines += [screen.paint(line, "yellow") for line in faults] or ["  nothing is wrong at a glance"]
    lines += ["", _heading("Next", screen)]
    lines += _commands([*_advice(seen)][:_MOST_ADVICE], screen)
    return "\n".join(lines) + "\n"


def elsewhere_page(reason: str, root: str | None, here: str | None, screen: Screen) -> str:
    """Return what to do where no store is; *here* is one that the person stands in."""
    rows = []
    if here is not None:
        rows.append((f"memhtml --repo {quoted(here)}", "look at the store you stand in"))
        rows.append((f"export MEMHTML_ROOT={quoted(here)}", "make it the one to work on"))
    if root is not None and here is None:
        rows.append(("memhtml init", f"make a store in {printable(root)}"))
        rows.append(("memhtml init --repo FOLDER", "make one elsewhere; MEMHTML_ROOT names it"))
    rows.append(("memhtml help", "list every command"))
    rows.append(("memhtml check FOLDER", "check memory files, without a store"))
    lines = [*flowing(reason, screen), "", _heading("Next", screen)]
    return "\n".join([*lines, *_commands(rows, screen)]) + "\n"


def _heading(text: str, screen: Screen) -> str:
    return screen.paint(text, "bold", "cyan")


def _commands(rows: Sequence[tuple[str, str]], screen: Screen) -> list[str]:
    """Return commands with what each is good for; a command is to be copied, so it stays whole."""
    sizes = [cells(command) for command, _ in rows]
    width = max((size for size in sizes if size <= screen.width // 2), default=0)
    return [
        f"  {pad(command, max(size, width))}  {screen.paint(what, 'dim')}"
        for size, (command, what) in zip(sizes, rows, strict=True)
    ]


def _counts(seen: Home) -> str:
    counts = seen.health.counts_by_type
    told = [plural(sum(counts.values()) - counts.get("task", 0), "memory", "memories")]
    if seen.open_tasks:
        told.append(plural(seen.open_tasks, "open task"))
    if seen.health.archived:
        told.append(f"{seen.health.archived:,} archived")
    return ", ".join(told)


def _with_note(text: str, note: str, screen: Screen) -> str:
    """Return *text* and, at the right end of the line, *note*."""
    room = screen.width - 2 - (cells(note) + 2 if note else 0)
    shown = clip(text, room)
    return f"  {pad(shown, room)}  {screen.paint(note, 'dim')}" if note else f"  {shown}"


def _faults(seen: Home) -> Iterator[str]:
    health = seen.health
    if health.skipped:
        yield f"{plural(len(health.skipped), 'file')} cannot be read as memories"
    if health.dirty:
        yield f"{plural(len(health.dirty), 'path')} changed by hand and not committed"
    if not health.index_status.is_fresh:
        yield "the index is behind"


def _advice(seen: Home) -> Iterator[tuple[str, str]]:
    """Yield commands and what they are good for here, the most urgent first."""
    health = seen.health
    if health.skipped:
        yield "memhtml doctor", "say what is wrong, and what can be mended"
    if health.dirty:
        yield f"git -C {quoted(health.root)} status", "see what was changed by hand"
    if seen.sleep is not None:
        yield _on_sleep(seen.sleep, seen.waiting)
    if not sum(health.counts_by_type.values()):
        yield "memhtml new", "write the first memory, by question and answer"
        yield "memhtml import SOURCE", "bring in notes, chats or another tool's memories"
        return
    uncovered = not health.coverage or health.coverage[0].covered < health.coverage[0].texts
    if uncovered and seen.has_model:
        yield "memhtml index embed", "let search go by meaning for all texts"
    yield "memhtml search 'a question'", "find what answers it"
    yield "memhtml diff --since 7d", "see what was learned this week"
    if not health.coverage and not seen.has_model:
        yield "memhtml model add splade-tiny", "let search go by meaning too"
    yield "memhtml help", "list every command"


def _on_sleep(run: Run, waiting: int) -> tuple[str, str]:
    """Return what to do about a run of sleep, the newest of those *waiting*."""
    from memhtml.sleep.runs import way_on  # noqa: PLC0415 - loaded already, where there is a run

    stopped = _STOPPED.get(run.state)
    what = f"go on with a run that {stopped}" if stopped else "see what sleep did, and decide"
    more = f" (and {waiting - 1} more)" if waiting > 1 else ""
    return way_on(run) or "memhtml sleep status", what + more
