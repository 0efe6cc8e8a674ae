"""A whole transcript as it stands on disk, for who wants to know what was said in it.

What was taken back by its own program (a rewound turn) is not in it, and a turn that was said anew
is in it once. What tools printed is kept only where they failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.traces.candidates import Conversation
from memhtml.traces.files import Found, open_transcript
from memhtml.traces.reading import read_records
from memhtml.traces.record import ALL_TURNS, Record, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.traces.record import Entry
    from memhtml.traces.sessions import Session, Transcript

__all__ = ["found_of", "read_conversation", "read_session"]

MOST_CHARS = 4000
"""So much from the start and from the end of what a tool was given, and printed as it failed."""


def read_session(session: Session) -> list[Conversation]:
    """Return what each transcript of *session* says, its own first.

    Raises:
        OSError: One of them cannot be read.
    """
    return [read_conversation(one) for one in session.transcripts]


def read_conversation(transcript: Transcript) -> Conversation:
    """Return what *transcript* says now.

    Raises:
        OSError: It cannot be read.
    """
    turns: dict[object, list[Entry]] = {}
    found = found_of(transcript)
    with open_transcript(found.path) as (file, status):
        for read in read_records(found, file, size=status.st_size):
            record = read.record
            if not isinstance(record, Record):
                continue
            if record.rewinds is not None:
                _rewind(turns, record.rewinds)
            key = record.replaces if record.replaces is not None else object()
            turns[key] = list(_placed(record, read.line))
    said = tuple(entry for turn in turns.values() for entry in turn)
    return Conversation(transcript.session_id, transcript.path, said, transcript.agent_id)


def found_of(transcript: Transcript) -> Found:
    """Return *transcript* as its layout finds it."""
    return Found(
        transcript.path,
        transcript.agent,
        transcript.root,
        transcript.session_id,
        transcript.slug,
        transcript.agent_id,
        is_whole=transcript.path.endswith(".json"),
    )


def _rewind(turns: dict[object, list[Entry]], to: str) -> None:
    keys = list(turns)
    start = keys.index(to) if to != ALL_TURNS and to in turns else 0
    for key in keys[start:]:
        del turns[key]


def _placed(record: Record, line: int) -> Iterator[Entry]:
    for entry in record.entries:
        text = entry.text
        if entry.role is Role.RESULT and not entry.failed:
            # Most of a transcript is what tools printed, which nobody asks for.
            text = ""
        elif entry.role in {Role.RESULT, Role.CALL} and len(text) > 2 * MOST_CHARS:
            text = f"{text[:MOST_CHARS]}\n{text[-MOST_CHARS:]}"
        yield entry._replace(text=text, line=line, at=entry.at or record.at)
