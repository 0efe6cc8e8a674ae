"""Whether a run is worth while: what it would have to look at, counted without doing any of it."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.instants import stamp
from memhtml.model.plural import plural
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.population import read_population
from memhtml.sleep.runs import Runs, waiting_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.corpus import Corpus
    from memhtml.sleep.population import Live, Population

__all__ = ["Outlook", "Signal", "look_ahead"]

INBOX = "areas/inbox/"


class Signal(NamedTuple):
    """Something that a run would look at."""

    name: str
    phases: tuple[str, ...]
    found: int
    detail: str


class Outlook(NamedTuple):
    """What lies ahead."""

    verdict: str
    """``would-change`` where something is certain to be done, ``unknown`` where there is something
    to look at, ``no-signal`` where there is nothing."""
    signals: tuple[Signal, ...]
    last_run: str | None
    """The last that was merged."""
    waiting: tuple[str, ...]
    """Those that can still be merged, now or once they are complete."""
    indexed_commit: str | None


def look_ahead(corpus: Corpus, *, sessions_due: int = 0) -> Outlook:
    """Return what a run would look at now; change nothing but the index, brought up to date.

    *sessions_due* is how many transcripts wait.
    """
    commit = corpus.update().head_sha
    with closing(Runs(corpus.repo)) as runs:
        recorded = runs.recorded()
        last = runs.find(recorded[-1]) if recorded else None
    waiting = tuple(run.run_id for run in waiting_runs(corpus.repo))
    population = read_population(corpus.index)
    since = last.begun.instant if last else ""
    sure = [s for s in _certain(population, stamp(corpus.now())) if s.found]
    open_ended = [s for s in _open_ended(population, since, sessions_due) if s.found]
    verdict = "would-change" if sure else "unknown" if open_ended else "no-signal"
    return Outlook(verdict, (*sure, *open_ended), last.run_id if last else None, waiting, commit)


def _certain(population: Population, now: str) -> Iterator[Signal]:
    """Yield what a run is certain to deal with."""
    hashes = Counter(memory.content_hash for memory in population.claims)
    copies = sum(count - 1 for count in hashes.values())
    told = plural(
        copies,
        "memory says letter by letter what another says",
        "memories say letter by letter what others say",
    )
    yield Signal("copies", ("dedup-merge",), copies, told)
    expired = sum(bool(m.valid_until and m.valid_until <= now) for m in population.active)
    told = plural(expired, "memory is valid no longer", "memories are valid no longer")
    yield Signal("expired", ("reprieve",), expired, told)
    dangling = sum(
        target not in population.by_path
        for memory in population.active
        for _, target in memory.links
    )
    told = plural(dangling, "link leads nowhere", "links lead nowhere")
    yield Signal("dangling", ("integrity",), dangling, told)


def _open_ended(population: Population, since: str, sessions: int) -> Iterator[Signal]:
    """Yield what a run would look at, whatever comes of it."""
    fresh = [memory for memory in population.active if memory.created_at > since]
    told = (
        plural(len(fresh), "memory is", "memories are") + " new since the last merge"
        if since
        else plural(len(fresh), "memory", "memories") + ", and no run was merged yet"
    )
    phases = ("dedup-merge", "entity-resolution", "task-detection")
    yield Signal("new", phases, len(fresh), told)
    frames = Counter(memory.frame_key for memory in population.claims if memory.frame_key)
    rivals = sum(count > 1 for count in frames.values())
    told = plural(rivals, "slot is", "slots are") + " filled more than once"
    yield Signal("rivals", ("edge-typing",), rivals, told)
    inbox = sum(map(_is_in_inbox, population.active))
    told = plural(inbox, "memory lies", "memories lie") + " in the inbox"
    yield Signal("inbox", ("placement-triage",), inbox, told)
    told = plural(sessions, "transcript waits", "transcripts wait")
    yield Signal("sessions", ("trace-consolidation",), sessions, told)


def _is_in_inbox(memory: Live) -> bool:
    return memory.path.startswith(INBOX) and memory.memory_type != MemoryType.TASK
