"""Whether a run is worth while: what it would have to look at, counted without doing any of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.instants import stamp
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.population import read_population
from memhtml.sleep.runs import Runs

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
    waiting: tuple[str, ...]
    indexed_commit: str | None


def look_ahead(corpus: Corpus, *, sessions_due: int = 0) -> Outlook:
    """Return what a run would look at now; change nothing but the index, brought up to date.

    *sessions_due* is how many transcripts wait.
    """
    commit = corpus.update().head_sha
    runs = Runs(corpus.repo)
    try:
        recorded = runs.recorded()
        last = runs.find(recorded[-1]) if recorded else None
        waiting = tuple(run.run_id for run in runs.waiting() if run.waits)
    finally:
        runs.close()
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
    yield Signal(
        "copies", ("dedup-merge",), copies, f"{copies} say letter by letter what others say"
    )
    expired = sum(bool(m.valid_until and m.valid_until <= now) for m in population.active)
    yield Signal("expired", ("reprieve",), expired, f"{expired} are valid no longer")
    dangling = sum(
        target not in population.by_path
        for memory in population.active
        for _, target in memory.links
    )
    yield Signal("dangling", ("integrity",), dangling, f"{dangling} links lead nowhere")


def _open_ended(population: Population, since: str, sessions: int) -> Iterator[Signal]:
    """Yield what a run would look at, whatever comes of it."""
    fresh = [memory for memory in population.active if memory.created_at > since]
    yield Signal(
        "new",
        ("dedup-merge", "entity-resolution", "task-detection"),
        len(fresh),
        f"{len(fresh)} memories are new since the last run"
        if since
        else f"{len(fresh)} memories, and no run yet",
    )
    frames = Counter(memory.frame_key for memory in population.claims if memory.frame_key)
    rivals = sum(count > 1 for count in frames.values())
    yield Signal("rivals", ("edge-typing",), rivals, f"{rivals} slots are filled more than once")
    inbox = sum(map(_is_in_inbox, population.active))
    yield Signal("inbox", ("placement-triage",), inbox, f"{inbox} memories lie in the inbox")
    yield Signal("sessions", ("trace-consolidation",), sessions, f"{sessions} transcripts wait")


def _is_in_inbox(memory: Live) -> bool:
    return memory.path.startswith(INBOX) and memory.memory_type != MemoryType.TASK
