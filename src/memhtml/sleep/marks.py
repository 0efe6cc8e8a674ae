"""What takes effect outside of the tree once a run is merged, and what of transcripts waits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memhtml.index.database import cache_folder
from memhtml.model.instants import is_instant
from memhtml.traces.database import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memhtml.corpus import Corpus

__all__ = ["CONSOLIDATED", "apply_marks", "count_due_sessions", "has_traces", "session_mark"]

CONSOLIDATED = "session-consolidated"


def has_traces(corpus: Corpus) -> bool:
    """Tell whether transcripts were ever indexed for the store; asking makes nothing."""
    return Path(cache_folder(corpus.root), FILE_NAME).exists()


def session_mark(session_id: str, run_id: str, at: str) -> Mapping[str, str]:
    """Return the mark that a run consolidated a session, as it was at the instant *at*."""
    return {"kind": CONSOLIDATED, "sessionId": session_id, "runId": run_id, "at": at}


def apply_marks(corpus: Corpus, marks: Iterable[Mapping[str, str]]) -> int:
    """Let *marks* take effect; return how many did.

    A run that was thrown away has marked nothing, so its sessions are due again.
    """
    from datetime import datetime  # noqa: PLC0415 - a merge without marks needs none

    from memhtml.traces.sessions import mark_consolidated  # noqa: PLC0415 - as above

    applied = 0
    wanted = [mark for mark in marks if mark.get("kind") == CONSOLIDATED]
    if not wanted or not has_traces(corpus):
        return 0
    with corpus.traces() as base:
        for mark in wanted:
            if is_instant(mark["at"]):
                at = datetime.fromisoformat(mark["at"])
                mark_consolidated(base, (mark["sessionId"],), mark["runId"], at)
                applied += 1
    return applied


def count_due_sessions(corpus: Corpus) -> int:
    """Return how many transcripts wait; the database of transcripts is not made for it."""
    from memhtml.traces.sessions import due_sessions  # noqa: PLC0415 - only here

    if not has_traces(corpus):
        return 0
    with corpus.traces() as base:
        return len(due_sessions(base, corpus.now(), limit=1000))
