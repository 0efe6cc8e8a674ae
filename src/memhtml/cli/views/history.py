"""A memory over time for people, and what a sync did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.screen import plural, printable, relative, wrap
from memhtml.model.history import DiffKind, SyncState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.cli.screen import Screen
    from memhtml.model.history import Blamed, Piece, Synced, Version

__all__ = ["blame_lines", "history_lines", "sync_lines"]

# Words around a change that tell where it is; more of what stayed says nothing new.
_CONTEXT_WORDS = 6
_MARKS = {DiffKind.ADDED: ("{+", "+}", "green"), DiffKind.REMOVED: ("[-", "-]", "red")}


def history_lines(
    versions: Sequence[Version], words: Sequence[Sequence[Piece]], screen: Screen
) -> str:
    """Return the versions, newest first, each with what it changed of the words."""
    lines: list[str] = []
    for version, pieces in zip(versions, words, strict=True):
        lines.append(_title(version, screen))
        lines += [f"  {screen.paint(line, 'dim')}" for line in _circumstances(version, screen)]
        lines += _words(pieces, screen)
        lines.append("")
    return "\n".join(lines)


def blame_lines(blamed: Sequence[Blamed], screen: Screen) -> str:
    """Return each sentence under the version that first said it."""
    lines: list[str] = []
    commit = None
    for each in blamed:
        if each.version.commit != commit:
            commit = each.version.commit
            lines += [*([""] if lines else []), _title(each.version, screen)]
            if each.version.session:
                lines.append(screen.paint(f"  session {printable(each.version.session)}", "dim"))
        text = printable(each.sentence)
        lines += [f"  {text[a:b]}" for a, b in wrap(text, screen.width - 2)]
    return "\n".join(lines) + "\n"


def sync_lines(done: Synced, screen: Screen) -> str:
    """Return what a sync did."""
    lines = [_state(done)]
    lines += [f"  merged {printable(path)}" for path in done.merged]
    for conflict in done.conflicts:
        lines.append(f"  {screen.paint('conflict', 'red')} {printable(conflict.path)}")
        ours, theirs = ((sha or "nothing")[:10] for sha in (conflict.ours, conflict.theirs))
        lines.append(f"    {conflict.reason}: {ours} here, {theirs} there")
    if done.is_merge_open:
        lines += ["the merge is open: edit the files, git add them, git commit, memhtml sync"]
        lines += ["git merge --abort takes it back"]
    elif done.conflicts:
        lines += ["nothing was changed here; memhtml sync --keep-conflicts opens the merge"]
    if done.pushed:
        lines.append(f"pushed to {printable(f'{done.remote}/{done.branch}')}")
    return "\n".join(lines) + "\n"


def _state(done: Synced) -> str:
    place = printable(f"{done.remote}/{done.branch}")
    theirs, ours = plural(done.behind, "commit"), plural(done.ahead, "commit")
    match done.state:
        case SyncState.NO_REMOTE:
            return "no remote to sync with; git remote add origin <url> names one"
        case SyncState.UP_TO_DATE:
            return f"in step with {place}"
        case SyncState.AHEAD:
            return f"{ours} ahead of {place}"
        case SyncState.BEHIND:
            return f"took {theirs} from {place}"
        case SyncState.MERGED:
            return f"merged {theirs} from {place} with {ours} of this store"
        case SyncState.CONFLICT:
            return f"{place} and this store changed the same; nothing was pushed"


def _title(version: Version, screen: Screen) -> str:
    what = version.operation or "edit"
    summary = printable(version.summary)
    commit = screen.paint(version.commit[:10], "yellow")
    return f"{commit} {screen.paint(what, 'bold')} {summary}".rstrip()


def _circumstances(version: Version, screen: Screen) -> list[str]:
    who = printable(version.author.partition(" <")[0])
    lines = [f"{relative(version.at, screen.now)} · {who}"]
    if version.moved_from:
        lines.append(f"{printable(version.moved_from)} -> {printable(version.path)}")
    else:
        lines.append(printable(version.path))
    for name, value in (("session", version.session), ("reason", version.reason)):
        if value:
            lines.append(f"{name} {printable(value)}")
    return lines


def _words(pieces: Sequence[Piece], screen: Screen) -> list[str]:
    """Return what changed, with a few words around it; nothing where no word did."""
    if all(piece.kind is DiffKind.SAME for piece in pieces):
        return []
    text, marks = "", []
    for number, piece in enumerate(pieces):
        shown = printable(piece.text)
        if piece.kind is DiffKind.SAME:
            shown = _shortened(shown, is_first=number == 0, is_last=number == len(pieces) - 1)
        else:
            left, right, style = _MARKS[piece.kind]
            shown = f"{left}{shown}{right}"
            marks.append((len(text) + bool(text), len(text) + bool(text) + len(shown), style))
        text += f" {shown}" if text else shown
    return [f"  {_painted(text, a, b, marks, screen)}" for a, b in wrap(text, screen.width - 2)]


def _painted(
    text: str, start: int, end: int, marks: Sequence[tuple[int, int, str]], screen: Screen
) -> str:
    shown, at = "", start
    for left, right, style in marks:
        first, last = max(left, at), min(right, end)
        if first < last:
            shown += text[at:first] + screen.paint(text[first:last], style)
            at = last
    return shown + text[at:end]


def _shortened(text: str, *, is_first: bool, is_last: bool) -> str:
    words = text.split()
    before = [] if is_first else words[:_CONTEXT_WORDS]
    after = [] if is_last else words[-_CONTEXT_WORDS:]
    if len(before) + len(after) >= len(words):
        return text
    return " ".join((*before, "…", *after))
