"""What a model noticed, and on which days: a suspicion becomes a change only when it comes again.

The ledger is a committed file, so the days survive between runs and machines, a review shows them,
and a run that is thrown away has noticed nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memhtml.store.plan import Put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.store.plan import View

__all__ = ["NEEDED_DAYS", "Ledger"]

PATH = ".memhtml/state/noticed.jsonl"
NEEDED_DAYS = 2
"""Run dates on which the same must be noticed before it is believed (sleep format §3)."""


class Ledger:
    """The days by what was noticed: a kind, such as ``contradicts``, and whom it is about."""

    def __init__(self, view: View) -> None:
        file = view.find(PATH)
        self._sha = None if file is None else file.sha
        self._before = b"" if file is None else file.data
        self._days: dict[tuple[str, ...], set[str]] = {}
        for line in self._before.decode("utf-8", "replace").splitlines():
            try:
                row = json.loads(line)
                self._days[row["kind"], *map(str, row["about"])] = set(map(str, row["days"]))
            except (ValueError, KeyError, TypeError):
                # A line that somebody spoilt counts as never noticed; the file is written anew.
                continue

    def note(self, kind: str, about: Sequence[str], day: str) -> int:
        """Note that it was noticed on *day*; return on how many days it was, this one included."""
        days = self._days.setdefault((kind, *about), set())
        days.add(day)
        return len(days)

    def settle(self, kind: str, about: Sequence[str]) -> None:
        """Forget what has been acted upon."""
        self._days.pop((kind, *about), None)

    def steps(self) -> tuple[Put, ...]:
        """Return the step that writes it down; none when it says nothing new."""
        rows = [
            {"kind": key[0], "about": list(key[1:]), "days": sorted(days)}
            for key, days in sorted(self._days.items())
        ]
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        return () if data == self._before else (Put(PATH, data, self._sha),)
