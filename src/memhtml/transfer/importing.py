"""An import: read a source whole, plan it as one batch, commit once, and account for every item.

A dry run is the same up to the commit, so its report is what the import will do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memhtml.format.markdown import Note
from memhtml.model.changes import LinkRequest
from memhtml.model.plural import plural
from memhtml.providers.languages import detector
from memhtml.store.batch import BatchOptions, plan_batch
from memhtml.store.plan import Planned, subject
from memhtml.transfer.agentfile import read_agent_files
from memhtml.transfer.chatgpt import read_chatgpt
from memhtml.transfer.claude import read_claude
from memhtml.transfer.detection import detect
from memhtml.transfer.item import (
    Detected,
    ImportFormat,
    ImportReport,
    ItemResult,
    LinkCounts,
    Options,
    Outcome,
)
from memhtml.transfer.mcpmemory import read_mcp_memory
from memhtml.transfer.mem0 import read_mem0
from memhtml.transfer.notes import read_basic_memory, read_notes
from memhtml.transfer.records import read_page, read_records
from memhtml.transfer.restore import plan_restore
from memhtml.transfer.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from memhtml.corpus import Corpus
    from memhtml.model.changes import Batch, OpResult, Request
    from memhtml.store.plan import View
    from memhtml.transfer.item import Item, Reader
    from memhtml.transfer.restore import Restored

__all__ = ["READERS", "import_source"]

READERS: Mapping[ImportFormat, Reader] = {
    ImportFormat.MARKDOWN: read_notes,
    ImportFormat.OBSIDIAN: read_notes,
    ImportFormat.BASIC_MEMORY: read_basic_memory,
    ImportFormat.AGENT_FILE: read_agent_files,
    ImportFormat.CHATGPT: read_chatgpt,
    ImportFormat.CLAUDE: read_claude,
    ImportFormat.MEM0: read_mem0,
    ImportFormat.MCP_MEMORY: read_mcp_memory,
    ImportFormat.JSONL: read_records,
    ImportFormat.HTML: read_page,
}
"""Every format with what reads it."""

_RESTORING = frozenset({ImportFormat.JSONL, ImportFormat.HTML})


def import_source(
    corpus: Corpus,
    path: str,
    *,
    format_: ImportFormat | None = None,
    options: Options | None = None,
    dry_run: bool = False,
    allow_secret: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Import what is at *path* as one commit; without *format_* its format is detected.

    *on_progress* is called with the number of steps planned, and of all that there are.

    Raises:
        InvalidFlag: there is nothing at *path*, or nothing we know.
        UsageError: a package is needed that is not installed.
        Busy: another process kept a lock for longer than we wait.
    """
    options = replace(options or Options(), detect=detector())
    with Source.open(path) as source:
        detected = Detected(format_, "it was said so") if format_ else detect(source)
        items = list(READERS[detected.format](source, options))
    plan = _restoring if detected.format in _RESTORING else _writing

    def planner(view: View, now: datetime) -> Planned[tuple[list[ItemResult], LinkCounts]]:
        planned = plan(items, view, now, allow_secret, on_progress)
        return replace(planned, steps=()) if dry_run else planned

    planned, commit = corpus.carry_out(planner)
    results, links = planned.result
    return ImportReport(
        detected=detected,
        dry_run=dry_run,
        results=tuple(results),
        links=links,
        commit=commit,
    )


def _writing(
    items: Sequence[Item],
    view: View,
    now: datetime,
    allow_secret: bool,
    on_progress: Callable[[int, int], None] | None,
) -> Planned[tuple[list[ItemResult], LinkCounts]]:
    requests: list[Request] = [item.draft for item in items if item.draft is not None]
    links, lost = _link_requests(items)
    requests += links
    planned = plan_batch(
        requests,
        view,
        now=now,
        options=BatchOptions(continue_on_error=True, allow_secret=allow_secret),
        detect=detector(),
        on_progress=on_progress and (lambda done: on_progress(done, len(requests))),
    )
    batch: Batch = planned.result
    told = iter(batch.results)
    results = [
        _account(item, next(told) if item.draft is not None else None, lost.get(number, []))
        for number, item in enumerate(items)
    ]
    made = sum(result.ok for result in told)
    unresolved = sum(map(len, lost.values()))
    counts = LinkCounts(len(links) + unresolved, made, unresolved, len(links) - made)
    written = sum(result.outcome is Outcome.WRITTEN for result in results)
    return Planned(
        result=(results, counts),
        steps=planned.steps,
        subject=subject("import", plural(written, "memory", "memories")),
    )


def _restoring(
    items: Sequence[Item],
    view: View,
    _now: datetime,
    allow_secret: bool,
    on_progress: Callable[[int, int], None] | None,
) -> Planned[tuple[list[ItemResult], LinkCounts]]:
    records = [item.record for item in items if item.record is not None]
    planned = plan_restore(
        records,
        view,
        allow_secret=allow_secret,
        on_progress=on_progress and (lambda done: on_progress(done, len(records))),
    )
    told = iter(planned.result)
    results = [_restored(item, next(told) if item.record is not None else None) for item in items]
    return Planned(result=(results, LinkCounts()), steps=planned.steps, subject=planned.subject)


def _account(item: Item, result: OpResult | None, lost: list[Note]) -> ItemResult:
    if result is None:
        return _unwritten(item)
    item = item._replace(notes=tuple(sorted((*item.notes, *lost))))
    if result.error is not None:
        return _failed(item, result.error.code, result.error.message)
    outcome = Outcome.DEDUPED if result.deduped else Outcome.WRITTEN
    return ItemResult(
        item.origin,
        item.title,
        outcome,
        result.path,
        notes=item.notes,
        near_duplicates=result.near_duplicates,
    )


def _restored(item: Item, result: Restored | None) -> ItemResult:
    if result is None:
        return _unwritten(item)
    if result.error is not None:
        return _failed(item, result.error.code, result.error.message)
    outcome = Outcome.DEDUPED if result.deduped else Outcome.WRITTEN
    return ItemResult(item.origin, item.title, outcome, result.path)


def _unwritten(item: Item) -> ItemResult:
    if item.error is not None:
        return _failed(item, item.error.code, item.error.message)
    return ItemResult(item.origin, item.title, Outcome.SKIPPED, reason=item.skipped)


def _failed(item: Item, code: str, reason: str) -> ItemResult:
    return ItemResult(
        item.origin, item.title, Outcome.FAILED, code=code, reason=reason, notes=item.notes
    )


def _link_requests(items: Sequence[Item]) -> tuple[list[LinkRequest], dict[int, list[Note]]]:
    """Return a request for each link between *items*, and by item the links that lead nowhere."""
    numbers = [number for number, item in enumerate(items) if item.draft is not None]
    known = _by_name([items[number] for number in numbers])
    requests: dict[LinkRequest, None] = {}
    lost: dict[int, list[Note]] = {}
    for place, number in enumerate(numbers):
        for wish in items[number].wishes:
            target = known.get(_key(wish.target))
            if target is None:
                message = f"{wish.target!r} names none of the others, or several"
                lost.setdefault(number, []).append(Note(wish.line, "link", message))
            elif target != place:
                requests[LinkRequest(src=f"@{place}", rel=wish.rel, dst=f"@{target}")] = None
    return list(requests), lost


def _by_name(items: Sequence[Item]) -> dict[str, int | None]:
    """Return the item that each name means; None for one that two items bear alike."""
    known: dict[str, int | None] = {}
    depth = max((len(item.names) for item in items), default=0)
    for rank in range(depth):
        # A path is surer than a title, so all names of one rank are entered before the next.
        here: dict[str, int | None] = {}
        for number, item in enumerate(items):
            if rank < len(item.names) and (key := _key(item.names[rank])):
                here[key] = number if here.get(key, number) == number else None
        for key, number_or_none in here.items():
            known.setdefault(key, number_or_none)
    return known


def _key(name: str) -> str:
    return name.partition("|")[0].partition("#")[0].removesuffix(".md").strip().casefold()
