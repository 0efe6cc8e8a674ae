"""Bringing what is known of transcripts up to date, at the cost of what was said since.

Of each file we remember how far it was read. One that grew is read from there, one that was changed
in any other way from its start; the rest is one look at the folder. A file is read in slices, each
a transaction that holds its words and how far they reach, so a crash loses at most a slice and two
processes at once do the work once.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from memhtml.traces.cut import clipped
from memhtml.traces.files import Found, Walk, open_transcript, read_ends
from memhtml.traces.layouts import LAYOUTS
from memhtml.traces.reading import read_records
from memhtml.traces.record import ALL_TURNS, Record, Role, Skip
from memhtml.traces.words import indexed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import BinaryIO

    import apsw

    from memhtml.model.ports import Progress
    from memhtml.traces.database import TraceBase
    from memhtml.traces.reading import Read
    from memhtml.traces.record import Entry

__all__ = ["ASSISTANT_CHARS", "PROMPT_CHARS", "Report", "rescan", "scan"]

PROMPT_CHARS = 4000
"""So much of a prompt can be found. A longer one is mostly something that was pasted."""

ASSISTANT_CHARS = 1500
"""So much of each thing an agent says can be found."""

FIRST_PROMPT_CHARS = 500
FACT_CHARS = 500
SLICE_BYTES = 8 * 1024 * 1024

_FIND = """
SELECT id, size, mtime_ns, byte_off, lines, head, missing, session_id, agent_id FROM files
WHERE path = ?
"""
_FORGET = "DELETE FROM files WHERE path = ?"
_ADD = """
INSERT INTO files (path, agent, root, session_id, agent_id, slug, cwd, size, mtime_ns, byte_off,
  scanned_at)
VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?)
"""
_ADVANCE = """
UPDATE files SET session_id = ?, agent_id = ?, size = ?, mtime_ns = ?, byte_off = ?, lines = ?,
  head = ?, missing = 0, cwd = coalesce(cwd, ?), branch = coalesce(?, branch),
  entrypoint = coalesce(entrypoint, ?), version = coalesce(?, version), title = coalesce(?, title),
  first_prompt = coalesce(first_prompt, ?),
  started_at = coalesce(min(started_at, ?), started_at, ?),
  ended_at = coalesce(max(ended_at, ?), ended_at, ?),
  turns = turns + ?, dropped = dropped + ?, unknown = unknown + ?, scanned_at = ?
WHERE id = ?
"""
_COUNT_MODEL = """
INSERT INTO models (file_id, model, turns) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET turns = turns + excluded.turns
"""
_ADD_PASSAGE = """
INSERT INTO passages (file_id, role, line, at, turn_uuid, prompt_id, agent_id, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_ADD_WORDS = "INSERT INTO words (rowid, text) VALUES (?, ?)"
_DROP_TITLE = "DELETE FROM passages WHERE file_id = ? AND role = 'title'"
_DROP_TURN = "DELETE FROM passages WHERE file_id = ? AND turn_uuid = ? AND role <> 'title'"
_DROP_ALL = "DELETE FROM passages WHERE file_id = ? AND role <> 'title'"
_DROP_SINCE = """
DELETE FROM passages WHERE file_id = ?1 AND role <> 'title' AND id >=
  (SELECT min(id) FROM passages WHERE file_id = ?1 AND turn_uuid = ?2)
"""
_COUNT_TURNS = (
    "SELECT count(DISTINCT turn_uuid) FROM passages WHERE file_id = ? AND role <> 'title'"
)
_SET_TURNS = "UPDATE files SET turns = ? WHERE id = ?"
_KNOWN = "SELECT path FROM files WHERE root = ? AND agent = ? AND missing = 0"
_PLACES = "SELECT DISTINCT root, agent FROM files ORDER BY root, agent"
_MISS = "UPDATE files SET missing = ? WHERE path = ?"


@dataclass(slots=True, kw_only=True)
class Report:
    """What a scan did."""

    roots: tuple[str, ...] = ()
    files_seen: int = 0
    skipped: int = 0
    """Files that are as they were."""
    tailed: int = 0
    """Files that grew, of which only the new lines were read."""
    rescanned: int = 0
    """Files that were read from the start, new ones included."""
    missing: int = 0
    """Files known before that are gone; what is known of them is kept."""
    bytes_read: int = 0
    prompts: int = 0
    lines_dropped: int = 0
    """Lines that are no record of their layout, or too long to hold."""
    lines_unknown: int = 0
    """Lines of a kind this version has not heard of."""
    secrets_cut: int = 0
    sessions: set[str] = field(default_factory=set)
    """The sessions of which something new was read."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Files and folders that could not be read, and why; they are tried again the next time."""


class _Mark(NamedTuple):
    """How far a file was read, as the database has it."""

    file_id: int
    size: int
    mtime_ns: int
    offset: int
    lines: int
    head: str
    missing: int
    session_id: str
    agent_id: str | None


def scan(
    base: TraceBase,
    roots: Sequence[str],
    *,
    now: str,
    agents: Iterable[str] = (),
    progress: Progress | None = None,
) -> Report:
    """Read what was said since the last scan in the transcripts below *roots*.

    *agents* are names of layouts; by default all are looked for in each root. *now* is the instant
    at which this happens.

    Raises:
        Busy: Another process holds the database.
        StorageFailure: It is damaged or cannot be written.
    """
    # One root by two names would be read twice.
    report = Report(roots=tuple(dict.fromkeys(os.path.realpath(root) for root in roots)))
    ongoing = _Scan(base, now, report)
    work = list[Found]()
    for root in report.roots:
        fault = _fault_of_name(root)
        if fault is not None:
            report.failures.append((root, fault))
            continue
        for agent in tuple(agents) or LAYOUTS:
            walk = Walk()
            found = list(LAYOUTS[agent].find(walk, root))
            work += found
            report.failures += walk.failures
            unseen = tuple(f"{folder}/" for folder, _ in walk.failures)
            report.missing += _miss(base, root, agent, {one.path for one in found}, unseen)
    report.files_seen = len(work)
    for place, one in enumerate(work):
        if progress is not None:
            progress(place, len(work))
        ongoing.look_at(one)
    return report


def rescan(base: TraceBase, *, now: str) -> list[tuple[str, str]]:
    """Read what was said since the last scan wherever transcripts were found before.

    Returns what could not be read, and why.

    Raises:
        Busy: Another process holds the database.
        StorageFailure: It is damaged or cannot be written.
    """
    with base.guarded("look where transcripts were found") as connection:
        places = connection.execute(_PLACES).fetchall()
    failures = list[tuple[str, str]]()
    for root, agent in places:
        failures += scan(base, [str(root)], now=now, agents=[str(agent)]).failures
    return failures


class _Scan:
    """One call of `scan`."""

    def __init__(self, base: TraceBase, now: str, report: Report) -> None:
        self.base = base
        self.now = now
        self.report = report

    def look_at(self, found: Found) -> None:
        """Read what is new in one file; whatever is wrong with it is reported."""
        refusal = found.refusal or _fault_of_name(found.path)
        if refusal is not None:
            self.report.failures.append((found.path, refusal))
            return
        try:
            with open_transcript(found.path) as (file, status):
                self._look_into(found, file, status)
        except OSError as error:
            self.report.failures.append((found.path, _reason(error)))

    def _look_into(self, found: Found, file: BinaryIO, status: os.stat_result) -> None:
        mark = _mark_of(self.base, found.path)
        if mark is not None and _is_same(mark, status):
            self.report.skipped += 1
            if mark.missing:
                with self.base.writing("note a transcript that is back") as connection:
                    connection.execute(_MISS, (0, found.path))
            return
        if mark is not None and not found.is_whole and _has_grown(mark, status, file):
            self.report.tailed += 1
        else:
            self.report.rescanned += 1
            mark = None
        self._read_on(found, file, status, mark)

    def _read_on(
        self, found: Found, file: BinaryIO, status: os.stat_result, mark: _Mark | None
    ) -> None:
        size = status.st_size
        start, line = (mark.offset, mark.lines) if mark else (0, 0)
        news = _Slice(start, line)
        for read in read_records(found, file, size=size, offset=start, line=line):
            news.take(read)
            if news.end - news.start >= SLICE_BYTES and not found.is_whole:
                place = file.tell()
                reach = _Reach(news.end, 0, _digest(read_ends(file, news.end)))
                file.seek(place)
                mark = self._store(found, mark, news, reach)
                if mark is None:
                    return
                news = _Slice(news.end, news.line)
        # What comes after the last whole line is left for the next time.
        reach = _Reach(size, status.st_mtime_ns, _digest(read_ends(file, news.end)))
        self._store(found, mark, news, reach)

    def _store(self, found: Found, mark: _Mark | None, news: _Slice, reach: _Reach) -> _Mark | None:
        """Store *news*, and return how far that goes; None when another process was faster."""
        with self.base.writing("store what transcripts say") as connection:
            current = _mark_of(self.base, found.path)
            if current is not None and (
                _is_at(current, reach) if mark is None else current != mark
            ):
                return None
            if mark is None:
                connection.execute(_FORGET, (found.path,))
                cwd = None if found.cwd is None else clipped(found.cwd, FACT_CHARS)[0]
                owner = (found.session_id, found.agent_id)
                row = (found.path, found.agent, found.root, *owner, found.slug, cwd, self.now)
                connection.execute(_ADD, row)
                current = _mark_of(self.base, found.path)
            assert current is not None  # noqa: S101 - it was just added, or is the mark
            _Writer(connection, found, current, self.report).write(news, reach, self.now)
        self.report.bytes_read += news.end - news.start
        return _mark_of(self.base, found.path)


class _Reach(NamedTuple):
    """What to remember of a file with the slice that was read last."""

    size: int
    mtime_ns: int
    """0 before the last slice, so that the next scan reads on."""
    head: str


class _Slice:
    """What was read of a file since it was stored last."""

    def __init__(self, start: int, line: int) -> None:
        self.start = self.end = start
        self.line = line
        self.records: list[tuple[int, Record]] = []
        self.skips = dict.fromkeys(Skip, 0)

    def take(self, read: Read) -> None:
        if isinstance(read.record, Record):
            self.records.append((read.line, _bounded(read.record)))
        else:
            self.skips[read.record] += 1
        self.line, self.end = read.line, read.end


def _bounded(record: Record) -> Record:
    """Drop what is not stored, so that a slice of large tool outputs is not held."""
    kept = (entry for entry in record.entries if entry.role in {Role.USER, Role.ASSISTANT})
    return record._replace(entries=tuple(kept))


def _is_same(mark: _Mark, status: os.stat_result) -> bool:
    return (mark.size, mark.mtime_ns) == (status.st_size, status.st_mtime_ns)


def _has_grown(mark: _Mark, status: os.stat_result, file: BinaryIO) -> bool:
    """Tell a file with more at its end from one that was written anew."""
    return (
        mark.size < status.st_size
        and mark.mtime_ns <= status.st_mtime_ns
        and mark.offset <= status.st_size
        and mark.head == _digest(read_ends(file, mark.offset))
    )


def _is_at(current: _Mark, reach: _Reach) -> bool:
    return (current.size, current.mtime_ns) == (reach.size, reach.mtime_ns) and not current.missing


class _Writer:
    """Turns the records of one slice of one file into rows."""

    def __init__(
        self, connection: apsw.Connection, found: Found, mark: _Mark, report: Report
    ) -> None:
        self.connection = connection
        self.found = found
        self.file_id = mark.file_id
        self.session_id, self.agent_id = mark.session_id, mark.agent_id
        self.is_new = not mark.offset
        self.report = report
        self.first_prompt: str | None = None
        self.title: str | None = None

    def write(self, news: _Slice, reach: _Reach, now: str) -> None:
        facts, models, turns, has_second_thoughts = Record(), dict[str, int](), 0, False
        instants = list[str]()
        for line, record in news.records:
            self._own(record)
            facts = _joined(facts, record)
            if record.model is not None:
                models[record.model] = models.get(record.model, 0) + 1
            instants += [at for at in (record.at,) if at is not None]
            turns += record.is_turn
            has_second_thoughts |= self._take_back(record)
            if record.title is not None:
                self._retitle(record.title, line)
            for entry in record.entries:
                self._add(entry, line, record.at)
        self.connection.executemany(
            _COUNT_MODEL, [(self.file_id, model, count) for model, count in models.items()]
        )
        first, last = (min(instants), max(instants)) if instants else (None, None)
        facts_cut = (
            self._cut(fact, FACT_CHARS)
            for fact in (facts.cwd, facts.branch, facts.entrypoint, facts.version)
        )
        skips = (news.skips[Skip.DROPPED], news.skips[Skip.UNKNOWN])
        watermark = (*reach[:2], news.end, news.line, reach.head)
        self.connection.execute(
            _ADVANCE,
            (
                *(self.session_id, self.agent_id, *watermark, *facts_cut),
                *(self.title, self.first_prompt, first, first, last, last),
                *(turns, *skips, now, self.file_id),
            ),
        )
        if has_second_thoughts:
            ((count,),) = self.connection.execute(_COUNT_TURNS, (self.file_id,))
            self.connection.execute(_SET_TURNS, (count, self.file_id))
        self.report.sessions.add(self.session_id)
        self.report.lines_dropped += skips[0]
        self.report.lines_unknown += skips[1]

    def _own(self, record: Record) -> None:
        """Learn from the first record that says it which session the file is part of."""
        if not self.is_new:
            return
        if record.agent_id is not None:
            self.agent_id = record.agent_id
            self.session_id = record.session_id or self.session_id
            self.is_new = False
        elif record.session_id is not None:
            if self.found.trusts_records:
                self.session_id = record.session_id
            self.is_new = False

    def _take_back(self, record: Record) -> bool:
        if record.rewinds == ALL_TURNS:
            self.connection.execute(_DROP_ALL, (self.file_id,))
        elif record.rewinds is not None:
            # A turn without a text has no place here; what came after it stays to be found.
            self.connection.execute(_DROP_SINCE, (self.file_id, record.rewinds))
        if record.replaces is not None:
            self.connection.execute(_DROP_TURN, (self.file_id, record.replaces))
        return record.rewinds is not None or record.replaces is not None

    def _retitle(self, title: str, line: int) -> None:
        self.title = self._cut(title, FACT_CHARS)
        self.connection.execute(_DROP_TITLE, (self.file_id,))
        self._put("title", line, (None, None, None, None), self.title or "")

    def _add(self, entry: Entry, line: int, at: str | None) -> None:
        is_prompt = entry.role is Role.USER
        text = self._cut(entry.text, PROMPT_CHARS if is_prompt else ASSISTANT_CHARS)
        if not text:
            return
        agent_id = entry.agent_id or self.agent_id
        if is_prompt:
            self.report.prompts += 1
            if self.first_prompt is None and agent_id == self.agent_id:
                self.first_prompt = text[:FIRST_PROMPT_CHARS]
        place = (entry.at or at, entry.turn_uuid, entry.prompt_id, agent_id)
        self._put(entry.role, line, place, text)

    def _put(self, role: str, line: int, place: tuple[str | None, ...], text: str) -> None:
        self.connection.execute(_ADD_PASSAGE, (self.file_id, role, line, *place, text))
        row = (self.connection.last_insert_rowid(), indexed(text))
        self.connection.execute(_ADD_WORDS, row)

    def _cut(self, text: str | None, limit: int) -> str | None:
        if text is None:
            return None
        safe, count = clipped(text, limit)
        self.report.secrets_cut += count
        return safe


def _joined(known: Record, record: Record) -> Record:
    """Where a session stands is said first; what it became is said last."""
    return Record(
        cwd=known.cwd or record.cwd,
        entrypoint=known.entrypoint or record.entrypoint,
        branch=record.branch or known.branch,
        version=record.version or known.version,
    )


def _miss(base: TraceBase, root: str, agent: str, seen: set[str], unseen: tuple[str, ...]) -> int:
    """Note what is gone of *root*; nobody knows of what stands below the folders *unseen*."""
    with base.guarded("look for transcripts that are gone") as connection:
        known = {path for (path,) in connection.execute(_KNOWN, (root, agent))}
    gone = sorted(path for path in known - seen if not path.startswith(unseen))
    if gone:
        with base.writing("note transcripts that are gone") as connection:
            connection.executemany(_MISS, [(1, path) for path in gone])
    return len(gone)


def _mark_of(base: TraceBase, path: str) -> _Mark | None:
    with base.guarded("look up a transcript") as connection:
        row = connection.execute(_FIND, (path,)).fetchone()
    return None if row is None else _Mark._make(row)


def _digest(head: bytes) -> str:
    return hashlib.sha256(head).hexdigest()[:32]


def _fault_of_name(path: str) -> str | None:
    """Tell why what stands at *path* cannot be referred to; None when it can."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return None


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
