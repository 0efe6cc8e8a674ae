"""What a writer was about to do, so that whoever comes after a crash can finish or undo it.

A record is written before the branch moves and removed when files and index have followed. It is
read only by a process that holds the writers' lock, so its author is known to be gone.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from memhtml.store.files import unlink_if_there, write_new
from memhtml.store.trees import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memhtml.store.durability import Barrier

__all__ = ["Journal", "Record", "Shift"]


class Shift(NamedTuple):
    """What a commit does at one path; None is nothing there."""

    old: Entry | None
    new: Entry | None


class Record(NamedTuple):
    """One commit that may or may not have come about."""

    ref: str
    commit: str
    shifts: Mapping[str, Shift]


class Journal:
    """The records in one folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._open: list[str] = []

    def add(self, record: Record, barrier: Barrier) -> None:
        """Keep *record*; it is durable when *barrier* has settled."""
        row = {
            "ref": record.ref,
            "commit": record.commit,
            "paths": {path: (shift.old, shift.new) for path, shift in record.shifts.items()},
        }
        # Numbered within the process: records of two processes never stand side by side.
        place = os.path.join(self._folder, f"{len(self._open):06d}.json")
        write_new(f"{place}.part", json.dumps(row).encode("ascii"), barrier=barrier)
        os.replace(f"{place}.part", place)
        self._open.append(place)

    def drop_last(self) -> None:
        """Forget the newest record: its commit did not come about."""
        os.unlink(self._open.pop())

    def clear(self) -> None:
        """Forget every record: all that they announced is done."""
        while self._open:
            unlink_if_there(self._open.pop())

    def left_behind(self) -> Iterator[Record]:
        """Yield what another process left, oldest first, and adopt it for `clear`."""
        for name in sorted(os.listdir(self._folder)):
            place = os.path.join(self._folder, name)
            if place in self._open:
                continue
            if not name.endswith(".json"):
                os.unlink(place)  # cut off while being written, so nothing followed it
                continue
            self._open.append(place)
            with open(place, "rb") as file:
                record = _decode(file.read())
            if record is not None:
                yield record


def _decode(raw: bytes) -> Record | None:
    try:
        row = json.loads(raw)
        shifts = {
            path: Shift(old and Entry(*old), new and Entry(*new))
            for path, (old, new) in row["paths"].items()
        }
        return Record(row["ref"], row["commit"], shifts)
    except (ValueError, KeyError, TypeError, AttributeError):
        # A power cut without flushes can leave a name with nothing behind it. The commit it
        # announced is then no more durable than the record.
        return None
