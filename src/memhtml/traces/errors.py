"""Errors that come up again and again, and what made them go away.

An error is the line by which a failed tool names it, and two are the same when they differ only in
paths, numbers and the like. What counts is that it came back: in two sessions, or three times in
one. What agents trip over by themselves (their tools' own rules, code they are in the middle of
writing) says nothing about the world and is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from memhtml.traces.record import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memhtml.traces.candidates import Conversation
    from memhtml.traces.record import Entry

__all__ = ["Repeated", "Seen", "repeated_errors"]

MIN_SESSIONS = 2
MIN_TIMES = 3
MAX_LINE_CHARS = 300
MAX_COMMAND_CHARS = 120

_escape_re = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_error_re = re.compile(
    r"^\s*(?:E\s+|\d+\s+)?(?:[\w./\\-]+:\d+(?::\d+)?:\s*)?"
    r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Failure|Fault)|error(?:\[\w+\])?|fatal(?: error)?|panic"
    r"|npm (?:ERR!|error)|ERR_\w+|[\w.-]+: (?:error|fatal|command not found)|Permission denied)\b"
    r"[^\n]*$",
    re.IGNORECASE,
)
_missing_re = re.compile(
    r"^[^\n]*: (?:command not found|No such file or directory|Permission denied)$"
)
_own_re = re.compile(
    r"has not been read|to replace (?:was )?not found|no such tool|doesn't want|interrupted"
    r"|rejected|InputValidation|exit code|exited with|timed out after|assert|SyntaxError"
    r"|IndentationError|NameError|UnboundLocal|\bTS\d+\b|unused (?:variable|import)|tool_use_error"
    r"|File (?:does not exist|content)|ModuleNotFoundError: No module named '(?:src|tests?)\b",
    re.IGNORECASE,
)
_NORMAL = (
    (re.compile(r"(?:[A-Za-z]:)?(?:[/\\][\w.@+~-]+)+[/\\]([\w.@+~-]+)"), r"\1"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b0x[0-9a-f]+\b", re.IGNORECASE), "#"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", re.IGNORECASE), "#"),
    (re.compile(r"\d+"), "#"),
    (re.compile(r"\s+"), " "),
)
_LOOKING = frozenset("read grep glob ls search webfetch websearch todowrite read_file".split())
_looking_re = re.compile(
    r"^\s*(?:cat|ls|grep|rg|head|tail|find|pwd|echo|which|cd|git (?:status|log|diff|show))\b"
)


class Seen(NamedTuple):
    """One time that an error came up."""

    session_id: str
    path: str
    quote: str
    line: int
    command: str
    """What ran into it; empty where the transcript does not say."""


class Repeated(NamedTuple):
    """An error that came up again."""

    seen: tuple[Seen, ...]
    fix: Seen | None
    """What was done between the last time and the command's success; its quote is the command."""

    @property
    def sessions(self) -> int:
        """In how many it came up."""
        return len({one.session_id for one in self.seen})


def repeated_errors(conversations: Iterable[Conversation]) -> list[Repeated]:
    """Return the errors that came up again in *conversations*, most sessions first."""
    seen = defaultdict[str, list[Seen]](list)
    fixes = dict[str, Seen]()
    known = set[str]()
    for conversation in conversations:
        last = dict[str, int]()
        for place, entry in enumerate(conversation.entries):
            line = _error_line(entry)
            # A session that was forked off another begins with a copy of it.
            if line is None or entry.call_id in known:
                continue
            if entry.call_id is not None:
                known.add(entry.call_id)
            key = normalised(line)
            call = _call_of(conversation.entries, place)
            command = call.text.strip() if call else ""
            seen[key].append(
                Seen(conversation.session_id, conversation.path, line, entry.line, command)
            )
            last[key] = place
        for key, place in last.items():
            fix = _fix_after(conversation, place)
            if fix is not None:
                fixes[key] = fix
    repeated = [
        Repeated(tuple(times), fixes.get(key))
        for key, times in seen.items()
        if len(times) >= MIN_TIMES or len({one.session_id for one in times}) >= MIN_SESSIONS
    ]
    return sorted(repeated, key=lambda one: (-one.sessions, -len(one.seen), one.seen[0].quote))


def normalised(line: str) -> str:
    """Return *line* without what differs from one time to the next.

    >>> normalised("OSError: cannot open /srv/a/shop.toml at 0x7f12, 3 tries")
    'OSError: cannot open shop.toml at #, # tries'
    """
    for pattern, put in _NORMAL:
        line = pattern.sub(put, line)
    return line.strip()


def _error_line(entry: Entry) -> str | None:
    """Return the line by which a failed tool says what went wrong."""
    if entry.role is not Role.RESULT or not entry.failed:
        return None
    lines = _escape_re.sub("", entry.text).splitlines()
    found = [line for line in lines if _error_re.match(line) or _missing_re.match(line)]
    if not found:
        return None
    # A traceback ends with its error; compilers begin with theirs.
    chosen = found[-1] if "Traceback (most recent call last)" in entry.text else found[0]
    line = " ".join(chosen.split())
    words = re.findall(r"[^\W\d_]{2,}", line)
    if len(words) < 3 or len(line) > MAX_LINE_CHARS or _own_re.search(line):
        return None
    return line


def _call_of(entries: Sequence[Entry], place: int) -> Entry | None:
    """Return the call that the result at *place* answers."""
    call_id = entries[place].call_id
    for one in reversed(entries[max(0, place - 200) : place]):
        if one.role is Role.CALL and (call_id is None or one.call_id == call_id):
            return one
    return None


def _fix_after(conversation: Conversation, place: int) -> Seen | None:
    """Return the one thing that was done between a failure and the same command's first success.

    With several there is no telling which of them it was, and the answer is None.
    """
    entries = conversation.entries
    failed = _call_of(entries, place)
    if failed is None or not failed.text.strip():
        return None
    command = " ".join(failed.text.split())
    acts: list[Entry] = []
    for later in range(place + 1, len(entries)):
        entry = entries[later]
        if entry.role is Role.CALL and not _only_looks(entry):
            if " ".join(entry.text.split()) != command:
                acts.append(entry)
        elif entry.role is Role.RESULT and not entry.failed:
            call = _call_of(entries, later)
            if call is not None and " ".join(call.text.split()) == command:
                break
    else:
        return None
    texts = {" ".join(act.text.split()) for act in acts}
    if len(texts) != 1 or len(*texts) > MAX_COMMAND_CHARS:
        return None
    act = acts[0]
    line = act.text.strip()
    return Seen(conversation.session_id, conversation.path, line, act.line, act.tool)


def _only_looks(call: Entry) -> bool:
    is_shell = "/" not in call.text[:1] and _looking_re.match(call.text) is not None
    return call.tool.casefold() in _LOOKING or is_shell or not call.text.strip()
