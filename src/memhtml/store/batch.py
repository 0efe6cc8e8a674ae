"""Plan many requests as one commit: a fold of the single planners over a growing overlay.

Each request sees the tree as those before it will leave it, so duplicates inside the batch, claimed
names and references to earlier results need no rules of their own. A request that is refused leaves
no trace in the overlay. In an atomic batch one refusal means that nothing is done, and still every
request is tried, so that one call tells everything that is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.model.changes import (
    ArchiveRequest,
    Batch,
    Conflict,
    Correction,
    LinkRequest,
    OpResult,
    TaskStatusRequest,
)
from memhtml.model.edges import href_of
from memhtml.model.errors import InvalidReference, MemhtmlError
from memhtml.model.memory import Draft
from memhtml.model.plural import plural
from memhtml.model.vocabulary import MemoryType
from memhtml.scoring.frames import frame_key
from memhtml.store.archive import plan_archive
from memhtml.store.correct import plan_correct, superseding
from memhtml.store.link import plan_link
from memhtml.store.plan import Move, Overlay, Planned, subject
from memhtml.store.task import plan_task_status
from memhtml.store.write import plan_write, provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memhtml.model.changes import Request
    from memhtml.store.plan import Fact, Step, View
    from memhtml.store.write import Made

__all__ = ["BatchOptions", "plan_batch"]

_KEPT_DOCUMENTS = 20_000
"""So many are kept for who indexes them; about 10 KB each, and reading one again takes 0.1 ms."""

_reference_re = re.compile(r"@([0-9]{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """How a batch is done."""

    continue_on_error: bool = False
    """Do what can be done; by default one refusal refuses all."""
    detect_conflicts: bool = False
    """Tell which claims fill a slot that another claim fills; changes nothing."""
    last_wins: bool = False
    """Of the claims that fill one slot keep the last, and archive the stored one it replaces."""
    allow_secret: bool = False


class _Done(NamedTuple):
    steps: tuple[Step, ...]
    facts: tuple[Fact, ...]
    result: OpResult
    documents: Mapping[bytes, Any] = {}


def plan_batch(
    requests: Sequence[Request | MemhtmlError],
    view: View,
    *,
    now: datetime,
    options: BatchOptions,
    detect: Callable[[str], str | None] | None = None,
    ahead: Callable[[int], Made | None] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Planned[Batch]:
    """Plan *requests* in order; an error among them is one that was found while reading it.

    *ahead* returns what somebody made of the draft at an index, see `memhtml.store.ahead`;
    *on_progress* is called with the number of requests done.
    """
    fold = _Fold(view, requests, now=now, options=options, detect=detect, ahead=ahead)
    for index, request in enumerate(requests):
        fold.add(index, request)
        if on_progress is not None:
            on_progress(index + 1)
    results = fold.results
    if not options.continue_on_error and any(result.error for result in results):
        refused = tuple(
            result if result.error else OpResult(index=result.index, op=result.op, skipped=True)
            for result in results
        )
        return Planned(result=Batch(results=refused, commit=None))
    return Planned(
        result=Batch(results=tuple(results), commit=None),
        steps=tuple(fold.steps),
        documents=fold.documents,
        subject=subject("batch", _describe(requests, results)),
        trailers=next(
            (
                found
                for r in requests
                if isinstance(r, Draft | Correction) and (found := _origin(r))
            ),
            (),
        ),
    )


class _Fold:
    """The state of a batch while its requests are planned one after the other."""

    def __init__(
        self,
        view: View,
        requests: Sequence[Request | MemhtmlError],
        *,
        now: datetime,
        options: BatchOptions,
        detect: Callable[[str], str | None] | None,
        ahead: Callable[[int], Made | None] | None,
    ) -> None:
        self.results: list[OpResult] = []
        self.steps: list[Step] = []
        self.documents: dict[bytes, Any] = {}
        self._overlay = Overlay(view)
        self._view = view
        self._requests = requests
        self._now = now
        self._options = options
        self._detect = detect
        self._ahead = ahead
        self._paths: dict[int, str] = {}
        self._made_at: dict[str, list[int]] = {}
        self._claims: dict[str, tuple[int, str]] = {}
        self._winners = _last_of_each_slot(requests) if options.last_wins else {}

    def add(self, index: int, request: Request | MemhtmlError) -> None:
        """Plan one request; what it comes to is the last of `results`."""
        if isinstance(request, MemhtmlError):
            self.results.append(OpResult(index=index, op="", error=request))
            return
        slot = _slot(request) if self._options.last_wins else None
        if slot is not None and self._claims.get(slot, (index, ""))[0] != index:
            self._fold_into(index, slot)
            return
        effective = request
        if slot is not None:
            # The last content goes where the first one stood in the stream.
            effective = self._winners[slot]
        try:
            done = self._plan(index, effective)
        except MemhtmlError as error:
            self.results.append(OpResult(index=index, op=_op(request), error=error))
            if slot is not None:
                self._claims.setdefault(slot, (index, ""))
            return
        result = done.result
        if self._options.detect_conflicts or slot is not None:
            result = self._with_conflict(result, effective)
        self._overlay.add(done.steps, done.facts)
        self.steps += done.steps
        if len(self.documents) < _KEPT_DOCUMENTS:
            self.documents.update(done.documents)
        self.results.append(result)
        self._follow(done.steps)
        if result.path is not None:
            self._remember(index, result.path)

    def _remember(self, index: int, path: str) -> None:
        self._paths[index] = path
        self._made_at.setdefault(path, []).append(index)

    def _follow(self, steps: Iterable[Step]) -> None:
        """Let ``@N`` go on meaning the file of operation N, wherever later ones moved it."""
        for step in steps:
            if isinstance(step, Move):
                for index in self._made_at.pop(step.src, ()):
                    self._remember(index, step.dst)

    def _fold_into(self, index: int, slot: str) -> None:
        winner = self._claims[slot][0]
        failed = not self.results[winner].ok
        self.results.append(
            OpResult(
                index=index,
                op="write",
                path=None if failed else self.results[winner].path,
                skipped=failed,
                consolidated_into=None if failed else winner,
            )
        )
        if not failed and (path := self.results[winner].path) is not None:
            self._remember(index, path)

    def _plan(self, index: int, request: Request) -> _Done:
        match request:
            case Draft():
                return self._write(index, self._with_links(request))
            case Correction():
                corrected = plan_correct(
                    replace(request, target=self._resolve(request.target)),
                    self._overlay,
                    now=self._now,
                    detect=self._detect,
                    allow_secret=self._options.allow_secret,
                )
                outcome = corrected.result
                result = OpResult(
                    index=index,
                    op="correct",
                    path=outcome.path,
                    archived_path=outcome.archived_path,
                )
                return _Done(corrected.steps, corrected.facts, result, corrected.documents)
            case ArchiveRequest(path=path, reason=reason):
                archived = plan_archive(
                    self._resolve(path), self._overlay, now=self._now, reason=reason
                )
                moved_to = archived.result.archive_path
                result = OpResult(index=index, op="archive", path=moved_to, archived_path=moved_to)
                return _Done(archived.steps, (), result)
            case LinkRequest(src=src, rel=rel, dst=dst):
                linked = plan_link(self._resolve(src), rel, self._resolve(dst), self._overlay)
                result = OpResult(index=index, op="link", path=linked.result.src)
                return _Done(linked.steps, (), result)
            case TaskStatusRequest(path=path, status=status, reason=reason):
                updated = plan_task_status(
                    self._resolve(path), status, self._overlay, now=self._now, reason=reason
                )
                went_to = updated.result.archive_path
                result = OpResult(
                    index=index,
                    op="task_status",
                    path=went_to or updated.result.path,
                    archived_path=went_to,
                )
                return _Done(updated.steps, (), result)

    def _write(self, index: int, draft: Draft) -> _Done:
        made = None
        # A draft with links to earlier results is no longer the one that was made ahead.
        if self._ahead is not None and draft is self._requests[index]:
            made = self._ahead(index)
        written = plan_write(
            draft,
            self._overlay,
            now=self._now,
            detect=self._detect,
            allow_secret=self._options.allow_secret,
            made=made,
        )
        outcome = written.result
        result = OpResult(
            index=index,
            op=_op(draft),
            path=outcome.path,
            deduped=outcome.deduped,
            existing_path=outcome.existing_path,
            near_duplicates=outcome.near_duplicates,
        )
        steps = written.steps
        slot = _slot(draft) if self._options.last_wins else None
        stored = self._view.find_frame(slot) if slot is not None else None
        if stored is not None and steps and self._overlay.find(stored[0]) is not None:
            after = Overlay(self._overlay)
            after.add(steps, written.facts)
            archived, more = superseding(outcome.path, stored[0], after, now=self._now)
            steps = (*steps, *more)
            result = replace(result, superseded_path=stored[0], archived_path=archived)
        return _Done(steps, written.facts, result, written.documents)

    def _with_conflict(self, result: OpResult, request: Request) -> OpResult:
        slot = _slot(request)
        if slot is None or not isinstance(request, Draft):
            return result
        earlier = self._claims.setdefault(slot, (result.index, request.claim))
        stored = self._view.find_frame(slot)
        if stored is not None and stored[0] != result.path:
            return replace(result, conflict=Conflict(stored[0], None, stored[1]))
        if earlier[0] != result.index:
            return replace(result, conflict=Conflict(None, *earlier))
        return result

    def _with_links(self, draft: Draft) -> Draft:
        """Return *draft* with links to ``@N`` leading to where those files are."""
        links = tuple(
            link._replace(href=href_of(self._resolve(link.href[1:])))
            if _reference_re.fullmatch(link.href[1:])
            else link
            for link in draft.links
        )
        return draft if links == draft.links else replace(draft, links=links)

    def _resolve(self, path: str) -> str:
        """Return *path*, or where the operation that it names by ``@N`` left its memory."""
        match = _reference_re.fullmatch(path)
        if match is None:
            return path
        number = int(match[1])
        found = self._paths.get(number)
        if found is not None:
            return found
        if number >= len(self.results):
            raise InvalidReference(
                path, "it names an operation that does not stand before this one"
            )
        raise InvalidReference(path, "the operation it names made no file")


def _last_of_each_slot(requests: Sequence[Request | MemhtmlError]) -> dict[str, Draft]:
    winners: dict[str, Draft] = {}
    for request in requests:
        if isinstance(request, Draft) and (slot := _slot(request)) is not None:
            winners[slot] = request
    return winners


def _slot(request: Request) -> str | None:
    """Return the frame key of a written claim; markup has no prose claim, and tasks no slot."""
    if not isinstance(request, Draft) or request.article_html:
        return None
    return None if request.memory_type == MemoryType.TASK else frame_key(request.claim)


def _op(request: Request) -> str:
    match request:
        case Draft(memory_type=MemoryType.TASK):
            return "task"
        case Draft():
            return "write"
        case Correction():
            return "correct"
        case ArchiveRequest():
            return "archive"
        case LinkRequest():
            return "link"
        case TaskStatusRequest():
            return "task_status"


def _origin(request: Draft | Correction) -> tuple[tuple[str, str], ...]:
    return provenance(request.session_id, request.prompt_id)


def _describe(requests: Sequence[Request | MemhtmlError], results: Sequence[OpResult]) -> str:
    titles = list(_titles(requests, results))
    if len(titles) == 1 and titles[0]:
        return titles[0]
    changed = sum(result.ok and not result.deduped for result in results)
    if titles:
        return plural(len(titles), "memory", "memories")
    return plural(changed, "change")


def _titles(
    requests: Sequence[Request | MemhtmlError], results: Sequence[OpResult]
) -> Iterator[str]:
    for request, result in zip(requests, results, strict=True):
        is_new = result.ok and not result.deduped and result.consolidated_into is None
        if isinstance(request, Draft | Correction) and is_new:
            yield request.title or ""
