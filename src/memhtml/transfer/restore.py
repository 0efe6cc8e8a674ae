"""Plan the return of exported memory files: the same bytes at the same paths, in one commit.

A restored file is not written anew, for a template would stamp it with another time. It passes the
same gates all the same: a memory's path, no violation, no secret, a free place. What an active
memory of the store already says is not said twice; inside one export nothing is compared, because a
store may hold two active files of equal content and both were exported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.parse import check_memory
from memhtml.model.errors import InvalidPath, MemhtmlError, WriteConflict
from memhtml.model.paths import memory_path, original_path
from memhtml.model.plural import plural
from memhtml.model.vocabulary import MemoryType
from memhtml.store.gate import refuse_secret_words, refuse_secrets
from memhtml.store.legal import violation
from memhtml.store.plan import Overlay, Planned, Put, subject
from memhtml.store.write import require_free

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memhtml.store.plan import Step, View
    from memhtml.transfer.item import Record

__all__ = ["Restored", "plan_restore"]


class Restored(NamedTuple):
    """What becomes of one file."""

    path: str | None = None
    deduped: bool = False
    error: MemhtmlError | None = None


def plan_restore(
    records: Sequence[Record],
    view: View,
    *,
    allow_secret: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> Planned[tuple[Restored, ...]]:
    """Plan to put each of *records* where it stood; one that cannot be is refused alone."""
    overlay = Overlay(view)
    steps: list[Step] = []
    results: list[Restored] = []
    for number, record in enumerate(records, 1):
        try:
            result, step = _plan(record, view, overlay, allow_secret=allow_secret)
        except MemhtmlError as error:
            result, step = Restored(error=error), None
        if step is not None:
            overlay.add((step,))
            steps.append(step)
        results.append(result)
        if on_progress is not None:
            on_progress(number)
    return Planned(
        result=tuple(results),
        steps=tuple(steps),
        subject=subject("import", plural(len(steps), "memory", "memories") + " restored"),
    )


def _plan(
    record: Record, view: View, overlay: Overlay, *, allow_secret: bool
) -> tuple[Restored, Step | None]:
    path = memory_path(record.path)
    if reason := violation(path):
        raise InvalidPath(path, "path-illegal", reason)
    found = overlay.find(path)
    if found is not None and found.data == record.data:
        return Restored(path, deduped=True), None
    document = check_memory(record.data)
    if not allow_secret:
        refuse_secrets(record.data, document)
        refuse_secret_words(path)
    is_live = original_path(path) is None and document.head.memory_type != MemoryType.TASK
    known = view.find_active(document.content_hash) if is_live else None
    if known is not None:
        return Restored(known, deduped=True), None
    if found is not None:
        raise WriteConflict(path, theirs=found.sha, reason="another memory stands there")
    require_free(path, overlay)
    return Restored(path), Put(path, record.data)
