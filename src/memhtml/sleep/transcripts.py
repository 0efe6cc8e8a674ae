"""The transcripts a store knows of, as a run sees them.

What is known of transcripts stands beside the index of the store itself, for a run's own working
tree has none. A run looks first at what came in since where transcripts were found before; a dry
run, which changes nothing, goes by what was indexed last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.model.instants import stamp
from memhtml.sleep.marks import has_traces

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memhtml.corpus import Corpus
    from memhtml.traces.sessions import Session

__all__ = ["Transcripts", "find_transcripts"]


class Transcripts:
    """A `memhtml.sleep.phase.TraceSource` over what is known of transcripts."""

    def __init__(self, corpus: Corpus, *, refresh: bool) -> None:
        self._corpus = corpus
        self._refresh = refresh
        self.failures: Sequence[tuple[str, str]] = ()
        """See `memhtml.sleep.phase.TraceSource.failures`."""

    def due(self, now: datetime, limit: int) -> Sequence[Session]:
        """See `memhtml.sleep.phase.TraceSource.due`."""
        from memhtml.traces.scan import rescan  # noqa: PLC0415 - only a run with transcripts
        from memhtml.traces.sessions import due_sessions  # noqa: PLC0415 - as above

        with self._corpus.traces() as base:
            if self._refresh:
                self.failures = rescan(base, now=stamp(now))
            return due_sessions(base, now, limit=limit)

    def earlier(self, sessions: Sequence[Session]) -> Sequence[Session]:
        """See `memhtml.sleep.phase.TraceSource.earlier`."""
        from memhtml.traces.consolidate import earlier_sessions  # noqa: PLC0415 - as above

        with self._corpus.traces() as base:
            return earlier_sessions(base, sessions)


def find_transcripts(corpus: Corpus, *, refresh: bool) -> Transcripts | None:
    """Return the transcripts that *corpus* knows of, brought up to date first if *refresh*.

    None when none was ever indexed; asking makes nothing.
    """
    return Transcripts(corpus, refresh=refresh) if has_traces(corpus) else None
